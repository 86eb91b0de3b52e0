package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// editor edits a folder at random, the same way for the same seed.
type editor struct {
	rand  *rand.Rand
	more  corpus   // what is not in the folder yet
	spare []string // its paths
	files corpus   // what is in the folder
	done  map[string]int
}

func newEditor(seed uint64, material corpus) *editor {
	e := &editor{rand: rand.New(rand.NewPCG(seed, seed)), more: material, files: corpus{}, done: map[string]int{}}
	e.spare = material.paths()
	e.rand.Shuffle(len(e.spare), func(i, j int) { e.spare[i], e.spare[j] = e.spare[j], e.spare[i] })
	return e
}

// start puts the first n files into the folder.
func (e *editor) start(t testing.TB, dir string, n int) {
	for range min(n, len(e.spare)-1) {
		p := e.spare[0]
		e.spare = e.spare[1:]
		e.put(t, dir, p, e.more[p])
	}
}

func (e *editor) put(t testing.TB, dir, p string, text []byte) {
	t.Helper()
	write(t, dir, p, text)
	e.files[p] = text
}

func (e *editor) remove(t testing.TB, dir, p string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, filepath.FromSlash(p))); err != nil {
		t.Fatal(err)
	}
	delete(e.files, p)
}

func (e *editor) any() string {
	p := e.files.paths()
	return p[e.rand.IntN(len(p))]
}

// fresh returns a path that does not exist yet.
func (e *editor) fresh(like string) string {
	for {
		p := fmt.Sprintf("%s/x%d/%s", path.Dir(like), e.rand.IntN(1000), path.Base(like))
		if e.files[p] == nil {
			return p
		}
	}
}

// edit does one thing to the folder.
func (e *editor) edit(t testing.TB, dir string) {
	t.Helper()
	p := e.any()
	text := e.files[p]
	what := []string{"insert", "insert", "cut", "replace", "create", "delete", "rename", "duplicate", "empty", "touch"}[e.rand.IntN(10)]
	switch all := strings.SplitAfter(string(text), "\n"); what {
	case "insert": // lines of another file
		other := strings.SplitAfter(string(e.files[e.any()]), "\n")
		from := e.rand.IntN(len(other))
		at := e.rand.IntN(len(all))
		all = slices.Insert(slices.Clone(all), at, other[from:min(len(other), from+1+e.rand.IntN(20))]...)
		e.put(t, dir, p, []byte(strings.Join(all, "")))
	case "cut":
		at := e.rand.IntN(len(all))
		e.put(t, dir, p, []byte(strings.Join(slices.Delete(slices.Clone(all), at, min(len(all), at+1+e.rand.IntN(10))), "")))
	case "replace":
		e.put(t, dir, p, []byte(strings.ReplaceAll(string(text), "err", fmt.Sprintf("fault%d", e.rand.IntN(9)))))
	case "create":
		if len(e.spare) > 0 {
			e.put(t, dir, e.spare[0], e.more[e.spare[0]])
			e.spare = e.spare[1:]
		}
	case "delete":
		if len(e.files) > 20 {
			e.remove(t, dir, p)
		}
	case "rename":
		to := e.fresh(p)
		e.remove(t, dir, p)
		e.put(t, dir, to, text)
	case "duplicate":
		e.put(t, dir, e.fresh(p), text)
	case "empty":
		e.put(t, dir, p, []byte{})
	case "touch":
		e.put(t, dir, p, text)
	}
	e.done[what]++
}

// questions are words in a row from anywhere in the folder, and names.
func (e *editor) questions(n int) []string {
	var out []string
	for len(out) < n {
		words := longWord.FindAllString(string(e.files[e.any()]), -1)
		if len(words) < 4 {
			continue
		}
		at := e.rand.IntN(len(words) - 3)
		out = append(out, strings.Join(words[at:at+1+e.rand.IntN(3)], " "))
	}
	return out
}
