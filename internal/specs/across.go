package specs

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs/bilingual"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

const (
	acrossOwn   = 30       // documents found by the question itself that are looked at again
	acrossOther = 30       // and by its translation
	acrossBytes = 96 << 10 // of a document that are looked at
	// otherShare is from what share of the sections on that a language is one
	// of the scope's.
	otherShare = 0.02
)

// What a document's signs weigh: what the search gave it, how much of the
// question its words and those of its best section answer in either language,
// how near its vector is, and against it the logarithm of its length. Fitted on
// the open questions of bench/kdd.
const (
	weightSearch   = 1.2
	weightOther    = 0.1 // what the translation's search gave, of the first
	weightDocument = 1.15
	weightSection  = 1
	weightNear     = 0.6
	weightLong     = 0.14
	longest        = 2 // keeps scores above 0
	// leastShare is how much of a question a document has that only the
	// translation finds.
	leastShare = 0.12
)

// found is a document that may answer a question, with its best section.
type found struct {
	doc     *kdd.Doc
	hit     *search.Hit // that the question itself found; nil for none
	near    float64     // cosine of the best passage
	other   float64     // what the translation's search gave it, of the best
	section int         // index, -1 for none with a heading
	score   float64

	title, body bilingual.Count
	lines       []string          // of the whole
	parts       []bilingual.Count // of the sections
	heads       []bilingual.Count
	scores      []float64  // of the sections
	signs       [4]float64 // see the weights
	share       float64    // of the question that title and best section have
}

// other reports whether a scope has texts in another language than a question's.
func other(ctx context.Context, targets []search.Target, asked bilingual.Language, only [][]kb.Part) (bool, error) {
	terms := slices.Concat(bilingual.Telling[bilingual.English], bilingual.Telling[bilingual.Spanish])
	all, err := stats(ctx, targets, terms, only)
	if err != nil {
		return false, err
	}
	n := len(bilingual.Telling[bilingual.English])
	least := otherShare * float64(all.Chunks)
	en, es := slices.Max(all.Frequency[:n]), slices.Max(all.Frequency[n:])
	if asked == bilingual.Spanish {
		return float64(en) > least, nil
	}
	return float64(es) > least, nil
}

// stats counts terms in the parts of targets.
func stats(ctx context.Context, targets []search.Target, terms []string, only [][]kb.Part) (all kb.TermStats, err error) {
	for i := range targets {
		st, err := targets[i].Index.Stats(ctx, terms, only[i])
		if err != nil {
			return all, &search.TargetError{Target: i, Err: err}
		}
		all.Add(st)
	}
	return all, nil
}

// eitherLanguage returns what a question finds: what it found itself, and what
// its translation does where there are texts in the other language, by how much
// of it each document answers in either. It returns nil for what is looked for
// as it stands.
func (s *specs) eitherLanguage(
	ctx context.Context, targets []search.Target, req search.Request, hits []search.Hit,
) ([]answer, error) {
	q := bilingual.Ask(req.Query)
	second := q.Translated()
	if second == "" || strings.Contains(req.Query, `"`) { // a name, or a text as it stands
		return nil, nil
	}
	mixed, err := other(ctx, targets, q.Language, req.Only)
	if err != nil {
		return nil, err
	}
	if !mixed {
		second = req.Query
	}
	list, err := s.addFound(ctx, targets, req, second, s.foundBy(targets, hits))
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		if err := s.count(ctx, targets, q, f); err != nil {
			return nil, err
		}
	}
	asked := q.Terms()
	st, err := stats(ctx, targets, asked, req.Only)
	if err != nil {
		return nil, err
	}
	q.Weigh(st.Frequency, st.Chunks)
	list = weigh(q, list)
	var out []answer
	for _, f := range list {
		if req.Threshold != nil && f.score < *req.Threshold {
			break
		}
		out = append(out, f.answer(q))
		for i := range hits { // further sections of it, and what was not looked at
			h := &hits[i]
			if f.hit != nil && h != f.hit && h.Where.Target == f.hit.Where.Target && h.Where.Path == f.hit.Where.Path {
				out = append(out, answer{f.doc, h.Where.Line, h.Where.Excerpt, f.score * h.Score / max(f.hit.Score, 1e-9)})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b answer) int { return cmp.Compare(b.score, a.score) })
	return out, nil
}

// keptShare is how much of the best section's score the one has that the
// search chose, to be kept.
const keptShare = 0.7

// answer returns the place in a document that answers best: that of the search
// where its section says nearly as much of the question as any.
func (f *found) answer(q *bilingual.Question) answer {
	if f.hit != nil {
		i := f.doc.SectionAt(f.hit.Where.Line)
		if i < 0 || f.section < 0 || f.scores[i] >= keptShare*f.signs[2] {
			return answer{f.doc, f.hit.Where.Line, f.hit.Where.Excerpt, f.score}
		}
	}
	if f.section < 0 {
		return answer{f.doc, 1, "", f.score}
	}
	sec := &f.doc.Sections[f.section]
	line, snippet := sec.Start, ""
	best := 0.0
	for n, l := range f.lines[min(sec.Start, len(f.lines)):min(sec.End, len(f.lines))] {
		for _, sentence := range sentences(search.Plain(l)) {
			if v := q.Share(q.Count(sentence)); v > best {
				best, line, snippet = v, sec.Start+1+n, sentence
			}
		}
	}
	return answer{f.doc, line, app.ClipRunes(snippet, search.ExcerptRunes), f.score}
}

// sentences parts a line of text after full stops, question and exclamation marks.
func sentences(line string) []string {
	var out []string
	from := 0
	for i := 0; i+1 < len(line); i++ {
		if strings.IndexByte(".?!", line[i]) >= 0 && line[i+1] == ' ' && i-from > 20 {
			out = append(out, strings.TrimSpace(line[from:i+1]))
			from = i + 2
		}
	}
	return append(out, strings.TrimSpace(line[from:]))
}

// foundBy returns the documents of hits, in their order.
func (s *specs) foundBy(targets []search.Target, hits []search.Hit) []*found {
	var list []*found
	for i := range hits {
		h := &hits[i]
		d := s.graph.Doc(targets[h.Where.Target].Store.ID, h.Where.Path)
		if d == nil || len(list) == acrossOwn || slices.ContainsFunc(list, func(f *found) bool { return f.doc == d }) {
			continue
		}
		list = append(list, &found{doc: d, hit: h})
	}
	return list
}

// addFound adds the documents that a second query finds: the question in the
// other language, or the question itself, whose hits are fewer than what it finds.
func (s *specs) addFound(
	ctx context.Context, targets []search.Target, req search.Request, query string, list []*found,
) ([]*found, error) {
	req.Query, req.Threshold = query, nil
	_, candidates, err := search.Candidates(ctx, targets, s.Core.Embedder, req)
	if err != nil {
		if kb.CodeOf(err) == kb.Invalid { // no word to look for
			return list, nil
		}
		return nil, err
	}
	top := 0.0
	for i := range candidates {
		top = max(top, candidates[i].Lexical)
	}
	value := func(i int) float64 { return candidates[i].Lexical/max(top, 1e-9) + candidates[i].Cosine }
	order := make([]int, len(candidates))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(value(b), value(a)) })
	more := 0
	for _, i := range order {
		e := &candidates[i]
		d := s.graph.Doc(targets[e.Store].Store.ID, e.Path)
		if d == nil {
			continue
		}
		at := slices.IndexFunc(list, func(f *found) bool { return f.doc == d })
		if at < 0 {
			if more == acrossOther {
				continue
			}
			more++
			at = len(list)
			list = append(list, &found{doc: d})
		}
		list[at].near = max(list[at].near, e.Cosine)
		list[at].other = max(list[at].other, value(i)/max(value(order[0]), 1e-9))
	}
	return list, nil
}

// count counts the words of a question in a document and in its sections.
func (s *specs) count(ctx context.Context, targets []search.Target, q *bilingual.Question, f *found) error {
	d := f.doc
	doc, err := targets[d.Source].Index.Document(ctx, d.Path)
	if err != nil {
		return &search.TargetError{Target: d.Source, Err: err}
	}
	f.title = q.Count(d.Title)
	f.lines = specdoc.Prose(doc.Language, kb.Cut(doc.Body, acrossBytes))
	for i := range d.Sections {
		sec := &d.Sections[i]
		from, to := min(sec.Start, len(f.lines)), min(sec.End, len(f.lines))
		var part bilingual.Count
		part.Add(q.Count(""))
		for _, l := range f.lines[from:to] {
			if l != "" {
				part.Add(q.Count(l))
			}
		}
		f.parts = append(f.parts, part)
		f.heads = append(f.heads, q.Count(heading(d, i)))
		f.body.Add(part)
		f.body.Add(f.heads[i])
	}
	if len(d.Sections) == 0 {
		f.body = q.Count(kb.Cut(doc.Body, acrossBytes))
	}
	return nil
}

// weigh scores documents and puts the best first.
func weigh(q *bilingual.Question, list []*found) []*found {
	var length, parts, partLength float64
	for _, f := range list {
		length += float64(f.body.Length)
		for _, p := range f.parts {
			parts++
			partLength += float64(p.Length)
		}
	}
	length, partLength = length/max(float64(len(list)), 1), partLength/max(parts, 1)
	var most [4]float64
	for _, f := range list {
		f.look(q, length, partLength)
		for k, v := range f.signs {
			most[k] = max(most[k], v)
		}
	}
	list = slices.DeleteFunc(list, func(f *found) bool { return f.hit == nil && f.share < leastShare })
	top, sure := 0.0, 0.0
	for _, f := range list {
		for k, w := range [4]float64{weightSearch, weightDocument, weightSection, weightNear} {
			f.score += w * max(f.signs[k], 0) / max(most[k], 1e-9)
		}
		f.score = max(f.score-weightLong*math.Log1p(float64(f.body.Length))+longest, 0)
		top, sure = max(top, f.score), max(sure, f.signs[0], 0.8*f.share)
	}
	slices.SortStableFunc(list, func(a, b *found) int { return cmp.Compare(b.score, a.score) })
	for _, f := range list {
		f.score *= min(sure, 1) / max(top, 1e-9)
	}
	return list
}

// look scores a document and each of its sections by the words of a question;
// length is the average of documents, partLength that of sections.
func (f *found) look(q *bilingual.Question, length, partLength float64) {
	if f.hit != nil {
		f.signs[0] = f.hit.Score
	}
	f.signs[0] = max(f.signs[0], weightOther*f.other)
	f.signs[1] = q.Score(bilingual.Field{Count: f.title, Weight: 3, Average: 6},
		bilingual.Field{Count: f.body, Weight: 1, Average: length})
	f.section = -1
	for j := range f.parts {
		v := q.Score(bilingual.Field{Count: f.title, Weight: 1, Average: 6}, bilingual.Field{Count: f.heads[j], Weight: 2, Average: 4},
			bilingual.Field{Count: f.parts[j], Weight: 1, Average: partLength})
		f.scores = append(f.scores, v)
		if f.doc.Sections[j].Level > 0 && (f.section < 0 || v > f.signs[2]) {
			f.section, f.signs[2] = j, v
		}
	}
	f.signs[3] = f.near
	all := f.title
	if f.section >= 0 {
		all = bilingual.Count{}
		all.Add(f.title)
		all.Add(f.heads[f.section])
		all.Add(f.parts[f.section])
	}
	f.share = q.Share(all)
}
