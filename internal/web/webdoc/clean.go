package webdoc

import (
	"bytes"
	_ "embed" // the lists are a part of the program
	"iter"
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
	noscript  [][]byte // what is shown in place of scripts
	scripts   int
	truncated bool
}

//go:embed words.txt
var wordsText string

// The lists of words.txt by name.
var (
	lists     = kb.WordLists(wordsText)
	keptAttrs = lists["kept attrs"] // the attributes that a rule looks at
	inline    = lists["inline"]     // what formatting may hold beside formatting
	emptied   = lists["emptied"]    // left out with all that they hold
	flat      = lists["flat"]       // only nest; dropped when a page nests too deep
)

// formatting are the elements that the parser opens again behind whatever
// closed them, by the name that is kept. Here they are closed where a block
// begins or ends, so that it has none to open again; without a name they are
// left out.
var formatting = map[string]string{"b": "strong", "strong": "strong", "i": "em", "em": "em", "code": "code",
	"tt": "code", "big": "", "font": "", "nobr": "", "s": "", "small": "", "strike": "", "u": ""}

// cleaner is the state of clean between two tokens.
type cleaner struct {
	cleaned
	z       *html.Tokenizer
	flatten bool // the elements of flat are left out as well

	spans  []bool   // which of the open spans were kept
	format []string // the open elements of formatting
	skip   string   // the element that is being left out
	depth  int      // how many of its name are open

	// within is how many blocks began within the open link and have not ended.
	// A link that ends with some open has the parser copy it into each of them;
	// pages do so by mistake, and hostile ones without end.
	within  int
	linked  bool
	crossed int
}

// clean rewrites a page. flatten leaves out the elements of flat as well.
func clean(body []byte, maxNodes int, flatten bool) cleaned {
	c := cleaner{z: html.NewTokenizer(bytes.NewReader(body)), flatten: flatten}
	c.html = make([]byte, 0, len(body)/2)
	for nodes := 1; ; nodes++ {
		tt := c.z.Next()
		if c.truncated = tt != html.ErrorToken && nodes > maxNodes; c.truncated || tt == html.ErrorToken {
			return c.cleaned
		}
		switch tt {
		case html.TextToken:
			if c.skip == "" {
				c.html = append(c.html, c.z.Raw()...)
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := c.name()
			c.start(name, more, tt == html.SelfClosingTagToken)
		case html.EndTagToken:
			name, _ := c.name()
			c.end(name)
		}
	}
}

// name returns the name of the tag, and whether attributes follow.
func (c *cleaner) name() (string, bool) {
	raw, more := c.z.TagName()
	name := string(raw)
	if name == "xmp" || name == "listing" {
		name = "pre"
	}
	return name, more
}

// start takes a start tag; closed says that it is its own end.
func (c *cleaner) start(name string, more, closed bool) {
	if c.skip != "" {
		if name == c.skip && !closed {
			c.depth++
		}
		return
	}
	if emptied[name] {
		c.emptied(name, more, closed)
		if !closed && !rawText[name] && name != "embed" {
			c.skip, c.depth = name, 1
		}
		return
	}
	if c.flatten && flat[name] {
		return
	}
	if to, ok := formatting[name]; ok {
		c.startFormat(name, to, more, closed)
		return
	}
	if !inline[name] {
		c.endFormat(0)
		if !closed {
			c.within++
		}
	}
	if name == "a" {
		if c.cross(); c.crossed > maxCrossed {
			return
		}
		c.linked, c.within = true, 0
	}
	c.tag(name, more, closed)
}

// startFormat takes the start of an element of formatting, kept as to.
func (c *cleaner) startFormat(name, to string, more, closed bool) {
	switch {
	case name == "i" && more && c.isIcon():
		if !closed {
			c.skip, c.depth = name, 1
		}
		return
	case to == "" || len(c.format) >= 16 || closed:
		return
	case name == "i":
		c.write("<em>")
	default:
		c.tag(to, more, false)
	}
	c.format = append(c.format, to)
}

// end takes an end tag.
func (c *cleaner) end(name string) {
	if c.skip != "" {
		if name == c.skip {
			if c.depth--; c.depth == 0 {
				c.skip = ""
			}
		}
		return
	}
	if emptied[name] || c.flatten && flat[name] {
		return
	}
	if to, ok := formatting[name]; ok {
		if i := slices.Index(c.format, to); i >= 0 && to != "" {
			c.endFormat(i)
		}
		return
	}
	if !inline[name] {
		c.endFormat(0)
		c.within = max(0, c.within-1)
	}
	switch name {
	case "a":
		c.cross()
		if c.linked = false; c.crossed > maxCrossed {
			return
		}
	case "span":
		last := len(c.spans) - 1
		if last < 0 {
			return
		}
		kept := c.spans[last]
		if c.spans = c.spans[:last]; !kept {
			return
		}
	}
	c.write("</", name, ">")
}

// cross counts a link that ends while blocks are open in it.
func (c *cleaner) cross() {
	if c.linked && c.within > 0 {
		c.crossed++
	}
}

func (c *cleaner) write(parts ...string) {
	for _, s := range parts {
		c.html = append(c.html, s...)
	}
}

// endFormat closes the open elements of formatting from the ith.
func (c *cleaner) endFormat(i int) {
	for _, name := range slices.Backward(c.format[i:]) {
		c.write("</", name, ">")
	}
	c.format = c.format[:i]
}

// attrs returns the attributes of the tag, the first 256 at most.
func (c *cleaner) attrs(more bool) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for i := 0; more && i < 256; i++ {
			var k, v []byte
			if k, v, more = c.z.TagAttr(); !yield(string(k), v) {
				return
			}
		}
	}
}

// isIcon reports whether the element is drawn as an icon, whose text is the
// name of a glyph.
func (c *cleaner) isIcon() bool {
	for k, v := range c.attrs(true) {
		if k == "class" && (bytes.Contains(v, []byte("icon")) || bytes.HasPrefix(v, []byte("fa"))) {
			return true
		}
	}
	return false
}

// maxCrossed is how many links may cross the blocks that hold them before all
// further ones are left out.
const maxCrossed = 300

// rawText are the elements whose content the tokenizer hands over as one text.
var rawText = kb.WordsOf(`script style noscript textarea iframe noembed noframes plaintext`)

// emptied takes what matters from an element that is left out: the structured
// data of a script, the address of a frame.
func (c *cleaner) emptied(name string, more, closed bool) {
	kind, src := "", ""
	for k, v := range c.attrs(more) {
		switch k {
		case "type":
			kind = strings.ToLower(string(v))
		case "src":
			src = string(v)
		}
	}
	switch name {
	case "iframe":
		if src != "" && len(src) < 2000 {
			c.write(`<a rel="frame" href="`, html.EscapeString(src), `"></a>`)
		}
	case "script":
		if kind == "" || strings.Contains(kind, "javascript") || kind == "module" {
			c.scripts++
		}
	}
	if closed || !rawText[name] || c.z.Next() != html.TextToken { // it was empty: this is its end tag
		return
	}
	text := c.z.Raw()
	switch {
	case name == "script" && kind == "application/ld+json" && len(text) < 1<<18 && len(c.jsonLD) < 20:
		c.jsonLD = append(c.jsonLD, bytes.Clone(text))
	case name == "noscript" && len(text) < 1<<16 && len(c.noscript) < 50:
		c.noscript = append(c.noscript, bytes.Clone(text))
	}
}

// tag writes a start tag with the attributes that matter.
func (c *cleaner) tag(name string, more, closed bool) {
	at := len(c.html)
	c.write("<", name)
	var seen [8]string
	n, telling := 0, false
	for key, v := range c.attrs(more) {
		if !keptAttrs[key] || len(v) > 4096 || n == len(seen) || slices.Contains(seen[:n], key) {
			continue
		}
		telling = telling || name == "span" &&
			(key == "id" || key == "aria-hidden" || key == "hidden" || key == "class" && tellingSpan(string(v)))
		seen[n] = key
		n++
		c.write(" ", key, `="`, html.EscapeString(string(v)), `"`)
	}
	if name == "span" {
		if !closed {
			telling = telling && len(c.spans) <= 1000
			c.spans = append(c.spans, telling)
		}
		if !telling {
			c.html = c.html[:at]
			return
		}
	}
	if closed && atom.Lookup([]byte(name)) == 0 { // of MathML and unknown elements
		c.write("/")
	}
	c.write(">")
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
