package specs

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

// ContextQuery asks what has to be respected near some hints.
type ContextQuery struct {
	Hints     []string // paths, names, ids, words
	Depth     int      // default 1
	MaxTokens int      // default 4000
	Scope
}

// ContextReply is the reply of kdd:context: what restricts first, then how it
// behaves.
type ContextReply struct {
	Constraints []ContextItem  `json:"constraints"`
	Behavior    []ContextItem  `json:"behavior"`
	Resolved    []ResolvedHint `json:"resolvedEntities"`
	Warnings    []string       `json:"warnings"`
	TotalItems  int            `json:"totalItems"`
	TotalTokens int            `json:"totalTokens"`
	Hidden      map[string]int `json:"hidden,omitempty"`
}

// ContextItem is what one specification has to say.
type ContextItem struct {
	NodeID     string `json:"node_id"`
	Kind       string `json:"kind"`
	Content    string `json:"content"` // at most 300 runes
	SourceFile string `json:"source_file"`
	ReachedVia string `json:"reached_via"` // "Entity:Order -> MENTIONS -> BR:BR-ORDER-001"
	URL        string `json:"source_url"`  // of the section
}

// ResolvedHint says what a hint was taken for.
type ResolvedHint struct {
	NodeID      string `json:"node_id"`
	MatchedFrom string `json:"matched_from"`
	MatchMethod string `json:"match_method"` // exact, basename, mention, text_search
}

const (
	defaultContextTokens = 4000
	minContextTokens     = 100
	maxContextTokens     = 100_000
	contextItemRunes     = 300
	maxHints             = 50
	contextNeighbours    = 200 // of one hint
)

// contextRow says what of a kind is shown, and how early: rules restrict most.
type contextRow struct {
	kind     string
	behavior bool
	sections []string // folded headings, the first that there is and that says something
}

// contextRows are in order of priority. What is of no kind here is not shown.
var contextRows = []contextRow{
	{"business-rule", false, []string{"declaracion", "declaration", "rule", "regla"}},
	{"business-policy", false, []string{"declaracion", "declaration", "policy", "politica"}},
	{"cross-policy", false, []string{"declaracion", "declaration", "proposito", "purpose"}},
	{"requirement", false, []string{"criterios-de-aceptacion", "acceptance-criteria", "descripcion", "description"}},
	{"entity", false, []string{"invariantes", "invariants", "reglas", "rules", "constraints", "restricciones", "descripcion", "description"}},
	{"adr", false, []string{"decision"}},
	{"command", true, []string{"precondiciones", "preconditions", "postcondiciones", "postconditions", "proposito", "purpose"}},
	{"use-case", true, []string{"flujo-principal", "main-flow", "flujo", "flow", "descripcion", "description"}},
	{"process", true, []string{"pasos", "steps", "descripcion", "description"}},
	{"query", true, []string{"proposito", "purpose", "descripcion", "description"}},
	{"event", true, []string{"descripcion", "description"}},
	{"objective", true, []string{"objetivo", "objective", "goal"}},
}

func contextRowOf(kind string) int {
	return slices.IndexFunc(contextRows, func(r contextRow) bool { return r.kind == kind })
}

// reached is a document that a context may show, and how it was found.
type reached struct {
	node     *kdd.Node
	via      string
	distance int
}

// complete fills defaults and refuses what cannot be answered.
func (q *ContextQuery) complete() error {
	q.Hints = slices.DeleteFunc(slices.Clone(q.Hints), func(h string) bool { return strings.TrimSpace(h) == "" })
	q.MaxTokens = cmp.Or(q.MaxTokens, defaultContextTokens)
	q.Depth = cmp.Or(q.Depth, 1)
	switch {
	case len(q.Hints) == 0:
		return kb.Errorf(kb.Invalid, "no hint is given").
			WithHint("hints are paths of files, names, ids or words: [\"order.ts\",\"checkout\"]")
	case len(q.Hints) > maxHints:
		return kb.Errorf(kb.TooLarge, "there are %d hints, more than the %d that are taken", len(q.Hints), maxHints).
			WithHint("name the few that matter")
	case q.Depth < 0:
		return kb.Errorf(kb.Invalid, "depth must lie between 1 and %d, not %d", kdd.MaxDepth, q.Depth).
			WithHint("leave it out for 1")
	case q.MaxTokens < minContextTokens || q.MaxTokens > maxContextTokens:
		return kb.Errorf(kb.Invalid, "max_tokens must lie between %d and %d, not %d",
			minContextTokens, maxContextTokens, q.MaxTokens).WithHint("leave it out for %d", defaultContextTokens)
	}
	return nil
}

// ContextOf returns what an agent should know before it touches what the
// hints name: rules, policies, requirements and invariants first, behaviour
// second, within a budget of tokens.
func ContextOf(ctx context.Context, a *app.App, q ContextQuery) (ContextReply, error) {
	if err := q.complete(); err != nil {
		return ContextReply{}, err
	}
	s, err := open(ctx, a, q.Scope)
	if err != nil {
		return ContextReply{}, err
	}
	defer s.Release()
	empty := ContextReply{
		Constraints: []ContextItem{}, Behavior: []ContextItem{}, Resolved: []ResolvedHint{}, Warnings: []string{},
	}
	out := empty
	err = s.ask(ctx, func(targets []search.Target) error {
		out = empty
		if q.Depth > kdd.MaxDepth {
			out.Warnings = append(out.Warnings, fmt.Sprintf("depth %d is more than %d, which is used", q.Depth, kdd.MaxDepth))
		}
		found, err := s.reach(ctx, targets, &out, q.Hints, min(q.Depth, kdd.MaxDepth))
		if err != nil {
			return err
		}
		kb.SortStableFunc(found, func(a, b reached) int {
			return cmp.Or(contextRowOf(a.node.Doc.Kind)-contextRowOf(b.node.Doc.Kind), a.distance-b.distance)
		})
		return s.fillContext(ctx, targets, &out, found, q.MaxTokens)
	})
	if err != nil {
		return ContextReply{}, err
	}
	if note := hiddenNote(out.Hidden, "related specifications"); note != "" {
		out.Warnings = append(out.Warnings, note)
	}
	out.Warnings = append(out.Warnings, s.Notes...)
	return out, nil
}

// reach resolves hints and returns the documents near them, each once. The
// reply gets what was resolved, hidden and not found.
func (s *specs) reach(
	ctx context.Context, targets []search.Target, out *ContextReply, hints []string, depth int,
) (found []reached, err error) {
	add := func(r reached) {
		d := r.node.Doc
		if d != nil && contextRowOf(d.Kind) >= 0 && !slices.ContainsFunc(found, func(x reached) bool { return x.node.Doc == d }) {
			found = append(found, r)
		}
	}
	for _, h := range hints {
		nodes, method, err := s.resolveHint(ctx, targets, strings.TrimSpace(h))
		if err != nil {
			return nil, err
		}
		if len(nodes) == 0 {
			out.Warnings = append(out.Warnings, fmt.Sprintf("no match found for hint: %q", app.ClipRunes(h, 60)))
		}
		for _, n := range nodes {
			out.Resolved = append(out.Resolved, ResolvedHint{n.ID, app.ClipRunes(h, 100), method})
			add(reached{node: n, via: n.ID})
			r := s.graph.Related(kdd.Query{Entity: n.ID, Depth: depth, Limit: contextNeighbours, Seen: s.seen})
			if r.Node != n { // the id is another's name
				continue
			}
			for l, k := range r.Hidden {
				if out.Hidden == nil {
					out.Hidden = map[string]int{}
				}
				out.Hidden[l] = max(out.Hidden[l], k)
			}
			via := map[*kdd.Node]string{n: n.ID}
			for _, x := range r.Related { // the nearest first
				before := cmp.Or(via[x.Via], x.Via.ID)
				step := before + " -> " + x.Edge.Type + " -> " + x.Node.ID
				if !x.Outgoing {
					step = before + " <- " + x.Edge.Type + " <- " + x.Node.ID
				}
				via[x.Node] = step
				add(reached{node: x.Node, via: step, distance: x.Distance})
			}
		}
	}
	return found, nil
}

// fillContext reads what each document has to say, as long as the budget lasts.
func (s *specs) fillContext(ctx context.Context, targets []search.Target, out *ContextReply, found []reached, budget int) error {
	left := 0
	for _, r := range found {
		row := contextRows[contextRowOf(r.node.Doc.Kind)]
		d := r.node.Doc
		text, section, err := s.essence(ctx, targets, d, row.sections)
		if err != nil {
			return err
		}
		if text == "" {
			continue
		}
		item := ContextItem{
			NodeID: r.node.ID, Kind: d.Kind, Content: app.ClipRunes(text, contextItemRunes),
			SourceFile: d.Path, ReachedVia: r.via, URL: s.urlOf(d, section),
		}
		cost := search.Cost(item.Content + item.NodeID + item.Kind + item.SourceFile + item.ReachedVia + item.URL)
		if out.TotalTokens+cost > budget {
			left++
			continue
		}
		out.TotalTokens += cost
		if out.TotalItems++; row.behavior {
			out.Behavior = append(out.Behavior, item)
		} else {
			out.Constraints = append(out.Constraints, item)
		}
	}
	if left > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%d more do not fit max_tokens %d", left, budget))
	}
	return nil
}

// essence returns the text of the first of some sections that says anything,
// else of the first one below the title, in one line, and the section.
func (s *specs) essence(ctx context.Context, targets []search.Target, d *kdd.Doc, headings []string) (string, int, error) {
	doc, err := targets[d.Source].Index.Document(ctx, d.Path)
	if err != nil {
		return "", -1, &search.TargetError{Target: d.Source, Err: err}
	}
	lines := specdoc.Prose(doc.Language, doc.Body)
	try := func(from, to int) string {
		to = min(to, len(lines))
		from = min(from-1, to)
		return proseOf(lines[from:to])
	}
	for _, h := range headings {
		for i := range d.Sections {
			if d.Sections[i].Anchor == h || strings.HasPrefix(d.Sections[i].Anchor, h+"-") {
				if text := try(d.Sections[i].Start, d.Until(i)); text != "" {
					return text, i, nil
				}
			}
		}
	}
	for i := range d.Sections {
		if d.Sections[i].Level > 0 {
			if text := try(d.Sections[i].Start, d.Sections[i].End); text != "" {
				return text, i, nil
			}
		}
	}
	return "", -1, nil
}

// proseOf joins the lines of a section, without the rules of tables; those of
// a list with semicolons.
func proseOf(lines []string) string {
	var b strings.Builder
	for _, raw := range lines {
		raw = strings.TrimSpace(raw)
		text := search.Plain(raw)
		if text == "" || strings.Trim(text, "-:|· ") == "" {
			continue
		}
		if b.Len() > 0 {
			if listItem(raw) && !strings.HasSuffix(b.String(), ":") {
				b.WriteString(";")
			}
			b.WriteByte(' ')
		}
		b.WriteString(text)
		if b.Len() > 4*contextItemRunes {
			break
		}
	}
	return strings.TrimSpace(b.String())
}

func listItem(s string) bool {
	return strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "* ") || strings.HasPrefix(s, "|") ||
		len(s) > 2 && s[0] >= '0' && s[0] <= '9' && strings.ContainsAny(s[:min(4, len(s))], ".)")
}

// resolveHint returns the nodes that a hint means: what is called that, what
// the file's name is called, what mentions the file, or what search finds.
func (s *specs) resolveHint(ctx context.Context, targets []search.Target, hint string) ([]*kdd.Node, string, error) {
	exact := func(name string) *kdd.Node {
		if nodes, _ := s.graph.Find(name, kdd.Filter{Seen: s.seen, Limit: 1}); len(nodes) > 0 && isCalled(nodes[0], name) {
			return nodes[0]
		}
		return nil
	}
	if n := exact(hint); n != nil {
		return []*kdd.Node{n}, "exact", nil
	}
	file := strings.ReplaceAll(hint, `\`, "/")
	isFile := strings.Contains(file, "/") || path.Ext(file) != "" && !strings.Contains(file, " ")
	if isFile {
		if n := exact(specdoc.Stem(file)); n != nil {
			return []*kdd.Node{n}, "basename", nil
		}
		var nodes []*kdd.Node
		for _, m := range s.graph.Mentions(file, nil, s.seen) {
			if n := s.nodeOf(m.Doc); n != nil && !slices.Contains(nodes, n) && len(nodes) < 5 {
				nodes = append(nodes, n)
			}
		}
		if len(nodes) > 0 {
			return nodes, "mention", nil
		}
	}
	query := hint
	if isFile {
		query = specdoc.Stem(file)
	}
	docs, _ := s.visible(func(*kdd.Doc) bool { return true })
	if len(docs) == 0 {
		return nil, "", nil
	}
	req := search.Request{Query: query, Limit: 3, Only: only(len(targets), docs, nil)}
	found, err := search.Run(ctx, targets, s.Core.Embedder, req)
	if err != nil {
		if kb.CodeOf(err) == kb.Invalid { // no word to look for
			return nil, "", nil
		}
		return nil, "", err
	}
	var nodes []*kdd.Node
	for _, h := range found.Hits {
		d := s.graph.Doc(targets[h.Where.Target].Store.ID, h.Where.Path)
		if n := s.nodeOf(d); n != nil && found.Confidence != "none" && !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	return nodes, "text_search", nil
}

// nodeOf returns the node of a document.
func (s *specs) nodeOf(d *kdd.Doc) *kdd.Node {
	if d == nil {
		return nil
	}
	nodes, _ := s.graph.Find(d.NodeID, kdd.Filter{Seen: kdd.Seen{All: true}})
	for _, n := range nodes {
		if n.Doc == d {
			return n
		}
	}
	return nil
}

// isCalled reports whether a node has a name in full, in whatever case.
func isCalled(n *kdd.Node, name string) bool {
	same := func(s string) bool { return strings.EqualFold(s, name) }
	if same(n.Name) || same(n.ID) {
		return true
	}
	return n.Doc != nil && (same(n.Doc.ID) || same(n.Doc.Title) || same(specdoc.Stem(n.Doc.Path)) || slices.ContainsFunc(n.Doc.Aliases, same))
}
