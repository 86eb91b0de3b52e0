package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// sets in the order of the report.
var sets = []string{"names", "messages", "traces", "issues", "how", "stores", "absent", "docs", "plain", "typos", "pasted", "tokens"}

// repository is a line of testdata/repos.json. Root is the only folder of it
// that is indexed, all when it is empty; a documentation question looks at all.
type repository struct {
	Name, GitHub, Revision, Root, Language, Part string
}

// place is where an answer stands: lines counted from one, From and To the
// declaration or section, Line the one that counts. From 0: the whole file.
type place struct {
	Path           string
	From, Line, To int
	Name           string
}

// frame is one line of a trace: [name, path, line, whose] or with a column.
type frame struct {
	name, path string
	line, col  int
	whose      string // own, app, dep or std
}

func (f *frame) UnmarshalJSON(b []byte) error {
	f.col = 9
	parts := []any{&f.name, &f.path, &f.line, &f.whose, &f.col}
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	for i, r := range raw[:min(len(raw), len(parts))] {
		if err := json.Unmarshal(r, parts[i]); err != nil {
			return err
		}
	}
	return nil
}

// span is a literal's content: line, first byte in it, end. A nil span stands
// for a value between two literals.
type span []int

// item is a line of a set. Not every field is in every set.
type item struct {
	ID, Repo, Kind string
	Ask            string
	From           string // whose project asks
	Task           *int   // the number of a public task among those of its repository
	Pair           *int   // the public task that an absent one is compared with
	Seed           int
	Form           string
	Parts          []span
	Lang           string
	Error, Message string
	Frames         []frame
	Commit, Parent string
	Was            string // the word of a public task that Ask misspells
	Gold           []place

	set   string
	aside bool
}

// load reads the items of a set that are for looking at, and the others if asked for.
func load(dir, set string, aside bool) ([]*item, error) {
	var all []*item
	for _, part := range []string{"", "aside"} {
		if part != "" && !aside {
			continue
		}
		items, err := lab.ReadLines[item](filepath.Join(dir, part, set+".jsonl"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for i := range items {
			items[i].set, items[i].aside = set, part != ""
			all = append(all, &items[i])
		}
	}
	slices.SortStableFunc(all, func(a, b *item) int { return strings.Compare(a.Repo, b.Repo) })
	return all, nil
}

func readJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// task is a public task.
type task struct {
	Repo, Query, Category string
	Relevant              []string
}

// publicTasks reads the public tasks by repository, in their order.
func publicTasks(path string) (map[string][]task, error) {
	var file struct{ Tasks []task }
	if err := readJSON(path, &file); err != nil {
		return nil, err
	}
	by := map[string][]task{}
	for _, t := range file.Tasks {
		by[t.Repo] = append(by[t.Repo], t)
	}
	return by, nil
}

func (t task) gold() []place {
	var out []place
	for _, p := range t.Relevant {
		out = append(out, place{Path: p})
	}
	return out
}
