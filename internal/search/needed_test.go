package search

import (
	"strings"
	"testing"
)

// TestNeeded: what is said beside a declaration is bounded as docs/agents.md
// and the size of a reply want it, and links are one line each.
func TestNeeded(t *testing.T) {
	if maxTypes != 8 || maxTests != 6 || testDepth != 3 || linkBytes != 120 {
		t.Error("a place shows eight types, six tests over three calls, and 120 bytes of a line")
	}
	c := Context{ID: "abcdefgh123", Store: "s", At: "a.go:L2-3", Path: "a.go", Start: 2, End: 3, Symbol: "Knead", Code: "func Knead() {\n}", Plain: true,
		Callers: []Link{{At: "b.go:L7", Symbol: "Bake", Code: "Knead()"}}, MoreCallers: 2, Tests: []Link{{At: "a_test.go:L4", Symbol: "TestKnead"}},
		Types: []Link{{At: "d.go:L1", Symbol: "Dough", Code: "type Dough\nstruct"}}, Next: "abcdefgh123+4",
		Related: []Related{{At: "a.go:L1", Why: "before it"}, {At: "a.go:L9-20", Symbol: "Table", Why: "encloses it"}}}
	want := `a.go:2-3  Knead  s  abcdefgh123
2	func Knead() {
3	}

called by:
Bake b.go:7	Knead()
2 more: get_full_context {"resultId":"code:callers abcdefgh123"}

tests that reach it:
TestKnead a_test.go:4

types it uses:
Dough d.go:1	type Dough\nstruct

encloses it: Table a.go:9-20

goes on: get_full_context {"resultId":"abcdefgh123+4"}`
	if got := c.Text(); got != want {
		t.Errorf("got:\n%s", got)
	}
	long := Several{Places: []Context{c, c}}
	long.Places[0].Code = strings.Repeat(strings.Repeat("x", 99)+"\n", 200)
	long.Places[0].End = 201
	long.Shorten()
	if p := &long.Places[0]; len(p.Code) > contextBytes/2+100 || p.Next == "" || p.End-p.Start != strings.Count(p.Code, "\n") {
		t.Errorf("%d bytes, lines %d to %d, next %q", len(p.Code), p.Start, p.End, p.Next)
	}
}
