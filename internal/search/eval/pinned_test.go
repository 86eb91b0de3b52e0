package eval

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// TestPinned asks the queries of testdata/pinned/queries.txt over texts that no
// machine and no commit changes, and compares the rank and the score of what
// answers, and the confidence, with testdata/pinned/ranks.txt.
func TestPinned(t *testing.T) {
	p := openPinned(t)
	const file = "testdata/pinned/ranks.txt"
	var b strings.Builder
	var all, section []outcome
	sum := func(list []outcome) string {
		var n, m []float64
		for _, o := range list {
			if len(o.ranks) > 0 {
				n, m = append(n, ndcg(o.ranks)), append(m, reciprocal(o.ranks))
			}
		}
		return fmt.Sprintf("%d queries, NDCG %.3f, MRR %.3f", len(list), mean(n), mean(m))
	}
	for i, q := range p.questions {
		if i == 0 || q.section != p.questions[i-1].section {
			fmt.Fprintf(&b, "## %s\n\n", q.section)
			section = nil
		}
		o := p.ask(t.Context(), q, search.Fitted(), nil)
		if o.err != nil {
			t.Fatalf("%s: %v", q.line, o.err)
		}
		for j, x := range o.exact {
			// Processors that multiply and add at once differ in the last bits.
			if k := x * 1000; math.Abs(k-math.Floor(k)-0.5) < 1e-8 {
				t.Errorf("%s: the figure %v lies between two roundings; change the query", q.line, x)
			}
			if j > 1 && o.exact[j-1] != x && math.Abs(o.exact[j-1]-x) < 1e-11 {
				t.Errorf("%s: two hits score almost the same, %v and %v; change the query", q.line, o.exact[j-1], x)
			}
		}
		section, all = append(section, o), append(all, o)
		fmt.Fprintf(&b, "%s\n%s\n", q.line, o.text)
		if i == len(p.questions)-1 || p.questions[i+1].section != q.section {
			fmt.Fprintf(&b, "%s: %s\n\n", q.section, sum(section))
		}
	}
	fmt.Fprintf(&b, "All: %s\n", sum(all))
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(unixLines(want), "\n"), strings.Split(b.String(), "\n")); d != "" {
		t.Errorf("rankings moved (-want +got); if that is meant, say why and run\n"+
			"go test ./internal/search/eval -run Pinned -update\n%s", d)
	}
}

// unixLines undoes what git may have done to the ends of lines.
func unixLines(raw []byte) string { return strings.ReplaceAll(string(raw), "\r\n", "\n") }

// outcome is what became of a question.
type outcome struct {
	text  string    // as it is pinned
	ranks []int     // of what answers
	exact []float64 // the figures before they are rounded
	err   error
}

// ask answers a question with a tuning and without the signals named.
func (p *corpus) ask(ctx context.Context, q *question, tuning *search.Tuning, without []string) (o outcome) {
	var targets []search.Target
	r := search.Request{Query: q.query, Mode: q.options["mode"], Intent: q.options["intent"], Detail: q.options["detail"],
		Tuning: tuning, Without: without}
	r.Limit, _ = strconv.Atoi(q.options["limit"])
	_, r.Explain = q.options["explain"]
	_, r.Packed = q.options["packed"]
	r.Budget, _ = strconv.Atoi(q.options["packed"])
	against := map[string]float64{}
	for _, s := range q.stores {
		targets = append(targets, p.stores[s])
		targets[len(targets)-1].Own = s == q.options["own"]
		var parts []kb.Part
		for _, path := range slices.Sorted(maps.Keys(p.ids[s])) {
			if under, ok := q.options["only"]; ok && strings.HasPrefix(path, under) {
				parts = append(parts, kb.Part{Path: path})
			}
			if q.options["not"] == path {
				for _, id := range p.ids[s][path] {
					against[id] = 1
				}
			}
		}
		if _, ok := q.options["only"]; ok {
			r.Only = append(r.Only, parts)
		}
	}
	r.Marks = func(_ kb.StoreID, id string) float64 { return against[id] }
	if _, ok := q.options["passages"]; ok {
		return passages(ctx, targets, p.bench.embedder, r)
	}
	reply, err := search.Run(ctx, targets, p.bench.embedder, r)
	if err != nil {
		return outcome{err: err}
	}
	var b strings.Builder
	o.ranks, o.exact = make([]int, len(q.want)), []float64{reply.Sure}
	for i := range reply.Hits {
		h := &reply.Hits[i]
		right, at := " ", placeOf(h, "")
		for j := range q.want {
			if q.want[j].matches(&at) {
				right = "*"
				if o.ranks[j] == 0 {
					o.ranks[j] = i + 1
				}
			}
		}
		o.exact = append(o.exact, h.Where.Score)
		if i >= 3 && right == " " {
			continue
		}
		fmt.Fprintf(&b, "%s%3d  %.3f  %s", right, i+1, h.Where.Score, h.At)
		if h.Code != "" {
			fmt.Fprintf(&b, "  shows %d-%d", h.Line, h.Line+strings.Count(h.Code, "\n"))
		}
		if r.Detail != "" {
			fmt.Fprintf(&b, ", %d runes, %d imports, %d callers, %d callees, %d related",
				len([]rune(h.Code)), len(h.Imports), len(h.CalledBy), len(h.Calls), len(h.Related))
		}
		if h.Where.Line > 0 {
			fmt.Fprintf(&b, ", quotes %d", h.Where.Line)
		}
		b.WriteByte('\n')
		for _, row := range h.Places {
			fmt.Fprintf(&b, "                + %s\n", row)
		}
	}
	for j, n := range o.ranks {
		if n == 0 {
			fmt.Fprintf(&b, "*  -         %s\n", q.want[j].Path)
		}
	}
	if r.Packed {
		for line := range strings.Lines(reply.Text() + "\n") {
			b.WriteString("       | " + line)
		}
	}
	none := ""
	if slices.ContainsFunc(reply.Notes, func(n string) bool { return strings.HasPrefix(n, "nothing here answers") }) {
		none = ", said to be nothing"
	}
	o.text = fmt.Sprintf("  %s %.3f, %d hits%s\n%s", reply.Confidence, reply.Sure, len(reply.Hits), none, b.String())
	return o
}

// passages asks for what flows that quote get.
func passages(ctx context.Context, targets []search.Target, emb kb.Embedder, r search.Request) (o outcome) {
	list, _, err := search.Passages(ctx, targets, emb, r)
	if err != nil {
		return outcome{err: err}
	}
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintf(&b, "       %.3f  %s:L%d\n", p.Score, p.Path, p.Chunk.Start)
		o.exact = append(o.exact, p.Score)
	}
	o.text = b.String()
	return o
}
