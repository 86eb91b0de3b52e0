package specs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
)

// FindReply is the reply of kdd:find.
type FindReply struct {
	Matches     []Match          `json:"matches"`
	Count       int              `json:"count"`
	Message     string           `json:"message,omitempty"`
	Suggestions []kdd.Suggestion `json:"suggestions,omitempty"`
	Warnings    []string         `json:"warnings,omitempty"`
}

// Match is something that a name means.
type Match struct {
	Name   string `json:"name"`
	ID     string `json:"id"`
	Type   string `json:"type"`
	Kind   string `json:"kind,omitempty"`
	Title  string `json:"title,omitempty"`
	Domain string `json:"domain,omitempty"`
	Status string `json:"kdd_status,omitempty"` // unless approved
	URL    string `json:"source_url"`
}

const defaultMatches = 5

// Find returns what a name means, the exact first.
func Find(ctx context.Context, a *app.App, name, kind string, limit int, scope Scope) (FindReply, error) {
	if strings.TrimSpace(name) == "" {
		return FindReply{}, kb.Errorf(kb.Invalid, "no name is given").WithHint("give an id, a title, an alias or the beginning of one")
	}
	limit, err := app.CheckLimit(limit, defaultMatches)
	if err != nil {
		return FindReply{}, err
	}
	s, err := open(ctx, a, scope)
	if err != nil {
		return FindReply{}, err
	}
	defer s.Release()
	out := FindReply{Matches: []Match{}}
	err = s.ask(ctx, func([]search.Target) error {
		out = FindReply{Matches: []Match{}}
		nodes, near := s.graph.Find(name, kdd.Filter{Kind: kind, Limit: limit, Seen: s.seen})
		for _, n := range nodes[:min(limit, len(nodes))] {
			m := Match{Name: n.Name, ID: n.ID, Type: n.Type, Status: statusOf(n.Doc), URL: s.nodeURL(n)}
			if n.Doc != nil {
				m.Kind, m.Title, m.Domain = n.Doc.Kind, n.Doc.Title, n.Doc.Domain
			}
			out.Matches = append(out.Matches, m)
		}
		if len(out.Matches) == 0 {
			out.Message = fmt.Sprintf("No entity found matching '%s'.", app.ClipRunes(name, 80))
			out.Suggestions = near
			if all, _ := s.graph.Find(name, kdd.Filter{Kind: kind, Limit: limit, Seen: kdd.Seen{All: true}}); len(all) > 0 {
				hidden := map[string]int{}
				for _, n := range all {
					if n.Doc != nil {
						hidden[n.Doc.Lifecycle]++
					}
				}
				if note := hiddenNote(hidden, "specifications"); note != "" {
					out.Warnings = append(out.Warnings, note)
				}
			}
			if why := s.noSpecs(); why != "" {
				out.Warnings = append(out.Warnings, why)
			}
		}
		return nil
	})
	out.Count = len(out.Matches)
	out.Warnings = append(out.Warnings, s.Notes...)
	return out, err
}

// StatsReply is the reply of kdd:stats.
type StatsReply struct {
	kdd.Stats
	Specifications int          `json:"specifications"` // documents of them that are specifications
	Stores         []StoreStats `json:"stores"`
	Warnings       []string     `json:"warnings,omitempty"`
}

// StoreStats is one store with specifications.
type StoreStats struct {
	Store          string    `json:"store"`
	Specifications int       `json:"specifications"`
	IndexedAt      time.Time `json:"indexed_at"`
}

// Stats counts the graph of a scope, every lifecycle included.
func Stats(ctx context.Context, a *app.App, scope Scope) (StatsReply, error) {
	scope.Statuses = []string{"all"}
	s, err := open(ctx, a, scope)
	if err != nil {
		return StatsReply{}, err
	}
	defer s.Release()
	out := StatsReply{Stores: []StoreStats{}}
	err = s.ask(ctx, func(targets []search.Target) error {
		out = StatsReply{Stats: s.graph.Stats(), Stores: []StoreStats{}}
		docs, _ := s.visible(func(*kdd.Doc) bool { return true })
		out.Specifications = len(docs)
		count := make([]int, len(targets))
		for _, d := range docs {
			count[d.Source]++
		}
		for i, n := range count {
			if n > 0 {
				out.Stores = append(out.Stores, StoreStats{targets[i].Label, n, targets[i].Store.Head.Indexed.UTC().Truncate(time.Second)})
			}
		}
		if why := s.noSpecs(); why != "" {
			out.Warnings = append(out.Warnings, why)
		}
		return nil
	})
	out.Warnings = append(out.Warnings, s.Notes...)
	return out, err
}
