package search

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/code/graph"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const (
	maxLinks   = 12  // callers, and callees, that get_full_context shows
	maxMembers = 60  // of a type
	largeType  = 150 // lines above which a type is shown by its members
)

// Link is one caller or callee in a context.
type Link struct {
	ID     string `json:"id"`
	Store  string `json:"store,omitempty"` // where it is another one than that of the place
	At     string `json:"at"`              // path:Lline of the call; of callees, of the declaration
	Symbol string `json:"symbol"`          // who calls; of callees, what is called
	// Confidence is left out when it is 1.
	Confidence float64 `json:"confidence,omitempty"`
	Code       string  `json:"code,omitempty"` // of callers the line of the call, of types the line that declares
}

// Member is a declaration inside a type.
type Member struct {
	ID     string `json:"id"`
	Lines  string `json:"lines"`
	Symbol string `json:"symbol"`
}

// usage is what a declaration is called by and calls.
type usage struct {
	decl     graph.Decl
	callers  []Link
	callees  []Link
	moreIn   int
	moreOut  int
	inherits []string
	types    []Link // see need
	tests    []Link
}

// usageOf asks the view about the declaration that a chunk holds: the one that
// chosen names, or its first; with far, other stores are asked, too, which may
// have to be joined first. ok is false when nothing is known.
func usageOf(ctx context.Context, t *Target, d *kb.DocumentText, chunk int, chosen *kb.Symbol, most int, far bool) (u usage, ok bool, err error) {
	if t.View == nil {
		return u, false, nil
	}
	c := &d.Chunks[chunk]
	line := 0
	switch {
	case chosen != nil:
		line = max(chosen.Line, chosen.Start)
	case len(c.Symbols) > 0:
		line = max(c.Symbols[0].Line, c.Symbols[0].Start)
	default:
		line = c.Start
	}
	if u.decl, ok, err = t.View.Declared(d.Path, line); err != nil || !ok {
		return u, ok, err
	}
	p := &placer{t: t, docs: map[string]*kb.DocumentText{d.Path: d}}
	in, err := t.View.Into(u.decl.Spot())
	if err != nil {
		return u, false, err
	}
	slices.SortStableFunc(in, func(a, b kb.Edge) int { return testsLast(a.From.Path, b.From.Path) })
	if u.callers, u.moreIn, err = p.links(ctx, in, most, func(e kb.Edge) kb.Spot { return e.From }); err != nil {
		return u, false, err
	}
	if far {
		if u.callers, u.moreIn, err = p.farLinks(ctx, u.decl, Callers, u.callers, u.moreIn, most); err != nil {
			return u, false, err
		}
	}
	out, err := t.View.Out(u.decl.Spot())
	if err != nil {
		return u, false, err
	}
	for _, e := range out {
		if e.Kind == kb.UseInherit && !slices.Contains(u.inherits, e.To.Decl) {
			u.inherits = append(u.inherits, e.To.Decl)
		}
	}
	if u.callees, u.moreOut, err = p.links(ctx, out, most, func(e kb.Edge) kb.Spot { return e.To }); err != nil {
		return u, false, err
	}
	if far {
		u.callees, u.moreOut, err = p.farLinks(ctx, u.decl, Callees, u.callees, u.moreOut, most)
	}
	return u, true, err
}

// links shows the calls among edges, each place once.
func (p *placer) links(ctx context.Context, edges []kb.Edge, most int, end func(kb.Edge) kb.Spot) (out []Link, more int, err error) {
	seen := map[string]bool{}
	for _, e := range edges {
		at := end(e)
		key := at.Path + "\x00" + at.Decl
		if e.Kind != kb.UseCall || seen[key] {
			continue
		}
		seen[key] = true
		if len(out) == most {
			more++
			continue
		}
		l, err := p.link(ctx, at, e)
		if err != nil {
			return nil, 0, err
		}
		out = append(out, l)
	}
	return out, more, nil
}

// link shows one end of an edge.
func (p *placer) link(ctx context.Context, at kb.Spot, e kb.Edge) (Link, error) {
	l := Link{At: span(at.Path, at.Line, at.Line), Symbol: at.Decl, Confidence: shownConfidence(e)}
	doc, err := p.doc(ctx, at.Path)
	if err == nil && doc != nil && len(doc.Chunks) > 0 {
		l.ID = doc.IDs[chunkAt(doc, at.Line)]
	}
	return l, err
}

// used returns the lines of a document that import what the lines from start
// to end use.
func used(d *kb.DocumentText, start, end, most int) []string {
	if len(d.Chunks) == 0 {
		return nil
	}
	words := map[string]bool{}
	a, b := chunkAt(d, start), chunkAt(d, end)
	eachWord(d.Body[d.Chunks[a].From:d.Chunks[b].To], func(w string) { words[w] = true })
	var out []string
	if len(d.Facts.Imports) > 0 {
		for _, i := range d.Facts.Imports {
			local, _, _ := strings.Cut(i.Local, ".")
			if local == "" || !words[local] {
				continue
			}
			line := kb.Clip(strings.TrimSpace(lineOf(d, i.Line)), 100)
			if line != "" && !slices.Contains(out, line) {
				if out = append(out, line); len(out) == most {
					break
				}
			}
		}
		return out
	}
	// Without facts (Go) the last word of the path, or the name before it, tells.
	for _, line := range imports(d, 200) {
		name, path, named := strings.Cut(line, " ")
		if !named {
			path = name
		}
		path = strings.Trim(path, `"'`)
		last := path[strings.LastIndexByte(path, '/')+1:]
		if strings.HasPrefix(last, "v") && len(last) < 4 && strings.Contains(path, "/") {
			path = strings.TrimSuffix(path, "/"+last)
			last = path[strings.LastIndexByte(path, '/')+1:]
		}
		if named && words[name] || words[last] || words[strings.TrimPrefix(last, "go-")] || words[strings.ReplaceAll(last, "-", "")] {
			if out = append(out, line); len(out) == most {
				break
			}
		}
	}
	return out
}

// eachWord calls f for every run of letters, digits and underscores.
func eachWord(s string, f func(string)) {
	for s != "" {
		from := strings.IndexFunc(s, isWordRune)
		if from < 0 {
			return
		}
		s = s[from:]
		to := strings.IndexFunc(s, func(r rune) bool { return !isWordRune(r) })
		if to < 0 {
			to = len(s)
		}
		f(s[:to])
		s = s[to:]
	}
}

func isWordRune(r rune) bool {
	return r == '_' || r == '$' || r < utf8.RuneSelf && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') || r >= utf8.RuneSelf && unicode.IsLetter(r)
}

// members lists the declarations directly inside the type that chunk i begins.
func members(d *kb.DocumentText, of *kb.Symbol) []Member {
	path := append(slices.Clone(of.Path), of.Name)
	var out []Member
	for i := range d.Chunks {
		for j := range d.Chunks[i].Symbols {
			s := &d.Chunks[i].Symbols[j]
			if !slices.Equal(s.Path, path) || len(out) == maxMembers {
				continue
			}
			lines := fmt.Sprint(s.Start)
			if s.End > s.Start {
				lines += fmt.Sprintf("-%d", s.End)
			}
			name := s.Name
			if s.Signature != "" {
				name = kb.Clip(s.Signature, 100)
			}
			out = append(out, Member{ID: d.IDs[i], Lines: lines, Symbol: name})
		}
	}
	return out
}

// names lists the symbols of links, for a hit: "Server.Serve (net/http/server.go:L12)".
func names(links []Link, more int) []string {
	var out []string
	for _, l := range links {
		at := l.At
		if l.Store != "" {
			at = l.Store + ":" + at
		}
		if l.Symbol == "" {
			out = append(out, at)
		} else {
			out = append(out, l.Symbol+" "+at)
		}
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return out
}
