package source

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// treadFolder walks a folder and returns the paths of its documents and the trail of
// that, nil for none. What changed a moment ago counts as settled.
func treadFolder(t *testing.T, dir string) ([]string, []byte) {
	t.Helper()
	f, err := newFolder(kb.Spec{Kind: kb.KindFolder, Source: dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	trail := f.leaveTrail(time.Now().Add(time.Hour))
	var paths []string
	if err := f.Walk(t.Context(), func(e kb.Entry) error { paths = append(paths, e.Path); return nil }); err != nil {
		t.Fatal(err)
	}
	return paths, trail.Bytes()
}

// treadable is a folder in a work tree, with rules, and what lies around it.
func treadable(t *testing.T) (dir string) {
	t.Helper()
	if !trails {
		t.Skip("this system does not tell when a file or directory changed")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"tree/.git/HEAD": "ref: refs/heads/main\n", "tree/.git/info/exclude": "", "tree/.gitignore": "*.log\n",
		"tree/part/a.go": "package a\n", "tree/part/sub/b.go": "package b\n", "tree/part/sub/deep/c.go": "package c\n",
		"tree/part/.gitignore": "out/\n", "tree/part/out/d.go": "package d\n", "tree/part/e.log": "e\n",
		"tree/other/f.go": "package f\n",
	} {
		put(t, filepath.Join(top, filepath.FromSlash(name)), text)
	}
	return filepath.Join(top, "tree", "part")
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestTrailTellsOfEveryChange changes what a walk finds in every way, and beside that
// what it does not look at.
func TestTrailTellsOfEveryChange(t *testing.T) {
	later := time.Now().Add(3 * time.Hour)
	for name, x := range map[string]struct {
		change func(t *testing.T, dir string)
		same   bool
	}{
		"nothing":                  {func(*testing.T, string) {}, true},
		"what is ignored":          {func(t *testing.T, dir string) { put(t, filepath.Join(dir, "out", "g.go"), "package g\n") }, true},
		"a log that grows":         {func(t *testing.T, dir string) { put(t, filepath.Join(dir, "e.log"), "e\nf\n") }, true},
		"beside the folder":        {func(t *testing.T, dir string) { put(t, filepath.Join(dir, "..", "other", "h.go"), "package h\n") }, true},
		"a commit":                 {func(t *testing.T, dir string) { put(t, filepath.Join(dir, "..", ".git", "index"), "x") }, true},
		"an edit":                  {func(t *testing.T, dir string) { put(t, filepath.Join(dir, "sub", "b.go"), "package bb\n") }, false},
		"an edit of the same size": {func(t *testing.T, dir string) { put(t, filepath.Join(dir, "sub", "b.go"), "package c\n") }, false},
		"a new file":               {func(t *testing.T, dir string) { put(t, filepath.Join(dir, "sub", "deep", "n.go"), "package n\n") }, false},
		"a new directory":          {func(t *testing.T, dir string) { put(t, filepath.Join(dir, "new", "n.go"), "package n\n") }, false},
		"rules":                    {func(t *testing.T, dir string) { put(t, filepath.Join(dir, ".gitignore"), "") }, false},
		"new rules":                {func(t *testing.T, dir string) { put(t, filepath.Join(dir, "sub", ".gitignore"), "c.go\n") }, false},
		"new rules above":          {func(t *testing.T, dir string) { put(t, filepath.Join(dir, "..", ".gitignore"), "b.go\n") }, false},
		"own rules above":          {func(t *testing.T, dir string) { put(t, filepath.Join(dir, "..", OwnRules), "b.go\n") }, false},
		"excludes":                 {func(t *testing.T, dir string) { put(t, filepath.Join(dir, "..", ".git", "info", "exclude"), "b.go\n") }, false},
		"a nearer repository":      {func(t *testing.T, dir string) { put(t, filepath.Join(dir, ".git", "HEAD"), "ref: refs/heads/main\n") }, false},
		"a deleted file":           {func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "a.go"))) }, false},
		"a renamed directory": {func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, "sub"), filepath.Join(dir, "bus")))
		}, false},
		"a directory that is gone": {func(t *testing.T, dir string) { must(t, os.RemoveAll(filepath.Join(dir, "sub"))) }, false},
		"another folder":           {func(t *testing.T, dir string) { must(t, os.RemoveAll(dir)) }, false},
		"no repository": {func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, "..", ".git"), filepath.Join(dir, "..", "git")))
		}, false},
		"a file older than it was":   {func(t *testing.T, dir string) { must(t, os.Chtimes(filepath.Join(dir, "a.go"), later, later)) }, false},
		"a file that is not to read": {func(t *testing.T, dir string) { must(t, os.Chmod(filepath.Join(dir, "a.go"), 0)) }, false},
		"a link for a directory": {func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, "sub"), filepath.Join(dir, "..", "sub")))
			must(t, os.Symlink(filepath.Join(dir, "..", "sub"), filepath.Join(dir, "sub")))
		}, false},
		"a link for a file": {func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, "a.go"), filepath.Join(dir, "..", "a.go")))
			must(t, os.Symlink(filepath.Join(dir, "..", "a.go"), filepath.Join(dir, "a.go")))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := treadable(t)
			paths, trail := treadFolder(t, dir)
			if want := []string{".gitignore", "a.go", "sub/b.go", "sub/deep/c.go"}; !slices.Equal(paths, want) || trail == nil {
				t.Fatalf("the walk found %q with a trail of %d bytes, want %q", paths, len(trail), want)
			}
			x.change(t, dir)
			for _, workers := range []int{1, 4} {
				if same := SameTrail(t.Context(), dir, trail, &Sights{}, workers); same != x.same {
					t.Errorf("after %s the trail is the same: %v", name, same)
				}
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestNoTrail has folders of which no trail tells everything.
func TestNoTrail(t *testing.T) {
	for name, put1 := range map[string][2]string{
		"own rules":             {OwnRules, "!a.go\n"},
		"own rules below":       {"sub/" + OwnRules, "b.go\n"},
		"own rules above":       {"../" + OwnRules, "b.go\n"},
		"a repository below":    {"sub/.git/HEAD", "ref: refs/heads/main\n"},
		"a link to one":         {"sub/.git", "gitdir: ../../.git\n"},
		"a cache":               {"sub/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n"},
		"a data directory":      {"sub/segments/x", ""},
		"a virtual environment": {"sub/pyvenv.cfg", ""},
	} {
		dir := treadable(t)
		put(t, filepath.Join(dir, filepath.FromSlash(put1[0])), put1[1])
		if name == "a data directory" {
			put(t, filepath.Join(dir, "sub", "generations", "x"), "")
		}
		if _, trail := treadFolder(t, dir); trail != nil {
			t.Errorf("%s: there is a trail", name)
		}
	}
	dir := treadable(t)
	snap, err := (&Opener{}).Open(t.Context(), kb.Spec{Kind: kb.KindFolder, Source: dir})
	must(t, err)
	defer snap.Close()
	trail := TrailOf(snap)
	must(t, snap.Walk(t.Context(), func(kb.Entry) error { return nil }))
	if trail.Bytes() != nil {
		t.Error("there is a trail of what changed a moment ago, and may again at the same time")
	}
	if TrailOf(nil).Bytes() != nil {
		t.Error("there is a trail of nothing")
	}
}

// TestDamagedTrail takes parts of a trail away and changes every byte of it.
func TestDamagedTrail(t *testing.T) {
	dir := treadable(t)
	_, trail := treadFolder(t, dir)
	same := func(b []byte) bool { return SameTrail(context.Background(), dir, b, &Sights{}, 1) }
	if !same(trail) {
		t.Fatal("it is not the same")
	}
	for i := range trail {
		b := slices.Clone(trail)
		b[i] ^= 0x41
		if same(b) || same(trail[:i]) {
			t.Fatalf("byte %d of %d does not matter", i, len(trail))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if SameTrail(ctx, dir, trail, &Sights{}, 1) {
		t.Error("it was looked at after the end")
	}
}

// FuzzSameTrail must neither fail nor leave the folder, whatever the bytes.
func FuzzSameTrail(f *testing.F) {
	f.Add([]byte(trailMagic))
	f.Add([]byte(trailMagic + strings.Repeat("\x01", 40)))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		SameTrail(t.Context(), dir, sealed(b), &Sights{}, 1)
	})
}
