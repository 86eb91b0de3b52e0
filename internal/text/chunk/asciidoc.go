package chunk

import (
	"strings"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// splitAsciiDoc finds the sections of AsciiDoc by titles ("== Install", also
// "## Install" and underlined). Delimited blocks hold no titles. Lines of
// anchors and attributes above a title belong to it.
func splitAsciiDoc(_ kb.Text, ls *lines) (outline, bool) {
	s := newSections(ls)
	s.fences(func(i int, line string) (block, bool) {
		line = strings.TrimRight(line, " \t")
		verbatim, ok := asciiBlock(line)
		if !ok || i > 0 && asciiUnderlined(ls, i-1) > 0 {
			return block{}, false
		}
		end := line
		if line[0] == '`' {
			end = "```"
		}
		return block{end: end, verbatim: verbatim}, true
	}, func(line, end string) bool { return strings.TrimRight(line, " \t") == end })
	for i := 0; i < ls.len(); i++ {
		if s.o.class[i] == classInside {
			continue
		}
		line := ls.text(i)
		if line == "" {
			continue
		}
		level, text, last := 0, "", i
		if c := line[0]; c == '=' || c == '#' {
			if n := run(line, c); n <= 6 && len(line) > n+1 && (line[n] == ' ' || line[n] == '\t') {
				level, text = n, strings.TrimSpace(line[n:])
				text = strings.TrimSpace(strings.TrimSuffix(text, line[:n]))
			}
		} else if n := asciiUnderlined(ls, i); n > 0 {
			level, text, last = n, strings.TrimSpace(line), i+1
		}
		if level == 0 || text == "" {
			continue
		}
		text, anchor := asciiText(text)
		first := i
		for j := i - 1; j >= 0 && i-j <= 6; j-- {
			t := strings.TrimSpace(ls.text(j))
			if !strings.HasPrefix(t, "[") || !strings.HasSuffix(t, "]") || s.o.class[j] == classInside {
				break
			}
			first = j
			if a := asciiAnchor(t); a != "" {
				anchor = a
			}
		}
		s.begin(first, i, last, level, markdown.Plain(shorten(text, 4*noteBytes)), anchor)
		i = last
	}
	s.close(ls.len(), 0)
	return s.o, true
}

// asciiBlock reports whether a line delimits a block and whether that holds
// text as it is.
func asciiBlock(s string) (verbatim, ok bool) {
	switch {
	case s == "--":
		return false, true
	case len(s) < 3:
		return false, false
	case strings.HasPrefix(s, "```"):
		return true, !strings.Contains(s[3:], "`")
	case len(s) < 4:
		return false, false
	case s[1:] == "===" && strings.IndexByte("|,:!", s[0]) >= 0:
		return s[0] != '|' && s[0] != '!', true
	case run(s, s[0]) != len(s):
		return false, false
	}
	switch s[0] {
	case '-', '.', '+', '/':
		return true, true
	case '=', '*', '_', '~':
		return false, true
	}
	return false, false
}

// asciiUnderlined returns the level of the title that is on line i with a
// line below it of the same length, one more or less; 0 for another line.
func asciiUnderlined(ls *lines, i int) int {
	if i+1 >= ls.len() || i > 0 && !ls.blank(i-1) && ls.text(i - 1)[0] != '[' {
		return 0
	}
	under := strings.TrimRight(ls.text(i+1), " \t")
	if len(under) < 3 {
		return 0
	}
	level := strings.IndexByte("=-~^+", under[0]) + 1
	if level == 0 || run(under, under[0]) != len(under) {
		return 0
	}
	title := strings.TrimRight(ls.text(i), " \t")
	if n := utf8.RuneCountInString(title) - len(under); title == "" || n < -1 || n > 1 || title[0] <= ' ' || strings.IndexByte("=.[/|:*-+`", title[0]) >= 0 {
		return 0
	}
	return level
}

// asciiText returns the text of a title without anchors, and its anchor.
func asciiText(s string) (text, anchor string) {
	for {
		n := strings.Index(s, "[[")
		if n < 0 {
			return s, anchor
		}
		m := strings.Index(s[n:], "]]")
		if m < 0 {
			return s, anchor
		}
		anchor = asciiAnchor(s[n : n+m+2])
		s = strings.TrimSpace(s[:n] + s[n+m+2:])
	}
}

// asciiAnchor returns "#" and the id of "[[id]]", "[[id,text]]", "[#id]",
// "[#id.role]" or "[id=x]".
func asciiAnchor(s string) string {
	s = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	if t, ok := strings.CutPrefix(s, "["); ok {
		s, _, _ = strings.Cut(strings.TrimSuffix(t, "]"), ",")
	} else if n := strings.Index(s, "id="); n == 0 || n > 0 && (s[n-1] == ',' || s[n-1] == ' ') {
		s, _, _ = strings.Cut(strings.Trim(s[n+3:], `"'`), ",")
		s = strings.Trim(s, `"'`)
	} else if n := strings.IndexByte(s, '#'); n >= 0 && !strings.ContainsAny(s[:n], "=, ") {
		s = s[n+1:]
		if n := strings.IndexAny(s, ".,%"); n >= 0 {
			s = s[:n]
		}
	} else {
		return ""
	}
	if s = strings.TrimSpace(s); s == "" || strings.ContainsAny(s, " []") {
		return ""
	}
	return "#" + s
}
