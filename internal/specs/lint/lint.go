// Package lint finds what is wrong with specifications: in their graph, in how
// they are written, and in what code and tests know of them. What is severe,
// and what is old and known, a project configures.
package lint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

// Linter looks at what specifications say and how they are written.
type Linter struct {
	Graph   *kdd.Graph
	Sources []Source // by number, as Doc.Source has it
	// Trace returns what code has to do with specifications; it is called where a rule needs it.
	Trace func(ctx context.Context) (*Trace, error)
	// Changes are those of the project's own files; nil without a history.
	Changes *Changes

	looked func(*kdd.Doc) bool
	bodies map[*kdd.Doc]string // of the documents that were read again
}

// Problems returns what is wrong with the documents that a filter selects: what
// the graph shows, of which r is the report, what their texts show, and what
// no code or test has to do with. Notes say what was not looked at.
func (l *Linter) Problems(ctx context.Context, f kdd.Filter, r *kdd.Report) (out []kdd.Problem, notes []string, err error) {
	l.bodies = map[*kdd.Doc]string{}
	selected := map[*kdd.Doc]bool{}
	for _, d := range l.Graph.Selected(f) {
		selected[d] = true
	}
	l.looked = func(d *kdd.Doc) bool { return selected[d] }
	out = l.Graph.Problems(f, r)
	traced, notes, err := l.untraced(ctx)
	if err != nil {
		return nil, nil, err
	}
	suspects, err := l.suspects(ctx)
	if err != nil {
		return nil, nil, err
	}
	out = append(append(out, traced...), suspects...)
	keys := map[*kdd.Doc][]*kdd.Problem{} // problems whose line is that of a key
	for i := range out {
		if p := &out[i]; p.Line == 0 {
			keys[p.Doc] = append(keys[p.Doc], p)
		}
	}
	var written []kdd.Problem
	unread := map[*kdd.Doc]bool{}
	for _, d := range l.Graph.Docs() {
		if !selected[d] {
			continue
		}
		body, err := l.body(ctx, d)
		if err != nil {
			return nil, nil, err
		}
		for _, p := range keys[d] {
			p.Line = lineOf(d, body, p.Key)
		}
		if p, ok := frontProblem(d, body); ok {
			written, unread[d] = append(written, p), true
			continue
		}
		for _, e := range selfReferences(d, body) {
			if kdd.Acyclic(e.Type) {
				written = append(written, kdd.SelfProblem(d, e.Type, e.Line))
			}
		}
		found, err := l.places(ctx, d, body)
		if err != nil {
			return nil, nil, err
		}
		written = append(written, found...)
		delete(l.bodies, d)
	}
	// What else is wrong where front matter was not read follows from that.
	out = append(slices.DeleteFunc(out, func(p kdd.Problem) bool { return unread[p.Doc] }), written...)
	seen := map[kdd.Problem]bool{}
	return slices.DeleteFunc(out, func(p kdd.Problem) bool {
		twice := seen[p]
		seen[p] = true
		return twice
	}), notes, nil
}

// selfReferences are the relations of a document to itself. Few name
// themselves twice in their front matter, and only those are read for it.
func selfReferences(d *kdd.Doc, body string) []kb.SpecEdge {
	head := body[:min(len(body), 16<<10)]
	if strings.HasPrefix(head, "---") {
		if end := strings.Index(head[3:], "\n---"); end >= 0 {
			head = head[:3+end]
		}
	}
	head = strings.ToLower(head)
	for _, name := range []string{d.ID, d.Title} {
		if name != "" && strings.Count(head, strings.ToLower(name)) > 1 || d.ID == "" && strings.Contains(head, strings.ToLower(name)) {
			return specdoc.SelfReferences(body)
		}
	}
	return nil
}

// body returns the text of a document.
func (l *Linter) body(ctx context.Context, d *kdd.Doc) (string, error) {
	if body, ok := l.bodies[d]; ok {
		return body, nil
	}
	return l.Sources[d.Source].Body(ctx, d.Path)
}

// untraced are the requirements that nothing verifies and the rules that no
// code names, where there are tests and code that could.
func (l *Linter) untraced(ctx context.Context) (out []kdd.Problem, notes []string, err error) {
	asks := false
	for _, d := range l.Graph.Docs() {
		asks = asks || l.looked(d) && (d.Kind == "requirement" || Ruled(d.Kind))
	}
	if !asks {
		return nil, nil, nil
	}
	t, err := l.Trace(ctx)
	if err != nil {
		return nil, nil, err
	}
	if t.Cut {
		notes = append(notes, fmt.Sprintf("of the code the first %d files were looked at", MostTraced))
	}
	proves := t.tests > 0
	for _, d := range l.Graph.Docs() {
		proves = proves || len(l.Graph.VerifiedBy(d)) > 0
	}
	for _, d := range l.Graph.Docs() {
		switch {
		case !l.looked(d) || t.Cut || len(d.Codes()) == 0: // without an id nothing can name it
		case d.Kind == "requirement" && proves && len(l.Graph.VerifiedBy(d)) == 0 && !t.tested(d):
			out = append(out, kdd.Problem{Rule: kdd.Unverified, Doc: d, Text: fmt.Sprintf("nothing verifies %s", l.Graph.NameOf(d)),
				Mend: "name it in a test or a scenario, or in verifies: of a document"})
		case Ruled(d.Kind) && t.code > 0 && len(t.Of[d]) == 0:
			out = append(out, kdd.Problem{Rule: kdd.Unnamed, Doc: d, Text: fmt.Sprintf("no code names %s", l.Graph.NameOf(d)),
				Mend: "write its id into a comment where the code keeps it"})
		}
	}
	return out, notes, nil
}

// Ruled reports whether documents of a kind hold rules for code.
func Ruled(kind string) bool {
	return kind == "business-rule" || kind == "business-policy" || kind == "cross-policy"
}

// keySpellings are how front matter may call what a problem is about.
var keySpellings = map[string][]string{
	"id": {"id", "identifier", "identificador"}, "kind": {"kind", "type", "tipo", "doc_type", "document_type"}, "status": {"status", "estado", "state"},
}

// lineOf returns the line of a key of front matter, else that of the first
// heading, else 1.
func lineOf(d *kdd.Doc, body, key string) int {
	if key != "" {
		n := 0
		for l := range strings.Lines(body) {
			if n++; n > 200 {
				break
			}
			name, _, ok := strings.Cut(l, ":")
			if !ok {
				name, _, _ = strings.Cut(l, "=")
			}
			name = strings.ToLower(strings.Trim(name, " \t-*\"'"))
			for _, k := range keySpellings[key] {
				if name == k {
					return n
				}
			}
		}
	}
	for i := range d.Sections {
		if d.Sections[i].Level > 0 {
			return d.Sections[i].Start
		}
	}
	return 1
}

// LooksLikeKey reports whether a line may be one of front matter: "id: X".
func LooksLikeKey(line string) bool {
	key, _, ok := strings.Cut(line, ":")
	return ok && key != "" && !strings.ContainsAny(key, " \t")
}

// frontProblem says why what a document begins with is no front matter though
// it was meant to be.
func frontProblem(d *kdd.Doc, body string) (kdd.Problem, bool) {
	lines := strings.SplitN(body, "\n", 3)
	mark := strings.TrimSpace(lines[0])
	if mark != "---" && mark != "+++" || len(lines) < 2 {
		return kdd.Problem{}, false
	}
	first := strings.TrimSpace(lines[1])
	n := markdown.FrontMatter(body)
	switch {
	case n == 0 && LooksLikeKey(first):
		return kdd.Problem{Rule: kdd.FrontOpen, Doc: d, Line: 1, Text: "its front matter is never closed", Mend: "write " + mark + " below the last key"}, true
	case n > 0 && strings.HasPrefix(first, "- ") && LooksLikeKey(first[2:]):
		return kdd.Problem{Rule: kdd.FrontList, Doc: d, Line: 1, Text: "its front matter is a list, of which nothing is read", Mend: "write its keys without dashes"}, true
	}
	return kdd.Problem{}, false
}
