package gocheck

import (
	"go/types"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func itoa(n int) string { return strconv.Itoa(n) }

// match says of what was removed what it is called now: the added declaration
// with the same body, or of the same type and a like name, or of the same name in
// another package; else what the old version said to use instead.
func match(old, new *API, changes []Change) {
	var added []candidate
	for i := range changes {
		if c := &changes[i]; c.What == "added" {
			added = append(added, new.candidate(c))
		}
		if c := &changes[i]; c.What == "package added" {
			added = append(added, new.whole(c.Package)...)
		}
	}
	for i := range changes {
		c := &changes[i]
		if c.What != "removed" && c.What != "package removed" {
			continue
		}
		if c.What == "package removed" {
			c.Instead = movedPackage(old, new, c.Package)
			continue
		}
		was := old.candidate(c)
		best, most := "", 0.0
		for _, a := range added {
			if s := was.like(a); s > most {
				best, most = a.shown(c.Package), s
			} else if s == most && s > 0 && s < 1 {
				best = "" // two that are as likely: it is not known
			}
		}
		if most >= 0.6 {
			c.Instead = best
		}
		dir, _ := below(c.Package, old.module)
		if d := old.decls[cleanDir(dir)+"."+c.Name]; c.Instead == "" && d != nil && d.deprecated != "" {
			c.Note = kb.Clip(d.deprecated, 160)
		}
	}
}

// candidate is a declaration that may be another one's successor.
type candidate struct {
	pkg, name string
	kind      string
	typ       string // without the packages of the module
	body      uint64
}

func (a *API) candidate(c *Change) candidate {
	rest, _ := below(c.Package, a.module)
	dir := cleanDir(rest)
	x := candidate{pkg: c.Package, name: c.Name}
	if d := a.decls[dir+"."+c.Name]; d != nil {
		x.body = d.body
	}
	if p := a.packages[dir]; p != nil {
		if obj := lookup(p, c.Name); obj != nil {
			x.kind, x.typ = kindOf(obj), a.typeOf(obj)
		}
	}
	return x
}

// whole returns what a package declares.
func (a *API) whole(pkg string) []candidate {
	rest, _ := below(pkg, a.module)
	p := a.packages[cleanDir(rest)]
	if p == nil {
		return nil
	}
	var out []candidate
	for _, n := range p.Scope().Names() {
		if exported(n) {
			out = append(out, a.candidate(&Change{Package: pkg, Name: n}))
		}
	}
	return out
}

// typeOf writes the type of an object so that those of two versions compare.
func (a *API) typeOf(obj types.Object) string {
	t := obj.Type()
	if _, ok := obj.(*types.TypeName); ok {
		t = t.Underlying()
	}
	s := types.TypeString(t, func(p *types.Package) string {
		if _, ok := below(p.Path(), a.module); ok {
			return ""
		}
		return p.Path()
	})
	return kb.Cut(s, 4000)
}

func kindOf(obj types.Object) string {
	switch o := obj.(type) {
	case *types.Func:
		if o.Signature().Recv() != nil {
			return "method"
		}
		return "func"
	case *types.TypeName:
		return "type"
	case *types.Const:
		return "const"
	}
	return "var"
}

// lookup returns a declaration of a package: "T", "T.M" or "T.F".
func lookup(p *types.Package, name string) types.Object {
	first, rest, member := strings.Cut(name, ".")
	obj := p.Scope().Lookup(first)
	if obj == nil || !member {
		return obj
	}
	found, _, _ := types.LookupFieldOrMethod(obj.Type(), true, p, rest)
	return found
}

// like returns how likely b is a's successor, from 0 to 1.
func (a candidate) like(b candidate) float64 {
	if a.kind != b.kind || a.kind == "" {
		return 0
	}
	if a.body != 0 && a.body == b.body {
		return 1
	}
	owner, last := split(a.name)
	bOwner, bLast := split(b.name)
	same := a.typ == b.typ
	switch {
	case a.name == b.name && a.pkg != b.pkg: // moved
		if same {
			return 0.95
		}
		return 0.7
	case owner == bOwner && a.pkg == b.pkg && same && a.typ != "":
		return 0.9 * alike(last, bLast)
	case last == bLast && same && a.typ != "": // to another type
		return 0.65
	}
	return 0
}

func split(name string) (owner, last string) {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return "", name
}

// alike is how much two names have in common: twice the letters of their common
// words over those of both.
func alike(a, b string) float64 {
	left := map[string]int{}
	total := len(a) + len(b)
	for _, w := range words(a) {
		left[w]++
	}
	common := 0
	for _, w := range words(b) {
		if left[w] > 0 {
			left[w]--
			common += len(w)
		}
	}
	return 2 * float64(common) / float64(max(total, 1))
}

// words cuts "NewHTTPClient" into new, http, client.
func words(name string) []string {
	var out []string
	r := []rune(name)
	start := 0
	for i := 1; i <= len(r); i++ {
		if i == len(r) || unicode.IsUpper(r[i]) && (!unicode.IsUpper(r[i-1]) || i+1 < len(r) && unicode.IsLower(r[i+1])) {
			out = append(out, strings.ToLower(strings.Trim(string(r[start:i]), "_")))
			start = i
		}
	}
	return out
}

func (a candidate) shown(from string) string {
	if a.pkg == from {
		return a.name
	}
	return a.pkg + "." + a.name
}

// movedPackage returns the package of the new version that has most of the names
// of one that is gone, "" when none has half of them.
func movedPackage(old, new *API, pkg string) string {
	rest, _ := below(pkg, old.module)
	p := old.packages[cleanDir(rest)]
	if p == nil {
		return ""
	}
	best, most := "", 0
	for _, q := range new.Packages() {
		dir, _ := below(q.Path(), new.module)
		if old.packages[cleanDir(dir)] != nil && path.Base(q.Path()) != path.Base(pkg) {
			continue
		}
		n := 0
		for _, name := range p.Scope().Names() {
			if exported(name) && q.Scope().Lookup(name) != nil {
				n++
			}
		}
		if n > most {
			best, most = q.Path(), n
		}
	}
	all := 0
	for _, name := range p.Scope().Names() {
		if exported(name) {
			all++
		}
	}
	if 2*most < all || most == 0 {
		return ""
	}
	return best
}
