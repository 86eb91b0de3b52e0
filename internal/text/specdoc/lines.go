package specdoc

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// Below returns the lines below one of front matter or of a heading, without
// headings; nil where the line is neither. Lines are counted from 1.
func Below(language, body string, line int) []string {
	if !isMarkdown(language) {
		p := formats[language](body)
		var out []string
		for i := min(line-1, len(p.lines)); i < len(p.lines); i++ {
			if p.class[i] == markdown.Text {
				out = append(out, p.lines[i])
			}
		}
		return out
	}
	kinds := markdown.Kinds(body)
	front := slices.Index(kinds, markdown.Front) // with the heading that may be above it
	for front >= 0 && front < len(kinds) && kinds[front] == markdown.Front {
		front++
	}
	if line > front && (line > len(kinds) || kinds[line-1] != markdown.Heading) {
		return nil
	}
	from := max(front, min(line, len(kinds)))
	var out []string
	for i, l := range strings.Split(body, "\n")[from:] {
		if kinds[from+i] != markdown.Heading {
			out = append(out, l)
		}
	}
	return out
}

func isMarkdown(language string) bool {
	return language == "markdown" || language == "mdx" || formats[language] == nil
}

// Prose returns the lines of a text, those blank that are neither text nor a
// table nor HTML. Headings are blank, too.
func Prose(language, body string) []string {
	if !isMarkdown(language) {
		p := formats[language](body)
		for i, k := range p.class {
			if k != markdown.Text {
				p.lines[i] = ""
			}
		}
		return p.lines
	}
	lines := strings.Split(body, "\n")
	for i, k := range markdown.Kinds(body) {
		if k != markdown.Text && k != markdown.Table && k != markdown.HTML {
			lines[i] = ""
		}
	}
	return lines
}
