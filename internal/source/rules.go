package source

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
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
	reasonPath       = "invalid path"   // not UTF-8, or leads out of its archive
	reasonTwice      = "listed twice"   // in an archive; the last of a path counts
	reasonEncrypted  = "encrypted"      // in an archive
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
var silentDirs = kb.WordsOf(".git .hg .svn .bzr _darcs CVS .jj .pijul .fslckout")

// dirReasons says which directories are left out by name, and why.
var dirReasons = reasons("directory")

// venvMarker is the file by which a directory of any name shows that it is a
// virtual environment of Python. The name alone does not: Lib/venv is source.
const venvMarker = "pyvenv.cfg"

// fileReasons says which files are left out by exact name, and why.
var fileReasons = reasons("file")

// extReasons says which files are left out by extension (lower case), and why.
var extReasons = reasons("extension")

// minifiedNames are the ends of the names that bundlers give their output.
var minifiedNames = []string{".min.js", ".min.mjs", ".min.cjs", ".min.css", ".min.html", ".min.json",
	".js.map", ".mjs.map", ".cjs.map", ".css.map", ".bundle.js", ".chunk.js", ".chunk.css"}

// minifiedText are the extensions of files that are minified by content: of at
// least minifiedBytes, with more than minifiedLine bytes per line on average.
// People's own code averages 25 to 45.
var minifiedText = kb.WordsOf(".js .mjs .cjs .css .json .geojson .svg .jsonc .webmanifest")

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
	if !all && slices.ContainsFunc(minifiedNames, func(suffix string) bool { return strings.HasSuffix(name, suffix) }) {
		return reasonMinified
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

// reasons returns why the names of one sort are left out, from the lists
// "sort reason".
func reasons(sort string) map[string]string {
	m := map[string]string{}
	for list, names := range lists {
		if reason, ok := strings.CutPrefix(list, sort+" "); ok {
			for n := range names {
				m[n] = reason
			}
		}
	}
	return m
}
