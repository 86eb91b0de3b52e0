package source

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var errEnough = errors.New("enough")

// Measure counts the documents of a folder and their bytes, and stops as soon
// as there are more than maxFiles or maxBytes: over is then true and the
// counts are what was seen. Sources that are not folders measure as nothing:
// their size is only known once they are fetched.
func Measure(ctx context.Context, spec kb.Spec, maxFiles int, maxBytes int64) (files int, bytes int64, over bool, err error) {
	if spec.Kind != kb.KindFolder {
		return 0, 0, false, nil
	}
	f, err := newFolder(spec)
	if err != nil {
		return 0, 0, false, err
	}
	defer f.Close()
	// What is left out is looked at too: a directory of a million pictures is
	// as slow as one of text.
	seen := 0
	f.readDir = func(rel string) ([]fs.DirEntry, error) {
		entries, err := f.list(rel)
		if seen += len(entries); seen > 10*max(maxFiles, 1000) {
			return nil, errEnough
		}
		return entries, err
	}
	err = f.Walk(ctx, func(e kb.Entry) error {
		files++
		bytes += e.Size
		if files > maxFiles || bytes > maxBytes {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) || seen > 10*max(maxFiles, 1000) {
		return files, bytes, true, nil
	}
	return files, bytes, false, err
}

// Dangerous says why a folder should not be indexed without being asked:
// "a file-system root", "your home directory" or "a folder that holds your
// home directory". For all other folders it returns "".
func Dangerous(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	if filepath.Dir(abs) == abs {
		return "a file-system root"
	}
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	home = filepath.Clean(home)
	if sameDir(abs, home) {
		return "your home directory"
	}
	if strings.HasPrefix(home, abs+string(filepath.Separator)) {
		return "a folder that holds your home directory"
	}
	return ""
}

func sameDir(a, b string) bool {
	if a == b {
		return true
	}
	fa, err := os.Stat(a)
	if err != nil {
		return false
	}
	fb, err := os.Stat(b)
	return err == nil && os.SameFile(fa, fb)
}
