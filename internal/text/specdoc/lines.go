package specdoc

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// Below returns the lines below one of front matter or of a heading, without
// headings; nil where the line is neither. Lines are counted from 1.
func Below(body string, line int) []string {
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

// Prose returns the lines of a text, those blank that are neither text nor a
// table nor HTML.
func Prose(body string) []string {
	lines := strings.Split(body, "\n")
	for i, k := range markdown.Kinds(body) {
		if k != markdown.Text && k != markdown.Table && k != markdown.HTML {
			lines[i] = ""
		}
	}
	return lines
}
