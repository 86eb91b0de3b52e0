// Package eval measures how well search answers: it indexes the repositories
// of a set of judged queries, asks each query as an agent would, and reports
// where the relevant places came. Anyone can run it on queries of their own.
//
// # Format of a set
//
// A set is one JSON object:
//
//	{"repos": [{"name": "flask", "language": "python", "root": "src/flask"}],
//	 "tasks": [{"repo": "flask", "query": "how a request context is pushed",
//	            "category": "semantic", "relevant": ["src/flask/ctx.py"]}]}
//
// A repository lies in the folder of its name; root is the only sub-folder
// that is indexed, "" is all of it. A relevant place is a path; or {"path",
// "start", "end"}, lines of which one must be in the hit; or {"path",
// "heading"}, a section. Paths match when one is the other or its end at a
// "/". A task without relevant places asks about what is not there: it counts
// for the confidence alone. A task may set intent and mode. Other keys are
// for the reader.
package eval

import (
	"encoding/json"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// Set is a set of judged queries.
type Set struct {
	Source string `json:"source,omitempty"`
	Repos  []Repo `json:"repos"`
	Tasks  []Task `json:"tasks"`
}

// Repo is a body of text that queries are asked of.
type Repo struct {
	Name     string `json:"name"`
	Language string `json:"language,omitempty"`
	Root     string `json:"root,omitempty"` // the only sub-folder, slash-separated
	// Base, Include and Exclude are of sets that lie elsewhere: Base names a
	// folder that the caller knows, the others are patterns of paths in it.
	Base    string   `json:"base,omitempty"`
	Include []string `json:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
}

// Task is one query with what answers it.
type Task struct {
	Repo     string     `json:"repo"`
	Query    string     `json:"query"`
	Category string     `json:"category,omitempty"`
	Intent   string     `json:"intent,omitempty"`
	Mode     string     `json:"mode,omitempty"`
	Aside    bool       `json:"aside,omitempty"` // kept back while things are tuned
	Relevant []Relevant `json:"relevant"`
}

// Relevant is a place that answers.
type Relevant struct {
	Path    string `json:"path"`
	Start   int    `json:"start,omitempty"` // lines, 1-based, inclusive; 0: the whole document
	End     int    `json:"end,omitempty"`
	Heading string `json:"heading,omitempty"`
}

// UnmarshalJSON takes a path alone as well.
func (r *Relevant) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*r = Relevant{}
		return json.Unmarshal(b, &r.Path)
	}
	type plain Relevant
	return json.Unmarshal(b, (*plain)(r))
}

// Load reads a set.
func Load(file string) (Set, error) {
	var s Set
	raw, err := os.ReadFile(file)
	if err != nil {
		return s, kb.Errorf(kb.NotFound, "cannot read the tasks: %w", err).WithHint("name a file of judged queries; docs/eval.md describes the format")
	}
	return s, s.parse(raw, file)
}

func (s *Set) parse(raw []byte, file string) error {
	bad := func(format string, a ...any) error {
		return kb.Errorf(kb.Invalid, format, a...).WithHint("docs/eval.md describes the format")
	}
	if err := json.Unmarshal(raw, s); err != nil {
		return bad("%q is no set of judged queries: %w", file, err)
	}
	if len(s.Tasks) == 0 || len(s.Repos) == 0 {
		return bad("%q has no tasks or no repos", file)
	}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		switch {
		case strings.TrimSpace(t.Query) == "":
			return bad("task %d of %q has no query", i+1, file)
		case s.repo(t.Repo) == nil:
			return bad("task %d of %q is about %q, which is not among the repos", i+1, file, t.Repo)
		}
		for _, r := range t.Relevant {
			if r.Path == "" || r.Start > r.End {
				return bad("task %d of %q has a relevant place without a path or with lines that end before they begin", i+1, file)
			}
		}
	}
	return nil
}

func (s *Set) repo(name string) *Repo {
	i := slices.IndexFunc(s.Repos, func(r Repo) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Repos[i]
}

// language is what a task counts under.
func (r *Repo) language() string {
	if r.Language == "" {
		return "other"
	}
	return r.Language
}

// place is where a hit is, taken from what a reader sees.
type place struct {
	path       string
	start, end int
	headings   []string
}

func placeOf(h *search.Hit, root string) place {
	p := place{path: h.At, headings: strings.Split(h.Symbol, " › ")}
	if i := strings.LastIndex(h.At, ":L"); i >= 0 {
		p.path = h.At[:i]
		lines, _, _ := strings.Cut(h.At[i+2:], ":")
		from, to, _ := strings.Cut(lines, "-")
		p.start, _ = strconv.Atoi(from)
		if p.end, _ = strconv.Atoi(to); p.end == 0 {
			p.end = p.start
		}
	}
	p.path = path.Join(root, p.path)
	return p
}

// matches reports whether a hit at p shows what is relevant.
func (r *Relevant) matches(p *place) bool {
	if !suffix(p.path, r.Path) && !suffix(r.Path, p.path) {
		return false
	}
	if r.Start > 0 && (p.end < r.Start || p.start > r.End) {
		return false
	}
	return r.Heading == "" || slices.ContainsFunc(p.headings, func(h string) bool {
		return strings.EqualFold(strings.TrimSpace(h), strings.TrimSpace(r.Heading))
	})
}

// suffix reports whether end is all of p or what follows a "/" in it.
func suffix(p, end string) bool {
	return p == end || strings.HasSuffix(p, "/"+end)
}
