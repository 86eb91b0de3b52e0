package webdoc

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// cleaned is a page of HTML as its tokens, less what no rule here looks at.
// Building a tree from what is left is linear in it: the attributes that let
// unclosed formatting multiply (four bytes that make 500 nodes) are gone, and
// so are the nesting of plain text and every script.
type cleaned struct {
	html      []byte
	jsonLD    [][]byte // what scripts of that type hold
	noscript  [][]byte // what stands in place of scripts
	scripts   int
	truncated bool
}

// keptAttrs are the attributes that a rule looks at.
var keptAttrs = lists["kept attrs"]

// formatting are the elements that the parser opens again behind whatever
// closed them, by the name that is kept. Here they are closed where a block
// begins or ends, so that it has none to open again; without a name they are
// left out.
var formatting = map[string]string{"b": "strong", "strong": "strong", "i": "em", "em": "em", "code": "code", "tt": "code",
	"big": "", "font": "", "nobr": "", "s": "", "small": "", "strike": "", "u": ""}

// inline are the other elements that may stand within formatting.
var inline = lists["inline"]

// emptied are left out with all that they hold.
var emptied = lists["emptied"]

// flat are the elements that only nest, dropped when a page nests too deep.
var flat = lists["flat"]

// clean rewrites a page. flatten leaves out the elements of flat as well.
func clean(body []byte, maxNodes int, flatten bool) cleaned {
	var c cleaned
	c.html = make([]byte, 0, len(body)/2)
	z := html.NewTokenizer(bytes.NewReader(body))
	nodes := 0
	var spans []bool    // which of the open spans were kept
	var format []string // the open elements of formatting
	skip, depth := "", 0
	// How many blocks began within the open link and have not ended. A link
	// that ends with some open has the parser copy it into each of them; pages
	// do so by mistake, and hostile ones without end.
	within, linked, crossed := 0, false, 0
	for {
		tt := z.Next()
		if tt == html.ErrorToken {
			return c
		}
		if nodes++; nodes > maxNodes {
			c.truncated = true
			return c
		}
		switch tt {
		case html.TextToken:
			if skip == "" {
				c.html = append(c.html, z.Raw()...)
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			raw, more := z.TagName()
			name := string(raw)
			if skip != "" {
				if name == skip && tt == html.StartTagToken {
					depth++
				}
				continue
			}
			if emptied[name] {
				c.emptied(z, name, more, &tt)
				if tt == html.StartTagToken && !rawText[name] && name != "embed" {
					skip, depth = name, 1
				}
				continue
			}
			if name == "xmp" || name == "listing" {
				name = "pre"
			}
			if flatten && flat[name] {
				continue
			}
			if to, ok := formatting[name]; ok {
				if name == "i" && more && iconClass(z) {
					if tt == html.StartTagToken {
						skip, depth = name, 1
					}
					continue
				}
				if to == "" || len(format) >= 16 || tt == html.SelfClosingTagToken {
					continue
				}
				if name != "i" {
					c.start(z, to, more, false, &spans)
				} else {
					c.html = append(c.html, "<em>"...)
				}
				format = append(format, to)
				continue
			}
			if !inline[name] {
				format = c.endAll(format, 0)
				if tt == html.StartTagToken {
					within++
				}
			}
			if name == "a" {
				if linked && within > 0 {
					crossed++
				}
				if crossed > maxCrossed {
					continue
				}
				linked, within = true, 0
			}
			c.start(z, name, more, tt == html.SelfClosingTagToken, &spans)
		case html.EndTagToken:
			raw, _ := z.TagName()
			name := string(raw)
			if skip != "" {
				if name == skip {
					if depth--; depth == 0 {
						skip = ""
					}
				}
				continue
			}
			if name == "xmp" || name == "listing" {
				name = "pre"
			}
			if emptied[name] || flatten && flat[name] {
				continue
			}
			if to, ok := formatting[name]; ok {
				if i := slices.Index(format, to); i >= 0 && to != "" {
					format = c.endAll(format, i)
				}
				continue
			}
			if !inline[name] {
				format = c.endAll(format, 0)
				within = max(0, within-1)
			}
			if name == "a" {
				if linked && within > 0 {
					crossed++
				}
				linked = false
				if crossed > maxCrossed {
					continue
				}
			}
			if name == "span" {
				if len(spans) == 0 {
					continue
				}
				kept := spans[len(spans)-1]
				if spans = spans[:len(spans)-1]; !kept {
					continue
				}
			}
			c.html = append(c.html, '<', '/')
			c.html = append(c.html, name...)
			c.html = append(c.html, '>')
		}
	}
}

// endAll closes the open elements of formatting from the ith.
func (c *cleaned) endAll(format []string, i int) []string {
	for j := len(format) - 1; j >= i; j-- {
		c.html = append(c.html, '<', '/')
		c.html = append(c.html, format[j]...)
		c.html = append(c.html, '>')
	}
	return format[:i]
}

// iconClass reads the attributes of an element and reports whether it is
// drawn as an icon, whose text is the name of a glyph.
func iconClass(z *html.Tokenizer) bool {
	more := true
	for i := 0; more && i < 256; i++ {
		var k, v []byte
		k, v, more = z.TagAttr()
		if string(k) == "class" && (bytes.Contains(v, []byte("icon")) || bytes.HasPrefix(v, []byte("fa"))) {
			return true
		}
	}
	return false
}

// maxCrossed is how many links may cross the blocks they stand in before all
// further ones are left out.
const maxCrossed = 300

// rawText are the elements whose content the tokenizer hands over as one text.
var rawText = kb.WordsOf(`script style noscript textarea iframe noembed noframes plaintext`)

// emptied takes what matters from an element that is left out: the structured
// data of a script, the address of a frame.
func (c *cleaned) emptied(z *html.Tokenizer, name string, more bool, tt *html.TokenType) {
	kind, src := "", ""
	for more {
		var k, v []byte
		k, v, more = z.TagAttr()
		switch string(k) {
		case "type":
			kind = strings.ToLower(string(v))
		case "src":
			src = string(v)
		}
	}
	switch name {
	case "iframe":
		if src != "" && len(src) < 2000 {
			c.html = append(c.html, `<a rel="frame" href="`...)
			c.html = append(c.html, html.EscapeString(src)...)
			c.html = append(c.html, `"></a>`...)
		}
	case "script":
		if kind == "" || strings.Contains(kind, "javascript") || kind == "module" {
			c.scripts++
		}
	}
	if *tt != html.StartTagToken || !rawText[name] {
		return
	}
	if z.Next() != html.TextToken { // it was empty: this is its end tag
		return
	}
	text := z.Raw()
	switch {
	case name == "script" && kind == "application/ld+json" && len(text) < 1<<18 && len(c.jsonLD) < 20:
		c.jsonLD = append(c.jsonLD, bytes.Clone(text))
	case name == "noscript" && len(text) < 1<<16 && len(c.noscript) < 50:
		c.noscript = append(c.noscript, bytes.Clone(text))
	}
}

// start writes a start tag with the attributes that matter.
func (c *cleaned) start(z *html.Tokenizer, name string, more, closed bool, spans *[]bool) {
	at := len(c.html)
	c.html = append(c.html, '<')
	c.html = append(c.html, name...)
	var seen [8]string
	n, telling := 0, false
	for i := 0; more && i < 256; i++ {
		var k, v []byte
		k, v, more = z.TagAttr()
		key := string(k)
		if !keptAttrs[key] || len(v) > 4096 || n == len(seen) || slices.Contains(seen[:n], key) {
			continue
		}
		if name == "span" {
			switch {
			case key == "id" || key == "aria-hidden" || key == "hidden":
				telling = true
			case key == "class" && tellingSpan(string(v)):
				telling = true
			}
		}
		seen[n] = key
		n++
		c.html = append(c.html, ' ')
		c.html = append(c.html, key...)
		c.html = append(c.html, '=', '"')
		c.html = append(c.html, html.EscapeString(string(v))...)
		c.html = append(c.html, '"')
	}
	if name == "span" {
		if !closed {
			if len(*spans) > 1000 {
				telling = false
			}
			*spans = append(*spans, telling)
		}
		if !telling {
			c.html = c.html[:at]
			return
		}
	}
	if closed && atom.Lookup([]byte(name)) == 0 { // of MathML and unknown elements
		c.html = append(c.html, '/')
	}
	c.html = append(c.html, '>')
}

// tellingSpan reports whether a rule looks at spans of these classes; all
// others, of which highlighted code is full, are left out before the tree.
func tellingSpan(class string) bool {
	for c := range strings.FieldsSeq(strings.ToLower(class)) {
		if droppedClass[c] || lineNumberClass[c] || c == "katex-html" || titleClass[c] || c == "version" ||
			strings.Contains(c, "breadcrumb") || strings.Contains(c, "updated") || strings.Contains(c, "modified") ||
			strings.Contains(c, "revision") || c == "line" || c == "code-line" {
			return true
		}
	}
	return false
}
