package answer

import (
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// measure is what an amount is counted in.
type measure int

const (
	anyMeasure measure = iota
	ofTime
	ofSize
	ofShare
	ofPort
)

var (
	asksTimeRE = lazyregexp.New(`(?i)\b(?:how (?:long|often|soon|far back)|how (?:many|much) (?:time|milliseconds|ms|seconds?|minutes?|hours?|days?|weeks?|months?|years?)|` +
		`(?:how|what) .{0,30}(?:timeout|interval|delay|ttl)|cu[aá]nto (?:tiempo|tarda|tardan|espera|dura|duran|queda|vive)|cada cu[aá]nto|cu[aá]nt[oa]s (?:milisegundos|segundos|minutos|horas|d[ií]as|semanas|meses|a[nñ]os)|cu[aá]nta espera)`)
	asksSizeRE  = lazyregexp.New(`(?i)\b(?:how (?:big|large)|how much (?:memory|ram|space|disk)|(?:what|which) size|cu[aá]nt[oa] (?:memoria|espacio|disco|ocupa|pesa)|qu[eé] tama[nñ]o|(?:biggest|largest|smallest) (?:file|body|payload|response|request|message|upload|object))`)
	asksShareRE = lazyregexp.New(`(?i)\b(?:what (?:share|part|percentage|percent|fraction|proportion)|how many percent|qu[eé] (?:parte|porcentaje|proporci[oó]n))\b`)

	asksPortRE = lazyregexp.New(`(?i)\b(?:which|what|qu[eé]|cu[aá]l(?: es)?)\b(?: \w+){0,2} (?:tcp )?(?:port|puerto)\b`)

	portRE  = lazyregexp.New(`(?i)[\w.\])]:\d{2,5}\b|\b(?:port|puerto)s?\b.{0,30}?\b\d{2,5}\b`)
	timeRE  = lazyregexp.New(`(?i)(?:\d|\b(?:one|an?|two|three|four|five|six|seven|eight|nine|ten|twelve|half an|una?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce)\s)[\d.,*\x60_ ]*(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?|w|weeks?|months?|y|years?|segundos?|minutos?|horas?|d[ií]as?|semanas?|mes(?:es)?|a[nñ]os?)\b|\b(?:number of|in) (?:milli|micro)?(?:seconds|minutes|hours|days)\b.*\d|\b(?:Infinity|forever|indefinitely|once (?:a|per|an|every) (?:second|minute|hour|day|week))\b`)
	sizeRE  = lazyregexp.New(`(?i)\d[\d.,*\x60_ ]*(?:[kmgt]i?b|bytes?|octets|characters|[kmg])\b`)
	shareRE = lazyregexp.New(`(?i)\d[\d.,* ]*(?:%|percent|per cent|por ciento)`)
)

// measureOf is what a question about an amount wants it counted in.
func measureOf(text string) measure {
	switch {
	case asksPortRE.MatchString(text):
		return ofPort
	case asksTimeRE.MatchString(text):
		return ofTime
	case asksShareRE.MatchString(text):
		return ofShare
	case asksSizeRE.MatchString(text):
		return ofSize
	}
	return anyMeasure
}

// What a sentence is worth to a question about an amount: one that has an
// amount in that measure, one that has a number, one beside which there is one,
// and one that has none.
const (
	measuredCue  = 1.2
	numberCue    = 0.7
	besideCue    = -0.1
	noNumberCue  = -0.6
	noMeasureCue = -1.0 // where the question says the measure
	defaultCue   = 0.5
)

// amountCue is what speaks for a sentence of a page as the answer to a question
// about an amount.
func (q *question) amountCue(page []scored, s *scored) float64 {
	v := noNumberCue
	if q.measure != anyMeasure {
		v = noMeasureCue
	}
	switch {
	case q.measured(s.text):
		v = measuredCue
	case figureRE.MatchString(s.text):
		v = numberCue
	default:
		for _, i := range []int{s.at - 1, s.at + 1, s.at + 2} {
			if i >= 0 && i < len(page) && page[i].section == s.section && page[i].form != code && figureRE.MatchString(page[i].text) {
				v = besideCue
			}
		}
	}
	if q.defaults && (s.tokens[defaultTerm] || slices.ContainsFunc(s.head, func(h string) bool { return tokensOf(h)[defaultTerm] })) {
		v += defaultCue
	}
	return v
}

// measured reports whether a text has an amount in the measure that is asked for.
func (q *question) measured(text string) bool {
	switch q.measure {
	case ofTime:
		return timeRE.MatchString(text)
	case ofSize:
		return sizeRE.MatchString(text)
	case ofPort:
		return portRE.MatchString(text)
	case ofShare:
		return shareRE.MatchString(text)
	}
	return measureRE.MatchString(text)
}

// counts reports whether a text has an amount, in the measure that is asked for.
func (q *question) counts(text string) bool {
	if q.measure == anyMeasure {
		return figureRE.MatchString(text)
	}
	return q.measured(text)
}

// defaultTerm is the term of "default".
var defaultTerm = terms.Of("default")[0]

// asksDefault reports whether a question is about what holds when nothing is set.
func (q *question) asksDefault() bool {
	return slices.ContainsFunc(q.concepts, func(c concept) bool { return slices.Contains(c.terms[:c.near], defaultTerm) })
}
