//go:build !unix

package source

func mkfifo(string) error { return nil }
