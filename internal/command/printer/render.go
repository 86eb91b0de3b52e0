package printer

import (
	"encoding/json"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
)

// Render returns a result as an agent reads it: what its Text method says,
// else compact JSON. What cannot be seen in it is escaped, so that nobody
// speaks to an agent unseen.
func Render(result any) string {
	if t, ok := result.(interface{ Text() string }); ok {
		return visible.Escape(t.Text())
	}
	return JSON(result)
}

// Shown is JSON for a program that decodes it before anybody reads it: what
// cannot be seen is still escaped then.
func Shown(v any) string { return visible.Values(JSON(v)) }

// JSON returns v as compact JSON in which <, > and & are not escaped, and
// what cannot be seen is escaped. What does not marshal comes out as null: no result of a command is such.
func JSON(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "null"
	}
	return visible.Escape(strings.TrimRight(b.String(), "\n"))
}
