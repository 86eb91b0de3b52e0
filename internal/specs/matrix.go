package specs

import (
	"context"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs/diagram"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
	"github.com/seed-4f2d999b/knowledge/internal/specs/lint"
)

// MatrixFormats are the forms that kdd:matrix writes beside a table.
var MatrixFormats = append([]string{"csv", "markdown"}, diagram.Formats...)

// MatrixQuery asks which requirement is kept by which rule, code and test.
type MatrixQuery struct {
	Domain, Format string
	Open           bool // only what no test proves
	Limit, Offset  int
	Scope
}

// MatrixReply is the reply of kdd:matrix.
type MatrixReply struct {
	Rows     []MatrixRow    `json:"rows"`
	Total    int            `json:"total"` // without the limit
	Next     int            `json:"next,omitempty"`
	Totals   map[string]int `json:"totals"`         // rows by status
	Text     string         `json:"text,omitempty"` // every row, in the form that was asked for
	Warnings []string       `json:"warnings,omitempty"`
}

// MatrixRow is a requirement, a rule that it has to do with, and the code and
// the tests of the two. Either may be missing, not both.
type MatrixRow struct {
	Requirement string   `json:"requirement,omitempty"`
	Rule        string   `json:"rule,omitempty"`
	Code        []string `json:"code"`   // "src/total.go:12"
	Tests       []string `json:"tests"`  // files that test something, scenarios, documents that verify it
	Status      string   `json:"status"` // tested, coded, open
	// Suspect are those of the rule, the code and the tests that a commit changed
	// last before one changed what they keep.
	Suspect []string `json:"suspect,omitempty"`
	URL     string   `json:"source_url"`

	requirement, rule *kdd.Doc
}

// rules are the kinds of documents that stand between requirements and code,
// and those over which a requirement may lead to them.
const (
	ruleKinds = "business-rule business-policy cross-policy"
	wayKinds  = "use-case command query process entity"
)

// Matrix returns what keeps which requirement.
func Matrix(ctx context.Context, a *app.App, q MatrixQuery) (MatrixReply, error) {
	limit, err := app.CheckLimit(q.Limit, defaultRelated)
	if err != nil {
		return MatrixReply{}, err
	}
	if err := checkOffset(q.Offset); err != nil {
		return MatrixReply{}, err
	}
	if q.Format != "" && !slices.Contains(MatrixFormats, q.Format) {
		return MatrixReply{}, kb.Errorf(kb.Invalid, "%q is no format of a matrix", app.ClipRunes(q.Format, 40)).WithHint("choose one of %s", strings.Join(MatrixFormats, ", "))
	}
	s, err := open(ctx, a, q.Scope)
	if err != nil {
		return MatrixReply{}, err
	}
	defer s.Release()
	out := MatrixReply{Rows: []MatrixRow{}}
	err = s.ask(ctx, func(targets []search.Target) error {
		t, err := s.trace(ctx, targets)
		if err != nil {
			return err
		}
		changes, err := s.changes(ctx, a)
		if err != nil {
			return err
		}
		rows := s.matrix(t, changes, q)
		out = MatrixReply{Total: len(rows), Totals: map[string]int{}, Rows: rows}
		for _, r := range rows {
			out.Totals[r.Status]++
		}
		if q.Format != "" {
			out.Text, out.Rows = s.drawn(rows, q.Format), []MatrixRow{}
		} else {
			from := min(q.Offset, len(rows))
			to := min(from+limit, len(rows))
			if q.Limit == 0 {
				to = from + fitting(rows[from:to], replyBytes-sizeOf(MatrixReply{Totals: out.Totals})-relatedNote)
			}
			if out.Rows = rows[from:to]; to < len(rows) {
				out.Next = to
			}
		}
		if t.Cut {
			out.Warnings = append(out.Warnings, fmt.Sprintf("of the code the first %d files were looked at", lint.MostTraced))
		}
		if why := s.noSpecs(); why != "" {
			out.Warnings = append(out.Warnings, why)
		}
		return nil
	})
	if out.Rows == nil {
		out.Rows = []MatrixRow{}
	}
	out.Warnings = append(out.Warnings, s.Notes...)
	return out, err
}

// matrix makes the rows: those of requirements first, then rules that no
// requirement leads to.
func (s *specs) matrix(t *lint.Trace, changes *lint.Changes, q MatrixQuery) []MatrixRow {
	rows := []MatrixRow{}
	reached := map[*kdd.Doc]bool{}
	add := func(requirement, rule *kdd.Doc) {
		if r := s.matrixRow(t, changes, requirement, rule); !q.Open || r.Status != "tested" {
			rows = append(rows, r)
		}
	}
	docs, _ := s.visible(func(d *kdd.Doc) bool { return q.Domain == "" || strings.EqualFold(q.Domain, d.Domain) })
	for _, d := range docs {
		if d.Kind != "requirement" {
			continue
		}
		rules := s.rulesOf(d)
		for _, r := range rules {
			reached[r] = true
			add(d, r)
		}
		if len(rules) == 0 {
			add(d, nil)
		}
	}
	for _, d := range docs {
		if lint.Ruled(d.Kind) && !reached[d] {
			add(nil, d)
		}
	}
	return rows
}

// rulesOf are the rules that a requirement is tied to, else those that what it
// is tied to applies.
func (s *specs) rulesOf(d *kdd.Doc) []*kdd.Doc {
	rules := s.graph.Linked(d, ruleKinds)
	if len(rules) == 0 {
		for _, way := range s.graph.Linked(d, wayKinds) {
			for _, r := range s.graph.Linked(way, ruleKinds) {
				if !slices.Contains(rules, r) {
					rules = append(rules, r)
				}
			}
		}
	}
	return slices.DeleteFunc(rules, func(r *kdd.Doc) bool { return !s.seen.Sees(r) })
}

func (s *specs) matrixRow(t *lint.Trace, changes *lint.Changes, requirement, rule *kdd.Doc) MatrixRow {
	r := MatrixRow{Code: []string{}, Tests: []string{}, Status: "open", requirement: requirement, rule: rule}
	put := func(list *[]string, text string) {
		if !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
	for _, d := range []*kdd.Doc{requirement, rule} {
		if d == nil {
			continue
		}
		if r.URL == "" {
			r.URL = s.urlOf(d, -1)
		}
		for _, x := range t.Of[d] {
			place := x.Path
			if x.Line > 0 {
				place = fmt.Sprintf("%s:%d", x.Path, x.Line)
			}
			if x.Test {
				put(&r.Tests, place)
			} else {
				put(&r.Code, place)
			}
			if _, later := changes.Later(d.Source, d.Path, x.Path); later && x.Source == d.Source {
				put(&r.Suspect, place)
			}
		}
		for _, by := range s.graph.VerifiedBy(d) {
			if by.Kind == "feature" {
				continue // its tag is a place already
			}
			put(&r.Tests, s.graph.NameOf(by))
			if _, later := changes.Later(d.Source, d.Path, by.Path); later && by.Source == d.Source {
				put(&r.Suspect, s.graph.NameOf(by))
			}
		}
	}
	if requirement != nil {
		r.Requirement = s.graph.NameOf(requirement)
	}
	if rule != nil {
		r.Rule = s.graph.NameOf(rule)
	}
	if requirement != nil && rule != nil && requirement.Source == rule.Source {
		if _, later := changes.Later(rule.Source, requirement.Path, rule.Path); later {
			r.Suspect = slices.Insert(r.Suspect, 0, r.Rule)
		}
	}
	switch {
	case len(r.Tests) > 0:
		r.Status = "tested"
	case len(r.Code) > 0:
		r.Status = "coded"
	}
	return r
}

// matrixHead names the columns of rows; that of what is suspect is left out
// where nothing is.
func matrixHead(rows []MatrixRow) []string {
	head := []string{"requirement", "rule", "code", "tests", "status"}
	if slices.ContainsFunc(rows, func(r MatrixRow) bool { return len(r.Suspect) > 0 }) {
		head = append(head, "suspect")
	}
	return head
}

func (r *MatrixRow) cells(head []string, joint string) []string {
	list := func(words []string) string { return strings.Join(words, joint) }
	return []string{r.Requirement, r.Rule, list(r.Code), list(r.Tests), r.Status, list(r.Suspect)}[:len(head)]
}

// drawn writes the rows in one of MatrixFormats.
func (s *specs) drawn(rows []MatrixRow, format string) string {
	var b strings.Builder
	head := matrixHead(rows)
	switch format {
	case "csv":
		w := csv.NewWriter(&b)
		_ = w.Write(head) // a builder takes everything
		for i := range rows {
			_ = w.Write(rows[i].cells(head, "; "))
		}
		w.Flush()
	case "markdown":
		line := func(cells []string) {
			b.WriteString("|")
			for _, c := range cells {
				b.WriteString(" " + strings.ReplaceAll(c, "|", `\|`) + " |")
			}
			b.WriteByte('\n')
		}
		line(head)
		b.WriteString(strings.Repeat("|---", len(head)) + "|\n")
		for i := range rows {
			line(rows[i].cells(head, "<br>"))
		}
	default:
		return diagram.Draw(s.matrixPicture(rows), format)
	}
	return b.String()
}

// matrixPicture has requirements, rules, code and tests in columns.
func (s *specs) matrixPicture(rows []MatrixRow) diagram.Graph {
	var g diagram.Graph
	at := map[string]int{}
	box := func(label, class string, column int, d *kdd.Doc) int {
		key := fmt.Sprint(column, label)
		if i, ok := at[key]; ok {
			return i
		}
		n := diagram.Node{Label: label, Class: class, Column: column}
		if d != nil {
			n.URL, n.Under = s.urlOf(d, -1), d.Title
		}
		at[key] = len(g.Nodes)
		g.Nodes = append(g.Nodes, n)
		return at[key]
	}
	drawn := map[[2]int]bool{}
	edge := func(from, to int, label string) {
		if pair := [2]int{from, to}; from >= 0 && !drawn[pair] {
			drawn[pair] = true
			g.Edges = append(g.Edges, diagram.Edge{From: from, To: to, Label: label})
		}
	}
	for _, r := range rows {
		last := -1
		label := func(what, name string) string {
			if slices.Contains(r.Suspect, name) {
				return what + ", suspect"
			}
			return what
		}
		if r.requirement != nil {
			last = box(r.Requirement, "USE_CASE", 0, r.requirement)
		}
		if r.rule != nil {
			i := box(r.Rule, "RULE", 1, r.rule)
			edge(last, i, label("rule", r.Rule))
			last = i
		}
		for _, c := range r.Code {
			edge(last, box(c, "ENTITY", 2, nil), label("code", c))
		}
		for _, c := range r.Tests {
			edge(last, box(c, "EVENT", 3, nil), label("test", c))
		}
	}
	return g
}
