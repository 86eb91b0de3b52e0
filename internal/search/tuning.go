package search

import (
	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

// Tuning holds every number that the choice of hits, and of what is shown of
// them, depends on; limits of requests and replies are constants where they
// are kept. Fitted returns the one that the product uses.
// internal/search/eval doubles, halves and drops each of them in turn and wants
// a pinned figure to move.
type Tuning struct {
	Rank rank.Tuning

	// Candidates is how many chunks each store contributes by words, however many
	// hits are shown: what is found beside a hit must not change its score.
	Candidates int
	// Neighbours is how many it contributes by vectors. They cost more each, and
	// what they find beyond these does not come up: 259 queries of the development
	// benchmark score the same with 60 as with 150.
	Neighbours int
	// Further is how many of both there are for what a long reply shows beyond that.
	Further int
	// FewChunks is how many chunks a store of specifications counts as having at
	// least: every one of a handful of documents holds the word that they are
	// about, and a query of that word is still answered.
	FewChunks int64
	// Noise is the cosine of unrelated texts, of the model in the program.
	Noise float64
	// MostNamed is how many declarations a name may have to be asked about: one
	// that more have ("String", "run") tells nothing.
	MostNamed int
	// MostFrames is how many places a trace leads to. A frame that may be in more
	// documents than MostAlike tells nothing. FrameFade is what a frame counts of
	// the one that it calls.
	MostFrames, MostAlike int
	FrameFade             float64
	// MostRead is how many candidates, the best by words, are read for the query's
	// words as they follow each other.
	MostRead int
	// LeadBytes is how much of a section's first paragraph is looked at, and
	// Common how much of what such paragraphs have in common is left out.
	LeadBytes int
	Common    float64
	// Alone is what being the best by words, or by vector, counts of being the
	// best of a ranking in Passages.
	Alone float64

	// Surveyed is how many hits have their documents looked into for a question
	// of how something works, see survey. Sharp is the power that makes the best of
	// their functions count for what is near, and Onward how much goes on from
	// one to the next. Places is how many are listed beside the hits, within
	// PlaceShare of the tokens.
	Surveyed      int
	Sharp, Onward float64
	Places        int
	PlaceShare    float64

	// The lines of a hit that are shown. DeclaresBonus is what the line of a
	// declaration counts more than others: as much as a word of every fiftieth
	// chunk; BlankBonus a blank line. DocShare is what a word of the doc comment
	// counts for the line that declares: a query in words of the comment wants
	// what it is about.
	DeclaresBonus, BlankBonus, DocShare float64
	// Of an excerpt: what a heading and a line of front matter count of what
	// they tell, and how much less.
	HeadingShare, HeadingLoss, FrontShare, FrontLoss float64

	// Tokens and Lines of a hit in the middle, by detail; ExplainTokens come to
	// it, and ReplyTokens keeps any reply well below what clients cut. The first
	// hits have more lines: they answer most often.
	MinimalTokens, ContextualTokens, FullTokens, ExplainTokens, ReplyTokens int
	MinimalLines, ContextualLines, FullLines                                int
	// Hits up to a place, and their further lines.
	First, FirstLines, Next, NextLines int
	LineWidth                          int // characters
	// Links are the callers, and the callees, of a hit of detail contextual,
	// Imports and Neighbouring the imports and further chunks of its document.
	Links, Imports, Neighbouring int
}

var fitted = Tuning{
	Rank:       *rank.Fitted(),
	Candidates: 150, Neighbours: 60, Further: 300, FewChunks: 1000,
	MostFrames: 12, MostAlike: 6, FrameFade: 0.8, MostRead: 60,
	Noise: 0.24, MostNamed: 8, LeadBytes: 600, Common: 0.7, Alone: 0.8,

	Surveyed: 12, Sharp: 4, Onward: 0.5, Places: 24, PlaceShare: 0.2,

	DeclaresBonus: 4, BlankBonus: -0.5, DocShare: 0.9,
	HeadingShare: 0.5, HeadingLoss: 1, FrontShare: 0.2, FrontLoss: 2,

	MinimalTokens: 100, ContextualTokens: 420, FullTokens: 900, ExplainTokens: 100, ReplyTokens: 9000,
	MinimalLines: 6, ContextualLines: 8, FullLines: 60,
	First: 3, FirstLines: 2, Next: 5, NextLines: 1, LineWidth: 160,
	Links: 4, Imports: 6, Neighbouring: 3,
}

// Fitted returns a copy of the tuning that the product uses.
func Fitted() *Tuning {
	t := fitted
	t.Rank = *rank.Fitted()
	return &t
}

// noise is the cosine of unrelated texts, where it is known.
func (t *Tuning) noise(emb kb.Embedder) float64 {
	if embed.Cheap(emb) {
		return t.Noise
	}
	return 0
}

// furtherLines is how many lines more than a hit in the middle one at that place gets.
func (t *Tuning) furtherLines(place int) int {
	switch {
	case place < t.First:
		return t.FirstLines
	case place < t.Next:
		return t.NextLines
	}
	return 0
}
