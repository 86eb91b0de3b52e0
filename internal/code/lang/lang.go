// Package lang is the one table of languages: how they are recognised, and what
// reads them. It lies below all that reads code, and each reader has a table of its
// own for its column.
package lang

// Language is one row. Lists have blanks between their words.
type Language struct {
	Name string
	// A document is recognised by its file name (lower case), else by its extension,
	// else by the program that a "#!" line names. A file name that ends in "*"
	// holds for everything that begins so.
	Exts, Files, Programs string
	// Rules is the row of package syntax, which also names the grammar; Family
	// that of package graph, which finds what names mean; Lines that of package
	// chunk, for text that has no grammar or that the grammar cannot read. ""
	// is none.
	Rules, Family, Lines string
}

// Table holds every language that is known.
var Table = []Language{
	{Name: "go", Exts: "go", Lines: "go"},
	{Name: "gomod", Files: "go.mod go.work"},
	{Name: "python", Exts: "py pyi pyw pyx pxd py3 gyp gypi", Files: "sconstruct sconscript wscript",
		Programs: "python python2 python3 pypy pypy3", Rules: "python", Family: "python", Lines: "python"},
	{Name: "starlark", Exts: "bzl star bazel", Files: "build workspace tiltfile buck",
		Family: "python", Lines: "starlark"},
	{Name: "javascript", Exts: "js jsx mjs cjs es6", Files: "jakefile",
		Programs: "node nodejs deno bun", Rules: "javascript", Family: "js", Lines: "javascript"},
	{Name: "typescript", Exts: "ts mts cts",
		Programs: "ts-node tsx", Rules: "typescript", Family: "js", Lines: "typescript"},
	{Name: "tsx", Exts: "tsx", Rules: "tsx", Family: "js", Lines: "typescript"},
	{Name: "vue", Exts: "vue", Rules: "component", Family: "js"},
	{Name: "svelte", Exts: "svelte", Rules: "component", Family: "js"},
	{Name: "astro", Exts: "astro", Family: "js"},
	{Name: "java", Exts: "java", Rules: "java", Family: "jvm", Lines: "java"},
	{Name: "groovy", Exts: "groovy gradle gvy", Files: "jenkinsfile*",
		Programs: "groovy", Family: "jvm", Lines: "java"},
	{Name: "kotlin", Exts: "kt kts ktm", Rules: "kotlin", Family: "jvm", Lines: "kotlin"},
	{Name: "scala", Exts: "scala sc sbt", Programs: "scala", Rules: "scala", Family: "jvm", Lines: "scala"},
	{Name: "c", Exts: "c h", Programs: "tcc", Rules: "c", Family: "c", Lines: "c"},
	{Name: "cpp", Exts: "cc cpp cxx c++ hh hpp hxx h++ ipp inl tpp cu cuh ino",
		Rules: "cpp", Family: "c", Lines: "cpp"},
	{Name: "objectivec", Exts: "m mm", Family: "c", Lines: "c"},
	{Name: "csharp", Exts: "cs csx", Rules: "csharp", Family: "csharp", Lines: "csharp"},
	{Name: "fsharp", Exts: "fs fsi fsx"},
	{Name: "visualbasic", Exts: "vb vbs bas"},
	{Name: "rust", Exts: "rs", Programs: "rust-script", Rules: "rust", Family: "rust", Lines: "rust"},
	{Name: "zig", Exts: "zig zon", Rules: "zig", Family: "zig", Lines: "zig"},
	{Name: "swift", Exts: "swift", Programs: "swift", Rules: "swift", Family: "swift", Lines: "swift"},
	{Name: "dart", Exts: "dart", Lines: "dart"},
	{Name: "ruby", Exts: "rb rbi rake gemspec ru podspec",
		Files:    "rakefile gemfile vagrantfile podfile fastfile guardfile capfile brewfile",
		Programs: "ruby jruby", Rules: "ruby", Family: "ruby", Lines: "ruby"},
	{Name: "php", Exts: "php phtml php3 php4 php5 php7 inc",
		Programs: "php", Rules: "php", Family: "php", Lines: "php"},
	{Name: "perl", Exts: "pl pm t pod", Files: "makefile.pl cpanfile", Programs: "perl", Lines: "perl"},
	{Name: "lua", Exts: "lua luau rockspec", Programs: "lua luajit", Rules: "lua", Family: "lua", Lines: "lua"},
	{Name: "r", Exts: "r rmd", Files: ".rprofile", Programs: "rscript", Rules: "r", Family: "r", Lines: "r"},
	{Name: "julia", Exts: "jl", Programs: "julia", Lines: "julia"},
	{Name: "matlab", Exts: "mat"},
	{Name: "elixir", Exts: "ex exs", Files: "mix.lock",
		Programs: "elixir", Rules: "elixir", Family: "elixir", Lines: "elixir"},
	{Name: "erlang", Exts: "erl hrl escript", Files: "rebar.config", Programs: "escript"},
	{Name: "haskell", Exts: "hs lhs",
		Programs: "runhaskell runghc stack", Rules: "haskell", Family: "haskell", Lines: "haskell"},
	{Name: "ocaml", Exts: "ml mli", Programs: "ocaml"},
	{Name: "elm", Exts: "elm"},
	{Name: "clojure", Exts: "clj cljs cljc edn", Programs: "bb", Lines: "lisp"},
	{Name: "lisp", Exts: "lisp lsp el cl", Programs: "sbcl emacs", Lines: "lisp"},
	{Name: "scheme", Exts: "scm ss rkt", Programs: "guile racket", Lines: "lisp"},
	{Name: "nim", Exts: "nim nims"},
	{Name: "crystal", Exts: "cr", Programs: "crystal"},
	{Name: "d", Exts: "d", Programs: "rdmd"},
	{Name: "fortran", Exts: "f f77 f90 f95 f03 f08 for"},
	{Name: "pascal", Exts: "pas dpr pp"},
	{Name: "ada", Exts: "adb ads"},
	{Name: "cobol", Exts: "cob cbl"},
	{Name: "assembly", Exts: "s asm nasm"},
	{Name: "verilog", Exts: "v sv svh vh"},
	{Name: "vhdl", Exts: "vhd vhdl"},
	{Name: "glsl", Exts: "glsl vert frag comp hlsl wgsl metal"},
	{Name: "wat", Exts: "wat wast"},
	{Name: "solidity", Exts: "sol", Lines: "solidity"},
	{Name: "bash", Exts: "sh bash zsh ksh fish bats ebuild",
		Files:    ".bashrc .bash_profile .profile .zshrc .bash_aliases pkgbuild configure.ac",
		Programs: "sh bash zsh ksh dash ash fish bats", Rules: "bash", Family: "bash", Lines: "bash"},
	{Name: "batch", Exts: "bat cmd"},
	{Name: "powershell", Exts: "ps1 psm1 psd1", Programs: "pwsh powershell", Lines: "powershell"},
	{Name: "awk", Exts: "awk", Programs: "awk gawk mawk"},
	{Name: "sed", Exts: "sed", Programs: "sed"},
	{Name: "tcl", Exts: "tcl tk", Programs: "tclsh wish expect"},
	{Name: "vim", Exts: "vim vimrc", Files: ".vimrc"},
	{Name: "nix", Exts: "nix"},
	{Name: "sql", Exts: "sql ddl dml psql pgsql mysql", Rules: "sql", Lines: "sql"},
	{Name: "prisma", Exts: "prisma"},
	{Name: "graphql", Exts: "graphql gql graphqls", Lines: "graphql"},
	{Name: "protobuf", Exts: "proto", Lines: "protobuf"},
	{Name: "thrift", Exts: "thrift"},
	{Name: "hcl", Exts: "hcl tf tfvars nomad", Rules: "hcl", Lines: "hcl"},
	{Name: "rego", Exts: "rego"},
	{Name: "cue", Exts: "cue"},
	{Name: "jsonnet", Exts: "jsonnet libsonnet"},
	{Name: "html", Exts: "html htm xhtml ejs hbs handlebars mustache jinja jinja2 j2 erb twig liquid",
		Rules: "html", Lines: "html"},
	{Name: "pug", Exts: "pug jade"},
	{Name: "css", Exts: "css", Rules: "css", Lines: "css"},
	{Name: "scss", Exts: "scss sass less styl", Lines: "scss"},
	{Name: "xml",
		Exts:  "xml xsd xsl xslt svg plist rss atom wsdl xaml csproj vbproj fsproj props targets resx pom storyboard xib",
		Lines: "html"},
	{Name: "json", Exts: "json jsonc json5 jsonl ndjson geojson webmanifest map",
		Files: ".babelrc .eslintrc .prettierrc .jshintrc composer.lock pipfile.lock flake.lock",
		Rules: "json"},
	{Name: "yaml", Exts: "yaml yml", Files: ".clang-format .clang-tidy", Rules: "yaml", Lines: "yaml"},
	{Name: "toml", Exts: "toml", Files: "cargo.lock poetry.lock pipfile uv.lock", Rules: "toml", Lines: "toml"},
	{Name: "ini", Exts: "ini cfg conf properties editorconfig desktop service socket timer",
		Files: ".editorconfig .gitconfig .gitmodules .npmrc .flake8 .pylintrc",
		Lines: "ini"},
	{Name: "csv", Exts: "csv tsv"},
	{Name: "dockerfile", Exts: "dockerfile", Files: "dockerfile* containerfile*", Lines: "dockerfile"},
	{Name: "makefile", Exts: "mk mak make", Files: "makefile* gnumakefile bsdmakefile justfile kbuild",
		Programs: "make", Rules: "makefile", Lines: "makefile"},
	{Name: "cmake", Exts: "cmake", Files: "cmakelists.txt", Lines: "cmake"},
	{Name: "meson", Files: "meson.build meson_options.txt"},
	{Name: "ninja", Exts: "ninja"},
	{Name: "diff", Exts: "diff patch"},
	{Name: "markdown", Exts: "md markdown mdown mkd mdc qmd"},
	{Name: "mdx", Exts: "mdx"},
	{Name: "rst", Exts: "rst rest"},
	{Name: "gherkin", Exts: "feature"},
	{Name: "strictdoc", Exts: "sdoc"},
	{Name: "asciidoc", Exts: "adoc asciidoc asc"},
	{Name: "org", Exts: "org"},
	{Name: "latex", Exts: "tex sty cls bib ltx"},
	{Name: "troff", Exts: "1 2 3 4 5 6 7 8 9 man mdoc"},
	{Name: "notebook", Exts: "ipynb"},
	{Name: "text", Exts: "txt text log",
		Files: "license* licence* copying* notice* authors* contributors* readme* changelog* changes* news* todo* " +
			"install* maintainers* codeowners requirements*.txt"},
}

var byLanguage = func() map[string]*Language {
	m := make(map[string]*Language, len(Table))
	for i := range Table {
		m[Table[i].Name] = &Table[i]
	}
	return m
}()

// Get returns a language's row, an empty one for a language that has none.
func Get(name string) Language {
	if l := byLanguage[name]; l != nil {
		return *l
	}
	return Language{}
}
