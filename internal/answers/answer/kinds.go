package answer

import (
	"path"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// cue is what kind of answer a question wants.
type cue int

const (
	noCue cue = iota
	defines
	amount
	reason
	place
	doing
	listing
	comparing
	deciding // yes or no
)

var (
	defineRE = lazyregexp.New(`(?i)(?:\bhow is .* defined|\bdefinition of\b|\bc[oó]mo se define)|^\W*(?:(?:and|so|y|entonces)\b\W*)?(?:what (?:is|are|was)\b|what's\b|define\b|qu[eé] (?:es|son)\b|meaning of|what does .* (?:do|mean)\b|qu[eé] (?:hace|significa)\b)`)
	amountRE = lazyregexp.New(`(?i)\b(?:how (?:many|much|long|large|big|fast|old|often|far|soon|high|deep)|(?:biggest|largest|smallest|longest|shortest|highest|lowest|at most|at least)|which (?:version|status|number|port)|what (?:size|version|status|number|exit|port)|default|maximum|minimum|limit|cu[aá]nt[oa]s?|qu[eé] (?:parte|porcentaje|tama[nñ]o|l[ií]mite|tope)|como (?:mucho|m[aá]ximo|poco)|por defecto|m[aá]xim[oa]|m[ií]nim[oa]|(?:qu[eé]|cu[aá]l es el) (?:versi[oó]n|puerto|n[uú]mero))\b`)
	reasonRE = lazyregexp.New(`(?i)\b(?:why|reason|purpose|por qu[eé]|raz[oó]n|para qu[eé])`)
	placeRE  = lazyregexp.New(`(?i)(?:\bwhere\b|\bd[oó]nde\b|\bwhich (?:file|path|folder|directory|variable|flag|command|option|setting)\b|\bat which path\b|\bqu[eé] (?:variable|fichero|archivo|orden|comando|opci[oó]n|ajuste)\b)`)
	doingRE  = lazyregexp.New(`(?i)(?:\bhow (?:do|does|can|is|are|to|would|should)\b|\bc[oó]mo\b|\b(?:i|we) (?:just )?(?:want|need|have)\b|\bi'?d like\b|\b(?:quiero|queremos|necesito|quisiera|me gustar[ií]a)\b)`)
	listRE   = lazyregexp.New(`(?i)(?:^|[\s¿])(?:which (?:\w+ ){0,2}?\w+s\b|what (?:are|kinds|types|options|ways|\w+s (?:are|can|does|do))\b|list\b|what (?:\w+ )?(?:options|values|types|kinds|ways|methods|files|steps|formats|backends|modes|levels)\b|cu[aá]les (?:son)?|qu[eé] (?:tipos|opciones|valores|formas|maneras|formatos|modos|niveles|\w+s (?:hay|existen|admite|soporta|se pueden)))`)
	pairRE   = lazyregexp.New(`(?i)(?:\bdifferen(?:ce|t)\b|\bdiffer\b|\bversus\b|\bvs\.?\b|\bcompar|\binstead of\b|\brather than\b|\bor\b.*\?|\bdiferencia|\bdifiere|\bfrente a\b|\bmejor\b.*\bo\b)`)
	closedRE = lazyregexp.New(`(?i)^\W*(?:(?:and|but|so|hi|hello|hey|please|y|pero|hola)\W+)*(?:is|are|was|does|do|did|can|could|will|would|should|must|has|have|may|am|` +
		`se puede|se pueden|puedo|puede|pueden|podr[ií]a|es|son|hay|tiene|tienen|tengo que|debo|debe|deben|necesito|necesita|hace falta|admite|soporta|funciona|existe|est[aá]n?|es posible|se necesita)\s`)

	isRE       = lazyregexp.New(`(?i)\b(?:is|are|means|names|holds|reports|returns|es|son|significa)\b`)
	becauseRE  = lazyregexp.New(`(?i)\b(?:because|since|so that|in order to|purpose|which is why|therefore|otherwise|but|and|too|porque|para que)\b`)
	measureRE  = lazyregexp.New(`(?i)\b\d[\d.,]*\s?(?:[kmgt]i?b|bytes?|ms|µs|ns|s|seconds?|minutes?|hours?|days?|years?|%|files?|characters?|times)\b`)
	figureRE   = lazyregexp.New(`(?:^|[\s(=:"\x60*|])[-+]?\d[\d.,_]*(?:\s|[a-zA-Z%]{0,3}\b|[).,;\x60*"|]|$)|\b(?:Infinity|unlimited|none|null|one|two|three|four|five|six|seven|eight|nine|ten|twelve|once|twice|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce|ilimitad[oa]|ningun[oa])\b`)
	pathLikeR  = lazyregexp.New("(?:[~/.$%][\\w.-]*/|[A-Z]+_[A-Z]+|--\\w|`)")
	doRE       = lazyregexp.New("(?i)^(?:to |you can|you may|use |set |add |run |call |create |define |specify |pass |enable |configure |install |put |para |puedes? |usa |añade |ejecuta )")
	allowsRE   = lazyregexp.New(`(?i)\b(?:can|may|supports?|allows?|enables?|possible|works?|must|should|will|puedes?|admite|soporta|permite)\b`)
	compareRE  = lazyregexp.New(`(?i)\b(?:unlike|whereas|while|instead|rather|than|differ\w*|but|both|however|in contrast|a diferencia|mientras)\b`)
	comparesRE = lazyregexp.New(`(?i)\b(?:vs\.?|versus|compar\w+|differen\w+|diferenci\w+|frente a)\b`) // a heading
	seeRE      = lazyregexp.New(`(?i)^(?:for (?:more|further|additional|a full|the full|details|examples?|information)\b.*\b(?:see|refer|read|check|visit)\b|see (?:also )?(?:the )?|refer to|check out|read (?:more|the)|more (?:info|information|details)|learn more|v[eé]ase)`)

	// pointerRE is nothing but a place where something is said.
	pointerRE = lazyregexp.New("(?i)^(?:\\W*(?:notes?|faq|see|also|docs?|documentation|reference|details|more|example)\\b[^.]{0,12})?\\s*(?:\\[[^\\]]*\\]\\([^)]*\\)|`[^`]+`)[\\s.,;:]*$")

	// datedRE asks what has changed, or since when something is there.
	datedRE = lazyregexp.New(`(?i)(?:\bchange(?:s|d|log)?\b|\bnew in\b|\brelease notes?\b|\b(?:since|from|in) (?:which|what) (?:version|release)\b|\bwhen (?:was|were|did)\b|\bremoved\b|\bdeprecated\b|\bwhich version\b|\bversion \d|\b\d+\.\d+\b|\bupgrad|\bmigrat|\bcambi[oó]|\bnovedad|\bqu[eé] versi[oó]n|\bcu[aá]ndo se\b|\bactualiz|\bobsolet)`)
)

// closedInSpanish reports whether a Spanish question asks for yes or no: it has no
// word that asks, and more than the name of something in it.
func closedInSpanish(text string) bool {
	_, asked, ok := strings.Cut(text, "¿")
	return ok && !askRE.MatchString(asked) && len(words(asked)) > 4
}

var askRE = lazyregexp.New(`(?i)^\W*(?:(?:y|a|en|de|con|por|para|desde|hasta|sobre)\W+)*(?:que|como|cuando|cuant[oa]s?|donde|quien(?:es)?|cual(?:es)?)\b|(?:^|[^\p{L}])(?:qué|cómo|cuándo|cuánt[oa]s?|dónde|quién(?:es)?|cuál(?:es)?)(?:[^\p{L}]|$)`)

func cueOf(text string) cue {
	switch {
	case pairRE.MatchString(text) && !closedRE.MatchString(text):
		return comparing
	case amountRE.MatchString(text):
		return amount
	case reasonRE.MatchString(text):
		return reason
	case placeRE.MatchString(text):
		return place
	case listRE.MatchString(text):
		return listing
	case defineRE.MatchString(text):
		return defines
	case doingRE.MatchString(text):
		return doing
	case closedRE.MatchString(text) || closedInSpanish(text):
		return deciding
	}
	return noCue
}

// changelogs are what files that say what has changed are called.
var changelogs = lazyregexp.New(`(?i)(?:^|[-_.])(?:changes?|changelog|history|news|releases?|release[-_ ]?notes?|whats?[-_]?new|upgrad(?:e|ing)|migrat(?:e|ion|ing))(?:[-_.\d]|$)`)

// internalRE are documents for who makes a program rather than for who uses it.
var internalRE = lazyregexp.New(`(?i)(?:^|/)(?:design|designs|adrs?|decisions|rfcs?|proposals|internals|architecture|contributing|development|maintaining)(?:/|\.[a-z]+$)`)

// isChangelog reports whether a document says what was changed rather than
// what is.
func isChangelog(p string) bool {
	dir, file := path.Split(p)
	if changelogs.MatchString(strings.TrimSuffix(file, path.Ext(file))) {
		return true
	}
	for d := range strings.SplitSeq(strings.TrimSuffix(dir, "/"), "/") {
		if changelogs.MatchString(strings.TrimPrefix(d, "_")) {
			return true
		}
	}
	return false
}
