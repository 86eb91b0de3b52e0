package feedback

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	chromem "github.com/philippgille/chromem-go"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

const (
	// mostCompared is how many of the newest entries questions are compared with.
	mostCompared = 2000
	// similar is the cosine from which a question is much like another: above
	// it lie 7 of 12 paraphrases and none of 10 unrelated pairs, "delete a store"
	// and "create a store" (0.60) among them. To miss a paraphrase does less
	// harm than to lower a source for a question that it answers.
	similar = 0.65
	// perEntry is what is left of a source's standing after one negative entry.
	perEntry = 0.25
	// neighbours is how many like questions count at most.
	neighbours = 64
)

// known is what the entries of one revision say.
type known struct {
	revision string
	entries  []Entry
	coll     *chromem.Collection // of entries by their place in entries
	vectors  [][]float32
}

// Revision changes whenever entries that count are added or reviewed.
func (s *Store) Revision(ctx context.Context) (string, error) {
	var last, count, reviewed int64
	err := s.db.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "SELECT coalesce(max(id), 0), count(*), coalesce(sum(reviewed * (length(action) + 1)), 0) FROM feedback WHERE pending = 0").Scan(&last, &count, &reviewed)
	})
	return fmt.Sprintf("%d.%d.%d", last, count, reviewed), err
}

// know returns what the entries say as they are now.
func (s *Store) know(ctx context.Context) (*known, error) {
	rev, err := s.Revision(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known != nil && s.known.revision == rev {
		return s.known, nil
	}
	k := &known{revision: rev}
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		all, err := read(ctx, tx, "WHERE pending = 0 AND (sources != '[]' OR rating < 0) ORDER BY id DESC LIMIT ?", mostCompared)
		k.entries = slices.DeleteFunc(all, func(e Entry) bool { return dismissing[strings.ToLower(e.Action)] })
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(k.entries) > 0 {
		texts := make([]string, len(k.entries))
		for i := range k.entries {
			texts[i] = k.entries[i].Query
		}
		if k.vectors, err = s.emb.Embed(ctx, texts); err != nil {
			return nil, err
		}
		none := func(context.Context, string) ([]float32, error) {
			return nil, kb.Errorf(kb.Internal, "vectors come with the questions")
		}
		if k.coll, err = chromem.NewDB().CreateCollection("feedback", nil, none); err != nil {
			return nil, kb.Errorf(kb.Internal, "chromem: %w", err)
		}
		for i, v := range k.vectors {
			if zero(v) {
				continue
			}
			if err := k.coll.AddDocument(ctx, chromem.Document{ID: strconv.Itoa(i), Embedding: slices.Clone(v)}); err != nil {
				return nil, kb.Errorf(kb.Internal, "chromem: %w", err)
			}
		}
	}
	s.known = k
	return k, nil
}

func zero(v []float32) bool { return !slices.ContainsFunc(v, func(x float32) bool { return x != 0 }) }

// near returns the entries that ask much the same as the question of a vector.
func (k *known) near(ctx context.Context, vector []float32) ([]int, error) {
	if k.coll == nil || k.coll.Count() == 0 || zero(vector) || len(vector) != len(k.vectors[0]) {
		return nil, nil
	}
	found, err := k.coll.QueryEmbedding(ctx, vector, min(neighbours, k.coll.Count()), nil, nil)
	if err != nil {
		return nil, kb.Errorf(kb.Internal, "chromem: %w", err)
	}
	var out []int
	for _, f := range found {
		if i, err := strconv.Atoi(f.ID); err == nil && f.Similarity >= similar {
			out = append(out, i)
		}
	}
	return out, ctx.Err()
}

// Marks returns how much feedback speaks against a chunk for a question, in
// [0,1]: 1 - 0.25^n for n more negative than positive entries that cite it and
// ask much the same. An edit of the chunk gives it another id, and so a new
// start. nil when nothing does.
func (s *Store) Marks(ctx context.Context, question string) (func(store kb.StoreID, id string) float64, error) {
	k, err := s.know(ctx)
	if err != nil || len(k.entries) == 0 {
		return nil, err
	}
	v, err := s.emb.Embed(ctx, []string{question})
	if err != nil {
		return nil, err
	}
	near, err := k.near(ctx, v[0])
	if err != nil {
		return nil, err
	}
	type key struct {
		store kb.StoreID
		id    string
	}
	net := map[key]int{}
	for _, i := range near {
		n := 1
		if k.entries[i].Rating == Positive {
			n = -1
		}
		for _, src := range k.entries[i].Sources {
			net[key{src.Store, src.ID}] += n
		}
	}
	marks := map[key]float64{}
	for src, n := range net {
		if n > 0 {
			marks[src] = 1 - math.Pow(perEntry, float64(n))
		}
	}
	if len(marks) == 0 {
		return nil, nil
	}
	return func(store kb.StoreID, id string) float64 { return marks[key{store, id}] }, nil
}

// Gap is a question that people keep asking and find badly answered.
type Gap struct {
	Question string   `json:"question"` // the newest wording
	Negative int      `json:"negative"`
	Positive int      `json:"positive"`
	Sources  []string `json:"sources,omitempty"` // what the answers cited
	Comments []string `json:"comments,omitempty"`
}

// leastGap is how many more negative than positive entries make a gap.
const leastGap = 2

// Gaps returns the questions with at least two more negative than positive
// entries, like ones taken together, the worst first. What was reviewed counts
// no more.
func (s *Store) Gaps(ctx context.Context) ([]Gap, error) {
	k, err := s.know(ctx)
	if err != nil {
		return nil, err
	}
	taken := make([]bool, len(k.entries))
	gaps := []Gap{}
	for i := range k.entries {
		e := &k.entries[i]
		if taken[i] || e.Reviewed || e.Rating != Negative {
			continue
		}
		near, err := k.near(ctx, k.vectors[i])
		if err != nil {
			return nil, err
		}
		if !slices.Contains(near, i) {
			near = append(near, i)
		}
		g := Gap{Question: e.Query}
		for _, j := range near {
			o := &k.entries[j]
			if taken[j] || o.Reviewed {
				continue
			}
			taken[j] = true
			if o.Rating == Positive {
				g.Positive++
				continue
			}
			g.Negative++
			for _, src := range o.Sources {
				if src.At != "" && !slices.Contains(g.Sources, src.At) && len(g.Sources) < 5 {
					g.Sources = append(g.Sources, src.At)
				}
			}
			if o.Comment != "" && len(g.Comments) < 5 {
				g.Comments = append(g.Comments, kb.Clip(o.Comment, 200))
			}
		}
		if g.Negative-g.Positive >= leastGap {
			gaps = append(gaps, g)
		}
	}
	kb.SortStableFunc(gaps, func(a, b Gap) int { return cmp.Compare(b.Negative-b.Positive, a.Negative-a.Positive) })
	return gaps, nil
}

// Stats are the figures of all entries, spelt as the clients of seed 003 read them.
type Stats struct {
	Total         int      `json:"total_feedback"`
	Positive      int      `json:"positive_count"`
	Negative      int      `json:"negative_count"`
	Rate          float64  `json:"positive_rate"` // 0 to 100
	LowConfidence int      `json:"low_confidence_count"`
	Unreviewed    int      `json:"unreviewed_count"`
	Pending       int      `json:"pending_count"` // not among the others: they count for nothing yet
	Common        []string `json:"common_negative_queries"`
	Terms         []string `json:"potential_domain_terms"`
}

// mostCommon is how many questions and terms Stats lists.
const mostCommon = 10

// Stats counts the entries that count, and lists which questions are rated negative most
// often, and which of their words come up in several.
func (s *Store) Stats(ctx context.Context) (st Stats, err error) {
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(rating > 0), 0), coalesce(sum(rating < 0), 0),
			coalesce(sum(confidence < ?), 0), coalesce(sum(reviewed = 0), 0), (SELECT count(*) FROM feedback WHERE pending = 1)
			FROM feedback WHERE pending = 0`, lowConfidence).
			Scan(&st.Total, &st.Positive, &st.Negative, &st.LowConfidence, &st.Unreviewed, &st.Pending)
	})
	if err != nil {
		return st, err
	}
	if st.Total > 0 {
		st.Rate = math.Round(1000*float64(st.Positive)/float64(st.Total)) / 10
	}
	st.Common, st.Terms = []string{}, []string{}
	k, err := s.know(ctx)
	if err != nil {
		return st, err
	}
	asked, words := map[string]int{}, map[string]int{}
	wording := map[string]string{}
	for i := range k.entries {
		e := &k.entries[i]
		if e.Rating != Negative {
			continue
		}
		q := strings.Join(strings.Fields(strings.ToLower(e.Query)), " ")
		if asked[q]++; wording[q] == "" {
			wording[q] = kb.Clip(e.Query, 200)
		}
		for _, w := range names(e.Query) {
			words[w]++
		}
	}
	for _, q := range most(asked, 1) {
		st.Common = append(st.Common, wording[q])
	}
	st.Terms = append(st.Terms, most(words, 2)...)
	return st, nil
}

// most returns the keys counted most often, at least least times.
func most(count map[string]int, least int) []string {
	var keys []string
	for k, n := range count {
		if n >= least {
			keys = append(keys, k)
		}
	}
	kb.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	return keys[:min(len(keys), mostCommon)]
}

// names returns the distinct words of at least four letters of a question.
func names(q string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(q), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		if len([]rune(w)) >= 4 && len(terms.Of(w)) > 0 && !slices.Contains(out, w) && !common[w] {
			out = append(out, w)
		}
	}
	return out
}

// common are words that most questions hold.
var common = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`what when where which does have with that this from your there they them then than would could should about
		into como cuando donde cual para puede pueden esta este esto tiene hace sobre desde hasta porque`) {
		m[w] = true
	}
	return m
}()
