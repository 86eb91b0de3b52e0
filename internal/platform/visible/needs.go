package visible

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// A need is what a text must have for an expression to match it: one of
// the words in any, or, where there are none, all of of or any of them. The zero need is
// always met. Expressions are slow and nearly never match; their needs are read
// off them (Cox, "Regular Expression Matching with a Trigram Index", 2012) and
// cost one pass over the text for all of them together.
type need struct {
	any  []string
	bits []numbered // of their numbers
	all  bool
	of   []need
}

// met reports whether a text that holds the words of has meets the need.
func (n *need) met(has words) bool {
	for _, b := range n.bits {
		if has[b.at]&b.set != 0 {
			return true
		}
	}
	if len(n.bits) > 0 {
		return false
	}
	for i := range n.of {
		if n.of[i].met(has) != n.all {
			return !n.all
		}
	}
	return n.all || len(n.of) == 0
}

// numbered are words of a set whose numbers begin at 64 times at.
type numbered struct {
	at  int
	set uint64
}

// words is a set of words, by number.
type words []uint64

// A finder finds the words of needs in a text, all in one pass: it is the
// automaton of Aho and Corasick (1975) over the bytes that are in words.
type finder struct {
	numbers map[string]int
	class   [256]uint8 // of a byte; 0 for those in no word
	classes int
	next    []uint16   // of a state and a class; with endsHere where words end in it
	found   [][]uint16 // words that end in a state
	length  []uint8    // of a word, in bytes
}

// endsHere marks a state in which words end.
const endsHere = 1 << 15

// spelled bounds the strings that an expression is spelled out to, and wide
// those that two parts of one are joined to.
const (
	spelled = 200
	wide    = 100

	longestWord = 12 // bytes by which a longer one is known
)

// common are characters of nearly every text.
const common = "abcdefghijklmnopqrstuvwxyz0123456789_- \n\t."

// needFor returns what an expression needs.
func needFor(re *syntax.Regexp) need {
	exact, n := needOf(re)
	if exact != nil {
		return oneOf(exact)
	}
	return n
}

// needOf returns the strings that an expression matches, where they are few;
// where they are not, nil and what it needs.
func needOf(re *syntax.Regexp) (exact []string, n need) {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		exact = []string{""}
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			return nil, need{}
		}
		exact = []string{string(re.Rune)}
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i+1]-re.Rune[i] > 4 || len(exact) > 8 {
				return nil, need{}
			}
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				exact = append(exact, string(r))
			}
		}
	case syntax.OpCapture:
		return needOf(re.Sub[0])
	case syntax.OpQuest:
		if exact, _ = needOf(re.Sub[0]); exact == nil {
			return nil, need{}
		}
		exact = append(slices.Clone(exact), "")
	case syntax.OpPlus:
		return nil, needFor(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			n = needFor(re.Sub[0])
		}
		return nil, n
	case syntax.OpConcat:
		return needOfAll([]string{""}, re.Sub)
	case syntax.OpAlternate:
		few, others := spell(re)
		if len(others) == 0 {
			exact = few
			break
		}
		if len(few) > 0 {
			n.of = append(n.of, oneOf(few))
		}
		n.of = append(n.of, others...)
		if slices.ContainsFunc(n.of, need.free) {
			return nil, need{}
		}
		return nil, n
	default:
		return nil, need{}
	}
	return exact, need{}
}

// spell returns the strings to which branches of an alternation are spelled
// out, and what the other branches need.
func spell(re *syntax.Regexp) (few []string, others []need) {
	for _, sub := range re.Sub {
		switch e, m := needOf(sub); {
		case e != nil && len(few)+len(e) <= spelled:
			few = append(few, e...)
		case e != nil:
			others = append(others, oneOf(e))
		default:
			others = append(others, m)
		}
	}
	return few, others
}

// needOfAll is needOf for one of the strings in before, and subs one after the
// other behind it.
func needOfAll(before []string, subs []*syntax.Regexp) (exact []string, n need) {
	if len(subs) == 0 {
		return before, need{}
	}
	after := func(before []string) need {
		exact, n := needOfAll(before, subs[1:])
		if exact != nil {
			return oneOf(exact)
		}
		return n
	}
	both := func(a, b need) need {
		switch {
		case a.free():
			return b
		case b.free():
			return a
		}
		return need{all: true, of: []need{a, b}}
	}
	if re := subs[0]; re.Op == syntax.OpAlternate {
		if few, others := spell(re); len(few) > 0 && len(others) > 0 {
			// The rest follows the one or the other.
			one, other := after(ends(few)), need{of: others}
			if slices.ContainsFunc(others, need.free) {
				other = need{}
			}
			other = both(other, after([]string{""}))
			n = need{of: []need{one, other}}
			if one.free() || other.free() {
				n = need{}
			}
			return nil, both(oneOf(before), n)
		}
	}
	e, m := needOf(subs[0])
	switch {
	case e == nil:
		return nil, both(both(oneOf(before), m), after([]string{""}))
	case len(before)*len(e) <= wide || slices.Equal(e, []string{""}) || slices.Equal(before, []string{""}):
		return needOfAll(join(before, e), subs[1:])
	}
	// Too many: those before with what each begins with, and those behind.
	return nil, both(oneOf(join(ends(before), begins(e))), after(e))
}

// join returns every string of a with every one of b behind it.
func join(a, b []string) (out []string) {
	for _, s := range a {
		for _, t := range b {
			out = append(out, s+t)
		}
	}
	return out
}

// begins returns the first bytes of some strings, each once.
func begins(all []string) (out []string) {
	for _, s := range all {
		if s = s[:min(1, len(s))]; !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// ends returns those of some strings that end in no other one of them.
func ends(all []string) (out []string) {
	for _, s := range all {
		if !slices.ContainsFunc(all, func(t string) bool { return t != s && strings.HasSuffix(s, t) }) {
			out = append(out, s)
		}
	}
	return out
}

// free reports whether the need is always met.
func (n need) free() bool { return len(n.any) == 0 && len(n.of) == 0 }

// oneOf returns the need of one of some strings; none where one of them is
// in nearly every text.
func oneOf(exact []string) (n need) {
	exact = slices.Clone(exact)
	for i, s := range exact {
		exact[i] = s[:min(longestWord, len(s))]
	}
	for i, s := range exact {
		if s == "" || len(s) == 1 && strings.Contains(common, s) {
			return need{}
		}
		if slices.ContainsFunc(exact[:i], func(t string) bool { return t == s }) ||
			slices.ContainsFunc(exact, func(t string) bool { return t != s && strings.Contains(s, t) }) {
			continue // the shorter one says as much
		}
		n.any = append(n.any, s)
	}
	return n
}

// number gives the words of a need their numbers.
func (f *finder) number(n *need) {
	for _, s := range n.any {
		w, ok := f.numbers[s]
		if !ok {
			w = len(f.numbers)
			f.numbers[s] = w
		}
		i := slices.IndexFunc(n.bits, func(b numbered) bool { return b.at == w/64 })
		if i < 0 {
			i = len(n.bits)
			n.bits = append(n.bits, numbered{at: w / 64})
		}
		n.bits[i].set |= 1 << (w % 64)
	}
	for i := range n.of {
		f.number(&n.of[i])
	}
}

// build makes the automaton, once all needs are known.
func (f *finder) build() {
	f.classes = 1
	for s := range f.numbers {
		for i := range len(s) {
			if f.class[s[i]] == 0 {
				f.class[s[i]] = uint8(f.classes)
				f.classes++
			}
		}
	}
	size := 1
	for s := range f.numbers {
		size += len(s)
	}
	f.next = make([]uint16, 0, size*f.classes)
	f.length = make([]uint8, len(f.numbers))
	state := func() uint16 {
		f.next = f.next[:len(f.next)+f.classes]
		f.found = append(f.found, nil)
		return uint16(len(f.found) - 1)
	}
	state()
	for s, w := range f.numbers {
		at := uint16(0)
		for i := range len(s) {
			to := int(at)*f.classes + int(f.class[s[i]])
			if f.next[to] == 0 {
				n := state()
				f.next[to] = n
			}
			at = f.next[to]
		}
		f.found[at] = append(f.found[at], uint16(w))
		f.length[w] = uint8(len(s))
	}
	fall := make([]uint16, len(f.found))
	queue := []uint16{0}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		f.found[at] = append(f.found[at], f.found[fall[at]]...)
		for c := range f.classes {
			to, other := &f.next[int(at)*f.classes+c], uint16(0)
			if at != 0 {
				other = f.next[int(fall[at])*f.classes+c]
			}
			if *to == 0 {
				*to = other
				continue
			}
			fall[*to] = other
			queue = append(queue, *to)
		}
	}
	f.next = slices.Clone(f.next) // the words share states: much of it is not needed
	for i, to := range f.next {
		if len(f.found[to]) > 0 {
			f.next[i] = to | endsHere
		}
	}
}

// A hit is a word in a text, with its bytes.
type hit struct {
	from, to int32
	word     uint16
}

// in appends the words in text to hits, in the order in which they end.
func (f *finder) in(text string, hits []hit) []hit {
	at := uint16(0)
	for i := 0; i < len(text); i++ {
		to := f.next[int(at&^endsHere)*f.classes+int(f.class[text[i]])]
		if at = to; at&endsHere == 0 {
			continue
		}
		for _, w := range f.found[at&^endsHere] {
			hits = append(hits, hit{int32(i + 1 - int(f.length[w])), int32(i + 1), w})
		}
	}
	return hits
}

// add adds the words in a part of a text; hits are those that end there or
// later.
func (has words) add(hits []hit, part span) {
	for _, h := range hits {
		if int(h.to) > part.to {
			return
		}
		if int(h.from) >= part.from {
			has[h.word/64] |= 1 << (h.word % 64)
		}
	}
}
