package answer

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// sentence is one thing that a passage says: a sentence of prose, an item of
// a list, a row of a table or a line of code.
type sentence struct {
	text       string // one line, white space folded, marks of markup kept
	start, end int    // lines of the document, 1-based
	form       form
	block      int    // paragraph that it is in, counted from 0
	about      string // heading or first line of the table above it
	section    int    // counts headings
	private    bool   // about a declaration that others cannot use
	manual     bool   // is in documentation
	inside     bool   // a comment inside a declaration rather than before one
}

// form is what a sentence is written as.
type form uint8

const (
	prose form = iota
	row
	code
)

const (
	mostWords   = 80   // of a sentence; a longer one is no sentence
	leastLetter = 3    // letters that a sentence has
	mostUnits   = 2000 // of one passage
)

// sentences splits a passage. Lines count in the document.
func sentences(p *kb.Passage) []sentence {
	s := &splitter{line: p.Chunk.Start}
	if len(p.Chunk.Decl) > 0 {
		s.about = strings.Join(p.Chunk.Decl, " ")
	}
	body := p.Text
	switch p.Language {
	case "markdown", "mdx", "text", "rst", "asciidoc", "org", "latex", "":
		s.prose(body)
	case "html", "vue", "svelte":
		s.html(body)
	default:
		s.code(body, p)
		s.flush()
		for i := range s.out {
			s.out[i].private = private(p, s.out[i].start)
		}
		return s.out
	}
	s.flush()
	for i := range s.out {
		s.out[i].manual = true
	}
	return s.out
}

// private reports whether the declaration that a line belongs to is one that
// other packages cannot use, by the custom of its language.
func private(p *kb.Passage, line int) bool {
	name := ""
	for i := range p.Chunk.Symbols {
		if sym := &p.Chunk.Symbols[i]; sym.Start <= line && line <= sym.End {
			name = sym.Name
			break
		}
	}
	if name == "" && len(p.Chunk.Decl) > 0 {
		name = p.Chunk.Decl[len(p.Chunk.Decl)-1]
	}
	r, _ := utf8.DecodeRuneInString(name)
	if p.Language == "go" {
		return name != "" && !unicode.IsUpper(r)
	}
	return r == '_'
}

// splitter gathers the lines of a paragraph.
type splitter struct {
	out     []sentence
	line    int // number of the next line
	lines   []string
	first   int // number of lines[0]
	block   int
	section int
	about   string
	inside  bool // between the braces of a declaration
}

// flush splits the paragraph that was gathered.
func (s *splitter) flush() {
	if len(s.lines) == 0 {
		return
	}
	lines, first := s.lines, s.first
	s.lines = nil
	var b strings.Builder
	var at []int // where each line begins
	for _, l := range lines {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		at = append(at, b.Len())
		b.WriteString(strings.Join(strings.Fields(l), " "))
	}
	text := b.String()
	number := func(off int) int {
		n := first
		for i := range at {
			if at[i] <= off {
				n = first + i
			}
		}
		return n
	}
	spans := split(text)
	for i := 0; i < len(spans); i++ {
		span := spans[i]
		// What a paragraph begins with in two or three words names what it is about.
		if lead := text[span[0]:span[1]]; i == 0 && len(spans) > 1 && !strings.HasSuffix(lead, "?") &&
			(strings.Count(lead, " ") < 2 || strings.IndexByte("*_", lead[0]) >= 0 && strings.Count(lead, " ") < 5) {
			span[1] = spans[1][1]
			i++
		}
		s.add(text[span[0]:span[1]], number(span[0]), number(span[1]-1), prose)
	}
	s.block++
}

func (s *splitter) add(text string, start, end int, f form) {
	if len(s.out) >= mostUnits {
		return
	}
	letters := 0
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			letters++
		}
	}
	if letters < leastLetter || directiveRE.MatchString(text) {
		return
	}
	s.out = append(s.out, sentence{text: text, start: start, end: end, form: f, block: s.block, about: s.about, section: s.section, inside: s.inside})
}

func (s *splitter) take(l string) {
	if len(s.lines) == 0 {
		s.first = s.line
	}
	s.lines = append(s.lines, l)
}

var (
	itemRE  = lazyregexp.New(`^\s*(?:[-*+•]|\d{1,3}[.)])\s+`)
	ruleRE  = lazyregexp.New(`^\s*(?:[-=*_~^"]\s*){3,}$`)
	tableRE = lazyregexp.New(`^\s*\|?[\s:|-]*-{3,}[\s:|-]*\|?\s*$`)
)

// directiveRE are comments for tools.
var directiveRE = lazyregexp.New(`^(?:go:[a-z]+|nolint|eslint-|noqa|pylint:|TODO|FIXME|XXX|Copyright|Use of this source code is governed|license that can be found)`)

// prose reads Markdown, and other text as its simplest form: underlines are
// left to plain, since those of reStructuredText are as good.
func (s *splitter) prose(body string) {
	lines, first, at := strings.Split(body, "\n"), s.line, 0
	plain := func(to int) {
		for ; at < to; at++ {
			s.line = first + at
			s.plain(strings.TrimSuffix(lines[at], "\r"))
		}
	}
	markdown.Read(body, func(b markdown.Block) {
		heading := b.Kind == markdown.Heading && b.First == b.Last && !b.HTML
		if !heading && b.Kind != markdown.Fence && b.Kind != markdown.Indented && b.Kind != markdown.Comment {
			return
		}
		plain(b.First)
		s.flush()
		at = b.Last + 1
		switch b.Kind {
		case markdown.Heading:
			about, _, _ := strings.Cut(b.Text, "{#")
			s.about = strings.TrimSpace(about)
			s.section++
		case markdown.Fence:
			s.verbatim(lines, first, b.First+1, b.Last+1)
			s.block++
		case markdown.Indented:
			s.verbatim(lines, first, b.First, b.Last+1)
		}
	})
	plain(len(lines))
	s.line = first + at
}

// verbatim takes lines [from,to) of code, without the mark that ends a fence.
func (s *splitter) verbatim(lines []string, first, from, to int) {
	for i := from; i < to; i++ {
		if t := strings.TrimSpace(lines[i]); strings.Trim(t, "`~") != "" {
			s.add(t, first+i, first+i, code)
		}
	}
}

// plain takes a line of text.
func (s *splitter) plain(l string) {
	switch trimmed := strings.TrimSpace(l); {
	case trimmed == "":
		s.flush()
	case ruleRE.MatchString(l):
		if len(s.lines) == 1 { // an underlined heading
			s.about, s.lines = s.lines[0], nil
			s.section++
		}
		s.flush()
	case strings.HasPrefix(trimmed, "|") && strings.Count(trimmed, "|") >= 2:
		s.flush()
		if !tableRE.MatchString(trimmed) {
			s.add(strings.Join(strings.Fields(trimmed), " "), s.line, s.line, row)
		}
	case itemRE.MatchString(l):
		s.flush()
		s.take(itemRE.ReplaceAllString(l, ""))
	default:
		s.take(l)
	}
}

var (
	tagRE   = lazyregexp.New(`<[^<>]*>`)
	blockRE = lazyregexp.New(`(?i)</?(?:p|h[1-6]|li|ul|ol|dl|dt|dd|div|section|table|tr|blockquote|br|hr|body|title)\b`)
	headRE  = lazyregexp.New(`(?i)<(?:h[1-6]|title)\b`)
)

// html reads the text between tags; what is in pre is code, in script and
// style nothing.
func (s *splitter) html(body string) {
	pre, skip := false, ""
	for _, l := range strings.Split(body, "\n") {
		low := strings.ToLower(l)
		for _, t := range []string{"script", "style"} {
			if skip == "" && strings.Contains(low, "<"+t) {
				skip = t
			}
		}
		plain := html.UnescapeString(tagRE.ReplaceAllString(l, ""))
		switch {
		case skip != "":
			if strings.Contains(low, "</"+skip) {
				skip = ""
			}
		case strings.Contains(low, "<pre"):
			s.flush()
			pre = !strings.Contains(low, "</pre")
		case pre:
			if strings.TrimSpace(plain) != "" {
				s.add(strings.TrimSpace(plain), s.line, s.line, code)
			}
			pre = !strings.Contains(low, "</pre")
			if !pre {
				s.block++
			}
		case headRE.MatchString(l):
			s.flush()
			s.about = strings.TrimSpace(plain)
			s.section++
		default:
			if blockRE.MatchString(l) {
				s.flush()
			}
			if t := strings.TrimSpace(plain); t != "" {
				s.take(t)
			}
		}
		s.line++
	}
}

// marks begin the comment lines of the languages there are.
var marks = []string{"///", "//!", "//", "##", "#", "--", ";;", "%%", "/**", "/*", "*/", "*"}

// code reads the comments of code as prose and its declarations as lines.
func (s *splitter) code(body string, p *kb.Passage) {
	declared := map[int]bool{}
	for i := range p.Chunk.Symbols {
		declared[p.Chunk.Symbols[i].Line] = true
	}
	python := p.Language == "python" || p.Language == "elixir"
	doc, block := false, false
	whole := p.Chunk.Kind != "type" && p.Chunk.Kind != "class" && p.Chunk.Kind != "interface" && p.Chunk.Kind != "struct"
	for _, l := range strings.Split(body, "\n") {
		l = strings.TrimSuffix(l, "\r")
		trimmed := strings.TrimSpace(l)
		text, comment := "", false
		switch {
		case block:
			text, comment = strings.TrimPrefix(strings.TrimPrefix(trimmed, "*"), " "), true
			if i := strings.Index(l, "*/"); i >= 0 {
				block = false
				text = strings.TrimPrefix(strings.TrimSpace(l[:i]), "*")
			} else if !strings.HasPrefix(trimmed, "*") {
				text = l // keeps its indentation
			}
		case python && (doc || strings.HasPrefix(trimmed, `"""`)):
			n := strings.Count(trimmed, `"""`)
			text, comment = strings.ReplaceAll(trimmed, `"""`, ""), true
			if n%2 == 1 {
				doc = !doc
			}
		default:
			for _, m := range marks {
				if !strings.HasPrefix(trimmed, m) || strings.HasPrefix(m, "#") && cLike[p.Language] || m == "--" && !dashes[p.Language] || m == "*" {
					continue
				}
				text, comment = strings.TrimPrefix(trimmed, m), true
				if strings.HasPrefix(m, "/*") {
					block = !strings.Contains(trimmed[2:], "*/")
					text = strings.TrimSuffix(strings.TrimSpace(text), "*/")
				}
				break
			}
		}
		switch {
		case comment && len(s.lines) == 0 && (strings.HasPrefix(text, "\t") || strings.HasPrefix(text, "    ")) && strings.TrimSpace(text) != "" && !itemRE.MatchString(text):
			s.flush()
			s.add(strings.TrimSpace(text), s.line, s.line, code)
		case comment && strings.TrimSpace(text) == "":
			s.flush()
		case comment && itemRE.MatchString(text):
			s.flush()
			s.take(itemRE.ReplaceAllString(text, ""))
		case comment && strings.HasPrefix(strings.TrimSpace(text), "# "):
			s.flush()
			s.about = strings.TrimPrefix(strings.TrimSpace(text), "# ")
			s.section++
		case comment:
			s.take(text)
		case trimmed == "":
			s.flush()
		default:
			s.flush()
			if declared[s.line] || data[p.Language] {
				s.inside = false
				s.add(trimmed, s.line, s.line, code)
			}
			// Comments of fields document them; those between statements explain code.
			s.inside = whole && strings.HasPrefix(l, "\t") || declared[s.line] && whole && strings.HasSuffix(trimmed, "{")
			if strings.HasPrefix(l, "}") {
				s.inside = false
			}
		}
		s.line++
	}
}

var (
	cLike  = lists["c like"]
	dashes = kb.WordsOf("sql lua haskell")
	data   = kb.WordsOf("yaml json toml ini gomod dockerfile make bash csv")
)
