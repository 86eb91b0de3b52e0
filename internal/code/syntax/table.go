package syntax

import "github.com/seed-4f2d999b/knowledge/internal/code/lang"

// specs holds the rows that package lang names for the languages.
var specs = map[string]*spec{
	"python":     python,
	"sql":        sql,
	"css":        css,
	"html":       html,
	"yaml":       yaml,
	"toml":       toml,
	"json":       jsonRules,
	"hcl":        hcl,
	"makefile":   makefile,
	"bash":       bash,
	"elixir":     elixir,
	"lua":        lua,
	"php":        php,
	"r":          rlang,
	"ruby":       ruby,
	"java":       java,
	"csharp":     csharp,
	"kotlin":     kotlin,
	"javascript": javascript,
	"typescript": typescript,
	"tsx":        tsx,
	"component":  component,
	"rust":       rust,
	"c":          clang,
	"cpp":        cpp,
	"swift":      swift,
	"scala":      scala,
	"zig":        zig,
	"haskell":    haskell,
}

// specOf returns the rules for a language, nil when there are none.
func specOf(language string) *spec { return specs[lang.Get(language).Rules] }
