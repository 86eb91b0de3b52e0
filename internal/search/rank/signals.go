package rank

import (
	"math"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// signal is one piece of evidence with its weights: a value in [0,1] that is
// added, or, where demote is set, a factor that is applied when the value is
// 1. weight orders documents, within the chunks of one document.
type signal struct {
	name   string
	weight float64
	within float64
	demote bool
	near   float64 // weight in mode vector; what has one comes from vectors
	value  func(*ranking, *Evidence, *document) float64
}

// signals is the one table of weights. The reason stands beside each, and what
// leaving it out costs in bench/runs. The first ten rankers and signals were
// fitted together by Bench.Fit of internal/search/eval, which holds them near these
// values, and rounded; the others are set by hand. All but the demotions are
// relative to the best candidate, so that they compare.
var signals = []signal{
	// BM25F and cosine of the chunk.
	{"lexical", 0.18, 0.37, false, 0, (*ranking).lexical},
	{"vector", 0.24, 0.1, false, 0.5, (*ranking).vector},
	// The mean of a document's vectors: what it is about on the whole.
	{"mean", 0.24, 0, false, 0.25, (*ranking).mean},
	// What the path says in other words than the query (reply, response.rb).
	{"pathname", 0.12, 0, false, 0.25, (*ranking).pathName},
	// All that speaks for a document by its words, against its length.
	{"total", 0.26, 0, false, 0, (*ranking).total},
	// The file named for the subject holds it: how much of its name the query
	// covers, and that once more for words that are rare here.
	{"stem", 0.16, 0, false, 0, func(_ *ranking, _ *Evidence, d *document) float64 { return d.stem.own }},
	{"rarestem", 0.16, 0, false, 0, func(_ *ranking, _ *Evidence, d *document) float64 { return d.stem.rare }},
	// The definition of a name that the query names.
	{"definition", 0.3, 0.2, false, 0, (*ranking).definition},
	// A declaration as a whole rather than a line of one.
	{"size", 0, 0.14, false, 0, (*ranking).size},
	{"declares", 0, 0.08, false, 0, (*ranking).declares},
	// Names that the chunk defines share words with the query.
	{"names", 0.15, 0.25, false, 0, (*ranking).names},
	// What many others use answers questions about the whole rather than its
	// helpers, and lies high in the tree.
	{"central", 0.18, 0, false, 0, (*ranking).central},
	{"shallow", 0.24, 0, false, 0, (*ranking).shallow},
	// The folder named for the subject.
	{"directory", 0.14, 0, false, 0, func(_ *ranking, _ *Evidence, d *document) float64 { return d.dir.own }},
	// The file that the query is the path of.
	{"path", 1.50, 0, false, 0, func(_ *ranking, _ *Evidence, d *document) float64 { return d.path }},
	// Words of the query together in one chunk; nothing unless the intent asks for it.
	{"coverage", 0, 0, false, 0, (*ranking).coverage},
	// A use that does not define; nothing unless the intent asks for it.
	{"usage", 0, 0, false, 0, (*ranking).usage},
	{"prose", 0, 0, false, 0, (*ranking).isProse},
	{"body", 0, 0, false, 0, (*ranking).body},

	// Tests mention everything and explain nothing, unless asked for.
	{"test", 0.62, 0, true, 0, func(r *ranking, _ *Evidence, d *document) float64 { return flag(!r.tests && d.test) }},
	{"example", 0.75, 0, true, 0, func(_ *ranking, _ *Evidence, d *document) float64 { return flag(d.example) }},
	{"generated", 0.70, 0, true, 0, (*ranking).generated},
	{"reexport", 0.9, 0, true, 0, (*ranking).reexport},
	// Of versions side by side the newest is meant.
	{"superseded", 0.85, 0, true, 0, func(r *ranking, e *Evidence, _ *document) float64 { return flag(r.editions.superseded(r.q, e)) }},
	{"vendored", 0.70, 0, true, 0, func(_ *ranking, _ *Evidence, d *document) float64 { return flag(d.vendored) }},
	// Prose about code is not the code, and files of settings repeat its words;
	// who wants documentation says so by the intent.
	{"aside", 0.65, 0, true, 0, (*ranking).aside},
	// What somebody who asked much the same found to be no answer.
	{"feedback", 0.7, 0, true, 0, func(_ *ranking, e *Evidence, _ *document) float64 { return e.Marked }},
}

// Intents says what an intent changes: factors on the weights above, by
// signal. Demotions are raised to the power of their factor.
var intents = map[string]map[string]float64{
	"":                    {},
	"find-definition":     {"definition": 2.5, "names": 2, "usage": 0},
	"find-implementation": {"definition": 1.2, "usage": 0.3, "body": 1, "central": 0.5, "reexport": 2, "test": 1.5},
	"find-usage":          {"definition": -0.6, "names": -1, "usage": 1, "test": 0.4, "example": 0},
	"find-documentation":  {"prose": 1, "aside": 0, "example": 0.3, "definition": 0.5},
	"find-pattern":        {"coverage": 1, "definition": 0.3, "stem": 0.5, "example": 0},
}

// intentWeights are the weights of signals that only an intent switches on.
var intentWeights = map[string]float64{"usage": 0.45, "prose": 0.6, "body": 0.3, "coverage": 0.3}

// Intents lists the intents that change weights.
func Intents() []string {
	return []string{"find-pattern", "find-implementation", "find-usage", "find-definition", "find-documentation"}
}

// document tells what a candidate's path says, once for all its chunks.
func (r *ranking) document(e *Evidence) *document {
	k := docKey{e.Store, e.Path}
	if d, ok := r.docs[k]; ok {
		return d
	}
	d := &document{path: r.isPath(e.Path), test: IsTest(e.Path), example: within(e.Path, exampleDirs), vendored: within(e.Path, vendorDirs)}
	r.docs[k] = d
	d.stem = r.meet(terms.Words(fileName(e.Path)))
	if dir := path.Dir(e.Path); dir != "." {
		d.dir = r.meet(terms.Words(path.Base(dir)))
		if up := path.Dir(dir); up != "." {
			m := r.meet(terms.Words(path.Base(up)))
			d.dir.own = max(d.dir.own, 0.6*m.own)
		}
	}
	return d
}

func (r *ranking) lexical(e *Evidence, _ *document) float64 {
	if r.topLex == 0 {
		return 0
	}
	return e.Lexical / r.topLex
}

func (r *ranking) vector(e *Evidence, _ *document) float64 {
	if r.topCos <= 0 {
		return 0
	}
	return max(0, e.Cosine/r.topCos)
}

func (r *ranking) mean(e *Evidence, _ *document) float64 {
	if r.topMean <= 0 {
		return 0
	}
	v := max(0, e.Mean/r.topMean)
	if e.Flags&kb.FlagProse != 0 { // a manual is about everything, a section of it about one thing
		v = max(v, r.vector(e, nil))
	}
	return v
}

func (r *ranking) pathName(e *Evidence, _ *document) float64 {
	if r.topPath <= 0 {
		return 0
	}
	return max(0, e.PathCosine/r.topPath)
}

// total is the sum of the scores of a document's chunks over the root of
// their number: neither the longest document wins nor the one with one line.
func (r *ranking) total(e *Evidence, _ *document) float64 {
	if r.topTotal <= 0 {
		return 0
	}
	v := total(e) / r.topTotal
	if e.Flags&kb.FlagProse != 0 { // see mean
		v = max(v, r.lexical(e, nil))
	}
	return v
}

func total(e *Evidence) float64 { return e.Sum / math.Sqrt(float64(max(1, e.Chunks))) }

func (r *ranking) shallow(e *Evidence, _ *document) float64 {
	return 1 / (1 + float64(strings.Count(e.Path, "/")))
}

func (r *ranking) central(e *Evidence, _ *document) float64 {
	return math.Log1p(e.Uses) / math.Log1p(max(1, r.topUses))
}

// isPath is 1 when the query is the document's path or the end of it.
func (r *ranking) isPath(p string) float64 {
	if r.q.Class != Path {
		return 0
	}
	want := strings.ToLower(strings.Trim(strings.TrimSpace(r.q.Text), "/"))
	have := strings.ToLower(p)
	return flag(have == want || strings.HasSuffix(have, "/"+want) || strings.HasPrefix(have, want+"/"))
}

// definition is 1 when the chunk defines a name that the query names, less
// when it is written in other capitals, and a third of that word's share of
// the query for a word that need not be a name.
func (r *ranking) definition(e *Evidence, _ *document) float64 {
	v := 0.0
	for i := range r.q.Words {
		w := &r.q.Words[i]
		if w.Stop || w.Exact < 0 || e.Defines&(1<<w.Exact) == 0 {
			continue
		}
		switch {
		case w.Named && (w.Cased < 0 || e.Defines&(1<<w.Cased) != 0):
			return 1
		case w.Named:
			v = max(v, otherCapitals)
		case r.sum > 0:
			v = max(v, 0.33*w.idf/r.sum)
		}
	}
	return v
}

// otherCapitals is what the definition of session is for the query Session.
const otherCapitals = 0.5

func (r *ranking) names(e *Evidence, _ *document) float64 { return r.q.Coverage(e.Defines) }

func (r *ranking) coverage(e *Evidence, _ *document) float64 { return r.q.Coverage(e.Matched) }

// size is the share of a screen that a chunk fills.
func (r *ranking) size(e *Evidence, _ *document) float64 {
	return min(1, float64(e.End-e.Start+1)/40)
}

func (r *ranking) declares(e *Evidence, _ *document) float64 { return flag(e.Defines != 0) }

// usage is 1 when the chunk mentions a named word that it does not define.
func (r *ranking) usage(e *Evidence, d *document) float64 {
	switch {
	case e.Refers:
		return 1
	case e.Declares:
		return 0
	case r.resolved:
		return 0.5 * r.mentions(e, d) // what could not be resolved may still be one
	}
	return r.mentions(e, d)
}

// mentions is 1 when the chunk holds a named word that it does not define.
func (r *ranking) mentions(e *Evidence, _ *document) float64 {
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

func (r *ranking) isProse(e *Evidence, _ *document) float64 { return flag(e.Flags&kb.FlagProse != 0) }

func (r *ranking) generated(e *Evidence, _ *document) float64 {
	return flag(e.Flags&kb.FlagGenerated != 0)
}

func (r *ranking) reexport(e *Evidence, _ *document) float64 {
	return flag(e.Flags&kb.FlagReexports != 0)
}

// body tells code that does from lines that declare: it has several lines and
// is not prose.
func (r *ranking) body(e *Evidence, _ *document) float64 {
	return flag(e.Flags&kb.FlagProse == 0 && e.End-e.Start >= 5)
}

// aside is 1 for prose and settings beside code, unless the query asks for
// prose or names the file. Where most of what is found is prose, prose is what
// there is to find.
func (r *ranking) aside(e *Evidence, _ *document) float64 {
	if r.prose || r.q.Class == Path || !beside(e) {
		return 0
	}
	return max(0, min(1, (r.code-fewCode)/(mostCode-fewCode)))
}

// fewCode and mostCode are the shares of code among the candidates between
// which prose comes to be taken for something beside the code.
const fewCode, mostCode = 0.3, 0.7

func beside(e *Evidence) bool {
	return e.Flags&kb.FlagProse != 0 || slices.Contains(settings, e.Language)
}

// settings are the languages of files that set things up.
var settings = []string{"yaml", "json", "toml", "ini", "xml", "gomod", "text", "csv"}

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
