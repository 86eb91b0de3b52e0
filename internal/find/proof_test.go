package find_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/follow"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// TestProof: a query that nothing answers says what was searched, and which
// dependency would answer, with a command that names it; one that is answered
// says nothing of the kind, and costs nothing more.
func TestProof(t *testing.T) {
	s, a := bakery(t)
	s.Write("p/go.mod", "module example.org/bakery\n\ngo 1.24\n\nrequire (\n\tgithub.com/gorilla/websocket v1.5.3\n\tgithub.com/fsnotify/fsnotify v1.7.0\n)\n")
	s.Write("p/picture.bin", "\x00\x01\x02\x00")
	ask := func(query string) find.SearchReply {
		t.Helper()
		r, err := find.Ask(t.Context(), a, search.Request{Query: query, Packed: true}, app.Scope{Waiting: app.Waiting{Wait: time.Minute}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := ask("websocket frames compressed with deflate after the upgrade")
	text := r.Text()
	for _, want := range []string{
		"nothing here answers the query", "searched: this folder (6 documents: ", " go", "as its files are now",
		`may answer: go:github.com/gorilla/websocket v1.5.3 (go.mod; about `, `index it with: suggest {"add":true,"only":["go:github.com/gorilla/websocket"]}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	if r.Tokens > search.PackedTokens {
		t.Errorf("the reply has %d tokens", r.Tokens)
	}
	if text := ask("protein folding from an amino acid sequence").Text(); !strings.Contains(text, "none of the dependencies in 1 manifest seems to be about it either") || strings.Contains(text, "suggest ") {
		t.Errorf("a query about nothing here proposes something:\n%s", text)
	}
	for _, query := range []string{"Weigh", "how long may a crust be in the oven"} {
		told, plain := ask(query), packed(t, t.Context(), a, query, 0)
		if told.Text() != plain.Text() {
			t.Errorf("%q costs more than a search:\n%s\n---\n%s", query, told.Text(), plain.Text())
		}
	}
	// What the command names is known to suggest, though no file imports it.
	got, err := follow.Suggest(t.Context(), a, follow.SuggestRequest{Only: []string{"go:github.com/gorilla/websocket"}})
	if err != nil || len(got.Suggestions) != 1 || got.Suggestions[0].Tag != "v1.5.3" {
		t.Errorf("suggest says %+v, %v", got, err)
	}
	m := a.For(app.Member{Name: "ann", Reads: func(string) bool { return false }, Writes: func(string) bool { return false },
		Sources: func() []string { return nil }, Stores: func() int { return 0 }, Jobs: func() int { return 0 }})
	defer m.Close()
	if r, err := find.Ask(t.Context(), m, search.Request{Query: "websocket frames compressed with deflate", Packed: true}, app.Scope{}); err == nil && strings.Contains(r.Text(), "gorilla") {
		t.Errorf("a member is told of the project's dependencies:\n%s", r.Text())
	}
}
