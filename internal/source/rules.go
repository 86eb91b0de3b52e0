package source

import (
	"bytes"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
)

// The reasons for which documents are left out, as Skipped spells them.
// A directory that is left out whole counts once, whatever it holds.
const (
	reasonIgnored    = "ignored"        // .gitignore, .git/info/exclude, what the system leaves
	reasonOwnRule    = "by " + OwnRules // see ignore.go
	reasonCache      = "cache"          // of a tool, by name or by CACHEDIR.TAG
	reasonWorkTree   = "work tree"      // a linked one of a repository around it
	reasonRepository = "repository"     // the inside of one: bare, or kept apart from its work tree
	reasonData       = "data"           // a data directory of this program
	reasonBinary     = "binary"         // by extension, or a NUL in the first 8000 bytes
	reasonMinified   = "minified"       // see minifiedNames and minifiedText
	reasonLockfile   = "lockfile"       // written by a package manager
	reasonVendored   = "vendored"       // other people's code
	reasonTooLarge   = "too large"      // over Selection.MaxFileBytes, or DefaultMaxFileBytes
	reasonSecret     = "secret"         // keys, credentials, .env
	reasonSymlink    = "symlink"        // never followed: what it points to inside the root is listed itself
	reasonNotAFile   = "not a file"     // fifo, socket, device: never opened
	reasonUnreadable = "unreadable"     // no permission, or an error of the disk
	reasonCostly     = "costly rules"   // what could not be asked of ignore rules any more, see rulesBudget
	reasonDeep       = "too deep"       // directories below maxTreeDepth others
	reasonPath       = "invalid path"   // not UTF-8
	reasonGone       = "gone"           // listed, and removed before it was read
	reasonPointer    = "lfs pointer"
	reasonSubmodule  = "submodule"
	reasonNotFetched = "not fetched" // blob missing in a partial clone
)

// DefaultMaxFileBytes is the size above which a file is left out.
const DefaultMaxFileBytes = 1 << 20

// sniffBytes is how much of a file is searched for a NUL, as git does.
const sniffBytes = 8000

// silentDirs belong to version control and are neither listed nor counted.
var silentDirs = set(".git", ".hg", ".svn", ".bzr", "_darcs", "CVS", ".jj", ".pijul", ".fslckout")

// dirReasons says which directories are left out by name, and why.
var dirReasons = table(map[string]string{
	reasonIgnored: `.Trash`,
	reasonCache: `.cache .parcel-cache .turbo .next .nuxt .svelte-kit .angular .vite .nx .gradle
		__pycache__ .mypy_cache .pytest_cache .ruff_cache .hypothesis .ipynb_checkpoints .tox .nox .eggs
		.terraform .serverless .dart_tool .bloop .metals .ccls-cache .clangd .vs .nyc_output .sass-cache
		.astro .docusaurus .expo .webpack .rollup.cache .rpt2_cache .swc .jest-cache .wireit .wrangler .vercel .netlify .output
		.pytype .pyre .pixi .ropeproject __pypackages__ .pdm-build .dmypy .phpunit.cache .phpstan-cache .psalm
		.terragrunt-cache .aws-sam .vagrant .kitchen .scannerwork .kotlin .cxx .externalNativeBuild
		.zig-cache zig-cache .stack-work dist-newstyle elm-stuff .spago .elixir_ls .lexical
		.bsp .scala-build .ammonite .cpcache .shadow-cljs .godot .jekyll-cache .yardoc .quarto .Rproj.user
		.direnv .devenv .pants.d buck-out .vscode-test DerivedData`,
	reasonVendored: `vendor node_modules third_party third-party bower_components jspm_packages web_modules
		.venv site-packages dist-packages _vendor Pods Carthage .yarn .bundle .pnpm-store`,
})

// venvMarker is the file by which a directory of any name shows that it is a
// virtual environment of Python. The name alone does not: Lib/venv is source.
const venvMarker = "pyvenv.cfg"

// fileReasons says which files are left out by exact name, and why.
var fileReasons = table(map[string]string{
	reasonLockfile: `go.sum go.work.sum package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock
		bun.lockb deno.lock Cargo.lock poetry.lock uv.lock pdm.lock Pipfile.lock pixi.lock conda-lock.yml
		Gemfile.lock gems.locked composer.lock symfony.lock mix.lock rebar.lock pubspec.lock Podfile.lock
		Cartfile.resolved Package.resolved packages.lock.json project.assets.json paket.lock gradle.lockfile
		buildscript-gradle.lockfile flake.lock shard.lock stack.yaml.lock cabal.project.freeze
		.terraform.lock.hcl MODULE.bazel.lock renv.lock Brewfile.lock.json Policyfile.lock.json pylock.toml
		packages-lock.json vcpkg-lock.json lake-manifest.json dub.selections.json maven_install.json .package-lock.json`,
	// The findings of a governance tool stand beside the hits in their files.
	reasonIgnored: `.DS_Store Thumbs.db desktop.ini .ai_evidence.json`,
	reasonCache: `.eslintcache .stylelintcache .prettiercache .phpunit.result.cache .php-cs-fixer.cache .jekyll-metadata
		.dmypy.json .rubocop-cache .lycheecache`,
})

// extReasons says which files are left out by extension (lower case), and why.
var extReasons = table(map[string]string{
	reasonLockfile: `.lock .lck`, // of package managers and of running programs
	reasonCache:    `.tsbuildinfo`,
	reasonBinary: `.png .jpg .jpeg .gif .webp .ico .icns .bmp .tif .tiff .heic .avif .psd .xcf .dds .tga
		.mp3 .wav .ogg .flac .aac .m4a .opus .mp4 .m4v .mov .avi .mkv .webm .wmv
		.zip .gz .tgz .bz2 .tbz .xz .txz .zst .lz4 .br .7z .rar .tar .cab .dmg .iso .img .deb .rpm .apk .ipa .msi
		.jar .war .ear .aar .whl .egg .gem .nupkg .crx .xpi .vsix
		.exe .dll .so .dylib .a .o .obj .class .pyc .pyo .pyd .wasm .node .beam .rlib .rmeta .pdb .dwo .elc
		.ttf .otf .woff .woff2 .eot
		.docx .xlsx .pptx .odt .ods .odp .epub .mobi
		.db .sqlite .sqlite3 .mdb .parquet .arrow .feather .orc .avro .npy .npz .pkl .pickle .h5 .hdf5
		.pt .pth .onnx .safetensors .gguf .tflite .ckpt .swf .blend .fbx .glb .stl .rdb .pack .idx`,
})

// Minified by name: what a bundler calls its output.
var minifiedNames = []string{".min.js", ".min.mjs", ".min.cjs", ".min.css", ".min.html", ".min.json",
	".js.map", ".mjs.map", ".cjs.map", ".css.map", ".bundle.js", ".chunk.js", ".chunk.css"}

// Minified by content: these extensions, at least minifiedBytes long, and more than
// minifiedLine bytes per line on average. People's own code averages 25 to 45.
var minifiedText = set(".js", ".mjs", ".cjs", ".css", ".json", ".geojson", ".svg", ".jsonc", ".webmanifest")

const (
	minifiedBytes = 4096
	minifiedLine  = 400
)

// dirReason returns why the directory called name is left out, or "".
func dirReason(name string, all bool) string {
	if secret.Dir(name) {
		return reasonSecret
	}
	r := dirReasons[name]
	if all && r == reasonVendored {
		return ""
	}
	return r
}

// fileReason returns why the file called name is left out before it is read, or "".
func fileReason(name string, all bool) string {
	if secret.Name(name) {
		return reasonSecret
	}
	if r := fileReasons[name]; r != "" && !(all && r == reasonLockfile) {
		return r
	}
	if strings.HasPrefix(name, ".~lock.") { // of an open document
		return reasonLockfile
	}
	if r := extReasons[strings.ToLower(path.Ext(name))]; r != "" && !(all && r == reasonLockfile) {
		return r
	}
	if !all {
		for _, suffix := range minifiedNames {
			if strings.HasSuffix(name, suffix) {
				return reasonMinified
			}
		}
	}
	return ""
}

// pathReason applies the rules to every element of a path: what Read asks for
// paths that did not come from Walk. Directories on the way to a path that the
// selection names are not asked.
func pathReason(p string, sel *selector) string {
	if !utf8.ValidString(p) {
		return reasonPath
	}
	for i := 0; i < len(p); i++ {
		if p[i] != '/' {
			continue
		}
		dir := p[:i]
		if silentDirs[path.Base(dir)] {
			return reasonIgnored
		}
		if r := dirReason(path.Base(dir), sel.all); r != "" && !sel.exempt(dir, r) {
			return r
		}
	}
	if r := fileReason(path.Base(p), sel.all); r != "" && !sel.exempt(p, r) {
		return r
	}
	return ""
}

// contentReason returns why the bytes of a file rule it out, or "".
func contentReason(name string, data []byte, keepMinified bool) string {
	head := data[:min(len(data), sniffBytes)]
	if bytes.IndexByte(head, 0) >= 0 && !hasUTF16BOM(head) {
		return reasonBinary
	}
	if len(data) < 1024 && bytes.HasPrefix(data, []byte("version https://git-lfs.github.com/spec/")) {
		return reasonPointer
	}
	if secret.File(name, data) {
		return reasonSecret
	}
	if !keepMinified && len(data) >= minifiedBytes && minifiedText[strings.ToLower(path.Ext(name))] {
		if lines := bytes.Count(data, []byte("\n")) + 1; len(data)/lines > minifiedLine {
			return reasonMinified
		}
	}
	return ""
}

func hasUTF16BOM(b []byte) bool {
	return len(b) >= 2 && (b[0] == 0xff && b[1] == 0xfe || b[0] == 0xfe && b[1] == 0xff)
}

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// table turns reason → names into name → reason.
func table(byReason map[string]string) map[string]string {
	m := map[string]string{}
	for reason, names := range byReason {
		for _, n := range strings.Fields(names) {
			m[n] = reason
		}
	}
	return m
}
