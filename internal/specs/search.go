package specs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
	"github.com/seed-4f2d999b/knowledge/internal/specs/lint"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

// SearchQuery asks for sections of specifications.
type SearchQuery struct {
	Query          string
	Limit          int      // default 5, at most 100
	ChunkTypes     []string // of specdoc.Types, in any case
	Domains        []string
	Tags           []string // one of them is enough
	ScoreThreshold *float64 // in [0,1]
	Scope
}

// SearchReply is the reply of kdd:search. Beyond what the original's decision
// record has, it says what is hidden or wrong, and only then.
type SearchReply struct {
	Results  []Result       `json:"results"`
	Count    int            `json:"count"`
	TimeMs   int64          `json:"time_ms"`
	Hidden   map[string]int `json:"hidden,omitempty"` // documents by lifecycle, of those that the filters let through
	Warnings []string       `json:"warnings,omitempty"`
}

// Result is a reference to a section.
type Result struct {
	URL     string  `json:"url"`
	Title   string  `json:"title"`
	Section string  `json:"section"`
	Score   float64 `json:"score"`
	Snippet string  `json:"snippet"` // at most 150 runes
	Type    string  `json:"type"`    // of specdoc.Types
	Domain  string  `json:"domain"`
}

const (
	defaultSpecResults = 5
	// resultBytes is what one result may take of a reply, so that five stay
	// below the 4 KB that the original promises.
	resultBytes = 760
	// unsure is below what score of the first result the search is believed that
	// nothing answers: the words of the other language may.
	unsure = 0.4
)

// specWithout are the signals that do not count among specifications: a folder
// "specs" holds no tests here, a document has no callers, and its path says nothing.
var specWithout = []string{"test", "specification", "example", "aside", "central", "shallow", "superseded"}

// Search finds sections of specifications.
func Search(ctx context.Context, a *app.App, r SearchQuery) (SearchReply, error) {
	began := time.Now()
	limit := cmp.Or(r.Limit, defaultSpecResults)
	req := search.Request{Query: r.Query, Limit: limit, Threshold: r.ScoreThreshold, Without: specWithout}
	if err := req.Complete(); err != nil {
		return SearchReply{}, inWordsOfSpecs(err)
	}
	types, err := chunkTypes(r.ChunkTypes)
	if err != nil {
		return SearchReply{}, err
	}
	s, err := open(ctx, a, r.Scope)
	if err != nil {
		return SearchReply{}, err
	}
	defer s.Release()
	reply := SearchReply{Results: []Result{}}
	keep := filterOf(r.Domains, r.Tags)
	err = s.ask(ctx, func(targets []search.Target) error {
		docs, hidden := s.visible(func(d *kdd.Doc) bool { return keep(d) && (types == nil || typedLines(d, types) != nil) })
		reply.Results, reply.Hidden, reply.Warnings = reply.Results[:0], hidden, nil
		if len(docs) == 0 {
			if why := s.noSpecs(); why != "" {
				reply.Warnings = append(reply.Warnings, why)
			} else if len(hidden) == 0 {
				reply.Warnings = append(reply.Warnings, s.noMatch(r))
			}
			return nil
		}
		req.Only = only(len(targets), docs, types)
		// Two chunks of one section are one result, and what both languages
		// find is put in order among more.
		req.Limit = min(max(2*limit, acrossOwn), search.MaxLimit)
		found, err := search.Run(ctx, targets, s.Core.Embedder, req)
		if err != nil {
			return err
		}
		answers, err := s.answers(ctx, targets, req, found.Hits)
		if err != nil {
			return err
		}
		superseded, err := s.results(ctx, targets, &reply, answers, limit)
		if err != nil {
			return err
		}
		if found.Confidence == "none" && len(reply.Results) > 0 && reply.Results[0].Score < unsure {
			reply.Warnings = append(reply.Warnings, "nothing here answers the query; what is shown only shares words with it")
		}
		if len(superseded) > 0 {
			reply.Warnings = append(reply.Warnings, "superseded: "+strings.Join(superseded, ", "))
		}
		return nil
	})
	if err != nil {
		return SearchReply{}, err
	}
	if note := hiddenNote(reply.Hidden, "specifications"); note != "" {
		reply.Warnings = append(reply.Warnings, note)
	}
	reply.Warnings = append(reply.Warnings, s.Notes...)
	reply.Count = len(reply.Results)
	reply.TimeMs = time.Since(began).Milliseconds()
	reply.fit(max(limit, defaultSpecResults) * resultBytes)
	return reply, nil
}

// inWordsOfSpecs names the arguments of an error as kdd:search calls them.
func inWordsOfSpecs(err error) error {
	e, ok := err.(*kb.Error)
	switch {
	case ok && e.Argument == "threshold":
		return kb.Errorf(e.Code, "score_%s", e.Message).WithHint("%s", e.Hint)
	case ok && e.Argument == "limit":
		return e.WithHint("leave it out for %d", defaultSpecResults)
	}
	return err
}

// only returns the parts of n targets that documents are, or their sections of
// some types; types is nil for all.
func only(n int, docs []*kdd.Doc, types []string) [][]kb.Part {
	parts := make([][]kb.Part, n)
	for i := range parts {
		parts[i] = []kb.Part{} // nil is the whole target
	}
	for _, d := range docs {
		part := kb.Part{Path: d.Path}
		if types != nil {
			part.Lines = typedLines(d, types)
		}
		parts[d.Source] = append(parts[d.Source], part)
	}
	return parts
}

// chunkTypes reads types in any case and spelling; nil is every type.
func chunkTypes(names []string) ([]string, error) {
	var out []string
	for _, n := range names {
		t := strings.ToUpper(strings.NewReplacer("-", "_", " ", "_").Replace(strings.TrimSpace(n)))
		if t == "USECASE" {
			t = "USE_CASE"
		}
		if t == "" {
			continue
		}
		if !slices.Contains(specdoc.Types, t) {
			if len(n) > 40 {
				n = strings.ToValidUTF8(n[:40], "") + "…"
			}
			return nil, kb.Errorf(kb.Invalid, "%q is no chunk type", n).WithHint("chunk_types takes %s", strings.Join(specdoc.Types, ", "))
		}
		out = append(out, t)
	}
	return out, nil
}

// filterOf returns what lets documents of domains and tags through.
func filterOf(domains, tags []string) func(*kdd.Doc) bool {
	among := func(list []string, s string) bool {
		return slices.ContainsFunc(list, func(x string) bool { return strings.EqualFold(strings.TrimSpace(x), s) })
	}
	return func(d *kdd.Doc) bool {
		return (len(domains) == 0 || among(domains, d.Domain)) &&
			(len(tags) == 0 || slices.ContainsFunc(d.Tags, func(t string) bool { return among(tags, t) }))
	}
}

// typedLines returns the lines of the sections of some types; nil for none.
func typedLines(d *kdd.Doc, types []string) [][2]int {
	var out [][2]int
	for i := range d.Sections {
		if slices.Contains(types, sectionType(d, i)) {
			out = append(out, [2]int{d.Sections[i].Start, d.Sections[i].End})
		}
	}
	return out
}

// sectionType returns the type of section i; of the document for -1.
func sectionType(d *kdd.Doc, i int) string {
	own := "DEFAULT"
	if i >= 0 {
		own = d.Sections[i].Type
	}
	return specdoc.TypeOf(d.Kind, own)
}

// noMatch says that the filters let nothing through, and what there is.
func (s *specs) noMatch(r SearchQuery) string {
	domains, tags := map[string]bool{}, map[string]bool{}
	for _, d := range s.graph.Docs() {
		if d.Domain != "" {
			domains[d.Domain] = true
		}
		for _, t := range d.Tags {
			tags[t] = true
		}
	}
	said := "the filters let no specification through"
	for _, x := range []struct {
		what  string
		asked []string
		there map[string]bool
	}{{"domains", r.Domains, domains}, {"tags", r.Tags, tags}} {
		if len(x.asked) > 0 {
			said += fmt.Sprintf("; %s: %s", x.what, someOf(x.there))
		}
	}
	return said
}

// someOf lists names, the first ten.
func someOf(set map[string]bool) string {
	names := slices.Sorted(maps.Keys(set))
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > 10:
		names = append(names[:10], "…")
	}
	return strings.Join(names, ", ")
}

// answer is a place that answers a question.
type answer struct {
	doc     *kdd.Doc
	line    int
	snippet string
	score   float64
}

// answers returns what was found for a question, in the order of the reply.
func (s *specs) answers(ctx context.Context, targets []search.Target, req search.Request, hits []search.Hit) ([]answer, error) {
	either, err := s.eitherLanguage(ctx, targets, req, hits)
	if either != nil || err != nil {
		return either, err
	}
	out := make([]answer, 0, len(hits))
	for i := range hits {
		h := &hits[i]
		if d := s.graph.Doc(targets[h.Where.Target].Store.ID, h.Where.Path); d != nil {
			out = append(out, answer{d, h.Where.Line, h.Where.Excerpt, h.Score})
		}
	}
	return out, nil
}

// results fills a reply with at most limit answers, one of each section, and
// returns the titles of superseded documents among them.
func (s *specs) results(
	ctx context.Context, targets []search.Target, reply *SearchReply, answers []answer, limit int,
) (superseded []string, err error) {
	taken := map[string]bool{}
	for _, a := range answers {
		if len(reply.Results) == limit {
			break
		}
		d := a.doc
		i, line, err := s.aim(ctx, targets, d, a.line)
		if err != nil {
			return nil, err
		}
		snippet := a.snippet
		if own := d.SectionAt(a.line); own != i || own < 0 || d.Sections[own].Start == a.line || lint.LooksLikeKey(a.snippet) {
			if prose, err := s.opening(ctx, targets, d, line); err != nil {
				return nil, err
			} else if prose != "" {
				snippet = prose
			}
		}
		r := Result{
			URL: s.urlOf(d, i), Title: d.Title, Section: heading(d, i), Score: a.score,
			Snippet: snippet, Type: sectionType(d, i), Domain: d.Domain,
		}
		if key := fmt.Sprintf("%s %d", r.URL, i); !taken[key] {
			taken[key] = true
			reply.Results = append(reply.Results, r)
			called := app.ClipRunes(d.Title, 60)
			if by := s.replacedBy(d); by != "" {
				called += " (replaced by " + by + ")"
			}
			if d.Lifecycle == "superseded" && !slices.Contains(superseded, called) {
				superseded = append(superseded, called)
			}
		}
	}
	return superseded, nil
}

// fit shortens snippets, titles and sections until the reply has at most n bytes.
func (r *SearchReply) fit(n int) {
	for _, most := range []int{search.ExcerptRunes, 110, 70, 40, 0} {
		for i := range r.Results {
			x := &r.Results[i]
			x.Snippet = app.ClipRunes(x.Snippet, most)
			if most < search.ExcerptRunes {
				x.Title, x.Section = app.ClipRunes(x.Title, max(most, 40)), app.ClipRunes(x.Section, max(most, 40))
			}
		}
		if b, err := json.Marshal(r); err != nil || len(b) <= n {
			return
		}
	}
}
