package answer

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// verbatim takes lines [from,to) of code as one.
func (s *splitter) verbatim(lines []string, from, to int) {
	first := s.line - from // number of lines[0], when s.line is that of lines[from]
	s.flush()
	least := 1 << 20
	var kept []string
	var at []int // the line of each
	start, end := -1, -1
	for i := from; i < to; i++ {
		l := strings.TrimRight(lines[i], " \t")
		t := strings.TrimLeft(l, " \t")
		if t == "" {
			continue
		}
		least = min(least, len(l)-len(t))
		kept, at, end = append(kept, l), append(at, first+i), i
		if start < 0 {
			start = i
		}
	}
	if len(kept) == 0 {
		return
	}
	for i := range kept {
		kept[i] = kept[i][least:]
	}
	if commands(kept) && len(kept) == end-start+1 { // each says something of its own
		for i, l := range kept {
			s.program(l, kept[i:i+1], first+start+i, first+start+i)
		}
	} else if parts := settings(kept); parts != nil {
		for i, from := range parts {
			to := len(kept)
			if i+1 < len(parts) {
				to = parts[i+1]
			}
			n := len(s.out)
			if s.program(strings.Join(kept[from:to], " "), kept[from:to], at[from], at[to-1]); len(s.out) > n {
				s.out[n].setting = remarkRE.MatchString(kept[from])
			}
		}
	} else {
		s.program(strings.Join(kept, " "), kept, first+start, first+end)
	}
	s.block++
}

// settings returns where the settings of a long listing begin, each with the remark
// that says what it is for; nil where it is no such listing.
func settings(lines []string) []int {
	if len(lines) <= mostCode {
		return nil
	}
	var parts []int
	remarks := 0
	for i, l := range lines {
		remark := remarkRE.MatchString(l)
		if remark {
			remarks++
		}
		if i == 0 || remark && !remarkRE.MatchString(lines[i-1]) {
			parts = append(parts, i)
		}
	}
	if len(parts) < leastSettings || float64(remarks) < remarkShare*float64(len(lines)) {
		return nil
	}
	return parts
}

// leastSettings is how many settings a listing of them has, and remarkShare how many
// of its lines say what they are for.
const (
	leastSettings = 4
	remarkShare   = 0.2
)

// remarkRE is a line of a listing that explains it.
var remarkRE = lazyregexp.New(`^\s*(?:#|//|;|--)\s*\pL`)

// program adds lines of code as one.
func (s *splitter) program(text string, lines []string, start, end int) {
	n := len(s.out)
	s.add(strings.Join(strings.Fields(text), " "), start, end, code)
	if len(s.out) > n {
		s.out[n].lines = lines
	}
}

// leastCommands is how many lines a list of commands has, and commandShare how many
// of them begin with the same program.
const (
	leastCommands = 3
	commandShare  = 0.6
)

// commands reports whether each line is a command of its own, most of them to one
// program.
func commands(lines []string) bool {
	if len(lines) < leastCommands {
		return false
	}
	n := map[string]int{}
	most := 0
	for _, l := range lines {
		m := commandRE.FindStringSubmatch(l)
		if m == nil || strings.ContainsAny(l[len(l)-1:], `\{(,;:|&`) {
			return false
		}
		n[m[1]]++
		most = max(most, n[m[1]])
	}
	return float64(most) >= commandShare*float64(len(lines))
}

var commandRE = lazyregexp.New(`^(?:\$ )?([a-z][a-z0-9._-]+) [^=({\[\s]`)

// shorten leaves the names of items, where each has one, of a list that has no room with
// what a page says of them: a list of all says more than some of it.
func shorten(page []scored, items []*scored) {
	var names []string
	for _, s := range items {
		m := itemNameRE.FindString(s.text)
		if m = strings.TrimRight(m, " -–—:=\t"); m == "" || s.form != prose || s.list == 0 {
			return
		}
		names = append(names, m)
	}
	for i, s := range items {
		s.text, s.length = names[i], len(strings.Fields(names[i]))
	}
	for i := range page { // what goes on from what is no longer said
		if len(items) > 0 && page[i].list == items[0].list && !page[i].opens {
			page[i].left = true
		}
	}
}

// itemNameRE is what an item is about, before it is said what that is.
var itemNameRE = lazyregexp.New("^(?:[*_]*`[^`]+`[*_]*(?:\\s*\\([^)]*\\))?\\s*(?:[-–—:=]|$)|\\*\\*[^*]{1,60}\\*\\*|[^.:;–—`]{1,60}?(?:\\s[-–—]|:)\\s)")
