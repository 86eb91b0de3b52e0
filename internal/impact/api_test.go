package impact

import (
	"strings"
	"testing"
)

func TestDeclaration(t *testing.T) {
	for text, want := range map[string]string{
		"func (s *Server[T]) Serve(x int) {": "Server.Serve", "func (s *Server) Serve() {": "Server.Serve", "func Serve() {": "Serve", "    def load(self):": "load",
		"export const limit = 3": "limit", "  const limit = 3": "", "pub(crate) fn run() {": "run", "return func() {": "", "": "", "\tvar X int": "",
	} {
		if got, _ := declaration(text); got != want {
			t.Errorf("%q declares %q, want %q", text, got, want)
		}
	}
}

// TestAPI: what went, came and is declared in another way, and nothing private.
func TestAPI(t *testing.T) {
	c := change{path: "a/a.go", lines: []line{
		{at: 3, old: 3, text: "func Gone(n int) {"}, {at: 4, old: 4, text: "func Kept(n int) {"}, {at: 4, text: "func Kept(n int64) {"},
		{at: 9, text: "func New() {"}, {at: 10, text: "func hidden() {"},
	}}
	var r Reply
	r.api(c, "go", nil)
	if got := strings.Join(r.API, "; "); got != "Gone is removed: func Gone(n int); Kept was func Kept(n int), is func Kept(n int64); New is new: func New()" {
		t.Error(got)
	}
	c.path, r = "internal/a/a.go", Reply{}
	if r.api(c, "go", nil); len(r.API) > 0 {
		t.Errorf("%q", r.API)
	}
}
