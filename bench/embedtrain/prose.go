package main

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// section is a part of a document of prose, as far as pairs need it.
type section struct {
	headings []string // the outermost first, the page's title among them
	text     string   // without its own heading
}

// reference is a link of one document to another, kept until all are read.
type reference struct {
	page, anchor string // what it points to
	says         string // the link's text
	around       string // the sentence with it
}

// prose is what one repository's documentation holds.
type prose struct {
	sections   []section
	pages      map[string][]int          // sections by the page's path without its ending
	anchors    map[string]map[string]int // sections by page and anchor
	references []reference
}

const (
	mostHeadings = 3 // of a section, counted from the innermost, and the title
	mostReading  = 30
)

// document adds the pairs of one document of prose, and keeps its sections
// and links for references.
func (m *miner) document(rel string, chunks []kb.Chunk, lines []string) {
	page := strings.TrimSuffix(rel, path.Ext(rel))
	title := ""
	for i := range chunks {
		c := &chunks[i]
		body := strings.Join(lines[min(c.Start-1, len(lines)):min(c.End, len(lines))], "")
		s := section{text: withoutHeading(body, c.Decl)}
		if len(c.Decl) > 0 && title == "" {
			title = c.Decl[0]
		}
		s.headings = c.Decl[max(0, len(c.Decl)-mostHeadings):]
		if title != "" && !slices.Contains(s.headings, title) {
			s.headings = append([]string{title}, s.headings...)
		}
		m.prose.add(page, s, c)
		m.section(&s)
		m.links(rel, page, s.text)
	}
}

func (p *prose) add(page string, s section, c *kb.Chunk) {
	n := len(p.sections)
	p.sections = append(p.sections, s)
	if p.pages == nil {
		p.pages, p.anchors = map[string][]int{}, map[string]map[string]int{}
	}
	p.pages[page] = append(p.pages[page], n)
	at := p.anchors[page]
	if at == nil {
		at = map[string]int{}
		p.anchors[page] = at
	}
	for _, sym := range c.Symbols {
		for _, a := range []string{strings.TrimPrefix(sym.Signature, "#"), slug(sym.Name)} {
			if _, ok := at[a]; !ok && a != "" {
				at[a] = n
			}
		}
	}
}

// section adds what a section says of itself: its headings and its text, and
// some of its sentences with the rest of it (the inverse cloze task of Lee,
// Chang and Toutanova 2019).
func (m *miner) section(s *section) {
	if n := len(s.headings); n > 0 {
		m.add(kindHeading, strings.Join(s.headings[max(0, n-2):], " "), s.text)
	}
	all := sentences(s.text)
	if len(all) < 3 {
		return
	}
	headings, folded := strings.Join(s.headings, " ")+"\n", strings.Join(strings.Fields(s.text), " ")
	for i := range 2 {
		k := i * (len(all) - 1) // what a section begins with, and ends with
		if i == 0 && len(all) > 4 {
			k = 1
		}
		rest := strings.Replace(folded, strings.Join(strings.Fields(all[k]), " "), " ", 1)
		m.add(kindSentence, plain(all[k]), headings+plain(rest))
	}
}

var (
	mdLink    = regexp.MustCompile(`\[([^\]\[]{2,160})\]\(([^)\s]+)[^)]*\)`)
	mdTarget  = regexp.MustCompile(`\]\([^)]*\)`)
	ending    = regexp.MustCompile(`\.(?:md|mdx|html?|markdown|rst)$`)
	dullLink  = regexp.MustCompile(`(?i)^(here|this|link|see|docs?|documentation|read more|more|learn more|more info|reference|guide|next|previous|back|above|below|source|details?)$`)
	htmlTag   = regexp.MustCompile(`<[^>\n]{1,200}>`)
	sentenced = regexp.MustCompile(`[.!?:](?:\s+|$)`)
)

// links keeps the links of a section to other parts of the documentation.
func (m *miner) links(rel, page, text string) {
	for _, para := range paragraphs(text) {
		for _, g := range mdLink.FindAllStringSubmatch(para, -1) {
			target, anchor, _ := strings.Cut(g[2], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			r := reference{page: page, anchor: anchor, says: plain(g[1])}
			if target != "" {
				target = strings.TrimSuffix(ending.ReplaceAllString(target, ""), "/")
				if strings.HasPrefix(target, "/") {
					r.page = target
				} else {
					r.page = path.Join(path.Dir(rel), target)
				}
			}
			for _, s := range sentences(para) {
				if strings.Contains(s, g[0]) {
					r.around = plain(s)
				}
			}
			m.prose.references = append(m.prose.references, r)
		}
	}
}

// resolve adds a pair for each link whose target was found: what is said
// where it stands, and the section that it points to.
func (m *miner) resolve() {
	p := &m.prose
	// Sites publish folders under other names: a path counts by its end.
	ends := map[string]string{}
	for page := range p.pages {
		page := strings.TrimSuffix(page, "/index")
		for rest := page; rest != ""; {
			if have, ok := ends[rest]; !ok || page < have {
				ends[rest] = page
			}
			_, rest, _ = strings.Cut(rest, "/")
		}
	}
	find := func(page string) []int {
		for _, n := range []string{page, page + "/index"} {
			if s := p.pages[n]; s != nil {
				return s
			}
		}
		return nil
	}
	for _, r := range p.references {
		page := strings.Trim(r.page, "/")
		if find(page) == nil {
			page = ends[page]
		}
		found := find(page)
		if len(found) == 0 {
			continue
		}
		to := found[0]
		if r.anchor != "" {
			at := p.anchors[page]
			if at == nil {
				at = p.anchors[page+"/index"]
			}
			n, ok := at[strings.ToLower(r.anchor)]
			if !ok {
				if n, ok = at[r.anchor]; !ok {
					continue
				}
			}
			to = n
		}
		s := &p.sections[to]
		text := strings.Join(s.headings, " ") + "\n" + plain(s.text)
		if !dullLink.MatchString(strings.TrimSpace(r.says)) {
			m.add(kindLink, r.says, text)
		}
		if len(r.around) > len(r.says)+20 {
			m.add(kindLink, r.around, text)
		}
	}
}

// withoutHeading drops the heading that a section begins with.
func withoutHeading(body string, headings []string) string {
	lines := strings.SplitAfter(body, "\n")
	for len(lines) > 0 {
		l := strings.TrimSpace(lines[0])
		bare := strings.Trim(l, "#=-~^*\"'`+ ")
		last := len(headings) > 0 && bare != "" && slices.ContainsFunc(headings, func(h string) bool { return strings.HasPrefix(bare, h) })
		if l != "" && bare != "" && l[0] != '#' && l[0] != '=' && !last {
			break
		}
		lines = lines[1:]
	}
	return strings.Join(lines, "")
}

// paragraphs returns the paragraphs of Markdown that are no code.
func paragraphs(text string) []string {
	var out []string
	var b strings.Builder
	fence := false
	end := func() {
		if b.Len() > 0 {
			out = append(out, b.String())
			b.Reset()
		}
	}
	for l := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(l)
		if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			fence = !fence
			end()
			continue
		}
		if fence {
			continue
		}
		item := len(trimmed) > 2 && (trimmed[0] == '-' || trimmed[0] == '*') && trimmed[1] == ' '
		if trimmed == "" || trimmed[0] == '#' || trimmed[0] == '|' || trimmed[0] == ':' || strings.HasPrefix(trimmed, "..") || strings.HasPrefix(trimmed, "import ") || item || strings.HasPrefix(l, "    ") {
			end()
			if !item {
				continue
			}
			trimmed = trimmed[2:]
		}
		b.WriteString(trimmed)
		b.WriteByte(' ')
	}
	end()
	return out
}

// sentences returns the sentences of a section's paragraphs, those of five to
// forty words.
func sentences(text string) []string {
	var out []string
	for _, p := range paragraphs(text) {
		for p != "" && len(out) < mostReading {
			s := p
			if at := sentenced.FindStringIndex(p); at != nil {
				s, p = p[:at[1]], p[at[1]:]
			} else {
				p = ""
			}
			s = strings.TrimSpace(s)
			if n := strings.Count(plain(s), " ") + 1; n >= 5 && n <= 40 {
				out = append(out, s)
			}
		}
	}
	return out
}

// plain drops the targets of links and the names of elements.
func plain(s string) string {
	return htmlTag.ReplaceAllString(mdTarget.ReplaceAllString(s, "]"), " ")
}

// slug is the anchor that GitHub and most generators make of a heading.
func slug(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r == ' ' || r == '-':
			b.WriteByte('-')
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}
