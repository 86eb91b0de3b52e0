// Package window holds what an agent's window would hold: the tree that it looks
// at, replies read for the lines that they show, and the tokens that all cost.
package window

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxFile bounds the files of a tree, in bytes: as large as what the product indexes.
const maxFile = 1 << 20

// Tree is the text of a folder, read once.
type Tree struct {
	Dir   string
	Paths []string            // sorted, with slashes
	Lines map[string][]string // of each path
	Lower map[string]string   // the whole text of each path in lower case, to be searched
}

// ReadTree reads the text files of a folder, what lies in .git apart.
func ReadTree(dir string) (*Tree, error) {
	t := &Tree{Dir: dir, Lines: map[string][]string{}, Lower: map[string]string{}}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".git" {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if bytes.IndexByte(b[:min(len(b), 8192)], 0) >= 0 {
			return nil
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		t.Paths = append(t.Paths, rel)
		t.Lower[rel] = strings.ToLower(string(b))
		t.Lines[rel] = strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
		return nil
	})
	slices.Sort(t.Paths)
	return t, err
}

// Line returns a line, counted from one.
func (t *Tree) Line(path string, n int) (string, bool) {
	l := t.Lines[path]
	if n < 1 || n > len(l) {
		return "", false
	}
	return strings.TrimSuffix(l[n-1], "\r"), true
}

// File returns the path of the tree that a written path means: itself, or the
// only one that it is the end of.
func (t *Tree) File(written string) (string, bool) {
	written = strings.TrimPrefix(written, "./")
	if _, ok := t.Lines[written]; ok {
		return written, true
	}
	found := ""
	for _, p := range t.Paths {
		if strings.HasSuffix(p, "/"+written) || strings.HasSuffix(written, "/"+p) {
			if found != "" {
				return "", false
			}
			found = p
		}
	}
	return found, found != ""
}
