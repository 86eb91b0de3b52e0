package app

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
)

// SpecMatches is the reply of kdd:find.
type SpecMatches struct {
	Matches     []SpecMatch      `json:"matches"`
	Count       int              `json:"count"`
	Message     string           `json:"message,omitempty"`
	Suggestions []kdd.Suggestion `json:"suggestions,omitempty"`
	Warnings    []string         `json:"warnings,omitempty"`
}

// SpecMatch is something that a name means.
type SpecMatch struct {
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

// FindSpecs returns what a name means, the exact first.
func (a *App) FindSpecs(ctx context.Context, name, kind string, limit int, scope SpecScope) (SpecMatches, error) {
	if strings.TrimSpace(name) == "" {
		return SpecMatches{}, kb.Errorf(kb.Invalid, "no name is given").WithHint("give an id, a title, an alias or the beginning of one")
	}
	limit, err := checkLimit(limit, defaultMatches)
	if err != nil {
		return SpecMatches{}, err
	}
	s, err := a.specs(ctx, scope)
	if err != nil {
		return SpecMatches{}, err
	}
	defer s.release()
	out := SpecMatches{Matches: []SpecMatch{}}
	err = s.ask(ctx, func([]search.Target) error {
		out = SpecMatches{Matches: []SpecMatch{}}
		nodes, near := s.graph.Find(name, kdd.Filter{Kind: kind, Limit: limit, Seen: s.seen})
		for _, n := range nodes[:min(limit, len(nodes))] {
			m := SpecMatch{Name: n.Name, ID: n.ID, Type: n.Type, Status: statusOf(n.Doc), URL: s.nodeURL(n)}
			if n.Doc != nil {
				m.Kind, m.Title, m.Domain = n.Doc.Kind, n.Doc.Title, n.Doc.Domain
			}
			out.Matches = append(out.Matches, m)
		}
		if len(out.Matches) == 0 {
			out.Message = fmt.Sprintf("No entity found matching '%s'.", clipRunes(name, 80))
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
	out.Warnings = append(out.Warnings, s.notes...)
	return out, err
}

// SpecStats is the reply of kdd:stats.
type SpecStats struct {
	kdd.Stats
	Specifications int             `json:"specifications"` // documents of them that are specifications
	Stores         []SpecStoreStat `json:"stores"`
	Warnings       []string        `json:"warnings,omitempty"`
}

// SpecStoreStat is one store with specifications.
type SpecStoreStat struct {
	Store          string    `json:"store"`
	Specifications int       `json:"specifications"`
	IndexedAt      time.Time `json:"indexed_at"`
}

// StatsOfSpecs counts the graph of a scope, every lifecycle included.
func (a *App) StatsOfSpecs(ctx context.Context, scope SpecScope) (SpecStats, error) {
	scope.Statuses = []string{"all"}
	s, err := a.specs(ctx, scope)
	if err != nil {
		return SpecStats{}, err
	}
	defer s.release()
	out := SpecStats{Stores: []SpecStoreStat{}}
	err = s.ask(ctx, func(targets []search.Target) error {
		out = SpecStats{Stats: s.graph.Stats(), Stores: []SpecStoreStat{}}
		docs, _ := s.visible(func(*kdd.Doc) bool { return true })
		out.Specifications = len(docs)
		count := make([]int, len(targets))
		for _, d := range docs {
			count[d.Source]++
		}
		for i, n := range count {
			if n > 0 {
				out.Stores = append(out.Stores, SpecStoreStat{targets[i].Label, n, targets[i].Store.Head.Indexed.UTC().Truncate(time.Second)})
			}
		}
		if why := s.noSpecs(); why != "" {
			out.Warnings = append(out.Warnings, why)
		}
		return nil
	})
	out.Warnings = append(out.Warnings, s.notes...)
	return out, err
}

// SpecCheck is the reply of kdd:check. Drafts are checked like the rest.
type SpecCheck struct {
	Documents      int             `json:"documents"`       // that were looked at
	Coverage       float64         `json:"coveragePercent"` // mean of theirs
	Incomplete     []CheckCoverage `json:"incomplete"`      // the least covered first
	TotalMissing   int             `json:"totalIncomplete"`
	Violations     []CheckEdge     `json:"violations"` // of a lower layer towards a higher one
	TotalViolation int             `json:"totalViolations"`
	Edges          int             `json:"totalEdgesAnalyzed"`
	Orphans        []CheckOrphan   `json:"orphanEdges"` // whose target nothing is called
	TotalOrphans   int             `json:"totalOrphans"`
	References     int             `json:"totalReferences"`
	OrphanPercent  float64         `json:"orphanPercent"`
	Problems       []CheckProblem  `json:"problems,omitempty"` // what keeps a document from being read as meant
	TotalProblems  int             `json:"totalProblems,omitempty"`
	Gaps           []Gap           `json:"knowledgeGaps,omitempty"` // questions that people keep finding badly answered
	Message        string          `json:"message,omitempty"`
	Warnings       []string        `json:"warnings,omitempty"`
}

// ExitStatus is 1 when something is wrong: a violation, an orphan or a problem.
// What is only incomplete is no fault of what is there.
func (c SpecCheck) ExitStatus() int {
	if c.TotalViolation+c.TotalOrphans+c.TotalProblems > 0 {
		return 1
	}
	return 0
}

// CheckCoverage says what a document lacks.
type CheckCoverage struct {
	NodeID  string   `json:"node_id"`
	Kind    string   `json:"kind"`
	Percent int      `json:"coverage_percent"`
	Missing []string `json:"missing"`
	URL     string   `json:"source_url"`
}

// CheckEdge is an edge between layers.
type CheckEdge struct {
	From     string `json:"from_node"`
	To       string `json:"to_node"`
	EdgeType string `json:"edge_type"`
	URL      string `json:"source_url"`
}

// CheckOrphan is a relation without a target.
type CheckOrphan struct {
	File   string `json:"source_file"`
	Line   int    `json:"line"`
	Target string `json:"target"`
	Type   string `json:"edge_type"`
	Reason string `json:"reason"`
	Near   string `json:"near,omitempty"`
	URL    string `json:"source_url"`
}

// CheckProblem is something wrong with a document: front matter that is not
// closed, a kind or status that is none, an id that two documents have, a
// circle of dependencies.
type CheckProblem struct {
	File    string `json:"source_file"`
	Line    int    `json:"line,omitempty"`
	Problem string `json:"problem"`
	URL     string `json:"source_url"`
}

// CheckSpecs looks for what is missing, misdirected or leads nowhere: in one
// entity's document when it is named, else in all that the filters select.
func (a *App) CheckSpecs(ctx context.Context, entity, kind, domain string, limit int, scope SpecScope) (SpecCheck, error) {
	limit, err := checkLimit(limit, defaultRelated)
	if err != nil {
		return SpecCheck{}, err
	}
	if len(scope.Statuses) == 0 {
		scope.Statuses = []string{"all"}
	}
	s, err := a.specs(ctx, scope)
	if err != nil {
		return SpecCheck{}, err
	}
	defer s.release()
	out := SpecCheck{Incomplete: []CheckCoverage{}, Violations: []CheckEdge{}, Orphans: []CheckOrphan{}}
	err = s.ask(ctx, func(targets []search.Target) error {
		out = SpecCheck{Incomplete: []CheckCoverage{}, Violations: []CheckEdge{}, Orphans: []CheckOrphan{}}
		var r kdd.Report
		if entity == "" {
			f := kdd.Filter{Kind: kind, Domain: domain, Seen: s.seen}
			r = s.graph.Check(f)
			problems := s.graph.Problems(f)
			if kind == "" && domain == "" { // which such documents do not have
				front, err := s.frontProblems(ctx, targets)
				if err != nil {
					return err
				}
				problems = append(front, problems...)
			}
			out.TotalProblems = len(problems)
			for _, p := range problems[:min(limit, len(problems))] {
				out.Problems = append(out.Problems, CheckProblem{File: p.Doc.Path, Line: p.Line, Problem: p.Text, URL: s.urlOf(p.Doc, -1)})
			}
		} else {
			nodes, near := s.graph.Find(entity, kdd.Filter{Seen: s.seen, Limit: 1})
			if len(nodes) == 0 {
				out.Message = fmt.Sprintf("No entity found matching '%s'.", clipRunes(entity, 80))
				if len(near) > 0 {
					out.Message += fmt.Sprintf(" Did you mean '%s'?", near[0].Name)
				}
				return nil
			}
			r = s.graph.CheckNode(nodes[0])
		}
		s.report(&out, &r, limit)
		return nil
	})
	if err != nil {
		return SpecCheck{}, err
	}
	if why := s.noSpecs(); why != "" {
		out.Warnings = append(out.Warnings, why)
	}
	out.Warnings = append(out.Warnings, s.notes...)
	if entity == "" && kind == "" && domain == "" {
		gaps, err := a.Gaps(ctx)
		if err != nil {
			return SpecCheck{}, err
		}
		out.Gaps = gaps[:min(limit, len(gaps))]
	}
	return out, nil
}

func (s *specs) report(out *SpecCheck, r *kdd.Report, limit int) {
	out.Documents, out.Coverage, out.Edges, out.References = r.Documents, float64(r.Percent), r.EdgesBetween, r.References
	out.OrphanPercent = math.Round(r.OrphanRate*1000) / 10
	out.TotalMissing, out.TotalViolation, out.TotalOrphans = len(r.Coverage), len(r.Violations), len(r.Orphans)
	for _, c := range r.Coverage[:min(limit, len(r.Coverage))] {
		out.Incomplete = append(out.Incomplete, CheckCoverage{NodeID: c.Doc.NodeID, Kind: c.Doc.Kind, Percent: c.Percent, Missing: c.Missing, URL: s.urlOf(c.Doc, -1)})
	}
	for _, e := range r.Violations[:min(limit, len(r.Violations))] {
		out.Violations = append(out.Violations, CheckEdge{From: e.From.ID, To: e.To.ID, EdgeType: e.Type, URL: s.spotURL(e.At)})
	}
	for _, o := range r.Orphans[:min(limit, len(r.Orphans))] {
		c := CheckOrphan{Line: o.At.Line, Target: o.Target, Type: o.Type, Reason: o.Reason, Near: o.Near, URL: s.spotURL(o.At)}
		if o.At.Doc != nil {
			c.File = o.At.Doc.Path
		}
		out.Orphans = append(out.Orphans, c)
	}
	if limit < max(len(r.Coverage), len(r.Violations), len(r.Orphans), out.TotalProblems) {
		out.Warnings = append(out.Warnings, fmt.Sprintf("the first %d of each list; raise limit for more", limit))
	}
}
