package chunk

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// latexLevels are the commands that begin sections.
var latexLevels = map[string]int{"part": 1, "chapter": 2, "section": 3, "subsection": 4, "subsubsection": 5, "paragraph": 6}

// splitLaTeX finds the sections of a LaTeX document. It leaves texts without
// any, such as styles and bibliographies, to the window.
func splitLaTeX(_ kb.Text, ls *lines) (outline, bool) {
	s := newSections(ls)
	s.fences(func(_ int, line string) (block, bool) {
		for _, name := range []string{"verbatim", "lstlisting", "minted", "Verbatim", "comment"} {
			if n := strings.Index(line, `\begin{`+name+"}"); n >= 0 && strings.TrimSpace(line[:n]) == "" {
				return block{end: `\end{` + name + "}", verbatim: true}, true
			}
		}
		return block{}, false
	}, strings.Contains)
	found := false
	for i := 0; i < ls.len(); i++ {
		_, line := markdown.Indent(ls.text(i))
		if s.o.class[i] == classInside || !strings.HasPrefix(line, `\`) {
			continue
		}
		line = line[:min(len(line), 8*noteBytes)]
		n := 1
		for n < len(line) && line[n] >= 'a' && line[n] <= 'z' {
			n++
		}
		level := latexLevels[line[1:n]]
		rest := strings.TrimPrefix(line[n:], "*")
		if strings.HasPrefix(rest, "[") {
			if m := strings.IndexByte(rest, ']'); m > 0 {
				rest = rest[m+1:]
			}
		}
		if level == 0 || !strings.HasPrefix(rest, "{") {
			continue
		}
		text, rest := braced(rest)
		if strings.TrimSpace(rest) == "" && i+1 < ls.len() {
			rest = strings.TrimSpace(ls.text(i + 1))
		}
		anchor := ""
		if label, ok := strings.CutPrefix(strings.TrimSpace(rest), `\label`); ok && strings.HasPrefix(label, "{") {
			label, _ = braced(label)
			anchor = "#" + label
		}
		s.begin(i, i, i, level, latexText(text), anchor)
		found = true
	}
	s.close(ls.len(), 0)
	return s.o, found
}

// braced returns the text within the braces that s begins with, and the text
// behind them. Braces that do not end reach to the end of s.
func braced(s string) (in, after string) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return s[1:i], s[i+1:]
			}
		}
	}
	return s[1:], ""
}

// latexText returns a title without commands and braces.
func latexText(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '{', '}':
		case '~':
			b.WriteByte(' ')
		case '\\':
			n := i + 1
			for n < len(s) && s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z' {
				n++
			}
			if n == i+1 && n < len(s) {
				b.WriteByte(s[n])
				n++
			}
			i = n - 1
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimSpace(b.String())
}
