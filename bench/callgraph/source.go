package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/code/graph"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// folder gives the Go files below a directory to the linker.
type folder struct {
	root    string
	entries []graph.Entry
	bytes   int64
}

func newFolder(root string) (*folder, error) {
	f := &folder{root: root}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if !d.Type().IsRegular() || !strings.HasSuffix(p, ".go") && d.Name() != "go.mod" {
			return nil
		}
		raw, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		f.bytes += int64(len(raw))
		f.entries = append(f.entries, graph.Entry{Path: filepath.ToSlash(rel), Hash: kb.HashDocument(raw), Language: "go", Size: int64(len(raw))})
		return nil
	})
	sort.Slice(f.entries, func(i, j int) bool { return f.entries[i].Path < f.entries[j].Path })
	return f, err
}

func (f *folder) Entries() []graph.Entry { return f.entries }

func (f *folder) Load(_ context.Context, paths []string) ([]graph.Document, error) {
	docs := make([]graph.Document, len(paths))
	for i, p := range paths {
		docs[i] = graph.Document{Path: p, Language: "go", Body: func() (string, error) {
			raw, err := os.ReadFile(filepath.Join(f.root, filepath.FromSlash(p)))
			return string(raw), err
		}}
	}
	return docs, nil
}
