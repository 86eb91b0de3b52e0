package cluster

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate"
)

// loadAtOnce is how many documents one request asks for, loadsAway how many
// requests are under way.
const (
	loadAtOnce = 64
	loadsAway  = 3
)

// Find implements index.Far: one request for both lists.
func (x *Indexes) Find(ctx context.Context, q index.FarQuery) (words, near []index.FarChunk, err error) {
	byClass, documents := map[classes][]string{}, map[classes]int64{}
	for _, name := range q.Segments {
		s, err := x.of(ctx, name)
		if err != nil {
			return nil, nil, err
		}
		byClass[s.classes] = append(byClass[s.classes], name)
		documents[s.classes] += s.documents
	}
	for c, segments := range byClass {
		var w, n []index.FarChunk
		enough := false
		if q.Documents == nil && x.nearlyAll(ctx, c, documents[c]) {
			if w, n, enough, err = x.findUnfiltered(ctx, c, segments, q); err != nil {
				return nil, nil, err
			}
		}
		if !enough {
			where := weaviate.Any("seg", segments)
			if q.Documents != nil {
				docs := make([]string, len(q.Documents))
				for i, at := range q.Documents {
					docs[i] = at.Segment + "/" + strconv.Itoa(at.Number)
				}
				where = weaviate.Any("doc", docs)
			}
			if w, n, err = x.find(ctx, c, &where, &q); err != nil {
				return nil, nil, err
			}
		}
		words, near = append(words, w...), append(near, n...)
	}
	return words, near, nil
}

// findUnfiltered asks for a few more of all chunks of a class, which spares the nodes a third
// of a search, and drops those of other segments; enough is false when too few are left.
func (x *Indexes) findUnfiltered(ctx context.Context, c classes, segments []string, q index.FarQuery) (words, near []index.FarChunk, enough bool, err error) {
	wanted := [2]int{q.Words, q.Near}
	q.Words, q.Near = q.Words+q.Words/8, q.Near+q.Near/8
	words, near, err = x.find(ctx, c, nil, &q)
	enough = true
	for i, list := range []*[]index.FarChunk{&words, &near} {
		all := len(*list)
		*list = slices.DeleteFunc(*list, func(f index.FarChunk) bool { return !slices.Contains(segments, f.Segment) })
		enough = enough && (len(*list) == all || len(*list) >= wanted[i])
		*list = (*list)[:min(len(*list), wanted[i])]
	}
	return words, near, enough, err
}

func (x *Indexes) find(ctx context.Context, c classes, where *weaviate.Where, q *index.FarQuery) (words, near []index.FarChunk, err error) {
	base := weaviate.Query{Class: c.chunks, Return: []string{"doc", "n"}, Where: where}
	var queries []weaviate.Query
	var lists []*[]found
	add := func(q weaviate.Query) {
		queries, lists = append(queries, q), append(lists, new([]found))
	}
	at := [2]int{-1, -1}
	if len(q.Terms) > 0 && q.Words > 0 {
		w := base
		w.Words, w.Limit = strings.Join(q.Terms, " "), q.Words
		for f, name := range [...]string{"body", "symbols", "headings"} {
			w.In = append(w.In, fmt.Sprintf("%s^%g", name, q.Weights[f]))
		}
		at[0] = len(queries)
		add(w)
	}
	if q.Vector != nil && q.Near > 0 {
		n := base
		n.Vector, n.Limit = q.Vector, q.Near
		at[1] = len(queries)
		add(n)
	}
	if len(queries) == 0 {
		return nil, nil, nil
	}
	out := make([]any, len(lists))
	for i, l := range lists {
		out[i] = l
	}
	if err := x.Client.Get(ctx, queries, out); err != nil {
		return nil, nil, err
	}
	pick := func(i int) []index.FarChunk {
		if i < 0 {
			return nil
		}
		return chunksOf(*lists[i])
	}
	return pick(at[0]), pick(at[1]), nil
}

// found is what a query returns of a chunk.
type found struct {
	Doc string
	N   int
}

func chunksOf(list []found) []index.FarChunk {
	out := make([]index.FarChunk, 0, len(list))
	for _, f := range list {
		segment, n, _ := strings.Cut(f.Doc, "/")
		number, err := strconv.Atoi(n)
		if err != nil {
			continue
		}
		out = append(out, index.FarChunk{Location: kb.Location{Segment: segment, Number: number}, Chunk: f.N})
	}
	return out
}

// Load implements index.Far.
func (x *Indexes) Load(ctx context.Context, at []kb.Location, facts bool) ([]index.FarDocument, error) {
	out := make([]index.FarDocument, len(at))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var wg sync.WaitGroup
	for range loadsAway {
		wg.Go(func() {
			for from := range next {
				to := min(from+loadAtOnce, len(at))
				if err := x.load(ctx, at[from:to], facts, out[from:to]); err != nil {
					cancel(err)
				}
			}
		})
	}
	for from := 0; from < len(at) && ctx.Err() == nil; from += loadAtOnce {
		next <- from
	}
	close(next)
	wg.Wait()
	return out, context.Cause(ctx)
}

// load fills in documents. One that the asked replica lacks is read at QUORUM: it
// may have come while that was away.
func (x *Indexes) load(ctx context.Context, at []kb.Location, facts bool, out []index.FarDocument) error {
	type row struct {
		Doc               string
		Card, Rows, Facts []byte
	}
	props := []string{"doc", "card", "rows"}
	if facts {
		props = append(props, "facts")
	}
	number := map[string]int{}
	byClass := map[classes][]string{}
	for i, l := range at {
		s, err := x.of(ctx, l.Segment)
		if err != nil {
			return err
		}
		doc := l.Segment + "/" + strconv.Itoa(l.Number)
		number[doc] = i
		byClass[s.classes] = append(byClass[s.classes], doc)
	}
	fill := func(r *row) (err error) {
		i, ok := number[r.Doc]
		if !ok {
			return nil
		}
		d := &out[i]
		if d.Card, err = unpack(r.Card); err == nil {
			d.Vectors, err = unpack(r.Rows)
		}
		if err == nil && facts {
			d.Facts, err = unpack(r.Facts)
		}
		return err
	}
	for c, docs := range byClass {
		ids := make([]string, len(docs))
		for i, d := range docs {
			ids[i] = documentID(c, d)
		}
		var rows []row
		where := weaviate.Any("id", ids)
		if err := x.Client.Get(ctx, []weaviate.Query{{Class: c.documents, Return: props, Where: &where, Limit: len(ids)}}, []any{&rows}); err != nil {
			return err
		}
		for i := range rows {
			if err := fill(&rows[i]); err != nil {
				return err
			}
		}
		for _, doc := range docs {
			if out[number[doc]].Card != nil {
				continue
			}
			var r row
			ok, err := x.Client.Object(ctx, c.documents, documentID(c, doc), &r)
			if err != nil {
				return err
			}
			if !ok {
				return kb.Errorf(kb.Corrupt, "document %s of the shared stores is missing", doc).WithHint("index the store with force to rebuild it")
			}
			if err := fill(&r); err != nil {
				return err
			}
		}
	}
	return nil
}

// Classes returns the classes of chunks and of documents of its embedder, cut by a
// version of the chunker.
func (x *Indexes) Classes(chunker uint32) (chunks, documents string) {
	c := classesOf(x.pool.Embedder, chunker)
	return c.chunks, c.documents
}

// CountDocuments returns how many documents of its embedder, cut by a version of the
// chunker, a node has.
func (x *Indexes) CountDocuments(ctx context.Context, c *weaviate.Client, chunker uint32) (int64, error) {
	return c.Count(ctx, classesOf(x.pool.Embedder, chunker).documents, nil)
}

// Copies returns how many of some documents the copy of one node has whole, which the name
// of the node says: what a majority has acknowledged a third one may lack for a while.
func (x *Indexes) Copies(ctx context.Context, node string, at []kb.Location) (n int, err error) {
	for _, l := range at {
		s, err := x.of(ctx, l.Segment)
		if err != nil {
			return n, err
		}
		c := s.classes
		var r struct{ Card []byte }
		ok, err := x.Client.Copy(ctx, c.documents, documentID(c, l.Segment+"/"+strconv.Itoa(l.Number)), node, &r)
		if err != nil {
			return n, err
		}
		if _, err := unpack(r.Card); ok && err == nil {
			n++
		}
	}
	return n, nil
}
