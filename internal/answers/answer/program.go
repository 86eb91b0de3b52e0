package answer

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// marks begin the comment lines of the languages there are.
var marks = []string{"///", "//!", "//", "##", "#", "--", ";;", "%%", "/**", "/*", "*/", "*"}

// code reads the comments of code as prose and its declarations as lines.
func (s *splitter) code(lines []string, p *kb.Passage) {
	declared := map[int]bool{}
	for i := range p.Chunk.Symbols {
		declared[p.Chunk.Symbols[i].Line] = true
	}
	python := p.Language == "python" || p.Language == "elixir"
	doc, block := false, false
	whole := p.Chunk.Kind != "type" && p.Chunk.Kind != "class" && p.Chunk.Kind != "interface" && p.Chunk.Kind != "struct"
	for _, l := range lines {
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
			s.item(text)
		case comment && strings.HasPrefix(strings.TrimSpace(text), "# "):
			s.flush()
			s.heading(strings.TrimPrefix(strings.TrimSpace(text), "# "), s.line)
		case comment:
			s.leave(strings.TrimPrefix(text, " "))
			s.take(text)
		case trimmed == "":
			s.flush()
		default:
			s.flush()
			s.list = 0
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
