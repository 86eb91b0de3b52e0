package kb

import (
	"context"
	"fmt"
	"hash/fnv"
	"strings"
	"time"
)

// DocKey is what a document is shared by: its content and the language it
// was taken for, which follows from the path.
type DocKey struct {
	Hash     DocHash
	Language string
}

// Location is where the content of a document is indexed.
type Location struct {
	Segment string
	Number  int // of the document in the segment
}

// Located is one line of a manifest: a path and where its content is indexed.
type Located struct {
	Path  string
	Stamp uint64 // see StampHash
	Location
}

// StampHash shortens a source's stamp of a document to what a manifest keeps;
// 0 means that only reading the document shows whether it changed.
func StampHash(stamp string) uint64 {
	if stamp == "" {
		return 0
	}
	h := fnv.New64a()
	h.Write([]byte(stamp))
	return h.Sum64() | 1
}

// Manifest is what a new generation is written from.
type Manifest struct {
	Store      StoreID
	Generation int64
	Commit     string
	Chunker    uint32
	Embedder   string
	Documents  []Located // any order; paths are distinct
	Created    int64     // Unix seconds, kept for a reader
	// Previous is the name of the manifest of the generation before, "" for
	// none. The places that it has and this one lacks are remembered as gone.
	Previous string
}

// ManifestExt ends the names of manifests.
const ManifestExt = ".gen"

// ManifestName returns the name of the manifest of a generation. The id of the
// writer keeps two of one number apart.
func ManifestName(id StoreID, generation int64, writer string) string {
	return fmt.Sprintf("%s-%d-%s%s", id, generation, writer, ManifestExt)
}

// IsManifest reports whether what Indexes keeps under a name is a manifest.
func IsManifest(name string) bool { return strings.HasSuffix(name, ManifestExt) }

// Totals are sums over a generation.
type Totals struct {
	Documents int            `json:"documents"`
	Chunks    int            `json:"chunks"`
	TextBytes int64          `json:"textBytes"`
	Length    [Fields]int64  `json:"length"` // terms by field; of paths by document
	Languages map[string]int `json:"languages"`
	Unparsed  int            `json:"unparsed,omitempty"` // documents with FlagUnparsed
	Masked    int            `json:"masked,omitempty"`   // documents with FlagMasked
	Specs     int            `json:"specs,omitempty"`    // documents that are specifications of a kind
	// SpecSum differs between generations of a store whose documents differ in what
	// they say as specifications; 0 where none says anything.
	SpecSum uint64 `json:"specSum,omitempty"`
	// Garbled are the paths of the first few documents with FlagUnparsed.
	Garbled []string `json:"garbled,omitempty"`
}

const mostGarbled = 5

// Garble counts a document with FlagUnparsed.
func (t *Totals) Garble(path string) {
	if t.Unparsed++; len(t.Garbled) < mostGarbled {
		t.Garbled = append(t.Garbled, path)
	}
}

// Segment describes a segment.
type Segment struct {
	Chunker uint32 // version of the chunker that cut its chunks
	Dims    int    // of its vectors, 0 when there are none
	Keys    []DocKey
}

// SegmentDocument is a document as a segment holds it.
type SegmentDocument struct {
	Hash   DocHash
	Text   Text
	Chunks []Chunk
	Facts  Facts
	// Vectors has one vector for each chunk. What Indexes.Stored returns has none.
	Vectors [][]float32
}

// Kept is a segment, layout or generation that Indexes holds.
type Kept struct {
	Name    string
	Written time.Time
}

// Deleted is a file that Indexes.Delete deleted, or would delete.
type Deleted struct {
	Path  string
	Bytes int64
}

// Indexes writes the indexes of all stores and opens them. An index is a
// generation: a manifest that says which document of a store lies in which
// segment. Segments are named by their content, never change, and are shared
// by all generations that name them; a layout is the part of a manifest that
// stores of the same content share.
//
// Indexes deletes nothing by itself: a caller notes in the catalog the name of
// what it is going to write or use before it does, and deletes what no store
// and no job has noted.
//
// Like an Index it may be on another machine. Implementations are safe for
// concurrent use; the writers they return are not.
type Indexes interface {
	// Open opens the generation with that manifest. The caller releases it.
	Open(ctx context.Context, manifest string) (Index, error)
	// Forget makes the next Open read the named segments anew, as after damage
	// that was mended. Open indexes keep what they have.
	Forget(segments []string)

	// Segments lists the names of all segments, sorted.
	Segments(ctx context.Context) ([]string, error)
	// Imported returns those of the segments that came from another machine.
	// They serve the stores that they came with; no other store may share them,
	// since nothing has compared their content with a source.
	Imported(ctx context.Context, segments []string) ([]string, error)
	// Segment describes a segment; NotFound when it is gone.
	Segment(ctx context.Context, name string) (Segment, error)
	// Sizes returns the bytes of text of each document of each segment.
	Sizes(ctx context.Context, segments []string) ([][]int64, error)
	// Stored returns documents of a segment, without vectors, in the order asked.
	Stored(ctx context.Context, segment string, numbers []int) ([]SegmentDocument, error)
	// NewSegment begins a segment whose chunks a version of the chunker cut.
	NewSegment(chunker uint32, dims int) SegmentWriter
	// NewVectors begins the vectors of a segment that has none, or damaged ones.
	NewVectors(segment string, dims int) VectorWriter

	// NewGeneration begins a generation. Its segments exist.
	NewGeneration(ctx context.Context, m Manifest) (GenerationWriter, error)

	// Kept lists everything that Delete takes.
	Kept(ctx context.Context) ([]Kept, error)
	// Missing returns those of the segments that are not there, or are no segments.
	Missing(ctx context.Context, segments []string) ([]string, error)
	// Delete deletes what has that name, and returns what it deleted: or only
	// says what it would delete when dry.
	Delete(ctx context.Context, name string, dry bool) ([]Deleted, error)
	// Clean deletes what writers that died long ago left unfinished.
	Clean(ctx context.Context, age time.Duration) error
}

// SegmentWriter collects the documents of one segment.
type SegmentWriter interface {
	// Add adds a document and returns its number in the segment.
	Add(ctx context.Context, d SegmentDocument) (int, error)
	// Take adds documents of another segment, with their vectors, as they are.
	// It returns their numbers.
	Take(ctx context.Context, segment string, numbers []int) ([]int, error)
	Documents() int   // added so far
	TextBytes() int64 // of the documents added so far
	// Name returns the name that the content gives the segment.
	Name(ctx context.Context) (string, error)
	// Write makes the segment durable and returns its size. The writer is spent.
	Write(ctx context.Context) (size int64, err error)
}

// VectorWriter collects the vectors of a segment.
type VectorWriter interface {
	// Add adds the vectors of the next chunks.
	Add(ctx context.Context, vectors [][]float32) error
	// Write makes the vectors durable. There is one for each chunk.
	Write(ctx context.Context) error
}

// GenerationWriter writes a generation.
type GenerationWriter interface {
	// Layout returns the name of the layout, which Write writes unless it exists.
	Layout() string
	// Base returns the name of the manifest that this one says the differences from;
	// "" of one that is whole. It must stay as long as this one.
	Base() string
	// Write makes the generation durable under the name of its manifest. It
	// returns the bytes of all that the generation consists of.
	Write(ctx context.Context, manifest string) (t Totals, size int64, err error)
}
