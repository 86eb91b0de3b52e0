package rank

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/terms"
)

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
	{"stem", 0.55, false, (*ranking).stem},
	{"directory", 0.20, false, (*ranking).directory},
	// The file that the query is the path of.
	{"path", 1.50, false, (*ranking).path},
	// The definition of a name that the query names [0.007].
	{"definition", 0.55, false, (*ranking).definition},
	// Names that the chunk defines share words with the query [0.003].
	{"names", 0.30, false, (*ranking).names},
	// Words of the query together in one chunk beat one word often.
	{"coverage", 0.15, false, (*ranking).coverage},
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
	// Prose about code is not the code, and files of settings repeat its words;
	// who wants documentation says so by the intent.
	{"aside", 0.65, true, (*ranking).aside},
}

// fusion is how much the rankers weigh; each is relative to its best. The
// vectors are of hashed character trigrams and untrained, but they see the
// word families that stems keep apart (quantize, quantization). These and the
// weights above were set in one coarse step each on 13 repositories (259
// queries) of the development half of the public benchmark: NDCG@10 0.861
// together, 0.830 with the fusion at 0.80 and 0.20, the field weights at 2.5
// and 1 and the signals about the name of file and symbol a third lower.
const (
	lexicalWeight = 0.65
	vectorWeight  = 0.35
)

// Intents says what an intent changes: factors on the weights above, by
// signal. Demotions are raised to the power of their factor.
var intents = map[string]map[string]float64{
	"":                    {},
	"find-definition":     {"definition": 2.5, "names": 2, "usage": 0},
	"find-implementation": {"definition": 1.5, "body": 1, "reexport": 2, "test": 1.5},
	"find-usage":          {"definition": -0.6, "names": -1, "usage": 1, "test": 0.4, "example": 0},
	"find-documentation":  {"prose": 1, "aside": 0, "example": 0.3, "definition": 0.5},
	"find-pattern":        {"coverage": 2, "definition": 0.3, "stem": 0.5, "example": 0, "second": 0},
}

// intentWeights are the weights of signals that only an intent switches on.
var intentWeights = map[string]float64{"usage": 0.45, "prose": 0.6, "body": 0.3}

// Intents lists the intents that change weights.
func Intents() []string {
	return []string{"find-pattern", "find-implementation", "find-usage", "find-definition", "find-documentation"}
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

func (r *ranking) names(e *Evidence) float64 { return r.q.Coverage(e.Defines) }

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

func (r *ranking) prose(e *Evidence) float64 { return flag(e.Flags&kb.FlagProse != 0) }

func (r *ranking) generated(e *Evidence) float64 { return flag(e.Flags&kb.FlagGenerated != 0) }

func (r *ranking) reexport(e *Evidence) float64 { return flag(e.Flags&kb.FlagReexports != 0) }

// body tells code that does from lines that declare: it has several lines and
// is not prose.
func (r *ranking) body(e *Evidence) float64 {
	return flag(e.Flags&kb.FlagProse == 0 && e.End-e.Start >= 5)
}

// aside is 1 for prose and settings beside code, unless the query asks for
// prose or names the file.
func (r *ranking) aside(e *Evidence) float64 {
	if r.docs || !r.code || r.q.Class == Path {
		return 0
	}
	return flag(e.Flags&kb.FlagProse != 0 || slices.Contains(settings, e.Language))
}

// settings are the languages of files that set things up.
var settings = []string{"yaml", "json", "toml", "ini", "xml", "gomod", "text", "csv"}

func (r *ranking) test(e *Evidence) float64 { return flag(!r.tests && IsTest(e.Path)) }

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
