package rank

import (
	"strings"
	"unicode/utf8"
)

// A message is printed from a template, whose places for values break the run
// of its words: "node id %r is duplicated". A chain is a run that goes on
// behind such a place, over at most MostValue words of the query.
type chain struct {
	at, before     int // a word of the query, and the chain up to the one before; -1 without one
	words, telling int
	run            int  // words at its end without a place for a value between them
	whole          bool // it has every word since its string began
}

// Between the words of strings.
const (
	hole = "\x00" // a place for a value
	end  = "\x01" // the end of a string
	seam = "\x02" // the end of a string that another follows, to which it may be joined
)

// templates marks the words of the query that strings say, with the values
// between them: chains with LeastRun words in a row of which two tell, and those
// that are a whole string, of two words only with places for values.
func (l *Literal) templates(tokens []string, has []said) {
	var all []chain
	var last, open []int // chains that end at the token before, and before a place for a value
	begins, holes := true, false
	least := l.q.tuning.LeastRun
	for _, w := range tokens {
		if w == hole || w == end || w == seam {
			open, last = append(open, last...), nil
			if w == hole {
				holes = true
				continue
			}
			for _, k := range open {
				c := &all[k]
				if c.whole && (c.words >= least && c.telling > 0 || holes && c.words > 1 && c.telling == c.words) {
					l.mark(all, k, has)
				}
			}
			if w == end {
				open, holes = nil, false
			}
			begins = true
			continue
		}
		var now []int
		for _, i := range l.at[w] {
			c := chain{at: i, before: -1, whole: begins}
			for _, k := range last {
				if all[k].at == i-1 {
					c.before, c.run = k, all[k].run
				}
			}
			for _, k := range open {
				if j := all[k].at; j < i && i-j <= l.q.tuning.MostValue+1 && (c.before < 0 || all[k].words > all[c.before].words) {
					c.before, c.run = k, 0
				}
			}
			if c.before >= 0 {
				b := &all[c.before]
				c.words, c.telling, c.whole = b.words, b.telling, b.whole
			}
			c.words, c.run = c.words+1, c.run+1
			if l.tells[i] {
				c.telling++
			}
			now = append(now, len(all))
			if all = append(all, c); c.run >= least && c.telling > 1 {
				l.mark(all, len(all)-1, has)
			}
		}
		last, open, begins = now, nil, false
	}
}

// mark marks the words of a chain, and the values between them.
func (l *Literal) mark(all []chain, k int, has []said) {
	for {
		c := &all[k]
		has[c.at] = itself
		if k = c.before; k < 0 {
			return
		}
		for i := all[k].at + 1; i < c.at; i++ {
			has[i] = max(has[i], value)
		}
	}
}

// programStrings are the words of the strings in a program, in lower case, as
// most languages write them on one line.
func programStrings(text string) (tokens []string) {
	far := 0 // lines since the last string
	for line := range strings.Lines(text) {
		far++
		for i := 0; i < len(line); i++ {
			q := line[i]
			if q != '"' && q != '\'' && q != '`' || q == '\'' && i > 1 && wordByte(line[i-1]) && wordByte(line[i-2]) {
				continue
			}
			to := i + 1
			for to < len(line) && line[to] != q {
				if line[to] == '\\' {
					to++
				}
				to++
			}
			if to < len(line) {
				if n := len(tokens); n > 0 && far < 2 {
					tokens[n-1] = seam
				}
				tokens = append(templateWords(tokens, line[i+1:to]), end)
				i, far = to, 0
			}
		}
	}
	return tokens
}

// templateWords adds the words of a string and its places for values.
func templateWords(tokens []string, s string) []string {
	for i := 0; i < len(s); {
		if n := placeholder(s[i:]); n > 0 {
			tokens = append(tokens, hole)
			i += n
			continue
		}
		if s[i] == '\\' { // \n, \"
			i += 2
			continue
		}
		from := i
		for i < len(s) {
			c, n := utf8.DecodeRuneInString(s[i:])
			if !word(c) {
				break
			}
			i += n
		}
		if i > from {
			tokens = append(tokens, strings.ToLower(s[from:i]))
			continue
		}
		i++
	}
	return tokens
}

// placeholder is how many bytes the place for a value has that a string begins
// with: %s and %(name)5.2f, {name}, ${name}, #{name} and $name, \(name).
func placeholder(s string) int {
	i := 1
	switch s[0] {
	case '%':
		if strings.HasPrefix(s, "%(") {
			i = strings.IndexByte(s, ')') + 1
		}
		for i > 0 && i < len(s) && strings.IndexByte("-+#0123456789.*", s[i]) >= 0 {
			i++
		}
		for i > 0 && i+1 < len(s) && strings.IndexByte("hlz", s[i]) >= 0 && wordByte(s[i+1]) {
			i++
		}
		if i > 0 && i < len(s) && wordByte(s[i]) {
			return i + 1
		}
		return 0
	case '$', '#', '\\', '{':
		opens := strings.IndexAny(s[:min(2, len(s))], "{(")
		if opens >= 0 && (s[opens] == '(') == (s[0] == '\\') {
			depth := 0
			for i = opens; i < len(s); i++ {
				switch s[i] {
				case '{', '(':
					depth++
				case '}', ')':
					if depth--; depth == 0 {
						return i + 1
					}
				}
			}
			return 0
		}
		for s[0] == '$' && i < len(s) && wordByte(s[i]) {
			i++
		}
		if i > 1 {
			return i
		}
	}
	return 0
}

func wordByte(c byte) bool { return word(rune(c)) || c >= 0x80 }
