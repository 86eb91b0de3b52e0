package search

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	if err := r.check(); err != nil {
		return CodeReply{}, err
	}
	at, line, err := r.place(ctx, targets)
	if err != nil {
		return CodeReply{}, err
	}
	reply := CodeReply{Symbols: []Place{}}
	linked := false
	for i := range targets {
		t, symbol := &targets[i], r.Symbol
		if at != nil {
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
		if err := reply.add(ctx, t, symbol, r); err != nil {
			return CodeReply{}, of(i, err)
		}
	}
	if len(reply.Symbols) == 0 && linked {
		if at != nil {
			return CodeReply{}, kb.Errorf(kb.NotFound, "no declaration stands around line %d of %s", line, at[0].Path).
				WithHint("see which there are with: code:outline {\"path\":%q}", at[0].Path)
		}
		return CodeReply{}, r.unknown(ctx, targets)
	}
	switch {
	case r.What == Definition:
		reply.Total = len(reply.Symbols)
	case reply.Total > len(reply.Uses):
		reply.Notes = append(reply.Notes, fmt.Sprintf("the first %d of %d; raise limit for more", len(reply.Uses), reply.Total))
	case reply.Total == 0 && len(reply.Symbols) > 0:
		reply.Notes = append(reply.Notes, "none are known; only uses whose target is certain enough are counted")
	}
	return reply, nil
}

// check trims the symbol and refuses what makes no sense.
func (r *CodeRequest) check() error {
	r.Symbol = strings.TrimSpace(r.Symbol)
	switch {
	case r.Symbol == "":
		return kb.Errorf(kb.Invalid, "no symbol is given").
			WithHint("name one: Serve, Server.Serve, a place such as server.go:120, or the id of a hit")
	case len(r.Symbol) > 500:
		return kb.Errorf(kb.TooLarge, "the symbol has %d bytes", len(r.Symbol)).WithHint("name one declaration: Server.Serve")
	case r.Depth < 0 || r.Depth > MaxDepth:
		return kb.Errorf(kb.Invalid, "depth must lie between 1 and %d, not %d", MaxDepth, r.Depth).WithHint("leave it out for 1")
	}
	return nil
}

// place returns the documents that a symbol which is a place means, and its
// line; nil for another symbol.
func (r *CodeRequest) place(ctx context.Context, targets []Target) ([]Located, int, error) {
	path, line, ok := ParsePlace(r.Symbol)
	if !ok {
		return nil, 0, nil
	}
	at, err := Locate(ctx, targets, Asked{path, r.Spellings})
	if err != nil {
		return nil, 0, err
	}
	d, err := targets[at[0].Target].Index.Document(ctx, at[0].Path)
	if err != nil {
		return nil, 0, of(at[0].Target, err)
	}
	return at, line, checkLine(&d, line)
}

// unknown is the error for a name that no target declares.
func (r *CodeRequest) unknown(ctx context.Context, targets []Target) error {
	names, err := declared(ctx, targets)
	if err != nil {
		return err
	}
	e := kb.Errorf(kb.NotFound, "no declaration is called %q in %s", r.Symbol, labels(targets))
	if near := kb.DidYouMean(r.Symbol, names); near != "" {
		return e.WithHint("%sask for it with: code:%s %s", near, r.What, marshal(struct {
			Symbol string   `json:"symbol"`
			Stores []string `json:"stores,omitempty"`
		}{kb.Nearest(r.Symbol, names), r.Named}))
	}
	return e.WithHint("names are exact, letter case included; search for what it does: search {\"query\":%q}", r.Symbol)
}

// add adds what a target knows of a symbol.
func (reply *CodeReply) add(ctx context.Context, t *Target, symbol string, r CodeRequest) error {
	p := &placer{t: t, docs: map[string]*kb.DocumentText{}}
	decls, err := p.find(ctx, symbol)
	if err != nil {
		return err
	}
	for _, d := range decls {
		if len(reply.Symbols) == maxSymbols {
			reply.Notes = append(reply.Notes,
				fmt.Sprintf("more than %d declarations have this name; qualify it, or name a store", maxSymbols))
			return nil
		}
		place, err := p.place(ctx, d)
		if err != nil {
			return err
		}
		reply.Symbols = append(reply.Symbols, place)
		uses, err := p.steps(ctx, d, r)
		if err != nil {
			return err
		}
		reply.Total += len(uses)
		for _, u := range uses[:min(len(uses), max(0, r.Limit-len(reply.Uses)))] {
			shown, err := u.at.use(ctx, u.Call, r.What == Callees, u.from)
			if err != nil {
				return err
			}
			reply.Uses = append(reply.Uses, shown)
		}
	}
	return nil
}
