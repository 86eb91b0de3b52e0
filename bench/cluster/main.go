// Cluster starts three nodes of Weaviate on this machine, each in a network namespace
// of its own where that may be made, keeps an index on them, and breaks them: a node is
// killed while it is written to, one hangs, one is cut off, the disk of one is full, two are
// gone. It reports what of the acknowledged can still be counted and read, how long
// searches took meanwhile, how fast the cluster is filled, and what many clients
// see. It does not tell copies apart: a count asked of a node may be another's.
// With -tasks it asks judged queries, too, of the embedded index and through the cluster.
//
//	KNOWLEDGE_WEAVIATE=/path/to/weaviate-server .ci/extra cluster [-chunks 100000] [-clients 50]
//		[-steps crowd,killed,hangs,parted,full,deleted,gone] [-tasks FILE -repos DIR] [-suite]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
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
	dims     = 256
	embedder = "bench-256"
	perDoc   = 8
)

// perSegment is how many documents a segment has.
var perSegment = 250

func main() {
	log.SetFlags(log.Ltime)
	chunks := flag.Int("chunks", 100_000, "how many chunks are loaded")
	clients := flag.Int("clients", 50, "how many search at once")
	each := flag.Int("each", 10, "searches of each")
	out := flag.String("out", "", "file that the report is appended to")
	steps := flag.String("steps", "crowd,killed,hangs,parted,full,deleted,gone", "what is done to it, in this order")
	tasks := flag.String("tasks", "", "file of judged queries, as of knowledge eval")
	repos := flag.String("repos", "", "folder of the repositories that the queries are about")
	suite := flag.Bool("suite", false, "run the conformance suite of indexes against it first")
	flag.IntVar(&perSegment, "segment", perSegment, "documents of each segment that is written")
	dir := flag.String("dir", "", "folder for the data of the nodes; empty is a temporary one")
	profile := flag.String("profile", "", "file that says where the time of clients goes in the step crowd")
	flag.Parse()
	binary := os.Getenv("KNOWLEDGE_WEAVIATE")
	if binary == "" {
		fmt.Println("skipped: KNOWLEDGE_WEAVIATE names no weaviate-server")
		return
	}
	b := &bench{out: *out, tasks: *tasks, repos: *repos, suite: *suite, clients: *clients, each: *each, profile: *profile}
	err := b.run(context.Background(), binary, *dir, *chunks, strings.Split(*steps, ","))
	if err != nil {
		log.Fatal(err)
	}
}

func add(file, text string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// bench is a cluster and an index on it.
type bench struct {
	*nodes
	out           string // the report, line by line: what breaks off has said what it found
	tasks, repos  string
	suite         bool
	clients, each int
	profile       string

	x      *cluster.Indexes
	pool   *index.Pool
	names  []string // segments that were acknowledged
	docs   []kb.Located
	number int64 // of the last generation
}

// smallDisk is what the disk of the last node holds in MiB when one is to be full.
const smallDisk = 2048

func (b *bench) run(ctx context.Context, binary, dir string, chunks int, steps []string) error {
	dir, err := os.MkdirTemp(dir, "knowledge-cluster-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	small := int64(0)
	if slices.Contains(steps, "full") {
		small = smallDisk
	}
	if b.nodes, err = start(binary, dir, small); err != nil {
		return err
	}
	defer b.stop()
	b.pool = index.NewPool(filepath.Join(dir, "here"), embedder, "")
	c, err := weaviate.New(b.addresses(), "")
	if err != nil {
		return err
	}
	b.x = cluster.New(filepath.Join(dir, "here"), b.pool, c)
	where := "on loopback"
	if b.lan != nil {
		where = "each in a network namespace of its own"
	}
	b.say("\n## %s: %s\n\nThree nodes %s, %d cores, load average %s; segments of %d documents of %d chunks.\n\n| what | figure |\n|---|---|", time.Now().UTC().Format(time.DateTime), strings.Join(steps, ", "), where, runtime.NumCPU(), average(), perSegment, perDoc)
	if b.suite {
		b.conforms(ctx)
	}
	if b.tasks != "" {
		if err := b.quality(ctx, dir, b.addresses()); err != nil {
			b.say("| judged queries: broke off | %v |", err)
		}
	}
	if chunks == 0 {
		return nil
	}
	if err := b.load(ctx, chunks); err != nil {
		b.say("| broke off | %v |", err)
		return nil
	}
	table := map[string]func(context.Context) error{"parts": b.parts, "crowd": b.crowd, "killed": b.killed, "hangs": b.hangs, "parted": b.parted, "full": b.full, "deleted": b.deleted, "gone": b.gone}
	for _, name := range steps {
		step := table[name]
		if step == nil {
			return fmt.Errorf("there is no step %q", name)
		}
		if err := step(ctx); err != nil {
			b.say("| %s: broke off | %v |", name, err)
		}
	}
	b.say("| load average at the end | %s |", average())
	return nil
}

// average is the load of this machine over the last minute.
func average() string {
	raw, _ := os.ReadFile("/proc/loadavg") // elsewhere there is none
	first, _, _ := strings.Cut(string(raw), " ")
	return first
}

func (b *bench) say(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	fmt.Println(line)
	if b.out == "" {
		return
	}
	if err := add(b.out, line+"\n"); err != nil {
		log.Print(err)
	}
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
		if n := (i + 1) * perSegment * perDoc; n == chunks/4 || n == chunks/2 {
			memory, disk := b.use()
			b.say("| at %d chunks | %.0f s; memory of the nodes %v, disk %v MiB |", n, time.Since(began).Seconds(), memory, disk)
		}
		if i%10 == 9 {
			log.Printf("%d chunks, %.0f s", (i+1)*perSegment*perDoc, time.Since(began).Seconds())
		}
	}
	took := time.Since(began).Seconds()
	n := len(b.docs) * perDoc
	b.say("| %d chunks and %d documents at QUORUM, three copies | %.0f s, %.0f objects a second |", n, len(b.docs), took, float64(n+len(b.docs))/took)
	b.say("| … of the nodes' processor time | %.0f s, %.0f ms a chunk |", b.used().Seconds(), float64(b.used().Milliseconds())/float64(max(n, 1)))
	memory, disk := b.use()
	b.say("| memory of the nodes, MiB | %v |\n| disk of the nodes, MiB | %v |", memory, disk)
	return nil
}

// publish writes a generation of all that was acknowledged, and opens it as a
// machine does that has nothing of it.
func (b *bench) publish(ctx context.Context) (kb.Index, error) {
	b.number++
	generation := b.number
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

func (b *bench) crowd(ctx context.Context) error {
	began := time.Now()
	x, err := b.publish(ctx)
	if err != nil {
		return err
	}
	defer x.Release()
	b.say("| the tables of it, fetched by a machine that has nothing | %.1f s |", time.Since(began).Seconds())
	if b.profile != "" {
		f, err := os.Create(b.profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	for _, n := range []int{1, 10, b.clients, b.clients} { // what the first ones fetched the last ones have
		began, before := time.Now(), b.used()
		took, failed := b.searches(ctx, x, n, b.each)
		all := time.Since(began)
		b.say("| hybrid, %d clients, %d searches each, no pause | p50 %d ms, p95 %d ms, %d failed; %.0f searches a second, %d ms of the nodes' processor time each |", n, b.each,
			took[len(took)/2].Milliseconds(), took[len(took)*95/100].Milliseconds(), failed, float64(len(took))/all.Seconds(),
			(b.used()-before).Milliseconds()/int64(len(took)))
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
