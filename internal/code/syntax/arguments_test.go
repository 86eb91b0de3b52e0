package syntax

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestArguments(t *testing.T) {
	for _, c := range []struct{ language, text, want string }{
		{"java", "class A extends B { void f() { g(); h(1, /* two */ 2); a.b(x -> 1); new T(1, 2, 3); } A() { this(4); } A(int x) { super(x, x); } }", "g/0 h/2 b/1 T/3 A/1 B/2"},
		{"kotlin", "fun f() { g(); h(1, 2); a.b { it }; c(1) { it } }", "g/0 h/2 b/1 c/2"},
		{"csharp", "class A : p.B { void F() { G(); H(1, 2); a.B<int>(3); new T(1); new U { X = 1 }; } A() : base(1, 2) { } }", "G/0 H/2 B/1 T/1 U B/2"},
	} {
		o, err := Read(context.Background(), set, c.language, c.text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range o.Facts.References {
			if r.Kind == kb.UseCall {
				s := r.Name
				if r.Args > 0 {
					s += fmt.Sprintf("/%d", r.Args-1)
				}
				got = append(got, s)
			}
		}
		if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s: %s", c.language, d)
		}
	}
}
