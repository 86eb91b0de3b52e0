// Package task is the format of the experiment with agents: questions about one
// tree with the places that answer them, as data that is judged before it is used.
package task

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Module begins what the go command gets: go:MODULE@VERSION.
const Module = "go:"

// Kinds are the kinds of questions, in the order of reports.
var Kinds = []string{"where", "how", "when", "who", "breaks"}

// Set is a file of questions about one tree.
type Set struct {
	Name       string   `json:"name"`
	Repository string   `json:"repository"`       // OWNER/NAME, or go:MODULE@VERSION
	Commit     string   `json:"commit,omitempty"` // in full; none of a module
	Folder     string   `json:"folder,omitempty"` // the part of it that is the tree
	Hide       []string `json:"hide,omitempty"`   // what is left out of the tree, see Hidden
	Rename     uint64   `json:"rename,omitempty"` // it is asked about in other words, made with this seed; 0 for none
	Seed       uint64   `json:"seed,omitempty"`   // of the renaming that tree and questions went through; 0 for none
	Stores     []string `json:"stores,omitempty"` // what else is indexed: go:MODULE@VERSION; of it nothing is on disk
	Tasks      []Task   `json:"tasks"`
}

// Task is one question.
type Task struct {
	ID       string  `json:"id"`
	Kind     string  `json:"kind"`
	Question string  `json:"question"`
	Gold     []Place `json:"gold"`
	Least    int     `json:"least"`  // how many of the places an answer has to name
	Rubric   string  `json:"rubric"` // what a right answer says besides
	// Plain is the rubric as it was before a renaming, for who grades.
	Plain string `json:"plain,omitempty"`
}

// Place is a range of lines, counted from one, both ends in it. From 0 is the
// whole file.
type Place struct {
	Path  string `json:"path"`
	From  int    `json:"from"`
	To    int    `json:"to"`
	Name  string `json:"name,omitempty"`
	Store string `json:"store,omitempty"` // the one of the set's stores that it is in; none for the tree
}

// Overlaps reports whether lines from to to of a file belong to the place.
func (p Place) Overlaps(file string, from, to int) bool {
	return Same(file, p.Path) && (p.From == 0 || from <= p.To && p.From <= to)
}

// Same reports whether one path is the end of the other.
func Same(a, b string) bool {
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

// Hidden reports whether a path is hidden by patterns: one without a slash
// is compared with the file's name, one that ends in a slash with its folders.
func Hidden(file string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if dir, ok := strings.CutSuffix(p, "/"); ok {
			return strings.HasPrefix(file, dir+"/")
		}
		name := file
		if !strings.Contains(p, "/") {
			name = path.Base(file)
		}
		ok, err := path.Match(p, name)
		return ok && err == nil
	})
}

// Load reads and checks a set, of which the tree is not needed.
func Load(file string) (*Set, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s := &Set{}
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	if err := d.Decode(s); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

func (s *Set) check() error {
	var wrong []error
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if s.Name == "" || len(s.Commit) != 40 && !strings.HasPrefix(s.Repository, Module) {
		add("a set has a name and the whole hash of a commit, or a version of a module")
	}
	for _, x := range s.Stores {
		if !strings.HasPrefix(x, Module) || !strings.Contains(x, "@") {
			add("the store %q is no %sMODULE@VERSION", x, Module)
		}
	}
	for _, p := range s.Hide {
		if _, err := path.Match(p, ""); err != nil {
			add("the pattern %q: %w", p, err)
		}
	}
	seen := map[string]bool{}
	for _, t := range s.Tasks {
		switch {
		case t.ID == "" || seen[t.ID]:
			add("the id %q is empty or there twice", t.ID)
		case !slices.Contains(Kinds, t.Kind):
			add("%s: no kind %q; there are %s", t.ID, t.Kind, strings.Join(Kinds, ", "))
		case strings.TrimSpace(t.Question) == "" || strings.TrimSpace(t.Rubric) == "":
			add("%s: a question and a rubric are needed", t.ID)
		case len(t.Gold) == 0 || t.Least < 1 || t.Least > len(t.Gold):
			add("%s: least is %d of %d places", t.ID, t.Least, len(t.Gold))
		}
		seen[t.ID] = true
		for _, p := range t.Gold {
			if p.Path == "" || path.IsAbs(p.Path) || p.From < 0 || p.To < p.From {
				add("%s: %s:%d-%d is no place", t.ID, p.Path, p.From, p.To)
			}
			if p.Store != "" && !slices.Contains(s.Stores, p.Store) {
				add("%s: %s is none of the set's stores", t.ID, p.Store)
			}
		}
	}
	return errors.Join(wrong...)
}

// CheckTree reports the places that the tree in dir, or the folder of their
// store, does not have: a file that is not there or hidden, lines behind its end, a name
// that is not in them.
func (s *Set) CheckTree(dir string, stores map[string]string) error {
	var wrong []error
	for _, t := range s.Tasks {
		for _, p := range t.Gold {
			in := dir
			if p.Store != "" {
				in = stores[p.Store]
			}
			if err := s.checkPlace(in, p); err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %w", t.ID, err))
			}
		}
	}
	return errors.Join(wrong...)
}

func (s *Set) checkPlace(dir string, p Place) error {
	if p.Store == "" && Hidden(p.Path, s.Hide) {
		return fmt.Errorf("%s is hidden", p.Path)
	}
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(p.Path)))
	if err != nil {
		return err
	}
	if p.From == 0 {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	if p.To > len(lines) {
		return fmt.Errorf("%s:%d-%d: the file has %d lines", p.Path, p.From, p.To, len(lines))
	}
	last := p.Name[strings.LastIndexAny(p.Name, ".:#")+1:]
	if !strings.Contains(strings.Join(lines[p.From-1:p.To], "\n"), last) {
		return fmt.Errorf("%s:%d-%d has no %q", p.Path, p.From, p.To, last)
	}
	return nil
}

// Batches cuts the tasks into batches of at most n, every kind spread over all.
func (s *Set) Batches(n int) [][]Task {
	count := (len(s.Tasks) + n - 1) / n
	out := make([][]Task, count)
	i := 0
	for _, k := range Kinds {
		for _, t := range s.Tasks {
			if t.Kind == k {
				out[i%count] = append(out[i%count], t)
				i++
			}
		}
	}
	return out
}
