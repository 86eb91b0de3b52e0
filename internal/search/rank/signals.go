package rank

import (
	"math"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// Signal is one piece of evidence: a value in [0,1] that is added with a weight
// or, where Factor is set, a demotion, which multiplies by Factor^value. The
// values of sections are relative to the best of them.
type Signal struct {
	Name     string
	Document float64 // weight in the order of documents
	Chunk    float64 // weight in the order of one document's chunks
	Section  float64 // weight in the order of sections of prose; they sum to 1
	Vector   float64 // weight in mode vector; a signal that has one comes from vectors
	Factor   float64
	// Apart is what the weight of documents is multiplied by where no chunk has a
	// word of the question, and less so where one has some; 0 for 1.
	Apart float64
	// Intents are what the weights are multiplied by under an intent, or to which
	// power a Factor is raised; 1 where it lists none. A signal that is Asked
	// counts under the intents that it lists alone.
	Intents map[string]float64
	Asked   bool

	value   func(*ranking, *Evidence, *document) float64
	section func(*ranking, *Evidence, *document) float64 // of a section, where that is another
	chunk   func(*ranking, *Evidence) float64            // among the chunks of one document, where that is another
}

// among is the value of a signal among the chunks of one document.
func (s *Signal) among(r *ranking, e *Evidence, value float64) float64 {
	if s.chunk == nil {
		return value
	}
	return s.chunk(r, e)
}

// signals is the one table of weights. The reason is beside each, and what
// leaving it out costs in bench/runs. Bench.Fit of internal/search/eval fitted
// the weights of documents together and holds them near these values, rounded;
// the others are set by hand, but those of sections: they were fitted to the
// questions of bench/sections, where leaving out a project at a time gives the
// same, and rounded. All but the demotions are relative to the best candidate,
// so that they compare.
var signals = []Signal{
	// BM25F and cosine of the chunk.
	{Name: "lexical", Apart: 0.3, Document: 0.18, Chunk: 0.37, Section: 0.11, value: (*ranking).lexical, chunk: (*ranking).saysSo},
	{Name: "vector", Apart: 2.5, Document: 0.24, Chunk: 0.1, Section: 0.25, Vector: 0.5, value: (*ranking).vector},
	// The mean of a document's vectors: what it is about on the whole.
	{Name: "mean", Apart: 2.5, Document: 0.24, Section: 0.07, Vector: 0.25, value: (*ranking).mean, section: pageMean},
	// What the path says in other words than the query (reply, response.rb).
	{Name: "pathname", Apart: 2.5, Document: 0.12, Vector: 0.25, value: (*ranking).pathName},
	// All that speaks for a document by its words, against its length.
	{Name: "total", Apart: 0.3, Document: 0.26, value: (*ranking).total},
	// The file named for the subject holds it: how much of its name the query
	// covers, and that once more for words that are rare here.
	{Name: "stem", Document: 0.16, value: stemName, Intents: map[string]float64{Pattern: 0.5}},
	{Name: "rarestem", Document: 0.16, value: rareName},
	// The definition of a name that the query names.
	{Name: "definition", Document: 0.3, Chunk: 0.2, value: (*ranking).definition, Intents: map[string]float64{
		Definition: 2.5, Implementation: 1.2, Usage: -0.6, Documentation: 0.5, Pattern: 0.3}},
	// A declaration as a whole rather than a line of one.
	{Name: "size", Chunk: 0.14, value: (*ranking).size},
	{Name: "declares", Chunk: 0.08, value: (*ranking).declares},
	// Names that are defined share words with the query: those of one chunk of the document, and the chunk's own.
	{Name: "names", Document: 0.15, Chunk: 0.25, value: namesOf, chunk: (*ranking).names, Intents: map[string]float64{
		Definition: 2, Usage: -1}},
	// What many others use answers questions about the whole rather than its
	// helpers, and lies high in the tree.
	{Name: "central", Document: 0.18, value: (*ranking).central, Intents: map[string]float64{Implementation: 0.5}},
	{Name: "shallow", Document: 0.24, value: (*ranking).shallow},
	// The folder named for the subject.
	{Name: "directory", Document: 0.14, value: folderName},
	// The file that the query is the path of.
	{Name: "path", Document: 1.50, value: isPath},
	// The place that the query names: the innermost frame of a stack trace that is
	// the stores' own, before the frames around it. This and the next put chunks
	// first in their document.
	{Name: "named", Document: 4, value: isNamed},
	// The query's words as they follow each other: the line that prints a message.
	{Name: "literal", Document: 1.5, value: (*ranking).literal},
	// Words of the query together in one chunk.
	{Name: "coverage", Document: 0.3, Chunk: 0.3, value: (*ranking).coverage, Asked: true, Intents: map[string]float64{
		Pattern: 1}},
	// A use that does not define.
	{Name: "usage", Document: 0.45, Chunk: 0.45, value: (*ranking).usage, Asked: true, Intents: map[string]float64{
		Usage: 1, Implementation: 0.3}},
	{Name: "prose", Document: 0.6, value: (*ranking).isProse, Asked: true, Intents: map[string]float64{Documentation: 1}},
	{Name: "body", Document: 0.3, Chunk: 0.3, value: (*ranking).body, Asked: true, Intents: map[string]float64{
		Implementation: 1}},

	// How good the best sections of the page are.
	{Name: "page", Section: 0.05, section: bestOfPage},
	// Words of the query, or such as are used for them; a long text holds some of any words.
	{Name: "words", Section: 0.22, section: wordsOfSection},
	// A section with every word of the query, which meaning does not outweigh:
	// commands and messages need it, which bench/sections does not ask for.
	{Name: "whole", Section: 0.14, section: wholeQuery},
	// The vector of a short text is clean.
	{Name: "lead", Section: 0.16, section: leadOfSection},

	// A name that is all of the query and stands somewhere, be it in a test alone,
	// is not answered by what has parts of it.
	{Name: "lacking", Factor: 0.1, value: (*ranking).lacking},
	// Tests mention everything and explain nothing, unless asked for.
	{Name: "test", Factor: 0.62, value: (*ranking).isTest, Intents: map[string]float64{Implementation: 1.5, Usage: 0.4}},
	// Specifications say what is to be; kdd:search is for them.
	{Name: "specification", Factor: 0.62, value: (*ranking).specification},
	{Name: "example", Factor: 0.75, value: isExample, Intents: map[string]float64{
		Usage: 0, Documentation: 0.3, Pattern: 0}},
	{Name: "generated", Factor: 0.70, value: (*ranking).generated},
	{Name: "reexport", Factor: 0.9, value: (*ranking).reexport, Intents: map[string]float64{Implementation: 2}},
	// Of versions side by side the newest is meant.
	{Name: "superseded", Factor: 0.85, value: (*ranking).superseded},
	// What declares what another file does, and a page in another language than
	// the query that is there in the query's.
	{Name: "declared", Factor: 0.8, value: (*ranking).declared, Intents: map[string]float64{Definition: 0, Implementation: 2}},
	{Name: "translated", Factor: 0.8, value: (*ranking).translated},
	{Name: "vendored", Factor: 0.70, value: isVendored},
	// A project's own code is meant before that of others, and what it uses before
	// what it does not.
	{Name: "foreign", Factor: 0.6, value: (*ranking).foreign},
	{Name: "unnamed", Factor: 0.6, value: (*ranking).unnamed},
	// Prose about code is not the code, and files of settings repeat its words;
	// the intent asks for documentation.
	{Name: "aside", Factor: 0.65, value: (*ranking).aside, Intents: map[string]float64{Documentation: 0}},
	// What feedback on much the same question found to be no answer.
	{Name: "feedback", Factor: 0.7, value: marked},
	// A page that tells what changed, was planned or was said once, rather than
	// what is, unless the question is about that.
	{Name: "dated", Factor: 0.8, section: (*ranking).dated},
	// What is deprecated comes after what has replaced it.
	{Name: "deprecated", Factor: 0.85, section: (*ranking).deprecated},
}

// The intents that change weights.
const (
	Pattern        = "find-pattern"
	Implementation = "find-implementation"
	Usage          = "find-usage"
	Definition     = "find-definition"
	Documentation  = "find-documentation"
)

// Intents lists the intents that change weights.
func Intents() []string {
	return []string{Pattern, Implementation, Usage, Definition, Documentation}
}

// document tells what a candidate's path says, once for all its chunks.
func (r *ranking) document(e *Evidence) *document {
	k := docKey{e.Store, e.Path}
	if d, ok := r.docs[k]; ok {
		return d
	}
	d := &document{path: r.isPath(e.Path), test: r.t.isTest(e.Path),
		example: within(e.Path, r.t.ExampleDirs), vendored: within(e.Path, r.t.VendorDirs)}
	r.docs[k] = d
	d.stem = r.meet(terms.Words(r.t.fileName(e.Path)))
	if dir := path.Dir(e.Path); dir != "." {
		d.dir = r.meet(terms.Words(path.Base(dir)))
		if up := path.Dir(dir); up != "." {
			m := r.meet(terms.Words(path.Base(up)))
			d.dir.own = max(d.dir.own, r.t.UpperFolder*m.own)
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

// saysSo is lexical by the query's own words: they say best which part of a
// document answers.
func (r *ranking) saysSo(e *Evidence) float64 { return (e.Lexical - e.Beside) / r.topLex }

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
// when it is written in other capitals, when words of the query make the name
// together, and a third of that word's share of the query for a word that need
// not be a name.
func (r *ranking) definition(e *Evidence, _ *document) float64 {
	v := r.t.Joined * r.together(e.Defines)
	for i := range r.q.Words {
		w := &r.q.Words[i]
		if w.Stop || w.Exact < 0 || e.Defines&(1<<w.Exact) == 0 {
			continue
		}
		switch {
		case w.Named && (w.Cased < 0 || e.Defines&(1<<w.Cased) != 0):
			return 1
		case w.Named:
			v = max(v, r.t.OtherCapitals)
		case r.sum > 0:
			v = max(v, r.t.PlainName*w.idf/r.sum)
		}
	}
	return v
}

func namesOf(_ *ranking, _ *Evidence, d *document) float64 { return d.names }

func (r *ranking) names(e *Evidence) float64 { return r.q.Coverage(e.Defines) }

func (r *ranking) coverage(e *Evidence, _ *document) float64 { return r.q.Coverage(e.Matched) }

// size is the share of a screen that a chunk fills.
func (r *ranking) size(e *Evidence, _ *document) float64 {
	return min(1, float64(e.End-e.Start+1)/float64(r.t.ScreenLines))
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
		return r.t.Unresolved * r.mentions(e, d) // what could not be resolved may still be one
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

// literal is Evidence.Literal; of a path that is there, the file is meant and not
// what names it.
func (r *ranking) literal(e *Evidence, _ *document) float64 {
	if r.pathed {
		return 0
	}
	return e.Literal
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func stemName(_ *ranking, _ *Evidence, d *document) float64   { return d.stem.own }
func rareName(_ *ranking, _ *Evidence, d *document) float64   { return d.stem.rare }
func folderName(_ *ranking, _ *Evidence, d *document) float64 { return d.dir.own }
func isPath(_ *ranking, _ *Evidence, d *document) float64     { return d.path }
func isExample(_ *ranking, _ *Evidence, d *document) float64  { return flag(d.example) }
func isVendored(_ *ranking, _ *Evidence, d *document) float64 { return flag(d.vendored) }
func isNamed(_ *ranking, e *Evidence, _ *document) float64    { return e.Named }
func marked(_ *ranking, e *Evidence, _ *document) float64     { return e.Marked }

func (r *ranking) isTest(_ *Evidence, d *document) float64 { return flag(!r.tests && d.test) }

func (r *ranking) specification(e *Evidence, d *document) float64 {
	return flag(!r.tests && !d.test && r.beside(e) && within(e.Path, r.t.SpecDirs))
}

func (r *ranking) superseded(e *Evidence, _ *document) float64 {
	return flag(r.o.Stores != nil && r.o.Stores[e.Store].Older || r.editions.superseded(r.q, e))
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
	return flag(e.Flags&kb.FlagProse == 0 && e.End-e.Start >= r.t.BodyLines)
}

// aside is 1 for prose and settings beside code, unless the query asks for
// prose or names the file. Where most of what is found is prose, prose is what
// there is to find.
func (r *ranking) aside(e *Evidence, _ *document) float64 {
	if r.prose || r.q.Class == Path || !r.beside(e) {
		return 0
	}
	return max(0, min(1, (r.code-r.t.FewCode)/(r.t.MostCode-r.t.FewCode)))
}

func (r *ranking) beside(e *Evidence) bool {
	return e.Flags&kb.FlagProse != 0 || slices.Contains(r.t.Settings, e.Language)
}

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
