package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/code/graph"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

func labels(targets []Target) string {
	var out []string
	for _, t := range targets {
		if out = append(out, t.Label); len(out) == 5 && len(targets) > 5 {
			return strings.Join(out, ", ") + fmt.Sprintf(" and %d more stores", len(targets)-5)
		}
	}
	return strings.Join(out, ", ")
}

// placer shows places of one target.
type placer struct {
	t    *Target
	docs map[string]*kb.DocumentText
}

func (p *placer) doc(ctx context.Context, path string) (*kb.DocumentText, error) {
	if d, ok := p.docs[path]; ok {
		return d, nil
	}
	d, err := p.t.Index.Document(ctx, path)
	if err != nil {
		if kb.CodeOf(err) != kb.NotFound {
			return nil, err
		}
		p.docs[path] = nil // it went since it was linked
		return nil, nil
	}
	p.docs[path] = &d
	return &d, nil
}

// find returns the declarations that a symbol names.
func (p *placer) find(ctx context.Context, symbol string) ([]graph.Decl, error) {
	if id, m := cutMark(symbol); isID(id) {
		res, err := p.t.Index.Resolve(ctx, []string{id})
		if err != nil {
			return nil, err
		}
		var out []graph.Decl
		for _, at := range res[0].Places {
			d, err := p.doc(ctx, at.Path)
			if err != nil || d == nil {
				return nil, err
			}
			c := &d.Chunks[at.Chunk]
			lines := []int{c.Start}
			for i, s := range siblings(c) {
				lines = append(lines[:i], max(s.Line, s.Start))
			}
			if own := marked(c, m); own != nil {
				lines = []int{max(own.Line, own.Start)}
			}
			for _, line := range lines {
				decl, ok, err := p.t.View.Declared(at.Path, line)
				if err != nil {
					return nil, err
				}
				if ok {
					out = append(out, decl)
				}
			}
		}
		if len(out) > 0 {
			return out, nil
		}
	}
	if path, line, ok := strings.Cut(symbol, ":"); ok {
		line, _, _ = strings.Cut(strings.TrimPrefix(line, "L"), "-")
		if n, err := strconv.Atoi(line); err == nil {
			decl, ok, err := p.t.View.Declared(path, n)
			if err != nil || !ok {
				return nil, err
			}
			return []graph.Decl{decl}, nil
		}
	}
	return p.t.View.Find(symbol)
}

// chunkAt returns the number of the chunk that a line lies in.
func chunkAt(d *kb.DocumentText, line int) int {
	i, _ := slices.BinarySearchFunc(d.Chunks, line, func(c kb.Chunk, line int) int {
		if c.End < line {
			return -1
		}
		return 1
	})
	return min(i, len(d.Chunks)-1)
}

func (p *placer) place(ctx context.Context, d graph.Decl) (Place, error) {
	out := Place{Store: p.t.Label, Symbol: d.Qualified, Kind: d.Kind, At: span(d.Path, d.Start, d.End)}
	doc, err := p.doc(ctx, d.Path)
	if err != nil || doc == nil || len(doc.Chunks) == 0 {
		return out, err
	}
	c := chunkAt(doc, d.Line)
	out.ID = doc.IDs[c]
	for i := range doc.Chunks[c].Symbols {
		if s := &doc.Chunks[c].Symbols[i]; s.Name == d.Name && (s.Line == d.Line || s.Line == 0) {
			out.ID, out.Signature, out.Doc = ownID(out.ID, &doc.Chunks[c], s), s.Signature, s.Doc
			break
		}
	}
	return out, nil
}

func span(path string, start, end int) string {
	if start == end {
		return fmt.Sprintf("%s:L%d", path, start)
	}
	return fmt.Sprintf("%s:L%d-%d", path, start, end)
}

// uses returns the uses of a declaration that a request asks for, those in
// tests after all others that are as near.
func (p *placer) uses(d graph.Decl, r CodeRequest) (out []graph.Call, err error) {
	switch r.What {
	case Callers:
		out, err = p.t.View.Callers(d.Spot(), r.Depth, maxUses)
	case Callees:
		return p.t.View.Callees(d.Spot(), r.Depth, maxUses)
	case References:
		edges, err := p.t.View.Into(d.Spot())
		if err != nil {
			return nil, err
		}
		for _, e := range edges {
			if r.Kind == "" || r.Kind == e.Kind.String() {
				out = append(out, graph.Call{Edge: e, Depth: 1})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b graph.Call) int {
		return cmp.Or(a.Depth-b.Depth, testsLast(a.Edge.From.Path, b.Edge.From.Path))
	})
	return out, err
}

// testsLast orders the paths of tests after others.
func testsLast(a, b string) int {
	x, y := rank.IsTest(a), rank.IsTest(b)
	switch {
	case x == y:
		return 0
	case x:
		return 1
	}
	return -1
}

// use shows an edge: from where it comes or, as a callee, where it leads, which
// is in p's store. The line of the use is in that of from.
func (p *placer) use(ctx context.Context, c graph.Call, callee bool, from *placer) (Use, error) {
	e := c.Edge
	at := e.From
	if callee {
		at = e.To
	}
	u := Use{Store: p.t.Label, At: span(at.Path, at.Line, at.Line), Symbol: at.Decl, Kind: e.Kind.String()}
	if callee {
		u.Line = e.From.Line
	}
	if c.Depth > 1 {
		u.Depth = c.Depth
	}
	u.Confidence = shownConfidence(e)
	doc, err := p.doc(ctx, at.Path)
	if err != nil || doc == nil || len(doc.Chunks) == 0 {
		return u, err
	}
	u.ID = doc.IDs[chunkAt(doc, at.Line)]
	line, err := from.doc(ctx, e.From.Path)
	if err != nil || line == nil {
		return u, err
	}
	u.Code = kb.Clip(strings.TrimSpace(lineOf(line, e.From.Line)), 120)
	return u, nil
}

// shownConfidence is an edge's confidence to two places, 0 when that is 1,
// which is left out.
func shownConfidence(e kb.Edge) float64 {
	if e.Confidence >= 0.995 {
		return 0
	}
	return math.Round(e.Confidence*100) / 100
}

// lineOf returns a line of a document, "" when it has no such line.
func lineOf(d *kb.DocumentText, line int) string {
	if len(d.Chunks) == 0 {
		return ""
	}
	c := &d.Chunks[chunkAt(d, line)]
	if line < c.Start || line > c.End {
		return ""
	}
	rest := d.Body[c.From:c.To]
	for range line - c.Start {
		_, more, ok := strings.Cut(rest, "\n")
		if !ok {
			return ""
		}
		rest = more
	}
	first, _, _ := strings.Cut(rest, "\n")
	return first
}
