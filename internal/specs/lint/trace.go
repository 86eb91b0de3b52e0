package lint

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
)

// Source is a store that specifications and code are read from.
type Source struct {
	Store     kb.StoreID
	Documents func(ctx context.Context) ([]string, error) // paths
	Body      func(ctx context.Context, path string) (string, error)
}

// Trace says which code has to do with which specifications.
type Trace struct {
	Of map[*kdd.Doc][]Spot
	// code and tests are how many files of code, and how many of them test
	// something: where there are none, nothing can be missing in them.
	code, tests int
	// Cut is set when there were more files than MostTraced, of which the rest was not read.
	Cut bool
}

// Spot is a place that a specification and code share.
type Spot struct {
	Source int
	Path   string
	Line   int // 0 where the specification names the file
	Test   bool
}

const (
	MostTraced = 20_000 // files that are read
	mostSpots  = 50     // of one specification that are kept
	mostParts  = 10     // of a word, between its hyphens and underscores
)

// NewTrace reads the files that are no specifications for the ids that they
// name. spec says which documents of the graph are specifications.
func NewTrace(ctx context.Context, g *kdd.Graph, sources []Source, spec func(*kdd.Doc) bool) (*Trace, error) {
	t := &Trace{Of: map[*kdd.Doc][]Spot{}}
	named := map[string]*kdd.Doc{} // by id, with hyphens and capitals
	for _, d := range g.Docs() {
		if !spec(d) {
			continue
		}
		for _, id := range d.Codes() {
			if before := named[foldID(id)]; before == nil || d.ID == id { // two that begin alike: it is the first's
				named[foldID(id)] = d
			}
		}
	}
	for i, src := range sources {
		paths, err := src.Documents(ctx)
		if err != nil {
			return nil, err
		}
		for _, p := range paths {
			if !traced(p) || g.Doc(src.Store, p) != nil && !strings.HasSuffix(p, ".feature") {
				continue
			}
			if t.code == MostTraced {
				t.Cut = true
				return t, nil
			}
			body, err := src.Body(ctx, p)
			if err != nil {
				return nil, err
			}
			test := Proves(p)
			t.code++
			if test {
				t.tests++
			}
			namesIn(body, func(word string, line int) {
				if d := named[word]; d != nil {
					t.add(d, Spot{i, p, line, test})
				}
			})
			for _, m := range g.Mentions(p, nil, kdd.Seen{All: true}) {
				if m.Exact {
					t.add(m.Doc, Spot{i, p, 0, test})
				}
			}
		}
	}
	return t, nil
}

// add notes a spot, one of each file.
func (t *Trace) add(d *kdd.Doc, s Spot) {
	have := t.Of[d]
	if len(have) < mostSpots && !slices.ContainsFunc(have, func(x Spot) bool { return x.Source == s.Source && x.Path == s.Path }) {
		t.Of[d] = append(have, s)
	}
}

// tested reports whether a test has to do with a specification.
func (t *Trace) tested(d *kdd.Doc) bool {
	return slices.ContainsFunc(t.Of[d], func(s Spot) bool { return s.Test })
}

// Proves reports whether a file tests something, by its name.
func Proves(p string) bool { return strings.HasSuffix(p, ".feature") || rank.IsTest(p) }

// traced reports whether a file is code or a test, by its name: data and texts
// name ids without having to do with them.
func traced(p string) bool {
	switch strings.ToLower(path.Ext(p)) {
	case "", ".json", ".lock", ".txt", ".csv", ".tsv", ".xml", ".svg", ".html", ".md", ".mdx", ".markdown", ".rst", ".adoc", ".sdoc", ".log", ".sum", ".toml", ".ini":
		return false
	}
	return true
}

// foldID spells an id as words of code are compared: REQ-001 of req_001.
func foldID(s string) string { return strings.ToUpper(strings.ReplaceAll(s, "_", "-")) }

// namesIn calls take for every word of a text that may be an id, and for each
// run of its parts, so that test_REQ_001_total holds REQ-001. Lines begin at 1.
func namesIn(body string, take func(word string, line int)) {
	line := 1
	for i := 0; i < len(body); {
		c := body[i]
		if c == '\n' {
			line++
		}
		if !letter(c) {
			i++
			continue
		}
		from, digit, joint := i, false, false
		for ; i < len(body) && (letter(body[i]) || body[i] == '-' || body[i] == '_' || body[i] >= '0' && body[i] <= '9'); i++ {
			digit = digit || body[i] >= '0' && body[i] <= '9'
			joint = joint || body[i] == '-' || body[i] == '_'
		}
		if !digit || !joint || i-from > 200 {
			continue
		}
		parts := strings.FieldsFunc(foldID(body[from:i]), func(r rune) bool { return r == '-' })
		parts = parts[:min(len(parts), mostParts)]
		for a := range parts {
			for b := a + 2; b <= len(parts); b++ {
				take(strings.Join(parts[a:b], "-"), line)
			}
		}
	}
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
