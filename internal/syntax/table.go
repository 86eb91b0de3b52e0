package syntax

// specs is the one table of languages, by the name that package chunk gives
// them. Languages that share a grammar or rules are rows of the same.
var specs = map[string]*spec{
	"python":     python,
	"sql":        sql,
	"css":        css,
	"yaml":       yaml,
	"toml":       toml,
	"json":       jsonRules,
	"hcl":        hcl,
	"makefile":   makefile,
	"bash":       bash,
	"elixir":     elixir,
	"lua":        lua,
	"php":        php,
	"ruby":       ruby,
	"java":       java,
	"csharp":     csharp,
	"kotlin":     kotlin,
	"javascript": javascript,
	"typescript": typescript,
	"tsx":        tsx,
	"vue":        vue,
	"svelte":     svelte,
	"rust":       rust,
	"c":          clang,
	"cpp":        cpp,
	"swift":      swift,
	"scala":      scala,
	"zig":        zig,
	"haskell":    haskell,
}
