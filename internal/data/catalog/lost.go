package catalog

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// lostFile keeps the day on which the database was gone, for the processes to
// come: the first may have failed before it could say so. It goes when a store
// is made, or a week later.
const lostFile = "database-lost"

// Lost reports whether the database of a data directory is gone, or was on an
// earlier day, which it returns; "" is now.
func Lost(dir string) (day string, lost bool) {
	path := filepath.Join(dir, lostFile)
	if withoutDatabase(dir) {
		// Where nothing can be written, opening the database says why.
		_ = atomicfile.Write(path, []byte(time.Now().UTC().Format(time.DateOnly)+"\n"))
		return "", true
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	at, err := time.Parse(time.DateOnly, strings.TrimSpace(string(b)))
	if err != nil || time.Since(at) > 8*24*time.Hour {
		_ = os.Remove(path)
		return "", false
	}
	return at.Format(time.DateOnly), true
}

// ForgetLost forgets that the database was gone.
func ForgetLost(dir string) { _ = os.Remove(filepath.Join(dir, lostFile)) }

// withoutDatabase reports whether a data directory has generations of stores
// and no database.
func withoutDatabase(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, project.Database)); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return project.HasGenerations(dir)
}
