package restapi

import (
	"bytes"
	"encoding/json"
	"strings"
)

// How a value stands in a URL, a cookie or a form: the styles of OpenAPI's
// Parameter Object, which are those of RFC 6570 and a few more. Cited are the
// sections of version 3.1.2.

// pair is one name and its value before they are encoded. The value is atoms
// with a delimiter between them, which is not encoded as they are.
type pair struct {
	key   string
	atoms []string
	sep   string
}

// delimiters between the elements of one value, by style.
var delimiters = map[string]string{"spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}

// pairs lays a value out by style. What is undefined in the sense of RFC 6570,
// section 2.3, gives none: null, and lists and objects without members.
func pairs(style string, explode bool, name string, v json.RawMessage) []pair {
	sep := delimiters[style]
	if sep == "" {
		sep = ","
	}
	switch kindOf(v) {
	case 'n':
		return nil
	case '[':
		var atoms []string
		for _, x := range elements(v) {
			if kindOf(x) != 'n' {
				atoms = append(atoms, atom(x))
			}
		}
		if !explode && len(atoms) > 0 {
			return []pair{{name, atoms, sep}}
		}
		var out []pair
		for _, a := range atoms {
			out = append(out, pair{key: name, atoms: []string{a}})
		}
		return out
	case '{':
		if style == "deepObject" {
			return deep(name, v)
		}
		var out []pair
		var atoms []string
		for _, f := range fields(v) {
			if kindOf(f.raw) == 'n' {
				continue
			}
			if explode {
				out = append(out, pair{key: f.key, atoms: []string{member1(f.raw)}})
			} else {
				atoms = append(atoms, f.key, member1(f.raw))
			}
		}
		if !explode && len(atoms) > 0 {
			out = []pair{{name, atoms, sep}}
		}
		return out
	}
	return []pair{{key: name, atoms: []string{text(v)}}}
}

// deep lays an object out as a[b]=c. Beyond one level, of which the
// specification says nothing, it does what most services read: a[b][c]=d and
// a[b]=c for each element of a list.
func deep(name string, v json.RawMessage) []pair {
	var out []pair
	for _, f := range fields(v) {
		key := name + "[" + f.key + "]"
		switch kindOf(f.raw) {
		case 'n':
		case '{':
			out = append(out, deep(key, f.raw)...)
		case '[':
			for _, x := range elements(f.raw) {
				out = append(out, pair{key: key, atoms: []string{text(x)}})
			}
		default:
			out = append(out, pair{key: key, atoms: []string{text(f.raw)}})
		}
	}
	return out
}

// atom is an element of a list as text: a list within it joined by commas, as
// version 2.0 has it, an object as JSON.
func atom(v json.RawMessage) string {
	if kindOf(v) != '[' {
		return member1(v)
	}
	var words []string
	for _, x := range elements(v) {
		words = append(words, member1(x))
	}
	return strings.Join(words, ",")
}

// member1 is a member of an object as text: lists and objects as JSON.
func member1(v json.RawMessage) string {
	if k := kindOf(v); k == '[' || k == '{' {
		return compact(v)
	}
	return text(v)
}

func compact(v json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return string(v)
	}
	return b.String()
}

// kindOf returns what a value begins with; 'n' is null.
func kindOf(v json.RawMessage) byte {
	if v = bytes.TrimSpace(v); len(v) == 0 {
		return 'n'
	}
	return v[0]
}

// join writes the value of a pair for a URL.
func (p pair) join(reserved bool) string {
	words := make([]string, len(p.atoms))
	for i, a := range p.atoms {
		words[i] = escape(a, reserved)
	}
	sep := p.sep
	if sep != "," {
		sep = escape(sep, false)
	}
	return strings.Join(words, sep)
}

// query writes a pair for a query or a form.
func (p pair) query(reserved bool) string { return escape(p.key, false) + "=" + p.join(reserved) }

// inPath writes a value for a path.
func inPath(style string, explode bool, name string, v json.RawMessage) string {
	kind := kindOf(v)
	var words []string
	if style == "matrix" {
		for _, p := range pairs(style, explode, name, v) {
			word := ";" + escape(p.key, false)
			if s := p.join(false); s != "" {
				word += "=" + s
			}
			words = append(words, word)
		}
		return strings.Join(words, "")
	}
	before, sep := "", ","
	if style == "label" {
		before = "."
		if explode {
			sep = "."
		}
	}
	for _, p := range pairs(style, explode && kind == '{', name, v) {
		switch {
		case kind == '{' && explode:
			words = append(words, escape(p.key, false)+"="+p.join(false))
		case kind == '[' && sep == ".":
			p.sep = sep
			fallthrough
		default:
			words = append(words, p.join(false))
		}
	}
	return before + strings.Join(words, sep)
}

const hexDigits = "0123456789ABCDEF"

// escape percent-encodes all but RFC 3986's unreserved characters. With
// reserved, those of its section 2.2 that a query may hold and a form does not
// give a meaning pass, and so do percent-encoded triples (3.1.2 Parameter
// Object, allowReserved).
func escape(s string, reserved bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~", c) >= 0,
			reserved && strings.IndexByte(":/?@!$'()*,;", c) >= 0,
			reserved && c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		}
	}
	return b.String()
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// inHeader writes a value for a header: simple, and unchanged as 3.2.0 says that
// it must be.
func inHeader(explode bool, v json.RawMessage) string {
	var words []string
	for _, p := range pairs("simple", explode && kindOf(v) == '{', "", v) {
		if explode && kindOf(v) == '{' {
			words = append(words, p.key+"="+strings.Join(p.atoms, ","))
		} else {
			words = append(words, strings.Join(p.atoms, ","))
		}
	}
	return strings.Join(words, ",")
}

// cookieSafe reports whether a text may stand in a cookie as it is: RFC 6265,
// section 4.1.1.
func cookieSafe(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\";\\", c) >= 0 {
			return false
		}
	}
	return true
}
