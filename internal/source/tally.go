package source

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/gitignore"
)

// maxNotes bounds what Notes returns; maxNamed how many places one kind of trouble names.
const (
	maxNotes = 20
	maxNamed = 5
)

// tally counts what is left out. The zero value is ready. It is safe for
// concurrent use. A path that is read twice counts once, and a second walk
// starts its counts afresh.
type tally struct {
	mu     sync.Mutex
	walked map[string]int
	read   map[string]string // path → reason
	notes  []string
	named  map[string]int

	secrets map[string]bool // left out as secrets in this walk, by path
	kept    map[string]bool // kept by own rules
	asked   map[string]bool // what looks like a secret and is kept by a rule without a voucher
}

func (t *tally) startWalk() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.walked, t.secrets, t.kept, t.asked = map[string]int{}, nil, nil, nil
}

// keeps takes note that own rules keep the file or directory at p, and whether
// the user vouches for them.
func (t *tally) keeps(sel *selector, p string, vouched bool) {
	sel.kept.Store(p, vouched)
	if !vouched {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.asked = with(t.asked, p)
	}
}

// leaves reports whether a reason holds for the file or directory at p, which
// is then counted.
func (t *tally) leaves(sel *selector, p, reason string) bool {
	if reason == "" {
		return false
	}
	if sel.exempt(p, reason) {
		if _, ok := sel.kept.Load(p); ok {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.kept = with(t.kept, p)
		}
		return false
	}
	t.skip(reason)
	if reason == reasonSecret {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.secrets = with(t.secrets, p)
	}
	return true
}

func with(m map[string]bool, p string) map[string]bool {
	if m == nil {
		m = map[string]bool{}
	}
	m[p] = true
	return m
}

func (t *tally) skip(reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.walked == nil {
		t.walked = map[string]int{}
	}
	t.walked[reason]++
}

// ruleOut counts a document that was found unfit when it was read and returns the error that says so.
func (t *tally) ruleOut(p, reason string, cause error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.read == nil {
		t.read = map[string]string{}
	}
	t.read[p] = reason
	if reason == reasonSecret {
		t.secrets = with(t.secrets, p)
	}
	e := kb.Errorf(kb.Unsupported, "%q is left out: %s", p, reason)
	e.Err = cause
	return e
}

func (t *tally) note(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(fmt.Sprintf(format, args...))
}

func (t *tally) add(s string) {
	if len(t.notes) < maxNotes && !slices.Contains(t.notes, s) {
		t.notes = append(t.notes, s)
	}
}

// trouble notes that something went wrong at p, for the first maxNamed places of each sort.
func (t *tally) trouble(sort, p string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.named == nil {
		t.named = map[string]int{}
	}
	if t.named[sort]++; t.named[sort] <= maxNamed {
		t.add(fmt.Sprintf("%q %s", p, sort))
	}
}

// Skipped implements kb.Snapshot.
func (t *tally) Skipped() map[string]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := map[string]int{}
	maps.Copy(m, t.walked)
	for _, r := range t.read {
		m[r]++
	}
	return m
}

// Notes implements kb.Snapshot.
func (t *tally) Notes() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append(slices.Clone(t.notes), t.judged()...)
}

// noted returns what was noted, without what Notes says of secrets and rules.
func (t *tally) noted() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.notes)
}

// judged says what was left out as secrets, and what is kept against the
// rules; t.mu is held.
func (t *tally) judged() []string {
	var notes []string
	out, asked := map[string]bool{}, map[string]bool{}
	for p := range t.secrets {
		if t.asked[p] {
			asked[p] = true
		} else {
			out[p] = true
		}
	}
	if len(out) > 0 {
		notes = append(notes, "left out as secrets: "+few(out)+"; a line !PATH in "+OwnRules+" for which the user vouches keeps one")
	}
	if len(asked) > 0 {
		notes = append(notes, "left out as secrets although "+OwnRules+" keeps them: "+few(asked)+"; such a line counts once the user vouches for its file")
	}
	if len(t.kept) > 0 {
		notes = append(notes, "kept by "+OwnRules+": "+few(t.kept))
	}
	return notes
}

// noteBounds says what a walk has left out since it would have cost too much.
func (t *tally) noteBounds(b *gitignore.Budget) {
	n := t.Skipped()
	if file, rules, spent := b.Spent(); spent {
		t.note("the ignore rules cost too much, most of all the %d of %s, and are applied no further: %d files and folders that "+
			"could not be held against them are left out", rules, file, n[reasonCostly])
	}
	if n[reasonDeep] > 0 {
		t.note("folders that lie below %d others are left out: %d", maxTreeDepth, n[reasonDeep])
	}
}

// few names the first of some paths, and says how many more there are.
func few(paths map[string]bool) string {
	names := slices.Sorted(maps.Keys(paths))
	for i := range names {
		names[i] = strconv.Quote(names[i])
	}
	if n := len(names) - maxNamed; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), n)
	}
	return strings.Join(names, ", ")
}
