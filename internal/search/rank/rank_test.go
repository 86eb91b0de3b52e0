package rank

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestParseClass(t *testing.T) {
	tests := map[string]Class{
		"parseHTTPHeader":             Symbol,
		"Foo::bar":                    Symbol,
		"max_retries":                 Symbol,
		"sort.Slice":                  Symbol,
		"Serve()":                     Symbol,
		"session":                     Symbol,
		`"unexpected end of input"`:   Phrase,
		"net/http/server.go":          Path,
		"server.go":                   Path,
		"how are headers parsed":      Natural,
		"retry and/or backoff":        Natural,
		"cómo se publica un segmento": Natural,
		"panic: runtime error: index out of range [5]": Failure,
	}
	for text, want := range tests {
		if got := Parse(text).Class; got != want {
			t.Errorf("Parse(%q).Class = %s, want %s", text, got, want)
		}
	}
}

// words shows how the words of a query are taken: in brackets what is passed
// over, with a star what looks like a name.
func words(q *Query) string {
	var out []string
	for _, w := range q.Words {
		switch {
		case w.Stop:
			out = append(out, "["+w.Text+"]")
		case w.Named:
			out = append(out, w.Text+"*")
		default:
			out = append(out, w.Text)
		}
	}
	return strings.Join(out, " ")
}

func TestParseWords(t *testing.T) {
	tests := map[string]string{
		"how does the server parse headers": "[how] [does] [the] server parse headers",
		"how":                               "how*", // all there is
		"where is parseHeader used":         "[where] [is] parseHeader* [used]",
		"call `run` and wait()":             "call run* [and] wait*",
		"sort.Slice":                        "sort Slice*",
		"what does http.Server.Serve do":    "[what] [does] http Server Serve* [do]",
		"dónde está la configuración":       "[dónde] [está] [la] configuración*", // the only one that tells
		"what does Router do":               "[what] [does] Router* [do]",
		"utf8 decoding":                     "utf8* decoding",
		"max_retries default":               "max_retries* default",
	}
	for text, want := range tests {
		if got := words(Parse(text)); got != want {
			t.Errorf("Parse(%q): %s, want %s", text, got, want)
		}
	}
}

func TestParseBoundsTerms(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "word%cx%dy ", 'a'+i%26, i)
	}
	if n := len(Parse(b.String()).Terms); n != 64 {
		t.Errorf("%d terms", n)
	}
}

// corpus is a query over candidates described by what they hold.
type corpus struct {
	q     *Query
	cands []Evidence
}

func newCorpus(query string) *corpus {
	c := &corpus{q: Parse(query)}
	n := len(c.q.Terms)
	st := kb.TermStats{Documents: 100, Chunks: 1000, Frequency: make([]int64, n), PathFrequency: make([]int64, n)}
	for i := range st.Frequency {
		st.Frequency[i] = 10
	}
	c.q.Weigh(st)
	return c
}

func (c *corpus) bits(terms string) (b uint64) {
	for _, t := range strings.Fields(terms) {
		for i, have := range c.q.Terms {
			if have == t {
				b |= 1 << i
			}
		}
	}
	return b
}

// add adds a candidate that holds the terms, defines some, and has a BM25F score.
func (c *corpus) add(path string, lexical float64, matched, defines string, flags kb.DocFlags) {
	m := c.bits(matched)
	c.cands = append(c.cands, Evidence{Candidate: kb.Candidate{
		Place: kb.Place{Path: path}, ID: fmt.Sprintf("%08daaa", len(c.cands)), Start: 1, End: 20,
		Lexical: lexical, Matched: m, Defines: c.bits(defines), DocMatched: m, Flags: flags,
	}})
}

func (c *corpus) order(o Options) string {
	if o.Limit == 0 {
		o.Limit = 10
	}
	hits, _ := Rank(c.q, c.cands, o)
	var out []string
	for _, h := range hits {
		out = append(out, h.Path)
	}
	return strings.Join(out, " ")
}

func TestIntentsChangeTheOrder(t *testing.T) {
	c := newCorpus("Serve")
	c.add("doc.md", 8, "serv", "", kb.FlagProse)
	c.add("use.go", 9, "serv", "", 0)
	c.add("def.go", 7, "serv =serve", "serv =serve", 0)
	c.add("use_test.go", 9, "serv", "", 0)
	for intent, first := range map[string]string{
		"":                    "def.go",
		"find-definition":     "def.go",
		"find-implementation": "def.go",
		"find-usage":          "use.go",
		"find-documentation":  "doc.md",
	} {
		if got, _, _ := strings.Cut(c.order(Options{Intent: intent}), " "); got != first {
			t.Errorf("intent %q puts %s first, want %s (%s)", intent, got, first, c.order(Options{Intent: intent}))
		}
	}
}

func TestTheFileNamedForTheSubjectWins(t *testing.T) {
	c := newCorpus("how are headers parsed")
	c.add("misc/util.go", 9, "header pars", "", 0)
	c.add("http/header.go", 8, "header pars", "", 0)
	if got := c.order(Options{}); got != "http/header.go misc/util.go" {
		t.Error(got)
	}
}

func TestTestsStepBackUnlessAskedFor(t *testing.T) {
	c := newCorpus("parse headers")
	c.add("a/x_test.go", 9, "pars header", "", 0)
	c.add("a/y.go", 7, "pars header", "", 0)
	if got := c.order(Options{}); got != "a/y.go a/x_test.go" {
		t.Error(got)
	}
	c = newCorpus("test parse headers")
	c.add("a/x_test.go", 9, "test pars header", "", 0)
	c.add("a/y.go", 7, "pars header", "", 0)
	if got := c.order(Options{}); got != "a/x_test.go a/y.go" {
		t.Error(got)
	}
}

// TestTheOneWordStandsSomewhere: what has a name that is all of the query comes
// before what has parts of it, in tests too.
func TestTheOneWordStandsSomewhere(t *testing.T) {
	c := newCorpus("parseHeadersOnce")
	c.add("a/x_test.go", 4, strings.Join(c.q.Terms, " "), "", 0)
	c.add("parse.go", 9, "pars header", "", 0)
	c.add("header.go", 8, "pars header", "", 0)
	if got := c.order(Options{}); !strings.HasPrefix(got, "a/x_test.go ") {
		t.Errorf("%s; terms %q", got, c.q.Terms)
	}
	for query, first := range map[string]string{
		"where is parseHeadersOnce used":      "a/x_test.go", // one name tells
		"how do headers use parseHeadersOnce": "parse.go",    // of two words each is evidence
		"how is it parsed":                    "parse.go",    // a plain word has others beside it
	} {
		c := newCorpus(query)
		c.add("a/x_test.go", 4, "pars header onc parseheadersonce", "", 0)
		c.add("parse.go", 9, "pars header", "", 0)
		if got := c.order(Options{}); !strings.HasPrefix(got, first) {
			t.Errorf("%s: %s", query, got)
		}
	}
}

func TestFurtherChunksComeAfterOtherDocuments(t *testing.T) {
	c := newCorpus("parse headers")
	c.add("a.go", 9, "pars header", "", 0)
	c.add("a.go", 8.9, "pars header", "", 0)
	c.add("a.go", 8.8, "pars header", "", 0)
	c.add("a.go", 8.7, "pars header", "", 0) // one too many
	c.add("b.go", 8, "pars header", "", 0)
	c.add("c.go", 1, "header", "", 0) // far worse
	if got := c.order(Options{}); got != "a.go b.go a.go c.go a.go" {
		t.Error(got)
	}
	if got := c.order(Options{Intent: "find-pattern"}); got != "a.go b.go c.go" {
		t.Error("find-pattern wants several files:", got)
	}
}

// What speaks for a document need not be the lines that answer.
func TestChunkThatAnswersIsShown(t *testing.T) {
	c := newCorpus("parse headers")
	c.add("a.go", 5, "pars header", "", 0)
	c.add("a.go", 9, "pars header", "pars header", 0)
	c.cands[0].Cosine, c.cands[1].Cosine = 0.9, 0.5
	hits, _ := Rank(c.q, c.cands, Options{Limit: 10})
	if hits[0].ID != c.cands[1].ID {
		t.Error("shown is", hits[0].ID)
	}
}

func TestCopiesInOtherStoresAreFolded(t *testing.T) {
	c := newCorpus("parse headers")
	c.add("a.go", 9, "pars header", "", 0)
	c.add("a.go", 9, "pars header", "", 0)
	c.cands[1].Store = 1
	c.add("b.go", 5, "pars", "", 0)
	hits, _ := Rank(c.q, c.cands, Options{Limit: 10})
	if len(hits) != 2 || !cmp.Equal(hits[0].Also, []int{1}) {
		t.Errorf("got %+v", hits)
	}
}

func TestScoresSayWhetherAnythingAnswers(t *testing.T) {
	good := newCorpus("parse http headers")
	good.add("a.go", 9, "pars http header", "", 0)
	good.add("b.go", 3, "http", "", 0)
	poor := newCorpus("quantum lattice gauge headers")
	poor.add("a.go", 9, "header", "", 0)
	for i := range poor.q.Words { // what it asks about is nowhere
		w := &poor.q.Words[i]
		w.absent = w.Text != "headers"
	}
	g, gc := Rank(good.q, good.cands, Options{Limit: 10})
	p, pc := Rank(poor.q, poor.cands, Options{Limit: 10})
	if fitted.Confidence(gc.P) != "high" || fitted.Confidence(pc.P) != "low" {
		t.Errorf("confidence %.2f and %.2f", gc.P, pc.P)
	}
	if !(g[0].Score > 0.9 && g[1].Score < g[0].Score && p[0].Score < 0.4) {
		t.Errorf("scores %.2f %.2f against %.2f", g[0].Score, g[1].Score, p[0].Score)
	}
}

func TestExplainAddsUp(t *testing.T) {
	c := newCorpus("parse headers")
	c.add("x/header.go", 9, "pars header", "header", 0)
	c.add("x/header_test.go", 9, "pars header", "header", 0)
	c.add("x/header.go", 3, "header", "", 0)
	c.add("docs/headers.md", 5, "pars header", "", kb.FlagProse)
	c.add("docs/parse.md", 7, "pars header", "", kb.FlagProse)
	hits, _ := Rank(c.q, c.cands, Options{Limit: 10, Explain: true})
	for _, h := range hits {
		sum, factor := 0.0, 1.0
		for name, v := range h.Parts {
			if v < 0 && name != Rest {
				factor *= 1 + v
			} else if name != Rest {
				sum += v
			}
		}
		if got := sum*factor + h.Parts[Rest]; math.Abs(got-h.raw) > 0.006 {
			t.Errorf("%s: parts %v give %.3f, not %.3f", h.Path, h.Parts, got, h.raw)
		}
	}
}

func TestPathQueryFindsThePath(t *testing.T) {
	c := newCorpus("net/http/server.go")
	c.add("net/http/httptest/server.go", 9, "net http server", "", 0)
	c.add("src/net/http/server.go", 7, "net http server", "", 0)
	if got, _, _ := strings.Cut(c.order(Options{}), " "); got != "src/net/http/server.go" {
		t.Error(got)
	}
}

func TestIsTest(t *testing.T) {
	for p, want := range map[string]bool{
		"a/b_test.go": true, "test_x.py": true, "src/x.test.ts": true, "x.spec.js": true, "tests/a.rs": true,
		"FooTest.java": true, "conftest.py": true, "latest.go": false, "contest.py": false, "src/testing.go": false, "attestation/a.go": false,
		"spec/models/order.rb": true, "spec/Cart.js": true, "internal/specs/search.go": false, "specs/order.md": false,
	} {
		if IsTest(p) != want {
			t.Errorf("IsTest(%q) = %v", p, !want)
		}
	}
}
