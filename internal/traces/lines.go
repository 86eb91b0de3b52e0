package traces

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

var (
	wordRE  = lazyregexp.New(`[\pL_$][\pL\pN_$]*`)
	quoted  = lazyregexp.New("\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'|`[^`]*`")
	comment = lazyregexp.New(`(?:^|\s)(?://|#\s|--\s).*$`)
	// assigned is what stands before the sign that gives it a value.
	assigned = lazyregexp.New(`^\s*(?:(?:let|const|var|val|mut|final|auto|for|if|else if|elif|with|switch|while|case|\w[\w<>\[\],.?*&]*)\s*\(?\s+)?([\pL_$@*(\[{][^=!<>]*?)\s*(?::=|(?:[-+*/%|&^]|\|\||\?\?|<<|>>)?=)(?:[^=>]|$)`)
	looped   = lazyregexp.New(`\bfor\b\s*\(?(?:let |const |var |auto )?\s*(.+?)\s+(?:in|of)\b|\bas\s+([\pL_]\w*)\s*:?\s*$|\bforeach\b.*\bas\b(.*)\)`)
	raises   = lazyregexp.New(`^\s*(?:raise|throw)\b|\bpanic!?\(|\bthrow new\b|\bunwrap\(|\.expect\(|\bassert\b`)
	returned = lazyregexp.New(`^\s*(?:return|yield)\b|=>|^\s*\w+ if\b`)
)

// keywords are words that name nothing.
var keywords = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(`if else elif for while in of is not and or return def func fn function class struct type let const var val
		mut pub use import from as with try except catch finally raise throw throws new delete switch case default break continue pass yield
		await async lambda this self super cls null nil None true false True False undefined void int string bool float str list dict any
		public private protected static final abstract interface extends implements package range map chan go defer select end do then
		begin rescue ensure unless until when match impl where move ref dyn echo print assert typeof instanceof err ok error Error len`) {
		out[w] = true
	}
	return out
}()

// unquoted is a line without what stands in quotes and comments.
func unquoted(line string) string {
	if len(line) > 1000 {
		line = line[:1000]
	}
	line = quoted.Regexp().ReplaceAllString(line, `""`)
	return comment.Regexp().ReplaceAllString(line, "")
}

// wordsOf returns the names in a text, each once.
func wordsOf(text string) []string {
	out := []string{}
	for _, w := range wordRE.Regexp().FindAllString(text, -1) {
		if !keywords[w] && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// gives returns the names that a line gives values to.
func gives(line string) []string {
	line = unquoted(line)
	if m := assigned.FindStringSubmatch(line); m != nil {
		return wordsOf(m[1])
	}
	if m := looped.FindStringSubmatch(line); m != nil {
		return wordsOf(m[1] + " " + m[2] + " " + m[3])
	}
	return nil
}

func indent(line string) int {
	n := 0
	for _, c := range line {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 4
		default:
			return n
		}
	}
	return -1 // blank
}

// relevance says of each line of a declaration, the first being 0, how much it
// has to do with what happened at a line, in [0,1]: what the values there come
// from, and under which conditions it is reached. With at 0 it is about what the
// function returned.
func relevance(f *file, p *place, at int, t *Tuning) []float64 {
	n := max(0, min(p.end, len(f.lines))-p.start+1)
	rel := make([]float64, n)
	want := map[string]float64{}
	need := func(line int, weight float64) {
		if i := line - p.start; i >= 0 && i < n {
			rel[i] = max(rel[i], weight)
		}
		for _, w := range f.words(line) {
			want[w] = max(want[w], weight)
		}
	}
	last, any := at, false
	if at > 0 {
		for l, open := at, 0; l <= min(p.end, at+12); l++ {
			need(l, 1)
			last = l
			s := unquoted(f.line(l))
			if open += strings.Count(s, "(") + strings.Count(s, "[") - strings.Count(s, ")") - strings.Count(s, "]"); open <= 0 {
				break
			}
		}
	} else {
		last = p.end
		for l := p.start; l <= p.end; l++ {
			if returned.MatchString(f.line(l)) {
				any = true
				need(l, 1)
			}
		}
	}
	level := indent(f.line(min(last, at)))
	for l := min(last, len(f.lines)); l > p.line; l-- {
		s := f.line(l)
		for _, g := range gives(s) {
			if w := want[g]; w > 0 {
				need(l, w*t.Chain)
			}
		}
		in := indent(s)
		if at > 0 && l < at && in >= 0 && in < level {
			level = in
			need(l, t.Guard)
		}
	}
	for i := range rel {
		other := t.Before
		switch {
		case at == 0 && !any:
			other = t.Silent
		case at == 0:
			other = t.Other
		case p.start+i > last:
			other = t.After
		}
		rel[i] = max(rel[i], other)
	}
	return rel
}
