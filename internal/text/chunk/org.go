package chunk

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// splitOrg finds the sections of an Org document by headlines ("* Install").
// Its title is above them all. Blocks from #+begin_x to #+end_x hold no
// headlines, and drawers are kept whole.
func splitOrg(_ kb.Text, ls *lines) (outline, bool) {
	s := newSections(ls)
	s.fences(func(_ int, line string) (block, bool) {
		line = strings.TrimSpace(line)
		if len(line) > 8 && strings.EqualFold(line[:8], "#+begin_") {
			name := line[8:]
			if n := strings.IndexAny(name, " \t"); n >= 0 {
				name = name[:n]
			}
			return block{end: "#+end_" + name, verbatim: true}, true
		}
		if len(line) < 40 && (strings.EqualFold(line, ":properties:") || strings.EqualFold(line, ":logbook:")) {
			return block{end: ":end:", verbatim: true}, true
		}
		return block{}, false
	}, func(line, end string) bool { return strings.EqualFold(strings.TrimSpace(line), end) })
	const deepest = 12 // deeper headlines count as this deep
	for i := 0; i < ls.len(); i++ {
		if s.o.class[i] == classInside {
			continue
		}
		line := ls.text(i)
		if n := run(line, '*'); n > 0 && n < len(line) && line[n] == ' ' {
			s.begin(i, i, i, min(n, deepest), orgText(shorten(line[n:], 4*noteBytes)), orgAnchor(ls, i+1))
		} else if len(line) > 8 && strings.EqualFold(line[:8], "#+title:") && len(s.open) == 0 {
			s.begin(0, i, i, 0, strings.TrimSpace(shorten(line[8:], 4*noteBytes)), "")
		}
	}
	s.close(ls.len(), 0)
	return s.o, true
}

var orgStates = kb.WordsOf("TODO DONE NEXT WAITING WAIT STARTED CANCELED CANCELLED HOLD PROJ")

// orgText returns the text of a headline without state, priority, tags and marks.
func orgText(s string) string {
	s = strings.TrimSpace(s)
	if first, rest, ok := strings.Cut(s, " "); ok && orgStates[first] {
		s = strings.TrimSpace(rest)
	}
	if len(s) > 4 && strings.HasPrefix(s, "[#") && s[3] == ']' {
		s = strings.TrimSpace(s[4:])
	}
	if n := strings.LastIndexAny(s, " \t"); n > 0 && len(s) > n+3 && s[n+1] == ':' && s[len(s)-1] == ':' {
		s = strings.TrimSpace(s[:n])
	}
	for { // [[target][text]] and [[target]]
		n := strings.Index(s, "[[")
		if n < 0 {
			break
		}
		m := strings.Index(s[n:], "]]")
		if m < 0 {
			break
		}
		text := s[n+2 : n+m]
		if k := strings.Index(text, "]["); k >= 0 {
			text = text[k+2:]
		}
		s = s[:n] + text + s[n+m+2:]
	}
	f := strings.Fields(s)
	for k, w := range f {
		if n := len(w); n > 2 && strings.IndexByte("=~*/_", w[0]) >= 0 && w[n-1] == w[0] {
			f[k] = w[1 : n-1]
		}
	}
	return strings.Join(f, " ")
}

// orgAnchor returns "#" and the custom id that the drawer on line i gives.
func orgAnchor(ls *lines, i int) string {
	const far = 12
	if i >= ls.len() || !strings.EqualFold(strings.TrimSpace(ls.text(i)), ":properties:") {
		return ""
	}
	for j := i + 1; j < ls.len() && j < i+far; j++ {
		s := strings.TrimSpace(ls.text(j))
		if strings.EqualFold(s, ":end:") {
			break
		}
		if len(s) > 11 && strings.EqualFold(s[:11], ":custom_id:") {
			return "#" + strings.TrimSpace(s[11:])
		}
	}
	return ""
}
