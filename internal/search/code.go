package search

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/code/graph"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Place is a declaration.
type Place struct {
	ID        string `json:"id"` // of the chunk that it begins in
	Store     string `json:"store,omitempty"`
	At        string `json:"at"` // path:Lstart-Lend
	Symbol    string `json:"symbol"`
	Kind      string `json:"kind,omitempty"`
	Signature string `json:"signature,omitempty"`
	Doc       string `json:"doc,omitempty"`
}

// Use is a line on which a name is used, or, of callees, what is used there.
type Use struct {
	ID     string `json:"id"` // of the chunk
	Store  string `json:"store,omitempty"`
	At     string `json:"at"`               // path:Lline
	Symbol string `json:"symbol,omitempty"` // the declaration around the use; of callees, what is called
	Kind   string `json:"kind,omitempty"`   // call, type, inherit or use; empty in lists of calls
	Line   int    `json:"line,omitempty"`   // of callees, on which the call stands
	Code   string `json:"code,omitempty"`   // the line of the use
	Depth  int    `json:"depth,omitempty"`  // 1 is left out
	// Confidence is left out when it is 1.
	Confidence float64 `json:"confidence,omitempty"`
}

// CodeReply answers a question about declarations and their uses.
type CodeReply struct {
	Symbols []Place  `json:"symbols"`        // the declarations asked about, or found
	Uses    []Use    `json:"uses,omitempty"` // references, callers, or callees
	Total   int      `json:"total"`          // of uses, or of symbols when only they were asked for
	Notes   []string `json:"notes,omitempty"`
}

// Text is the reply as an agent gets it.
func (r CodeReply) Text() string { return marshal(r) }

// What can be asked of a symbol.
const (
	Definition = "definition"
	References = "references"
	Callers    = "callers"
	Callees    = "callees"
)

// CodeRequest asks about a symbol.
type CodeRequest struct {
	// Symbol is a name ("Serve", "Server.Serve", "http.Server.Serve",
	// "Server::serve"), a place ("net/http/server.go:120") or the id of a hit.
	Symbol string
	// Spellings are those of the path of a place, see Asked.
	Spellings []string
	What      string // Definition, References, Callers or Callees
	// Named are the stores that the request names, for hints.
	Named []string
	Kind  string // of references: only these; "" is all
	Depth int    // of Callers and Callees, from 1 to MaxDepth
	Limit int
}

// MaxDepth is how far callers and callees are followed.
const MaxDepth = 5

const (
	maxSymbols = 20   // declarations of one name that are answered for
	maxUses    = 2000 // that are collected
)

// Code answers a request over targets.
func Code(ctx context.Context, targets []Target, r CodeRequest) (CodeReply, error) {
	r.Symbol = strings.TrimSpace(r.Symbol)
	switch {
	case r.Symbol == "":
		return CodeReply{}, kb.Errorf(kb.Invalid, "no symbol is given").WithHint("name one: Serve, Server.Serve, a place such as server.go:120, or the id of a hit")
	case len(r.Symbol) > 500:
		return CodeReply{}, kb.Errorf(kb.TooLarge, "the symbol has %d bytes", len(r.Symbol)).WithHint("name one declaration: Server.Serve")
	case r.Depth < 0 || r.Depth > MaxDepth:
		return CodeReply{}, kb.Errorf(kb.Invalid, "depth must lie between 1 and %d, not %d", MaxDepth, r.Depth).WithHint("leave it out for 1")
	}
	reply := CodeReply{Symbols: []Place{}}
	var at []Located // the documents that a place means
	path, line, isPlace := ParsePlace(r.Symbol)
	if isPlace {
		var err error
		if at, err = Locate(ctx, targets, Asked{path, r.Spellings}); err != nil {
			return CodeReply{}, err
		}
		d, err := targets[at[0].Target].Index.Document(ctx, at[0].Path)
		if err != nil {
			return CodeReply{}, of(at[0].Target, err)
		}
		if err := checkLine(&d, line); err != nil {
			return CodeReply{}, err
		}
	}
	linked := false
	for i := range targets {
		t := &targets[i]
		symbol := r.Symbol
		if isPlace {
			k := slices.IndexFunc(at, func(l Located) bool { return l.Target == i })
			if k < 0 {
				continue
			}
			symbol = fmt.Sprintf("%s:%d", at[k].Path, line)
		}
		if t.View == nil {
			reply.Notes = append(reply.Notes, fmt.Sprintf("the references of %s are not resolved yet", t.Label))
			continue
		}
		linked = true
		p := &placer{t: t, docs: map[string]*kb.DocumentText{}}
		decls, err := p.find(ctx, symbol)
		if err != nil {
			return CodeReply{}, of(i, err)
		}
		for _, d := range decls {
			if len(reply.Symbols) == maxSymbols {
				reply.Notes = append(reply.Notes, fmt.Sprintf("more than %d declarations have this name; qualify it, or name a store", maxSymbols))
				break
			}
			place, err := p.place(ctx, d)
			if err != nil {
				return CodeReply{}, of(i, err)
			}
			reply.Symbols = append(reply.Symbols, place)
			uses, err := p.uses(ctx, d, r)
			if err != nil {
				return CodeReply{}, of(i, err)
			}
			for _, u := range uses {
				reply.Total++
				if len(reply.Uses) < r.Limit {
					shown, err := p.use(ctx, u, r.What == Callees)
					if err != nil {
						return CodeReply{}, of(i, err)
					}
					reply.Uses = append(reply.Uses, shown)
				}
			}
		}
	}
	if r.What == Definition {
		reply.Total = len(reply.Symbols)
	}
	switch {
	case len(reply.Symbols) > 0 || !linked:
	case isPlace:
		return CodeReply{}, kb.Errorf(kb.NotFound, "no declaration stands around line %d of %s", line, at[0].Path).
			WithHint("see which there are with: code:outline {\"path\":%q}", at[0].Path)
	default:
		names, err := declared(ctx, targets)
		if err != nil {
			return CodeReply{}, err
		}
		e := kb.Errorf(kb.NotFound, "no declaration is called %q in %s", r.Symbol, labels(targets))
		if near := kb.DidYouMean(r.Symbol, names); near != "" {
			return CodeReply{}, e.WithHint("%sask for it with: code:%s %s", near, r.What, marshal(struct {
				Symbol string   `json:"symbol"`
				Stores []string `json:"stores,omitempty"`
			}{kb.Nearest(r.Symbol, names), r.Named}))
		}
		return CodeReply{}, e.WithHint("names are exact, letter case included; search for what it does: search {\"query\":%q}", r.Symbol)
	}
	if reply.Total > len(reply.Uses) && r.What != Definition {
		reply.Notes = append(reply.Notes, fmt.Sprintf("the first %d of %d; raise limit for more", len(reply.Uses), reply.Total))
	}
	if r.What != Definition && reply.Total == 0 && len(reply.Symbols) > 0 {
		reply.Notes = append(reply.Notes, "none are known; only uses whose target is certain enough are counted")
	}
	return reply, nil
}

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
	if _, _, ok := kb.ParseID(symbol); ok {
		res, err := p.t.Index.Resolve(ctx, []string{symbol})
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
	for _, s := range doc.Chunks[c].Symbols {
		if s.Name == d.Name && (s.Line == d.Line || s.Line == 0) {
			out.Signature, out.Doc = s.Signature, s.Doc
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

func (p *placer) uses(_ context.Context, d graph.Decl, r CodeRequest) ([]graph.Call, error) {
	switch r.What {
	case Callers:
		return p.t.View.Callers(d.Spot(), r.Depth, maxUses)
	case Callees:
		return p.t.View.Callees(d.Spot(), r.Depth, maxUses)
	case References:
		edges, err := p.t.View.Into(d.Spot())
		if err != nil {
			return nil, err
		}
		var out []graph.Call
		for _, e := range edges {
			if r.Kind == "" || r.Kind == e.Kind.String() {
				out = append(out, graph.Call{Edge: e, Depth: 1})
			}
		}
		return out, nil
	}
	return nil, nil
}

// use shows an edge: from where it comes or, as a callee, where it leads.
func (p *placer) use(ctx context.Context, c graph.Call, callee bool) (Use, error) {
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
	from, err := p.doc(ctx, e.From.Path)
	if err != nil || from == nil {
		return u, err
	}
	u.Code = kb.Clip(strings.TrimSpace(lineOf(from, e.From.Line)), 120)
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

// SymbolsRequest asks which declarations there are.
type SymbolsRequest struct {
	Name  string // part of the qualified name, letter case folded; "" is all
	Under string // only documents at or below this path
	Kind  string // only of this kind
	Limit int
}

// Symbols lists declarations: those whose name equals what is asked for first,
// then those that begin with it, then those that hold it.
func Symbols(ctx context.Context, targets []Target, r SymbolsRequest) (CodeReply, error) {
	reply := CodeReply{Symbols: []Place{}}
	want := strings.ToLower(strings.NewReplacer("::", ".", "#", ".").Replace(strings.TrimSpace(r.Name)))
	type found struct {
		target, rank int
		path         string
		s            kb.Symbol
	}
	var all []found
	kinds := map[string]bool{} // that there are
	for i := range targets {
		paths, err := targets[i].Index.Documents(ctx, r.Under)
		if err != nil {
			return CodeReply{}, of(i, err)
		}
		const batch = 256
		for len(paths) > 0 {
			n := min(batch, len(paths))
			list, err := targets[i].Index.Outlines(ctx, paths[:n])
			if err != nil {
				return CodeReply{}, of(i, err)
			}
			paths = paths[n:]
			for _, o := range list {
				for _, s := range o.Symbols {
					kinds[s.Kind] = true
					if !s.Declares() && r.Kind != s.Kind || r.Kind != "" && s.Kind != r.Kind {
						continue
					}
					if rank := nameRank(&s, want); rank >= 0 {
						all = append(all, found{i, rank, o.Path, s})
					}
				}
			}
		}
	}
	if r.Kind != "" && !kinds[r.Kind] && len(kinds) > 0 {
		there := slices.Sorted(maps.Keys(kinds))
		e := kb.Errorf(kb.Invalid, "no declaration here is of kind %q: there are %s", kb.Clip(r.Kind, 40), strings.Join(there, ", "))
		return CodeReply{}, e.WithHint("%sleave it out for every kind", kb.DidYouMean(r.Kind, there))
	}
	slices.SortStableFunc(all, func(a, b found) int { return a.rank - b.rank })
	reply.Total = len(all)
	placers := map[int]*placer{}
	for _, f := range all[:min(len(all), r.Limit)] {
		p := placers[f.target]
		if p == nil {
			p = &placer{t: &targets[f.target], docs: map[string]*kb.DocumentText{}}
			placers[f.target] = p
		}
		place, err := p.place(ctx, graph.Decl{Path: f.path, Name: f.s.Name, Qualified: f.s.Qualified(), Kind: f.s.Kind, Line: max(f.s.Line, f.s.Start), Start: f.s.Start, End: f.s.End})
		if err != nil {
			return CodeReply{}, of(f.target, err)
		}
		place.Doc = ""
		reply.Symbols = append(reply.Symbols, place)
	}
	if reply.Total > len(reply.Symbols) {
		reply.Notes = append(reply.Notes, fmt.Sprintf("the first %d of %d; narrow the name or the path, or raise limit", len(reply.Symbols), reply.Total))
	}
	return reply, nil
}

// declared returns the names of declarations, plain and qualified, each once:
// what a name that there is not may have been meant to be. It reads the first
// maxDeclared documents of each target.
func declared(ctx context.Context, targets []Target) ([]string, error) {
	const maxDeclared = 20_000
	seen := map[string]bool{}
	var names []string
	for i := range targets {
		paths, err := targets[i].Index.Documents(ctx, "")
		if err != nil {
			return nil, of(i, err)
		}
		for paths := range slices.Chunk(paths[:min(len(paths), maxDeclared)], 256) {
			list, err := targets[i].Index.Outlines(ctx, paths)
			if err != nil {
				return nil, of(i, err)
			}
			for _, o := range list {
				for j := range o.Symbols {
					s := &o.Symbols[j]
					if !s.Declares() {
						continue
					}
					for _, n := range []string{s.Name, s.Qualified()} {
						if !seen[n] {
							seen[n] = true
							names = append(names, n)
						}
					}
				}
			}
		}
	}
	return names, nil
}

// nameRank tells how well a name meets what is asked for: 0 equal, 1 begins
// with it, 2 holds it, -1 not at all.
func nameRank(s *kb.Symbol, want string) int {
	if want == "" {
		return 0
	}
	name := strings.ToLower(s.Name)
	switch {
	case name == want:
		return 0
	case strings.HasPrefix(name, want):
		return 1
	case strings.Contains(name, want):
		return 2
	case strings.Contains(want, "."):
		if q := strings.ToLower(s.Qualified()); q == want || strings.HasSuffix(q, "."+want) {
			return 0
		} else if strings.Contains(q, want) {
			return 2
		}
	}
	return -1
}

// OutlineReply is what one document declares.
type OutlineReply struct {
	Store    string        `json:"store"`
	Path     string        `json:"path"`
	Language string        `json:"language"`
	Imports  []string      `json:"imports,omitempty"`
	Symbols  []OutlineItem `json:"symbols"`
	Note     string        `json:"note,omitempty"`
}

// OutlineItem is a declaration or heading in an outline.
type OutlineItem struct {
	ID        string        `json:"id"`
	Lines     string        `json:"lines"` // "12-40"
	Symbol    string        `json:"symbol"`
	Kind      string        `json:"kind"`
	Signature string        `json:"signature,omitempty"`
	Members   []OutlineItem `json:"members,omitempty"`
}

// Text is the reply as an agent gets it.
func (r OutlineReply) Text() string { return marshal(r) }

// Outline returns what a document of a target declares, nested.
func Outline(ctx context.Context, t *Target, path string) (OutlineReply, error) {
	d, err := t.Index.Document(ctx, path)
	if err != nil {
		return OutlineReply{}, err
	}
	r := OutlineReply{Store: t.Label, Path: d.Path, Language: d.Language, Imports: imports(&d, 40), Symbols: []OutlineItem{}}
	var flat []kb.Symbol
	for i := range d.Chunks {
		flat = append(flat, d.Chunks[i].Symbols...)
	}
	slices.SortStableFunc(flat, func(a, b kb.Symbol) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		return b.End - a.End
	})
	r.Symbols, _ = nest(&d, flat, 0, len(flat), 1<<30)
	if r.Symbols == nil {
		r.Symbols = []OutlineItem{}
		r.Note = "no declarations are known in it"
	}
	if t.Fresh != nil {
		if n := t.Fresh(d.Path, d.Stamp); n != "" {
			r.Note = n
		}
	}
	return r, nil
}

// nest turns symbols from i on that end at or before end into items.
func nest(d *kb.DocumentText, flat []kb.Symbol, i, n, end int) ([]OutlineItem, int) {
	var out []OutlineItem
	for i < n && flat[i].Start <= end {
		s := &flat[i]
		lines := strconv.Itoa(s.Start)
		if s.End > s.Start {
			lines += "-" + strconv.Itoa(s.End)
		}
		item := OutlineItem{ID: d.IDs[chunkAt(d, max(s.Line, s.Start))], Lines: lines, Symbol: s.Name, Kind: s.Kind, Signature: kb.Clip(s.Signature, 100)}
		i++
		if s.End > s.Start {
			item.Members, i = nest(d, flat, i, n, s.End)
		}
		out = append(out, item)
	}
	return out, i
}
