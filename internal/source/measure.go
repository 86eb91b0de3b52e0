package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var errEnough = errors.New("enough")

// Size is what a folder holds.
type Size struct {
	Files int
	Bytes int64
	Over  bool // there is more: the counts are what was seen
	// Why says what was left out, when nothing is left: "12 ignored, 1 secret;
	// the rule "/*" in .gitignore, line 1, leaves out …"; "" of an empty folder.
	Why string
	// Ignored are folders that the rule leaves out, a few of them.
	Ignored []string
}

// Measure counts the documents of a folder and their bytes, and stops as soon
// as there are more than maxFiles or maxBytes. Sources that are not folders
// measure as over nothing with one file: their size is only known once they
// are fetched.
func Measure(ctx context.Context, spec kb.Spec, maxFiles int, maxBytes int64) (Size, error) {
	var s Size
	if spec.Kind != kb.KindFolder {
		return Size{Files: 1}, nil
	}
	f, err := newFolder(spec, nil)
	if err != nil {
		return s, err
	}
	defer f.Close()
	// Files that are left out count too: a directory of a million pictures is as
	// slow as one of text.
	seen := 0
	f.readDir = func(rel string) ([]fs.DirEntry, error) {
		entries, err := f.list(rel)
		if seen += len(entries); seen > 10*max(maxFiles, 1000) {
			return nil, errEnough
		}
		return entries, err
	}
	err = f.Walk(ctx, func(e kb.Entry) error {
		s.Files++
		s.Bytes += e.Size
		if s.Files > maxFiles || s.Bytes > maxBytes {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) || seen > 10*max(maxFiles, 1000) {
		s.Over = true
		return s, nil
	}
	if s.Files == 0 {
		s.Why = Reasons(f.Skipped(), f.noted())
		if rule, ok := f.left.most(); ok {
			s.Ignored = rule.dirs
		}
	}
	return s, err
}

// Reasons says why documents were left out: how many for which reason, the
// most frequent first, and what was noted.
func Reasons(skipped map[string]int, notes []string) string {
	reasons := slices.SortedFunc(maps.Keys(skipped), func(a, b string) int {
		return cmp.Or(skipped[b]-skipped[a], strings.Compare(a, b))
	})
	for i, r := range reasons {
		reasons[i] = fmt.Sprintf("%d %s", skipped[r], r)
	}
	parts := notes
	if len(reasons) > 0 {
		parts = append([]string{strings.Join(reasons, ", ")}, notes...)
	}
	return strings.Join(parts, "; ")
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
