package specs

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/answers"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
	"github.com/seed-4f2d999b/knowledge/internal/specs/lint"
)

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
	Findings       []CheckFinding  `json:"findings,omitempty"`      // of the linter, by file and line
	Totals         map[string]int  `json:"totalFindings,omitempty"` // by severity
	Known          int             `json:"inBaseline,omitempty"`    // findings that the baseline leaves out
	Next           int             `json:"next,omitempty"`          // the offset of the next findings
	Report         string          `json:"report,omitempty"`        // every finding, in the form that was asked for
	Gaps           []answers.Gap   `json:"knowledgeGaps,omitempty"` // questions that people keep finding badly answered
	Message        string          `json:"message,omitempty"`
	Warnings       []string        `json:"warnings,omitempty"`
}

// ExitStatus is 1 when the linter found an error that no baseline knows.
func (c CheckReply) ExitStatus() int { return min(c.Totals["error"], 1) }

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

// CheckFinding is one finding of the linter.
type CheckFinding struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	File     string `json:"source_file"`
	Line     int    `json:"line"`
	Message  string `json:"message"`
	Mend     string `json:"mend"`
	URL      string `json:"source_url"`
}

// CheckQuery asks what is wrong with specifications.
type CheckQuery struct {
	Entity, Kind, Domain string   // "" is all
	Limit, Offset        int      // of findings; the limit is that of the other lists too
	Format               string   // sarif, junit, github or baseline; "" is none
	Severity             []string // "rule=severity", before those of the project
	Baseline             string   // path of a file within the project
	Scope
}

// Check looks for what is missing, misdirected or leads nowhere: in one
// entity's document when it is named, else in all that the filters select.
func Check(ctx context.Context, a *app.App, q CheckQuery) (CheckReply, error) {
	limit, err := app.CheckLimit(q.Limit, defaultRelated)
	if err != nil {
		return CheckReply{}, err
	}
	if err := checkOffset(q.Offset); err != nil {
		return CheckReply{}, err
	}
	p, err := a.Where()
	if err != nil {
		return CheckReply{}, err
	}
	rules, err := lint.ReadConfig(p.Root, q.Severity, q.Baseline, q.Format == "baseline")
	if err != nil {
		return CheckReply{}, err
	}
	if len(q.Statuses) == 0 {
		q.Statuses = []string{"all"}
	}
	s, err := open(ctx, a, q.Scope)
	if err != nil {
		return CheckReply{}, err
	}
	defer s.Release()
	empty := CheckReply{Incomplete: []CheckCoverage{}, Violations: []CheckEdge{}, Orphans: []CheckOrphan{}}
	out := empty
	err = s.ask(ctx, func(targets []search.Target) error {
		out = empty
		f := kdd.Filter{Kind: q.Kind, Domain: q.Domain, Seen: s.seen}
		r := s.graph.Check(f)
		linter := lint.Linter{Graph: s.graph, Sources: lintSources(targets), Trace: func(ctx context.Context) (*lint.Trace, error) { return s.trace(ctx, targets) }}
		if linter.Changes, err = s.changes(ctx, a); err != nil {
			return err
		}
		found, notes, err := linter.Problems(ctx, f, &r)
		if err != nil {
			return err
		}
		out.Warnings = append(out.Warnings, notes...)
		if q.Entity != "" {
			nodes, near := s.graph.Find(q.Entity, kdd.Filter{Seen: s.seen, Limit: 1})
			if len(nodes) == 0 {
				out.Message = fmt.Sprintf("No entity found matching '%s'.", app.ClipRunes(q.Entity, 80))
				if len(near) > 0 {
					out.Message += fmt.Sprintf(" Did you mean '%s'?", near[0].Name)
				}
				return nil
			}
			r = s.graph.CheckNode(nodes[0])
			found = slices.DeleteFunc(found, func(p kdd.Problem) bool { return p.Doc != nodes[0].Doc })
		}
		few := limit
		if q.Limit == 0 { // what is in these lists is among the findings, too
			few = fewOfEach
		}
		s.report(&out, &r, few, q.Person)
		return s.findings(&out, found, rules, q, limit)
	})
	if err != nil {
		return CheckReply{}, err
	}
	if why := s.noSpecs(); why != "" {
		out.Warnings = append(out.Warnings, why)
	}
	out.Warnings = append(out.Warnings, s.Notes...)
	if q.Entity == "" && q.Kind == "" && q.Domain == "" {
		gaps, err := answers.Gaps(ctx, a)
		if err != nil {
			return CheckReply{}, err
		}
		out.Gaps = gaps[:min(limit, len(gaps))]
	}
	if q.Limit == 0 && q.Format == "" {
		out.shorten(q.Offset)
	}
	return out, nil
}

// fewOfEach is how many rows of each list beside the findings a reply has
// unless a limit is given.
const fewOfEach = 2

// shorten cuts the findings to a short reply.
func (c *CheckReply) shorten(offset int) {
	rows := c.Findings
	c.Findings = nil
	if c.Findings = rows[:fitting(rows, replyBytes-len(`"findings":[],"next":00000,`)-sizeOf(c))]; len(c.Findings) < len(rows) {
		c.Next = offset + len(c.Findings)
	}
}

// findings puts what the linter found into a reply.
func (s *specs) findings(out *CheckReply, problems []kdd.Problem, c *lint.Config, q CheckQuery, limit int) (err error) {
	r := c.Apply(problems, s.fileOf)
	out.Totals, out.Known = r.Totals, r.Known
	if q.Format != "" {
		out.Report, err = c.Write(r, q.Format, s.version)
		return err
	}
	from := min(q.Offset, len(r.Findings))
	to := min(from+limit, len(r.Findings))
	for _, f := range r.Findings[from:to] {
		out.Findings = append(out.Findings, CheckFinding{f.Rule, string(f.Severity), f.File, f.Line, f.Message, f.Mend, s.urlOf(f.Doc, f.Doc.SectionAt(f.Line))})
	}
	if to < len(r.Findings) {
		out.Next = to
	}
	return nil
}

// fileOf returns a document's path as findings have it: that in its store, with
// the store's name before it where it is not the only one.
func (s *specs) fileOf(d *kdd.Doc) string {
	if t := &s.Targets[d.Source]; len(s.Targets) > 1 && t.Fresh == nil {
		return t.Label + "/" + d.Path
	}
	return d.Path
}

func (s *specs) report(out *CheckReply, r *kdd.Report, limit int, person bool) {
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
	if limit < max(len(r.Coverage), len(r.Violations), len(r.Orphans)) && !person { // who is shown the findings alone
		out.Warnings = append(out.Warnings, fmt.Sprintf("the first %d of the lists beside the findings; give a limit for more", limit))
	}
}

// lintSources gives the linter what it reads of targets.
func lintSources(targets []search.Target) []lint.Source {
	out := make([]lint.Source, len(targets))
	for i := range targets {
		index := targets[i].Index
		failed := func(err error) error {
			if err != nil {
				err = &search.TargetError{Target: i, Err: err}
			}
			return err
		}
		out[i] = lint.Source{
			Store: targets[i].Store.ID,
			Documents: func(ctx context.Context) ([]string, error) {
				paths, err := index.Documents(ctx, "")
				return paths, failed(err)
			},
			Body: func(ctx context.Context, path string) (string, error) {
				d, err := index.Document(ctx, path)
				return d.Body, failed(err)
			},
		}
	}
	return out
}

// trace returns what code has to do with the specifications; it is kept with
// their graph.
func (s *specs) trace(ctx context.Context, targets []search.Target) (*lint.Trace, error) {
	g := specGraphsOf(s.Core)
	g.mu.Lock()
	defer g.mu.Unlock()
	i, code := slices.IndexFunc(g.kept, func(k keptGraph) bool { return k.graph == s.graph }), keyOf(targets, true)
	if i >= 0 && g.kept[i].trace != nil && g.kept[i].code == code {
		return g.kept[i].trace, nil
	}
	t, err := lint.NewTrace(ctx, s.graph, lintSources(targets), isSpec)
	if err == nil && i >= 0 {
		g.kept[i].trace, g.kept[i].code = t, code
	}
	return t, err
}
