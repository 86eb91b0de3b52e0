package vector

import (
	"context"
	"strconv"
	"sync"

	chromem "github.com/philippgille/chromem-go"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// chromemEngine retrieves with a chromem-go collection in memory, made at the
// first search: rows are documents named by their number, zero rows are left
// out. What it retrieves is scored like everywhere else. It exists for
// comparison and as a second reading of the interface; it is slower and keeps
// the rows in memory once more, as float32.
//
// Of chromem-go v0.7.0 this relies on, or works around: asking for more
// results than there are documents is an error; a context that ends gives a
// partial result without an error; ties come in any order; there is no filter
// by row, so that dead rows are passed over by asking for more.
type chromemEngine struct {
	m      *Matrix
	mu     sync.RWMutex // held for reading by searches
	closed bool

	building sync.Mutex
	coll     *chromem.Collection
}

func newChromem(m *Matrix) (Engine, error) { return &chromemEngine{m: m}, nil }

func (c *chromemEngine) Len() int     { return c.m.rows }
func (c *chromemEngine) Dims() int    { return c.m.dims }
func (c *chromemEngine) Name() string { return "chromem" }

func (c *chromemEngine) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed, c.coll = true, nil
	return nil
}

// collection returns the collection, made at the first call that is not cancelled.
func (c *chromemEngine) collection(ctx context.Context) (*chromem.Collection, error) {
	c.building.Lock()
	defer c.building.Unlock()
	if c.coll != nil {
		return c.coll, nil
	}
	none := func(context.Context, string) ([]float32, error) {
		return nil, kb.Errorf(kb.Internal, "vectors come from the index, not from chromem")
	}
	if err := c.m.Touch(0, c.m.rows); err != nil {
		return nil, err
	}
	coll, err := chromem.NewDB().CreateCollection("rows", nil, none)
	if err != nil {
		return nil, kb.Errorf(kb.Internal, "chromem: %w", err)
	}
	for i := range c.m.rows {
		if i%block == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		if !(c.m.scales[i] > 0 && c.m.scales[i] <= 16) {
			continue
		}
		doc := chromem.Document{ID: strconv.Itoa(i), Embedding: c.m.Row(i, nil)}
		if err := coll.AddDocument(ctx, doc); err != nil {
			return nil, kb.Errorf(kb.Internal, "chromem: %w", err)
		}
	}
	c.coll = coll
	return coll, nil
}

func (c *chromemEngine) Search(ctx context.Context, q Query) ([]Match, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed {
		return nil, closedError()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := prepare(c.m, q)
	if p == nil {
		return nil, err
	}
	coll, err := c.collection(ctx)
	if err != nil {
		return nil, err
	}
	unit := make([]float32, c.m.dims)
	for j := range unit {
		unit[j] = float32(p.vec[j] / p.norm)
	}
	// chromem sums in float32: its similarity is off by less than this.
	slack := float32(c.m.dims+16) * 0x1p-23

	// Ask for more until the last result can neither be among the K best live
	// ones nor tie with the last of them.
	count := coll.Count()
	for n := min(count, p.K+8); n > 0; n = min(count, 4*n) {
		results, err := coll.QueryEmbedding(ctx, unit, n, nil, nil)
		if cause := ctx.Err(); cause != nil {
			return nil, cause
		}
		if err != nil {
			return nil, kb.Errorf(kb.Internal, "chromem: %w", err)
		}
		scores := best{k: p.K}
		var matches []Match
		for _, r := range results {
			row, err := strconv.Atoi(r.ID)
			if err != nil {
				return nil, kb.Errorf(kb.Internal, "chromem: a result named %q", r.ID)
			}
			if !p.live(row) {
				continue
			}
			if s, ok := p.score(row); ok {
				scores.add(s)
				matches = append(matches, Match{Row: row, Score: s})
			}
		}
		last := results[len(results)-1].Similarity + slack
		if n == count || last < scores.floor() || (p.Min != 0 && last < p.Min) {
			return p.finish(matches), nil
		}
	}
	return nil, nil
}
