package search

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// onePage is an index of one document.
type onePage struct {
	kb.Index
	doc kb.DocumentText
}

func (o onePage) Outlines(context.Context, []string) ([]kb.Outline, error) {
	out := kb.Outline{Path: o.doc.Path}
	for _, c := range o.doc.Chunks {
		out.Symbols = append(out.Symbols, c.Symbols...)
	}
	return []kb.Outline{out}, nil
}

func heading(name, anchor string, line int) kb.Symbol {
	return kb.Symbol{Name: name, Kind: "heading", Signature: anchor, Start: line, End: line + 5}
}

func TestCite(t *testing.T) {
	doc := kb.DocumentText{Path: "docs.example.org/guide", Chunks: []kb.Chunk{
		{Start: 1, End: 4, Decl: []string{"Guide"}},
		{Start: 5, End: 14, Decl: []string{"Guide", "Install"}, Symbols: []kb.Symbol{heading("Install", "#install", 5), heading("Linux", "#linux", 9)}},
		{Start: 15, End: 40, Decl: []string{"Guide", "Install"}}, // the section goes on
		{Start: 41, End: 50, Decl: []string{"Guide", "Plain"}, Symbols: []kb.Symbol{heading("Plain", "", 41)}},
	}}
	web := &Target{Index: onePage{doc: doc}, Page: func(string) (Page, bool) { return Page{URL: "https://docs.example.org/guide"}, true }}
	for _, tt := range []struct {
		chunk, line int
		want        string
	}{
		{0, 2, ""}, {1, 6, "#install"}, {1, 9, "#linux"}, {1, 14, "#linux"},
		{2, 30, "#linux"}, {3, 45, "#linux"}, // the nearest heading with an anchor
	} {
		got, err := web.Cite(t.Context(), doc.Path, &doc.Chunks[tt.chunk], tt.line)
		if err != nil || got != "https://docs.example.org/guide"+tt.want {
			t.Errorf("line %d: %q, %v; want %q", tt.line, got, err, tt.want)
		}
	}
	for i, want := range []string{"", "#install", "#linux", "#linux"} {
		if got := web.cite(&doc, i); got != "https://docs.example.org/guide"+want {
			t.Errorf("chunk %d: %q, want %q", i, got, want)
		}
	}
	if got := web.Address(t.Context(), doc.Path, 30); got != "https://docs.example.org/guide#linux" {
		t.Errorf("line 30: %q", got)
	}
	plain := &Target{Index: onePage{doc: doc}}
	if got, err := plain.Cite(t.Context(), doc.Path, &doc.Chunks[1], 6); got != "docs.example.org/guide:L5-14" || err != nil {
		t.Errorf("a document that is no page: %q, %v", got, err)
	}
}

func TestUnmark(t *testing.T) {
	for in, want := range map[string]string{
		"## Install {#install}":  "## Install",
		"# A {b} c {#d}":         "# A {b} c",
		"## Plain":               "## Plain",
		"text {#not}":            "text {#not}",
		"## Set {x} {.class}":    "## Set {x} {.class}",
		"## Odd {#a} tail}":      "## Odd {#a} tail}",
		"":                       "",
		"#":                      "#",
		"a\n## B {#b}\n\nc {#c}": "a\n## B\n\nc {#c}",
	} {
		if got := unmarkAll(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// Searches wait for a turn: what they hold in memory is bounded by how many
// there are, not by how many are asked for.
func TestSearchesTakeTurns(t *testing.T) {
	for range cap(turns) {
		turns <- struct{}{}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := Run(ctx, nil, nil, Request{Query: "x"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a search without a turn: %v", err)
	}
	for range cap(turns) {
		<-turns
	}
}
