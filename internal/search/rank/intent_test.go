package rank

import "testing"

func TestRecognize(t *testing.T) {
	for query, want := range map[string]string{
		"who calls pushContext":                       Usage,
		"where is the session cookie used":            Usage,
		"callers of Allocate":                         Usage,
		"¿quién llama a Allocate?":                    Usage,
		"where is ReleaseLate defined":                Definition,
		"dónde se define Pedido":                      Definition,
		"how do I add a middleware":                   Documentation,
		"how to configure retries":                    Documentation,
		"cómo se configura el idioma":                 Documentation,
		"how does the router match a path":            "",
		"how zls provides completions":                "",
		"documentation generation for commands":       "",
		"Allocate":                                    "",
		`"how to"`:                                    "",
		"where is the request body parsed and cached": "",
	} {
		if got := Parse(query).Recognize(); got != want {
			t.Errorf("%q: %q, not %q", query, got, want)
		}
	}
}
