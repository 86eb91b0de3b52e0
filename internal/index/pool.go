package index

import (
	"cmp"
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/index/vector"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Pool is the kb.Indexes of this machine. It shares what is open: generations
// between their readers, segments between generations and stores.
type Pool struct {
	Dir         string // folder of the segments and layouts
	Generations string // folder of the manifests
	Embedder    string // whose vectors are used
	Engine      string // of package vector
	// Far is where the rest of the segments is, when they are thin; nil when they
	// are whole.
	Far Far
	// Few is up to how many documents of a Far all are looked at, without asking
	// which of them may answer.
	Few int

	cards cards
	asked chan struct{} // the retrievals that ask Far now
	least int64         // in tests: wholeBelow

	opening sync.Mutex // held while a generation is opened; before mu
	mu      sync.Mutex
	open    map[string]*pooled
	live    map[string]*Generation // by the name of the manifest
}

var _ kb.Indexes = (*Pool)(nil)

// CheckEngine refuses what names no vector engine; "" is the default one.
func CheckEngine(name string) error {
	if name != "" && !slices.Contains(vector.EngineNames(), name) {
		return kb.Errorf(kb.Invalid, "there is no vector engine %q", name).
			WithHint("choose one of %s", strings.Join(vector.EngineNames(), ", "))
	}
	return nil
}

// NewPool returns the indexes in a data directory.
func NewPool(dir, embedder, engine string) *Pool {
	return &Pool{Dir: filepath.Join(dir, "segments"), Generations: filepath.Join(dir, "generations"), Embedder: embedder,
		Engine: cmp.Or(engine, vector.DefaultEngine), asked: make(chan struct{}, atOnceFar)}
}

// wholeBelow is the constant, or in tests another size.
func (p *Pool) wholeBelow() int64 { return cmp.Or(p.least, wholeBelow) }

// ManifestPath returns where the manifest called name lies.
func (p *Pool) ManifestPath(name string) string { return filepath.Join(p.Generations, name) }

// Open implements kb.Indexes.
func (p *Pool) Open(_ context.Context, manifest string) (kb.Index, error) {
	g, err := p.generation(manifest, func(g *Generation) bool { return g.current() })
	if err != nil {
		return nil, err
	}
	return g, nil
}

// previous opens the generation with that manifest. One that a caller has open
// serves, whatever became of its files.
func (p *Pool) previous(manifest string) (*Generation, error) {
	return p.generation(manifest, func(*Generation) bool { return true })
}

// generation shares an open generation that serves, or opens it.
func (p *Pool) generation(manifest string, serves func(*Generation) bool) (*Generation, error) {
	p.opening.Lock()
	defer p.opening.Unlock()
	if g := p.share(manifest); g != nil {
		if serves(g) {
			return g, nil
		}
		g.Release()
	}
	g, err := p.OpenGeneration(p.ManifestPath(manifest))
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live == nil {
		p.live = map[string]*Generation{}
	}
	g.name, p.live[manifest] = manifest, g
	return g, nil
}

// share returns an open generation for one reader more, nil when none is open.
func (p *Pool) share(manifest string) *Generation {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.live[manifest]
	if g != nil {
		g.refs++
	}
	return g
}

// last gives a generation up, and reports whether no reader has it open any more.
func (p *Pool) last(g *Generation) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if g.refs--; g.refs > 0 {
		return false
	}
	if p.live[g.name] == g {
		delete(p.live, g.name)
	}
	return true
}

// Forget implements kb.Indexes.
func (p *Pool) Forget(segments []string) {
	p.cards.forget(segments)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range segments {
		delete(p.open, n)
	}
	for name, g := range p.live {
		if slices.ContainsFunc(g.names, func(n string) bool { return slices.Contains(segments, n) }) {
			delete(p.live, name)
		}
	}
}

type pooled struct {
	seg  *segment
	refs int
}

// get opens or shares a segment; put gives it back.
func (p *Pool) get(name string) (*segment, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.shared(name); s != nil {
		return s, nil
	}
	s, err := openSegment(p.Dir, name, p.Embedder)
	if err != nil {
		return nil, err
	}
	p.enter(s)
	return s, nil
}

// shared returns a segment that is open already, with one more reader; nil for none.
// p.mu is held.
func (p *Pool) shared(name string) *segment {
	// A segment that was damaged and mended has the name it had before.
	if e, ok := p.open[name]; ok && !e.seg.replaced(p.Dir) {
		e.refs++
		return e.seg
	}
	return nil
}

// enter lets others have a segment that was just opened. p.mu is held.
func (p *Pool) enter(s *segment) {
	if p.open == nil {
		p.open = map[string]*pooled{}
	}
	s.pooled = &pooled{s, 1}
	p.open[s.name] = s.pooled
}

// getAll opens or shares segments, in their order; what is not open yet is opened on
// several processors. Where one fails none is held.
func (p *Pool) getAll(names []string) (segs []*segment, err error) {
	segs = make([]*segment, len(names))
	var missing []int
	p.mu.Lock()
	for i, name := range names {
		if segs[i] = p.shared(name); segs[i] == nil {
			missing = append(missing, i)
		}
	}
	p.mu.Unlock()
	errs := make([]error, len(missing))
	_ = byWorkers(len(missing), runtime.GOMAXPROCS(0), func(work func() error) error { return work() }, func(k int) error {
		segs[missing[k]], errs[k] = openSegment(p.Dir, names[missing[k]], p.Embedder)
		return nil // all are tried: which failure is told does not depend on the order
	})
	for _, i := range missing {
		if segs[i] != nil {
			segs[i] = p.adopt(segs[i])
		}
	}
	if err := cmp.Or(errs...); err != nil {
		for _, s := range segs {
			if s != nil {
				p.put(s)
			}
		}
		return nil, err
	}
	return segs, nil
}

// adopt shares a segment that was just opened, or takes the one that another has
// opened meanwhile.
func (p *Pool) adopt(s *segment) *segment {
	p.mu.Lock()
	defer p.mu.Unlock()
	if other := p.shared(s.name); other != nil {
		s.close()
		return other
	}
	p.enter(s)
	return s
}

func (p *Pool) put(s *segment) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := s.pooled
	if e.refs--; e.refs > 0 {
		return
	}
	if p.open[s.name] == e { // else it was forgotten
		delete(p.open, s.name)
	}
	s.close()
}

// with opens a segment while f works on it, and turns faults in its map into errors.
func (p *Pool) with(name string, f func(*segment) error) error {
	s, err := p.get(name)
	if err != nil {
		return err
	}
	defer p.put(s)
	return s.file.Guard(func() error { return f(s) })
}

// document takes a document out of a segment, without its vectors.
func (s *segment) document(doc int) (d kb.SegmentDocument, err error) {
	if doc < 0 || doc >= s.info.Documents {
		return d, s.corrupt("it has fewer documents than its users say")
	}
	d.Hash, d.Text.Language, d.Text.Flags = s.hash(doc), s.language(doc), s.flags(doc)
	if d.Text.Body, err = s.body(doc); err != nil {
		return d, err
	}
	if d.Chunks, err = s.chunksOf(doc); err != nil {
		return d, err
	}
	d.Facts, err = s.factsOf(doc, d.Chunks)
	return d, err
}
