package kdd

import (
	"cmp"
	"path"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

// key folds a name for comparison: lower case, no accents, and every run of
// spaces, hyphens and underscores one hyphen.
func key(s string) string {
	plain, ready := true, true
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x80 {
			plain = false
		}
		if c >= 'A' && c <= 'Z' || c == ' ' || c == '_' || c == '-' && i+1 < len(s) && s[i+1] == '-' || c < ' ' {
			ready = false
		}
	}
	if plain && ready {
		return strings.Trim(s, "-")
	}
	if !plain {
		s = norm.NFKD.String(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	gap := false
	for _, r := range s {
		switch {
		case r == ' ' || r == '_' || r == '-' || unicode.IsSpace(r):
			gap = b.Len() > 0
			continue
		case r >= 0x80 && unicode.Is(unicode.Mn, r):
			continue
		}
		if gap {
			b.WriteByte('-')
			gap = false
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// The ranks of a document's names: what of equal names is meant.
const (
	byID     = iota // its id, as it says it or as its node has it
	byStem          // its file's name
	byAlias         // an alias of front matter
	byTitle         // its title, or what that says behind an id
	byPrefix        // its id without a part at the end: CMD-001 of CMD-001-IndexDocument
	ranks
)

// entry is one name of a document.
type entry struct {
	doc  int32
	next int32 // the next of that name, or -1
	rank uint8
}

// names finds documents by what they are called.
type names struct {
	docs    []*Doc
	first   map[string]int32
	entries []entry
	paths   []map[string]int32 // by source: path → document
}

func (n *names) add(name string, doc int32, rank uint8) {
	k := key(name)
	if k == "" {
		return
	}
	head, ok := n.first[k]
	if !ok {
		head = -1
	}
	for i := head; i >= 0; i = n.entries[i].next {
		if e := &n.entries[i]; e.doc == doc {
			e.rank = min(e.rank, rank)
			return
		}
	}
	n.first[k] = int32(len(n.entries))
	n.entries = append(n.entries, entry{doc, head, rank})
}

// addDoc enters all names of a document.
func (n *names) addDoc(i int32, d *Doc) {
	stem := specdoc.Stem(d.Path)
	if d.ID != "" {
		n.add(d.ID, i, byID)
	}
	n.add(d.NodeID, i, byID)
	n.add(stem, i, byStem)
	for _, a := range d.Aliases {
		n.add(a, i, byAlias)
	}
	if d.Title != "" {
		n.add(d.Title, i, byTitle)
		if bare := bareTitle(d.Title); bare != d.Title {
			n.add(bare, i, byTitle)
		}
	}
	// Decisions are often only numbered: 0007-use-files.md is ADR-0007 and ADR-7.
	if d.Kind == "adr" {
		digits := strings.TrimPrefix(strings.ToUpper(cmp.Or(d.ID, stem)), "ADR-")
		digits = digits[:len(digits)-len(strings.TrimLeft(digits, "0123456789"))]
		if short := cmp.Or(strings.TrimLeft(digits, "0"), "0"); digits != "" && len(digits) < 8 {
			n.add("ADR-"+digits, i, byStem)
			n.add("ADR-"+short, i, byPrefix)
			n.add("ADR-"+strings.Repeat("0", max(0, 4-len(short)))+short, i, byPrefix)
		}
	}
	for _, s := range [...]string{d.ID, stem} {
		for p := shorter(s); p != ""; p = shorter(p) {
			n.add(p, i, byPrefix)
		}
	}
}

// bareTitle returns a title without the id or kind that it begins with.
func bareTitle(s string) string {
	for _, sep := range [...]string{": ", " — ", " – ", " - "} {
		if a, b, ok := strings.Cut(s, sep); ok && len(a) <= 40 && strings.TrimSpace(b) != "" {
			if _, kind := specdoc.KindNamed(a); kind || shorter(a+"-x") == a {
				return strings.TrimSpace(b)
			}
		}
	}
	return s
}

// shorter returns an id without its last part, "" when what is left has no
// digit and so is none: CMD-001-Index, CMD-001.
func shorter(s string) string {
	i := strings.LastIndexByte(s, '-')
	if i <= 0 || !strings.ContainsAny(s[:i], "0123456789") || !strings.Contains(s[:i], "-") || s[0] < 'A' || s[0] > 'Z' {
		return ""
	}
	for _, c := range []byte(s[:strings.IndexByte(s, '-')]) {
		if c < 'A' || c > 'Z' {
			return ""
		}
	}
	return s[:i]
}

// find returns the document that a name means when a document of source says
// it; near is that document, or -1. The rank says how; -1 when none has it.
// only is set when no other document has the name, so that it means the same
// everywhere.
func (n *names) find(name string, source int, near int32) (doc int32, rank int, only bool) {
	domain := ""
	if i := strings.Index(name, "::"); i >= 0 {
		domain, name = name[:i], name[i+2:]
	}
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		name = name[:i]
	}
	under := ""
	if strings.Contains(name, "/") {
		under = strings.Trim(strings.ToLower(trimExt(name)), "/")
		name = path.Base(name)
	}
	name = trimExt(name)
	doc, rank, only = n.best(key(name), domain, under, source, near, ranks)
	if rank < 0 {
		// It is said with more than the document's id: CMD-001-IndexDocument of CMD-001.
		for p := shorter(name); p != "" && rank < 0; p = shorter(p) {
			if doc, rank, only = n.best(key(p), domain, under, source, near, byStem); rank >= 0 {
				rank = byPrefix
			}
		}
	}
	return doc, rank, only
}

// trimExt takes the extension of Markdown off.
func trimExt(s string) string {
	for _, ext := range [...]string{".md", ".mdx", ".markdown", ".rst", ".sdoc", ".feature"} {
		if len(s) > len(ext) && strings.EqualFold(s[len(s)-len(ext):], ext) {
			return s[:len(s)-len(ext)]
		}
	}
	return s
}

// best returns the best document of a folded name: by rank, then the store
// that asks, then the domain meant, then a specification before other
// documents, then what lies nearest, then the first.
func (n *names) best(k, domain, under string, source int, near int32, below uint8) (doc int32, rank int, only bool) {
	head, ok := n.first[k]
	if !ok {
		return -1, -1, true
	}
	only = n.entries[head].next < 0
	best, bestRank, score := int32(-1), uint8(ranks), -1
	for i := head; i >= 0; i = n.entries[i].next {
		e := n.entries[i]
		if e.rank >= below {
			continue
		}
		d := n.docs[e.doc]
		if under != "" && !strings.HasSuffix("/"+strings.ToLower(trimExt(d.Path)), "/"+under) {
			continue
		}
		s := 0
		if d.Source == source {
			s += 1 << 20
		}
		if domain != "" {
			if !strings.EqualFold(d.Domain, domain) && !strings.Contains("/"+strings.ToLower(d.Path), "/"+strings.ToLower(domain)+"/") {
				continue
			}
		}
		if d.Kind != "" {
			s += 1 << 19
		}
		if near >= 0 {
			s += min(common(n.docs[near].Path, d.Path), 1<<18)
		}
		if e.rank < bestRank || e.rank == bestRank && (s > score || s == score && e.doc < best) {
			best, bestRank, score = e.doc, e.rank, s
		}
	}
	if best < 0 {
		return -1, -1, only
	}
	return best, int(bestRank), only
}

// common returns how many folders two paths share.
func common(a, b string) int {
	n := 0
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '/' {
			n++
		}
	}
	return n
}
