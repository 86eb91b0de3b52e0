package gitignore

import (
	"slices"
	"sync/atomic"
)

// file is the rules of one .gitignore file, ordered by how they are found.
// Names, paths and endings without wildcards are looked up, so that files that
// list thousands of them cost no more than short ones.
type file struct {
	name     string   // for messages
	rules    []stated // numbered from 1 below
	names    map[string]lines
	full     map[string]lines // whole paths below the file's directory
	endings  map[string]lines // what follows a star
	lengths  []int            // those that endings have, in bytes
	elements []pattern        // with wildcards, held against the last element
	paths    []pattern        // with wildcards, held against the path

	steps  *int // counts what the automata do, for tests
	budget *Budget
	cost   atomic.Int64 // of the budget
}

type pattern struct {
	rule    int
	dirOnly bool
	glob    Glob
}

// lines are the number of the last rule that holds for everything, and the last one that
// holds for directories only; 0 for none.
type lines struct{ all, dirs int }

func (f *file) add(r rule) {
	f.rules = append(f.rules, stated{r.negate, r.line, r.text})
	n := len(f.rules)
	put := func(m *map[string]lines, key string) {
		if *m == nil {
			*m = map[string]lines{}
		}
		at := (*m)[key]
		if r.dirOnly {
			at.dirs = n
		} else {
			at.all = n
		}
		(*m)[key] = at
	}
	switch g := &r.glob; {
	case g.never:
	case g.literal != "" && r.anchored:
		put(&f.full, g.literal)
	case g.literal != "":
		put(&f.names, g.literal)
	case g.suffix != "":
		put(&f.endings, g.suffix)
		if n := len(g.suffix); !slices.Contains(f.lengths, n) {
			f.lengths = append(f.lengths, n)
		}
	case r.anchored:
		f.paths = append(f.paths, pattern{n, r.dirOnly, *g})
	default:
		f.elements = append(f.elements, pattern{n, r.dirOnly, *g})
	}
}

// last returns the last line, file.paths apart, that holds for the file or
// directory of that name and path; 0 for none.
func (f *file) last(name, path string, isDir bool) int {
	last := 0
	see := func(l lines) {
		last = max(last, l.all)
		if isDir {
			last = max(last, l.dirs)
		}
	}
	see(f.names[name])
	if f.full != nil {
		see(f.full[path])
	}
	for _, n := range f.lengths {
		if n <= len(name) {
			see(f.endings[name[len(name)-n:]])
		}
	}
	all, tried, may := 0, 0, f.may()
	for i := len(f.elements) - 1; i >= 0 && f.elements[i].rule > last && all+tried <= may; i-- {
		p := &f.elements[i]
		tried++
		if p.dirOnly && !isDir {
			continue
		}
		ok, steps := p.glob.match(name)
		all += steps
		if ok {
			last = p.rule
		}
	}
	f.count(all, tried+1+len(f.lengths))
	return last
}
