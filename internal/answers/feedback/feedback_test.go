package feedback

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func open(t *testing.T, path string) (*Store, func()) {
	t.Helper()
	d, err := db.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return New(d, meaning{}), func() { d.Close() }
}

// meaning embeds a text by a few words, those that mean the same as one. That
// the real embedder brings paraphrases together is tested in package app.
type meaning struct{}

var senses = []string{"delete|removing", "create", "store", "files|left|out", "index", "disk|full", "happens", "segments"}

func (meaning) ID() string { return "test" }
func (meaning) Dims() int  { return len(senses) }

func (meaning) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		v, sum := make([]float32, len(senses)), 0.0
		for j, words := range senses {
			for w := range strings.SplitSeq(words, "|") {
				if strings.Contains(strings.ToLower(t), w) {
					v[j] = 1
				}
			}
			sum += float64(v[j])
		}
		for j := range v {
			if sum > 0 {
				v[j] /= float32(math.Sqrt(sum))
			}
		}
		out[i] = v
	}
	return out, nil
}

func mustAdd(t *testing.T, s *Store, e Entry) int64 {
	t.Helper()
	id, err := s.Add(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func mark(t *testing.T, s *Store, question, id string) float64 {
	t.Helper()
	f, err := s.Marks(t.Context(), question)
	if err != nil {
		t.Fatal(err)
	}
	if f == nil {
		return 0
	}
	return f("store", id)
}

func TestMarks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.db")
	s, closeDB := open(t, path)
	const asked, paraphrase, unrelated = "how do I delete a store?", "removing a store", "which files are left out of the index?"
	if mark(t, s, asked, "a") != 0 {
		t.Error("something is marked though nobody said anything")
	}
	src := []Source{{Store: "store", ID: "a", At: "s a.md:L1"}}
	id := mustAdd(t, s, Entry{Query: asked, Rating: Negative, Sources: src})
	check := func(what, question, id string, want float64) {
		t.Helper()
		if got := mark(t, s, question, id); got != want {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	check("as asked", asked, "a", 0.75)
	check("a paraphrase", paraphrase, "a", 0.75)
	check("something else", unrelated, "a", 0)
	check("the opposite", "how do I create a store?", "a", 0)
	check("another source, or the same after an edit", asked, "b", 0)

	// It survives a restart, and another process sees it at once.
	closeDB()
	s, closeDB = open(t, path)
	defer closeDB()
	check("after a restart", paraphrase, "a", 0.75)
	other, closeOther := open(t, path)
	defer closeOther()
	check("before the other process adds", asked, "a", 0.75)
	mustAdd(t, other, Entry{Query: paraphrase, Rating: Negative, Sources: src})
	check("after it", asked, "a", 1-0.0625)
	mustAdd(t, other, Entry{Query: asked, Rating: Positive, Sources: src})
	check("after somebody liked it", asked, "a", 0.75)
	mustAdd(t, s, Entry{Query: asked, Rating: Positive, Sources: src})
	check("after as many liked it", asked, "a", 0)
	mustAdd(t, s, Entry{Query: asked, Rating: Negative, Sources: src})
	if _, err := s.Review(t.Context(), id, "dismissed"); err != nil {
		t.Fatal(err)
	}
	check("after one was dismissed", asked, "a", 0)
}

func TestEntries(t *testing.T) {
	s, closeDB := open(t, filepath.Join(t.TempDir(), "d.db"))
	defer closeDB()
	low, high := 0.1, 0.9
	first := mustAdd(t, s, Entry{Query: "q1", Response: "r", Rating: "Positive", Confidence: &high, Session: "web", Comment: "c", Extra: []byte(`{"tenant_id":"t"}`)})
	mustAdd(t, s, Entry{Query: "q2 segments", Rating: Negative, Confidence: &low})
	mustAdd(t, s, Entry{Query: "Q2  segments", Rating: Negative})
	list, err := s.List(t.Context(), Filter{})
	if err != nil || len(list) != 3 || list[2].Query != "q1" || string(list[2].Extra) != `{"tenant_id":"t"}` || *list[2].Confidence != high || list[2].Rating != Positive {
		t.Fatalf("%+v, %v", list, err)
	}
	no := false
	for _, c := range []struct {
		f    Filter
		want int
	}{{Filter{Rating: Negative}, 2}, {Filter{LowConfidence: true}, 1}, {Filter{Reviewed: &no}, 3}, {Filter{Limit: 1}, 1}} {
		if list, err := s.List(t.Context(), c.f); err != nil || len(list) != c.want {
			t.Errorf("%+v: %d, %v", c.f, len(list), err)
		}
	}
	if e, err := s.Review(t.Context(), first, "thanked"); err != nil || !e.Reviewed || e.Action != "thanked" {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := s.Review(t.Context(), 99, ""); kb.CodeOf(err) != kb.NotFound {
		t.Error(err)
	}
	st, err := s.Stats(t.Context())
	want := Stats{Total: 3, Positive: 1, Negative: 2, Rate: 33.3, LowConfidence: 1, Unreviewed: 2, Common: []string{"Q2  segments"}, Terms: []string{"segments"}}
	if d := cmp.Diff(want, st); d != "" || err != nil {
		t.Errorf("(-want +got):\n%s%v", d, err)
	}
	bad := 2.0
	for name, e := range map[string]Entry{
		"no rating":    {Query: "q"},
		"other rating": {Query: "q", Rating: "meh"},
		"no question":  {Rating: Positive, Query: " "},
		"too long":     {Query: strings.Repeat("x", MaxQuery+1), Rating: Positive},
		"confidence":   {Query: "q", Rating: Positive, Confidence: &bad},
		"not UTF-8":    {Query: "\xff", Rating: Positive},
	} {
		_, err := s.Add(t.Context(), e)
		var known *kb.Error
		if !errors.As(err, &known) || known.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestGaps(t *testing.T) {
	s, closeDB := open(t, filepath.Join(t.TempDir(), "d.db"))
	defer closeDB()
	for i, e := range []Entry{
		{Query: "how do I delete a store?", Rating: Negative, Comment: "old", Sources: []Source{{"store", "a", "s a.md:L1"}}},
		{Query: "which files are left out of the index?", Rating: Negative},
		{Query: "removing a store", Rating: Negative},
		{Query: "what happens when the disk is full", Rating: Negative},
		{Query: "what happens when the disk is full", Rating: Negative},
		{Query: "what happens when the disk is full", Rating: Positive, Sources: []Source{{"store", "b", ""}}},
		{Query: "how do I delete a store?", Rating: Negative},
	} {
		e.Session = fmt.Sprint(i)
		mustAdd(t, s, e)
	}
	gaps, err := s.Gaps(context.Background())
	want := []Gap{{Question: "how do I delete a store?", Negative: 3, Sources: []string{"s a.md:L1"}, Comments: []string{"old"}}}
	if d := cmp.Diff(want, gaps); d != "" || err != nil {
		t.Errorf("(-want +got):\n%s%v", d, err)
	}
	list, err := s.List(t.Context(), Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if _, err := s.Review(t.Context(), e.ID, "written"); err != nil {
			t.Fatal(err)
		}
	}
	if gaps, err := s.Gaps(t.Context()); err != nil || len(gaps) != 0 {
		t.Errorf("after the review: %v, %v", gaps, err)
	}
}

// TestPendingCountsForNothing: what somebody says who has not shown the token
// changes no mark, no gap, no figure and no revision until it was reviewed.
func TestPendingCountsForNothing(t *testing.T) {
	s, closeDB := open(t, filepath.Join(t.TempDir(), "d.db"))
	defer closeDB()
	const asked = "how do I delete a store?"
	before, err := s.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for range 3 {
		ids = append(ids, mustAdd(t, s, Entry{Query: asked, Rating: Negative, Pending: true, Sources: []Source{{Store: "store", ID: "a", At: "s a.md:L1"}}}))
	}
	if got := mark(t, s, asked, "a"); got != 0 {
		t.Errorf("pending ratings mark by %g", got)
	}
	if after, err := s.Revision(t.Context()); err != nil || after != before {
		t.Errorf("the revision went from %s to %s, %v", before, after, err)
	}
	if gaps, err := s.Gaps(t.Context()); err != nil || len(gaps) != 0 {
		t.Errorf("gaps %v, %v", gaps, err)
	}
	if st, err := s.Stats(t.Context()); err != nil || st.Total != 0 || st.Negative != 0 || st.Pending != 3 {
		t.Errorf("%+v, %v", st, err)
	}
	yes := true
	if list, err := s.List(t.Context(), Filter{Pending: &yes}); err != nil || len(list) != 3 || !list[0].Pending {
		t.Errorf("%+v, %v", list, err)
	}
	for id, action := range map[int64]string{ids[0]: "accepted", ids[1]: "spam"} {
		if e, err := s.Review(t.Context(), id, action); err != nil || e.Pending {
			t.Errorf("%+v, %v", e, err)
		}
	}
	if got := mark(t, s, asked, "a"); got != 0.75 {
		t.Errorf("one accepted, one refused and one pending mark by %g, want 0.75", got)
	}
}

// TestPendingIsBounded: strangers fill their own room and no other.
func TestPendingIsBounded(t *testing.T) {
	s, closeDB := open(t, filepath.Join(t.TempDir(), "d.db"))
	defer closeDB()
	own := mustAdd(t, s, Entry{Query: "q", Rating: Positive})
	long := strings.Repeat("x", MaxResponse)
	taken := 0
	for ; taken <= MostPending; taken++ {
		if _, err := s.Add(t.Context(), Entry{Query: "q", Response: long, Rating: Negative, Pending: true}); err != nil {
			if kb.CodeOf(err) != kb.Busy || kb.HintOf(err) == "" {
				t.Error(err)
			}
			break
		}
	}
	if most := pendingBytes / MaxResponse; taken > most || taken < most/2 {
		t.Errorf("%d entries of %d bytes were taken", taken, MaxResponse)
	}
	mustAdd(t, s, Entry{Query: "q", Rating: Negative}) // the owner's own
	if e, err := s.Review(t.Context(), own, "thanked"); err != nil || e.ID != own {
		t.Errorf("the owner's first: %+v, %v", e, err)
	}
}
