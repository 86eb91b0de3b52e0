package crawl

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
	"github.com/seed-4f2d999b/knowledge/internal/web/webdoc"
)

// loose is the distance up to which a page is the same as the one that it
// names as its canonical form.
const loose = 2 * webdoc.Near

// folds finds pages that say the same. Of two fingerprints that differ in at
// most Near bits, one of Near+1 parts of the 64 bits is equal.
type folds struct {
	exact map[string]string // hash and version to key
	parts [webdoc.Near + 1]map[uint64][]string
	known map[string]known // by key
}

// known is what find needs of a page.
type known struct {
	fingerprint uint64
	words       int32
	title       string // a brief hash
}

func (f *folds) init() {
	f.exact, f.known = map[string]string{}, map[string]known{}
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
	f.exact[exactKey(v)] = v.Key
	f.known[v.Key] = known{v.Fingerprint, int32(v.Words), titleOf(v)}
	if v.Words >= webdoc.NearWords {
		for i := range f.parts {
			p := part(v.Fingerprint, i)
			f.parts[i][p] = append(f.parts[i][p], v.Key)
		}
	}
}

func titleOf(v pages.Visit) string { return short(strings.ToLower(v.Title)) }

// exactKey is the text of a page and the version of the documentation it is of.
func exactKey(v pages.Visit) string { return v.Hash[:min(len(v.Hash), 32)] + versionOf(v.Key) }

func (f *folds) remove(v pages.Visit) {
	delete(f.exact, exactKey(v))
	delete(f.known, v.Key)
}

// find returns the page that says the same as v, in the same version of the
// documentation.
func (f *folds) find(v pages.Visit) (string, bool) {
	version := versionOf(v.Key)
	if k, ok := f.exact[exactKey(v)]; ok && k != v.Key {
		return k, true
	}
	if c, ok := f.known[v.Canonical]; ok && v.Canonical != v.Key && version == versionOf(v.Canonical) && webdoc.Distance(c.fingerprint, v.Fingerprint) <= loose {
		return v.Canonical, true
	}
	if v.Words < webdoc.NearWords {
		return "", false
	}
	best, found := "", false
	for i := range f.parts {
		for _, k := range f.parts[i][part(v.Fingerprint, i)] {
			o, ok := f.known[k]
			if !ok || k == v.Key || webdoc.Distance(o.fingerprint, v.Fingerprint) > webdoc.Near || versionOf(k) != version {
				continue
			}
			// As long as each other, too: a page and its first half share much. And
			// of the same title: generated pages may differ in a name alone.
			if o.title != titleOf(v) || int(o.words)*10 < v.Words*9 || v.Words*10 < int(o.words)*9 {
				continue
			}
			if !found || before(k, best) {
				best, found = k, true
			}
		}
	}
	return best, found
}

// prefer reports whether of two equal pages the new one is kept: the one that the
// other calls canonical, else one without parameters, else one that the site
// lists, else the one that came first.
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
