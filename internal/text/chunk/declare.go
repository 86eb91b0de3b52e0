package chunk

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// found is a declaration as a rule sees it.
type found struct {
	name  string
	owner []string // further names between the enclosing path and name: "Foo" of Foo::bar
	kind  string
	body  bool // may hold further declarations
	quiet bool // no symbol: it adds to something defined elsewhere ("impl", "extension")
	flat  bool // reaches to the next declaration, whatever the indentation
}

// declare takes a line that begins a declaration.
func (w *window) declare(i, ind int, s string, f found) {
	if f.name == "" { // a scope that only encloses, such as an unnamed namespace
		w.open = append(w.open, scope{indent: ind, member: -1, path: w.path(), kind: f.kind, body: true, unit: -1})
		return
	}
	kind := f.kind
	if kind == "function" && (len(f.owner) > 0 || w.inType()) {
		kind = "method"
	}
	outer := w.path()
	path := make([]string, 0, len(outer)+len(f.owner)+1)
	path = append(append(append(path, outer...), f.owner...), f.name)
	doc := w.begin(i, ind, unit{path: path, kind: kind})
	u := &w.o.units[len(w.o.units)-1]
	if !f.quiet {
		sig, end := w.signature(i, s)
		if w.r.typeAbove && i > 0 && w.decor >= 0 && w.o.class[i-1] == classDecorator {
			sig = fold(w.ls.text(i-1)+" "+sig, noteBytes)
		}
		u.symbols = append(u.symbols, symbol{
			Symbol: kb.Symbol{
				Name: f.name, Kind: kind, Signature: sig, Doc: w.doc(doc, i, end),
				Start: doc + 1, End: i + 1,
			},
			line: i,
		})
	}
	if f.flat {
		w.flat = true
		return
	}
	w.open = append(w.open, scope{indent: ind, member: -1, path: path, kind: kind, body: f.body, unit: len(w.o.units) - 1})
}

// inType reports whether functions here are methods.
func (w *window) inType() bool {
	n := len(w.open)
	return n > 0 && w.open[n-1].kind != "module" && w.open[n-1].kind != "namespace" && w.open[n-1].kind != "package"
}

// member reports whether a line indented by ind is a direct member of a type.
func (w *window) member(ind int) bool {
	return w.inType() && w.open[len(w.open)-1].member == ind
}

// signature returns line i, with the following ones while brackets are open,
// up to the body, and the last line it took.
func (w *window) signature(i int, s string) (string, int) {
	const far = 12
	var b strings.Builder
	depth, at := 0, i
scan:
	for {
		for k := 0; k < len(s); k++ {
			switch s[k] {
			case '(', '[':
				depth++
			case ')', ']':
				depth--
			case '{':
				if depth <= 0 && k > 0 {
					b.WriteString(s[:k])
					break scan
				}
			}
			if k > 4*noteBytes {
				s = s[:k]
				break
			}
		}
		b.WriteString(s)
		if depth <= 0 || at+1 >= w.ls.len() || at-i >= far || b.Len() > 2*noteBytes {
			break
		}
		at++
		_, s = markdown.Indent(w.ls.text(at))
		b.WriteByte(' ')
	}
	sig := strings.TrimRight(b.String(), " \t{;:\\")
	sig = strings.TrimSuffix(sig, " =")
	if w.r.do {
		sig = strings.TrimSuffix(strings.TrimSuffix(sig, " do"), ",")
	}
	return fold(sig, noteBytes), at
}

// doc returns the first sentence of the comment in lines [from,i), or of the
// string below the signature's last line end where the language documents so.
func (w *window) doc(from, i, end int) string {
	at := from
	d := sentence(func() (string, bool) {
		for at < i && w.o.class[at] != classComment && w.o.class[at] != classCommentInside {
			at++
		}
		if at >= i {
			return "", false
		}
		at++
		return w.ls.text(at - 1), true
	})
	if strings.HasPrefix(d, "Copyright") || strings.HasPrefix(d, "SPDX-") {
		d = ""
	}
	if d != "" || !w.r.docString {
		return d
	}
	at = end + 1
	for at < w.ls.len() && w.o.class[at] == classBlank {
		at++
	}
	if at >= w.ls.len() {
		return ""
	}
	_, first := markdown.Indent(w.ls.text(at))
	first = strings.TrimLeft(first, "rRuUbB")
	if !strings.HasPrefix(first, `"`) && !strings.HasPrefix(first, "'") {
		return ""
	}
	quote := first[:1]
	if strings.HasPrefix(first, strings.Repeat(quote, 3)) {
		quote = first[:3]
	}
	first, over := first[len(quote):], false
	return sentence(func() (string, bool) {
		if over || at >= w.ls.len() {
			return "", false
		}
		line := w.ls.text(at)
		if first != "" {
			line, first = first, ""
		} else if len(quote) == 1 {
			return "", false
		}
		at++
		if n := strings.Index(line, quote); n >= 0 {
			line, over = line[:n], true
		}
		return line, true
	})
}
