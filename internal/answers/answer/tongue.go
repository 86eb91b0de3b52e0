package answer

import (
	"path"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// A tongue is a language that people write, by its code; "" is one that is
// neither known for English nor for Spanish.
const (
	inEnglish = "en"
	inSpanish = "es"
)

// tongueRE is a language in a path: docs/es/page.md, page.pt-br.md.
var tongueRE = lazyregexp.New(`(?i)(?:^|[/._])(ar|az|bn|cs|de|en|es|fa|fr|he|hi|hu|id|it|ja|ko|nl|pl|pt|ro|ru|tr|uk|ur|vi|yo|zh)(?:[-_](?:[a-z]{2}|hans|hant))?(?:[/.]|$)`)

// tongue is the language that a passage is written in: what its path says, or
// else most of its small words.
func tongue(p *kb.Passage) string {
	for m := range strings.SplitSeq(p.Path, "/") {
		if f := tongueRE.FindStringSubmatch(strings.TrimSuffix(m, path.Ext(m)) + "/"); f != nil && (len(m) == len(f[1]) || strings.ContainsAny(m, ".-_")) {
			return strings.ToLower(f[1])
		}
	}
	en, es, others := 0, 0, 0
	for _, w := range words(kb.Clip(p.Text, 2000)) {
		switch f := fold(w); {
		case englishWords[f]:
			en++
		case spanishWords[f]:
			es++
		case w[0] >= 0xD0: // neither Latin nor Greek
			others++
		}
	}
	switch {
	case others > en+es+5:
		return ""
	case es > 2*en && es > 4:
		return inSpanish
	}
	return inEnglish
}

var englishWords = kb.WordsOf("the of and to is are in for with that this it you be or by on as if can when from")

// oneTongue leaves the passages that somebody who asks in one language is
// answered from: those in that language first, of pages that are there in
// several only one, and none in a third language while there is another.
func (q *question) oneTongue(list []search.Passage) []search.Passage {
	want := inEnglish
	if q.spanish {
		want = inSpanish
	}
	in := make([]string, len(list))
	twins := map[string]bool{} // pages that are there in the language asked
	known := false
	for i := range list {
		in[i] = tongue(&list[i].Passage)
		if in[i] == want {
			twins[pageOf(list[i].Path)] = true
		}
		known = known || in[i] == want || in[i] == inEnglish
	}
	if !known {
		return list
	}
	var out []search.Passage
	for i := range list {
		switch p := &list[i]; {
		case in[i] == want:
			if q.spanish {
				p.Score = min(1, p.Score*nativeLift)
			}
			out = append(out, *p)
		case in[i] == inEnglish && !twins[pageOf(p.Path)]:
			out = append(out, *p)
		}
	}
	return out
}

// nativeLift is what a passage in Spanish counts more for a question in Spanish.
const nativeLift = 1.3

// pageOf is a path without its language.
func pageOf(p string) string {
	return tongueRE.ReplaceAllString(p, "/")
}

// foreign reports whether all that was chosen is in another language than the
// question.
func (q *question) foreign(c choice, list []search.Passage) bool {
	for _, s := range c.all {
		if tongue(&list[s.passage].Passage) == inSpanish {
			return false
		}
	}
	return len(c.all) > 0
}
