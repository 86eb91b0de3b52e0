package rank

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// asking are the ways of asking, in English and Spanish, that say an intent.
var asking = []struct {
	intent string
	form   lazyregexp.Regexp
}{
	{Usage, lazyregexp.New(`(?i)\b(?:who|what) (?:calls|uses|invokes)\b|\bwhere (?:is|are) .+ (?:used|called|invoked)\b|` +
		`\b(?:usages?|callers|call sites) of\b|^¿?(?:quién (?:llama|usa)|dónde se (?:llama|usa))\b`)},
	{Definition, lazyregexp.New(`(?i)\bwhere (?:is|are) .+ (?:defined|declared)\b|^(?:the )?(?:definition|declaration) of\b|` +
		`^¿?dónde (?:se (?:define|declara)|está (?:definid|declarad)[oa])\b`)},
	{Documentation, lazyregexp.New(`(?i)^(?:how (?:do|can|should) (?:i|we|you)|how to)\b|\b(?:documentation|docs) (?:for|of|on|about)\b|` +
		`^¿?cómo (?:puedo|podemos|se (?:instala|configura))\b|\bdocumentación (?:de|sobre)\b`)},
}

// Recognize returns the intent that a query says by the way it asks, "" when it
// says none.
func (q *Query) Recognize() string {
	if q.Class != Natural || len(q.Terms) == maxTerms {
		return ""
	}
	for i := range asking {
		if asking[i].form.MatchString(q.Text) {
			return asking[i].intent
		}
	}
	return ""
}

// how are the ways of asking how something works, in English and Spanish.
var how = lazyregexp.New(`(?i)^¿?(?:(?:in|by|on|under|from|to|with|at) )?(?:how|why|when|where|what|which|who)\b|` +
	`^¿?(?:(?:en|por|a|con|de|bajo|desde) )?(?:cómo|como|cuándo|dónde|qué|cuál(?:es)?|quién)\s`)

// leastHow is how many words such a question has, mostHow is longer than one in bytes.
const (
	leastHow = 4
	mostHow  = 300
)

// AsksHow reports whether a query asks how something works, where it is
// decided, what happens: a question that several places answer together.
func AsksHow(query string) bool {
	query = strings.TrimSpace(query)
	return how.MatchString(query) && len(query) < mostHow && len(strings.Fields(query)) >= leastHow &&
		!strings.Contains(query, "\n")
}
