package index

import (
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/index/vector"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Pool shares open segments between generations and stores.
type Pool struct {
	Dir      string // folder of the segments
	Embedder string // whose vectors are used
	Engine   string // of package vector

	mu   sync.Mutex
	open map[string]*pooled
}

type pooled struct {
	seg  *segment
	refs int
}

// get opens or shares a segment; put gives it back.
func (p *Pool) get(name string) (*segment, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// A segment that was damaged and mended has the name it had before.
	if e, ok := p.open[name]; ok && !e.seg.replaced(p.Dir) {
		e.refs++
		return e.seg, nil
	}
	s, err := openSegment(p.Dir, name, p.Embedder)
	if err != nil {
		return nil, err
	}
	if p.open == nil {
		p.open = map[string]*pooled{}
	}
	s.pooled = &pooled{s, 1}
	p.open[name] = s.pooled
	return s, nil
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

// Hold keeps segments open until release is called, so that work on their
// documents one by one does not open and close them each time.
func (p *Pool) Hold(names []string) (release func(), err error) {
	var held []*segment
	release = func() {
		for _, s := range held {
			p.put(s)
		}
	}
	for _, n := range names {
		s, err := p.get(n)
		if err != nil {
			release()
			return nil, err
		}
		held = append(held, s)
	}
	return release, nil
}

// SegmentKeys returns the documents that a segment holds, in order.
func (p *Pool) SegmentKeys(name string) ([]DocKey, error) {
	s, err := p.get(name)
	if err != nil {
		return nil, err
	}
	defer p.put(s)
	keys := make([]DocKey, s.info.Documents)
	err = s.file.Guard(func() error {
		for d := range keys {
			keys[d] = s.key(d)
		}
		return nil
	})
	return keys, err
}

// SegmentChunker returns the version of the chunker that cut a segment's
// chunks; NotFound when the segment, or its vectors, are not there.
func (p *Pool) SegmentChunker(name string) (uint32, error) {
	s, err := p.get(name)
	if err != nil {
		return 0, err
	}
	defer p.put(s)
	_, m, err := s.vectors(p.Engine)
	if err != nil {
		return 0, err
	}
	if m == nil {
		return 0, kb.Errorf(kb.NotFound, "segment %s has no vectors of %s", name, p.Embedder)
	}
	return s.file.Header().Chunker, nil
}

// TextBytes returns the size of the text of one document.
func (p *Pool) TextBytes(name string, doc int) (int64, error) {
	s, err := p.get(name)
	if err != nil {
		return 0, err
	}
	defer p.put(s)
	if doc >= s.info.Documents {
		return 0, s.corrupt("it has fewer documents than its users say")
	}
	return s.textLen(doc), nil
}

// StoredDocument is a document taken out of a segment, to be put into another.
type StoredDocument struct {
	Key     DocKey
	Text    kb.Text
	Chunks  []kb.Chunk
	Facts   kb.Facts
	Vectors *vector.Matrix // of the whole segment; nil when there are none
	First   int            // row of the document's first chunk
}

// Document takes one document out of a segment. use is called while the
// segment is open; the matrix does not outlive it.
func (p *Pool) Document(name string, doc int, use func(StoredDocument) error) error {
	s, err := p.get(name)
	if err != nil {
		return err
	}
	defer p.put(s)
	return s.file.Guard(func() error {
		if doc >= s.info.Documents {
			return s.corrupt("it has fewer documents than its users say")
		}
		body, err := s.body(doc)
		if err != nil {
			return err
		}
		chunks, err := s.chunksOf(doc)
		if err != nil {
			return err
		}
		facts, err := s.factsOf(doc, chunks)
		if err != nil {
			return err
		}
		_, m, err := s.vectors(p.Engine)
		if err != nil {
			return err
		}
		first, _ := s.chunkRange(doc)
		return use(StoredDocument{
			Key:    s.key(doc),
			Text:   kb.Text{Body: body, Language: s.language(doc), Flags: s.flags(doc)},
			Chunks: chunks, Facts: facts, Vectors: m, First: first,
		})
	})
}
