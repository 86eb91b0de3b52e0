package visible

import (
	"html"
	"math/bits"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Orders is what is said of a text that speaks to an assistant in the place of
// its user.
const Orders = "untrusted: addresses an assistant"

// ToAssistant reports whether a sentence of text addresses the program that
// reads it as an assistant, and wants something done, said or hidden: what is
// known as an indirect prompt injection. It is a guess by the wording; the
// text is data either way. Two rules guess: signs made by hand, which are sure
// of the usual wordings, and words weighed by what published lists say and
// documentation does not.
func ToAssistant(text string) bool {
	plain, hides := uncover(text)
	return odds(plain, hides) > 0 || learned(reading(plain, hides)) > 0
}

// longest bounds the bytes of a text that are judged.
const longest = 32 << 10

// Odds returns the logarithm of the odds that text addresses an assistant:
// those of the two neighbouring sentences in which they are highest. What is
// hidden in tags, between letters or in reversed order is judged as it reads.
// Odds that cannot be even are not worked out to the end.
func Odds(text string) float64 { return odds(uncover(text)) }

func odds(plain string, hides bool) float64 {
	rule, none := rule(), weights[len(weights)-1]
	hits := rule.finder.in(plain, make([]hit, 0, len(plain)/4))
	has := make(words, len(rule.finder.numbers)/64+1)
	has.add(hits, span{0, len(plain)})
	somewhere, most := rule.near(rule.all, nil, has, hides)
	best := none
	if none+most <= 0 {
		return best
	}
	maybe := make([]int, 0, len(somewhere))
	for _, window := range sentences(plain) {
		for len(hits) > 0 && int(hits[0].to) <= window.from {
			hits = hits[1:]
		}
		clear(has)
		has.add(hits, window)
		if maybe, most = rule.near(somewhere, maybe[:0], has, hides); none+most > 0 {
			best = max(best, rule.weigh(plain[window.from:window.to], has, maybe, most, hides))
		}
	}
	return best
}

// near appends those of signs to maybe that may be in a text of which the words
// are known, and returns what those of them that speak for an injection weigh
// together.
func (r *signs) near(signs, maybe []int, has words, hides bool) ([]int, float64) {
	most := 0.0
	for _, i := range signs {
		if i == hiding && hides || r.signs[i].need.met(has) {
			maybe = append(maybe, i)
			most += max(weights[i], 0)
		}
	}
	return maybe, most
}

// weigh returns the odds of a window in which some signs may be, of which left
// is what those weigh together that speak for an injection.
func (r *signs) weigh(window string, has words, maybe []int, left float64, hides bool) float64 {
	odds := weights[len(weights)-1]
	var found uint64
	for _, i := range maybe {
		if odds+left <= 0 {
			return odds
		}
		left -= max(weights[i], 0)
		if i == hiding && hides || r.signs[i].in(window, has) {
			odds += weights[i]
			found |= 1 << i
		}
	}
	odds = weights[len(weights)-1]
	for ; found != 0; found &= found - 1 { // one order, one sum
		odds += weights[bits.TrailingZeros64(found)]
	}
	return odds
}

// uncover returns text in small letters as a model reads it: tags as letters,
// words without what splits them or stands for a letter, reversed stretches in
// order; hides is whether characters were hidden.
func uncover(text string) (plain string, hides bool) {
	text = kb.Cut(text, longest)
	if !ascii(text) {
		text, hides = unhide(text)
	}
	if strings.Contains(text, "&") {
		text = html.UnescapeString(text)
	}
	return respell(strings.ToLower(text)), hides
}

func unhide(text string) (plain string, hides bool) {
	var b, turned strings.Builder
	tags, splits := 0, 0
	prev, reversed := rune(0), false
	for _, r := range text {
		switch {
		case r >= 0xe0020 && r < 0xe007f:
			if tags == 0 {
				b.WriteByte('\n')
			}
			tags++
			b.WriteRune(r - 0xe0000)
		case r == 0x202e:
			reversed = true
		case r == 0x202c || r == '\n' && reversed:
			b.WriteString("\n" + backwards(turned.String()) + "\n")
			turned.Reset()
			reversed = false
		case r == 0x2066 || r == 0x2069:
			b.WriteByte('\n')
		case unicode.Is(unseen, r):
			if prev < 0x80 && unicode.IsLetter(prev) {
				splits++
			}
		case reversed:
			turned.WriteRune(r)
		default:
			b.WriteRune(r)
		}
		prev = r
	}
	if reversed {
		b.WriteString("\n" + backwards(turned.String()))
	}
	return b.String(), tags > 4 || splits > 2
}

// respell writes words whose letters are set apart, "i g n o r e", as words,
// and digits inside of words as the letters that they look like.
func respell(s string) string {
	if !oddlySpelt(s) {
		return s
	}
	b := []byte(s)
	letter := func(i int) bool { return i >= 0 && i < len(b) && b[i] >= 'a' && b[i] <= 'z' }
	for i, c := range b {
		if c < '0' || c > '5' || !letter(i+1) || i > 0 && !letter(i-1) && b[i-1] != ' ' {
			continue
		}
		if to := "oi_eas"[c-'0']; to != '_' && (letter(i+2) || letter(i-1)) {
			b[i] = to
		}
	}
	out := b[:0]
	for i := 0; i < len(b); i++ {
		n := 0 // single letters from here on
		for j := i; letter(j) && !letter(j+1) && !letter(j-1); j += 2 {
			n++
			if j+1 >= len(b) || b[j+1] != ' ' {
				break
			}
		}
		if n < 5 {
			out = append(out, b[i])
			continue
		}
		for range n {
			out = append(out, b[i])
			i += 2
		}
		i -= 2
	}
	return string(out)
}

// oddlySpelt reports whether there may be anything for respell to do: a digit
// before a letter, or five letters in a row that are set apart.
func oddlySpelt(s string) bool {
	letter := func(c byte) bool { return c >= 'a' && c <= 'z' }
	apart, last := 0, -3
	for i := 0; i+1 < len(s); i++ {
		switch c := s[i]; {
		case letter(s[i+1]):
			if c >= '0' && c <= '5' {
				return true
			}
		case letter(c) && (i == 0 || !letter(s[i-1])):
			if i != last+2 {
				apart = 0
			}
			if apart, last = apart+1, i; apart == 4 {
				return true
			}
		}
	}
	return false
}

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func backwards(s string) string {
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}

// widest bounds the bytes of a sentence: one that never ends is cut.
const widest = 400

// span is a part of a text, in bytes, half open.
type span struct{ from, to int }

// sentences returns every pair of neighbouring sentences of text, in order.
func sentences(text string) (out []span) {
	begin, before := 0, -1 // of this sentence, and of the one before it
	end := func(at int) {
		if strings.TrimSpace(text[begin:at]) != "" {
			if before >= 0 {
				if len(out) == 1 && out[0] == (span{0, begin}) {
					out = out[:0]
				}
				out = append(out, span{before, at})
			} else {
				out = append(out, span{begin, at})
			}
			before = begin
		}
		begin = at
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n',
			(c == '.' || c == '!' || c == '?') && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n'),
			i-begin >= widest && c < 0x80, i-begin >= 2*widest && c >= 0xc0:
			end(i + 1)
		}
	}
	end(len(text))
	return out
}

// A sign holds where one of the branches of its wording matches.
type sign struct {
	need     need
	branches []branch
}

// A branch is one of the expressions that a wording is taken apart into: small
// ones are matched faster, and most of them need not be tried.
type branch struct {
	need need
	re   func() *regexp.Regexp // compiled when it is first asked for
}

// in reports whether the sign holds in a text whose words are known.
func (s *sign) in(text string, has words) bool {
	return slices.ContainsFunc(s.branches, func(b branch) bool { return b.need.met(has) && b.re().MatchString(text) })
}

// signs are the signs with what finds their words in a text.
type signs struct {
	signs  []sign
	all    []int // their numbers, in the order in which they are tried
	finder finder
}

// rule returns the signs, which are made when they are first asked for.
var rule = sync.OnceValue(func() *signs {
	out := &signs{finder: finder{numbers: map[string]int{}}}
	lines := strings.NewReplacer("\n", "", "\t", "")
	names := branchesOf(lines.Replace(who[len("(?:") : len(who)-len(")")]))
	for i, w := range wordings {
		s := sign{need: need{all: true, of: []need{{any: strings.Split(w.near, "|")}, {}}}}
		for _, expr := range branchesOf(strings.NewReplacer("\n", "", "\t", "", "READS", lines.Replace(reads)).Replace(w.re)) {
			half := len(names)
			if strings.Contains(expr, "WHO") {
				half /= 2
			}
			for called := range slices.Chunk(names, half) {
				expr := strings.ReplaceAll(expr, "WHO", "(?:"+strings.Join(called, "|")+")")
				tree, err := syntax.Parse(expr, syntax.Perl)
				if err != nil {
					panic(err) // a mistake in wordings
				}
				b := branch{needFor(tree), sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
				out.finder.number(&b.need)
				s.branches = append(s.branches, b)
				s.need.of[1].of = append(s.need.of[1].of, b.need)
			}
		}
		out.finder.number(&s.need)
		out.signs = append(out.signs, s)
		if i != slowest {
			out.all = append(out.all, i)
		}
	}
	out.all = append(out.all, slowest)
	out.finder.build()
	return out
})

// branchesOf returns the branches of an expression that is an alternation.
func branchesOf(expr string) (out []string) {
	depth, class, begin := 0, false, 0
	for i := 0; i < len(expr); i++ {
		switch c := expr[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '|' && depth == 0:
			out, begin = append(out, expr[begin:i]), i+1
		}
	}
	return append(out, expr[begin:])
}
