package printer

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// Marker returns where a line has what was looked for: pairs of offsets, in order.
type Marker func(line string) [][]int

var words = lazyregexp.New(`[\p{L}\p{N}]+`)

// Words marks the words of a line that are found by those of a query: parse
// marks the Pars of ParseHeader, as an index does.
func Words(query []string) Marker {
	wanted := map[string]bool{}
	var literal []string // scripts without spaces
	for _, w := range query {
		for _, t := range terms.Of(w) {
			wanted[t] = true
		}
		if strings.ContainsFunc(w, func(r rune) bool { return r >= 0x2e80 }) {
			literal = append(literal, w)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	found := func(word string) bool {
		return slices.ContainsFunc(terms.Of(word), func(t string) bool { return wanted[t] })
	}
	return func(line string) (out [][]int) {
		for _, at := range words.FindAllStringIndex(line, -1) {
			word := line[at[0]:at[1]]
			if r, _ := utf8.DecodeRuneInString(word); r >= 0x2e80 {
				continue
			}
			parts := humps(word)
			if wanted[strings.ToLower(word)] {
				parts = []int{0, len(word)}
			}
			for i := range len(parts) - 1 {
				if from, to := parts[i], parts[i+1]; found(word[from:to]) {
					out = append(out, []int{at[0] + from, at[0] + to})
				}
			}
		}
		for _, w := range literal {
			for from := 0; ; {
				i := strings.Index(line[from:], w)
				if i < 0 {
					break
				}
				out = append(out, []int{from + i, from + i + len(w)})
				from += i + len(w)
			}
		}
		slices.SortFunc(out, func(a, b []int) int { return a[0] - b[0] })
		return out
	}
}

// humps returns where the parts of an identifier begin, and its end.
func humps(word string) []int {
	at := []int{0}
	runes := []rune(word)
	offset := 0
	for i, r := range runes {
		if i > 0 {
			up := unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
			if up || unicode.IsDigit(r) != unicode.IsDigit(runes[i-1]) {
				at = append(at, offset)
			}
		}
		offset += utf8.RuneLen(r)
	}
	return append(at, len(word))
}

// marked cuts a line into what matches and what does not. Nothing of p.Mark is
// believed: offsets that overlap or lie outside are passed over.
func (p *Printer) marked(line string, role Role) (out []Part) {
	if p.Mark == nil || !p.Color {
		return []Part{role.Text(line)}
	}
	from := 0
	for _, m := range p.Mark(line) {
		if m[0] < from || m[1] <= m[0] || m[1] > len(line) {
			continue
		}
		out = append(out, role.Text(line[from:m[0]]), Match.Text(line[m[0]:m[1]]))
		from = m[1]
	}
	return append(out, role.Text(line[from:]))
}
