package app_test

import (
	"context"
	"encoding/json"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/care"
	"github.com/seed-4f2d999b/knowledge/internal/code"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/kb/kbtest"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs"
)

// remote puts the indexes of an App on the other side of a pipe.
func remote(s *producttest.Site, a *app.App) *app.App {
	s.Helper()
	c, err := a.Open(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	c.Indexes = kbtest.Remote(c.Pool)
	c.Indexer.Indexes = c.Indexes
	return a
}

var durations = regexp.MustCompile(`"(?:time_)?ms": [0-9.]+`)

// asked are questions to every room that reads an index, by name.
func asked() map[string]func(context.Context, *app.App) (any, error) {
	w := app.Waiting{Wait: time.Minute, Person: true}
	in := app.Scope{Waiting: w}
	scope := specs.Scope{Statuses: []string{"all"}, Waiting: w}
	return map[string]func(context.Context, *app.App) (any, error){
		"search": func(ctx context.Context, a *app.App) (any, error) {
			return find.Search(ctx, a, search.Request{Query: "how is a duration parsed", Explain: true}, in)
		},
		"search by phrase": func(ctx context.Context, a *app.App) (any, error) {
			return find.Search(ctx, a, search.Request{Query: `"suma de las líneas"`}, in)
		},
		"context": func(ctx context.Context, a *app.App) (any, error) {
			r, err := find.Search(ctx, a, search.Request{Query: "ParseDuration"}, in)
			if err != nil {
				return nil, err
			}
			return find.Show(ctx, a, r.Hits[0].ID, w)
		},
		"context of a place": func(ctx context.Context, a *app.App) (any, error) { return find.Show(ctx, a, "src/b.go:3", w) },
		"misspelt id":        func(ctx context.Context, a *app.App) (any, error) { return find.Show(ctx, a, "aaaaaaaaaaa", w) },
		"read": func(ctx context.Context, a *app.App) (any, error) {
			return find.Read(ctx, a, ".", "src/a.go", "2-5", w)
		},
		"files": func(ctx context.Context, a *app.App) (any, error) { return find.Files(ctx, a, ".", "**/*.md", 5, w) },
		"grep": func(ctx context.Context, a *app.App) (any, error) {
			return find.Grep(ctx, a, ".", "pedido", "", true, 0, w)
		},
		"outline": func(ctx context.Context, a *app.App) (any, error) { return code.Outline(ctx, a, "src/a.go", "", w) },
		"symbols": func(ctx context.Context, a *app.App) (any, error) {
			return code.Symbols(ctx, a, code.SymbolsRequest{Waiting: w, SymbolsRequest: search.SymbolsRequest{Name: "Time"}})
		},
		"callers": func(ctx context.Context, a *app.App) (any, error) {
			return code.Ask(ctx, a, code.CodeRequest{Waiting: w, CodeRequest: search.CodeRequest{Symbol: "ParseDuration", What: search.Callers}})
		},
		"specifications": func(ctx context.Context, a *app.App) (any, error) {
			return specs.Search(ctx, a, specs.SearchQuery{Query: "total del pedido", Scope: scope})
		},
		"list of specifications": func(ctx context.Context, a *app.App) (any, error) {
			return specs.List(ctx, a, specs.ListQuery{Limit: 100, Scope: scope})
		},
		"related": func(ctx context.Context, a *app.App) (any, error) {
			return specs.Related(ctx, a, specs.RelatedQuery{Entity: "Pedido", Depth: 2, Scope: scope})
		},
		"context of specifications": func(ctx context.Context, a *app.App) (any, error) {
			return specs.ContextOf(ctx, a, specs.ContextQuery{Hints: []string{"Pedido", "src/a.go"}, Scope: scope})
		},
		"statistics": func(ctx context.Context, a *app.App) (any, error) { return specs.Stats(ctx, a, scope) },
		"verify":     func(ctx context.Context, a *app.App) (any, error) { return care.Verify(ctx, a, "", false) },
	}
}

// TestRemoteIndex: indexes that are reached as JSON through a pipe are written
// and read as those of this machine are. Every question gets the same answer
// from both, whichever of them wrote.
func TestRemoteIndex(t *testing.T) {
	s := producttest.NewSite(t)
	for path, body := range map[string]string{
		"Pedido.md":  "---\nkind: entity\naliases: [Orden]\ndomain: ventas\n---\n\n# Pedido\n\nLo que un [[Cliente]] compra de una vez.\n\n## Total\n\nEl total es la suma de las líneas ([[BR-1]]). Véase `src/a.go`.\n",
		"Cliente.md": "---\nkind: entity\ndomain: ventas\n---\n\n# Cliente\n\nQuien hace un [[Pedido]].\n",
		"BR-1.md":    "---\nid: BR-1\nkind: business-rule\n---\n\n# El total nunca es negativo\n\nVale para cada [[Pedido]].\n",
	} {
		s.Write("p/specs/"+path, body)
	}
	s.Write("p/src/a.go", producttest.Parser)
	s.Write("p/src/b.go", "package conf\n\nfunc Timeout() int {\n\tn, _ := ParseDuration(\"90s\")\n\treturn n\n}\n")
	local := s.In("p", true)
	piped := remote(s, s.In("p", true))
	compare := func(t *testing.T, writer, reader *app.App) {
		s.Search(writer, search.Request{Query: "brings the index up to date"}, app.Scope{})
		answer := func(t *testing.T, a *app.App, ask func(context.Context, *app.App) (any, error)) string {
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
		for name, ask := range asked() {
			t.Run(name, func(t *testing.T) {
				if d := cmp.Diff(answer(t, writer, ask), answer(t, reader, ask)); d != "" {
					t.Errorf("-who wrote +who reads\n%s", d)
				}
			})
		}
	}
	t.Run("written remotely", func(t *testing.T) { compare(t, piped, local) })
	s.Write("p/src/c.go", "package conf\n\nfunc Late() int { return Timeout() }\n")
	s.Write("p/src/b.go", "package conf\n\nfunc Timeout() int { return 90 }\n")
	t.Run("edited, written remotely", func(t *testing.T) { compare(t, piped, local) })
	s.Write("p/specs/new.md", "---\nid: BR-NEW-001\nkind: business-rule\n---\n# New\n\nSee [[Pedido]].\n")
	t.Run("edited, written locally", func(t *testing.T) { compare(t, local, piped) })
}
