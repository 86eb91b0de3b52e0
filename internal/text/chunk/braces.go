package chunk

import (
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"slices"
	"strings"
)

var jsRules = rules{
	syntax:    jsSyntax,
	modifiers: kb.WordsOf("export default async declare abstract"),
	keywords: map[string]keyword{
		"function": {kind: "function", name: func(rest string) string {
			if rest != "" && rest[0] == '*' {
				rest = " " + rest[1:]
			} else if s := spaced(rest); s != "" && s[0] == '*' {
				rest = " " + s[1:]
			}
			return called(rest)
		}},
		"class": {kind: "class", body: true, name: func(rest string) string {
			if n := ident(rest); n != "extends" {
				return n
			}
			return ""
		}},
	},
	imports:   []string{"import"},
	isImport:  jsImport,
	decorator: annotation,
	other:     jsOther,
	ends:      []string{"else", "catch", "finally", "case", "default"},
}

var tsRules = func() rules {
	r := jsRules
	r.modifiers = kb.WordsOf("export default async declare abstract const")
	r.keywords = map[string]keyword{
		"interface": interfaceWord,
		"type":      {kind: "type", name: assigned, top: true},
		"enum":      enumWord,
		"namespace": {kind: "namespace", name: dotted, body: true},
		"module":    {kind: "namespace", name: dotted, body: true, bare: true},
	}
	for k, v := range jsRules.keywords {
		r.keywords[k] = v
	}
	return r
}()

var cRules = rules{
	syntax:    cSyntax,
	modifiers: kb.WordsOf("static extern const inline"),
	keywords: map[string]keyword{
		"struct": {kind: "struct", name: typed, body: true},
		"union":  {kind: "union", name: typed, body: true},
		"enum":   {kind: "enum", name: typed, body: true},
	},
	imports:   []string{"#include", "#import"},
	decorator: cDecorator,
	other:     cOther,
	keep:      cKeep,
	typeAbove: true,
	ends:      []string{"else", "while", "case", "default"},
}

var cppRules = func() rules {
	r := cRules
	r.modifiers = kb.WordsOf("static extern const inline export constexpr")
	r.syntax.multi = [][2]string{{`R"(`, `)"`}}
	r.keywords = map[string]keyword{
		"struct": {kind: "struct", name: typed, body: true},
		"union":  {kind: "union", name: typed, body: true},
		"class":  {kind: "class", name: typed, body: true},
		"enum": {kind: "enum", body: true, name: func(rest string) string {
			if first, after := identRest(rest); first == "class" || first == "struct" {
				rest = after
			}
			return typed(rest)
		}},
		"namespace": {kind: "namespace", name: unended, body: true, bare: true},
		"using":     {kind: "type", name: assigned},
		"concept":   {kind: "type", name: assigned},
	}
	r.ends = []string{"else", "while", "case", "default", "catch"}
	return r
}()

var javaRules = rules{
	syntax:    textBlocks,
	modifiers: kb.WordsOf("public private protected static final abstract sealed strictfp"),
	keywords: map[string]keyword{
		"class": classWord, "interface": interfaceWord, "enum": enumWord,
		"record": {kind: "record", name: called, body: true},
	},
	imports:   []string{"import", "package"},
	decorator: annotation,
	other:     javaOther,
	ends:      []string{"else", "catch", "finally", "case", "default"},
}

var csharpRules = rules{
	syntax:    textBlocks,
	modifiers: kb.WordsOf("public private protected internal static sealed abstract partial readonly ref unsafe file new"),
	keywords: map[string]keyword{
		"class": classWord, "interface": interfaceWord, "struct": structWord, "enum": enumWord,
		"record": {kind: "record", body: true, name: func(rest string) string {
			if first, after := identRest(rest); first == "class" || first == "struct" {
				rest = after
			}
			return ident(rest)
		}},
		"namespace": {kind: "namespace", name: unended, body: true},
	},
	imports:   []string{"using"},
	decorator: attribute("["),
	other:     javaOther,
	keep:      func(s string) bool { return s[0] == '#' },
	ends:      []string{"else", "catch", "finally", "case", "default"},
}

var kotlinRules = rules{
	syntax:    textBlocks,
	modifiers: kb.WordsOf("public private protected internal open abstract sealed data enum annotation inner inline value override suspend operator infix tailrec external expect actual const lateinit companion"),
	keywords: map[string]keyword{
		"class": classWord, "interface": interfaceWord,
		"object":    {kind: "object", name: ident, body: true, bare: true},
		"fun":       {kind: "function", name: kotlinFun},
		"typealias": {kind: "type", name: assigned},
		"val":       {kind: "const", name: assigned, top: true},
		"var":       {kind: "var", name: assigned, top: true},
	},
	imports:   []string{"import", "package"},
	decorator: annotation,
	ends:      []string{"else", "catch", "finally"},
}

var scalaRules = rules{
	syntax:    textBlocks,
	modifiers: kb.WordsOf("case implicit final sealed abstract override private protected lazy inline open transparent infix opaque package"),
	keywords: map[string]keyword{
		"class": classWord, "trait": traitWord, "enum": enumWord,
		"object": {kind: "object", name: ident, body: true},
		"def":    {kind: "function", name: ident},
		"type":   {kind: "type", name: ident},
		"val":    {kind: "const", name: assigned, top: true},
	},
	imports:   []string{"import", "package"},
	decorator: annotation,
	ends:      []string{"else", "catch", "finally", "end", "case"},
}

var swiftRules = rules{
	syntax:    syntax{line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, multi: [][2]string{{`"""`, `"""`}}, quotes: `"`},
	modifiers: kb.WordsOf("public private fileprivate internal open static final override mutating nonmutating class indirect convenience required lazy weak nonisolated package"),
	keywords: map[string]keyword{
		"class": classWord, "struct": structWord, "enum": enumWord, "actor": classWord,
		"protocol":  {kind: "interface", name: ident, body: true},
		"extension": {kind: "extension", name: dotted, body: true, quiet: true},
		"func":      calledFunc,
		"typealias": {kind: "type", name: assigned},
		"let":       {kind: "const", name: assigned, top: true},
	},
	imports:   []string{"import"},
	decorator: annotation,
	keep:      func(s string) bool { return s[0] == '#' },
	ends:      []string{"else", "catch", "case", "default"},
}

var phpRules = rules{
	syntax:    syntax{line: []string{"//", "#"}, block: [][2]string{{"/*", "*/"}}, quotes: `"'`, here: 'p'},
	modifiers: kb.WordsOf("public private protected static final abstract readonly"),
	keywords: map[string]keyword{
		"class": classWord, "interface": interfaceWord, "trait": traitWord, "enum": enumWord,
		"function": {kind: "function", name: func(rest string) string {
			if s := spaced(rest); s != "" && s[0] == '&' {
				rest = " " + s[1:]
			}
			return called(rest)
		}},
		"const": {kind: "const", name: assigned, top: true},
	},
	imports:   []string{"namespace", "use", "require", "require_once", "include", "include_once"},
	decorator: attribute("#["),
	ends:      []string{"else", "elseif", "catch", "finally", "case", "default"},
}

var rustRules = rules{
	syntax:    syntax{line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, multi: [][2]string{{`r#"`, `"#`}, {`r##"`, `"##`}}, quotes: `"`, char: true},
	modifiers: kb.WordsOf("pub unsafe async const extern default"),
	keywords: map[string]keyword{
		"fn":     calledFunc,
		"struct": structWord, "enum": enumWord, "trait": traitWord,
		"union":  {kind: "union", name: typed, body: true},
		"impl":   {kind: "impl", name: rustImpl, body: true, quiet: true},
		"mod":    {kind: "module", name: unended, body: true},
		"type":   {kind: "type", name: ident},
		"const":  {kind: "const", name: assigned, top: true},
		"static": {kind: "var", name: assigned, top: true},
		"macro_rules": {kind: "macro", name: func(rest string) string {
			if len(rest) > 1 && rest[0] == '!' {
				return ident(rest[1:])
			}
			return ""
		}},
	},
	imports: []string{"use"},
	isImport: func(first, s string) bool {
		if first != "pub" && first != "extern" && first != "mod" {
			return false
		}
		return slices.ContainsFunc(
			[]string{"pub use ", "pub(crate) use ", "extern crate ", "mod ", "pub mod "},
			func(m string) bool { return strings.HasPrefix(s, m) && s != m })
	},
	decorator: attribute("#["),
	ends:      []string{"else", "where"},
}
