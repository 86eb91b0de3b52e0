package chunk

import (
	"path"
	"strings"
)

// languages is the one table of languages: what tells them is the file name
// (lower case), else its extension, else the program that a "#!" line names.
// A name that ends in "*" holds for everything that begins so.
var languages = []struct {
	name     string
	exts     string
	names    string
	programs string
}{
	{"go", "go", "", ""},
	{"gomod", "", "go.mod go.work", ""},
	{"python", "py pyi pyw pyx pxd py3 gyp gypi", "sconstruct sconscript wscript", "python python2 python3 pypy pypy3"},
	{"starlark", "bzl star bazel", "build workspace tiltfile buck", ""},
	{"javascript", "js jsx mjs cjs es6", "jakefile", "node nodejs deno bun"},
	{"typescript", "ts mts cts", "", "ts-node tsx"},
	{"tsx", "tsx", "", ""},
	{"vue", "vue", "", ""},
	{"svelte", "svelte", "", ""},
	{"astro", "astro", "", ""},
	{"java", "java", "", ""},
	{"groovy", "groovy gradle gvy", "jenkinsfile*", "groovy"},
	{"kotlin", "kt kts ktm", "", ""},
	{"scala", "scala sc sbt", "", "scala"},
	{"c", "c h", "", "tcc"},
	{"cpp", "cc cpp cxx c++ hh hpp hxx h++ ipp inl tpp cu cuh ino", "", ""},
	{"objectivec", "m mm", "", ""},
	{"csharp", "cs csx", "", ""},
	{"fsharp", "fs fsi fsx", "", ""},
	{"visualbasic", "vb vbs bas", "", ""},
	{"rust", "rs", "", "rust-script"},
	{"zig", "zig zon", "", ""},
	{"swift", "swift", "", "swift"},
	{"dart", "dart", "", ""},
	{"ruby", "rb rbi rake gemspec ru podspec", "rakefile gemfile vagrantfile podfile fastfile guardfile capfile brewfile", "ruby jruby"},
	{"php", "php phtml php3 php4 php5 php7 inc", "", "php"},
	{"perl", "pl pm t pod", "makefile.pl cpanfile", "perl"},
	{"lua", "lua luau rockspec", "", "lua luajit"},
	{"r", "r rmd", ".rprofile", "rscript"},
	{"julia", "jl", "", "julia"},
	{"matlab", "mat", "", ""},
	{"elixir", "ex exs", "mix.lock", "elixir"},
	{"erlang", "erl hrl escript", "rebar.config", "escript"},
	{"haskell", "hs lhs", "", "runhaskell runghc stack"},
	{"ocaml", "ml mli", "", "ocaml"},
	{"elm", "elm", "", ""},
	{"clojure", "clj cljs cljc edn", "", "bb"},
	{"lisp", "lisp lsp el cl", "", "sbcl emacs"},
	{"scheme", "scm ss rkt", "", "guile racket"},
	{"nim", "nim nims", "", ""},
	{"crystal", "cr", "", "crystal"},
	{"d", "d", "", "rdmd"},
	{"fortran", "f f77 f90 f95 f03 f08 for", "", ""},
	{"pascal", "pas dpr pp", "", ""},
	{"ada", "adb ads", "", ""},
	{"cobol", "cob cbl", "", ""},
	{"assembly", "s asm nasm", "", ""},
	{"verilog", "v sv svh vh", "", ""},
	{"vhdl", "vhd vhdl", "", ""},
	{"glsl", "glsl vert frag comp hlsl wgsl metal", "", ""},
	{"wat", "wat wast", "", ""},
	{"solidity", "sol", "", ""},
	{"bash", "sh bash zsh ksh fish bats ebuild", ".bashrc .bash_profile .profile .zshrc .bash_aliases pkgbuild configure.ac", "sh bash zsh ksh dash ash fish bats"},
	{"batch", "bat cmd", "", ""},
	{"powershell", "ps1 psm1 psd1", "", "pwsh powershell"},
	{"awk", "awk", "", "awk gawk mawk"},
	{"sed", "sed", "", "sed"},
	{"tcl", "tcl tk", "", "tclsh wish expect"},
	{"vim", "vim vimrc", ".vimrc", ""},
	{"nix", "nix", "", ""},
	{"sql", "sql ddl dml psql pgsql mysql", "", ""},
	{"prisma", "prisma", "", ""},
	{"graphql", "graphql gql graphqls", "", ""},
	{"protobuf", "proto", "", ""},
	{"thrift", "thrift", "", ""},
	{"hcl", "hcl tf tfvars nomad", "", ""},
	{"rego", "rego", "", ""},
	{"cue", "cue", "", ""},
	{"jsonnet", "jsonnet libsonnet", "", ""},
	{"html", "html htm xhtml ejs hbs handlebars mustache jinja jinja2 j2 erb twig liquid", "", ""},
	{"pug", "pug jade", "", ""},
	{"css", "css", "", ""},
	{"scss", "scss sass less styl", "", ""},
	{"xml", "xml xsd xsl xslt svg plist rss atom wsdl xaml csproj vbproj fsproj props targets resx pom storyboard xib", "", ""},
	{"json", "json jsonc json5 jsonl ndjson geojson webmanifest map", ".babelrc .eslintrc .prettierrc .jshintrc composer.lock pipfile.lock flake.lock", ""},
	{"yaml", "yaml yml", ".clang-format .clang-tidy", ""},
	{"toml", "toml", "cargo.lock poetry.lock pipfile uv.lock", ""},
	{"ini", "ini cfg conf properties editorconfig desktop service socket timer", ".editorconfig .gitconfig .gitmodules .npmrc .flake8 .pylintrc", ""},
	{"csv", "csv tsv", "", ""},
	{"dockerfile", "dockerfile", "dockerfile* containerfile*", ""},
	{"makefile", "mk mak make", "makefile* gnumakefile bsdmakefile justfile kbuild", "make"},
	{"cmake", "cmake", "cmakelists.txt", ""},
	{"meson", "", "meson.build meson_options.txt", ""},
	{"ninja", "ninja", "", ""},
	{"diff", "diff patch", "", ""},
	{"markdown", "md markdown mdown mkd mdc qmd", "", ""},
	{"mdx", "mdx", "", ""},
	{"rst", "rst rest", "", ""},
	{"asciidoc", "adoc asciidoc asc", "", ""},
	{"org", "org", "", ""},
	{"latex", "tex sty cls bib ltx", "", ""},
	{"troff", "1 2 3 4 5 6 7 8 9 man mdoc", "", ""},
	{"notebook", "ipynb", "", ""},
	{"text", "txt text log", "license* licence* copying* notice* authors* contributors* readme* changelog* changes* news* todo* install* maintainers* codeowners requirements*.txt", ""},
}

// byName, byExt and byProgram are the table's columns as maps; byPrefix holds
// the names that end in "*".
var byName, byExt, byProgram, byPrefix = columns()

type prefixed struct{ prefix, name string }

func columns() (byName, byExt, byProgram map[string]string, byPrefix []prefixed) {
	byName, byExt, byProgram = map[string]string{}, map[string]string{}, map[string]string{}
	for _, l := range languages {
		for _, e := range strings.Fields(l.exts) {
			byExt[e] = l.name
		}
		for _, n := range strings.Fields(l.names) {
			if p, ok := strings.CutSuffix(n, "*"); ok {
				byPrefix = append(byPrefix, prefixed{p, l.name})
			} else {
				byName[n] = l.name
			}
		}
		for _, p := range strings.Fields(l.programs) {
			byProgram[p] = l.name
		}
	}
	return byName, byExt, byProgram, byPrefix
}

// Language tells the language of a document by its path and the first bytes of
// its text, a few hundred of which are enough: a lower-case name such as "go",
// "cpp" or "markdown", and "text" when nothing tells.
func Language(p string, head []byte) string {
	base := strings.ToLower(path.Base(strings.ReplaceAll(p, `\`, "/")))
	if l, ok := byName[base]; ok {
		return l
	}
	ext := ""
	if n := strings.LastIndexByte(base, '.'); n >= 0 {
		ext = base[n+1:]
	}
	if l, ok := byExt[ext]; ok && ext != "" {
		return byContent(ext, l, head)
	}
	for _, e := range byPrefix {
		// "dockerfile.dev", "readme", "license-mit"; not "newsletter".
		if rest, ok := strings.CutPrefix(base, e.prefix); ok && (rest == "" || strings.IndexByte(".-_", rest[0]) >= 0) {
			return e.name
		}
	}
	if l := byProgram[program(head)]; l != "" {
		return l
	}
	return "text"
}

// byContent settles extensions that several languages share.
func byContent(ext, l string, head []byte) string {
	s := string(head[:min(len(head), 4096)])
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(s, p) {
				return true
			}
		}
		return false
	}
	switch ext {
	case "h":
		if has("@interface", "#import ", "@protocol") {
			return "objectivec"
		}
		if has("\nclass ", "\nnamespace ", "template<", "template <", "std::", "\n#include <string>", "public:") {
			return "cpp"
		}
	case "m":
		if !has("@interface", "@implementation", "#import", "@protocol", "#include", "@class") && has("function ", "%", "end") {
			return "matlab"
		}
	case "ts", "map", "conf":
		if strings.HasPrefix(strings.TrimLeft(s, bom+" \r\n\t"), "<?xml") {
			return "xml"
		}
	case "inc":
		if !has("<?") && has("#define ", "#include ", "#if") {
			return "c"
		}
	case "v":
		if has("Theorem ", "Lemma ", "Require ", "Definition ", "Proof.") {
			return "coq"
		}
	case "t", "pl", "cl", "ss", "fs", "s", "d", "r", "f", "for", "1", "2", "3", "4", "5", "6", "7", "8", "9", "cls", "pp", "sc", "cr", "rest", "asc", "bas", "mat":
		if p := byProgram[program(head)]; p != "" {
			return p
		}
		if l == "troff" && !has("\n.", ".TH", ".Dd", "'\\\"") {
			return "text"
		}
	}
	return l
}

// program returns the program that a "#!" line names, without its version.
func program(head []byte) string {
	s := strings.TrimPrefix(string(head[:min(len(head), 200)]), bom)
	if !strings.HasPrefix(s, "#!") {
		return ""
	}
	line, _, _ := strings.Cut(s[2:], "\n")
	fields := strings.Fields(line)
	for k, f := range fields {
		f = strings.ToLower(path.Base(f))
		if k > 0 && (strings.HasPrefix(f, "-") || strings.Contains(f, "=")) {
			continue
		}
		if f == "env" {
			continue
		}
		if byProgram[f] == "" {
			f = strings.TrimRight(f, "0123456789.-")
		}
		return f
	}
	return ""
}
