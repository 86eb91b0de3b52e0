package crawl

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/pages"
	"github.com/seed-4f2d999b/knowledge/internal/webdoc"
)

// loose is the distance up to which a page is the same as the one that it
// names as its canonical form.
const loose = 2 * webdoc.Near

// folds finds pages that say the same. Of two fingerprints that differ in at
// most Near bits, one of Near+1 parts of the 64 bits is equal.
type folds struct {
	exact map[string]string // hash and version to key
	parts [webdoc.Near + 1]map[uint64][]string
	known map[string]pages.Visit // by key; what find needs of it
}

func (f *folds) init() {
	f.exact, f.known = map[string]string{}, map[string]pages.Visit{}
	for i := range f.parts {
		f.parts[i] = map[uint64][]string{}
	}
}

func part(fp uint64, i int) uint64 {
	const n = webdoc.Near + 1
	from, to := 64*i/n, 64*(i+1)/n
	return fp >> from & (1<<(to-from) - 1)
}

func (f *folds) add(v pages.Visit) {
	f.exact[v.Hash+" "+versionOf(v.Key)] = v.Key
	// What is kept is what find and prefer look at, not the whole visit.
	k := pages.Visit{Key: v.Key, Canonical: v.Canonical}
	k.Fingerprint, k.Words, k.Hash = v.Fingerprint, v.Words, v.Hash
	f.known[v.Key] = k
	if v.Words >= webdoc.NearWords {
		for i := range f.parts {
			p := part(v.Fingerprint, i)
			f.parts[i][p] = append(f.parts[i][p], v.Key)
		}
	}
}

func (f *folds) remove(v pages.Visit) {
	delete(f.exact, v.Hash+" "+versionOf(v.Key))
	delete(f.known, v.Key)
}

// find returns the page that says the same as v, in the same version of the
// documentation.
func (f *folds) find(v pages.Visit) (string, bool) {
	version := versionOf(v.Key)
	if k, ok := f.exact[v.Hash+" "+version]; ok && k != v.Key {
		return k, true
	}
	if c, ok := f.known[v.Canonical]; ok && v.Canonical != v.Key && version == versionOf(c.Key) && webdoc.Distance(c.Fingerprint, v.Fingerprint) <= loose {
		return c.Key, true
	}
	if v.Words < webdoc.NearWords {
		return "", false
	}
	best, found := "", false
	for i := range f.parts {
		for _, k := range f.parts[i][part(v.Fingerprint, i)] {
			o, ok := f.known[k]
			if !ok || k == v.Key || webdoc.Distance(o.Fingerprint, v.Fingerprint) > webdoc.Near || versionOf(k) != version {
				continue
			}
			// As long as each other, too: a page and its first half share much.
			if o.Words*10 < v.Words*9 || v.Words*10 < o.Words*9 {
				continue
			}
			if !found || before(k, best) {
				best, found = k, true
			}
		}
	}
	return best, found
}

// prefer reports whether of two pages that say the same the new one stands
// for both: the one that the other calls canonical, else one without
// parameters, else one that the site lists, else the one that came first.
func prefer(v, old pages.Visit, listed string) bool {
	switch {
	case old.Canonical == v.Key:
		return true
	case v.Canonical == old.Key:
		return false
	}
	if a, b := strings.Contains(v.Key, "?"), strings.Contains(old.Key, "?"); a != b {
		return b
	}
	if a, b := listed != "", old.Listed != ""; a != b {
		return a
	}
	return false
}
