package lang

import (
	"path"
	"slices"
	"strings"
)

// byName, byExt and byProgram are the table's columns as maps; byPrefix holds
// the names that end in "*".
var byName, byExt, byProgram, byPrefix = columns()

type prefixed struct{ prefix, name string }

func columns() (byName, byExt, byProgram map[string]string, byPrefix []prefixed) {
	byName, byExt, byProgram = map[string]string{}, map[string]string{}, map[string]string{}
	for _, l := range Table {
		for _, e := range strings.Fields(l.Exts) {
			byExt[e] = l.Name
		}
		for _, n := range strings.Fields(l.Files) {
			if p, ok := strings.CutSuffix(n, "*"); ok {
				byPrefix = append(byPrefix, prefixed{p, l.Name})
			} else {
				byName[n] = l.Name
			}
		}
		for _, p := range strings.Fields(l.Programs) {
			byProgram[p] = l.Name
		}
	}
	return byName, byExt, byProgram, byPrefix
}

// Of returns the language of a document by its path and the first bytes of
// its text, a few hundred of which are enough: a lower-case name ("go", "cpp",
// "markdown"), and "text" for an unknown one.
func Of(p string, head []byte) string {
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
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
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
		objective := has("@interface", "@implementation", "#import", "@protocol", "#include", "@class")
		if !objective && has("function ", "%", "end") {
			return "matlab"
		}
	case "ts", "map", "conf":
		if strings.HasPrefix(strings.TrimLeft(s, "\ufeff"+" \r\n\t"), "<?xml") {
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
	case "t", "pl", "cl", "ss", "fs", "s", "d", "r", "f", "for", "1", "2", "3", "4", "5", "6", "7", "8", "9",
		"cls", "pp", "sc", "cr", "rest", "asc", "bas", "mat":
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
	s := strings.TrimPrefix(string(head[:min(len(head), 200)]), "\ufeff")
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

// ByProgram returns the language of a program such as "python3", "" for an
// unknown one.
func ByProgram(program string) string { return byProgram[program] }
