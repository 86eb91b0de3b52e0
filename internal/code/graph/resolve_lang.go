package graph

import (
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// family is how a language, or several that can use each other's
// declarations, finds names.
type family struct {
	name string
	// global: namespaces span files; else every file is a module of its own.
	global bool
	// implicit: members of the class around can be named without a receiver.
	implicit bool
	// constructors are the names under which a class declares how it is made,
	// besides its own name.
	constructors []string
	// overloads: a name may be declared several times, by parameters.
	overloads bool
}

var (
	pythonFamily  = &family{name: "python", constructors: []string{"__init__", "__new__"}}
	jsFamily      = &family{name: "js", constructors: []string{"constructor"}}
	rustFamily    = &family{name: "rust"}
	luaFamily     = &family{name: "lua"}
	bashFamily    = &family{name: "bash"}
	zigFamily     = &family{name: "zig"}
	haskellFamily = &family{name: "haskell"}
	plainFamily   = &family{name: "plain"}
	jvmFamily     = &family{name: "jvm", global: true, implicit: true, overloads: true, constructors: []string{"<init>", "constructor", "this", "init"}}
	csharpFamily  = &family{name: "csharp", global: true, implicit: true, overloads: true, constructors: []string{".ctor", "constructor"}}
	cFamily       = &family{name: "c", global: true, implicit: true, overloads: true}
	rubyFamily    = &family{name: "ruby", global: true, implicit: true, constructors: []string{"initialize"}}
	phpFamily     = &family{name: "php", global: true, constructors: []string{"__construct"}}
	swiftFamily   = &family{name: "swift", global: true, implicit: true, overloads: true, constructors: []string{"init"}}
	elixirFamily  = &family{name: "elixir", global: true, implicit: true}
)

var families = map[string]*family{
	"python": pythonFamily, "starlark": pythonFamily,
	"javascript": jsFamily, "typescript": jsFamily, "tsx": jsFamily, "vue": jsFamily, "svelte": jsFamily, "astro": jsFamily,
	"rust": rustFamily, "lua": luaFamily, "bash": bashFamily, "zig": zigFamily, "haskell": haskellFamily,
	"java": jvmFamily, "kotlin": jvmFamily, "scala": jvmFamily, "groovy": jvmFamily,
	"csharp": csharpFamily, "c": cFamily, "cpp": cFamily, "objectivec": cFamily,
	"ruby": rubyFamily, "php": phpFamily, "swift": swiftFamily, "elixir": elixirFamily,
}

// familyOf returns the family of a language.
func familyOf(language string) *family {
	if f := families[language]; f != nil {
		return f
	}
	return plainFamily
}

// kindOf returns what a symbol's kind makes of a node.
func kindOf(kind string) uint8 {
	switch kind {
	case "class", "interface", "struct", "enum", "trait", "record", "type", "object", "protocol", "union",
		"extension", "impl", "mixin", "actor", "annotation", "alias", "typealias", "instance", "newtype", "data":
		return isType
	case "module", "namespace", "package", "mod":
		return isSpace
	case "function", "method", "constructor", "macro", "getter", "setter", "func", "fn", "operator", "test",
		"initializer", "destructor", "procedure", "delegate", "signature":
		return isFunc
	}
	return isVar
}

// The names by which code speaks of the object or class it stands in. Facts
// write most of them as "self".
var selfWords = kb.WordsOf("self this cls Self @ $this static __CLASS__ __MODULE__")

// typed reports whether types of variables are always written or clear.
func (f *family) typed() bool {
	switch f {
	case jvmFamily, csharpFamily, cFamily, swiftFamily, rustFamily, zigFamily:
		return true
	}
	return false
}

// super reports whether a name means the base of the class around.
func (f *family) super(s string) bool {
	switch s {
	case "super", "super()":
		return true
	case "base":
		return f == csharpFamily
	case "parent":
		return f == phpFamily
	}
	return false
}

// commonMethods are names that libraries give their methods, so that a single
// declaration in a store says nothing about an unknown receiver.
var commonMethods = lists["common methods"]
