package ingest

import (
	"path"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// remaining estimates how long a run still takes. A byte of code that is
// parsed costs several times one of prose, and a file may be a thousand times
// another: so what is left is weighed by the size of documents and by what a
// byte of their kind, told by its extension, has cost in this run.
type remaining struct {
	mu    sync.Mutex
	began time.Time
	busy  time.Duration // of all workers
	all   cost
	kinds map[string]*cost
	// What the first documents of kinds took: one is expected of each kind that
	// has not begun. A tree of many languages compiles as many grammars.
	first  time.Duration
	firsts int
}

// cost is what documents of one kind weigh, and took. The first does not
// count: with it a grammar may be compiled, which takes as long as hundreds.
type cost struct {
	left, done float64 // bytes; done but for the first
	took       time.Duration
	since      time.Time // when the first was done
}

// each is what a document costs beside what is in it, in bytes.
const each = 2 << 10

// doubt is how many bytes of a kind must be done until its own cost counts
// half: what is known of all kinds makes up for the rest.
const doubt = 64 << 10

func weigh(e kb.Entry) float64 { return float64(max(e.Size, 0) + each) }

func (l *remaining) begin(todo []kb.Entry) {
	l.began, l.kinds = time.Now(), map[string]*cost{}
	for _, e := range todo {
		k := l.kinds[path.Ext(e.Path)]
		if k == nil {
			k = &cost{}
			l.kinds[path.Ext(e.Path)] = k
		}
		k.left += weigh(e)
	}
}

// add notes that a document has taken so long, and returns how many seconds
// are left, 0 while that is not known.
func (l *remaining) add(e kb.Entry, took time.Duration) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.busy += took
	if k := l.kinds[path.Ext(e.Path)]; k != nil {
		k.left -= weigh(e)
		switch {
		case k.since.IsZero():
			k.since = now
			l.first += took
			l.firsts++
		case !now.Add(-took).Before(k.since):
			for _, k := range []*cost{&l.all, k} {
				k.done += weigh(e)
				k.took += took
			}
		}
	}
	wall := now.Sub(l.began).Seconds()
	if wall < .2 || l.all.took <= 0 {
		return 0
	}
	usual := l.all.took.Seconds() / l.all.done
	var busy float64
	for _, k := range l.kinds {
		if k.since.IsZero() && l.firsts > 0 {
			busy += l.first.Seconds() / float64(l.firsts)
		}
		busy += max(k.left, 0) * (k.took.Seconds() + usual*doubt) / (k.done + doubt)
	}
	return busy * wall / l.busy.Seconds() // several work at a time, and write in between
}
