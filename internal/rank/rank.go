package rank

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/terms"
)

// BM25F is how the fields are weighed against each other. A name that a chunk
// defines says more than a name it mentions, and what encloses it about half
// as much; path terms are weighed by signals as well.
var BM25F = kb.BM25F{
	K1:     1.2,
	Weight: [kb.Fields]float64{kb.FieldBody: 1, kb.FieldSymbols: 2.5, kb.FieldHeadings: 1.2, kb.FieldPath: 1.0},
	B:      [kb.Fields]float64{kb.FieldBody: 0.7, kb.FieldSymbols: 0.4, kb.FieldHeadings: 0.3, kb.FieldPath: 0.5},
}

// Evidence is a candidate with where it comes from.
type Evidence struct {
	kb.Candidate
	Store int // index of the store asked
}

// Scored is a candidate with its score.
type Scored struct {
	Evidence
	Also  []int              // further stores that hold the same text at the same path
	Score float64            // calibrated, in [0,1]
	Parts map[string]float64 // contribution of each signal to the order
	raw   float64
}

// signal is one piece of evidence with its weight: a value in [0,1] that is
// added to the fused score, or, where demote is set, a factor that is applied
// when the value is 1.
type signal struct {
	name   string
	weight float64
	demote bool
	value  func(*ranking, *Evidence) float64
}

// signals is the one table of weights. The reason stands beside each; the
// figures in brackets are what leaving the signal out cost a prototype on
// held-out repositories (NDCG@10).
var signals = []signal{
	// The file named for the subject holds it [0.016].
	{"stem", 0.40, false, (*ranking).stem},
	{"directory", 0.12, false, (*ranking).directory},
	// The file that the query is the path of.
	{"path", 1.50, false, (*ranking).path},
	// The definition of a name that the query names [0.007].
	{"definition", 0.55, false, (*ranking).definition},
	// Names that the chunk defines share words with the query [0.003].
	{"names", 0.18, false, (*ranking).names},
	// Words of the query together in one chunk beat one word often.
	{"coverage", 0.30, false, (*ranking).coverage},
	// A second strong chunk: the file is about the subject [0.004].
	{"second", 0.10, false, (*ranking).second},
	{"document", 0.15, false, (*ranking).document},

	// A use that does not define; nothing unless the intent asks for it.
	{"usage", 0, false, (*ranking).usage},
	{"prose", 0, false, (*ranking).prose},
	{"body", 0, false, (*ranking).body},

	// Tests mention everything and explain nothing, unless asked for.
	{"test", 0.62, true, (*ranking).test},
	{"example", 0.75, true, (*ranking).example},
	{"generated", 0.70, true, (*ranking).generated},
	{"reexport", 0.75, true, (*ranking).reexport},
	{"vendored", 0.70, true, (*ranking).vendored},
	// Prose about code is not the code, when the query is a name.
	{"proseForName", 0.80, true, (*ranking).proseForName},
}

// fusion is how much the rankers weigh; each is relative to its best. The
// vectors are untrained and know little that words do not, so they mostly
// break ties and catch misspellings.
const (
	lexicalWeight = 0.80
	vectorWeight  = 0.20
)

// Intents says what an intent changes: factors on the weights above, by
// signal. Demotions are raised to the power of their factor.
var intents = map[string]map[string]float64{
	"":                    {},
	"find-definition":     {"definition": 2.5, "names": 2, "usage": 0},
	"find-implementation": {"definition": 1.5, "body": 1, "reexport": 2, "test": 1.5},
	"find-usage":          {"definition": -0.6, "names": -1, "usage": 1, "test": 0.4, "example": 0},
	"find-documentation":  {"prose": 1, "proseForName": 0, "example": 0.3, "definition": 0.5},
	"find-pattern":        {"coverage": 2, "definition": 0.3, "stem": 0.5, "example": 0, "second": 0},
}

// intentWeights are the weights of signals that only an intent switches on.
var intentWeights = map[string]float64{"usage": 0.45, "prose": 0.6, "body": 0.3}

// Intents lists the intents that change weights.
func Intents() []string {
	return []string{"find-pattern", "find-implementation", "find-usage", "find-definition", "find-documentation"}
}

// Modes are which rankers count.
const (
	Hybrid = "hybrid"
	Vector = "vector"
	FTS    = "fts"
)

// Options say what a ranking is for.
type Options struct {
	Mode    string // Hybrid when empty
	Intent  string
	Limit   int
	Explain bool
}

// leastCosine is how near a chunk that shares no word with the query must be.
const leastCosine = 0.3

type ranking struct {
	q      *Query
	o      Options
	topLex float64
	topCos float64
	named  bool
	tests  bool // the query asks for tests
	stems  map[string][]string
}

// Rank orders candidates of all stores, keeps one a document unless a second
// is clearly as good, and calibrates. The confidence is in [0,1].
func Rank(q *Query, cands []Evidence, o Options) (hits []Scored, confidence float64) {
	if len(cands) == 0 {
		return nil, 0
	}
	// The nearest vectors of a store in which nothing is near are noise.
	if o.Mode != Vector {
		cands = slices.DeleteFunc(slices.Clone(cands), func(e Evidence) bool {
			return q.Coverage(e.Matched) == 0 && e.Cosine < leastCosine
		})
		if len(cands) == 0 {
			return nil, 0
		}
	}
	r := &ranking{q: q, o: o, stems: map[string][]string{}}
	for i := range q.Words {
		w := &q.Words[i]
		r.named = r.named || w.Named
		switch strings.ToLower(w.Text) {
		case "test", "tests", "testing", "benchmark", "fuzz", "spec", "prueba", "pruebas":
			r.tests = true
		}
	}
	for i := range cands {
		r.topLex = max(r.topLex, cands[i].Lexical)
		r.topCos = max(r.topCos, cands[i].Cosine)
	}
	list := make([]Scored, len(cands))
	for i := range cands {
		list[i] = r.score(&cands[i])
	}
	slices.SortFunc(list, func(a, b Scored) int {
		if c := cmp.Compare(b.raw, a.raw); c != 0 {
			return c
		}
		if c := cmp.Compare(a.ID, b.ID); c != 0 {
			return c
		}
		if c := cmp.Compare(a.Store, b.Store); c != 0 {
			return c
		}
		return cmp.Compare(a.Path, b.Path)
	})
	hits = r.onePerDocument(list)
	confidence = r.confidence(hits)
	top := hits[0].raw
	for i := range hits {
		h := &hits[i]
		if top > 0 {
			h.Score = math.Max(0, math.Min(1, confidence*h.raw/top))
		}
	}
	return hits, confidence
}

func (r *ranking) score(e *Evidence) Scored {
	s := Scored{Evidence: *e}
	note := func(string, float64) {}
	if r.o.Explain {
		s.Parts = map[string]float64{}
		note = func(name string, v float64) {
			if v != 0 {
				s.Parts[name] = math.Round(v*1000) / 1000
			}
		}
	}
	lex, vec := 0.0, 0.0
	if r.topLex > 0 {
		lex = e.Lexical / r.topLex
	}
	if r.topCos > 0 {
		vec = max(0, e.Cosine/r.topCos)
	}
	switch r.o.Mode {
	case Vector:
		// Nothing but the cosine: the mode is for judging the vectors.
		s.raw = vec
		note("vector", vec)
		return s
	case FTS:
		s.raw = lex
		note("lexical", lex)
	default:
		s.raw = lexicalWeight*lex + vectorWeight*vec
		note("lexical", lexicalWeight*lex)
		note("vector", vectorWeight*vec)
	}
	factors := intents[r.o.Intent]
	for _, sg := range signals {
		v := sg.value(r, e)
		if v == 0 {
			continue
		}
		f, ok := factors[sg.name]
		if sg.demote {
			k := sg.weight
			if ok {
				k = math.Pow(k, f)
			}
			s.raw *= k
			note(sg.name, k-1)
			continue
		}
		w := sg.weight
		switch only, special := intentWeights[sg.name]; {
		case special && ok:
			w = only * f
		case ok:
			w *= f
		}
		s.raw += w * v
		note(sg.name, w*v)
	}
	return s
}

// closeSecond is how near a second chunk of a document must come to the
// first to be shown as well.
const closeSecond = 0.92

func (r *ranking) onePerDocument(list []Scored) []Scored {
	type doc struct {
		store int
		path  string
	}
	best := map[doc]float64{}
	count := map[doc]int{}
	shown := map[string]int{} // index in out, by path, lines and the text's part of the id
	out := make([]Scored, 0, min(len(list), r.o.Limit))
	for _, s := range list {
		copyOf := fmt.Sprintf("%s:%d:%s", s.Path, s.Start, s.ID[max(0, len(s.ID)-3):])
		if i, ok := shown[copyOf]; ok && out[i].Store != s.Store {
			out[i].Also = append(out[i].Also, s.Store)
			continue
		}
		if len(out) == r.o.Limit {
			continue // only copies of what is shown are still of interest
		}
		d := doc{s.Store, s.Path}
		if n := count[d]; n > 0 {
			if n > 1 || r.o.Intent == "find-pattern" || s.raw < closeSecond*best[d] || s.raw <= 0 {
				continue
			}
		} else {
			best[d] = s.raw
		}
		count[d]++
		shown[copyOf] = len(out)
		out = append(out, s)
	}
	return out
}

// confidence is how much of the query the best hits answer at all, whatever
// the others score: the share of its words, by weight, that stand together in
// one chunk and, for less, in its document. By vectors alone it is where the
// cosine lies between that of unrelated texts and of near copies.
func (r *ranking) confidence(hits []Scored) float64 {
	c := 0.0
	for _, h := range hits[:min(3, len(hits))] {
		if r.o.Mode == Vector {
			c = max(c, (h.Cosine-0.15)/0.6)
			continue
		}
		c = max(c, 0.75*r.q.Coverage(h.Matched)+0.25*r.q.Coverage(h.DocMatched))
	}
	return max(0, min(1, c))
}

// Confidence names a confidence.
func Confidence(c float64) string {
	switch {
	case c >= 0.7:
		return "high"
	case c >= 0.45:
		return "medium"
	case c >= 0.15:
		return "low"
	}
	return "none"
}

// stem is the share of the file's name that the query covers.
func (r *ranking) stem(e *Evidence) float64 {
	base := path.Base(e.Path)
	if i := strings.IndexByte(base[1:], '.'); i >= 0 {
		base = base[:i+1]
	}
	// A file named for nothing is named by its directory.
	switch strings.ToLower(base) {
	case "index", "main", "mod", "lib", "__init__", "init", "doc", "readme":
		base = path.Base(path.Dir(e.Path))
	}
	return r.covered(base)
}

// path is 1 when the query is the document's path or the end of it.
func (r *ranking) path(e *Evidence) float64 {
	if r.q.Class != Path {
		return 0
	}
	want := strings.ToLower(strings.Trim(strings.TrimSpace(r.q.Text), "/"))
	have := strings.ToLower(e.Path)
	return flag(have == want || strings.HasSuffix(have, "/"+want) || strings.HasPrefix(have, want+"/"))
}

// directory is the same for the last two directories.
func (r *ranking) directory(e *Evidence) float64 {
	d := path.Dir(e.Path)
	if d == "." {
		return 0
	}
	v := r.covered(path.Base(d))
	if up := path.Dir(d); up != "." {
		v = max(v, 0.6*r.covered(path.Base(up)))
	}
	return v
}

// covered is the share of a name's words that are words of the query, each
// counting as the query weighs it against its weightiest.
func (r *ranking) covered(name string) float64 {
	words, ok := r.stems[name]
	if !ok {
		words = terms.Words(name)
		r.stems[name] = words
	}
	if len(words) == 0 {
		return 0
	}
	most := 0.0
	for i := range r.q.Words {
		if !r.q.Words[i].Stop {
			most = max(most, r.q.Words[i].idf)
		}
	}
	if most == 0 {
		return 0
	}
	sum := 0.0
	for _, w := range words {
		sum += min(1, r.q.TermIDF(w)/most)
	}
	return sum / float64(len(words))
}

// definition is 1 when the chunk defines a name that the query names, and a
// third of that word's share of the query for a word that need not be one.
func (r *ranking) definition(e *Evidence) float64 {
	v, sum := 0.0, 0.0
	for i := range r.q.Words {
		if w := &r.q.Words[i]; !w.Stop {
			sum += w.idf
		}
	}
	for i := range r.q.Words {
		w := &r.q.Words[i]
		if w.Exact < 0 || e.Defines&(1<<w.Exact) == 0 {
			continue
		}
		if w.Named {
			return 1
		}
		if sum > 0 {
			v = max(v, 0.33*w.idf/sum)
		}
	}
	return v
}

func (r *ranking) names(e *Evidence) float64    { return r.q.Coverage(e.Defines) }
func (r *ranking) coverage(e *Evidence) float64 { return r.q.Coverage(e.Matched) }
func (r *ranking) document(e *Evidence) float64 { return r.q.Coverage(e.DocMatched) }

func (r *ranking) second(e *Evidence) float64 {
	if r.topLex == 0 {
		return 0
	}
	return min(1, e.Second/r.topLex)
}

// usage is 1 when the chunk mentions a named word that it does not define.
func (r *ranking) usage(e *Evidence) float64 {
	for i := range r.q.Words {
		w := &r.q.Words[i]
		if w.Stop || !w.Named && len(r.q.Words) > 1 && r.named {
			continue
		}
		if w.Exact >= 0 && e.Defines&(1<<w.Exact) != 0 {
			return 0
		}
		if w.Whole >= 0 && e.Matched&(1<<w.Whole) != 0 && e.Flags&kb.FlagProse == 0 {
			return 1
		}
	}
	return 0
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (r *ranking) prose(e *Evidence) float64     { return flag(e.Flags&kb.FlagProse != 0) }
func (r *ranking) generated(e *Evidence) float64 { return flag(e.Flags&kb.FlagGenerated != 0) }
func (r *ranking) reexport(e *Evidence) float64  { return flag(e.Flags&kb.FlagReexports != 0) }

// body tells code that does from lines that declare: it has several lines and
// is not prose.
func (r *ranking) body(e *Evidence) float64 {
	return flag(e.Flags&kb.FlagProse == 0 && e.End-e.Start >= 5)
}

func (r *ranking) proseForName(e *Evidence) float64 {
	return flag(r.q.Class == Symbol && e.Flags&kb.FlagProse != 0)
}

func (r *ranking) test(e *Evidence) float64    { return flag(!r.tests && IsTest(e.Path)) }
func (r *ranking) example(e *Evidence) float64 { return flag(within(e.Path, exampleDirs)) }
func (r *ranking) vendored(e *Evidence) float64 {
	return flag(within(e.Path, vendorDirs))
}

var (
	testDirs    = []string{"test", "tests", "testing", "testdata", "__tests__", "spec", "specs", "fixtures", "mocks", "__mocks__", "e2e"}
	exampleDirs = []string{"example", "examples", "_examples", "demo", "demos", "sample", "samples", "bench", "benchmarks", "benches"}
	vendorDirs  = []string{"vendor", "third_party", "node_modules", "deps", "external"}
)

func within(p string, dirs []string) bool {
	for {
		i := strings.IndexByte(p, '/')
		if i < 0 {
			return false
		}
		if slices.Contains(dirs, strings.ToLower(p[:i])) {
			return true
		}
		p = p[i+1:]
	}
}

// IsTest reports whether a path is that of a test by the customs of its language.
func IsTest(p string) bool {
	base := path.Base(p)
	stem := base
	if i := strings.IndexByte(base, '.'); i > 0 {
		stem = base[:i]
	}
	return strings.HasSuffix(stem, "_test") || strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_spec") ||
		strings.Contains(base, ".test.") || strings.Contains(base, ".spec.") || stem == "conftest" ||
		strings.HasSuffix(stem, "Test") || strings.HasSuffix(stem, "Tests") || within(p, testDirs)
}
