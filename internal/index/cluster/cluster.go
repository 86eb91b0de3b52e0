// Package cluster keeps indexes on a cluster of Weaviate, so that machines share
// them: kb.Indexes over package weaviate.
//
// # What lies where
//
// The machine that indexes writes whole segments, as always, into its own pool, and
// puts on the cluster what others need: each document, each chunk with its words
// and its vector, and files of tables. A machine that searches fetches the tables
// (thin segments, layout, manifest; some 60 bytes a chunk) and keeps them in its data
// directory. A search asks the cluster which chunks may answer, by BM25 and by vector,
// fetches the documents they are in, and scores these itself: see index.Far. The
// scores of the cluster, which differ by shard, order what is fetched and no hit.
//
// # Classes
//
//	KnowledgePiece       pieces of files: name, part, parts, size, written, gone, epoch, needs, data
//	KnowledgeRegister    registers, see head.go
//	KnowledgeChunk_HASH  seg, doc "SEGMENT/number", n, epoch; body, symbols, headings: the terms of
//	                     package terms, each as often as it occurs, parted by spaces; the vector
//	KnowledgeDoc_HASH    seg, doc, epoch; card, facts, rows: compressed, see index.FarDocument
//
// The epoch is that of sweep.go when an object was written. HASH is of the embedder and the version of the chunker. Segments belong to no
// store, so a store is the list of its segments, which every query filters by:
// content that two stores share is there once. Ids follow from names, so what is
// written twice is one object.
//
// # Order
//
// Documents and chunks come first, then the tables of their segment: its first
// piece is the sign that all of it is there. Then layout, manifest, and at last the head.
// Everything is written at QUORUM. What no head names any more goes an hour later, so
// that readers elsewhere finish: see sweep.go.
package cluster

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate"
)

const (
	fileClass     = "KnowledgePiece"
	headClass     = "KnowledgeRegister"
	chunkClass    = "KnowledgeChunk_"
	documentClass = "KnowledgeDoc_"
)

// Folder is where in a data directory the tables of shared stores lie.
const Folder = "shared"

// Indexes are the indexes on a cluster. It is safe for concurrent use.
type Indexes struct {
	Client *weaviate.Client
	pool   *index.Pool // whole segments of this machine
	thin   *index.Pool // tables of those on the cluster

	mu      sync.Mutex
	defined map[string]bool // classes that are known to be there
	copies  int             // of each object, 0 before it is known
	shards  int             // of each class
	seen    map[string]seen // segments, which never change
	counted map[string]counted

	lease time.Duration    // see head.go
	now   func() time.Time // by the cluster's clock
	wall  func() time.Time // by ours: a machine that slept must notice, so not the time of the process
}

var (
	_ kb.Indexes = (*Indexes)(nil)
	_ index.Far  = (*Indexes)(nil)
)

// New returns the indexes on a cluster for a data directory and its pool.
func New(dir string, pool *index.Pool, c *weaviate.Client) *Indexes {
	x := &Indexes{Client: c, pool: pool, thin: index.NewPool(filepath.Join(dir, Folder), "", pool.Engine), defined: map[string]bool{}, seen: map[string]seen{}, counted: map[string]counted{},
		lease: lease, now: c.Now, wall: func() time.Time { return time.Now().Round(0) }}
	x.thin.Far, x.thin.Few = x, fewDocuments
	return x
}

// fewDocuments is up to how many documents of a store, or of a part of it, all are fetched.
const fewDocuments = 48

// SetFew sets up to how many documents all are fetched, -1 for none.
func (x *Indexes) SetFew(n int) { x.thin.Few = n }

// SetClock sets what tells the time of deletions, in place of the cluster's clock.
func (x *Indexes) SetClock(now func() time.Time) { x.now = now }

func text(name string, searched bool) weaviate.Property {
	yes, no := true, false
	if searched {
		return weaviate.Property{Name: name, DataType: []string{"text"}, Tokenization: "whitespace", Filterable: &no, Searchable: &yes}
	}
	return weaviate.Property{Name: name, DataType: []string{"text"}, Tokenization: "field", Filterable: &yes, Searchable: &no}
}

func number(name string, filtered bool) weaviate.Property {
	return weaviate.Property{Name: name, DataType: []string{"int"}, Filterable: &filtered}
}

// long is a number with more than 32 bits.
func long(name string) weaviate.Property {
	no := false
	return weaviate.Property{Name: name, DataType: []string{"number"}, Filterable: &no}
}

func blob(name string) weaviate.Property {
	return weaviate.Property{Name: name, DataType: []string{"blob"}}
}

// rescored is how many of the nearest codes are compared by their vectors.
const rescored = 600

// define makes a class unless it is there.
func (x *Indexes) define(ctx context.Context, name string, vectors bool, properties ...weaviate.Property) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.defined[name] {
		return nil
	}
	if x.copies == 0 {
		all, _, err := x.Client.Nodes(ctx)
		if err != nil {
			return err
		}
		x.copies = max(1, min(all, 3))
		x.shards = max(1, all/x.copies)
	}
	class := weaviate.Class{Name: name, Properties: properties, Config: map[string]any{
		// A copy that was away when something was deleted must not bring it back.
		"replicationConfig": map[string]any{"factor": x.copies, "asyncEnabled": x.copies > 1, "deletionStrategy": "TimeBasedResolution"},
		// Each shard that is asked gives as many chunks as are wanted of all. Where
		// every node has everything anyway, one shard costs a third of three.
		"shardingConfig":      map[string]any{"desiredCount": x.shards},
		"invertedIndexConfig": map[string]any{"stopwords": map[string]any{"preset": "none"}, "bm25": map[string]any{"k1": 1.2, "b": 0.7}},
		"vectorIndexConfig":   map[string]any{"skip": true, "distance": "cosine"},
	}}
	if vectors {
		// All codes of one bit a number are looked through, of a million chunks 32 MB: a graph
		// (HNSW) of them costs more than everything else that loading does.
		class.Config["vectorIndexType"] = "flat"
		class.Config["vectorIndexConfig"] = map[string]any{"distance": "cosine", "bq": map[string]any{"enabled": true, "cache": true, "rescoreLimit": rescored}}
	}
	if err := x.Client.Define(ctx, class); err != nil {
		return err
	}
	x.defined[name] = true
	return nil
}

func (x *Indexes) defineFiles(ctx context.Context) error {
	return x.define(ctx, fileClass, false, text("name", false), number("part", true), number("parts", false), long("size"),
		long("written"), long("gone"), number("epoch", true), text("needs", false), blob("data"))
}

// classes are those of the segments of one embedder and chunker.
type classes struct{ chunks, documents string }

func classesOf(embedder string, chunker uint32) classes {
	h := sha256.Sum256(fmt.Appendf(nil, "%s %d", embedder, chunker))
	name := fmt.Sprintf("%x", h[:6])
	return classes{chunkClass + name, documentClass + name}
}

func (x *Indexes) defineClasses(ctx context.Context, c classes) error {
	err := x.define(ctx, c.chunks, true, text("seg", false), text("doc", false), number("n", false), number("epoch", true),
		text("body", true), text("symbols", true), text("headings", true))
	if err != nil {
		return err
	}
	return x.define(ctx, c.documents, false, text("seg", false), text("doc", false), number("epoch", true), blob("card"), blob("facts"), blob("rows"))
}

// seen is what does not change of a segment.
type seen struct {
	classes   classes
	documents int64
}

// of returns the classes of a segment whose tables are here or on the cluster, and how many
// documents it has.
func (x *Indexes) of(ctx context.Context, segment string) (seen, error) {
	x.mu.Lock()
	known, ok := x.seen[segment]
	x.mu.Unlock()
	if ok {
		return known, nil
	}
	s, err := x.thin.Segment(ctx, segment) // of one that is deleted but open, too
	if err != nil {
		s, err = x.Segment(ctx, segment)
	}
	known = seen{classesOf(x.pool.Embedder, s.Chunker), int64(len(s.Keys))}
	if err == nil {
		x.mu.Lock()
		x.seen[segment] = known
		x.mu.Unlock()
	}
	return known, err
}

// counted is how many documents a class had.
type counted struct {
	documents int64
	at        time.Time
}

// nearlyAll reports whether so many documents are nine of ten that their class has, as it
// was a minute ago at most.
func (x *Indexes) nearlyAll(ctx context.Context, c classes, documents int64) bool {
	x.mu.Lock()
	n := x.counted[c.documents]
	x.mu.Unlock()
	if now := x.wall(); now.Sub(n.at) > time.Minute {
		all, err := x.Client.Count(ctx, c.documents, nil)
		if err != nil {
			return false // what is asked next tells
		}
		n = counted{all, now}
		x.mu.Lock()
		x.counted[c.documents] = n
		x.mu.Unlock()
	}
	return 10*documents >= 9*n.documents
}

// Open implements kb.Indexes.
func (x *Indexes) Open(ctx context.Context, manifest string) (kb.Index, error) {
	if err := x.tables(ctx, manifest); err != nil {
		return nil, err
	}
	return x.thin.Open(ctx, manifest)
}

// Forget implements kb.Indexes.
func (x *Indexes) Forget(segments []string) {
	x.mu.Lock()
	for _, s := range segments {
		delete(x.seen, s)
	}
	x.mu.Unlock()
	x.pool.Forget(segments)
	x.thin.Forget(segments)
}

// Segments implements kb.Indexes.
func (x *Indexes) Segments(ctx context.Context) ([]string, error) {
	list, err := x.list(ctx)
	var names []string
	for _, f := range list {
		if name, ok := segmentOf(f.Name); ok {
			names = append(names, name)
		}
	}
	return names, err
}

// Imported implements kb.Indexes. What is on a cluster was put there by those
// who may write to it.
func (x *Indexes) Imported(context.Context, []string) ([]string, error) { return nil, nil }

// Segment implements kb.Indexes.
func (x *Indexes) Segment(ctx context.Context, name string) (kb.Segment, error) {
	if err := x.table(ctx, name); err != nil {
		return kb.Segment{}, err
	}
	return x.thin.Segment(ctx, name)
}

// Sizes implements kb.Indexes.
func (x *Indexes) Sizes(ctx context.Context, segments []string) ([][]int64, error) {
	for _, name := range segments {
		if err := x.table(ctx, name); err != nil {
			return nil, err
		}
	}
	return x.thin.Sizes(ctx, segments)
}

// Stored implements kb.Indexes.
func (x *Indexes) Stored(ctx context.Context, segment string, numbers []int) ([]kb.SegmentDocument, error) {
	s, err := x.Segment(ctx, segment)
	if err != nil {
		return nil, err
	}
	at := make([]kb.Location, len(numbers))
	for i, n := range numbers {
		if n < 0 || n >= len(s.Keys) {
			return nil, kb.Errorf(kb.Corrupt, "segment %s is damaged: it has fewer documents than its users say", segment).
				WithHint("run store:index with force to rebuild the store")
		}
		at[i] = kb.Location{Segment: segment, Number: n}
	}
	got, err := x.Load(ctx, at, true)
	if err != nil {
		return nil, err
	}
	out := make([]kb.SegmentDocument, len(got))
	for i := range got {
		if out[i], _, err = got[i].Document(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Missing implements kb.Indexes.
func (x *Indexes) Missing(ctx context.Context, segments []string) (out []string, err error) {
	for _, name := range segments {
		f, err := x.head(ctx, name+index.Ext)
		if err != nil {
			return nil, err
		}
		if f == nil {
			out = append(out, name)
		}
	}
	return out, nil
}

// Kept implements kb.Indexes.
func (x *Indexes) Kept(ctx context.Context) ([]kb.Kept, error) {
	list, err := x.list(ctx)
	out := make([]kb.Kept, len(list))
	for i, f := range list {
		out[i] = kb.Kept{Name: bare(f.Name), Written: time.UnixMilli(int64(f.Written))}
	}
	return out, err
}
