package search

import (
	"math/bits"
	"slices"
	"sort"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// ExcerptRunes is the longest excerpt of a line of prose.
const ExcerptRunes = 150

// marks of Markdown that say nothing when a line stands alone: of headings,
// quotes, list items and table rows at its start, of emphasis, code and links within.
var (
	leadMarks = lazyregexp.New(`^[\s>]*(?:#{1,6}\s+|[-*+]\s+(?:\[[ xX]\]\s+)?|\d{1,3}[.)]\s+)?`)
	wikiLink  = lazyregexp.New(`\[\[(?:[^\]|]*\|)?([^\]|]*)\]\]`)
	textLink  = lazyregexp.New(`!?\[([^\]]*)\]\([^)]*\)`)
	rule      = lazyregexp.New(`^[\s|:=*_~` + "`" + `-]*$`)
)

// Plain returns a line of Markdown without its marks.
func Plain(s string) string {
	s = s[len(leadMarks.FindString(s)):]
	s = wikiLink.ReplaceAllString(s, "$1")
	s = textLink.ReplaceAllString(s, "$1")
	s = strings.NewReplacer("**", "", "__", "", "`", "").Replace(s)
	if strings.HasPrefix(s, "|") {
		s = strings.ReplaceAll(strings.Trim(s, "| \t"), "|", "·")
	}
	return strings.Join(strings.Fields(s), " ")
}

// excerpt returns the line of prose that tells most, of those that lie in the
// parts where hits may lie, and what of it surrounds the query's words. What
// only names the section is taken when nothing below it tells more than its
// first line.
func (l *lines) excerpt(parts []kb.Part, path string) (line int, text string) {
	within := func(int) bool { return true }
	if i := sort.Search(len(parts), func(i int) bool { return parts[i].Path >= path }); i < len(parts) && parts[i].Path == path && parts[i].Lines != nil {
		within = func(n int) bool {
			return slices.ContainsFunc(parts[i].Lines, func(r [2]int) bool { return r[0] <= n && n <= r[1] })
		}
	}
	l.scan()
	best, at := -1.0, -1
	kinds := markdown.Kinds(strings.Join(l.text, "\n"))
	for i, s := range l.text {
		if !within(l.first+i) || rule.MatchString(s) {
			continue
		}
		score := l.weight(l.terms[i])
		switch {
		case kinds[i] == markdown.Front:
			score = l.tuning.FrontShare*score - l.tuning.FrontLoss
		case kinds[i] == markdown.Heading:
			score = l.tuning.HeadingShare*score - l.tuning.HeadingLoss // the reply has it as the section's name
		}
		if at < 0 || score > best+1e-9 {
			best, at = score, i
		}
	}
	if at < 0 {
		return l.first, ""
	}
	return l.first + at, l.around(Plain(l.text[at]))
}

// around cuts a line to ExcerptRunes, where most of the query's words stand.
func (l *lines) around(s string) string {
	r := []rune(s)
	if len(r) <= ExcerptRunes {
		return s
	}
	const n = ExcerptRunes - 2 // and an ellipsis at both ends
	// Words of the line, by rune, with the terms of each.
	type word struct {
		at, end int
		set     uint64
	}
	var words []word
	for i := 0; i < len(r); {
		for i < len(r) && r[i] == ' ' {
			i++
		}
		w := word{at: i}
		for i < len(r) && r[i] != ' ' {
			i++
		}
		if w.end = i; w.end > w.at {
			w.set = l.termsOf(string(r[w.at:w.end]))
			words = append(words, w)
		}
	}
	best, from := -1.0, 0
	for i := range words {
		// A window begins with a word, a little before those that tell.
		var set uint64
		for j := i; j < len(words) && words[j].end-words[i].at <= n; j++ {
			set |= words[j].set
		}
		if w := l.weight(set) + 0.001*float64(bits.OnesCount64(words[i].set)); w > best+1e-3 {
			best, from = w, i
		}
	}
	// Words that tell nothing may stand before it as long as those that do fit.
	last := from
	for j := from; j < len(words) && words[j].end-words[from].at <= n; j++ {
		if words[j].set != 0 {
			last = j
		}
	}
	for from > 0 && words[last].end-words[from-1].at <= n {
		from--
	}
	to := from
	for to+1 < len(words) && words[to+1].end-words[from].at <= n {
		to++
	}
	end := min(words[to].end, words[from].at+n)
	out := string(r[words[from].at:end])
	if from > 0 {
		out = "…" + out
	}
	if end < len(r) {
		out += "…"
	}
	return out
}

// termsOf returns the query terms in a word.
func (l *lines) termsOf(s string) uint64 {
	var set uint64
	var sc terms.Scanner
	sc.Scan(s, func(term []byte, _ bool) {
		if j, ok := l.asked.index[string(term)]; ok && l.asked.idf[j] > 0 {
			set |= 1 << j
		}
	})
	return set
}
