package repostate

import (
	"bytes"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/seed-4f2d999b/knowledge/internal/platform/gitignore"
)

// attrRule is one line of a .gitattributes file; see gitattributes(5).
type attrRule struct {
	glob     gitignore.Glob
	anchored bool
	set      map[string]string // "true", "false", "" (unspecified again) or a value
}

// parseAttrs reads the lines of a .gitattributes file, of which only text,
// eol, the older crlf and the macro binary matter here.
func parseAttrs(text string) []attrRule {
	var rules []attrRule
	for l := range strings.SplitSeq(text, "\n") {
		l = strings.TrimSpace(strings.TrimSuffix(l, "\r"))
		if l == "" || l[0] == '#' || l[0] == '!' || strings.HasPrefix(l, "[attr]") {
			continue
		}
		f := strings.Fields(l)
		pattern := f[0]
		if pattern[0] == '"' { // quoted: has spaces, which Fields has torn
			end := strings.IndexByte(l[1:], '"')
			if end < 0 {
				continue
			}
			pattern, f = l[1:end+1], append([]string{""}, strings.Fields(l[end+2:])...)
		}
		if strings.HasSuffix(pattern, "/") {
			continue // attributes are not for directories
		}
		r := attrRule{anchored: strings.Contains(pattern, "/"), set: map[string]string{}}
		r.glob = gitignore.Compile(strings.TrimPrefix(pattern, "/"), r.anchored)
		for _, a := range f[1:] {
			name, value, has := strings.Cut(a, "=")
			switch {
			case strings.HasPrefix(name, "-"):
				name, value = name[1:], "false"
			case strings.HasPrefix(name, "!"):
				name, value = name[1:], ""
			case !has:
				value = "true"
			}
			if name == "binary" && value == "true" {
				r.set["text"] = "false"
				continue
			}
			r.set[name] = value
		}
		rules = append(rules, r)
	}
	return rules
}

// attribute returns what the attribute files say of a path: info/attributes
// first, then the nearest .gitattributes, and the user's own last.
func (t *tree) attribute(name string, attrs ...string) (string, bool) {
	ask := func(rules []attrRule, rel string) (string, bool) {
		for i := len(rules) - 1; i >= 0; i-- {
			subject := path.Base(rel)
			if rules[i].anchored {
				subject = rel
			}
			for _, a := range attrs {
				if v, ok := rules[i].set[a]; ok && rules[i].glob.Match(subject) {
					return v, true
				}
			}
		}
		return "", false
	}
	if v, ok := ask(t.rules("info", filepath.Join(t.dirs.common, "info", "attributes")), name); ok {
		return v, v != ""
	}
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		rel := name
		if dir != "." {
			rel = name[len(dir)+1:]
		}
		if v, ok := ask(t.rules("/"+dir, filepath.Join(t.dirs.root, filepath.FromSlash(dir), ".gitattributes")), rel); ok {
			return v, v != ""
		}
		if dir == "." {
			break
		}
	}
	if _, have := t.attrs["user"]; !have {
		t.attrs["user"] = parseAttrs(t.config.attrs)
	}
	v, ok := ask(t.attrs["user"], name)
	return v, ok && v != ""
}

func (t *tree) rules(key, file string) []attrRule {
	r, ok := t.attrs[key]
	if !ok {
		r = parseAttrs(small(file))
		t.attrs[key] = r
	}
	return r
}

// toGit returns what git stores of a text of the work tree: with line feeds
// for ends of line where attributes or core.autocrlf ask for it. What looks
// binary, and what has carriage returns in the index already, stays as it is
// unless an attribute insists.
func (t *tree) toGit(e *index.Entry, raw []byte) []byte {
	if !bytes.Contains(raw, []byte("\r\n")) {
		return raw
	}
	text, said := t.attribute(e.Name, "text", "crlf")
	eol, hasEOL := t.attribute(e.Name, "eol")
	auto := false
	switch {
	case said && text == "false":
		return raw
	case said && text == "auto":
		auto = true
	case said && (text == "true" || text == "input"):
	case hasEOL && (eol == "lf" || eol == "crlf"):
	default:
		if t.config.autocrlf == "" {
			return raw
		}
		auto = true
	}
	if auto && (looksBinary(raw) || t.keepsReturns(e)) {
		return raw
	}
	return bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))
}

// keepsReturns reports whether the text in the index has line ends of two bytes.
func (t *tree) keepsReturns(e *index.Entry) bool {
	if e.IntentToAdd {
		return false
	}
	stored, err := t.object(e.Hash)
	return err == nil && bytes.Contains(stored, []byte("\r\n")) && !looksBinary(stored)
}

// looksBinary is git's guess: a zero byte, a carriage return alone, or more
// than one unprintable byte in 128.
func looksBinary(b []byte) bool {
	printable, other := 0, 0
	for i, c := range b {
		switch {
		case c == '\r':
			if i+1 == len(b) || b[i+1] != '\n' {
				return true
			}
		case c == '\n':
		case c == 0:
			return true
		case c == 127:
			other++
		case c < 32:
			if c == '\b' || c == '\t' || c == 27 || c == '\f' {
				printable++
			} else {
				other++
			}
		default:
			printable++
		}
	}
	if len(b) > 0 && b[len(b)-1] == 26 { // the end of a file in CP/M
		other--
	}
	return printable>>7 < other
}
