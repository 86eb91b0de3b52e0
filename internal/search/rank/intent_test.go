package rank

import (
	"strings"
	"testing"
)

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

func TestAsksHow(t *testing.T) {
	long := strings.Repeat("very ", 54)
	for query, want := range map[string]bool{
		"how does a session end":                         true,
		"where is it decided who may enter":              true,
		"In what order are the hooks called":             true,
		"what happens when the disk is full?":            true,
		"¿cómo se decide cuánto se devuelve":             true,
		"por qué se repite un pedido":                    true,
		"how does " + long + "long work and end":         true,
		"how does " + long + "long work and end at last": false,
		"how it ends":                false,
		"how does it end\nand begin": false,
		"session lifetime of users":  false,
		"whatever ends a session":    false,
		"show how a session ends":    false,
	} {
		if AsksHow(query) != want {
			t.Errorf("%q (%d bytes): %v", query, len(query), !want)
		}
	}
}
