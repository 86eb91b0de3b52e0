package answer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// sentence is one thing that a passage says: a sentence of prose, one of an
// item of a list, a row of a table, a block of code, or a line of a program.
type sentence struct {
	text       string   // one line, white space folded, marks of markup kept
	lines      []string // of a block of code: its lines, indented as they are to each other
	start, end int      // lines of the document, 1-based
	form       form
	block      int      // paragraph that it is in, counted from 0
	list       int      // list that it is in an item of, counted from 1; 0 for none
	opens      bool     // it begins an item
	about      string   // heading above it
	aboutLine  int      // where that is; 0 when it is not in the passage
	head       []string // of a row: the cells of the head of its table
	headLine   int
	section    int  // counts headings
	lead       int  // the sentence that announces it, or that it goes on from, by its place in the passage; -1 for none
	private    bool // about a declaration that others cannot use
	manual     bool // is in documentation
	inside     bool // a comment inside a declaration rather than before one
	setting    bool // is a setting of a listing, with what it is for
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
	mostCode    = 12   // lines of a block of code that is shown
)

// sentences splits a passage. Lines count in the document.
func sentences(p *kb.Passage) []sentence {
	s := &splitter{line: p.Chunk.Start}
	if n := len(p.Chunk.Decl); n > 0 {
		s.about = p.Chunk.Decl[n-1]
	}
	lines := strings.Split(p.Text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	switch p.Language {
	case "markdown", "mdx", "text", "asciidoc", "org", "latex", "":
		s.markdown(p.Text, lines)
	case "rst":
		s.rst(lines)
	case "html", "vue", "svelte":
		s.html(lines)
	default:
		s.code(lines, p)
		s.flush()
		for i := range s.out {
			s.out[i].private = private(p, s.out[i].start)
		}
		announce(s.out)
		return s.out
	}
	s.flush()
	for i := range s.out {
		s.out[i].manual = true
	}
	announce(s.out)
	return s.out
}

// announce sets what each sentence leans on: an item of a list and a block of
// code on the sentence before them, one that begins with "This" on the one
// that it goes on from.
func announce(out []sentence) {
	for i := range out {
		s := &out[i]
		s.lead = -1
		for j := i - 1; j >= 0 && out[j].section == s.section; j-- {
			o := &out[j]
			if o.form != prose {
				continue
			}
			switch {
			case s.form == code:
				if s.start-o.end <= 4 {
					s.lead = j
				}
			case s.form == row:
			case s.list > 0 && s.opens:
				if o.list == s.list {
					continue
				}
				if o.list == 0 {
					s.lead = j
				}
			case s.list > 0 && o.list == s.list && o.block == s.block: // what begins the item
				s.lead = j
				if !o.opens {
					continue
				}
			case s.list == 0 && o.list == 0 && dangles(s.text):
				s.lead = j
			}
			break
		}
	}
}

// danglesRE begins a sentence that speaks of what the one before it named.
var danglesRE = lazyregexp.New(`^(?i:[*_("]*(?:it|its|this|that|these|those|they|them|their|such|here|there|both|otherwise|however|instead|therefore|thus|hence|` +
	`(?:when|if|once|after|since|because of|by) (?:this|that|these|those)|for this|for that|for these|in this|in that|in these|in such|also|then|so|but|and|yet|conversely|similarly|likewise|additionally|moreover|furthermore|as a result|the (?:former|latter|above|same)|` +
	`esto|esta|este|estos|estas|eso|ese|esa|ello|ellos|ellas|sin embargo|en este caso|en ese caso|por eso|por ello|adem[aá]s|tambi[eé]n|as[ií]|entonces))\b`)

var ownThereRE = lazyregexp.New(`(?i)^(?:there (?:is|are|was|were|may|can)|this (?:section|page|document|guide|chapter|tutorial)|here (?:is|are)|here's)\b`)

// dangles reports whether a sentence says too little without the one before it.
func dangles(text string) bool {
	return danglesRE.MatchString(text) && !ownThereRE.MatchString(text)
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
	out       []sentence
	line      int // number of the next line
	lines     []string
	first     int // number of lines[0]
	block     int
	section   int
	about     string
	aboutLine int
	list      int  // the list that is read, 0 for none
	lists     int  // how many there were
	opens     bool // the paragraph begins an item
	head      []string
	headLine  int
	inside    bool // between the braces of a declaration
	restored  bool // lines hold the marks of reStructuredText
}

// heading begins a section.
func (s *splitter) heading(text string, line int) {
	s.flush()
	s.about, s.aboutLine = strings.TrimSpace(text), line
	s.section++
	s.list = 0
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
	if s.restored && f != code {
		text = restored(text)
	}
	if f == prose {
		text = answerRE.ReplaceAllString(text, "")
	}
	letters := 0
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			letters++
		}
	}
	if len(s.out) >= mostUnits || letters < leastLetter && !yesNoRE.MatchString(text) || directiveRE.MatchString(text) || f != code && chromeRE.MatchString(text) || logRE.MatchString(text) {
		return
	}
	n := sentence{text: text, start: start, end: end, form: f, block: s.block, list: s.list, opens: s.opens, about: s.about, aboutLine: s.aboutLine,
		section: s.section, inside: s.inside}
	if f == row {
		n.head, n.headLine = s.head, s.headLine
	}
	s.opens = false
	s.out = append(s.out, n)
}

func (s *splitter) take(l string) {
	if len(s.lines) == 0 {
		s.first = s.line
	}
	s.lines = append(s.lines, l)
}

// item begins an item of a list.
func (s *splitter) item(l string) {
	s.flush()
	if s.list == 0 {
		s.lists++
		s.list = s.lists
	}
	s.opens = true
	s.take(itemRE.ReplaceAllString(l, ""))
}

// leave ends a list where a line is no part of it.
func (s *splitter) leave(l string) {
	if s.list > 0 && len(s.lines) == 0 && l != "" && l[0] != ' ' && l[0] != '\t' {
		s.list = 0
	}
}

// rowOf takes a row of a table, "| a | b |", or its head.
func (s *splitter) rowOf(l string, isHead bool) {
	s.flush()
	if isHead {
		s.head, s.headLine = cells(l), s.line
		return
	}
	s.add(strings.Join(strings.Fields(l), " "), s.line, s.line, row)
}

// cells returns the cells of a row.
func cells(l string) []string {
	var out []string
	l = strings.ReplaceAll(strings.Trim(strings.TrimSpace(l), "|"), `\|`, "\x00")
	for c := range strings.SplitSeq(l, "|") {
		out = append(out, strings.ReplaceAll(strings.TrimSpace(c), "\x00", "|"))
	}
	return out
}

var (
	itemRE  = lazyregexp.New(`^\s*(?:[-*+•]|\d{1,3}[.)]|#\.)\s+`)
	ruleRE  = lazyregexp.New(`^\s*(?:[-=*_~^"]\s*){3,}$`)
	tableRE = lazyregexp.New(`^\s*\|?[\s:|-]*-{3,}[\s:|-]*\|?\s*$`)
)

// answerRE begins the answer to a question of a list of such.
var answerRE = lazyregexp.New(`^(?:\*\*|__)?(?i:answer|a|respuesta)(?:\*\*|__)?:(?:\*\*|__)?\s+`)

// yesNoRE is an answer in a word.
var yesNoRE = lazyregexp.New(`^(?i:no|yes|s[ií])[.!]?$`)

// directiveRE are comments for tools.
var directiveRE = lazyregexp.New(`^(?:go:[a-z]+|nolint|eslint-|noqa|pylint:|TODO|FIXME|XXX|Copyright|Use of this source code is governed|license that can be found)`)

// chromeRE is what pages are furnished with.
var chromeRE = lazyregexp.New(`(?i)^\W*(?:edit (?:this|on)\b.{0,30}|skip to (?:main )?content|on this page|in this (?:page|article)|table of contents|was this (?:page )?helpful.*|` +
	`(?:next|previous|prev)(?: page| article)?(?:\W.{0,60})?|last (?:updated|modified)\b.{0,40}|all rights reserved.*|view (?:the )?source.{0,20}|back to (?:the )?top|share (?:on|this)\b.{0,30}|` +
	`sign (?:in|up)|log ?in|subscribe\b.{0,30}|improve this page.*|read more|learn more|see also|click here.{0,30}|copy(?: to clipboard)?|contents|index|home|search)\W*$`)

// logRE is what programs print when they run.
var logRE = lazyregexp.New(`^\W{0,2}(?:\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d|\w{3} +\d{1,2} \d\d:\d\d:\d\d|(?:INFO|DEBUG|WARN|WARNING|ERROR|FATAL|TRACE)\b[\]:| ]|Traceback \(most recent|File "[^"]+", line \d)`)
