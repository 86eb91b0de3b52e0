package chunk

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/seed-4f2d999b/knowledge/internal/code/lang"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// ErrBinary is what the errors of Decode wrap for bytes that are no text.
var ErrBinary = errors.New("binary")

// Decode turns the bytes of a document into its text, finds the language by
// path and content, and sets the flags that content alone decides.
//
//   - UTF-8 is taken as it is. A byte order mark stays, as the character
//     U+FEFF at the start of line 1, so that the lines are the file's lines byte for byte.
//   - A UTF-16 byte order mark makes it UTF-16; the mark says how to read and is not part of
//     the text. Encoding is then "utf-16le" or "utf-16be".
//   - Other bytes that are not valid UTF-8 are taken for Windows-1252, which
//     every byte sequence is; Encoding is "windows-1252".
//   - A Jupyter notebook is rendered: see notebook. Encoding is then "ipynb".
//     What is none, whatever its name, is taken as it is, as "json".
//   - A NUL, or a great share of other control characters in what is not
//     UTF-8, means that it is no text: code Unsupported, wrapping ErrBinary.
func Decode(path string, raw []byte) (kb.Text, error) {
	switch {
	case bytes.HasPrefix(raw, []byte{0xFF, 0xFE}):
		return finishDecode(path, raw, "utf-16le", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM))
	case bytes.HasPrefix(raw, []byte{0xFE, 0xFF}):
		return finishDecode(path, raw, "utf-16be", unicode.UTF16(unicode.BigEndian, unicode.UseBOM))
	case bytes.IndexByte(raw, 0) >= 0:
		return kb.Text{}, binary(path)
	case !utf8.Valid(raw):
		if noise(raw) {
			return kb.Text{}, binary(path)
		}
		return finishDecode(path, raw, "windows-1252", charmap.Windows1252)
	}
	t := kb.Text{Body: string(raw)}
	describe(path, &t)
	return t, nil
}

func binary(path string) error {
	return kb.Errorf(kb.Unsupported, "%q is %w", path, ErrBinary).
		WithHint("only text is indexed; UTF-16 needs a byte order mark to be read")
}

func finishDecode(path string, raw []byte, name string, e encoding.Encoding) (kb.Text, error) {
	body, err := e.NewDecoder().Bytes(raw)
	if err != nil {
		return kb.Text{}, kb.Errorf(kb.Unsupported, "%q is not valid %s: %w", path, name, err).
			WithHint("convert the file to UTF-8")
	}
	if bytes.IndexByte(body, 0) >= 0 {
		return kb.Text{}, binary(path)
	}
	t := kb.Text{Body: string(body), Encoding: name}
	describe(path, &t)
	return t, nil
}

// noise reports whether more than one byte in ten at the start is a control
// character: a picture or an archive rather than old text.
func noise(raw []byte) bool {
	raw = raw[:min(len(raw), 8192)]
	n := 0
	for _, b := range raw {
		if b < ' ' && b != '\n' && b != '\r' && b != '\t' && b != '\f' && b != 0x1B {
			n++
		}
	}
	return n*10 > len(raw)
}

// headBytes is how much of a text the language and the generated-by mark are
// looked for in.
const headBytes = 8192

// describe sets the language and the flags.
func describe(path string, t *kb.Text) {
	head := t.Body[:min(len(t.Body), headBytes)]
	t.Language = lang.Of(path, []byte(head[:min(len(head), 4096)]))
	if t.Language == "notebook" {
		if body, prose, ok := notebook(t.Body); ok {
			t.Body, t.Encoding = body, notebookEncoding
			if prose {
				t.Flags |= kb.FlagProse
			}
			return
		}
		t.Language = "json"
	}
	if generated(head) {
		t.Flags |= kb.FlagGenerated
	}
	document := false
	if t.Language == "html" {
		_, document = markdown.HTMLHeadings(t.Body)
	}
	if document || prose(path, t.Language) {
		t.Flags |= kb.FlagProse
	}
	if x, ok := reexporters[t.Language]; ok && reexports(t.Body, x) {
		t.Flags |= kb.FlagReexports
	}
}

// prose reports whether a document is written for people to read.
func prose(path, language string) bool {
	switch language {
	case "markdown", "mdx", "rst", "asciidoc", "org", "latex", "troff":
		return true
	case "text":
		p := strings.ToLower(path)
		base := p[strings.LastIndexAny(p, `/\`)+1:]
		if strings.HasPrefix(base, "requirements") || strings.HasSuffix(base, ".log") || base == "codeowners" || base == "robots.txt" {
			return false
		}
		return strings.HasSuffix(base, ".txt") || strings.HasSuffix(base, ".text") || lang.Of(base, nil) == "text" && known(base)
	}
	return false
}

// known reports whether the name of a text without extension is one of those
// that the table of languages lists as text.
func known(base string) bool {
	for name := range strings.FieldsSeq(lang.Get("text").Files) {
		if p, ok := strings.CutSuffix(name, "*"); ok && strings.HasPrefix(base, p) {
			return true
		}
	}
	return false
}

// generated reports whether one of the first 40 lines says that a program
// wrote the file: "Code generated … DO NOT EDIT", "@generated", or "DO NOT
// EDIT" beside a word of generating. The mark must be in a comment, or this
// very file would be one.
func generated(head string) bool {
	for n := 0; n < 40 && head != ""; n++ {
		line, rest, _ := strings.Cut(head, "\n")
		head = rest
		if len(line) > 400 {
			continue
		}
		s := strings.TrimLeft(strings.TrimPrefix(line, bom), " \t")
		if s == "" || strings.IndexByte("/#*;-<!'%{\"(", s[0]) < 0 {
			continue
		}
		if at := strings.Index(s, "@generated"); at >= 0 && at < 12 {
			return true
		}
		lower := strings.ToLower(s)
		edit := strings.Contains(lower, "do not edit") || strings.Contains(lower, "do not modify") || strings.Contains(lower, "don't edit")
		by := strings.Contains(lower, "generated")
		if by && edit {
			return true
		}
		if edit && (strings.Contains(s, "DO NOT EDIT") || strings.Contains(s, "DO NOT MODIFY")) {
			return true
		}
		if by {
			for _, m := range []string{"this file is generated", "this file was generated", "autogenerated", "auto-generated", "automatically generated", "file generated by", "generated by "} {
				if k := strings.Index(lower, m); k >= 0 && k < 30 {
					return true
				}
			}
		}
	}
	return false
}

// reexporter says which lines of a language import or pass on.
type reexporter struct {
	starts []string // beginnings of lines that do
	needs  []string // one line at least must begin so, or hold so after its start; none: any will do
	skip   string   // delimiter of doc strings to leave out
}

var (
	jsReexports = reexporter{
		starts: []string{"import ", "import{", "export *", "export {", "export{", "export type {", "export * from", "module.exports = require", "module.exports.", "exports.", "'use strict'", `"use strict"`},
		needs:  []string{"export", "module.exports", "exports."},
	}
	reexporters = map[string]reexporter{
		"python":     {starts: []string{"from ", "import ", "__all__", "__version__"}, skip: `"""`},
		"javascript": jsReexports,
		"typescript": jsReexports,
		"tsx":        jsReexports,
		"rust":       {starts: []string{"pub use ", "pub(crate) use ", "use ", "mod ", "pub mod ", "pub(crate) mod ", "extern crate ", "#[", "#!["}, needs: []string{"pub use", "pub mod", "mod "}},
	}
)

// reexports reports whether at least two lines and four fifths of the code
// lines import or pass on names, the lines of bracketed lists included. It
// stops reading once too much else was seen.
func reexports(body string, x reexporter) bool {
	const enough = 24 // other lines; a file with so many has a substance of its own
	var mine, other int
	needed := len(x.needs) == 0
	depth, inDoc, inComment := 0, false, false
	body = strings.TrimPrefix(body, bom)
	for body != "" && other < enough {
		line, rest, _ := strings.Cut(body, "\n")
		body = rest
		s := strings.TrimSpace(line)
		if len(s) > kb.MaxLineBytes {
			return false
		}
		switch {
		case inDoc:
			inDoc = !strings.Contains(s, x.skip)
		case inComment:
			inComment = !strings.Contains(s, "*/")
		case s == "" || strings.HasPrefix(s, "//") || s[0] == '#' && !strings.HasPrefix(s, "#["):
		case strings.HasPrefix(s, "/*"):
			inComment = !strings.Contains(s, "*/")
		case x.skip != "" && strings.HasPrefix(s, x.skip):
			inDoc = !strings.Contains(s[len(x.skip):], x.skip)
		case depth > 0:
			mine++
			depth += brackets(s)
		default:
			is := false
			for _, m := range x.starts {
				if strings.HasPrefix(s, m) {
					is = true
					break
				}
			}
			if !is {
				other++
				continue
			}
			mine++
			depth = max(brackets(s), 0)
			for _, m := range x.needs {
				needed = needed || strings.HasPrefix(s, m)
			}
		}
	}
	return needed && mine >= 2 && other*4 <= mine && other < enough
}

// brackets returns how many more brackets s opens than closes.
func brackets(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(', '{', '[':
			n++
		case ')', '}', ']':
			n--
		}
	}
	return n
}
