package rank

import (
	"math"
	"slices"
	"strings"
)

// Standing is what speaks for a store before anything in it is looked at.
type Standing struct {
	Own      bool // it is the folder of the project that asks
	Imported bool // that project speaks of it
	Named    bool // the query names it
	Older    bool // another store has a newer version of the same, or the one that the query names
}

// foreign is 1 for what is not the project's own where there is something that
// is, less for what the project uses and for what has more of the query than
// all that is the project's own; a store that the query names is meant.
func (r *ranking) foreign(e *Evidence, _ *document) float64 {
	if !r.own || r.o.Stores[e.Store].Own || r.elsewhere {
		return 0
	}
	v := 1.0
	if r.o.Stores[e.Store].Imported {
		v = r.t.Imported
	}
	if h := r.holds(e); h > r.home {
		v *= math.Pow(r.home/h, r.t.Abroad)
	}
	return v
}

// holds is what a candidate has of the query, half in its chunk and half in its
// document.
func (r *ranking) holds(e *Evidence) float64 {
	return (r.q.Coverage(e.Matched) + r.q.Coverage(e.DocMatched)) / 2
}

// unnamed is 1 for what is not in the store that the query names.
func (r *ranking) unnamed(e *Evidence, _ *document) float64 {
	return flag(r.elsewhere && !r.o.Stores[e.Store].Named)
}

// Within reports whether the query says the name of a store, which then is no
// word to look for: inside a project its name is said in passing ("how flask
// pushes a context") and would find the file that is named for the whole. A
// name that is all of the query is looked for like any other.
func (q *Query) Within(name string) bool {
	name, _, _ = strings.Cut(name, "@")
	parts := wordRE.FindAllString(name, -1)
	if len(parts) == 0 {
		return false
	}
	within := false
	for i := 0; i+len(parts) <= len(q.Words); i++ {
		run := q.Words[i : i+len(parts)]
		if !slices.EqualFunc(run, parts, func(w Word, p string) bool { return strings.EqualFold(w.Text, p) }) {
			continue
		}
		telling := func(w Word) bool { return !w.Stop }
		if slices.ContainsFunc(q.Words[:i], telling) || slices.ContainsFunc(q.Words[i+len(parts):], telling) {
			within = true
			for j := range run {
				run[j].Stop = true
			}
		}
	}
	return within
}

// distinct keeps one of what several stores hold, with the numbers of the
// others.
func distinct(list []Scored) []Scored {
	type text struct {
		path  string
		start int
		text  string // its part of the id
	}
	shown := make(map[text]int, len(list)) // index in out
	out := make([]Scored, 0, len(list))
	for i := range list {
		s := &list[i]
		copyOf := text{s.Path, s.Start, s.ID[max(0, len(s.ID)-3):]}
		if i, ok := shown[copyOf]; ok && out[i].Store != s.Store {
			out[i].Also = append(out[i].Also, s.Store)
			continue
		}
		shown[copyOf] = len(out)
		out = append(out, *s)
	}
	return out
}
