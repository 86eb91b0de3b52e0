package app

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
)

// library keeps the live generation of each store open between searches. A
// reader finishes on the generation it began with; one that is no longer live
// is closed when its last reader is done.
type library struct {
	core       *core
	mu         sync.Mutex
	open       map[kb.StoreID]*shelf
	site       map[kb.StoreID]*siteMap // what is told of the pages of web stores
	seen       map[kb.StoreID]looked
	unfollowed map[kb.StoreID]kb.Store

	specs specGraphs // joined from live generations
}

// looked is when a folder was last compared with its index in this process, or
// brought up to date, and how long that took.
type looked struct {
	at   time.Time
	took time.Duration
}

// rests reports whether a folder is not to be looked at yet, since a look takes
// long, and when it was looked at last.
func (l *library) rests(id kb.StoreID) (at time.Time, rests bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, ok := l.seen[id]
	if !ok {
		return at, false
	}
	return last.at, last.took > cheapLook && time.Since(last.at) < min(restFactor*last.took, longestRest)
}

// saw notes a look. One that took nothing, since a job was at it, keeps the
// duration of the one before.
func (l *library) saw(id kb.StoreID, at time.Time, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen == nil {
		l.seen = map[kb.StoreID]looked{}
	}
	l.seen[id] = looked{at, max(took, l.seen[id].took)}
}

// want notes that a folder is searched here which nobody follows.
func (l *library) want(st kb.Store) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unfollowed == nil {
		l.unfollowed = map[kb.StoreID]kb.Store{}
	}
	l.unfollowed[st.ID] = st
}

// wanted returns the folders that were searched here and that nobody followed then.
func (l *library) wanted() []kb.Store {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.SortedFunc(maps.Values(l.unfollowed), func(a, b kb.Store) int { return cmp.Compare(a.ID, b.ID) })
}

type shelf struct {
	index    kb.Index
	segments []string
	manifest string
	refs     int // readers, and one while it is the live one
}

// handle is one reader's hold on an index.
type handle struct {
	kb.Index
	once    sync.Once
	release func()
	veil    bool // what was indexed by older rules is masked as it is shown
}

// Document implements kb.Index.
func (h *handle) Document(ctx context.Context, path string) (kb.DocumentText, error) {
	d, err := h.Index.Document(ctx, path)
	if h.veil && err == nil {
		d.Body, _ = secret.Mask(path, d.Body)
	}
	return d, err
}

// Passages implements kb.Index. A chunk is masked as a part of its document:
// by itself it may not show what it holds.
func (h *handle) Passages(ctx context.Context, places []kb.Place) ([]kb.Passage, error) {
	list, err := h.Index.Passages(ctx, places)
	if !h.veil || err != nil {
		return list, err
	}
	bodies := map[string]string{}
	for i := range list {
		p := &list[i]
		body, ok := bodies[p.Path]
		if !ok {
			d, err := h.Document(ctx, p.Path)
			if err != nil {
				return nil, err
			}
			body, bodies[p.Path] = d.Body, d.Body
		}
		if p.Chunk.To <= len(body) && p.Chunk.To-p.Chunk.From == len(p.Text) {
			p.Text = body[p.Chunk.From:p.Chunk.To]
		} else {
			p.Text, _ = secret.Mask(p.Path, p.Text)
		}
	}
	return list, nil
}

// Release gives the generation back.
func (h *handle) Release() { h.once.Do(h.release) }

// get returns the live generation of a store and the head it belongs to, or
// nil when nothing is indexed yet. A manifest that is gone was replaced
// between two looks; the next look finds its successor.
func (l *library) get(ctx context.Context, st kb.Store) (kb.Index, *kb.Head, error) {
	var err error
	for range 5 {
		var head *kb.Head
		if head, err = l.core.catalog.Head(ctx, st.ID); err != nil || head == nil {
			return nil, nil, err
		}
		var h *handle
		if h, err = l.hold(ctx, st.ID, head.Manifest); err == nil {
			h.veil = head.Rules < secret.Version
			return h, head, nil
		}
		if kb.CodeOf(err) != kb.NotFound {
			return nil, nil, err
		}
	}
	return nil, nil, kb.Errorf(kb.Corrupt, "a file of the index is missing: %w", err)
}

func (l *library) hold(ctx context.Context, id kb.StoreID, manifest string) (*handle, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.open[id]
	// Somebody may have deleted or exchanged a file that is mapped here: this
	// process notices when all others would.
	if s != nil && s.manifest == manifest && !s.index.Current(ctx) {
		delete(l.open, id)
		l.core.indexes.Forget(s.segments)
		l.drop(s)
		s = nil
	}
	if s == nil || s.manifest != manifest {
		idx, err := l.core.indexes.Open(ctx, manifest)
		if err != nil {
			return nil, err
		}
		info, err := idx.Info(ctx)
		if err != nil {
			idx.Release()
			return nil, err
		}
		if s != nil {
			l.drop(s)
		}
		if l.open == nil {
			l.open = map[kb.StoreID]*shelf{}
		}
		s = &shelf{index: idx, segments: info.Segments, manifest: manifest, refs: 1}
		l.open[id] = s
	}
	s.refs++
	return &handle{Index: s.index, release: func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.drop(s)
	}}, nil
}

// drop gives up one hold; l.mu is held.
func (l *library) drop(s *shelf) {
	if s.refs--; s.refs == 0 {
		s.index.Release()
	}
}

// forget closes the generation of a store that is deleted or damaged, and
// with it, for the next reader, its segments.
func (l *library) forget(id kb.StoreID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.site, id)
	delete(l.seen, id)
	delete(l.unfollowed, id)
	if s := l.open[id]; s != nil {
		delete(l.open, id)
		l.core.indexes.Forget(s.segments)
		l.drop(s)
	}
}

func (l *library) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, s := range l.open {
		delete(l.open, id)
		l.drop(s)
	}
}
