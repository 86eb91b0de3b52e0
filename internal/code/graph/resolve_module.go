package graph

import (
	"path"
	"strings"
)

// listPaths fills the maps by which modules are found.
func (r *resolver) listPaths() {
	for i := range r.docs {
		p := r.docs[i].path
		fam := familyOf(r.docs[i].language)
		r.files[i].lang = fam
		if fam.plain {
			continue
		}
		r.byPath[p] = int32(i)
		if fam.stem == nil {
			continue
		}
		dir, base := path.Split(p)
		dir = strings.TrimSuffix(dir, "/")
		stem := fam.stem(r, dir, strings.TrimSuffix(base, path.Ext(base)), base)
		r.byTail[stem] = append(r.byTail[stem], int32(i))
	}
}

// fileAt returns the node of the first of the files that there is, -1 when none is.
func (r *resolver) fileAt(fam *family, paths ...string) int32 {
	for _, p := range paths {
		if i, ok := r.byPath[p]; ok && r.files[i].lang == fam {
			return r.files[i].root
		}
	}
	return -1
}

func dirOf(p string) string {
	if n := strings.LastIndexByte(p, '/'); n >= 0 {
		return p[:n]
	}
	return ""
}

// under joins a directory, "" for the root, and a path.
func under(dir, p string) string {
	if dir == "" {
		return p
	}
	if p == "" {
		return dir
	}
	return dir + "/" + p
}

// module returns the node of an import path in file i, -1 when it lies outside
// the store.
func (r *resolver) module(i int32, p string) int32 {
	fam := r.files[i].lang
	if fam.global {
		return r.space(i, splitName(p))
	}
	if p == "" {
		if fam.own {
			return r.files[i].self // "export { a as b }"
		}
		return -1
	}
	key := fam.name + "\x00"
	if r.declares(i) {
		key += "\x00"
	}
	key += dirOf(r.docs[i].path) + "\x00" + p
	if n, ok := r.found[key]; ok {
		return n
	}
	n := int32(-1)
	if fam.module != nil {
		n = fam.module(r, i, p)
	}
	r.found[key] = n
	return n
}

func (r *resolver) pythonFile(i int32, dir string) int32 {
	return r.fileAt(r.files[i].lang, dir+".py", under(dir, "__init__.py"), dir+".pyi", under(dir, "__init__.pyi"), dir+".pyx")
}

// pythonModule finds "a.b.c" and "..models".
func (r *resolver) pythonModule(i int32, p string) int32 {
	dir := dirOf(r.docs[i].path)
	rest := strings.TrimLeft(p, ".")
	tail := strings.ReplaceAll(rest, ".", "/")
	if dots := len(p) - len(rest); dots > 0 {
		for ; dots > 1; dots-- {
			if dir == "" {
				return -1
			}
			dir = dirOf(dir)
		}
		if tail == "" {
			return r.fileAt(r.files[i].lang, under(dir, "__init__.py"), under(dir, "__init__.pyi"))
		}
		return r.pythonFile(i, under(dir, tail))
	}
	// Roots are directories that are no packages: those above first.
	for d := dir; ; d = dirOf(d) {
		if !r.inits[d] {
			for _, root := range []string{d, under(d, "src"), under(d, "lib")} {
				if n := r.pythonFile(i, under(root, tail)); n >= 0 {
					return n
				}
			}
		}
		if d == "" {
			break
		}
	}
	top, last := tail, tail
	if n := strings.IndexByte(tail, '/'); n >= 0 {
		top, last = tail[:n], path.Base(tail)
	}
	if pythonStd[top] {
		return -1
	}
	only := int32(-1)
	for _, c := range r.byTail[last] {
		q := r.docs[c].path
		q = strings.TrimSuffix(strings.TrimSuffix(q, path.Ext(q)), "/__init__")
		root, ok := strings.CutSuffix(q, "/"+tail)
		if !ok || r.files[c].lang != r.files[i].lang || r.inits[root] {
			continue
		}
		if only >= 0 {
			return -1
		}
		only = r.files[c].root
	}
	return only
}

var pythonStd = lists["python std"]

// luaModule finds "a.b" as a/b.lua below any root.
func (r *resolver) luaModule(i int32, p string) int32 {
	tail := strings.Trim(strings.ReplaceAll(p, ".", "/"), "/")
	if n := r.fileAt(r.files[i].lang, under(dirOf(r.docs[i].path), tail+".lua")); n >= 0 {
		return n
	}
	return r.closest(i, path.Base(tail), func(q string) bool {
		q = strings.TrimSuffix(strings.TrimSuffix(q, path.Ext(q)), "/init")
		return q == tail || strings.HasSuffix(q, "/"+tail)
	})
}

// tailModule finds a path relative to the file, else the only file or the
// nearest whose path ends so.
func (r *resolver) tailModule(i int32, p string) int32 {
	tail := path.Join("/", p)[1:]
	if q := path.Join(dirOf(r.docs[i].path), p); !strings.HasPrefix(q, "..") {
		if n := r.fileAt(r.files[i].lang, q); n >= 0 {
			return n
		}
	}
	for strings.HasPrefix(tail, "../") {
		tail = tail[3:]
	}
	return r.closest(i, path.Base(tail), func(q string) bool { return q == tail || strings.HasSuffix(q, "/"+tail) })
}

// include returns the file that a C include means, -1 when there is none.
func (r *resolver) include(i int32, p string) int32 {
	q := path.Join(dirOf(r.docs[i].path), p)
	if n, ok := r.byPath[q]; ok && r.files[n].lang == r.files[i].lang {
		return n
	}
	tail := path.Join("/", p)[1:]
	n := r.closestFile(i, path.Base(tail), func(q string) bool { return q == tail || strings.HasSuffix(q, "/"+tail) })
	return n
}

func (r *resolver) closest(i int32, key string, fits func(string) bool) int32 {
	if n := r.closestFile(i, key, fits); n >= 0 {
		return r.files[n].root
	}
	return -1
}

// closestFile returns the file that fits and shares the longest beginning of
// its path with file i; -1 when several do equally.
func (r *resolver) closestFile(i int32, key string, fits func(string) bool) int32 {
	best, most, tie := int32(-1), -1, false
	for k, c := range r.byTail[key] {
		if k == 256 {
			break
		}
		if c == i || r.files[c].lang != r.files[i].lang || !fits(r.docs[c].path) {
			continue
		}
		n := shared(r.docs[c].path, r.docs[i].path)
		switch {
		case n > most:
			best, most, tie = c, n, false
		case n == most:
			tie = true
		}
	}
	if tie {
		return -1
	}
	return best
}

// shared counts the directories that two paths begin with.
func shared(a, b string) int {
	n := 0
	for k := 0; k < len(a) && k < len(b) && a[k] == b[k]; k++ {
		if a[k] == '/' {
			n++
		}
	}
	return n
}

// namedModule finds a module by the name its file gives itself.
func (r *resolver) namedModule(_ int32, p string) int32 {
	if i, ok := r.modules[p]; ok {
		return r.files[i].root
	}
	return -1
}

// swiftModule returns the module of a path: "A" of Sources/A/x.swift.
func swiftModule(p string) string {
	parts := strings.Split(p, "/")
	for k := 0; k+2 < len(parts); k++ {
		if parts[k] == "Sources" || parts[k] == "Tests" {
			return parts[k+1]
		}
	}
	return ""
}
