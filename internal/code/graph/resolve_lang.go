package graph

import (
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

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

// super reports whether a name means the base of the class around.
func (f *family) super(s string) bool {
	return s == "super" || s == "super()" || s == f.superWord && s != ""
}

// commonMethods are names that libraries give their methods, so that a single
// declaration in a store says nothing about an unknown receiver.
var commonMethods = lists["common methods"]
