package search

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/code/graph"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

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
