package app

import (
	"context"
	"encoding/json"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/kb/kbtest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// remote puts the indexes of an App on the other side of a pipe.
func (s *site) remote(a *App) *App {
	s.Helper()
	c, err := a.open(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	c.indexes = kbtest.Remote(c.pool)
	c.indexer.Indexes = c.indexes
	return a
}

var durations = regexp.MustCompile(`"(?:time_)?ms": [0-9.]+`)

// TestRemoteIndex: indexes that are reached as JSON through a pipe are written
// and read as those of this machine are. Everything that is asked gets the
// same answer from both, whichever of them wrote.
func TestRemoteIndex(t *testing.T) {
	s, local := newSpecs(t)
	s.write("p/src/a.go", parser)
	s.write("p/src/b.go", "package conf\n\nfunc Timeout() int {\n\tn, _ := ParseDuration(\"90s\")\n\treturn n\n}\n")
	remote := s.remote(s.in("p", true))
	scope := SpecScope{Statuses: []string{"all"}, Waiting: person}
	asked := []struct {
		name string
		ask  func(ctx context.Context, a *App) (any, error)
	}{
		{"search", func(ctx context.Context, a *App) (any, error) {
			return a.Search(ctx, SearchRequest{Query: "how is a duration parsed", Wait: time.Minute, Explain: true})
		}},
		{"search by phrase", func(ctx context.Context, a *App) (any, error) {
			return a.Search(ctx, SearchRequest{Query: `"suma de las líneas"`, Wait: time.Minute})
		}},
		{"context", func(ctx context.Context, a *App) (any, error) {
			r, err := a.Search(ctx, SearchRequest{Query: "ParseDuration", Wait: time.Minute})
			if err != nil {
				return nil, err
			}
			return a.Context(ctx, r.Hits[0].ID)
		}},
		{"context of a place", func(ctx context.Context, a *App) (any, error) { return a.Show(ctx, "src/b.go:3", person) }},
		{"misspelt id", func(ctx context.Context, a *App) (any, error) { return a.Context(ctx, "aaaaaaaaaaa") }},
		{"read", func(ctx context.Context, a *App) (any, error) { return a.Read(ctx, ".", "src/a.go", "2-5", person) }},
		{"files", func(ctx context.Context, a *App) (any, error) { return a.Files(ctx, ".", "**/*.md", 5, person) }},
		{"grep", func(ctx context.Context, a *App) (any, error) {
			return a.Grep(ctx, ".", "pedido", "", true, 0, person)
		}},
		{"outline", func(ctx context.Context, a *App) (any, error) { return a.Outline(ctx, "src/a.go", "", person) }},
		{"symbols", func(ctx context.Context, a *App) (any, error) {
			return a.Symbols(ctx, SymbolsRequest{Waiting: person, SymbolsRequest: search.SymbolsRequest{Name: "Time"}})
		}},
		{"callers", func(ctx context.Context, a *App) (any, error) {
			return a.Code(ctx, CodeRequest{Waiting: person, CodeRequest: callersOf("ParseDuration")})
		}},
		{"specifications", func(ctx context.Context, a *App) (any, error) {
			return a.SearchSpecs(ctx, SpecSearch{Query: "total del pedido", SpecScope: scope})
		}},
		{"list of specifications", func(ctx context.Context, a *App) (any, error) {
			return a.ListSpecs(ctx, ListQuery{Limit: 100, SpecScope: scope})
		}},
		{"related", func(ctx context.Context, a *App) (any, error) {
			return a.RelatedSpecs(ctx, RelatedQuery{Entity: "Pedido", Depth: 2, SpecScope: scope})
		}},
		{"context of specifications", func(ctx context.Context, a *App) (any, error) {
			return a.ContextOfSpecs(ctx, ContextQuery{Hints: []string{"Pedido", "src/a.go"}, SpecScope: scope})
		}},
		{"statistics", func(ctx context.Context, a *App) (any, error) { return a.StatsOfSpecs(ctx, scope) }},
		{"verify", func(ctx context.Context, a *App) (any, error) { return a.Verify(ctx, "", false) }},
	}
	compare := func(t *testing.T, writer, reader *App) {
		s.search(writer, SearchRequest{Query: "brings the index up to date"})
		answer := func(t *testing.T, a *App, ask func(context.Context, *App) (any, error)) string {
			got, err := ask(t.Context(), a)
			raw, merr := json.MarshalIndent(got, "", " ")
			if merr != nil {
				t.Fatal(merr)
			}
			if err != nil && kb.CodeOf(err) != kb.NotFound {
				t.Fatal(err)
			}
			if err != nil {
				return err.Error() + kb.HintOf(err)
			}
			return durations.ReplaceAllString(string(raw), "")
		}
		for _, q := range asked {
			t.Run(q.name, func(t *testing.T) {
				if d := cmp.Diff(answer(t, writer, q.ask), answer(t, reader, q.ask)); d != "" {
					t.Errorf("-who wrote +who reads\n%s", d)
				}
			})
		}
	}
	t.Run("written remotely", func(t *testing.T) { compare(t, remote, local) })
	s.write("p/src/c.go", "package conf\n\nfunc Late() int { return Timeout() }\n")
	s.write("p/src/b.go", "package conf\n\nfunc Timeout() int { return 90 }\n")
	t.Run("edited, written remotely", func(t *testing.T) { compare(t, remote, local) })
	s.write("p/specs/new.md", "---\nid: BR-NEW-001\nkind: business-rule\n---\n# New\n\nSee [[Pedido]].\n")
	t.Run("edited, written locally", func(t *testing.T) { compare(t, local, remote) })
}
