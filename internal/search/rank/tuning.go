package rank

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Tuning holds every number and list of words that the order of hits and their confidence depend
// on. Queries carry the one they were parsed with; Fitted returns the one that
// the product uses. internal/search/eval doubles, halves and drops each of
// them in turn and wants a pinned figure to move.
type Tuning struct {
	BM25F   kb.BM25F
	Signals []Signal

	// Terms of a query, for BM25F.
	PartWeight   float64 // of a part of an identifier beside the whole
	ExactWeight  float64 // of a definition, as a term of its own
	ExactUnnamed float64 // of that, for words that need not be names
	ExactWords   int     // words that need not be names are looked up as definitions up to this number
	PartsShare   float64 // what all parts of an identifier count of the whole in Coverage
	FailureBytes int     // a query that is longer may be an error message

	// MostTyped is how many words a query has at most of which some may be misspelt.
	MostTyped int

	// Joined is what a name that neighbouring words make counts of one that the
	// query writes; MostJoined is how many words such a query has at most.
	Joined     float64
	MostJoined int
	// MostProse is how likely documentation may be wanted of a question whose
	// words are looked for in others as well.
	MostProse float64
	// SoftWeight is what a term counts that is used for a word of the query,
	// SoftName the same in names of files and folders; MostSoft is how many are
	// looked for.
	SoftWeight, SoftName float64
	MostSoft             int

	// Of a long text: what a word in the title and one in code or with the look of a
	// name counts more, and how much of the text is read for its meaning and its
	// messages.
	TitleWeight, CodeWeight float64
	LeadBytes               int

	// LeastRun is how many words in a row are more than chance, see Literal.In.
	// LeastShare is the least share of a query in words that such runs have.
	// MostValue is how many words the value may have for which a template has a place.
	LeastRun, MostValue int
	LeastShare          float64
	CodeSigns           float64 // of code, for each word of a query that is taken for a piece of it

	// LeastCosine is how near a chunk that shares no word with the query must be.
	LeastCosine float64

	// Values of signals.
	OtherCapitals float64 // of a definition in other capitals: session for Session
	PlainName     float64 // of a definition of a word that need not be a name, times the word's share of the query
	Family        float64 // of a word with another ending (quantize, quantization) or its abbreviation in a name of a file
	UpperFolder   float64 // of the folder around a document's own
	ScreenLines   int     // a chunk of so many lines has the full value of size
	BodyLines     int     // a chunk of more lines than this has a body
	Covered       float64 // the share of a question in one chunk from which it is in the text's words
	Unresolved    float64 // of a mention among candidates of which some use the name for certain
	// FewCode and MostCode are the shares of code among the candidates between
	// which prose comes to be taken for something beside the code.
	FewCode, MostCode float64

	Imported float64 // of foreign, in a store that the own project uses
	Abroad   float64 // the power that makes foreign count less for what holds more than the own project has

	// Again is what a further chunk of a document counts of the one before: it
	// comes after what else there is to see, unless that is far worse. MostAgain
	// is how many chunks of one document are shown at most.
	Again     float64
	MostAgain int

	// MostSections is how many chunks of prose are looked at closely: each costs
	// about 30 µs, and 80 or 120 find no more of what bench/sections asks for.
	MostSections int
	Related      float64 // of a word that is used for one of the query in Query.Covers
	LongSection  int     // bytes from which a section is long
	LengthPower  float64 // how much length takes from the words of a section
	WholeShare   float64 // a section has every word of the query above this Coverage
	// SamePart is what a further chunk of the same section counts: the same
	// anchor cites it.
	SamePart   float64
	BestOfPage int // sections that speak for their page

	// The confidence, see ranking.sure.
	Signs                 []Sign
	ThereBase, RightBase  float64 // of the sums over Signs
	SureHits              int     // the best of so many hits counts
	NearUnknown           float64 // what the nearest cosine is of the share of the query where it is not known
	Close                 float64 // a hit that scores this of the first comes close
	FarCosine, CosineSpan float64 // by vectors alone: the cosine that counts 0, and from there to 1
	High, Medium, Low     float64 // the least confidence of that name
	LeastThere            float64 // where it is less likely that there is an answer, a reply says that there is none

	// Wanted is what Query.Prose is made of, which looks at the best Few of each kind.
	Wanted Wanted
	Few    int
	// BriefWords is how many words a question to documentation has at most; more
	// are a report of trouble.
	BriefWords int

	// Words by which a query asks about the one who types it, for tests, for documentation, for what
	// changed or is to change, or for declarations apart from what they declare.
	AsksFirst, AsksTests, AsksProse, AsksPast, AsksDeclared []string
	// Names of folders of tests, of examples and of other people's code; what
	// names of files and folders with release notes, plans and minutes begin
	// with; names of files that say nothing, in place of which the folder's counts.
	TestDirs, ExampleDirs, VendorDirs, DatedNames, Nameless []string
	SpecDirs                                                []string // of specifications, and of tests in some languages
	Settings                                                []string // languages of files that set things up
}

var fitted = Tuning{
	BM25F: kb.BM25F{
		// A name that a chunk defines says more than a name it mentions, and what
		// encloses it about half as much; signals weigh path terms as well.
		K1:     1.2,
		Weight: [kb.Fields]float64{kb.FieldBody: 1, kb.FieldSymbols: 3, kb.FieldHeadings: 1.2, kb.FieldPath: 1.5},
		B:      [kb.Fields]float64{kb.FieldBody: 0.6, kb.FieldSymbols: 0.4, kb.FieldHeadings: 0.3, kb.FieldPath: 0.5},
	},
	Signals: signals,

	PartWeight: 0.7, ExactWeight: 0.5, ExactUnnamed: 0.3, ExactWords: 12, PartsShare: 0.8, FailureBytes: 20,
	MostTyped: 16, Joined: 0.7, MostJoined: 6, SoftWeight: 0.3, SoftName: 0.5, MostSoft: 20, MostProse: 0.3,
	TitleWeight: 1, CodeWeight: 0.5, LeadBytes: 1000, LeastRun: 3, MostValue: 6, LeastShare: 0.3, CodeSigns: 0.3, LeastCosine: 0.3,
	OtherCapitals: 0.5, PlainName: 0.33, Family: 0.8, UpperFolder: 0.6, ScreenLines: 40, BodyLines: 5, Unresolved: 0.5, Covered: 0.8,
	FewCode: 0.3, MostCode: 0.7, Imported: 0.3, Abroad: 8,
	Again: 0.7, MostAgain: 3,
	MostSections: 40, Related: 0.5, LongSection: 400, LengthPower: 0.1, WholeShare: 0.99, SamePart: 0.7, BestOfPage: 3,
	Signs: signs, ThereBase: 2.49, RightBase: -3.24, SureHits: 3, NearUnknown: 0.12, Close: 0.9, FarCosine: 0.15, CosineSpan: 0.6,
	High: 0.85, Medium: 0.7, Low: 0.2, LeastThere: 0.5,

	Few: 5, BriefWords: 24, Wanted: Wanted{Base: -7.5, Share: 16, Said: 4.3, Coded: -8, Small: 20, First: 8.6, Working: -6.3, Marks: -9},

	AsksFirst: strings.Fields("i my me we our mi mis"),
	AsksTests: strings.Fields("test tests testing benchmark fuzz spec prueba pruebas"),
	AsksProse: strings.Fields(`readme doc docs documentation guide tutorial config configuration documentación guía
		manual`),
	AsksPast: strings.Fields(`release releases changelog changed changes upgrade upgrading migrate migrating version
		versions deprecated obsolete legacy new blog proposal proposals roadmap news breaking meeting nuevo nueva cambios versión versiones migrar
		actualizar`),
	AsksDeclared: strings.Fields("declaration declarations prototype prototypes stub stubs typings"),
	TestDirs:     strings.Fields("test tests testing testdata __tests__ fixtures mocks __mocks__ e2e"),
	SpecDirs:     strings.Fields("spec specs"),
	ExampleDirs:  strings.Fields("example examples _examples demo demos sample samples bench benchmarks benches"),
	VendorDirs:   strings.Fields("vendor third_party node_modules deps external"),
	DatedNames: strings.Fields(`news changelog changes history release whats-new whatsnew what-s-new blog announce upgrad
		migrating migrate- migration-guide proposal rfc hips keps meeting minutes roadmap`),
	Nameless: strings.Fields("index main mod lib __init__ init doc readme package-info"),
	Settings: strings.Fields("yaml json toml ini xml gomod text csv"),
}

// Fitted returns a copy of the tuning that the product uses.
func Fitted() *Tuning {
	t := fitted
	t.Signals = slices.Clone(t.Signals)
	for i := range t.Signals {
		t.Signals[i].Intents = maps.Clone(t.Signals[i].Intents)
	}
	t.Signs = slices.Clone(t.Signs)
	return &t
}

// Confidence names a confidence.
func (t *Tuning) Confidence(c float64) string {
	switch {
	case c >= t.High:
		return "high"
	case c >= t.Medium:
		return "medium"
	case c >= t.Low:
		return "low"
	}
	return "none"
}
