package chunk

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// splitMDX finds the sections of MDX: Markdown with lines of a module between
// the blocks (import, export), with JSX and with expressions in braces. Imports
// are a unit of their own, and so is what is exported; a tag or an expression
// over several lines is kept whole where possible and holds no headings.
func splitMDX(_ kb.Text, ls *lines) (outline, bool) {
	m := mdx{sections: newSections(ls)}
	markdown.ReadMDX(ls.body, m.script, m.markdown)
	m.close(ls.len(), 0)
	return m.o, true
}

type mdx struct {
	*sections
	fails int // JSX that seemed to have no end
}

// Bounds on how far a statement, tag or expression may reach, and on how many
// that seem to have no end are looked at.
const (
	scriptLines = 200
	scriptFails = 50
)

// script takes what begins on line i if that is no Markdown and returns the
// line behind it, else i.
func (m *mdx) script(i int) int {
	ind, s := markdown.Indent(m.ls.text(i))
	switch {
	case s == "":
	case s[0] == '{':
		return m.span(i, false)
	case s[0] == '<' && len(s) > 1 && (s[1]|0x20 >= 'a' && s[1]|0x20 <= 'z'):
		return m.span(i, true)
	case ind == 0 && (i == 0 || m.ls.blank(i-1) || m.o.class[i-1] == classDecorator):
		first, _ := word(s)
		switch {
		case first == "import" && (strings.Contains(s, " from ") || strings.ContainsAny(s, `"'{`)):
			return m.module(i, "imports", "")
		case first == "export":
			w := window{ls: m.ls, r: rulesOf["javascript"]}
			if f, ok := w.r.match(&w, i, 0, s); ok && f.name != "" {
				return m.module(i, f.kind, f.name)
			}
			return m.module(i, "const", "")
		}
	}
	return i
}

// module takes a statement of a module that begins on line i: it reaches to
// the line that closes all brackets, or at least to the end of the block.
func (m *mdx) module(i int, kind, name string) int {
	end, depth, closed := i, 0, false
	for j := i; j < m.ls.len() && j < i+scriptLines && !closed; j++ {
		s := m.ls.text(j)
		if len(s) > kb.MaxLineBytes {
			break
		}
		depth += brackets(s)
		end, closed = j, depth <= 0 && (kind != "imports" || strings.ContainsAny(s, `"'`))
	}
	if !closed {
		for end = i; end+1 < m.ls.len() && !m.ls.blank(end+1); end++ {
		}
	}
	for j := i; j <= end; j++ {
		m.o.class[j] = classDecorator // a statement of the module; a cut right below it parts nothing
		if j > i {
			m.o.class[j] = classInside
		}
	}
	m.o.class[end] = classDecorator
	u := unit{start: i, kind: kind, path: m.path()}
	if n := len(m.open); n > 0 {
		u.level = m.open[n-1].level
	}
	if name != "" {
		u.path = append(u.path, name)
		u.symbols = []symbol{{
			Symbol: kb.Symbol{Name: name, Kind: kind, Signature: fold(strings.TrimRight(m.ls.text(i), " {("), noteBytes), Start: i + 1, End: end + 1},
			line:   i,
		}}
	}
	last := &m.o.units[len(m.o.units)-1]
	if kind == "imports" && last.kind == "imports" {
		return m.after(end + 1)
	}
	if len(last.symbols) == 0 && (last.start >= i || m.nothing(last.start, i)) {
		m.o.units = m.o.units[:len(m.o.units)-1]
		u.start = min(last.start, i)
	}
	m.o.units = append(m.o.units, u)
	return m.after(end + 1)
}

// nothing reports whether lines [from,to) are blank.
func (m *mdx) nothing(from, to int) bool {
	for ; from < to; from++ {
		if !m.ls.blank(from) {
			return false
		}
	}
	return true
}

// after goes on behind a statement of the module at line i, with the current
// section unless another statement or a heading follows.
func (m *mdx) after(i int) int {
	j := i
	for j < m.ls.len() && m.ls.blank(j) {
		j++
	}
	if j < m.ls.len() {
		first, _ := word(m.ls.text(j))
		if first != "import" && first != "export" {
			m.resume(j)
		}
	}
	return i
}

// span takes a tag or an expression that begins on line i and goes on below.
func (m *mdx) span(i int, tag bool) int {
	if m.fails >= scriptFails {
		return i
	}
	depth := 0
	var quote byte
	for j := i; j < m.ls.len() && j < i+scriptLines; j++ {
		s := m.ls.text(j)
		if len(s) > kb.MaxLineBytes {
			break
		}
		for k := 0; k < len(s); k++ {
			c := s[k]
			switch {
			case quote != 0:
				if c == quote && s[max(k-1, 0)] != '\\' {
					quote = 0
				}
			case c == '`' && depth > 0, c == '"' && (depth > 0 || tag):
				quote = c
			case c == '{':
				depth++
			case c == '}':
				depth--
			}
			done := quote == 0 && depth <= 0 && (tag && c == '>' && (k == 0 || s[k-1] != '=') || !tag && c == '}')
			if !done {
				continue
			}
			for l := i + 1; l <= j; l++ {
				m.o.class[l] = classInside
			}
			if j == i {
				return i // Markdown may follow, or nothing; either way no heading begins with it
			}
			return j + 1
		}
	}
	m.fails++
	return i
}
