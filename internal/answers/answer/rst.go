package answer

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

var (
	restDirective = lazyregexp.New(`^\s*\.\. ([\w:+-]+)::\s*(.*)$`)
	restAdorn     = lazyregexp.New("^[=\\-~^\"'`#*+:.<>_]{3,}\\s*$")
	restSimple    = lazyregexp.New(`^\s*=+(?:\s+=+)+\s*$`)
	restOption    = lazyregexp.New(`^\s+:[\w-]+:`)
	restRole      = lazyregexp.New("(?::[\\w+-]+)+:`[~!]?([^`<]*?)(?:\\s*<[^`>]*>)?`")
	restLiteral   = lazyregexp.New("``([^`]+)``")
	restLink      = lazyregexp.New("`([^`<]+?)\\s*<[^`>]*>`__?")
	restNamed     = lazyregexp.New("`([^`]+)`__?(\\W|$)")
)

// directives of reStructuredText by what is done with them.
var (
	restCode    = kb.WordsOf("code-block code sourcecode prompt console parsed-literal ipython doctest testcode")
	restSkipped = kb.WordsOf(`toctree contents image figure raw include index meta highlight module currentmodule automodule literalinclude
		only autoclass autofunction automethod autoattribute autoexception autodata default-role role sectnum graphviz digraph testsetup include-comment`)
	restNotes = kb.WordsOf(`note warning tip important caution seealso hint attention danger error admonition deprecated versionadded versionchanged
		versionremoved rubric topic sidebar container class-doc epigraph math centered hlist list-table csv-table table glossary tabs tab group-tab tab-item tab-set`)
)

// restored takes the marks of reStructuredText off a sentence but for code.
func restored(t string) string {
	t = restRole.ReplaceAllString(t, "`$1`")
	t = restLiteral.ReplaceAllString(t, "`$1`")
	t = restLink.ReplaceAllString(t, "$1")
	t = restNamed.ReplaceAllString(t, "$1$2")
	if strings.HasSuffix(t, "::") {
		t = t[:len(t)-1]
	}
	return t
}

// rst reads reStructuredText.
func (s *splitter) rst(lines []string) {
	s.restored = true
	first := s.line
	for i := 0; i < len(lines); {
		s.line = first + i
		i = s.restLine(lines, i)
	}
	s.line = first + len(lines)
}

// restLine reads what begins at a line and returns the line behind it.
func (s *splitter) restLine(lines []string, i int) int {
	l := lines[i]
	t := strings.TrimSpace(l)
	next := ""
	if i+1 < len(lines) {
		next = lines[i+1]
	}
	s.leave(l)
	switch {
	case t == "":
		s.flush()
	case strings.HasPrefix(t, ".."):
		return s.restDirective(lines, i)
	case restSimple.MatchString(l):
		s.flush()
		return s.restTable(lines, i)
	case len(s.lines) == 0 && restAdorn.MatchString(t) && i+2 < len(lines) && restAdorn.MatchString(strings.TrimSpace(lines[i+2])) && strings.TrimSpace(next) != "":
		s.heading(restored(next), s.line+1)
		return i + 3
	case restAdorn.MatchString(t):
		s.flush()
	case len(s.lines) == 0 && restAdorn.MatchString(strings.TrimSpace(next)) && 2*len(strings.TrimSpace(next)) > len(t):
		s.heading(restored(t), s.line)
		return i + 2
	case strings.HasPrefix(t, "+-") || strings.HasPrefix(t, "+="):
		s.flush()
	case strings.HasPrefix(t, "|") && strings.HasSuffix(t, "|") && strings.Count(t, "|") > 2:
		s.rowOf(t, strings.HasPrefix(strings.TrimSpace(next), "+="))
	case strings.HasPrefix(t, ">>>"):
		s.flush()
		to := i
		for to < len(lines) && strings.TrimSpace(lines[to]) != "" {
			to++
		}
		s.verbatim(lines, i, to)
		return to
	case itemRE.MatchString(l):
		s.item(l)
	case len(s.lines) == 0 && !strings.ContainsAny(t[len(t)-1:], ".:,;") && strings.TrimSpace(next) != "" && deeper(next, l) && !itemRE.MatchString(next):
		s.take(t + ":") // a term and what it means
	default:
		s.take(strings.TrimPrefix(l, "|"))
	}
	if strings.HasSuffix(t, "::") && !strings.HasPrefix(t, "..") {
		s.flush()
		from, to := below(lines, i)
		s.line += from - i
		s.verbatim(lines, from, to)
		return max(i+1, to)
	}
	return i + 1
}

// restDirective reads a directive, a target or a comment.
func (s *splitter) restDirective(lines []string, i int) int {
	s.flush()
	m := restDirective.FindStringSubmatch(lines[i])
	from, to := below(lines, i)
	switch {
	case m == nil:
		if strings.HasPrefix(strings.TrimSpace(lines[i]), "..") && !strings.HasPrefix(strings.TrimSpace(lines[i]), ".. _") {
			return max(i+1, to)
		}
		return i + 1
	case restSkipped[m[1]]:
		return max(i+1, to)
	case restCode[m[1]]:
		for from < to && restOption.MatchString(lines[from]) {
			from++
		}
		s.line += from - i
		s.verbatim(lines, from, to)
		return max(i+1, to)
	case restNotes[m[1]]:
		switch m[1] {
		case "versionadded":
			m[2] = "Added in version " + m[2]
		case "versionchanged":
			m[2] = "Changed in version " + m[2]
		case "deprecated":
			m[2] = "Deprecated since version " + m[2]
		}
		if strings.HasPrefix(m[1], "version") || m[1] == "deprecated" {
			m[2] += ":"
		}
		if m[2] != "" {
			s.take(m[2])
		}
	default: // something that is described
		s.heading(strings.Trim(m[2], "`"), s.line)
	}
	i++
	for i < len(lines) && restOption.MatchString(lines[i]) {
		i++
	}
	return i
}

// deeper reports whether a line is indented more than another.
func deeper(l, than string) bool {
	a, _ := markdown.Indent(l)
	b, _ := markdown.Indent(than)
	return a > b
}

// below returns the lines that are indented more than line i and follow it.
func below(lines []string, i int) (from, to int) {
	from = i + 1
	for from < len(lines) && strings.TrimSpace(lines[from]) == "" {
		from++
	}
	to = from
	for j := from; j < len(lines); j++ {
		if strings.TrimSpace(lines[j]) == "" {
			continue
		}
		if !deeper(lines[j], lines[i]) {
			break
		}
		to = j + 1
	}
	return from, to
}

// restTable reads a simple table, whose columns stand below their rules.
func (s *splitter) restTable(lines []string, i int) int {
	rule := lines[i]
	var starts []int
	for j := range rule {
		if rule[j] == '=' && (j == 0 || rule[j-1] != '=') {
			starts = append(starts, j)
		}
	}
	first := s.line - i
	cut := func(l string) []string {
		out := make([]string, len(starts))
		for k, a := range starts {
			b := len(l)
			if k+1 < len(starts) {
				b = min(b, starts[k+1])
			}
			if a < b {
				out[k] = strings.TrimSpace(l[a:b])
			}
		}
		return out
	}
	rules := 0
	for j := i + 1; j < len(lines); j++ {
		s.line = first + j
		switch l := lines[j]; {
		case restSimple.MatchString(l):
			if rules++; rules == 2 || j+1 >= len(lines) || strings.TrimSpace(lines[j+1]) == "" {
				return j + 1
			}
			if n := len(s.out); n > 0 && s.out[n-1].form == row && s.out[n-1].start == s.line-1 { // that was the head
				s.head, s.headLine = cells(s.out[n-1].text), s.line-1
				s.out = s.out[:n-1]
			}
		case strings.TrimSpace(l) != "":
			s.add("| "+strings.Join(cut(l), " | ")+" |", s.line, s.line, row)
		}
	}
	return len(lines)
}
