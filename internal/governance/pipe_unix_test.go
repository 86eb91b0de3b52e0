//go:build unix

package governance_test

import (
	"path/filepath"
	"syscall"
)

// pipe puts a pipe in the place of a file of .git: who opens it waits.
func (b *box) pipe(name string) {
	b.t.Helper()
	b.drop(name)
	if err := syscall.Mkfifo(filepath.Join(b.folder, name), 0o600); err != nil {
		b.t.Skip(err)
	}
}
