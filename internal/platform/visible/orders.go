package visible

import (
	"html"
	"regexp"
	"regexp/syntax"
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
	rule := rule()
	none := weights[len(weights)-1]
	best := none
	has := make(words, len(rule.finder.numbers)/64+1)
	// near returns those of the signs that may be in a text, and what those of
	// them that speak for an injection weigh together.
	near := func(signs, maybe []int, text string) ([]int, float64) {
		most := 0.0
		rule.finder.in(text, has)
		for _, i := range signs {
			if i == hiding && hides || rule.signs[i].need.met(has) {
				maybe = append(maybe, i)
				most += max(weights[i], 0)
			}
		}
		return maybe, most
	}
	somewhere, most := near(rule.all, nil, plain)
	if none+most <= 0 {
		return none
	}
	maybe := make([]int, 0, len(somewhere))
	for _, window := range sentences(plain) {
		odds, left := none, 0.0
		maybe, left = near(somewhere, maybe[:0], window)
		for _, i := range maybe {
			if odds+left <= 0 {
				break
			}
			left -= max(weights[i], 0)
			if i == hiding && hides || rule.signs[i].re().MatchString(window) {
				odds += weights[i]
			}
		}
		best = max(best, odds)
	}
	return best
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
		n := 0 // letters that stand alone from here on
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

// sentences returns every pair of neighbouring sentences of text.
func sentences(text string) (out []string) {
	begin, before := 0, -1 // of this sentence, and of the one before it
	end := func(at int) {
		if strings.TrimSpace(text[begin:at]) != "" {
			if before >= 0 {
				if len(out) == 1 && before == 0 && out[0] == text[:begin] {
					out = out[:0]
				}
				out = append(out, text[before:at])
			} else {
				out = append(out, text[begin:at])
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

type sign struct {
	need need
	re   func() *regexp.Regexp // compiled when it is first asked for
}

// signs are the signs with what finds their words in a text.
type signs struct {
	signs  []sign
	all    []int // their numbers
	finder finder
}

// rule returns the signs, which are made when they are first asked for.
var rule = sync.OnceValue(func() *signs {
	out := &signs{finder: finder{numbers: map[string]int{}}}
	lines := strings.NewReplacer("\n", "", "\t", "")
	names := strings.NewReplacer("\n", "", "\t", "", "WHO", lines.Replace(who), "READS", lines.Replace(reads))
	for i, w := range wordings {
		expr := names.Replace(w.re)
		tree, err := syntax.Parse(expr, syntax.Perl)
		if err != nil {
			panic(err) // a mistake in wordings
		}
		all := need{all: true, of: []need{{any: strings.Split(w.near, "|")}, needFor(tree)}}
		out.finder.number(&all)
		out.signs = append(out.signs, sign{all, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })})
		out.all = append(out.all, i)
	}
	out.finder.build()
	return out
})
