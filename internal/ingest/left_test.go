package ingest

import (
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// TestRemaining: what is left is reckoned by what each kind of document has
// cost so far, and what is done once counts for nothing later.
func TestRemaining(t *testing.T) {
	var todo []kb.Entry
	for range 100 {
		todo = append(todo, kb.Entry{Path: "docs/a.md", Size: 8 << 10}, kb.Entry{Path: "src/a.go", Size: 8 << 10})
	}
	var l remaining
	l.begin(todo)
	l.began = time.Now().Add(-time.Hour)
	l.kinds[".md"].since, l.kinds[".go"].since = l.began, l.began
	// A worker has been busy for an hour: with ten documents of prose of a minute
	// each, and with ten of code of five.
	for range 10 {
		l.add(todo[0], time.Minute)
		l.add(todo[1], 5*time.Minute)
	}
	got := time.Duration(l.add(kb.Entry{Path: "unknown"}, 0) * float64(time.Second))
	if want := 9 * time.Hour; got < want*85/100 || got > want*115/100 {
		t.Errorf("%v left, want about %v", got, want)
	}
	for range 90 {
		l.add(todo[1], time.Second)
	}
	if got := l.add(kb.Entry{Path: "unknown"}, 0); got <= 0 || got > (4*time.Hour).Seconds() {
		t.Errorf("%v s left of prose", got)
	}

	l = remaining{}
	l.begin(todo)
	l.began = time.Now().Add(-10 * time.Minute)
	l.add(todo[1], 9*time.Minute) // the grammar is compiled
	l.kinds[".go"].since = l.began.Add(9 * time.Minute)
	if l.all.took != 0 || l.kinds[".go"].took != 0 {
		t.Errorf("the first document counts: %v", l.all.took)
	}

	// A kind that has not begun is expected to take so long at first, too.
	if l.first != 9*time.Minute || l.firsts != 1 {
		t.Errorf("first documents: %d of %v", l.firsts, l.first)
	}
	with := l.add(todo[1], time.Minute)
	l.first = 0
	if without := l.add(kb.Entry{Path: "unknown"}, 0); with-without < time.Minute.Seconds() {
		t.Errorf("%v s left with a grammar to compile, %v without", with, without)
	}
}
