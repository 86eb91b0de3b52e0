package rank

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// edition is a path with a folder that is named for a version.
type edition struct {
	before, after string // of the folder
	number        []int
	// docs is set for names that versions of documentation have, as version-2.x
	// and 1.28; v2 is often that of an API, or of a module beside its first.
	docs bool
}

// editionOf parts a path at the first folder named for a version.
func editionOf(p string) (edition, bool) {
	for at := 0; ; {
		i := strings.IndexByte(p[at:], '/')
		if i < 0 {
			return edition{}, false
		}
		if number, docs := versionOf(p[at : at+i]); number != nil {
			return edition{p[:at], p[at+i+1:], number, docs}, true
		}
		at += i + 1
	}
}

// versionOf returns the numbers of v3, 1.28, v2.x or version-4, nil for names
// of something else.
func versionOf(name string) (number []int, docs bool) {
	rest, docs := strings.CutPrefix(name, "version")
	if docs {
		rest = strings.TrimPrefix(rest, "-")
	}
	rest, v := strings.CutPrefix(rest, "v")
	// Most names end here, without the error that Atoi would make of each.
	if rest == "" || rest[0] < '0' || rest[0] > '9' {
		return nil, false
	}
	for part := range strings.SplitSeq(rest, ".") {
		if part == "x" && number != nil {
			continue
		}
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || len(part) > 4 {
			return nil, false
		}
		number = append(number, n)
	}
	dotted := strings.Contains(rest, ".")
	if number[0] == 0 && !dotted || !v && !docs && !dotted || len(name) < 2 {
		return nil, false
	}
	return number, docs || dotted
}

// editions are the versions that the candidates of a query lie in.
type editions struct {
	newest map[docKey][]int // beside others, by store and the path before
	pages  map[docKey][]int // of one page, by store and the path before and after
	// current has the pages of documentation outside such folders, by store and
	// every end of their path.
	current map[docKey]bool
}

func newEditions(cands []Evidence) *editions {
	var ed *editions
	for i := range cands {
		e, ok := editionOf(cands[i].Path)
		if !ok {
			continue
		}
		if ed == nil {
			ed = &editions{newest: map[docKey][]int{}, pages: map[docKey][]int{}, current: map[docKey]bool{}}
		}
		later := func(m map[docKey][]int, path string) {
			if k := (docKey{cands[i].Store, path}); slices.Compare(m[k], e.number) < 0 {
				m[k] = e.number
			}
		}
		later(ed.newest, e.before)
		later(ed.pages, e.page())
	}
	if ed == nil {
		return nil
	}
	for i := range cands {
		c := &cands[i]
		if _, ok := editionOf(c.Path); ok || c.Flags&kb.FlagProse == 0 {
			continue
		}
		for rest, more := c.Path, true; more; _, rest, more = strings.Cut(rest, "/") {
			ed.current[docKey{c.Store, rest}] = true
		}
	}
	return ed
}

func (e *edition) page() string { return e.before + "\x00" + e.after }

// superseded reports whether a candidate lies in the folder of a version
// beside that of a newer one, or is again: who does not say which means the
// newest.
func (ed *editions) superseded(q *Query, c *Evidence) bool {
	if ed == nil {
		return false
	}
	e, ok := editionOf(c.Path)
	return ok && (slices.Compare(e.number, ed.newest[docKey{c.Store, e.before}]) < 0 || ed.replaced(c, &e)) && !e.named(q)
}

// again reports whether a candidate is of a page that is there in a newer
// version, or without one, and which nobody asks for.
func (ed *editions) again(q *Query, c *Evidence) bool {
	if ed == nil {
		return false
	}
	e, ok := editionOf(c.Path)
	return ok && ed.replaced(c, &e) && !e.named(q)
}

func (ed *editions) replaced(c *Evidence, e *edition) bool {
	return slices.Compare(e.number, ed.pages[docKey{c.Store, e.page()}]) < 0 ||
		e.docs && c.Flags&kb.FlagProse != 0 && ed.current[docKey{c.Store, e.after}]
}

// named reports whether a query names the version.
func (e *edition) named(q *Query) bool {
	n := strconv.Itoa(e.number[0])
	return slices.ContainsFunc(q.Words, func(w Word) bool {
		return strings.EqualFold(w.Text, "v"+n) || e.docs && w.Text == n
	})
}

// samePage orders pages of equal score: what is not in a version's folder
// first, then by name.
func samePage(a, b string) int {
	_, x := editionOf(a)
	_, y := editionOf(b)
	if x != y {
		return cmp.Compare(flag(x), flag(y))
	}
	return cmp.Compare(a, b)
}
