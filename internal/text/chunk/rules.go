package chunk

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Lexical grammars that several languages share.
var (
	cSyntax    = syntax{line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, quotes: `"`, char: true}
	jsSyntax   = syntax{line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, multi: [][2]string{{"`", "`"}}, quotes: `"'`, regex: true}
	textBlocks = syntax{line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, multi: [][2]string{{`"""`, `"""`}}, quotes: `"`, char: true}
	hashSyntax = syntax{line: []string{"#"}, quotes: `"'`}
	pySyntax   = syntax{line: []string{"#"}, multi: [][2]string{{`"""`, `"""`}, {"'''", "'''"}}, quotes: `"'`}
)

// Keywords that several languages share.
var (
	classWord     = keyword{kind: "class", name: ident, body: true}
	interfaceWord = keyword{kind: "interface", name: ident, body: true}
	traitWord     = keyword{kind: "trait", name: ident, body: true}
	structWord    = keyword{kind: "struct", name: ident, body: true}
	enumWord      = keyword{kind: "enum", name: ident, body: true}
	funcWord      = keyword{kind: "function", name: ident}
	calledFunc    = keyword{kind: "function", name: called}
)

var rubyRules = rules{
	syntax: syntax{line: []string{"#"}, block: [][2]string{{"=begin", "=end"}}, quotes: `"'`, here: 'r', column0: true},
	keywords: map[string]keyword{
		"class":  {kind: "class", name: dotted, body: true, bare: true},
		"module": {kind: "module", name: dotted, body: true},
		"def":    {kind: "function", name: rubyDef},
	},
	modifiers: kb.WordsOf("private protected public private_class_method module_function"),
	imports:   []string{"require", "require_relative", "load", "autoload"},
	ends:      []string{"end", "else", "elsif", "rescue", "ensure", "when", "in"},
	do:        true,
}

var elixirRules = rules{
	syntax: syntax{line: []string{"#"}, multi: [][2]string{{`"""`, `"""`}}, quotes: `"'`},
	keywords: map[string]keyword{
		"defmodule":   {kind: "module", name: dotted, body: true},
		"defprotocol": {kind: "interface", name: dotted, body: true},
		"defimpl":     {kind: "impl", name: dotted, body: true, quiet: true},
		"def":         funcWord, "defp": funcWord,
		"defmacro":  {kind: "macro", name: ident},
		"defmacrop": {kind: "macro", name: ident},
	},
	imports: []string{"import", "alias", "require", "use"},
	decorator: func(s string) (int, bool) {
		w, _ := word(s[1:])
		return 0, s[0] == '@' && (w == "doc" || w == "spec" || w == "impl" || w == "moduledoc")
	},
	ends: []string{"end", "else", "rescue", "catch", "after"},
	do:   true,
}

// rulesOf holds the rows that package lang names for languages that the window
// knows more of than indentation. Text of others is cut without symbols.
var rulesOf = map[string]*rules{
	"javascript": &jsRules,
	"typescript": &tsRules,
	"c":          &cRules,
	"cpp":        &cppRules,
	"java":       &javaRules,
	"csharp":     &csharpRules,
	"kotlin":     &kotlinRules,
	"scala":      &scalaRules,
	"swift":      &swiftRules,
	"php":        &phpRules,
	"rust":       &rustRules,
	"ruby":       &rubyRules,
	"elixir":     &elixirRules,
	"python": {
		syntax:    pySyntax,
		modifiers: kb.WordsOf("async"),
		keywords:  map[string]keyword{"def": calledFunc, "class": classWord},
		imports:   []string{"import", "from"},
		decorator: lineOf("@"),
		other:     pythonOther,
		ends:      []string{"else", "elif", "except", "finally"},
		docString: true,
	},
	"starlark": {
		syntax: pySyntax, keywords: map[string]keyword{"def": calledFunc}, imports: []string{"load"}, other: pythonOther, docString: true,
	},
	"go": { // a file with a syntax error
		syntax: syntax{line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, multi: [][2]string{{"`", "`"}}, quotes: `"`, char: true},
		keywords: map[string]keyword{
			"func":  {kind: "function", name: goFunc, top: true},
			"type":  {kind: "type", name: ident, top: true},
			"const": {kind: "const", name: ident, top: true},
			"var":   {kind: "var", name: ident, top: true},
		},
		imports: []string{"package", "import"},
	},
	"lua": {
		syntax:    syntax{line: []string{"--"}, block: [][2]string{{"--[[", "]]"}, {"--[==[", "]==]"}}, multi: [][2]string{{"[[", "]]"}}, quotes: `"'`},
		modifiers: kb.WordsOf("local"),
		keywords: map[string]keyword{"function": {kind: "function", name: func(rest string) string {
			s := spaced(rest)
			n := 0
			for n < len(s) && (isWord(s[n]) || s[n] == '.' || s[n] == ':') {
				n++
			}
			return s[:n]
		}}},
		other: func(_ *window, _, _ int, s string) (found, bool) { return assignedFunction(s) },
		ends:  []string{"end", "else", "elseif", "until"},
	},
	"bash": {
		syntax:   syntax{line: []string{"#"}, quotes: `"'`, here: 's'},
		keywords: map[string]keyword{"function": {kind: "function", name: ident}},
		imports:  []string{"source"},
		other:    shellOther,
		ends:     []string{"fi", "done", "esac", "then", "do", "else", "elif"},
	},
	"powershell": {
		syntax:   syntax{line: []string{"#"}, block: [][2]string{{"<#", "#>"}}, multi: [][2]string{{`@"`, `"@`}, {"@'", "'@"}}, quotes: `"'`},
		keywords: map[string]keyword{"function": funcWord, "class": classWord, "enum": enumWord},
		imports:  []string{"using"},
		ends:     []string{"else", "elseif", "catch", "finally"},
	},
	"perl": {
		syntax:   syntax{line: []string{"#"}, block: [][2]string{{"=pod", "=cut"}, {"=head", "=cut"}, {"=begin", "=cut"}, {"=over", "=cut"}, {"=encoding", "=cut"}}, quotes: `"'`, here: 'r', column0: true},
		keywords: map[string]keyword{"sub": funcWord},
		imports:  []string{"package", "use", "require", "no"},
		ends:     []string{"else", "elsif"},
	},
	"haskell": {
		syntax: syntax{line: []string{"--"}, block: [][2]string{{"{-", "-}"}}, quotes: `"`, char: true},
		keywords: map[string]keyword{
			"data":    {kind: "type", name: ident, top: true},
			"newtype": {kind: "type", name: ident, top: true},
			"type":    {kind: "type", name: assigned, top: true},
		},
		imports: []string{"import", "module"},
		other:   haskellOther,
	},
	"zig": {
		syntax:    syntax{line: []string{"//", `\\`}, quotes: `"`, char: true},
		modifiers: kb.WordsOf("pub export inline extern noinline"),
		keywords:  map[string]keyword{"fn": calledFunc},
		other:     zigOther,
		isImport: func(_, s string) bool {
			return strings.Contains(s, "= @import(")
		},
		ends: []string{"else"},
	},
	"dart": {
		syntax:    syntax{line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, multi: [][2]string{{`"""`, `"""`}, {"'''", "'''"}}, quotes: `"'`},
		modifiers: kb.WordsOf("abstract base final sealed interface mixin"),
		keywords: map[string]keyword{
			"class": classWord, "enum": enumWord, "mixin": classWord,
			"extension": {kind: "extension", name: ident, body: true},
		},
		imports:   []string{"import", "export", "part", "library"},
		decorator: annotation,
		other:     dartOther,
		ends:      []string{"else", "catch", "finally", "on", "case", "default"},
	},
	"julia": {
		syntax:    syntax{line: []string{"#"}, block: [][2]string{{"#=", "=#"}}, multi: [][2]string{{`"""`, `"""`}}, quotes: `"`, char: true},
		modifiers: kb.WordsOf("mutable abstract"),
		keywords: map[string]keyword{
			"function": {kind: "function", name: dotted}, "macro": {kind: "macro", name: ident},
			"struct": structWord, "module": {kind: "module", name: ident, body: true},
		},
		imports: []string{"using", "import", "export", "include"},
		ends:    []string{"end", "else", "elseif", "catch", "finally"},
	},
	"r":    {syntax: hashSyntax, imports: []string{"library", "source"}, other: rOther},
	"lisp": {syntax: syntax{line: []string{";"}, quotes: `"`}, other: lispOther},
	"sql": {
		syntax: syntax{line: []string{"--"}, block: [][2]string{{"/*", "*/"}}, multi: [][2]string{{"$$", "$$"}}, quotes: `"'`},
		other:  sqlOther,
	},
	"protobuf": {
		syntax: syntax{line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, quotes: `"'`},
		keywords: map[string]keyword{
			"message": {kind: "message", name: ident, body: true},
			"service": {kind: "service", name: ident, body: true},
			"enum":    enumWord,
			"rpc":     {kind: "method", name: called},
		},
		imports: []string{"syntax", "package", "import", "option", "edition"},
	},
	"graphql": {
		syntax:    syntax{line: []string{"#"}, multi: [][2]string{{`"""`, `"""`}}, quotes: `"`},
		modifiers: kb.WordsOf("extend"),
		keywords: map[string]keyword{
			"type": {kind: "type", name: ident, top: true}, "interface": {kind: "interface", name: ident, top: true},
			"enum": {kind: "enum", name: ident, top: true}, "input": {kind: "type", name: ident, top: true},
			"union": {kind: "type", name: assigned, top: true}, "scalar": {kind: "type", name: ident, top: true},
			"query": {kind: "query", name: ident, top: true}, "mutation": {kind: "query", name: ident, top: true},
			"fragment": {kind: "fragment", name: ident, top: true},
		},
	},
	"solidity": {
		syntax:    cSyntax,
		modifiers: kb.WordsOf("abstract"),
		keywords: map[string]keyword{
			"contract": classWord, "library": classWord, "interface": interfaceWord, "struct": structWord, "enum": enumWord,
			"function": calledFunc, "modifier": funcWord, "event": {kind: "event", name: called},
		},
		imports: []string{"import", "pragma"},
	},
	"hcl": {
		syntax: syntax{line: []string{"#", "//"}, block: [][2]string{{"/*", "*/"}}, quotes: `"`, here: 's'},
		keywords: map[string]keyword{
			"resource": {kind: "resource", name: quotedNames, top: true},
			"data":     {kind: "data", name: quotedNames, top: true},
			"module":   {kind: "module", name: quotedNames, top: true},
			"variable": {kind: "var", name: quotedNames, top: true},
			"output":   {kind: "output", name: quotedNames, top: true},
			"provider": {kind: "provider", name: quotedNames, top: true},
		},
	},
	"makefile": {
		syntax:  syntax{line: []string{"#"}},
		imports: []string{"include", "-include"},
		other:   makeOther,
	},
	"cmake": {
		syntax:   syntax{line: []string{"#"}, block: [][2]string{{"#[[", "]]"}}, quotes: `"`},
		keywords: map[string]keyword{"function": {kind: "function", name: bracketed}, "macro": {kind: "macro", name: bracketed}},
		ends:     []string{"endfunction", "endmacro", "endif", "endforeach", "else", "elseif"},
	},
	"dockerfile": {syntax: syntax{line: []string{"#"}, quotes: `"`, here: 's'}},
	"toml":       {syntax: syntax{line: []string{"#"}, multi: [][2]string{{`"""`, `"""`}, {"'''", "'''"}}, quotes: `"'`}, other: sectionOther},
	"ini":        {syntax: syntax{line: []string{"#", ";"}}, other: sectionOther},
	"yaml":       {syntax: syntax{line: []string{"#"}}},
	"css":        {syntax: syntax{line: nil, block: [][2]string{{"/*", "*/"}}, quotes: `"'`}},
	"scss":       {syntax: syntax{line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, quotes: `"'`}},
	"html":       {syntax: syntax{block: [][2]string{{"<!--", "-->"}}}},
}
