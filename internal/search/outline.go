package search

import (
	"context"
	"slices"
	"strconv"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

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
