package printer

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// more shows that something was cut off.
const more = "…"

// Width is how many columns a terminal needs for a text of one line.
func Width(text string) int { return displaywidth.String(text) }

// Cut returns a text in at most so many columns, with a sign where it was cut.
func Cut(text string, columns int) string {
	if Width(text) <= columns {
		return text
	}
	return displaywidth.TruncateString(text, max(columns, 1), more)
}

// cutFront is Cut for a path, whose end says most.
func cutFront(text string, columns int) string {
	over := Width(text) + 1 - columns
	if over <= 1 {
		return text
	}
	g := displaywidth.StringGraphemes(text)
	skipped := 0
	for n := 0; n < over && g.Next(); {
		n += g.Width()
		skipped += len(g.Value())
	}
	return more + text[skipped:]
}

// tabStop is how far tabs of code reach on a terminal: the eight of its own
// would leave little of a line.
const tabStop = 4

// expand puts spaces in the place of tabs.
func expand(line string) string {
	if !strings.Contains(line, "\t") {
		return line
	}
	var b strings.Builder
	at := 0
	for i, piece := range strings.Split(line, "\t") {
		if i > 0 {
			n := tabStop - at%tabStop
			b.WriteString(strings.Repeat(" ", n))
			at += n
		}
		b.WriteString(piece)
		at += Width(piece)
	}
	return b.String()
}

// pad fills a text up to so many columns.
func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-Width(text)))
}

// wrap breaks a text between words into lines of so many columns; a word that
// is longer is broken too, as a cell of a table has an edge.
func wrap(text string, columns int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		for {
			if line != "" && Width(line)+1+Width(word) > columns {
				lines = append(lines, line)
				line = ""
			}
			if line != "" {
				line += " " + word
				break
			}
			if Width(word) <= columns {
				line = word
				break
			}
			head := displaywidth.TruncateString(word, columns, "")
			if i := strings.LastIndexAny(head, "-_/.:,") + 1; i > len(head)/2 {
				head = head[:i] // between the parts of a name
			}
			if head == "" {
				head = word
			}
			lines = append(lines, head)
			word = word[len(head):]
			if word == "" {
				break
			}
		}
	}
	if line != "" || lines == nil {
		lines = append(lines, line)
	}
	return lines
}
