package index

import (
	"container/list"
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// mostCards bounds the memory of documents that were fetched lately.
const mostCards = 96 << 20

// cards are the documents that were fetched lately. The content of a segment
// never changes, so that what is here is true.
type cards struct {
	mu    sync.Mutex
	at    map[kb.Location]*list.Element
	order list.List // of keptCard, the latest first
	size  int
}

type keptCard struct {
	at    kb.Location
	card  *card
	size  int    // of the card when it was last asked for: its postings grow
	facts []byte // see farFacts; nil when nobody asked for them
}

func (k *cards) get(at kb.Location) *card {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.at[at]
	if e == nil {
		return nil
	}
	k.order.MoveToFront(e)
	kept := e.Value.(*keptCard)
	by := kept.card.size() - kept.size
	kept.size += by
	k.grow(by)
	return kept.card
}

// facts returns the facts of a document that are kept beside it, nil for none, and
// keepFacts keeps them.
func (k *cards) facts(at kb.Location) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e := k.at[at]; e != nil {
		k.order.MoveToFront(e)
		return e.Value.(*keptCard).facts
	}
	return nil
}

func (k *cards) keepFacts(at kb.Location, raw []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.at[at]
	if e == nil || e.Value.(*keptCard).facts != nil {
		return
	}
	e.Value.(*keptCard).facts = raw
	k.grow(len(raw))
}

func (k *cards) put(at kb.Location, c *card) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.at == nil {
		k.at = map[kb.Location]*list.Element{}
	}
	if k.at[at] != nil {
		return
	}
	size := c.size()
	k.at[at] = k.order.PushFront(&keptCard{at: at, card: c, size: size})
	k.grow(size)
}

// grow drops the oldest documents when there are too many bytes of them; k.mu is held.
func (k *cards) grow(by int) {
	for k.size += by; k.size > mostCards && k.order.Len() > 1; {
		k.remove(k.order.Back())
	}
}

func (k *cards) remove(e *list.Element) {
	old := k.order.Remove(e).(*keptCard)
	k.size -= old.size + len(old.facts)
	delete(k.at, old.at)
}

// forget drops the documents of segments.
func (k *cards) forget(segments []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for at, e := range k.at {
		if slices.Contains(segments, at.Segment) {
			k.remove(e)
		}
	}
}

// fetch puts documents into sc.cards, from memory or from far away.
func (g *Generation) fetch(ctx context.Context, docs []int, sc *scores) error {
	if sc.cards == nil {
		sc.cards = make(map[int]*card, len(docs))
	}
	var missing []kb.Location
	wanted := map[kb.Location][]int{}
	for _, d := range docs {
		at := g.location(d)
		if c := g.pool.cards.get(at); c != nil {
			sc.cards[d] = c
			continue
		}
		if wanted[at] == nil {
			missing = append(missing, at)
		}
		wanted[at] = append(wanted[at], d)
	}
	if len(missing) == 0 {
		return nil
	}
	got, err := g.pool.Far.Load(ctx, missing, false)
	if err != nil {
		return err
	}
	for i, at := range missing {
		c, err := g.segs[g.docs[wanted[at][0]].seg].cardOf(at.Number, &got[i])
		if err != nil {
			return err
		}
		g.pool.cards.put(at, c)
		for _, d := range wanted[at] {
			sc.cards[d] = c
		}
	}
	return nil
}

// documents returns the numbers of documents by path; NotFound when one is not
// there.
func (g *Generation) documents(paths []string) ([]int, error) {
	docs := make([]int, len(paths))
	for i, p := range paths {
		d, ok := g.docByPath(p)
		if !ok {
			return nil, kb.Errorf(kb.NotFound, "no document %q in the store", p)
		}
		docs[i] = d
	}
	return docs, nil
}

func (g *Generation) passagesFar(ctx context.Context, places []kb.Place) ([]kb.Passage, error) {
	paths := make([]string, len(places))
	for i, p := range places {
		paths[i] = p.Path
	}
	docs, err := g.documents(paths)
	if err != nil {
		return nil, err
	}
	sc := &scores{}
	if err := g.fetch(ctx, docs, sc); err != nil {
		return nil, err
	}
	out := make([]kb.Passage, 0, len(places))
	for i, p := range places {
		c, s := sc.cards[docs[i]], g.segs[g.docs[docs[i]].seg]
		if p.Chunk < 0 || p.Chunk >= len(c.doc.Chunks) {
			return nil, kb.Errorf(kb.NotFound, "%q has no chunk %d", p.Path, p.Chunk)
		}
		chunk := c.doc.Chunks[p.Chunk]
		chunk.Symbols = slices.Clone(chunk.Symbols)
		text, err := c.excerpt(s, chunk.From, chunk.To)
		if err != nil {
			return nil, err
		}
		out = append(out, kb.Passage{Place: p, Chunk: chunk, Text: text, Language: c.doc.Text.Language})
	}
	return out, nil
}

// mostLoaded is how many documents are asked for at once with their facts.
const mostLoaded = 256

// outlinesFar is Outlines where the documents are elsewhere.
func (g *Generation) outlinesFar(ctx context.Context, paths []string) ([]kb.Outline, error) {
	docs, err := g.documents(paths)
	if err != nil {
		return nil, err
	}
	out := make([]kb.Outline, 0, len(docs))
	for some := range slices.Chunk(docs, mostLoaded) {
		facts, _, err := g.loadFacts(ctx, some, false)
		if err != nil {
			return nil, err
		}
		for i, d := range some {
			s, n := g.segs[g.docs[d].seg], int(g.docs[d].doc)
			o := kb.Outline{Path: g.paths[d], Hash: s.hash(n), Language: s.language(n), Flags: s.flags(n), Facts: facts[i].Facts}
			for j := range facts[i].Chunks {
				o.Symbols = append(o.Symbols, facts[i].Chunks[j].Symbols...)
			}
			out = append(out, o)
		}
	}
	return out, nil
}

// loadFacts fetches documents with their facts, which are kept when the documents are
// wanted whole: those that searches show are shown again.
func (g *Generation) loadFacts(ctx context.Context, docs []int, whole bool) ([]farFacts, []*card, error) {
	facts, cards := make([]farFacts, len(docs)), make([]*card, len(docs))
	raw := make([][]byte, len(docs))
	var at []kb.Location
	var of []int
	for i, d := range docs {
		where := g.location(d)
		if cards[i] = g.pool.cards.get(where); cards[i] != nil {
			raw[i] = g.pool.cards.facts(where)
		}
		if raw[i] == nil {
			at, of = append(at, where), append(of, i)
		}
	}
	got, err := g.pool.Far.Load(ctx, at, true)
	if err != nil {
		return nil, nil, err
	}
	for k, i := range of {
		raw[i] = got[k].Facts
		if !whole {
			continue
		}
		if cards[i] == nil {
			if cards[i], err = g.segs[g.docs[docs[i]].seg].cardOf(at[k].Number, &got[k]); err != nil {
				return nil, nil, err
			}
			g.pool.cards.put(at[k], cards[i])
		}
		g.pool.cards.keepFacts(at[k], raw[i])
	}
	for i := range docs {
		if err := json.Unmarshal(raw[i], &facts[i]); err != nil {
			return nil, nil, g.segs[g.docs[docs[i]].seg].corrupt("the facts of a document do not parse")
		}
	}
	return facts, cards, nil
}

// documentFar is Document where the documents are elsewhere.
func (g *Generation) documentFar(ctx context.Context, d int) (kb.DocumentText, error) {
	all, err := g.documentsFar(ctx, []int{d})
	if err != nil {
		return kb.DocumentText{}, err
	}
	for global := g.base[d]; global < g.base[d+1]; global++ {
		all[0].IDs = append(all[0].IDs, g.id(global))
	}
	return all[0], nil
}

// documentsFar returns documents without their ids.
func (g *Generation) documentsFar(ctx context.Context, docs []int) ([]kb.DocumentText, error) {
	out := make([]kb.DocumentText, 0, len(docs))
	for some := range slices.Chunk(docs, mostLoaded) {
		facts, cards, err := g.loadFacts(ctx, some, true)
		if err != nil {
			return nil, err
		}
		for i, d := range some {
			c := cards[i]
			out = append(out, kb.DocumentText{Path: g.paths[d], Hash: c.doc.Hash, Body: c.doc.Text.Body, Language: c.doc.Text.Language,
				Flags: c.doc.Text.Flags, Chunks: facts[i].Chunks, Facts: facts[i].Facts, Stamp: g.docs[d].stamp})
		}
	}
	return out, nil
}
