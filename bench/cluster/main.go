// Cluster starts three nodes of Weaviate on this machine, keeps an index on them,
// and breaks them: a node is killed while it is written to, one hangs, two are
// gone. It reports what of the acknowledged can still be counted and read, how long
// searches took meanwhile, how fast the cluster is filled, and what many clients
// see. It does not tell copies apart: a count asked of a node may be another's.
//
//	KNOWLEDGE_WEAVIATE=/path/to/weaviate-server .ci/extra cluster [-chunks 100000] [-clients 50]
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/index/cluster"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate"
)

const (
	dims       = 256
	embedder   = "bench-256"
	perDoc     = 8
	perSegment = 250 // documents
)

func main() {
	log.SetFlags(log.Ltime)
	chunks := flag.Int("chunks", 100_000, "how many chunks are loaded")
	clients := flag.Int("clients", 50, "how many search at once")
	each := flag.Int("each", 10, "searches of each")
	out := flag.String("out", "", "file that the report is appended to")
	flag.Parse()
	binary := os.Getenv("KNOWLEDGE_WEAVIATE")
	if binary == "" {
		fmt.Println("skipped: KNOWLEDGE_WEAVIATE names no weaviate-server")
		return
	}
	if err := run(context.Background(), binary, *chunks, *clients, *each, *out); err != nil {
		log.Fatal(err)
	}
}

// bench is a cluster and an index on it.
type bench struct {
	*nodes
	x      *cluster.Indexes
	pool   *index.Pool
	report strings.Builder
	names  []string // segments that were acknowledged
	docs   []kb.Located
}

func run(ctx context.Context, binary string, chunks, clients, each int, out string) error {
	dir, err := os.MkdirTemp("", "knowledge-cluster-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	n, err := start(binary, dir)
	if err != nil {
		return err
	}
	defer n.stop()
	b := &bench{nodes: n, pool: index.NewPool(filepath.Join(dir, "here"), embedder, "")}
	c, err := weaviate.New(n.addresses(), "")
	if err != nil {
		return err
	}
	b.x = cluster.New(filepath.Join(dir, "here"), b.pool, c)
	b.say("## %s, %d chunks\n\n| what | figure |\n|---|---|", time.Now().UTC().Format(time.DateTime), chunks)
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error { return b.load(ctx, chunks) },
		func(ctx context.Context) error { return b.crowd(ctx, clients, each) },
		b.killed, b.hangs, b.gone,
	} {
		if err := step(ctx); err != nil {
			b.say("| broke off | %v |", err)
			break
		}
	}
	if out != "" {
		f, err := os.OpenFile(out, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.WriteString("\n" + b.report.String())
		return err
	}
	return nil
}

func (b *bench) say(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	fmt.Println(line)
	b.report.WriteString(line + "\n")
}

// words are drawn as in texts: a few often, most seldom.
func words(r *rand.Rand, z *rand.Zipf, n int) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "w%x ", z.Uint64()*2654435761%(1<<20))
	}
	return b.String() + "\n\n"
}

func (b *bench) segment(ctx context.Context, number int) error {
	r := rand.New(rand.NewPCG(uint64(number), 1))
	z := rand.NewZipf(r, 1.2, 4, 1<<18)
	w := b.x.NewSegment(1, dims)
	var docs []kb.Located
	for d := range perSegment {
		doc := kb.SegmentDocument{Text: kb.Text{Language: "go"}}
		for i := range perDoc {
			part := words(r, z, 60)
			from := len(doc.Text.Body)
			doc.Text.Body += part
			v := make([]float32, dims)
			for j := range v {
				v[j] = float32(r.NormFloat64())
			}
			doc.Vectors = append(doc.Vectors, v)
			doc.Chunks = append(doc.Chunks, kb.Chunk{From: from, To: from + len(part), Start: 2*i + 1, End: 2*i + 1, Kind: "function",
				Decl: []string{fmt.Sprintf("f%d", i)}, Symbols: []kb.Symbol{{Name: fmt.Sprintf("f%d_%d_%d", number, d, i), Kind: "function", Start: 2*i + 1, End: 2*i + 1}}})
		}
		doc.Hash = kb.HashDocument([]byte(doc.Text.Body))
		n, err := w.Add(ctx, doc)
		if err != nil {
			return err
		}
		docs = append(docs, kb.Located{Path: fmt.Sprintf("s%04d/d%03d.go", number, d), Stamp: 1, Location: kb.Location{Number: n}})
	}
	name, err := w.Name(ctx)
	if err != nil {
		return err
	}
	if _, err := w.Write(ctx); err != nil {
		return err
	}
	for i := range docs {
		docs[i].Segment = name
	}
	b.names, b.docs = append(b.names, name), append(b.docs, docs...)
	return nil
}

func (b *bench) load(ctx context.Context, chunks int) error {
	began := time.Now()
	for i := 0; i*perSegment*perDoc < chunks; i++ {
		if err := b.segment(ctx, i); err != nil {
			return err
		}
		if i%10 == 9 {
			log.Printf("%d chunks, %.0f s", (i+1)*perSegment*perDoc, time.Since(began).Seconds())
		}
	}
	took := time.Since(began).Seconds()
	n := len(b.docs) * perDoc
	b.say("| %d chunks and %d documents at QUORUM, three copies | %.0f s, %.0f objects a second |", n, len(b.docs), took, float64(n+len(b.docs))/took)
	memory, disk := b.use()
	b.say("| memory of the nodes, MiB | %v |\n| disk of the nodes, MiB | %v |", memory, disk)
	return nil
}

// publish writes a generation of all that was acknowledged, and opens it as a
// machine does that has nothing of it.
func (b *bench) publish(ctx context.Context, generation int64) (kb.Index, error) {
	m := kb.Manifest{Store: "abcdefghijklmnop", Generation: generation, Chunker: 1, Embedder: embedder, Documents: slices.Clone(b.docs)}
	w, err := b.x.NewGeneration(ctx, m)
	if err != nil {
		return nil, err
	}
	name := kb.ManifestName(m.Store, generation, "bench")
	if _, _, err := w.Write(ctx, name); err != nil {
		return nil, err
	}
	return b.x.Open(ctx, name)
}

// retrieval asks as search does.
func retrieval(ctx context.Context, x kb.Index, r *rand.Rand) error {
	z := rand.NewZipf(r, 1.2, 4, 1<<18)
	q := kb.Retrieval{Terms: strings.Fields(words(r, z, 5)), Limit: 150, Near: 60,
		BM25F: kb.BM25F{K1: 1.2, Weight: [kb.Fields]float64{1, 2, 1, 1}, B: [kb.Fields]float64{.7, .4, .3, .5}}}
	st, err := x.Stats(ctx, q.Terms, nil)
	if err != nil {
		return err
	}
	for i := range q.Terms {
		q.IDF = append(q.IDF, 1/float64(1+st.Frequency[i]))
	}
	for f := range q.Average {
		q.Average[f] = float64(st.Lengths[f]) / float64(max(st.Chunks, 1))
	}
	q.Vector = make([]float32, dims)
	for j := range q.Vector {
		q.Vector[j] = float32(r.NormFloat64()) / 16
	}
	_, err = x.Retrieve(ctx, q)
	return err
}

func (b *bench) crowd(ctx context.Context, clients, each int) error {
	began := time.Now()
	x, err := b.publish(ctx, 1)
	if err != nil {
		return err
	}
	defer x.Release()
	b.say("| the tables of it, fetched by a machine that has nothing | %.1f s |", time.Since(began).Seconds())
	for _, n := range []int{1, 10, clients} {
		took, failed := b.searches(ctx, x, n, each)
		b.say("| hybrid, %d clients, %d searches each, no pause | p50 %d ms, p95 %d ms, %d failed |", n, each,
			took[len(took)/2].Milliseconds(), took[len(took)*95/100].Milliseconds(), failed)
	}
	return nil
}

func (b *bench) searches(ctx context.Context, x kb.Index, clients, each int) (took []time.Duration, failed int) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(c), uint64(clients)))
			for range each {
				began := time.Now()
				err := retrieval(ctx, x, r)
				mu.Lock()
				took = append(took, time.Since(began))
				if err != nil {
					if failed++; failed == 1 {
						log.Print(err)
					}
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(took)
	return took, failed
}

// whole counts what was acknowledged, asking each node, until every answer has all
// of it, and reads three documents of each segment.
func (b *bench) whole(ctx context.Context, what string) error {
	began := time.Now()
	for {
		counts, err := b.counts(ctx)
		done := err == nil && !slices.ContainsFunc(counts, func(n int64) bool { return n != int64(len(b.docs)) })
		if done || time.Since(began) > 4*time.Minute {
			b.say("| %s: documents counted by asking each node, of %d acknowledged | %v %v after %.0f s |", what, len(b.docs), counts, errText(err), time.Since(began).Seconds())
			break
		}
		time.Sleep(time.Second)
	}
	missing, err := b.x.Missing(ctx, b.names)
	if err != nil {
		return err
	}
	bad := 0
	for _, name := range b.names {
		if _, err := b.x.Stored(ctx, name, []int{0, perSegment / 2, perSegment - 1}); err != nil {
			bad++
		}
	}
	b.say("| %s: segments missing, segments of whose three sampled documents one cannot be read, of %d | %d, %d |", what, len(b.names), len(missing), bad)
	return nil
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// counts asks each node, which may ask another for its shards.
func (b *bench) counts(ctx context.Context) (out []int64, err error) {
	for i := range 3 {
		c, err := weaviate.New(b.address(i), "")
		if err != nil {
			return nil, err
		}
		n, err := b.x.CountDocuments(ctx, c, 1)
		c.Close()
		if err != nil {
			return out, err
		}
		out = append(out, n)
	}
	return out, nil
}

// fault writes and searches while something happens.
func (b *bench) fault(ctx context.Context, what string, x kb.Index, happen func() error) error {
	next, done := len(b.names), make(chan error, 1)
	go func() {
		var err error
		for i := range 6 {
			if err = b.segment(ctx, 10_000+next+i); err != nil {
				break
			}
		}
		done <- err
	}()
	time.Sleep(500 * time.Millisecond)
	if err := happen(); err != nil {
		return err
	}
	took, failed := b.searches(ctx, x, 2, 20)
	err := <-done
	b.say("| %s: searches meanwhile | worst %d ms, %d of %d failed |", what, took[len(took)-1].Milliseconds(), failed, len(took))
	b.say("| %s: writes meanwhile | %d of 6 segments acknowledged %s |", what, len(b.names)-next, errText(err))
	return nil
}

func (b *bench) killed(ctx context.Context) error {
	x, err := b.publish(ctx, 2)
	if err != nil {
		return err
	}
	defer x.Release()
	if err := b.fault(ctx, "kill -9 of a node", x, func() error { return b.kill(2) }); err != nil {
		return err
	}
	if err := b.restart(2); err != nil {
		return err
	}
	return b.whole(ctx, "kill -9 of a node, started again")
}

func (b *bench) hangs(ctx context.Context) error {
	x, err := b.publish(ctx, 3)
	if err != nil {
		return err
	}
	defer x.Release()
	if err := b.fault(ctx, "a node hangs", x, func() error { return b.hang(1, true) }); err != nil {
		return err
	}
	if err := b.hang(1, false); err != nil {
		return err
	}
	return b.whole(ctx, "a node hangs, goes on")
}

func (b *bench) gone(ctx context.Context) error {
	x, err := b.publish(ctx, 4)
	if err != nil {
		return err
	}
	defer x.Release()
	for _, i := range []int{1, 2} {
		if err := b.kill(i); err != nil {
			return err
		}
	}
	took, failed := b.searches(ctx, x, 1, 5)
	b.say("| two of three gone: searches | worst %d ms, %d of %d failed |", took[len(took)-1].Milliseconds(), failed, len(took))
	b.x.Client.Write = 4 * time.Second
	began := time.Now()
	err = b.segment(ctx, 20_000)
	b.say("| two of three gone: a write that a person waits for | %.1f s: %s: %s |", time.Since(began).Seconds(), kb.CodeOf(err), errText(err))
	if err := b.kill(0); err != nil {
		return err
	}
	took, failed = b.searches(ctx, x, 1, 1)
	b.say("| all gone: a search | %.1f s, %d of %d failed |", took[0].Seconds(), failed, len(took))
	return nil
}
