package answer

import (
	"html"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// markdown reads Markdown, and other text as its simplest form.
func (s *splitter) markdown(body string, lines []string) {
	first, at := s.line, 0
	text := func(to int) {
		for ; at < to; at++ {
			s.line = first + at
			next := ""
			if at+1 < len(lines) {
				next = lines[at+1]
			}
			s.plain(lines[at], next)
		}
	}
	markdown.Read(body, func(b markdown.Block) {
		switch b.Kind {
		case markdown.Table, markdown.HTML:
			return // read by lines
		case markdown.Heading:
			if b.HTML {
				return
			}
		case markdown.Indented:
			if s.goesOn(lines, b.First) {
				return
			}
		}
		text(b.First)
		s.flush()
		at = b.Last + 1
		s.line = first + b.First
		switch b.Kind {
		case markdown.Front:
			s.front(lines, b.First, b.Last)
		case markdown.Heading:
			about, _ := markdown.CutAttributes(b.Text)
			s.heading(about, s.line)
		case markdown.Fence:
			to := b.Last + 1
			if strings.Trim(strings.TrimSpace(lines[b.Last]), "`~") == "" && b.Last > b.First {
				to--
			}
			s.line++
			s.verbatim(lines, b.First+1, to)
		case markdown.Indented, markdown.Verbatim:
			if !strings.HasPrefix(strings.ToLower(strings.TrimSpace(lines[b.First])), "<s") { // script, style
				s.verbatim(lines, b.First, b.Last+1)
			}
		}
	})
	text(len(lines))
	s.line = first + at
}

// front takes the title of a page from its front matter.
func (s *splitter) front(lines []string, from, to int) {
	for i := from; i <= to && i < len(lines) && s.about == ""; i++ {
		for _, sep := range []string{":", "="} {
			if key, value, ok := markdown.CutKey(lines[i], sep); ok && strings.EqualFold(key, "title") {
				s.about, s.aboutLine = strings.Trim(value, `"' `), s.line+i-from
			}
		}
	}
}

// goesOn reports whether an indented block goes on with an item of a list, or
// with a note ("!!! note"), above it.
func (s *splitter) goesOn(lines []string, at int) bool {
	for i := at - 1; i >= 0; i-- {
		t := strings.TrimSpace(lines[i])
		if t == "" || lines[i][0] == ' ' && !itemRE.MatchString(lines[i]) {
			continue
		}
		return itemRE.MatchString(lines[i]) || noteRE.MatchString(t)
	}
	return false
}

var (
	noteRE     = lazyregexp.New(`^(?:(?:!!!|\?\?\?\+?|===|:::+|///+)(?:\s.*)?|:::+\s*\{?\w.*)$`)
	templateRE = lazyregexp.New(`\{%-?.*?-?%\}|\{\{[<%].*?[>%]\}\}|\{:\s?[.#][^}]*\}|\{\*.*?\*\}|<!--.*?-->|^\[//\]: #.*$|^\[[^\]]+\]:\s+\S+.*$`)
	importRE   = lazyregexp.New(`^(?:import\s.+\sfrom\s|export\s+(?:const|default)\s)`)
)

// plain takes a line of text.
func (s *splitter) plain(l, next string) {
	l = outsideCode(l, func(s string) string { return templateRE.ReplaceAllString(s, "") })
	if headRE.MatchString(l) { // of a note in HTML
		s.flush()
		if t := strings.TrimSpace(tagRE.ReplaceAllString(l, "")); t != "" {
			s.take(ended(t))
			s.flush()
		}
		return
	}
	if strings.Contains(l, "<") {
		l = withoutTags(l)
	}
	trimmed := strings.TrimSpace(l)
	s.leave(l)
	switch {
	case trimmed == "":
		s.flush()
	case noteRE.MatchString(trimmed), importRE.MatchString(trimmed):
		s.flush()
	case ruleRE.MatchString(l):
		if len(s.lines) == 1 { // an underlined heading
			text, at := s.lines[0], s.first
			s.lines = nil
			s.heading(text, at)
		}
		s.flush()
	case strings.HasPrefix(trimmed, "|") && strings.Count(trimmed, "|") >= 2:
		if !tableRE.MatchString(trimmed) {
			s.rowOf(trimmed, tableRE.MatchString(next) && strings.Contains(next, "|"))
		}
	case itemRE.MatchString(l):
		s.item(l)
	case strings.HasPrefix(trimmed, ">"):
		s.take(strings.TrimLeft(trimmed, "> "))
	default:
		s.take(l)
	}
}

// withoutTags takes the tags of HTML out of a line of Markdown.
func withoutTags(l string) string {
	return outsideCode(l, func(s string) string { return htmlRE.ReplaceAllString(s, "") })
}

// outsideCode changes what of a line is not between backticks.
func outsideCode(l string, change func(string) string) string {
	pieces := strings.Split(l, "`")
	for i := 0; i < len(pieces); i += 2 {
		pieces[i] = change(pieces[i])
	}
	return strings.Join(pieces, "`")
}

var htmlRE = lazyregexp.New(`(?i)</?(?:a|abbr|b|br|button|center|code|dd|del|details|div|dl|dt|em|figure|figcaption|font|hr|i|iframe|img|kbd|li|mark|nav|ol|p|picture|s|section|small|source|span|strong|sub|summary|sup|table|tbody|td|th|thead|tr|u|ul|video|[A-Z]\w+)(?:\s[^<>]*)?/?>`)

var (
	tagRE   = lazyregexp.New(`<[^<>]*>`)
	blockRE = lazyregexp.New(`(?i)</?(?:p|h[1-6]|li|ul|ol|dl|dt|dd|div|section|table|tr|blockquote|br|hr|body|title)\b`)
	headRE  = lazyregexp.New(`(?i)<(?:h[1-6]|title)\b`)
	liRE    = lazyregexp.New(`(?i)<li\b`)
	unitRE  = lazyregexp.New(`(?i)</(?:ul|ol)\b`)
)

// html reads the text between tags; what is in pre is code, in script, style
// and what a page is furnished with nothing.
func (s *splitter) html(lines []string) {
	first, pre, skip := s.line, -1, ""
	for i, l := range lines {
		s.line = first + i
		low := strings.ToLower(l)
		for _, t := range []string{"script", "style", "nav", "footer"} {
			if skip == "" && (strings.Contains(low, "<"+t+" ") || strings.Contains(low, "<"+t+">")) {
				skip = t
			}
		}
		plain := html.UnescapeString(tagRE.ReplaceAllString(l, ""))
		switch {
		case skip != "":
			if strings.Contains(low, "</"+skip) {
				skip = ""
			}
		case pre >= 0 || strings.Contains(low, "<pre"):
			if pre < 0 {
				s.flush()
				pre = i
			}
			lines[i] = plain
			if strings.Contains(low, "</pre") {
				s.line = first + pre
				s.verbatim(lines, pre, i+1)
				pre = -1
			}
		case headRE.MatchString(l):
			s.heading(plain, s.line)
		default:
			if liRE.MatchString(l) {
				s.item("- " + strings.TrimSpace(plain))
				continue
			}
			if blockRE.MatchString(l) {
				s.flush()
			}
			if t := strings.TrimSpace(plain); t != "" {
				s.take(t)
			}
			if unitRE.MatchString(l) {
				s.flush()
				s.list = 0
			}
		}
	}
	if pre >= 0 {
		s.line = first + pre
		s.verbatim(lines, pre, len(lines))
	}
	s.line = first + len(lines)
}
