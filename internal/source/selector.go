package source

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// selector is a kb.Selection made ready to ask.
type selector struct {
	all      bool
	maxBytes int64
	paths    []string // cleaned; none means everything
	kept     sync.Map // paths that own rules keep, as far as a walk has met them: whether the user vouches for the rule
}

func newSelector(sel kb.Selection) (*selector, error) {
	sel, err := CanonicalSelection(sel)
	if err != nil {
		return nil, err
	}
	s := &selector{all: sel.All, maxBytes: sel.MaxFileBytes, paths: sel.Paths}
	if s.maxBytes <= 0 {
		s.maxBytes = DefaultMaxFileBytes
	}
	return s, nil
}

// CanonicalSelection returns the selection in the one form that a store's
// identity is made from: paths cleaned, sorted and without those that lie
// below another; no paths when the root itself is named.
func CanonicalSelection(sel kb.Selection) (kb.Selection, error) {
	var err error
	if sel.Web, err = canonicalSite(sel.Web); err != nil {
		return sel, err
	}
	var clean []string
	for _, p := range sel.Paths {
		q := path.Clean(strings.TrimPrefix(strings.ReplaceAll(p, `\`, "/"), "./"))
		if strings.HasPrefix(q, "/") || q == ".." || strings.HasPrefix(q, "../") || strings.ContainsRune(q, 0) || len(q) > 1 && q[1] == ':' {
			return sel, kb.Errorf(kb.Invalid, "the path %q leads out of the store", p).
				WithHint("give paths relative to the root of the folder or repository")
		}
		if p == "" || q == "." {
			sel.Paths = nil
			return sel, nil
		}
		clean = append(clean, q)
	}
	slices.Sort(clean)
	sel.Paths = nil
	for _, p := range clean {
		if !slices.ContainsFunc(sel.Paths, func(q string) bool { return p == q || strings.HasPrefix(p, q+"/") }) {
			sel.Paths = append(sel.Paths, p)
		}
	}
	return sel, nil
}

// wants reports whether p is named, lies below a named path, or, for a
// directory, on the way to one.
func (s *selector) wants(p string, isDir bool) bool {
	return len(s.paths) == 0 || slices.ContainsFunc(s.paths, func(q string) bool {
		return p == q || strings.HasPrefix(p, q+"/") || isDir && strings.HasPrefix(q, p+"/")
	})
}

// named reports whether p is a named path or on the way to one.
func (s *selector) named(p string) bool {
	return slices.ContainsFunc(s.paths, func(q string) bool { return p == q || strings.HasPrefix(q, p+"/") })
}

// exempt reports whether the user asked for p in so many words, so that a
// rule of taste does not apply. Rules of safety always do, but for what a line
// of a .knowledgeignore keeps for which the user vouches.
func (s *selector) exempt(p, reason string) bool {
	vouched, kept := s.kept.Load(p)
	switch reason {
	case reasonIgnored, reasonCache, reasonVendored, reasonLockfile, reasonMinified, reasonWorkTree:
		return kept || s.named(p)
	case reasonSecret:
		return vouched == true
	}
	return false
}
