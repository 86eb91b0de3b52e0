package specs

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/answers"
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

// CheckReply is the reply of kdd:check. Drafts are checked like the rest.
type CheckReply struct {
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
	Gaps           []answers.Gap   `json:"knowledgeGaps,omitempty"` // questions that people keep finding badly answered
	Message        string          `json:"message,omitempty"`
	Warnings       []string        `json:"warnings,omitempty"`
}

// ExitStatus is 1 when something is wrong: a violation, an orphan or a problem.
// An incomplete document alone is no fault.
func (c CheckReply) ExitStatus() int {
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

// Check looks for what is missing, misdirected or leads nowhere: in one
// entity's document when it is named, else in all that the filters select.
func Check(ctx context.Context, a *app.App, entity, kind, domain string, limit int, scope Scope) (CheckReply, error) {
	limit, err := app.CheckLimit(limit, defaultRelated)
	if err != nil {
		return CheckReply{}, err
	}
	if len(scope.Statuses) == 0 {
		scope.Statuses = []string{"all"}
	}
	s, err := open(ctx, a, scope)
	if err != nil {
		return CheckReply{}, err
	}
	defer s.Release()
	out := CheckReply{Incomplete: []CheckCoverage{}, Violations: []CheckEdge{}, Orphans: []CheckOrphan{}}
	err = s.ask(ctx, func(targets []search.Target) error {
		out = CheckReply{Incomplete: []CheckCoverage{}, Violations: []CheckEdge{}, Orphans: []CheckOrphan{}}
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
				out.Message = fmt.Sprintf("No entity found matching '%s'.", app.ClipRunes(entity, 80))
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
		return CheckReply{}, err
	}
	if why := s.noSpecs(); why != "" {
		out.Warnings = append(out.Warnings, why)
	}
	out.Warnings = append(out.Warnings, s.Notes...)
	if entity == "" && kind == "" && domain == "" {
		gaps, err := answers.Gaps(ctx, a)
		if err != nil {
			return CheckReply{}, err
		}
		out.Gaps = gaps[:min(limit, len(gaps))]
	}
	return out, nil
}

func (s *specs) report(out *CheckReply, r *kdd.Report, limit int) {
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
