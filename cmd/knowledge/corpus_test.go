package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// corpus is text by slash-separated path.
type corpus map[string][]byte

// packages are the parts of Go's own library that tests index.
var (
	large  = []string{"net/http", "encoding/json", "go/parser", "text/template", "compress/flate"} // 4.5 MB
	medium = []string{"encoding/json", "text/template", "sort"}                                    // 2 MB
	small  = []string{"go/parser", "text/template", "sort"}                                        // 0.5 MB
)

// goSources reads packages of Go's own library, as far as their files are text
// that the program indexes.
func goSources(t testing.TB, packages ...string) corpus {
	t.Helper()
	c := corpus{}
	src := filepath.Join(goroot, "src")
	for _, p := range packages {
		err := filepath.WalkDir(filepath.Join(src, filepath.FromSlash(p)), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(src, name)
			if err != nil || !slices.Contains([]string{".go", ".md", ".txt", ".src"}, path.Ext(rel)) {
				return err
			}
			text, err := os.ReadFile(name)
			if err == nil && !strings.Contains(string(text), "\x00") {
				c[filepath.ToSlash(rel)] = text
			}
			return err
		})
		if err != nil {
			t.Skipf("the sources of Go are not here: %v", err)
		}
	}
	return c
}

// oddities are files whose lines are easily miscounted.
func oddities() corpus {
	return corpus{
		"odd/windows.txt": []byte("alpha winds blow\r\nbeta winds rest\r\n\r\ngamma winds return\r\n"),
		"odd/noend.py":    []byte("def unterminated_rhubarb(x):\n    return x + 1  # the file has no newline at its end"),
		"odd/blank.txt":   []byte("\n\n\nthe quokka sleeps below three blank lines\n\n\n"),
		"odd/long.txt":    []byte("short\n" + strings.Repeat("an endless caravan of words, ", 400) + "oasis\nshort again\n"),
		"odd/sections.md": []byte("intro of the handbook\n\n# Brewing\n\nhow to brew tea\n\n## Oolong\n\nsteep the oolong for three minutes\n\n# Baking\n\nhow to bake bread\n"),
		"odd/unicode.go":  []byte("package odd\n\n// Größe tells the size of a Straße in Ångström, with 漢字.\nfunc Größe() int { return 42 }\n"),
		"odd/one.sh":      []byte("#!/bin/sh\n"),
		"odd/empty.txt":   {},
	}
}

func (c corpus) and(more corpus) corpus {
	for p, text := range more {
		c[p] = text
	}
	return c
}

// write puts the corpus into a folder.
func (c corpus) write(t testing.TB, dir string) {
	t.Helper()
	for p, text := range c {
		write(t, dir, p, text)
	}
}

func (c corpus) bytes() (n int) {
	for _, text := range c {
		n += len(text)
	}
	return n
}

// paths returns the paths in order.
func (c corpus) paths() []string {
	out := make([]string, 0, len(c))
	for p := range c {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

// lines splits text as hits number it.
func lines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// questions are what tests ask about the corpus.
var questions = []string{
	"how is a chunked transfer encoding read", "parse template actions", "sort a slice in place stably",
	"Decoder.Token", "struct tag omitempty", "UnmarshalTypeError", "limit on header size",
	"\"unexpected end of JSON input\"", "encode a map with sorted keys", "escape HTML in strings",
	"text/template/parse", "heap sort", "binary search", "steep the oolong", "quokka", "winds return",
	"unterminated_rhubarb", "Größe Straße", "range over a channel", "indent output", "an endless caravan of words oasis",
}
