package secret

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed words.txt
var wordsText string

// lists are those of words.txt, by name.
var lists = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	name := ""
	for line := range strings.Lines(wordsText) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "["); ok {
			name = strings.TrimSuffix(rest, "]")
		} else if !strings.HasPrefix(line, "#") {
			out[name] = append(out[name], strings.Fields(line)...)
		}
	}
	return out
})

// set returns a list of words.txt as a set.
func set(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range lists()[list] {
		m[w] = true
	}
	return m
}

// containsAny reports whether s contains a word of a list of words.txt.
func containsAny(s, list string) bool {
	return slices.ContainsFunc(lists()[list], func(w string) bool { return strings.Contains(s, w) })
}

// word is one literal that a rule begins with, in lower case.
type word struct {
	text   string
	token  *token
	block  func(f *finder, start, end int)
	vendor bool // the name of a service: it must be a word of its own
}

// machine is an automaton after Aho and Corasick over bytes whose case is
// folded. Bytes of no word share one column.
type machine struct {
	column [256]uint8
	width  int
	next   []uint16  // by state and column
	out    [][]*word // by state
}

var automaton = sync.OnceValue(func() *machine { return build(allWords()) })

func build(words []*word) *machine {
	m := &machine{width: 1}
	for _, w := range words {
		for i := 0; i < len(w.text); i++ {
			if c := w.text[i]; m.column[c] == 0 {
				m.column[c] = uint8(m.width)
				if isLower(c) {
					m.column[c-'a'+'A'] = uint8(m.width)
				}
				m.width++
			}
		}
	}
	grow := func() uint16 {
		m.next = append(m.next, make([]uint16, m.width)...)
		m.out = append(m.out, nil)
		return uint16(len(m.out) - 1)
	}
	grow()
	for _, w := range words {
		s := uint16(0)
		for i := 0; i < len(w.text); i++ {
			at := int(s)*m.width + int(m.column[w.text[i]])
			if m.next[at] == 0 {
				n := grow()
				m.next[at] = n
			}
			s = m.next[at]
		}
		m.out[s] = append(m.out[s], w)
	}
	// Breadth first: the state of the longest proper suffix is complete before its use.
	fail := make([]uint16, len(m.out))
	var queue []uint16
	for c := range m.width {
		if n := m.next[c]; n != 0 {
			queue = append(queue, n)
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		m.out[s] = append(m.out[s], m.out[fail[s]]...)
		for c := range m.width {
			at, back := int(s)*m.width+c, m.next[int(fail[s])*m.width+c]
			if n := m.next[at]; n != 0 {
				fail[n] = back
				queue = append(queue, n)
			} else {
				m.next[at] = back
			}
		}
	}
	return m
}

// each calls f for every word in text, in the order of their ends.
func (m *machine) each(text string, f func(w *word, end int)) {
	s := uint16(0)
	for i := 0; i < len(text); i++ {
		s = m.next[int(s)*m.width+int(m.column[text[i]])]
		for _, w := range m.out[s] {
			f(w, i+1)
		}
	}
}
