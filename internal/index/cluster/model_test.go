package cluster

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/kb/kbtest"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate/weaviatetest"
)

var histories = flag.Int("histories", 2, "how many random histories TestHistories plays")

// world is what several machines share: a double, a clock, and what each generation holds.
type world struct {
	t      *testing.T
	double *weaviatetest.Double
	stores []kb.Spec

	still sync.RWMutex // held while the clock must not move far
	hours atomic.Int64 // how far it was moved, in nanoseconds

	mu    sync.Mutex
	holds map[string]map[string]string // of a manifest: path to text
	count map[string]int               // what was done
}

func (w *world) now() time.Time { return time.Now().Round(0).Add(time.Duration(w.hours.Load())) }

func (w *world) did(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count[what]++
}

// life is a process of a machine: from some request on, it is dead for the cluster.
type life struct {
	*world
	r     *rand.Rand
	x     *Indexes
	ctx   context.Context
	die   func()
	left  atomic.Int64 // requests until it dies; negative never
	slept atomic.Int64 // nanoseconds
	stops atomic.Int64 // of so many requests one stops for hours; 0 for none
	dead  atomic.Bool
}

// begin starts a process on a data directory that dies after so many requests.
func (w *world) begin(dir string, seed uint64, requests int64) *life {
	l := &life{world: w, r: rand.New(rand.NewPCG(seed, 9))}
	l.left.Store(requests)
	s := httptest.NewServer(http.HandlerFunc(l.serve))
	w.t.Cleanup(s.Close)
	c, err := weaviate.New(s.URL, "")
	if err != nil {
		w.t.Fatal(err)
	}
	l.ctx, l.die = context.WithCancel(w.t.Context())
	w.t.Cleanup(c.Close)
	l.x = New(dir, index.NewPool(dir, kbtest.IndexEmbedder, ""), c)
	l.x.now, l.x.lease = w.now, 200*time.Millisecond
	l.x.wall = func() time.Time { return time.Now().Add(time.Duration(l.slept.Load())) }
	return l
}

func (l *life) serve(rw http.ResponseWriter, r *http.Request) {
	if l.dead.Load() {
		panic(http.ErrAbortHandler)
	}
	last := l.left.Add(-1) == 0
	if last {
		l.dead.Store(true)
		defer l.die()
		if rand.IntN(2) == 0 { // before it arrives, or before its answer does
			panic(http.ErrAbortHandler)
		}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	// A request that publishes a state does not stop: it has a deadline that is shorter.
	if n := l.stops.Load(); n > 0 && rand.Int64N(n) == 0 && !bytes.Contains(body, []byte(`"name":"head `)) {
		l.did("stopped for hours")
		l.slept.Add(int64(grace))
		for until := l.hours.Load() + int64(5*grace/2); l.hours.Load() < until && l.t.Context().Err() == nil; {
			time.Sleep(time.Millisecond)
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	l.double.ServeHTTP(rw, r)
	if last {
		panic(http.ErrAbortHandler)
	}
}

// textOf is a document of few that there are, so that content recurs.
func textOf(r *rand.Rand, n int) string {
	return fmt.Sprintf("word%d of some text\n", r.IntN(n))
}

func documentOf(body string) kb.SegmentDocument {
	v := []float32{1, float32(len(body)), 0, 0, 0, 0, 0, 0}
	return kb.SegmentDocument{Hash: kb.HashDocument([]byte(body)), Text: kb.Text{Body: body, Language: "go"}, Vectors: [][]float32{v},
		Chunks: []kb.Chunk{{From: 0, To: len(body), Start: 1, End: 1, Kind: "text"}}}
}

// publish edits a store and shares what comes of it; merge writes all of it into one segment.
func (l *life) publish(ctx context.Context, s kb.Spec, merge bool) error {
	h, err := l.x.Head(ctx, s.ID())
	if err != nil {
		return err
	}
	docs, at, round := map[string]string{}, map[string]kb.Location{}, int64(0)
	m := kb.Manifest{Store: s.ID(), Chunker: kbtest.IndexChunker, Embedder: kbtest.IndexEmbedder, Generation: 1}
	if h != nil {
		if err := l.x.Stage(ctx, h.Head.Manifest); err != nil {
			return err
		}
		round, m.Previous, m.Generation = h.Round, h.Head.Manifest, h.Round+1
		if l.r.IntN(2) == 0 {
			m.Previous = ""
		}
		x, err := l.x.pool.Open(ctx, h.Head.Manifest)
		if err != nil {
			return err
		}
		defer x.Release()
		list, err := x.Manifest(ctx)
		if err != nil {
			return err
		}
		l.mu.Lock()
		docs = maps.Clone(l.holds[h.Head.Manifest])
		l.mu.Unlock()
		for _, d := range list {
			at[d.Path] = d.Location
		}
	}
	for range 1 + l.r.IntN(2) {
		p := fmt.Sprintf("d%d.go", l.r.IntN(3))
		delete(at, p)
		if docs[p] = textOf(l.r, 3); l.r.IntN(4) == 0 && len(docs) > 1 {
			delete(docs, p)
		}
	}
	if merge {
		clear(at)
	}
	b := l.x.pool.NewSegment(kbtest.IndexChunker, 8)
	fresh := map[string]int{}
	for _, p := range slices.Sorted(maps.Keys(docs)) {
		if _, ok := at[p]; ok {
			continue
		}
		if fresh[p], err = b.Add(ctx, documentOf(docs[p])); err != nil {
			return err
		}
	}
	if len(fresh) > 0 {
		name, err := b.Name(ctx)
		if err == nil {
			_, err = b.Write(ctx)
		}
		if err != nil {
			return err
		}
		for p, n := range fresh {
			at[p] = kb.Location{Segment: name, Number: n}
		}
	}
	for p := range docs {
		m.Documents = append(m.Documents, kb.Located{Path: p, Stamp: 1, Location: at[p]})
	}
	g, err := l.x.pool.NewGeneration(ctx, m)
	if err != nil {
		return err
	}
	name := kb.ManifestName(s.ID(), m.Generation, fmt.Sprintf("w%x", l.r.Uint64()))
	if _, _, err := g.Write(ctx, name); err != nil {
		return err
	}
	l.mu.Lock()
	l.holds[name] = docs
	l.mu.Unlock()
	if l.r.IntN(6) == 0 { // it comes to publish it later, or never
		return l.x.Upload(ctx, name)
	}
	return l.x.Share(ctx, &Head{Store: s.ID(), Name: s.Source[len(s.Source)-5:], Spec: s, Head: kb.Head{Manifest: name}}, round)
}

// search reads all that the head of a store names, at once and again before what was
// replaced may go.
func (l *life) search(ctx context.Context, s kb.Spec) error {
	l.still.RLock()
	began := l.hours.Load()
	look := func(x kb.Index, docs map[string]string) error {
		got, err := x.Documents(ctx, "")
		if err == nil && !slices.Equal(got, slices.Sorted(maps.Keys(docs))) {
			err = fmt.Errorf("it has %v, of %v", got, docs)
		}
		for p, body := range docs {
			if err != nil {
				return err
			}
			d, e := x.Document(ctx, p)
			if err = e; err == nil && d.Body != body {
				err = fmt.Errorf("%s has %q instead of %q", p, d.Body, body)
			}
			if err != nil {
				return err
			}
			word, _, _ := strings.Cut(body, " ")
			found, e := x.Retrieve(ctx, kb.Retrieval{Terms: []string{word}, IDF: []float64{1}, Average: [kb.Fields]float64{1, 1, 1, 1}, Limit: 50,
				BM25F: kb.BM25F{K1: 1.2, Weight: [kb.Fields]float64{1, 1, 1, 1}, B: [kb.Fields]float64{.5, .5, .5, .5}}})
			if err = e; err == nil && !slices.ContainsFunc(found, func(c kb.Candidate) bool { return c.Path == p }) {
				err = fmt.Errorf("%s is not found by %q: %v", p, word, found)
			}
		}
		return err
	}
	h, err := l.x.Head(ctx, s.ID())
	if err != nil || h == nil {
		l.still.RUnlock()
		return err
	}
	l.mu.Lock()
	docs := l.holds[h.Head.Manifest]
	l.mu.Unlock()
	x, err := l.x.Open(ctx, h.Head.Manifest)
	if err == nil {
		defer x.Release()
		err = look(x, docs)
	}
	l.still.RUnlock()
	if err != nil {
		return fmt.Errorf("generation %s of round %d: %w", h.Head.Manifest, h.Round, err)
	}
	time.Sleep(time.Duration(l.r.IntN(150)) * time.Millisecond)
	l.still.RLock()
	defer l.still.RUnlock()
	if l.hours.Load()-began > int64(grace) {
		return nil
	}
	l.did("searched again")
	if err := look(x, docs); err != nil {
		return fmt.Errorf("generation %s of round %d, open for %v: %w", h.Head.Manifest, h.Round, time.Duration(l.hours.Load()-began), err)
	}
	return nil
}

// machine does things at random, in one life after the other.
func (w *world) machine(n int, seed uint64, things int) {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	dir := w.t.TempDir()
	var l *life
	for range things {
		if l == nil || l.dead.Load() || r.IntN(10) == 0 {
			requests := int64(-1)
			if r.IntN(2) == 0 {
				requests = 1 + r.Int64N(250)
			}
			l = w.begin(dir, r.Uint64(), requests)
		}
		s := w.stores[r.IntN(len(w.stores))]
		var err error
		what := ""
		ctx := l.ctx
		switch k := r.IntN(20); {
		case k < 7:
			what = "search"
			from := l
			if r.IntN(2) == 0 { // by a machine that has nothing yet
				from = w.begin(w.t.TempDir(), r.Uint64(), -1)
			}
			from.x.SetFew(-1)
			err = from.search(from.ctx, s)
		case k < 14:
			what = "publish"
			l.stops.Store(80)
			err = l.publish(ctx, s, k < 9)
		case k < 18:
			what = "collect"
			l.stops.Store(25)
			_, err = l.x.Collect(ctx, false, 0)
		case k < 19:
			what = "lend"
			l.stops.Store(80)
			err = l.x.Lend(ctx, s.ID(), "view", fmt.Sprint(r.IntN(3)), []byte("what was derived"))
		default:
			what = "remove"
			err = l.x.Remove(ctx, s.ID())
		}
		l.stops.Store(0)
		switch code := kb.CodeOf(err); {
		case err == nil:
			w.did(what)
		case l.dead.Load():
			w.did(what + ", killed")
		case (code == kb.Busy || code == kb.Away) && what != "search", code == kb.NotFound && what == "remove":
			w.did(what + ", told to try again")
		case what == "publish" && (code == kb.NotFound || code == kb.Corrupt):
			w.did(what + ", of what was replaced for hours") // it stopped between the head and the fetching
		default:
			w.t.Errorf("machine %d: %s: %v", n, what, err)
		}
	}
}

// TestHistories: machines index, search, merge, share, delete and collect at random, die
// between any two requests and stop for hours. No search misses what its head names, and
// when all is quiet nothing is left that no head names.
func TestHistories(t *testing.T) {
	for n := range *histories {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			w := &world{t: t, double: weaviatetest.New(t), holds: map[string]map[string]string{}, count: map[string]int{}}
			for i := range 3 {
				w.stores = append(w.stores, kb.Spec{Kind: kb.KindRepo, Source: fmt.Sprintf("https://example.org/%d.git", i)})
			}
			quit := make(chan bool)
			var clock, machines sync.WaitGroup
			clock.Go(func() {
				r := rand.New(rand.NewPCG(uint64(n), 77))
				for {
					select {
					case <-quit:
						return
					case <-time.After(time.Duration(10+r.IntN(80)) * time.Millisecond):
						w.still.Lock()
						w.hours.Add(int64(time.Duration(r.IntN(30)) * time.Minute))
						w.still.Unlock()
					}
				}
			})
			for i := range 3 {
				machines.Go(func() { w.machine(i, uint64(1000*n), 25) })
			}
			machines.Wait()
			close(quit)
			clock.Wait()
			w.quiet()
			t.Log(w.count)
		})
	}
}

// quiet collects until nothing is left to collect, and looks at what is there.
func (w *world) quiet() {
	l := w.begin(w.t.TempDir(), 1, -1)
	for range 3 {
		w.hours.Add(int64(holds + time.Hour))
		if _, err := l.x.Collect(w.t.Context(), false, 0); err != nil {
			w.t.Fatal(err)
		}
	}
	named := map[string]bool{}
	for _, s := range w.stores {
		if err := l.search(w.t.Context(), s); err != nil {
			w.t.Errorf("in the end: %v", err)
		}
		h, err := l.x.Head(w.t.Context(), s.ID())
		if err != nil {
			w.t.Fatal(err)
		}
		if h == nil {
			continue
		}
		_, needs, err := l.x.get(w.t.Context(), h.Head.Manifest)
		if err != nil {
			w.t.Fatal(err)
		}
		if name, err := l.x.Lent(w.t.Context(), s.ID(), "view"); err != nil || name != "" {
			needs = append(needs, lentFile(s.ID(), "view", name))
		}
		for _, name := range append(needs, h.Head.Manifest) {
			named[name] = true
		}
	}
	left := map[string]int{}
	for _, p := range w.double.All(fileClass) {
		if !named[p["name"].(string)] {
			left[p["name"].(string)]++
		}
	}
	for _, class := range []string{chunkClass, documentClass} {
		for _, p := range w.double.All(class) {
			if !named[p["seg"].(string)+index.Ext] {
				left[class+p["seg"].(string)]++
			}
		}
	}
	if len(left) > 0 {
		w.t.Errorf("nobody needs %v", left)
	}
	registers := w.double.All(headClass)
	if len(registers) > 200 {
		w.t.Errorf("%d registers are left", len(registers))
	}
	w.did(fmt.Sprintf("%d registers left", len(registers)))
}
