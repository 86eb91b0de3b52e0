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

// attribute returns an attribute of a path: from info/attributes, else the nearest
// .gitattributes, else the user's own.
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
	if v, ok := ask(t.rules(filepath.Join(t.dirs.common, "info", "attributes")), name); ok {
		return v, v != ""
	}
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		rel := strings.TrimPrefix(name, dir+"/")
		if v, ok := ask(t.rules(filepath.Join(t.dirs.root, filepath.FromSlash(dir), ".gitattributes")), rel); ok {
			return v, v != ""
		}
		if dir == "." {
			break
		}
	}
	v, ok := ask(t.rules(""), name)
	return v, ok && v != ""
}

// rules returns those of a file, of the user's own for "".
func (t *tree) rules(file string) []attrRule {
	r, ok := t.attrs[file]
	if !ok {
		text := t.config.attrs
		if file != "" {
			text = small(file)
		}
		r = parseAttrs(text)
		t.attrs[file] = r
	}
	return r
}

// toGit returns the content that git stores of a file: with line feeds for ends of
// line where attributes or core.autocrlf ask for it. A file that looks binary, or
// has carriage returns in the index, is left unless an attribute insists.
func (t *tree) toGit(e *index.Entry, raw []byte) []byte {
	if !bytes.Contains(raw, []byte("\r\n")) {
		return raw
	}
	text, said := t.attribute(e.Name, "text", "crlf")
	eol, hasEOL := t.attribute(e.Name, "eol")
	insists := said && (text == "true" || text == "input") || hasEOL && (eol == "lf" || eol == "crlf")
	switch {
	case said && text == "false":
		return raw
	case said && text == "auto", !insists && t.config.autocrlf != "":
		if looksBinary(raw) || t.keepsReturns(e) {
			return raw
		}
	case !insists:
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
		case c == 127, c < 32 && c != '\b' && c != '\t' && c != 27 && c != '\f':
			other++
		default:
			printable++
		}
	}
	if len(b) > 0 && b[len(b)-1] == 26 { // the end of a file in CP/M
		other--
	}
	return printable>>7 < other
}
