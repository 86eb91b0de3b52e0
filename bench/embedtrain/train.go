package main

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
)

// options are the numbers that training is tuned by.
type options struct {
	Dims, Words, Buckets, Least int
	Batch, Epochs, Near         int
	Rate, Temperature           float64
	Seed                        uint64
	Workers                     int
	Share                       [kinds]float64 // of the pairs of a kind that an epoch sees; 0 is all
}

// trainer holds the weights and the memory of one batch.
type trainer struct {
	o        options
	c        *corpus
	words    []uint32 // corpus numbers of the words with a row
	features [][]feature
	rows     []float32
	squares  []float32 // Adagrad: per row the sum of mean squares of gradients

	raw, unit, grad []float32 // 2*Batch by Dims: queries, then documents
	norms           []float32
	hashes          []uint64
	unitT           []float32
	s, st           []float32 // Batch by Batch
	rowSum, colSum  []float32
	shards          [shards][]entry
	sums            [][]float32 // per worker
}

// feature is a part of a word's vector: a row and its factor.
type feature struct {
	row    uint32
	factor float32
}

// entry says that an example's side contains a row.
type entry struct {
	key    uint64 // row, then side: the order of summation
	weight float32
}

const shards = 64

func newTrainer(c *corpus, o options) *trainer {
	t := &trainer{o: o, c: c, words: c.frequent(o.Words, o.Least)}
	t.features = make([][]feature, len(c.words))
	for i, w := range t.words {
		t.features[w] = []feature{{uint32(i), 1}}
	}
	for i, w := range c.words {
		if t.features[i] == nil {
			for _, b := range embed.Trigrams(w, o.Buckets) {
				t.features[i] = append(t.features[i], feature{uint32(len(t.words) + b), float32(1 / math.Sqrt(float64(utf8.RuneCountInString(w))))})
			}
		}
	}
	rows := len(t.words) + o.Buckets
	t.rows = make([]float32, rows*o.Dims)
	t.squares = make([]float32, rows)
	t.start()
	b := o.Batch
	t.raw, t.unit, t.grad = make([]float32, 2*b*o.Dims), make([]float32, 2*b*o.Dims), make([]float32, 2*b*o.Dims)
	t.unitT = make([]float32, 2*b*o.Dims)
	t.hashes = make([]uint64, 2*b)
	t.norms, t.rowSum, t.colSum = make([]float32, 2*b), make([]float32, b), make([]float32, b)
	t.s, t.st = make([]float32, b*b), make([]float32, b*b)
	t.sums = make([][]float32, o.Workers)
	for i := range t.sums {
		t.sums[i] = make([]float32, o.Dims)
	}
	return t
}

// start sets the rows to random directions. The more texts a word stands in,
// the shorter it begins: a/(a+p) with p its share of the texts.
func (t *trainer) start() {
	n := t.c.count()
	r := rand.New(rand.NewPCG(t.o.Seed, 1))
	for i := range len(t.rows) / t.o.Dims {
		length := 1.0
		if i < len(t.words) {
			p := float64(n[t.words[i]]) / float64(2*len(t.c.pairs))
			length = 0.01 / (0.01 + p)
		}
		row := t.rows[i*t.o.Dims:][:t.o.Dims]
		for j := range row {
			row[j] = float32(r.NormFloat64() * length / math.Sqrt(float64(t.o.Dims)))
		}
	}
}

// parallel calls f with every part of [0, n) of size step, on all workers.
// What f writes must depend on the part alone.
func (t *trainer) parallel(n, step int, f func(worker, from, to int)) {
	if t.o.Workers == 1 {
		for i := 0; i < n; i += step {
			f(0, i, min(i+step, n))
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range t.o.Workers {
		wg.Go(func() {
			for {
				i := int(next.Add(int64(step))) - step
				if i >= n {
					return
				}
				f(w, i, min(i+step, n))
			}
		})
	}
	wg.Wait()
}

// order returns the numbers of one epoch's pairs: blocks of Near pairs of one
// repository each, shuffled. What is searched is one project, so that pairs of
// one have to be told apart by more than the words of their project.
func (t *trainer) order(epoch int) []int32 {
	r := rand.New(rand.NewPCG(t.o.Seed, 2+uint64(epoch)))
	type keyed struct {
		repo uint16
		key  uint32
		i    int32
	}
	all := make([]keyed, 0, len(t.c.pairs))
	for i := range t.c.pairs {
		p := &t.c.pairs[i]
		key := r.Uint32()
		if s := t.o.Share[p.kind]; s > 0 && r.Float64() >= s {
			continue
		}
		all = append(all, keyed{p.repo, key, int32(i)})
	}
	slices.SortFunc(all, func(a, b keyed) int {
		if t.o.Near > 1 {
			if d := cmp.Compare(a.repo, b.repo); d != 0 {
				return d
			}
		}
		return cmp.Compare(a.key, b.key)
	})
	h := max(1, t.o.Near)
	blocks := (len(all) + h - 1) / h
	perm := r.Perm(blocks)
	out := make([]int32, 0, len(all))
	for _, b := range perm {
		for _, k := range all[b*h : min((b+1)*h, len(all))] {
			out = append(out, k.i)
		}
	}
	return out
}

// train runs all epochs. say gets a line now and then; after, unless nil, is
// called at the end of every epoch.
func (t *trainer) train(ctx context.Context, say func(string, ...any), after func(epoch int)) error {
	began := time.Now()
	var total, done int
	orders := make([]int, t.o.Epochs)
	for e := range orders {
		orders[e] = len(t.order(e)) / t.o.Batch
		total += orders[e]
	}
	for e := range t.o.Epochs {
		order := t.order(e)
		var loss, right float64
		last := time.Now()
		for b := range orders[e] {
			if err := ctx.Err(); err != nil {
				return err
			}
			rate := t.o.Rate * max(0.02, 1-float64(done)/float64(total))
			l, r := t.step(order[b*t.o.Batch:(b+1)*t.o.Batch], rate)
			loss, right = loss+l, right+r
			done++
			if time.Since(last) > 20*time.Second || b == orders[e]-1 {
				last = time.Now()
				eta := time.Duration(float64(time.Since(began)) / float64(done) * float64(total-done))
				say("epoch %d/%d batch %d/%d loss %.4f accuracy %.4f eta %s", e+1, t.o.Epochs, b+1, orders[e],
					loss/float64(b+1), right/float64(b+1), eta.Round(time.Second))
			}
		}
		if after != nil {
			after(e)
		}
	}
	return nil
}

// step makes one step on a batch and returns its loss and the share of
// queries whose own document is nearest.
//
// With q and d the unit vectors, s[i][j] = exp((q[i]·d[j] - 1)/temperature),
// the loss is the mean over i of
//
//	-log(s[i][i]/sum over j of s[i][j])/2 - log(s[i][i]/sum over j of s[j][i])/2
func (t *trainer) step(batch []int32, rate float64) (loss, right float64) {
	n, dims := t.o.Batch, t.o.Dims
	temperature := float32(t.o.Temperature)
	t.parallel(2*n, 32, func(_, from, to int) {
		for side := from; side < to; side++ {
			v := t.raw[side*dims:][:dims]
			clear(v)
			for _, o := range t.side(batch, side) {
				w := float32(math.Sqrt(float64(o.n)))
				for _, f := range t.features[o.word] {
					addScaled(v, t.rows[int(f.row)*dims:][:dims], w*f.factor)
				}
			}
			length := float32(math.Sqrt(float64(dot(v, v))))
			t.norms[side] = length
			u := t.unit[side*dims:][:dims]
			clear(u)
			if length > 0 {
				addScaled(u, v, 1/length)
			}
		}
	})
	q, d := t.unit[:n*dims], t.unit[n*dims:]
	qt, dt := t.unitT[:n*dims], t.unitT[n*dims:]
	t.parallel(dims, 16, func(_, from, to int) {
		transpose(qt, q, from, to, n, dims)
		transpose(dt, d, from, to, n, dims)
	})
	// Pairs one of whose sides is the same are not held against each other.
	for side := range t.hashes {
		h := uint64(side/n) + 1
		for _, o := range t.side(batch, side) {
			h = (h ^ uint64(o.word)<<8 ^ uint64(o.n)) * 0x9e3779b97f4a7c15
			h ^= h >> 29
		}
		t.hashes[side] = h
	}
	hits := make([]float64, n)
	t.parallel(n, 16, func(_, from, to int) {
		mulABt(t.s, q, d, from, to, n, dims)
		for i := from; i < to; i++ {
			row := t.s[i*n:][:n]
			var sum float32
			hits[i] = 1
			own := row[i]
			for j, x := range row {
				if x > own {
					hits[i] = 0
				}
				if j != i && (t.hashes[i] == t.hashes[j] || t.hashes[n+i] == t.hashes[n+j]) {
					row[j] = 0
					continue
				}
				row[j] = exp32((x - 1) / temperature)
				sum += row[j]
			}
			t.rowSum[i] = sum
		}
	})
	t.parallel(n, 64, func(_, from, to int) {
		sum := t.colSum[from:to]
		clear(sum)
		for i := range n {
			for j, x := range t.s[i*n+from : i*n+to] {
				sum[j] += x
			}
		}
	})
	for i := range n {
		own := float64(t.s[i*n+i])
		loss -= (math.Log(own/float64(t.rowSum[i])) + math.Log(own/float64(t.colSum[i]))) / 2
		right += hits[i]
	}
	// s becomes the gradient of the loss by the cosines, times n.
	half := 0.5 / temperature
	t.parallel(n, 16, func(_, from, to int) {
		for i := from; i < to; i++ {
			row := t.s[i*n:][:n]
			r := 1 / t.rowSum[i]
			for j := range row {
				row[j] *= half * (r + 1/t.colSum[j])
			}
			row[i] -= 2 * half
		}
	})
	t.parallel(n, 16, func(_, from, to int) {
		mulABt(t.grad[:n*dims], t.s, dt, from, to, dims, n)
		transpose(t.st, t.s, from, to, n, n)
		mulABt(t.grad[n*dims:], t.st, qt, from, to, dims, n)
	})
	// Through the normalisation: (g - (g·u) u)/length.
	t.parallel(2*n, 32, func(_, from, to int) {
		for side := from; side < to; side++ {
			g, u := t.grad[side*dims:][:dims], t.unit[side*dims:][:dims]
			addScaled(g, u, -dot(g, u))
			if l := t.norms[side]; l > 0 {
				for j := range g {
					g[j] /= l
				}
			}
		}
	})
	t.update(batch, float32(rate))
	return loss / float64(n), right / float64(n)
}

func (t *trainer) side(batch []int32, side int) []occurrence {
	if side < len(batch) {
		return t.c.pairs[batch[side]].q
	}
	return t.c.pairs[batch[side-len(batch)]].d
}

// update adds up the gradient of every row that the batch touches and makes
// the step of row-wise Adagrad:
//
//	squares += mean of g², row -= rate * g / sqrt(squares)
//
// A row belongs to one shard and its gradient is summed in order of the
// sides, so that the result does not depend on the number of workers.
func (t *trainer) update(batch []int32, rate float32) {
	dims := t.o.Dims
	for i := range t.shards {
		t.shards[i] = t.shards[i][:0]
	}
	for side := range 2 * t.o.Batch {
		for _, o := range t.side(batch, side) {
			w := float32(math.Sqrt(float64(o.n)))
			for _, f := range t.features[o.word] {
				s := &t.shards[f.row%shards]
				*s = append(*s, entry{uint64(f.row)<<32 | uint64(side), w * f.factor})
			}
		}
	}
	t.parallel(shards, 1, func(worker, from, _ int) {
		es := t.shards[from]
		slices.SortFunc(es, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
		g := t.sums[worker]
		for i := 0; i < len(es); {
			row := es[i].key >> 32
			clear(g)
			for ; i < len(es) && es[i].key>>32 == row; i++ {
				addScaled(g, t.grad[int(uint32(es[i].key))*dims:][:dims], es[i].weight)
			}
			t.squares[row] += dot(g, g) / float32(dims)
			if s := t.squares[row]; s > 0 {
				addScaled(t.rows[int(row)*dims:][:dims], g, -rate/float32(math.Sqrt(float64(s))))
			}
		}
	})
}

// model returns the weights as they stand, quantised.
func (t *trainer) model(name string, version int) *embed.Model {
	words := make([]string, len(t.words))
	for i, w := range t.words {
		words[i] = t.c.words[w]
	}
	m := embed.NewModel(name, version, t.o.Dims, words, t.o.Buckets)
	for i := range m.Scales {
		m.SetRow(i, t.rows[i*t.o.Dims:][:t.o.Dims])
	}
	return m
}
