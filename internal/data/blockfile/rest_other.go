//go:build !unix

package blockfile

// Rest does nothing: the system takes back by itself what was read of the file.
func (r *Reader) Rest() {}
