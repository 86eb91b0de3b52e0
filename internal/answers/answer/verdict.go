package answer

import (
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

var (
	// deniesRE denies what a sentence is about, as far as its main clause goes.
	deniesRE = lazyregexp.New(`(?i)\b(?:is|are|was|were|does|do|did|can|could|will|would|should|must|has|have)(?: (?:currently|yet|generally|still|also|only|by default))?(?:n't| [*_]{0,2}not|not)(?:\b|[*_])|\b(?:cannot|can't|won't|doesn't|isn't|aren't|don't|never|no longer|unsupported|impossible|unable to|has no effect|have no effect|is ignored|are ignored)\b|\b(?:there (?:is|are) no)\b|\b(?:no (?:se puede|es|est[aá]|hay|funciona|admite|soporta|debe)|nunca|ya no)\b`)
	// conditionRE is a condition that a sentence begins with.
	conditionRE = lazyregexp.New(`(?i)^\W*(?:if|when|whenever|unless|until|while|since|as|once|because|although|si|cuando|mientras|aunque)\b[^,;:]*[,;:]`)
	// hedgesRE makes it depend on something.
	hedgesRE = lazyregexp.New(`(?i)\b(?:if|unless|except|only|when|while|but|however|although|though|may|might|some|by default|depends?|until|instead|si|salvo|excepto|solo|s[oó]lo|pero|cuando|algunos|por defecto|depende)\b`)
	// turnsRE is a question that asks for the contrary, so that yes and no say little.
	turnsRE = lazyregexp.New(`(?i)\b(?:not|n't|without|never|or|safe|ok|okay|sin|no|nunca|o|still|anyway|only|just|s[oó]lo)\b`)
)

// denies reports whether the main clause of a sentence denies something.
func denies(text string) bool { return deniesRE.MatchString(conditionRE.ReplaceAllString(text, "")) }

// What the best sentence must have of the question itself for a yes and a no.
const (
	ownForYes = 0.75
	ownForNo  = 0.5
)

// verdict is the "Yes." or "No." that a question is answered with before the
// sentence that says so; "" where that is not plain.
func (q *question) verdict(c choice) string {
	if q.cue != deciding || len(c.picks) == 0 || turnsRE.MatchString(q.text) {
		return ""
	}
	s := c.picks[0]
	if s.form != prose || len(c.all) == 0 || hedgesRE.MatchString(s.text) {
		return ""
	}
	switch no := denies(s.text); {
	case no && s.own >= ownForNo:
		return "No."
	case !no && s.own >= ownForYes && !turnsRE.MatchString(s.text):
		if q.spanish {
			return "Sí."
		}
		return "Yes."
	}
	return ""
}

// rival is a sentence of another document that says as much of the question as
// the first and something else: another number where one is asked for, or the
// contrary. Nil for none.
func (q *question) rival(c choice, passages []search.Passage) *scored {
	if len(c.picks) == 0 {
		return nil
	}
	first := c.picks[0]
	if first.form == code {
		return nil
	}
	for _, s := range c.best[:min(len(c.best), mostRivals)] {
		if passages[s.passage].Path == passages[first.passage].Path || isChangelog(passages[s.passage].Path) || s.form == code || s.score < rivalScore*first.score || s.own < 0.9*first.own || first.own < 0.4 {
			continue
		}
		like := s.nearest([]*scored{first})
		if q.cue == amount && like >= 0.5 && differ(figures(first.text), figures(s.text)) ||
			like >= 0.7 && denies(first.text) != denies(s.text) {
			return s
		}
	}
	return nil
}

const (
	mostRivals = 12
	rivalScore = 0.85
)

// figures are the numbers of a text.
func figures(text string) []string { return numberRE.FindAllString(text, -1) }

var numberRE = lazyregexp.New(`\b\d+(?:[.,]\d+)*\b`)

// differ reports whether there are numbers in both lists, and none in common.
func differ(a, b []string) bool {
	return len(a) > 0 && len(b) > 0 && !slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}
