package kb

import "context"

// The fields that a term can be in, as indexes into Lengths.
const (
	FieldBody     = iota // the chunk's text
	FieldSymbols         // names the chunk defines
	FieldHeadings        // enclosing declarations or headings
	FieldPath            // directories and stem of the document's path
	Fields
)

// Place names a chunk within one generation: a document and the number of
// the chunk in it, from 0.
type Place struct {
	Path  string
	Chunk int
}

// TermStats are what scores are normalised by. They add up over stores, so
// that scores of different stores compare.
type TermStats struct {
	Documents int64
	Chunks    int64
	Lengths   [Fields]int64 // total terms by field: chunks' fields over Chunks, paths over Documents
	// Frequency counts, for each term asked for, the chunks with it in any
	// field but the path; PathFrequency the documents with it in their path.
	Frequency     []int64
	PathFrequency []int64
}

// Add sums other into s. Both were asked for the same terms.
func (s *TermStats) Add(other TermStats) {
	s.Documents += other.Documents
	s.Chunks += other.Chunks
	for f := range s.Lengths {
		s.Lengths[f] += other.Lengths[f]
	}
	if s.Frequency == nil {
		s.Frequency = make([]int64, len(other.Frequency))
		s.PathFrequency = make([]int64, len(other.PathFrequency))
	}
	for i := range other.Frequency {
		s.Frequency[i] += other.Frequency[i]
		s.PathFrequency[i] += other.PathFrequency[i]
	}
}

// BM25F says how fields are weighed: see Robertson and Zaragoza, "The
// Probabilistic Relevance Framework: BM25 and Beyond" (2009), §3.6. The
// weighted, length-normalised frequency of a term in a chunk is
//
//	f = Σ over fields  Weight · tf / (1 - B + B · length / average length)
//
// and the chunk's score the sum over terms of IDF · f·(K1+1) / (f+K1).
type BM25F struct {
	K1     float64
	Weight [Fields]float64
	B      [Fields]float64
}

// Retrieval asks one index for candidates.
type Retrieval struct {
	Terms   []string  // normalised by package terms; at most 64
	IDF     []float64 // weight of each term, over all stores asked
	Average [Fields]float64
	BM25F   BM25F
	Beside  uint64    // terms whose part of the scores is reported as well
	Vector  []float32 // of the query; nil leaves the vectors out
	Limit   int       // candidates by words
	Near    int       // candidates by vector
	Under   string    // only documents at or below this path; "" is all
	// Only, when it is not nil, holds the places that may be found, in byte
	// order of their paths, each path once.
	Only []Part
	// Phrases must all be in a chunk's text, letter case folded, for it to
	// be a candidate.
	Phrases []string
}

// Part is a document, or lines of one.
type Part struct {
	Path string
	// Lines are pairs of first and last line, 1-based, inclusive: a chunk
	// belongs to the part when it has a line of any. Nil is the whole document.
	Lines [][2]int
}

// Candidate is a chunk that an index found, with the evidence for it. Matched,
// Defines, InPath and DocMatched are sets of terms: bit i is Retrieval.Terms[i].
// The fields about vectors are 0 without them. Scores are not normalised.
type Candidate struct {
	Place
	ID         string
	Start, End int // lines
	Language   string
	Flags      DocFlags
	Stamp      uint64 // of the document when it was indexed, see StampHash

	// Of the chunk.
	Lexical float64 // BM25F
	Beside  float64 // of that, of the terms of Retrieval.Beside
	Cosine  float64 // of its vector with the query's
	Matched uint64  // terms in the chunk or its path
	Defines uint64  // terms in names that the chunk defines; in prose, in its headings too
	InPath  uint64  // terms in the path

	// Of the document that it is a part of.
	Chunks     int     // how many
	Sum        float64 // of the chunks' Lexical
	SumBeside  float64 // of that, of the terms of Retrieval.Beside
	Second     float64 // the best Lexical of another chunk
	DocMatched uint64  // terms in any chunk
	Mean       float64 // cosine of the query's vector with the mean of the chunks'
	// Uses is how many other documents use a name that the document declares,
	// each counting 1 divided by how many documents declare that name.
	Uses float64
}

// Passage is a chunk with its text.
type Passage struct {
	Place    `json:"place"` // by a name of its own, since Chunk hides its number
	Chunk    Chunk
	Text     string
	Language string
}

// DocumentText is a document as it was indexed.
type DocumentText struct {
	Path     string
	Body     string
	Language string
	Flags    DocFlags
	Hash     DocHash
	Chunks   []Chunk
	Facts    Facts
	IDs      []string // of the chunks
	Stamp    uint64   // of the source when indexed, see StampHash
}

// Outline is what a document defines, imports and uses.
type Outline struct {
	Path     string
	Hash     DocHash
	Language string
	Flags    DocFlags
	Symbols  []Symbol // in order of the chunks that list them
	Facts    Facts
}

// Resolution is what an id means in one index.
type Resolution struct {
	ID     string // as asked
	Places []Resolved
	// Gone is set when the place existed in an earlier generation only.
	Gone *GonePlace
}

// Resolved is a place that an id names now.
type Resolved struct {
	Place
	ID      string // its id now
	Changed bool   // the text is not the one the id was given for
}

// GonePlace is a place that no longer exists.
type GonePlace struct {
	Path       string
	Start, End int
}

// IndexInfo says what an index is of. It is shared: do not change it.
type IndexInfo struct {
	Generation int64
	Commit     string
	Chunker    uint32
	Embedder   string // the kb.Embedder.ID of the vectors
	Totals     Totals
	Segments   []string
	Bare       []string // segments whose vectors are missing
}

// Identity identifies a document without its text.
type Identity struct {
	Path string
	DocKey
	Stamp uint64 // see StampHash
	Bytes int64  // of the text
}

// SpecEntry is a document that has facts of a specification.
type SpecEntry struct {
	Path   string
	Chunks int
	Stamp  uint64 // see StampHash
	Spec   *SpecDoc
}

// Index answers for one generation of one store. It may be on another
// machine: nothing in it is a memory map, an offset or a number that only the
// other side understands, calls come in batches, and every call can fail with
// code Away. Implementations are safe for concurrent use.
type Index interface {
	// Info says what the index is of.
	Info(ctx context.Context) (IndexInfo, error)
	// Stats counts terms, which package terms has normalised. Only, when it is not nil, narrows what is counted to
	// parts, as Retrieval.Only does: a common word in the code beside them need
	// not be one there.
	Stats(ctx context.Context, terms []string, only []Part) (TermStats, error)
	// Spelt returns, for each term, those of the index that are written almost
	// like it: the first letter is the same, and one other letter may be wrong,
	// two from eight letters on; underscores do not count. The nearest come
	// first. A term may be of a document that is there no more.
	Spelt(ctx context.Context, terms []string) ([][]string, error)
	Retrieve(ctx context.Context, r Retrieval) ([]Candidate, error)
	Passages(ctx context.Context, places []Place) ([]Passage, error)
	// Excerpts returns passages with the bytes and lines of their chunks alone, and
	// nothing else that is known of these.
	Excerpts(ctx context.Context, places []Place) ([]Passage, error)
	Resolve(ctx context.Context, ids []string) ([]Resolution, error)
	// Documents lists the paths at or below under, in byte order.
	Documents(ctx context.Context, under string) ([]string, error)
	// Document returns one document; NotFound when there is none at path.
	Document(ctx context.Context, path string) (DocumentText, error)
	// Texts returns documents as a reply shows them, in the order asked: without
	// their ids and facts, but for the lines and paths of symbols; without bodies
	// also without those. NotFound when one is not there.
	Texts(ctx context.Context, paths []string, bodies bool) ([]DocumentText, error)
	// IDs returns the ids of chunks, in the order asked; NotFound when one is not there.
	IDs(ctx context.Context, places []Place) ([]string, error)
	// Outlines returns the outlines of documents, in the order asked.
	Outlines(ctx context.Context, paths []string) ([]Outline, error)
	// Identities identifies the documents at paths, in the order asked, but for
	// those that are not there; nil is all documents, in byte order of their paths.
	Identities(ctx context.Context, paths []string) ([]Identity, error)
	// Specs returns documents with facts of a specification, in byte order of
	// their paths: the first after a path, "" for the beginning, and at most
	// limit. Fewer are the last.
	Specs(ctx context.Context, after string, limit int) ([]SpecEntry, error)
	// Manifest says where each document is indexed, in byte order of the paths.
	Manifest(ctx context.Context) ([]Located, error)
	// Current reports whether the index is still what its name stands for. One
	// whose files were deleted or exchanged meanwhile is to be opened anew.
	Current(ctx context.Context) bool
	// Release gives the index back; it must not be used afterwards.
	Release()
}
