package graph

import (
	"path"
	"strings"
)

// listPaths fills the maps by which modules are found.
func (r *resolver) listPaths() {
	for i := range r.docs {
		p := r.docs[i].Path
		fam := familyOf(r.docs[i].Language)
		r.files[i].lang = fam
		if fam == plainFamily {
			continue
		}
		r.byPath[p] = int32(i)
		dir, base := path.Split(p)
		dir = strings.TrimSuffix(dir, "/")
		stem := strings.TrimSuffix(base, path.Ext(base))
		switch fam {
		case pythonFamily:
			if stem == "__init__" {
				r.inits[dir] = true
				stem = path.Base(dir)
			}
		case luaFamily:
			if stem == "init" {
				stem = path.Base(dir)
			}
		case cFamily, bashFamily, zigFamily:
			stem = base
		default:
			continue
		}
		r.byTail[stem] = append(r.byTail[stem], int32(i))
	}
}

// at returns the node of the first of the files that there is, -1 when none is.
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
		return -1
	}
	key := fam.name + "\x00" + dirOf(r.docs[i].Path) + "\x00" + p
	if n, ok := r.found[key]; ok {
		return n
	}
	n := int32(-1)
	switch fam {
	case pythonFamily:
		n = r.pythonModule(i, p)
	case jsFamily:
		n = r.jsModule(i, p)
	case luaFamily:
		n = r.luaModule(i, p)
	case bashFamily, zigFamily:
		n = r.tailModule(i, p)
	case haskellFamily:
		n = r.namedModule(i, p)
	}
	r.found[key] = n
	return n
}

func (r *resolver) pythonFile(dir string) int32 {
	return r.fileAt(pythonFamily, dir+".py", under(dir, "__init__.py"), dir+".pyi", under(dir, "__init__.pyi"), dir+".pyx")
}

// pythonModule finds "a.b.c" and "..models".
func (r *resolver) pythonModule(i int32, p string) int32 {
	dir := dirOf(r.docs[i].Path)
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
			return r.fileAt(pythonFamily, under(dir, "__init__.py"), under(dir, "__init__.pyi"))
		}
		return r.pythonFile(under(dir, tail))
	}
	// Roots are directories that are no packages: those above first.
	for d := dir; ; d = dirOf(d) {
		if !r.inits[d] {
			for _, root := range []string{d, under(d, "src"), under(d, "lib")} {
				if n := r.pythonFile(under(root, tail)); n >= 0 {
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
		q := r.docs[c].Path
		q = strings.TrimSuffix(strings.TrimSuffix(q, path.Ext(q)), "/__init__")
		root, ok := strings.CutSuffix(q, "/"+tail)
		if !ok || r.files[c].lang != pythonFamily || r.inits[root] {
			continue
		}
		if only >= 0 {
			return -1
		}
		only = r.files[c].root
	}
	return only
}

var pythonStd = wordSet(`abc argparse array ast asyncio atexit base64 bdb binascii bisect builtins bz2 calendar cmath cmd code codecs
collections colorsys compileall concurrent configparser contextlib contextvars copy copyreg csv ctypes curses dataclasses
datetime dbm decimal difflib dis distutils doctest email encodings enum errno faulthandler fcntl filecmp fileinput fnmatch
fractions ftplib functools gc getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http imaplib imp importlib
inspect io ipaddress itertools json keyword linecache locale logging lzma mailbox marshal math mimetypes mmap modulefinder
multiprocessing netrc numbers operator optparse os pathlib pdb pickle pickletools pkgutil platform plistlib poplib posix pprint
profile pstats pty pwd py_compile pyclbr pydoc queue quopri random re readline reprlib resource runpy sched secrets select
selectors shelve shlex shutil signal site smtplib socket socketserver sqlite3 ssl stat statistics string stringprep struct
subprocess symtable sys sysconfig syslog tarfile telnetlib tempfile termios test textwrap threading time timeit tkinter token
tokenize tomllib trace traceback tracemalloc tty types typing unicodedata unittest urllib uuid venv warnings wave weakref
webbrowser winreg wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo`)

var jsExts = []string{".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte"}

// jsFile finds a file as bundlers do: as written, with an extension, as a
// directory with an index, or as the source of a .js.
func (r *resolver) jsFile(p string) int32 {
	if n := r.fileAt(jsFamily, p); n >= 0 {
		return n
	}
	for _, e := range jsExts {
		if n := r.fileAt(jsFamily, p+e); n >= 0 {
			return n
		}
	}
	if e := path.Ext(p); e == ".js" || e == ".mjs" || e == ".cjs" || e == ".jsx" {
		q := strings.TrimSuffix(p, e)
		if n := r.fileAt(jsFamily, q+".ts", q+".tsx", q+".mts", q+".cts", q+".d.ts"); n >= 0 {
			return n
		}
	}
	for _, e := range jsExts {
		if n := r.fileAt(jsFamily, under(p, "index"+e)); n >= 0 {
			return n
		}
	}
	return -1
}

func (r *resolver) jsModule(i int32, p string) int32 {
	dir := dirOf(r.docs[i].Path)
	p, _, _ = strings.Cut(p, "?")
	if p == "." || p == ".." || strings.HasPrefix(p, "./") || strings.HasPrefix(p, "../") {
		q := path.Join("/", dir, p)
		if strings.HasPrefix(path.Join(dir, p), "..") {
			return -1
		}
		return r.jsFile(strings.TrimPrefix(q, "/"))
	}
	for _, alias := range []string{"@/", "~/"} {
		if rest, ok := strings.CutPrefix(p, alias); ok {
			for d := dir; ; d = dirOf(d) {
				if n := r.jsFile(under(under(d, "src"), rest)); n >= 0 {
					return n
				}
				if n := r.jsFile(under(d, rest)); n >= 0 {
					return n
				}
				if d == "" {
					return -1
				}
			}
		}
	}
	return r.jsPackage(p)
}

// jsPackage finds "@scope/name" in a folder called name, if nearly all that the
// store imports of that scope has such a folder, so that the scope is its own.
func (r *resolver) jsPackage(p string) int32 {
	scope, rest, ok := strings.Cut(p, "/")
	if !ok || !strings.HasPrefix(scope, "@") || len(scope) < 2 {
		return -1
	}
	if r.mono == nil {
		r.countScopes()
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
	dir := dirOf(r.docs[i].Path)
	if n := r.jsFile(under(dir, sub)); n >= 0 {
		return n
	}
	return r.jsFile(under(strings.TrimSuffix(dir, "/src"), sub))
}

// countScopes finds the folders that may be packages, those with an index in
// them or in their src, and the npm scopes whose packages are such folders.
func (r *resolver) countScopes() {
	r.mono, r.folders = map[string]bool{}, map[string]int32{}
	for i := range r.docs {
		p := r.docs[i].Path
		stem, _, _ := strings.Cut(path.Base(p), ".")
		if r.files[i].lang != jsFamily || stem != "index" {
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
		if old, ok := r.folders[name]; ok && dirOf(r.docs[max(old, 0)].Path) != dirOf(p) {
			// The source rather than what is built from it.
			if before := path.Base(dirOf(r.docs[max(old, 0)].Path)) == "src"; old >= 0 && before != src && strings.TrimSuffix(dirOf(r.docs[old].Path), "/src") == dir {
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
		if r.files[i].lang != jsFamily {
			continue
		}
		for k := range r.docs[i].Facts.Imports {
			p := r.docs[i].Facts.Imports[k].Path
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

// luaModule finds "a.b" as a/b.lua below any root.
func (r *resolver) luaModule(i int32, p string) int32 {
	tail := strings.Trim(strings.ReplaceAll(p, ".", "/"), "/")
	if n := r.fileAt(luaFamily, under(dirOf(r.docs[i].Path), tail+".lua")); n >= 0 {
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
	if q := path.Join(dirOf(r.docs[i].Path), p); !strings.HasPrefix(q, "..") {
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
	q := path.Join(dirOf(r.docs[i].Path), p)
	if n, ok := r.byPath[q]; ok && r.files[n].lang == cFamily {
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
		if c == i || r.files[c].lang != r.files[i].lang || !fits(r.docs[c].Path) {
			continue
		}
		n := shared(r.docs[c].Path, r.docs[i].Path)
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

// rustRoot returns the directory of the crate that a file belongs to and the
// modules that lead to the file.
func (r *resolver) rustRoot(p string) (dir string, parts []string) {
	dir, base := dirOf(p), path.Base(p)
	stem := strings.TrimSuffix(base, ".rs")
	if stem == "lib" || stem == "main" {
		return dir, nil
	}
	for d := dir; ; d = dirOf(d) {
		if r.byRoot(d) {
			rel := strings.TrimPrefix(strings.TrimPrefix(dir, d), "/")
			if rel == "bin" || strings.HasPrefix(rel, "bin/") {
				break // programs beside the library are crates of their own
			}
			if rel != "" {
				parts = strings.Split(rel, "/")
			}
			if stem != "mod" {
				parts = append(parts, stem)
			}
			return d, parts
		}
		if d == "" {
			break
		}
	}
	if stem == "mod" {
		return dirOf(dir), []string{path.Base(dir)}
	}
	return dir, []string{stem}
}

func (r *resolver) byRoot(dir string) bool {
	_, lib := r.byPath[under(dir, "lib.rs")]
	_, bin := r.byPath[under(dir, "main.rs")]
	return lib || bin
}

// rustFile places a Rust file in the tree of its crate.
func (r *resolver) rustFile(i int32) int32 {
	dir, parts := r.rustRoot(r.docs[i].Path)
	root, ok := r.crateAt[dir]
	if !ok {
		root = r.free(-1, -1)
		r.nodes[root].kind |= isSpace
		r.crateAt[dir] = root
		if r.byRoot(dir) {
			name := path.Base(dir)
			if name == "src" {
				name = path.Base(dirOf(dir))
			}
			name = strings.ReplaceAll(name, "-", "_")
			if old, twice := r.crates[name]; twice && old != root {
				r.crates[name] = -1
			} else if name != "." && name != "" {
				r.crates[name] = root
			}
		}
	}
	n := root
	for _, p := range parts {
		n = r.make(n, r.intern(p))
		r.nodes[n].kind |= isSpace
	}
	return n
}

// rustPath finds a path as seen from a module.
func (r *resolver) rustPath(i, from int32, p string) int32 {
	parts := splitName(p)
	if len(parts) == 0 || len(parts) > maxChain {
		return -1
	}
	n, rest := from, parts[1:]
	switch parts[0] {
	case "crate", "$crate":
		n = r.crateOf(i)
	case "self":
	case "super":
		n = r.nodes[from].parent
	default:
		if n = r.get(from, r.known(parts[0])); !r.real(n) {
			n = r.extern(i, parts[0])
		}
	}
	for k, w := range rest {
		if n < 0 {
			return -1
		}
		if w == "super" && k == 0 && parts[0] == "super" || w == "super" && rest[0] == "super" {
			n = r.nodes[n].parent
			continue
		}
		n = r.offers(n, r.known(w))
	}
	return n
}

// extern finds a crate by name, or for programs, tests and examples the
// library beside them, whatever it is called.
func (r *resolver) extern(i int32, name string) int32 {
	if n, ok := r.crates[name]; ok {
		return n
	}
	switch name {
	case "std", "core", "alloc", "proc_macro", "test":
		return -1
	}
	dir, _ := r.rustRoot(r.docs[i].Path)
	for d := dirOf(r.docs[i].Path); ; d = dirOf(d) {
		lib := under(d, "src")
		if _, ok := r.byPath[under(lib, "lib.rs")]; ok {
			if lib == dir && path.Base(r.docs[i].Path) != "main.rs" {
				return -1
			}
			// Of a folder that has another name only what it does offer counts.
			return r.crateAt[lib]
		}
		if d == "" {
			return -1
		}
	}
}

// crateConf says how sure it is that a crate's name means what extern finds.
func (r *resolver) crateConf(name string) float64 {
	if r.crates[name] > 0 {
		return sureScope
	}
	return sureReceiver
}

func (r *resolver) crateOf(i int32) int32 {
	dir, _ := r.rustRoot(r.docs[i].Path)
	if n, ok := r.crateAt[dir]; ok {
		return n
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
