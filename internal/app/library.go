package app

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/ingest"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// library keeps the live generation of each store open between searches. A
// reader finishes on the generation it began with; one that is no longer live
// is closed when its last reader is done.
type library struct {
	core       *Core
	mu         sync.Mutex
	members    map[*Core]bool // what else keeps things of stores
	open       map[kb.StoreID]*shelf
	Seen       map[kb.StoreID]looked
	trails     int // bytes of those in Seen
	unfollowed map[kb.StoreID]kb.Store
}

// looked is when a folder was last compared with its index in this process, or
// brought up to date, and how long that took.
type looked struct {
	at   time.Time
	took time.Duration
	// alike is the manifest from which the folder did not differ then, and trail
	// that of the walk; nil where it is not kept here.
	alike string
	trail []byte
}

// rests reports whether a folder is not to be looked at yet, since a look takes
// long, and when it was looked at last.
func (l *library) rests(id kb.StoreID) (at time.Time, rests bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, ok := l.Seen[id]
	if !ok {
		return at, false
	}
	return last.at, last.took > cheapLook && time.Since(last.at) < min(restFactor*last.took, longestRest)
}

// Saw notes a look. One that took nothing, since a job was at it or the folder is
// small, keeps the duration of the one before.
func (l *library) Saw(id kb.StoreID, at time.Time, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Seen == nil {
		l.Seen = map[kb.StoreID]looked{}
	}
	was := l.Seen[id]
	was.at, was.took = at, cmp.Or(took, was.took)
	l.Seen[id] = was
}

// want notes that a folder is searched here which no process follows.
func (l *library) want(st kb.Store) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unfollowed == nil {
		l.unfollowed = map[kb.StoreID]kb.Store{}
	}
	l.unfollowed[st.ID] = st
}

// Wanted returns the folders that were searched here and that no process followed then.
func (l *library) Wanted() []kb.Store {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.SortedFunc(maps.Values(l.unfollowed), func(a, b kb.Store) int { return cmp.Compare(a.ID, b.ID) })
}

type shelf struct {
	index    kb.Index
	segments []string
	manifest string
	refs     int // readers, and one while it is the live one
	// stood is when a look at the store's folder saw its files where they belong: who
	// opens it for the same question does not look again.
	stood time.Time
}

// oneQuestion is how long a question takes at most from a look to opening what it
// looked at, or both are done again.
const oneQuestion = 50 * time.Millisecond

// stands reports whether the files of the index are where they belong.
func (s *shelf) stands(ctx context.Context) bool {
	just := time.Since(s.stood) < oneQuestion
	s.stood = time.Time{}
	return just || s.index.Current(ctx)
}

// handle is one reader's hold on an index.
type handle struct {
	kb.Index
	once    sync.Once
	release func()
}

// Release gives the generation back.
func (h *handle) Release() { h.once.Do(h.release) }

// Get returns the live generation of a store and the head it belongs to, or
// nil when nothing is indexed yet. A manifest that is gone was replaced
// between two looks; the next look finds its successor.
func (l *library) Get(ctx context.Context, st kb.Store) (kb.Index, *kb.Head, error) {
	return l.from(ctx, st, nil)
}

// Apart returns the generation of a head that the catalog does not know, as
// Revisions have them. kb.NotFound when it is gone.
func (l *library) Apart(ctx context.Context, st kb.Store) (kb.Index, error) {
	h, err := l.hold(ctx, st.ID, st.Head.Manifest)
	if err != nil {
		return nil, err
	}
	h.Index = ingest.Masked(h.Index, st.Head)
	return h, nil
}

// from is Get with the head that the catalog had a moment ago, nil for none.
func (l *library) from(ctx context.Context, st kb.Store, head *kb.Head) (kb.Index, *kb.Head, error) {
	var err error
	for range 5 {
		if head == nil {
			if head, err = l.core.Catalog.Head(ctx, st.ID); err != nil || head == nil {
				return nil, nil, err
			}
		}
		var h *handle
		if h, err = l.hold(ctx, st.ID, head.Manifest); err == nil {
			h.Index = ingest.Masked(h.Index, head)
			return h, head, nil
		}
		if kb.CodeOf(err) != kb.NotFound {
			return nil, nil, err
		}
		head = nil
	}
	return nil, nil, kb.Errorf(kb.Corrupt, "a file of the index is missing: %w", err)
}

func (l *library) hold(ctx context.Context, id kb.StoreID, manifest string) (*handle, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.open[id]
	// Somebody may have deleted or exchanged a file that is mapped here: this
	// process notices when all others would.
	if s != nil && s.manifest == manifest && !s.stands(ctx) {
		delete(l.open, id)
		l.core.Indexes.Forget(s.segments)
		l.drop(s)
		s = nil
	}
	if s == nil || s.manifest != manifest {
		idx, err := l.core.Indexes.Open(ctx, manifest)
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

// HasAsked reports whether an index was opened here: a question was asked.
func (a *App) HasAsked() bool {
	a.mu.Lock()
	c := a.Core
	a.mu.Unlock()
	if c == nil {
		return false
	}
	c.Library.mu.Lock()
	defer c.Library.mu.Unlock()
	return len(c.Library.open) > 0
}

// drop gives up one hold; l.mu is held.
func (l *library) drop(s *shelf) {
	if s.refs--; s.refs == 0 {
		s.index.Release()
	}
}

// join and leave say which cores of members use the library.
func (l *library) join(c *Core) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.members == nil {
		l.members = map[*Core]bool{}
	}
	l.members[c] = true
}

func (l *library) leave(c *Core) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.members, c)
}

// Forget closes the generation of a store that is deleted or damaged, and
// with it, for the next reader, its segments.
func (l *library) Forget(id kb.StoreID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.core.rooms {
		if r.Forget != nil {
			r.Forget(l.core, id)
			for c := range l.members {
				r.Forget(c, id)
			}
		}
	}
	l.trails -= len(l.Seen[id].trail)
	delete(l.Seen, id)
	delete(l.unfollowed, id)
	if s := l.open[id]; s != nil {
		delete(l.open, id)
		l.core.Indexes.Forget(s.segments)
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
