// Package search answers queries over indexes: it asks each for candidates,
// orders them together, and shows the lines that answer within a budget of
// tokens.
package search

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

const (
	// MaxQuery is how many bytes of a query are read.
	MaxQuery = 64 << 10
	// MaxLimit is the largest number of hits.
	MaxLimit = 100
)

// turns bounds the searches at work: each holds some megabytes of texts, and
// more of them than there are processors are not answered sooner.
var turns = make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))

// Run answers a request over targets. The failure of a target is a *TargetError.
func Run(ctx context.Context, targets []Target, emb kb.Embedder, r Request) (Reply, error) {
	select {
	case turns <- struct{}{}:
		defer func() { <-turns }()
	case <-ctx.Done():
		return Reply{}, ctx.Err()
	}
	began := time.Now()
	if err := r.Complete(); err != nil {
		return Reply{}, err
	}
	q, err := understand(ctx, targets, &r)
	if err != nil {
		return Reply{}, err
	}
	if len(q.Terms) == 0 {
		return Reply{}, kb.Errorf(kb.Invalid, "the query %q has no word to look for", kb.Clip(r.Query, 40)).WithHint("ask with letters or digits; for signs use the command grep")
	}
	ranked, sure, err := order(ctx, targets, emb, q, &r)
	if err == nil && 0 < len(ranked) && len(ranked) < r.Limit && q.cut {
		ranked, err = further(ctx, targets, emb, q, &r, ranked)
	}
	if err != nil {
		return Reply{}, err
	}
	var best, nearest float64
	for _, s := range ranked {
		best, nearest = max(best, s.Score), max(nearest, s.Cosine)
	}
	any := len(ranked) > 0
	ranked = slices.DeleteFunc(ranked, func(s rank.Scored) bool {
		return r.Threshold != nil && s.Score < *r.Threshold || r.MinRelevance != nil && r.Mode != rank.FTS && s.Cosine < *r.MinRelevance
	})
	ranked = ranked[:min(len(ranked), r.Limit)]
	reply := Reply{Hits: []Hit{}, Confidence: r.Tuning.Rank.Confidence(sure.P), Sure: sure.P}
	if !any {
		reply.Confidence = "none"
	}
	if any && len(ranked) == 0 {
		// What was asked for is there, or may be: it was cut away.
		switch {
		case r.Threshold != nil && best < *r.Threshold:
			reply.Notes = append(reply.Notes, fmt.Sprintf("nothing passes threshold %g: the best hit has %.2f", *r.Threshold, best))
		case r.MinRelevance != nil && nearest < *r.MinRelevance:
			reply.Notes = append(reply.Notes, fmt.Sprintf("nothing passes minRelevance %g: the nearest hit has %.2f", *r.MinRelevance, nearest))
		default:
			reply.Notes = append(reply.Notes, "nothing passes threshold and minRelevance together")
		}
	}
	for w, meant := range q.Misspelt() {
		reply.Notes = append(reply.Notes, fmt.Sprintf("%q is nowhere here; %q was looked for", kb.Clip(w, 40), meant))
	}
	if r.cut {
		reply.Notes = append(reply.Notes, fmt.Sprintf("the first %d KiB of the query were read", MaxQuery>>10))
	}
	if r.MinRelevance != nil && r.Mode == rank.FTS {
		reply.Notes = append(reply.Notes, "minRelevance is ignored in mode fts, which has no cosine")
	}
	s := &shower{q: q.Query, r: &r, targets: targets}
	if reply.Hits, err = s.show(ctx, ranked); err != nil {
		return Reply{}, err
	}
	reply.Count = len(reply.Hits)
	switch cut := any && len(ranked) == 0; {
	case cut:
	case reply.Confidence == "none":
		reply.Notes = append(reply.Notes, "nothing here answers the query; what is shown, if anything, only shares words with it")
	case reply.Confidence == "low":
		reply.Notes = append(reply.Notes, "weak matches: most of the query's words stand nowhere together")
	}
	s.fit(&reply)
	if r.Explain {
		reply.Probability, reply.Signs = math.Round(sure.P*1000)/1000, sure.Signs
		reply.Tokens += tokens.Estimate(marshal(reply.Signs))
	}
	reply.Ms = math.Round(time.Since(began).Seconds()*1e5) / 100
	return reply, nil
}

// order returns the hits of a query and how sure they are, before anything is
// cut away or shown.
func order(ctx context.Context, targets []Target, emb kb.Embedder, q *question, r *Request) ([]rank.Scored, rank.Sure, error) {
	found, err := retrieve(ctx, targets, emb, q, r)
	if err == nil && len(found) == 0 && len(q.Phrases) > 1 { // nothing has them all
		q.Soften()
		found, err = retrieve(ctx, targets, emb, q, r)
	}
	if err != nil {
		return nil, rank.Sure{}, err
	}
	if err := literally(ctx, targets, q.Query, found, r); err != nil {
		return nil, rank.Sure{}, err
	}
	if err := resolve(targets, q.Query, r, found); err != nil {
		return nil, rank.Sure{}, err
	}
	r.mark(targets, found)
	opts := r.options(emb, q)
	// Specifications go without the closer look: it finds the right one sooner
	// (MRR 0.89 instead of 0.85 on the open questions of bench/kdd), and loses
	// the decision of a decision record among its reasons.
	if r.Only == nil {
		if opts.Intent == "" && len(q.spots) == 0 {
			opts.Prose = q.Prose(found)
		}
		if err := closely(ctx, targets, emb, q.Query, found, opts, r.Tuning); err != nil {
			return nil, rank.Sure{}, err
		}
	}
	ranked, sure := rank.Rank(q.Query, found, opts)
	if q.Class != rank.Symbol || r.Only != nil || r.Mode == rank.Vector || r.Intent != "" && r.Intent != rank.Definition {
		return ranked, sure, nil
	}
	first, ok, err := declaredOnce(ctx, targets, q, found)
	if err != nil || !ok || len(ranked) > 0 && first.in(&ranked[0].Evidence) {
		return ranked, sure, err
	}
	if found, err = placed(ctx, targets, q.retrieval, []spot{first}, found); err != nil {
		return nil, rank.Sure{}, err
	}
	ranked, sure = rank.Rank(q.Query, found, opts)
	return ranked, sure, nil
}

// options are how the hits of a request are ranked: all that may be shown, so
// that no score depends on how many are.
func (r *Request) options(emb kb.Embedder, q *question) rank.Options {
	return rank.Options{Mode: r.Mode, Intent: r.Intent, Limit: MaxLimit, Explain: r.Explain || r.Detail == "full",
		Without: r.Without, Noise: r.Tuning.noise(emb), Stores: q.stores}
}

// further adds to the hits of a long reply those among more candidates, after
// the others, which keep their scores.
func further(ctx context.Context, targets []Target, emb kb.Embedder, q *question, r *Request,
	ranked []rank.Scored) ([]rank.Scored, error) {
	wide := *r
	tuning := *r.Tuning
	tuning.Candidates, tuning.Neighbours = tuning.Further, tuning.Further
	wide.Tuning = &tuning
	found, err := retrieve(ctx, targets, emb, q, &wide)
	if err != nil {
		return nil, err
	}
	r.mark(targets, found)
	more, _ := rank.Rank(q.Query, found, r.options(emb, q))
	last := ranked[len(ranked)-1].Score
	for _, m := range more {
		if !slices.ContainsFunc(ranked, func(s rank.Scored) bool { return s.Store == m.Store && s.Place == m.Place }) {
			m.Score = min(m.Score, last)
			ranked = append(ranked, m)
		}
	}
	return ranked, nil
}

// Complete fills defaults and refuses what makes no sense.
func (r *Request) Complete() error {
	if r.complete {
		return nil
	}
	if r.Tuning == nil {
		r.Tuning = &fitted
	}
	if strings.TrimSpace(r.Query) == "" {
		return kb.Errorf(kb.Invalid, "the query is empty").WithHint("say what to look for: a question, a name, a phrase in quotes, a path or an error message")
	}
	if !utf8.ValidString(r.Query) {
		return kb.Errorf(kb.Invalid, "the query is not valid UTF-8").WithHint("send it as UTF-8 text")
	}
	if len(r.Query) > MaxQuery {
		r.cut, r.Query = true, strings.ToValidUTF8(r.Query[:MaxQuery], "")
	}
	for _, f := range []struct {
		name  string
		value *string
		known []string
		def   string
	}{
		{"mode", &r.Mode, Modes, rank.Hybrid},
		{"intent", &r.Intent, append([]string{""}, Intents...), ""},
		{"detail", &r.Detail, Details, "minimal"},
	} {
		if *f.value == "" {
			*f.value = f.def
		}
		if !slices.Contains(f.known, *f.value) {
			return kb.Errorf(kb.Invalid, "%q is no %s", *f.value, f.name).WithHint("choose one of %s", strings.Join(slices.DeleteFunc(slices.Clone(f.known), func(s string) bool { return s == "" }), ", "))
		}
	}
	if r.Limit == 0 {
		r.Limit = 10
	}
	if r.Limit < 0 || r.Limit > MaxLimit {
		return kb.Errorf(kb.Invalid, "limit must lie between 1 and %d, not %d", MaxLimit, r.Limit).WithHint("leave it out for 10").About("limit")
	}
	for _, f := range []struct {
		name  string
		value *float64
	}{{"threshold", r.Threshold}, {"minRelevance", r.MinRelevance}} {
		if f.value != nil && !(*f.value >= 0 && *f.value <= 1) {
			return kb.Errorf(kb.Invalid, "%s must lie between 0 and 1, not %g", f.name, *f.value).WithHint("leave it out to see every hit").About(f.name)
		}
	}
	r.complete = true
	return nil
}

// Candidates returns what would be ranked for a request, and the query as it
// is understood: what weights are fitted on.
func Candidates(ctx context.Context, targets []Target, emb kb.Embedder, r Request) (*rank.Query, []rank.Evidence, error) {
	if err := r.Complete(); err != nil {
		return nil, nil, err
	}
	q, err := understand(ctx, targets, &r)
	if err != nil {
		return nil, nil, err
	}
	found, err := retrieve(ctx, targets, emb, q, &r)
	if err != nil {
		return nil, nil, err
	}
	return q.Query, found, literally(ctx, targets, q.Query, found, &r)
}

// Sections is Candidates with the closer look at those of prose.
func Sections(ctx context.Context, targets []Target, emb kb.Embedder, r Request) (*rank.Query, []rank.Evidence, error) {
	if err := r.Complete(); err != nil {
		return nil, nil, err
	}
	q, found, err := Candidates(ctx, targets, emb, r)
	if err != nil {
		return nil, nil, err
	}
	return q, found, closely(ctx, targets, emb, q, found, rank.Options{Mode: r.Mode, Intent: r.Intent}, r.Tuning)
}

// count counts terms in all targets.
func count(ctx context.Context, targets []Target, terms []string, r *Request) (all kb.TermStats, err error) {
	stats := make([]kb.TermStats, len(targets))
	err = each(len(targets), func(i int) (err error) {
		var only []kb.Part
		if r.Only != nil {
			only = r.Only[i]
		}
		stats[i], err = targets[i].Index.Stats(ctx, terms, only)
		return err
	})
	for _, s := range stats {
		all.Add(s)
	}
	return all, err
}

// retrieve asks every target, with statistics of all of them.
func retrieve(ctx context.Context, targets []Target, emb kb.Embedder, q *question, r *Request) ([]rank.Evidence, error) {
	all := q.stats
	if len(all.Frequency) == 0 {
		return nil, nil
	}
	weigh := all
	if r.Only != nil {
		weigh.Chunks = max(all.Chunks, r.Tuning.FewChunks)
	}
	t := r.Tuning
	req := kb.Retrieval{Terms: q.Terms, IDF: q.Weigh(weigh), BM25F: t.Rank.BM25F, Under: r.Under, Phrases: q.Phrases,
		Limit: t.Candidates, Near: t.Neighbours}
	for f := range req.Average {
		n := all.Chunks
		if f == kb.FieldPath {
			n = all.Documents
		}
		if n > 0 {
			req.Average[f] = float64(all.Lengths[f]) / float64(n)
		}
	}
	switch {
	case r.Mode == rank.FTS:
	case emb != nil:
		vecs, err := emb.Embed(ctx, []string{q.Text})
		if err != nil {
			return nil, err
		}
		req.Vector = vecs[0]
		if !slices.ContainsFunc(req.Vector, func(x float32) bool { return x != 0 }) {
			req.Vector = nil
		}
	}
	if r.Mode == rank.Vector {
		req.Terms, req.IDF = nil, nil
		if req.Vector == nil {
			return nil, nil
		}
	}
	lists := make([][]kb.Candidate, len(targets))
	err := each(len(targets), func(i int) (err error) {
		req := req
		if r.Only != nil {
			req.Only = r.Only[i]
		}
		lists[i], err = targets[i].Index.Retrieve(ctx, req)
		return err
	})
	if err != nil {
		return nil, err
	}
	q.retrieval = req
	var out []rank.Evidence
	for i, l := range lists {
		q.cut = q.cut || len(l) >= req.Limit
		for _, c := range l {
			out = append(out, rank.Evidence{Candidate: c, Store: i})
		}
	}
	if out, err = placed(ctx, targets, req, q.spots, out); err != nil {
		return nil, err
	}
	return out, nearPaths(ctx, emb, req.Vector, out)
}

// each runs f for 0 to n-1 side by side and returns the first error by number, with that number.
func each(n int, f func(i int) error) error {
	if n == 1 {
		return of(0, f(0))
	}
	errs := make([]error, n)
	var wg sync.WaitGroup
	slots := make(chan struct{}, 8)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = f(i)
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return of(i, err)
		}
	}
	return nil
}

// shower turns ranked candidates into hits.
type shower struct {
	q       *rank.Query
	r       *Request
	targets []Target
	lines   []lines       // of each hit
	shown   []rank.Scored // the hits as they were ranked
}

func (s *shower) show(ctx context.Context, ranked []rank.Scored) ([]Hit, error) {
	hits := make([]Hit, len(ranked))
	s.lines = make([]lines, len(ranked))
	for ti, t := range s.targets {
		var places []kb.Place
		var at []int
		for i, c := range ranked {
			if c.Store == ti {
				places = append(places, c.Place)
				at = append(at, i)
			}
		}
		if len(places) == 0 {
			continue
		}
		passages, err := t.Index.Passages(ctx, places)
		if err != nil {
			return nil, of(ti, err)
		}
		for j, i := range at {
			p := &passages[j]
			page, web := t.page(p.Path)
			if web {
				p.Text = unmarkAll(p.Text)
			}
			s.lines[i] = s.r.Tuning.bestLines(s.q, p)
			s.lines[i].must = ranked[i].Line
			title, symbol := s.title(&p.Chunk, &s.lines[i])
			hits[i] = Hit{
				ID: ranked[i].ID, Store: t.Label, At: location(p.Path, &p.Chunk), Symbol: title,
				Score: math.Round(ranked[i].Score*100) / 100,
				Where: Where{Target: ti, Path: p.Path, Start: p.Chunk.Start, End: p.Chunk.End, Score: ranked[i].Score},
			}
			for _, extra := range t.Extras {
				if x, ok := extra(p.Path); ok {
					hits[i].Extras = append(hits[i].Extras, x)
				}
			}
			if web {
				best, _ := s.lines[i].window(1, 80)
				if hits[i].At, err = t.Cite(ctx, p.Path, &p.Chunk, best); err != nil {
					return nil, of(ti, err)
				}
				if page.URL = ""; s.r.Detail == "full" {
					hits[i].Page = &page
				}
			}
			if s.r.Only != nil {
				hits[i].Where.Line, hits[i].Where.Excerpt = s.lines[i].excerpt(s.r.Only[ti], p.Path)
			}
			if s.r.Explain || s.r.Detail == "full" {
				hits[i].Explain = ranked[i].Parts
			}
			if s.r.Detail != "minimal" {
				if err := s.detail(ctx, &hits[i], &t, p, symbol, &ranked[i]); err != nil {
					return nil, of(ti, err)
				}
			}
		}
	}
	s.note(hits, ranked)
	return hits, nil
}

// note says of hits whose document has changed since it was indexed, and of
// those that other stores hold as well.
func (s *shower) note(hits []Hit, ranked []rank.Scored) {
	s.shown = ranked
	for i := range hits {
		if t := &s.targets[ranked[i].Store]; t.Fresh != nil {
			hits[i].Note = t.Fresh(ranked[i].Path, ranked[i].Stamp)
		}
		if also := ranked[i].Also; len(also) > 0 && hits[i].Note == "" {
			hits[i].Note = "the same in " + s.targets[also[0]].Label
			if n := len(also) - 1; n > 0 {
				hits[i].Note += fmt.Sprintf(" and %d more stores", n)
			}
		}
	}
}

// detail adds what contextual and full show.
func (s *shower) detail(ctx context.Context, h *Hit, t *Target, p *kb.Passage, symbol *kb.Symbol, c *rank.Scored) error {
	h.Kind, h.Language = p.Chunk.Kind, p.Language
	if symbol != nil {
		h.Kind, h.Signature, h.Doc = symbol.Kind, symbol.Signature, symbol.Doc
	}
	h.Why = s.why(c)
	doc, err := t.Index.Document(ctx, p.Path)
	if err != nil {
		return err
	}
	h.Imports = used(&doc, p.Chunk.Start, p.Chunk.End, s.r.Tuning.Imports)
	if symbol != nil {
		symbol = known(&doc.Chunks[p.Place.Chunk], symbol)
		h.Symbol = symbol.Qualified()
	}
	u, ok, err := usageOf(ctx, t, &doc, p.Place.Chunk, symbol, s.r.Tuning.Links)
	if err != nil {
		return err
	}
	if ok {
		h.CalledBy, h.Calls = names(u.callers, u.moreIn), names(u.callees, u.moreOut)
	}
	h.Related = relatedIn(t, &doc, p.Place.Chunk, s.r.Tuning.Neighbouring)
	return nil
}

// known returns the symbol of a chunk that s, which may lack the line of its
// name and what encloses it, stands for.
func known(c *kb.Chunk, s *kb.Symbol) *kb.Symbol {
	for i := range c.Symbols {
		if k := &c.Symbols[i]; k.Name == s.Name && k.Start == s.Start {
			return k
		}
	}
	return s
}

// why says in words what speaks for a hit.
func (s *shower) why(c *rank.Scored) []string {
	var out []string
	words := func(bits uint64) string {
		var w []string
		for i := range s.q.Words {
			x := &s.q.Words[i]
			if !x.Stop && x.Whole >= 0 && bits&(1<<x.Whole) != 0 {
				w = append(w, x.Text)
			}
		}
		return strings.Join(w, ", ")
	}
	if w := words(c.Defines); w != "" {
		out = append(out, "defines "+w)
	}
	if w := words(c.InPath); w != "" {
		out = append(out, "path names "+w)
	}
	if w := words(c.Matched); w != "" {
		out = append(out, "mentions "+w)
	}
	if c.Cosine > 0 {
		out = append(out, fmt.Sprintf("cosine %.2f", c.Cosine))
	}
	return out
}

// imports returns the lines with which a document names what it uses.
func imports(d *kb.DocumentText, most int) []string {
	var out []string
	for i := range d.Chunks {
		c := &d.Chunks[i]
		if c.Kind != "imports" {
			continue
		}
		for _, l := range strings.Split(d.Body[c.From:c.To], "\n") {
			l = strings.TrimSpace(l)
			if l == "" || l == ")" || l == "import (" || strings.HasPrefix(l, "//") || strings.HasPrefix(l, "package ") {
				continue
			}
			if out = append(out, kb.Clip(l, 80)); len(out) == most {
				return out
			}
		}
	}
	return out
}

// relatedIn returns the chunks around one: the rest of its declaration, then
// its neighbours.
func relatedIn(t *Target, d *kb.DocumentText, chunk, most int) []Related {
	var out []Related
	add := func(i int, why string) {
		if i < 0 || i >= len(d.Chunks) || i == chunk || len(out) == most || d.Chunks[i].Kind == "imports" {
			return
		}
		id := d.IDs[i]
		if slices.ContainsFunc(out, func(r Related) bool { return r.ID == id }) {
			return
		}
		out = append(out, Related{ID: id, At: t.cite(d, i), Symbol: Title(&d.Chunks[i]), Why: why})
	}
	own := d.Chunks[chunk].Decl
	for i := range d.Chunks {
		if len(own) > 0 && slices.Equal(d.Chunks[i].Decl, own) {
			add(i, "same declaration")
		}
	}
	for i := range d.Chunks {
		if len(own) > 1 && slices.Equal(d.Chunks[i].Decl, own[:len(own)-1]) {
			add(i, "encloses it")
			break // its head; the rest of it is further members
		}
	}
	add(chunk-1, "before it")
	add(chunk+1, "after it")
	return out
}

// location cites a chunk: path:Lstart-Lend, or columns of a long line.
func location(p string, c *kb.Chunk) string {
	if c.ColTo > 0 {
		return fmt.Sprintf("%s:L%d:c%d-%d", p, c.Start, c.ColFrom, c.ColTo)
	}
	if c.Start == c.End {
		return fmt.Sprintf("%s:L%d", p, c.Start)
	}
	return fmt.Sprintf("%s:L%d-%d", p, c.Start, c.End)
}

// titleBytes is how long the name of a chunk may be.
const titleBytes = 80

// Title names a chunk: its declaration path joined with dots, its headings, or
// the names it defines. Of headings that are too many the outer ones go: the
// innermost says what stands there.
func Title(c *kb.Chunk) string {
	if c.Kind == "section" || c.Kind == "heading" {
		const sep, more = " › ", "… › "
		t := strings.Join(c.Decl, sep)
		for rest := c.Decl; len(t) > titleBytes && len(rest) > 1; {
			rest = rest[1:]
			t = more + strings.Join(rest, sep)
		}
		return kb.Clip(t, titleBytes)
	}
	if len(c.Decl) > 0 {
		t := strings.Join(c.Decl, ".")
		if n := len(c.Symbols); n > 1 && c.Kind != "type" && c.Kind != "class" {
			t += fmt.Sprintf(" +%d", n-1)
		}
		return kb.Clip(t, titleBytes)
	}
	return ""
}

// title names a chunk for the declaration in it that answers: the one that
// the query names, else the one that the best line lies in, else its first.
func (s *shower) title(c *kb.Chunk, l *lines) (string, *kb.Symbol) {
	if len(c.Symbols) == 0 || c.Kind == "section" {
		return Title(c), nil
	}
	if len(c.Symbols) == 1 {
		return Title(c), &c.Symbols[0]
	}
	for i := range c.Symbols {
		if sym := &c.Symbols[i]; s.q.Names(sym.Name) {
			return qualified(c, *sym), sym
		}
	}
	at, _ := l.window(1, 80)
	for i := range c.Symbols {
		if sym := &c.Symbols[i]; sym.Start <= at && at <= sym.End && sym.End <= c.End {
			return qualified(c, *sym), sym
		}
	}
	return Title(c), &c.Symbols[0]
}

// qualified names one of a chunk's symbols, with what encloses it where the
// chunk's own path tells.
func qualified(c *kb.Chunk, sym kb.Symbol) string {
	if n := len(c.Decl); n > 0 && c.Decl[n-1] == sym.Name {
		return Title(&kb.Chunk{Decl: c.Decl, Kind: c.Kind})
	}
	return sym.Name
}

// budget is how many tokens the reply may have.
func (s *shower) budget(hits int) int {
	t := s.r.Tuning
	per := t.MinimalTokens
	switch s.r.Detail {
	case "contextual":
		per = t.ContextualTokens
	case "full":
		per = t.FullTokens
	}
	if s.r.Explain {
		per += t.ExplainTokens
	}
	return min(t.ReplyTokens, per*max(hits, 1))
}

// fit gives every hit as many of its lines as the budget allows, the first
// ones more: they answer most often.
func (s *shower) fit(r *Reply) {
	budget := s.budget(s.r.Limit)
	t := s.r.Tuning
	most := t.MinimalLines
	if s.r.Detail == "contextual" {
		most = t.ContextualLines
	} else if s.r.Detail == "full" {
		most = t.FullLines
	}
	for i := range r.Hits { // what may be shown is judged, so that the marks are in the budget
		_, text := s.lines[i].window(most+t.furtherLines(i), t.LineWidth)
		h, at := &r.Hits[i], &s.shown[i]
		h.Note = s.targets[at.Store].Mark(h.Note, at.Path, h.Doc+"\n"+text)
	}
	const header = 14 // the digits of tokens and ms, which are not known yet
	for n := most; ; n-- {
		width := t.LineWidth
		if n <= 0 {
			width = max(20, 100+20*n)
		}
		for i := range r.Hits {
			r.Hits[i].Line, r.Hits[i].Code = s.lines[i].window(max(n+t.furtherLines(i), 1), width)
		}
		r.Tokens = tokens.Estimate(r.Text()) + header
		if r.Tokens <= budget || n < -4 {
			return
		}
		if n > 8 {
			n -= n / 4
		}
	}
}
