package graph

import (
	"path"
	"strings"
)

var jsExts = []string{".ts", ".tsx", ".d.ts", ".d.mts", ".d.cts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte"}

// jsFile finds a file as bundlers do: as written, with an extension, as a
// directory with an index, or as the source of a .js.
func (r *resolver) jsFile(fam *family, p string) int32 {
	if n := r.fileAt(fam, p); n >= 0 {
		return n
	}
	for _, e := range jsExts {
		if n := r.fileAt(fam, p+e); n >= 0 {
			return n
		}
	}
	if e := path.Ext(p); e == ".js" || e == ".mjs" || e == ".cjs" || e == ".jsx" {
		q := strings.TrimSuffix(p, e)
		if n := r.fileAt(fam, q+".ts", q+".tsx", q+".mts", q+".cts", q+".d.ts"); n >= 0 {
			return n
		}
	}
	for _, e := range jsExts {
		if n := r.fileAt(fam, under(p, "index"+e)); n >= 0 {
			return n
		}
	}
	return -1
}

func (r *resolver) jsModule(i int32, p string) int32 {
	fam, dir := r.files[i].lang, dirOf(r.docs[i].path)
	p, _, _ = strings.Cut(p, "?")
	if p == "." || p == ".." || strings.HasPrefix(p, "./") || strings.HasPrefix(p, "../") {
		q := path.Join("/", dir, p)
		if strings.HasPrefix(path.Join(dir, p), "..") {
			return -1
		}
		q = strings.TrimPrefix(q, "/")
		if r.declares(i) {
			if n := r.jsTyped(fam, q); n >= 0 {
				return n
			}
		}
		return r.jsFile(fam, q)
	}
	for _, alias := range []string{"@/", "~/"} {
		if rest, ok := strings.CutPrefix(p, alias); ok {
			for d := dir; ; d = dirOf(d) {
				if n := r.jsFile(fam, under(under(d, "src"), rest)); n >= 0 {
					return n
				}
				if n := r.jsFile(fam, under(d, rest)); n >= 0 {
					return n
				}
				if d == "" {
					return -1
				}
			}
		}
	}
	if n := r.npmModule(fam, p); n >= 0 {
		return n
	}
	return r.jsPackage(fam, p)
}

// jsPackage finds "@scope/name" in a folder called name, if nearly all that the
// store imports of that scope has such a folder, so that the scope is its own.
func (r *resolver) jsPackage(fam *family, p string) int32 {
	scope, rest, ok := strings.Cut(p, "/")
	if !ok || !strings.HasPrefix(scope, "@") || len(scope) < 2 {
		return -1
	}
	if r.mono == nil {
		r.countScopes(fam)
	}
	if !r.mono[scope] {
		return -1
	}
	name, sub, deep := strings.Cut(rest, "/")
	i, ok := r.folders[name]
	if !ok || i < 0 {
		return -1
	}
	if !deep {
		return r.files[i].root
	}
	dir := dirOf(r.docs[i].path)
	if n := r.jsFile(fam, under(dir, sub)); n >= 0 {
		return n
	}
	return r.jsFile(fam, under(strings.TrimSuffix(dir, "/src"), sub))
}

// countScopes finds the folders that may be packages, those with an index in
// them or in their src, and the npm scopes whose packages are such folders.
func (r *resolver) countScopes(fam *family) {
	r.mono, r.folders = map[string]bool{}, map[string]int32{}
	for i := range r.docs {
		p := r.docs[i].path
		stem, _, _ := strings.Cut(path.Base(p), ".")
		if r.files[i].lang != fam || stem != "index" {
			continue
		}
		dir, src := dirOf(p), false
		if path.Base(dir) == "src" {
			dir, src = dirOf(dir), true
		}
		if strings.Count(dir, "/") != 1 && !(src && strings.Count(dir, "/") < 3 && dir != "") {
			continue
		}
		name := path.Base(dir)
		if old, ok := r.folders[name]; ok && dirOf(r.docs[max(old, 0)].path) != dirOf(p) {
			// The source rather than what is built from it.
			if before := path.Base(dirOf(r.docs[max(old, 0)].path)) == "src"; old >= 0 && before != src && strings.TrimSuffix(dirOf(r.docs[old].path), "/src") == dir {
				if src {
					r.folders[name] = int32(i)
				}
				continue
			}
			r.folders[name] = -1
			continue
		}
		if old, ok := r.folders[name]; !ok || old >= 0 && strings.HasSuffix(p, ".ts") {
			r.folders[name] = int32(i)
		}
	}
	type tally struct {
		all, here int
		names     map[string]bool
	}
	seen := map[string]*tally{}
	for i := range r.docs {
		if r.files[i].lang != fam {
			continue
		}
		for k := range r.docs[i].imports {
			p := r.text(int32(r.docs[i].imports[k].path))
			if !strings.HasPrefix(p, "@") {
				continue
			}
			scope, rest, ok := strings.Cut(p, "/")
			if !ok {
				continue
			}
			name, _, _ := strings.Cut(rest, "/")
			t := seen[scope]
			if t == nil {
				t = &tally{names: map[string]bool{}}
				seen[scope] = t
			}
			t.all++
			if n, ok := r.folders[name]; ok && n >= 0 {
				t.here++
				t.names[name] = true
			}
		}
	}
	for scope, t := range seen {
		r.mono[scope] = len(t.names) >= 2 && t.here*10 >= t.all*8
	}
}

// exported returns the only top-level declaration of a name in JavaScript.
func (r *resolver) exported(from, name int32) int32 {
	if r.tops == nil {
		fam := r.files[from].lang
		r.tops = map[int32]int32{}
		for i := range r.files {
			f := &r.files[i]
			if f.lang != fam {
				continue
			}
			for k, n := range f.nodes {
				if r.docs[i].symbols[k].path > 0 {
					continue
				}
				if old, ok := r.tops[r.nodes[n].name]; ok && old != n {
					n = -1
				}
				r.tops[r.nodes[f.nodes[k]].name] = n
			}
		}
	}
	if n, ok := r.tops[name]; ok {
		return n
	}
	return -1
}

// standard returns the default export of a JavaScript module: what is called
// so, else what its importers call it, what its file is called, or the only
// declaration. It is the module itself when none of these is there.
func (r *resolver) standard(m int32, local string) int32 {
	if r.nodes[m].file < 0 {
		return -1
	}
	if c := r.offers(m, r.known("default")); c >= 0 {
		return c
	}
	i := r.nodes[m].file
	d := &r.docs[i]
	only, many := int32(-1), false
	stem := d.path[strings.LastIndexByte(d.path, '/')+1:]
	stem, _, _ = strings.Cut(stem, ".")
	byStem := int32(-1)
	for k := range d.symbols {
		s := &d.symbols[k]
		if s.path > 0 {
			continue
		}
		n := r.files[i].nodes[k]
		if s.kind&isExport != 0 {
			return n
		}
		if strings.EqualFold(r.text(int32(s.name)), strings.ReplaceAll(stem, "-", "")) {
			byStem = n
		}
		if s.is&(isFunc|isType) != 0 {
			many = many || only >= 0 && only != n
			only = n
		}
	}
	if c := r.get(m, r.known(local)); c >= 0 && r.nodes[c].first >= 0 {
		return c
	}
	if byStem >= 0 {
		return byStem
	}
	if only >= 0 && !many {
		return only
	}
	return m
}
