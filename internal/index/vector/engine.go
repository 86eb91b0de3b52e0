package vector

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Match is one row near a query.
type Match struct {
	Row   int
	Score float32 // cosine, in [-1, 1] but for rounding
}

// Query asks for the K rows of greatest cosine with Vector.
type Query struct {
	// Vector has the matrix's dimensions and any length. A zero vector matches nothing.
	Vector []float32
	// K is the largest number of matches; 0 and less give none.
	K int
	// Live holds row i in bit i%64 of word i/64; rows not in it are left out.
	// nil means that all rows are live.
	Live []uint64
	// Less orders rows of equal score, so that the answer does not depend on
	// how rows are laid out. nil, and rows that are equal under it: by row number.
	Less func(a, b int) bool
	// Min, unless 0, leaves out matches of a lesser score.
	Min float32
}

// Engine searches one matrix. Implementations are safe for concurrent use.
type Engine interface {
	// Search returns the matches in descending order of score, then by Less.
	// Rows of zero vectors never match. A vector of other dimensions or with
	// an element that is not finite is Invalid. A context that ends ends the
	// search with the context's error.
	Search(ctx context.Context, q Query) ([]Match, error)
	// Len returns the number of rows, live or not.
	Len() int
	Dims() int
	// Name returns the name in Engines.
	Name() string
	// Close waits for searches under way; later ones fail. The matrix's bytes
	// may go after it returned.
	Close() error
}

// DefaultEngine is the name of the engine that an empty name means.
const DefaultEngine = "flat"

// Engines is the table of engines by name.
var Engines = map[string]func(m *Matrix) (Engine, error){
	"flat":    newFlat,
	"chromem": newChromem,
}

// EngineNames returns the names in Engines, sorted.
func EngineNames() []string {
	names := make([]string, 0, len(Engines))
	for n := range Engines {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// NewEngine returns the engine of that name over m; "" is the default.
func NewEngine(name string, m *Matrix) (Engine, error) {
	if name == "" {
		name = DefaultEngine
	}
	f, ok := Engines[name]
	if !ok {
		return nil, kb.Errorf(kb.Invalid, "no vector engine named %q", name).
			WithHint("use one of: %s", strings.Join(EngineNames(), ", "))
	}
	return f(m)
}

// prepared is a checked query over one matrix.
type prepared struct {
	Query
	m    *Matrix
	vec  []float64 // Vector, padded with zeros to the stride
	norm float64   // its length
}

// prepare checks q. It returns nil without an error when nothing can match.
func prepare(m *Matrix, q Query) (*prepared, error) {
	if len(q.Vector) != m.dims {
		return nil, kb.Errorf(kb.Invalid, "the query has %d dimensions, the vectors have %d", len(q.Vector), m.dims).
			WithHint("embed the query with the embedder that the store was indexed with")
	}
	p := &prepared{Query: q, m: m, vec: make([]float64, m.stride)}
	squares := 0.0
	for j, x := range q.Vector {
		f := float64(x)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, kb.Errorf(kb.Invalid, "element %d of the query vector is %v", j, x).
				WithHint("check the embedder: its vectors must be finite")
		}
		p.vec[j] = f
		squares += f * f // exact: 24 bits squared
	}
	if math.IsNaN(float64(q.Min)) {
		return nil, kb.Errorf(kb.Invalid, "the least score is not a number").WithHint("give a number in [-1, 1]")
	}
	p.K = min(q.K, m.rows)
	if squares == 0 || p.K <= 0 {
		return nil, nil
	}
	p.norm = math.Sqrt(squares)
	return p, nil
}

// live reports whether row i may match.
func (p *prepared) live(i int) bool {
	if p.Live == nil {
		return true
	}
	w := i >> 6
	return w < len(p.Live) && p.Live[w]>>(i&63)&1 != 0
}

// score returns the score of row i as the package comment defines it, and
// false for a row that never matches.
func (p *prepared) score(i int) (float32, bool) {
	r := p.m.Raw(i)
	// A damaged scale may be anything; such a row is as good as none.
	if !(r.Scale > 0 && r.Scale <= 16) {
		return 0, false
	}
	return float32(float64(r.Scale) / 16 * (r.dot(p.vec) / p.norm)), true
}

// finish puts matches in order and cuts them to what was asked for.
func (p *prepared) finish(ms []Match) []Match {
	if p.Min != 0 {
		ms = slices.DeleteFunc(ms, func(m Match) bool { return m.Score < p.Min })
	}
	slices.SortFunc(ms, func(a, b Match) int {
		if c := cmp.Compare(b.Score, a.Score); c != 0 {
			return c
		}
		if p.Less != nil {
			if p.Less(a.Row, b.Row) {
				return -1
			}
			if p.Less(b.Row, a.Row) {
				return 1
			}
		}
		return cmp.Compare(a.Row, b.Row)
	})
	return ms[:min(len(ms), p.K)]
}

// best keeps the k greatest numbers it saw, the least of them at index 0.
type best struct {
	k    int
	heap []float32
}

// floor returns the k-th greatest number so far, and -Inf before there are k.
func (b *best) floor() float32 {
	if len(b.heap) < b.k {
		return float32(math.Inf(-1))
	}
	return b.heap[0]
}

func (b *best) add(x float32) {
	if len(b.heap) < b.k {
		b.heap = append(b.heap, x)
		for i := len(b.heap) - 1; i > 0; {
			up := (i - 1) / 2
			if b.heap[up] <= b.heap[i] {
				break
			}
			b.heap[up], b.heap[i] = b.heap[i], b.heap[up]
			i = up
		}
		return
	}
	if x <= b.heap[0] {
		return
	}
	h := b.heap
	i := 0
	for {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1] < h[c] {
			c++
		}
		if x <= h[c] {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = x
}

func closedError() error {
	return kb.Errorf(kb.Internal, "the vector engine is closed").WithHint("open the store again")
}
