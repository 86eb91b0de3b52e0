package graph

import (
	"path"
	"strings"
)

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
	dir, parts := r.rustRoot(r.docs[i].path)
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
	if n := r.prefixed(i, name); n >= 0 {
		return n
	}
	dir, _ := r.rustRoot(r.docs[i].path)
	for d := dirOf(r.docs[i].path); ; d = dirOf(d) {
		lib := under(d, "src")
		if _, ok := r.byPath[under(lib, "lib.rs")]; ok {
			if lib == dir && path.Base(r.docs[i].path) != "main.rs" {
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

// prefixed finds "grep_regex" in the folder regex, if nearly all crates that
// the store uses and whose names begin so have such folders.
func (r *resolver) prefixed(from int32, name string) int32 {
	if r.prefixes == nil {
		r.prefixes = map[string]bool{}
		all, here := map[string]map[string]bool{}, map[string]int{}
		for i := range r.docs {
			if r.files[i].lang != r.files[from].lang {
				continue
			}
			for k := range r.docs[i].imports {
				p := r.text(int32(r.docs[i].imports[k].path))
				if n := strings.Index(p, "::"); n >= 0 {
					p = p[:n]
				}
				prefix, rest, ok := strings.Cut(p, "_")
				if !ok || prefix == "" || all[prefix][rest] {
					continue
				}
				if all[prefix] == nil {
					all[prefix] = map[string]bool{}
				}
				all[prefix][rest] = true
				if n, ok := r.crates[rest]; ok && n >= 0 {
					here[prefix]++
				}
			}
		}
		for prefix, n := range here {
			r.prefixes[prefix] = n >= 2 && n*10 >= len(all[prefix])*8
		}
	}
	prefix, rest, ok := strings.Cut(name, "_")
	if !ok || !r.prefixes[prefix] {
		return -1
	}
	if n, ok := r.crates[rest]; ok {
		return n
	}
	return -1
}

// macro finds a macro by name anywhere in the crate of a file, in which
// #[macro_use] makes it known; -1 when there are several or none.
func (r *resolver) macro(i, name int32) int32 {
	if rustStd[r.text(name)] {
		return -1 // one that stands in for a macro of the library does so in its own module
	}
	if r.macros == nil {
		r.macros = map[pair]int32{}
		for k := range r.files {
			if r.files[k].lang != r.files[i].lang {
				continue
			}
			for s := range r.docs[k].symbols {
				if r.docs[k].symbols[s].kind&isMacro == 0 {
					continue
				}
				n := r.files[k].nodes[s]
				key := pair{r.crateOf(int32(k)), r.nodes[n].name}
				if old, twice := r.macros[key]; twice && old != n {
					n = -1
				}
				r.macros[key] = n
			}
		}
	}
	if n, ok := r.macros[pair{r.crateOf(i), name}]; ok {
		return n
	}
	return -1
}

var rustStd = lists["rust std"]

// rustExtern is extern, with how sure it is that a crate's name means that.
func (r *resolver) rustExtern(i int32, name string) value {
	v := value{node: r.extern(i, name), conf: sureReceiver}
	if r.crates[name] > 0 {
		v.conf = sureScope
	}
	return v
}

// rustHead finds the module that "crate", "super" or "self" means.
func (r *resolver) rustHead(i, self, at int32, parts []string, _ bool) (value, []string, bool) {
	w, rest := parts[0], parts[1:]
	if w != "crate" && w != "super" && (w != "self" || self >= 0) {
		return unknown, nil, false
	}
	n := r.rustPath(i, r.spaceAround(i, at), w)
	for len(rest) > 0 && rest[0] == "super" && n >= 0 {
		n, rest = r.nodes[n].parent, rest[1:]
	}
	return value{node: n, conf: sureScope}, rest, true
}

func (r *resolver) crateOf(i int32) int32 {
	dir, _ := r.rustRoot(r.docs[i].path)
	if n, ok := r.crateAt[dir]; ok {
		return n
	}
	return -1
}
