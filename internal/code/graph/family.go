package graph

import (
	"path"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/code/lang"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// family is how a language, or several that can use each other's
// declarations, finds names. A nil function is the way of most languages.
type family struct {
	name string
	// plain: nothing is known of the language.
	plain bool

	// Scopes.

	// global: namespaces span files; else every file is a module of its own.
	global bool
	// implicit: members of the class around can be named without a receiver.
	implicit bool
	// direct: they can right in the class, outside of its methods.
	direct bool
	// innermost: names in lower case are looked for in the innermost class only.
	innermost bool
	// spaces: modules are scopes that end the search for a name.
	spaces bool
	// written: a package sees nothing of those around it, and full names begin
	// with a package.
	written bool
	// blocks: members of a type may stand in blocks that are no declarations.
	blocks bool
	// loose: methods may lie in objects without a name.
	loose bool
	// named: files give themselves the names that they are imported by.
	named bool
	// anywhere: a function can be called from every file.
	anywhere bool

	// Names.

	// sigil is what variables begin with; ownPrefix what members may begin with.
	sigil, ownPrefix string
	// splits reports whether a declared name is one of several parts.
	splits func(name string) bool
	// superWord means the base of the class around, as "super" does.
	superWord string
	// plainSelf: "self" is a name like any other.
	plainSelf bool
	// stays reports whether a word in a chain means what stands before it.
	stays func(r *resolver, n int32, word string) bool
	// heads finds what a chain begins with; false for an ordinary name. known
	// says that something of the first name is declared or imported.
	heads func(r *resolver, i, self, at int32, parts []string, known bool) (value, []string, bool)
	// extern finds what no file declares: a package by its name.
	extern func(r *resolver, i int32, name string) value

	// Calls and types.

	// constructors are the names under which a class declares how it is made,
	// besides its own name; maker is called on a class to make one.
	constructors []string
	maker        string
	// overloads: a name may be declared several times, by parameters. latest:
	// the last of several declarations holds.
	overloads, latest bool
	// headers: functions are announced in headers.
	headers bool
	// bodyLines is how many lines a declaration with a body has at least.
	bodyLines int
	// library is a function that is never the store's own.
	library string
	// typed: types of variables are always written or clear.
	typed bool
	// outward: facts name the last call of a chain first, so that of "a().b()"
	// the use of b is followed at once by that of a.
	outward bool
	// unwraps are methods that give what a Result or Option holds.
	unwraps []string
	// returns cuts the return type out of a signature; promise is a generic
	// type that stands before what is awaited.
	returns func(sig, name string) string
	promise string
	// static reports whether a method belongs to its type rather than to the
	// objects of it.
	static func(sig string) bool
	// macro finds a function by a bare name that no scope knows.
	macro func(r *resolver, i, name int32) int32

	// Files and imports.

	// root places a file in the tree of a package.
	root func(r *resolver, i int32) int32
	// module names the module of a path whose namespaces are its own.
	space func(path string) string
	// stem is what a file is listed under, to be found by its name.
	stem func(r *resolver, dir, stem, base string) string
	// module finds an import path; own: "" is the file itself.
	module func(r *resolver, i int32, path string) int32
	own    bool
	// target finds what an import of name, "" for the whole, means.
	target func(r *resolver, l *link, imp *kb.Import, path, name string) int32
	// star reports whether an import brings in all names; starNamed: the
	// module's own name too. local cuts the name that an import makes known.
	star      func(imp *kb.Import) bool
	starNamed bool
	local     func(string) string
	// offers finds what a file gives under a name that it does not declare.
	offers func(r *resolver, i, name int32) int32
	// standard finds the default export of a module.
	standard func(r *resolver, m int32, local string) int32
}

// families are the rows that package lang names for the languages.
var families = func() map[string]*family {
	all := []*family{
		{name: "plain", plain: true},
		{name: "python", constructors: []string{"__init__", "__new__"}, direct: true, latest: true, bodyLines: 2,
			outward: true,
			heads:   (*resolver).pythonHead, returns: returnsArrow, stem: (*resolver).pythonStem,
			module: (*resolver).pythonModule,
			target: (*resolver).pythonTarget, local: firstPart, offers: (*resolver).pythonOffers},
		{name: "js", constructors: []string{"constructor"}, loose: true, latest: true, bodyLines: 2,
			outward: true, stays: jsStays,
			returns: returnsColon, promise: "Promise<", module: (*resolver).jsModule, own: true,
			target:   (*resolver).jsTarget,
			standard: (*resolver).standard},
		{name: "rust", spaces: true, blocks: true, typed: true, outward: true, unwraps: []string{"unwrap", "expect"},
			heads: (*resolver).rustHead, extern: (*resolver).rustExtern, returns: returnsArrow, static: rustStatic,
			macro: (*resolver).macro, root: (*resolver).rustFile, target: (*resolver).rustTarget, star: rustStar},
		{name: "lua", ownPrefix: "self.", splits: luaSplits, stem: luaStem, module: (*resolver).luaModule,
			offers: (*resolver).luaMember},
		{name: "bash", anywhere: true, stem: fileStem, module: (*resolver).tailModule, star: anyStar},
		{name: "r", anywhere: true, stem: fileStem, module: (*resolver).tailModule, star: anyStar},
		{name: "zig", typed: true, stem: fileStem, module: (*resolver).tailModule},
		{name: "haskell", named: true, module: (*resolver).namedModule, star: haskellStar, starNamed: true},
		{name: "jvm", global: true, implicit: true, overloads: true, constructors: []string{"<init>",
			"constructor", "this", "init"},
			written: true, typed: true, stays: jvmStays, returns: returnsBefore, star: packageStar},
		{name: "csharp", global: true, implicit: true, overloads: true, constructors: []string{".ctor", "constructor"},
			superWord: "base", typed: true, returns: returnsBefore, star: packageStar},
		{name: "c", global: true, implicit: true, overloads: true, plainSelf: true, headers: true, bodyLines: 1,
			library: "assert",
			typed:   true, splits: cSplits, stem: fileStem},
		{name: "ruby", global: true, implicit: true, innermost: true, constructors: []string{"initialize"},
			maker: "new", ownPrefix: "self."},
		{name: "php", global: true, constructors: []string{"__construct"}, sigil: "$", superWord: "parent",
			star: packageStar},
		{name: "swift", global: true, implicit: true, overloads: true, constructors: []string{"init"},
			blocks: true, typed: true,
			returns: returnsArrow, space: swiftModule, target: (*resolver).swiftTarget, star: anyStar},
		{name: "elixir", global: true, implicit: true, star: packageStar},
	}
	m := map[string]*family{"": all[0]}
	for _, f := range all {
		m[f.name] = f
	}
	return m
}()

// familyOf returns the family of a language.
func familyOf(language string) *family { return families[lang.Get(language).Family] }

func jsStays(_ *resolver, _ int32, word string) bool { return word == "prototype" }

// jvmStays: the members of a companion are taken for the class's.
func jvmStays(r *resolver, n int32, word string) bool {
	return word == "Companion" && r.get(n, r.known(word)) < 0
}

func luaSplits(name string) bool { return strings.IndexAny(name, ".:") > 0 }
func cSplits(name string) bool   { return strings.Contains(name, "::") }

func rustStatic(sig string) bool { return sig != "" && !strings.Contains(sig, "self") }

func firstPart(local string) string {
	local, _, _ = strings.Cut(local, ".")
	return local
}

func anyStar(*kb.Import) bool { return true }

func packageStar(imp *kb.Import) bool {
	return imp.Local == "" || imp.Local == "*" || imp.Local == "_" ||
		strings.HasSuffix(imp.Path, ".*") || strings.HasSuffix(imp.Path, "._")
}

func haskellStar(imp *kb.Import) bool { return imp.Name == "*" || imp.Name == "" && imp.Local == "" }

func rustStar(imp *kb.Import) bool { return imp.Name == "*" || strings.HasSuffix(imp.Path, "::*") }

func fileStem(_ *resolver, _, _, base string) string { return base }

func luaStem(_ *resolver, dir, stem, _ string) string {
	if stem == "init" {
		return path.Base(dir)
	}
	return stem
}

func (r *resolver) pythonStem(dir, stem, _ string) string {
	if stem == "__init__" {
		r.inits[dir] = true
		return path.Base(dir)
	}
	return stem
}

// returnsArrow reads "-> T", returnsColon "): T", returnsBefore that or "T name(".
func returnsArrow(sig, _ string) string {
	k := strings.LastIndex(sig, "->")
	if k < 0 {
		return ""
	}
	t, _, _ := strings.Cut(sig[k+2:], " where ")
	return t
}

func returnsColon(sig, _ string) string {
	if k := strings.LastIndex(sig, "):"); k >= 0 {
		return sig[k+2:]
	}
	return ""
}

func returnsBefore(sig, name string) string {
	if k := strings.LastIndex(sig, "):"); k >= 0 { // Kotlin, Scala
		return sig[k+2:]
	}
	k := strings.Index(sig, name+"(")
	if words := strings.Fields(sig[:max(k, 0)]); len(words) > 0 {
		return words[len(words)-1]
	}
	return ""
}
