package ingest

import (
	"context"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// added is a document in the segment in the making.
type added struct {
	entry  kb.Entry
	key    kb.DocKey
	number int
}

// filling is a segment in the making, with the documents that wait for their vectors.
type filling struct {
	run    *run
	writer kb.SegmentWriter
	mine   []added
	held   []added
	docs   []kb.SegmentDocument // of held
	texts  int                  // chunks of docs
	bytes  int64                // text of docs
	spent  time.Duration        // embedding
}

// add takes a document. Where an embedder is asked for many texts at once the
// vectors of documents are made together.
func (f *filling) add(ctx context.Context, e kb.Entry, key kb.DocKey, d kb.SegmentDocument) error {
	f.held, f.docs = append(f.held, added{entry: e, key: key}), append(f.docs, d)
	f.texts += len(d.Chunks)
	f.bytes += int64(len(d.Text.Body))
	if m, ok := f.run.x.Embedder.(metered); ok && f.texts < m.Batch() && f.writer.TextBytes()+f.bytes < segmentBytes {
		return nil
	}
	return f.embed(ctx)
}

// embed makes the vectors of what waits for them.
func (f *filling) embed(ctx context.Context) error {
	var texts []string
	for i := range f.docs {
		texts = append(texts, textsOf(f.docs[i].Text.Body, f.docs[i].Chunks)...)
	}
	began := time.Now()
	vectors, err := f.run.x.embed(ctx, texts)
	if err != nil {
		return err
	}
	took := time.Since(began)
	f.spent += took
	f.run.embedding.Add(int64(took))
	for i, d := range f.docs {
		d.Vectors, vectors = vectors[:len(d.Chunks):len(d.Chunks)], vectors[len(d.Chunks):]
		if f.held[i].number, err = f.writer.Add(ctx, d); err != nil {
			return err
		}
		f.mine = append(f.mine, f.held[i])
	}
	f.held, f.docs, f.texts, f.bytes = nil, nil, 0, 0
	return nil
}

// full reports whether it is time to write the segment. What waits for its vectors is
// not lost with it: it goes into the next.
func (f *filling) full() bool {
	r := f.run
	return f.writer.TextBytes() >= segmentBytes || f.spent > max(r.atOnce(), time.Duration(r.embedding.Load()/embedPortion))
}

// write makes the segment durable and its documents known, and begins the next.
func (f *filling) write(ctx context.Context) error {
	if f.writer.Documents() == 0 {
		return nil
	}
	r := f.run
	name, n, err := r.writeSegment(ctx, f.writer)
	if err != nil {
		return err
	}
	r.known(name, n, f.mine)
	f.writer, f.mine, f.spent = r.newSegment(), nil, 0
	return r.preview(ctx)
}

// textsOf is what is embedded of a document.
func textsOf(body string, chunks []kb.Chunk) []string {
	texts := make([]string, len(chunks))
	for i := range chunks {
		texts[i] = embed.Text(body, &chunks[i])
	}
	return texts
}

// embed returns the vectors of texts.
func (x *Indexer) embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	vecs, err := x.Embedder.Embed(ctx, texts)
	if err == nil && len(vecs) != len(texts) {
		err = kb.Errorf(kb.Away, "the embedder %s returned %d vectors for %d texts", x.Embedder.ID(), len(vecs), len(texts))
	}
	return vecs, err
}

// metered is an embedder that asks a provider, which may want to be paid.
type metered interface {
	// Missing estimates how many tokens of the texts would be sent.
	Missing(texts []string) (int64, error)
	// Batch is how many texts are best embedded at once.
	Batch() int
}

// price asks whether what a run will have embedded may be sent, with its size in tokens:
// it is counted before anything is sent.
func (r *run) price(ctx context.Context, todo []kb.Entry) error {
	m, ok := r.x.Embedder.(metered)
	if !ok || r.o.Spend == nil {
		return nil
	}
	var total int64
	count := func(body string, chunks []kb.Chunk) error {
		n, err := m.Missing(textsOf(body, chunks))
		total += n
		return err
	}
	seen := map[kb.DocKey]bool{}
	for i, e := range todo {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		kb.Report(ctx, kb.Progress{Phase: "count", Done: int64(i), Total: int64(len(todo))})
		t, hash, err := r.read(ctx, e)
		if err != nil {
			continue // the run itself says what is wrong with it
		}
		key := kb.DocKey{Hash: hash, Language: t.Language}
		if _, there := r.located[key]; there || seen[key] {
			continue
		}
		seen[key] = true
		cut, err := r.x.Cutter.Split(ctx, t)
		if err == nil {
			err = count(t.Body, cut.Chunks)
		}
		if err != nil {
			return err
		}
	}
	r.noText.Store(0) // they are counted when they are read
	if !r.force {
		for _, name := range r.was.Bare {
			n, err := r.x.Price(ctx, r.x.Indexes, name)
			if err != nil {
				return err
			}
			total += n
		}
	}
	return r.o.Spend(total)
}
