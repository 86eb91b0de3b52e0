package specs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

// RelatedReply is the reply of kdd:related.
type RelatedReply struct {
	Entity      string           `json:"entity"`
	Type        string           `json:"type"`
	Related     []RelatedEntity  `json:"related"`
	Count       int              `json:"count"`
	Next        int              `json:"next,omitempty"`    // the offset of the next entities
	Message     string           `json:"message,omitempty"` // when nothing has the name
	Suggestions []kdd.Suggestion `json:"suggestions,omitempty"`
	Hidden      map[string]int   `json:"hidden,omitempty"`
	Warnings    []string         `json:"warnings,omitempty"`
}

// RelatedEntity is one related entity.
type RelatedEntity struct {
	Name      string `json:"name"`
	Type      string `json:"type"`
	Relation  string `json:"relation"`
	Direction string `json:"direction"` // outgoing, incoming
	SourceURL string `json:"source_url"`
}

const (
	defaultRelated = 20
	maxRelated     = 500
)

// RelatedQuery asks what is related to an entity.
type RelatedQuery struct {
	Entity    string
	Depth     int // default 1; more than kdd.MaxDepth is that, and said
	EdgeTypes []string
	Limit     int // default 20, or what fits into a short reply
	Offset    int // of the nearest that are left out
	Scope
}

func (q *RelatedQuery) check(depth int) error {
	if q.Depth == 0 {
		q.Depth = depth
	}
	if q.Limit == 0 {
		q.Limit = defaultRelated
	}
	switch {
	case strings.TrimSpace(q.Entity) == "":
		return kb.Errorf(kb.Invalid, "no entity is named").WithHint("name one by id, title or alias; kdd:list shows what there is")
	case len(q.Entity) > 1000:
		return kb.Errorf(kb.TooLarge, "the name of the entity has %d bytes", len(q.Entity)).WithHint("name it by id, title or alias")
	case q.Depth < 0:
		return kb.Errorf(kb.Invalid, "depth must lie between 1 and %d, not %d", kdd.MaxDepth, q.Depth).WithHint("leave it out for %d", depth)
	case q.Limit < 0 || q.Limit > maxRelated:
		return kb.Errorf(kb.Invalid, "limit must lie between 1 and %d, not %d", maxRelated, q.Limit).WithHint("leave it out for %d", defaultRelated)
	}
	if err := checkOffset(q.Offset); err != nil {
		return err
	}
	for i, t := range q.EdgeTypes {
		q.EdgeTypes[i] = strings.TrimSpace(t)
	}
	q.EdgeTypes = slices.DeleteFunc(q.EdgeTypes, func(t string) bool { return t == "" })
	return nil
}

// Related returns what is related to an entity, in both directions.
func Related(ctx context.Context, a *app.App, q RelatedQuery) (RelatedReply, error) {
	asked, short := q.Depth, q.Limit == 0
	if err := q.check(1); err != nil {
		return RelatedReply{}, err
	}
	s, err := open(ctx, a, q.Scope)
	if err != nil {
		return RelatedReply{}, err
	}
	total := 0
	defer s.Release()
	out := RelatedReply{Entity: q.Entity, Related: []RelatedEntity{}}
	err = s.ask(ctx, func([]search.Target) error {
		r := s.graph.Related(kdd.Query{Entity: q.Entity, Depth: q.Depth, Types: q.EdgeTypes, Limit: q.Offset + q.Limit, Seen: s.seen})
		out = RelatedReply{Entity: q.Entity, Related: []RelatedEntity{}, Hidden: r.Hidden}
		if r.Node == nil {
			out.Message = fmt.Sprintf("No entity found matching '%s'.", app.ClipRunes(q.Entity, 80))
			out.Suggestions = r.Suggestions
			if why := s.noSpecs(); why != "" {
				out.Warnings = append(out.Warnings, why)
			}
			return nil
		}
		out.Entity, out.Type = r.Node.Name, r.Node.Type
		total = r.Total
		for _, x := range r.Related[min(q.Offset, len(r.Related)):] {
			out.Related = append(out.Related, RelatedEntity{Name: x.Node.Name, Type: x.Node.Type, Relation: x.Edge.Type, Direction: direction(x.Outgoing), SourceURL: s.nodeURL(x.Node)})
		}
		if asked > r.Depth {
			out.Warnings = append(out.Warnings, fmt.Sprintf("depth %d is more than %d, which is used", asked, r.Depth))
		}
		if len(r.Related) == 0 && len(q.EdgeTypes) > 0 {
			out.Warnings = append(out.Warnings, s.otherTypes(r.Node))
		}
		if st := s.standing(r.Node.Doc); st != "" {
			out.Warnings = append(out.Warnings, fmt.Sprintf("%s is %s", r.Node.Name, st))
		}
		if len(r.Also) > 0 {
			out.Warnings = append(out.Warnings, "the name also means "+names(r.Also))
		}
		return nil
	})
	if err != nil {
		return RelatedReply{}, err
	}
	if note := hiddenNote(out.Hidden, "related specifications"); note != "" {
		out.Warnings = append(out.Warnings, note)
	}
	out.Warnings = append(out.Warnings, s.Notes...)
	if short {
		rows := out.Related
		out.Related = nil
		out.Related = rows[:fitting(rows, replyBytes-relatedNote-sizeOf(out))]
	}
	out.Count = len(out.Related)
	if shown := q.Offset + out.Count; out.Count > 0 && shown < total {
		out.Next = shown
		out.Warnings = append(out.Warnings, fmt.Sprintf("the nearest %d of %d; go on with offset %d, or name edge_types", shown, total, shown))
	}
	return out, nil
}

// relatedNote is room for what a reply says of the rest, in bytes.
const relatedNote = 150

func direction(outgoing bool) string {
	if outgoing {
		return "outgoing"
	}
	return "incoming"
}

func names(nodes []*kdd.Node) string {
	var out []string
	for i, n := range nodes {
		if i == 5 {
			out = append(out, "…")
			break
		}
		out = append(out, n.ID)
	}
	return strings.Join(out, ", ")
}

// otherTypes says which edges a node has, when none is of those asked for.
func (s *specs) otherTypes(n *kdd.Node) string {
	there := map[string]bool{}
	out, in := s.graph.Edges(n)
	for _, e := range slices.Concat(out, in) {
		there[e.Type] = true
	}
	return fmt.Sprintf("no relation of these types; %s has: %s", n.Name, someOf(there))
}

// ListReply is the reply of kdd:list.
type ListReply struct {
	Documents []ListRow      `json:"documents"`
	Total     int            `json:"total"`          // without the limit
	Next      int            `json:"next,omitempty"` // the offset of the next documents
	Hidden    map[string]int `json:"hidden,omitempty"`
	Warnings  []string       `json:"warnings,omitempty"`
}

// ListRow is one document of a SpecList.
type ListRow struct {
	Path      string    `json:"path"`
	Title     string    `json:"title"`
	Kind      string    `json:"kind"`
	Domain    string    `json:"domain"`
	Status    string    `json:"status"` // INDEXED; PENDING: changed since; FAILED: could not be indexed
	Chunks    int       `json:"chunks"`
	Entities  int       `json:"entities"`
	IndexedAt time.Time `json:"indexed_at"`
	KDDStatus string    `json:"kdd_status,omitempty"` // unless approved
	Store     string    `json:"store,omitempty"`      // where several are in scope
}

// The states of a document in the index.
const (
	specIndexed = "INDEXED"
	specPending = "PENDING"
	specFailed  = "FAILED"
)

// ListQuery asks which specifications there are.
type ListQuery struct {
	Kind, Domain, Status string
	Limit, Offset        int
	Scope
}

// List lists specifications.
func List(ctx context.Context, a *app.App, q ListQuery) (ListReply, error) {
	limit, err := app.CheckLimit(q.Limit, defaultRelated)
	if err != nil {
		return ListReply{}, err
	}
	if err := checkOffset(q.Offset); err != nil {
		return ListReply{}, err
	}
	status := strings.ToUpper(strings.TrimSpace(q.Status))
	if status != "" && !slices.Contains([]string{specIndexed, specPending, specFailed}, status) {
		e := kb.Errorf(kb.Invalid, "%q is no status of the index", app.ClipRunes(q.Status, 40))
		if slices.Contains(lifecycles, strings.ToLower(status)) {
			return ListReply{}, e.WithHint("that is a lifecycle: pass include_statuses [%q]; status takes INDEXED, PENDING, FAILED", strings.ToLower(status))
		}
		return ListReply{}, e.WithHint("status takes INDEXED, PENDING, FAILED")
	}
	s, err := open(ctx, a, q.Scope)
	if err != nil {
		return ListReply{}, err
	}
	defer s.Release()
	out := ListReply{Documents: []ListRow{}}
	err = s.ask(ctx, func(targets []search.Target) error {
		out = ListReply{Documents: []ListRow{}}
		var failed []ListRow
		if q.Domain == "" && q.Kind == "" {
			failed = failures(targets)
		}
		docs, hidden := s.visible(func(d *kdd.Doc) bool {
			return (q.Kind == "" || kindIs(d, q.Kind)) && (q.Domain == "" || strings.EqualFold(strings.TrimSpace(q.Domain), d.Domain))
		})
		out.Hidden = hidden
		shown := func() bool { return out.Total >= q.Offset && len(out.Documents) < limit }
		for _, d := range docs {
			state := ""
			if status != "" || shown() {
				state = stateOf(targets, d)
			}
			if status != "" && state != status {
				continue
			}
			if shown() {
				out.Documents = append(out.Documents, s.row(targets, d, state))
			}
			out.Total++
		}
		for _, f := range failed {
			if status == "" || status == specFailed {
				if shown() {
					out.Documents = append(out.Documents, f)
				}
				out.Total++
			}
		}
		if why := s.noSpecs(); why != "" {
			out.Warnings = append(out.Warnings, why)
		} else if out.Total == 0 && len(hidden) == 0 {
			out.Warnings = append(out.Warnings, s.nothingListed(q))
		}
		return nil
	})
	if err != nil {
		return ListReply{}, err
	}
	if note := hiddenNote(out.Hidden, "specifications"); note != "" {
		out.Warnings = append(out.Warnings, note)
	}
	out.Warnings = append(out.Warnings, s.Notes...)
	if q.Limit == 0 {
		rows := out.Documents
		out.Documents = nil
		out.Documents = rows[:fitting(rows, replyBytes-sizeOf(out))]
	}
	if shown := q.Offset + len(out.Documents); len(out.Documents) > 0 && shown < out.Total {
		out.Next = shown
	}
	return out, nil
}

// kindIs reports whether a document is of a kind, named by any of its words.
func kindIs(d *kdd.Doc, kind string) bool {
	if k, ok := specdoc.KindNamed(kind); ok {
		return d.Kind == k.Name
	}
	return strings.EqualFold(d.Kind, strings.TrimSpace(kind))
}

func (s *specs) row(targets []search.Target, d *kdd.Doc, state string) ListRow {
	r := ListRow{Path: d.Path, Title: d.Title, Kind: d.Kind, Domain: d.Domain, Status: state, Chunks: d.Chunks, Entities: d.Entities, KDDStatus: statusOf(d)}
	t := &targets[d.Source]
	r.IndexedAt = t.Store.Head.Indexed.UTC().Truncate(time.Second)
	if len(targets) > 1 {
		r.Store = t.Label
	}
	return r
}

// stateOf returns whether a document is indexed as it is now.
func stateOf(targets []search.Target, d *kdd.Doc) string {
	if t := &targets[d.Source]; t.Fresh != nil && t.Fresh(d.Path, d.Stamp) != "" {
		return specPending
	}
	return specIndexed
}

// failures are the Markdown documents that the last index of a store could not read.
func failures(targets []search.Target) []ListRow {
	var out []ListRow
	for i := range targets {
		t := &targets[i]
		for _, k := range t.Store.Head.Skips() {
			if !specdoc.MayRead(k.Path) {
				continue
			}
			r := ListRow{Path: k.Path, Title: specdoc.Stem(k.Path), Kind: specdoc.KindOf("", k.Path), Status: specFailed, IndexedAt: t.Store.Head.Indexed.UTC().Truncate(time.Second)}
			if len(targets) > 1 {
				r.Store = t.Label
			}
			out = append(out, r)
		}
	}
	return out
}

// nothingListed says what there is when the filters let nothing through.
func (s *specs) nothingListed(q ListQuery) string {
	kinds, domains := map[string]bool{}, map[string]bool{}
	for _, d := range s.graph.Docs() {
		if d.Kind != "" {
			kinds[d.Kind] = true
		}
		if d.Domain != "" {
			domains[d.Domain] = true
		}
	}
	said := "the filters let no specification through"
	if q.Kind != "" {
		said += "; kinds: " + someOf(kinds)
	}
	if q.Domain != "" {
		said += "; domains: " + someOf(domains)
	}
	return said
}
