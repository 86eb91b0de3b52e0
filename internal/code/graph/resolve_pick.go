package graph

import (
	"path"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// pick chooses one of a node's declarations for a use, or the constructor of a
// type that is called.
func (r *resolver) pick(i, at, n int32, kind kb.UseKind, conf float64) (int32, float64) {
	f := &r.files[i]
	if kind == kb.UseCall && r.is(n, isFile) && f.lang.standard != nil {
		if n = f.lang.standard(r, n, ""); r.is(n, isFile) {
			return -1, 0
		}
	}
	if r.nodes[n].first < 0 {
		return -1, 0
	}
	typish := r.is(n, isType)
	switch kind {
	case kb.UseType, kb.UseInherit:
		if !typish && !r.is(n, isVar|isSpace) {
			return -1, 0
		}
	case kb.UseCall:
		if r.is(n, isSpace) && !r.is(n, isFunc|isType|isVar) {
			return -1, 0
		}
		if typish && !r.is(n, isFunc) {
			if c := r.maker(n); c >= 0 {
				n = c
			}
		}
	}
	return r.choose(i, at, n, kind, conf)
}

// maker returns the constructor of a type, -1 when it declares none.
func (r *resolver) maker(n int32) int32 {
	fam := r.files[r.decls[r.nodes[n].first].file].lang
	for _, w := range fam.constructors {
		if c := r.get(n, r.known(w)); c >= 0 && r.is(c, isFunc) {
			return c
		}
	}
	if fam.overloads {
		if c := r.get(n, r.nodes[n].name); c >= 0 && r.is(c, isFunc) {
			return c
		}
	}
	return -1
}

// choose prefers, among several declarations of one node, those of the kind
// that the use asks for, in the same file, and with a body.
func (r *resolver) choose(i, at, n int32, kind kb.UseKind, conf float64) (int32, float64) {
	v := &r.nodes[n]
	if v.first == v.last {
		return v.first, conf
	}
	fam := r.files[i].lang
	latest := fam.latest && kind == kb.UseCall
	best, most, same, total, files := int32(-1), -1, 0, 0, int32(-1)
	for d, k := v.first, 0; d >= 0 && k < 1024; d, k = r.decls[d].next, k+1 {
		x := r.decls[d]
		s := &r.docs[x.file].symbols[x.sym]
		score := 0
		switch kind {
		case kb.UseCall:
			if s.is&(isFunc|isType) != 0 {
				score += 256
			}
			if fam.overloads && r.args > 0 && s.takes(r.args-1) {
				score += 128
			}
		case kb.UseType, kb.UseInherit:
			if s.is&isType != 0 {
				score += 256
			}
		default:
			if s.is&isFunc == 0 {
				score += 256
			}
		}
		if x.file == i {
			score += 32
		}
		if fam.headers && !header(r.docs[x.file].path) || !fam.headers && x.file != i && s.kind&isPrivate == 0 {
			score += 16
		}
		if !(fam.overloads && x.file == i && x.sym == at) {
			score += 8 // overloads call each other more often than themselves
		}
		if int(s.end-s.line) >= fam.bodyLines {
			score += 4 // stubs of overloads and prototypes have no body
		}
		total++
		switch {
		case score > most, score == most && latest && x.file == files:
			if score == most {
				best = d // stubs of overloads stand before what they stand for
				same++
				break
			}
			best, most, same, files = d, score, 1, x.file
		case score == most:
			same++
			if x.file != files {
				files = -1
			}
		}
	}
	if same == 1 || latest && files >= 0 {
		if total > 1 && fam.overloads && !fam.headers {
			conf = min(conf, sureReceiver)
		}
		return best, conf
	}
	if fam.headers && files < 0 {
		return r.reached(i, n, conf)
	}
	if fam.overloads && r.is(n, isFunc) {
		conf = min(conf, sureOverload)
	}
	return best, conf
}

// mostArguments stands for any number of arguments.
const mostArguments = 255

// takes reports whether a function can be called with n arguments, as far as
// its signature tells.
func (s *symbol) takes(n int) bool {
	n = min(n, mostArguments)
	return int(s.least) <= n && n <= int(s.most)
}

// arguments returns with how many arguments a function can be called, as far as
// its signature tells.
func arguments(name, signature string) (from, to uint8) {
	k := strings.Index(signature, name+"(")
	if k < 0 {
		return 0, mostArguments
	}
	least, most, deep, some, optional, variadic := 0, 0, 0, false, false, false
	sig := signature[k+len(name)+1:]
	end := func() {
		if some {
			most++
			if !optional {
				least++
			}
		}
		some, optional = false, false
	}
	for at := 0; at < len(sig); at++ {
		c := sig[at]
		switch c {
		case '(', '[', '{', '<':
			deep++
		case '>':
			if at > 0 && (sig[at-1] == '-' || sig[at-1] == '=') {
				continue
			}
			deep--
		case ')', ']', '}':
			if deep == 0 && c == ')' {
				end()
				if variadic {
					most = mostArguments
				}
				return uint8(min(least, mostArguments)), uint8(min(most, mostArguments))
			}
			deep--
		case ',':
			if deep == 0 {
				end()
				continue
			}
		case '=':
			optional = optional || deep == 0
		case '.':
			if strings.HasPrefix(sig[at:], "...") {
				variadic, optional = true, true
			}
		}
		if c != ' ' {
			some = true
		}
		if deep == 0 && (strings.HasPrefix(sig[at:], "vararg ") || strings.HasPrefix(sig[at:], "params ")) {
			variadic, optional = true, true
		}
	}
	return 0, mostArguments // cut off
}

func header(p string) bool {
	switch path.Ext(p) {
	case ".h", ".hh", ".hpp", ".hxx", ".h++":
		return true
	}
	return false
}

// reached chooses among C declarations of one name in several files: that of
// a header which file i includes, or of the source beside such a header.
func (r *resolver) reached(i, n int32, conf float64) (int32, float64) {
	if r.stemsOf != i || r.stems == nil {
		r.stemsOf, r.stems = i, r.included(i)
	}
	best := int32(-1)
	for d, k := r.nodes[n].first, 0; d >= 0 && k < 1024; d, k = r.decls[d].next, k+1 {
		p := r.docs[r.decls[d].file].path
		if !r.stems[strings.TrimSuffix(p, path.Ext(p))] {
			continue
		}
		if best < 0 || header(r.docs[r.decls[best].file].path) && !header(p) {
			best = d
		}
	}
	if best < 0 {
		return -1, 0
	}
	return best, min(conf, sureReceiver)
}

// included returns the headers that file i includes, without their extensions.
func (r *resolver) included(i int32) map[string]bool {
	stems := map[string]bool{}
	for k := range r.docs[i].imports {
		if h := r.include(i, r.text(int32(r.docs[i].imports[k].path))); h >= 0 {
			p := r.docs[h].path
			stems[strings.TrimSuffix(p, path.Ext(p))] = true
		}
		if k == 256 {
			break
		}
	}
	return stems
}
