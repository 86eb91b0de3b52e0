package find_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/code"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

// bakery is a project of our own: one long function, short ones around it.
func bakery(t *testing.T) (*producttest.Site, *app.App) {
	s := producttest.NewSite(t)
	var long strings.Builder
	long.WriteString("package oven\n\n// Bake bakes every loaf of a batch, in turn.\nfunc Bake(batch []Loaf) error {\n")
	for i := range 90 {
		fmt.Fprintf(&long, "\tstep%d(batch)\n", i)
	}
	long.WriteString("\tif err := scald(batch); err != nil {\n\t\treturn fmt.Errorf(\"the crust of %s is scalded\", err)\n\t}\n")
	for i := range 60 {
		fmt.Fprintf(&long, "\tafter%d(batch)\n", i)
	}
	long.WriteString("\treturn nil\n}\n")
	s.Write("p/go.mod", "module example.org/bakery\n\ngo 1.24\n")
	s.Write("p/oven/bake.go", long.String())
	s.Write("p/oven/loaf.go", "package oven\n\n// Loaf is one bread.\ntype Loaf struct{ grams int }\n\n"+
		"// Weigh returns the grams of a loaf.\nfunc Weigh(l *Loaf) int { return l.grams }\n\n"+
		"func scald(batch []Loaf) error {\n\tfor i := range batch {\n\t\t_ = Weigh(&batch[i])\n\t}\n\treturn nil\n}\n")
	s.Write("p/oven/loaf_test.go", "package oven\n\nimport \"testing\"\n\nfunc TestWeigh(t *testing.T) {\n\tif Weigh(&Loaf{grams: 3}) != 3 {\n\t\tt.Fatal()\n\t}\n}\n")
	s.Write("p/oven/crust.go", "package oven\n\n// mostMinutes is how long a crust may be in the oven.\nconst mostMinutes = 40\n\n"+
		"// tooLong reports whether a crust was in the oven for longer than it may be.\n"+
		"func tooLong(minutes int) bool { return minutes > mostMinutes }\n")
	s.Write("p/README.md", "# Bakery\n\nBread for the whole street.\n")
	return s, s.In("p", true)
}

func packed(t *testing.T, ctx context.Context, a *app.App, query string, budget int) find.SearchReply {
	t.Helper()
	r, err := find.Search(ctx, a, search.Request{Query: query, Packed: true, Budget: budget}, app.Scope{Waiting: app.Waiting{Wait: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// linked sees to it that the references of the project are resolved.
func linked(t *testing.T, a *app.App) {
	t.Helper()
	w := app.Waiting{Wait: time.Minute}
	if _, err := code.Ask(t.Context(), a, code.CodeRequest{CodeRequest: search.CodeRequest{Symbol: "Weigh", What: search.Callers}, Waiting: w}); err != nil {
		t.Fatal(err)
	}
}

// TestPackedReply: a reply that is read as text has the place that is meant
// with its lines, numbered, and those of the constants that it reads, within its
// budget, and says what it leaves out.
func TestPackedReply(t *testing.T) {
	_, a := bakery(t)
	linked(t, a)
	r := packed(t, t.Context(), a, "Weigh", 0)
	for _, want := range []string{"oven/loaf.go:6-7  Weigh\n6\t// Weigh returns the grams of a loaf.\n7\tfunc Weigh(l *Loaf) int { return l.grams }\n",
		"called by: scald oven/loaf.go:11", "\nconfidence high"} {
		if !strings.Contains(r.Text(), want) {
			t.Errorf("%q is not in:\n%s", want, r.Text())
		}
	}
	for _, query := range []string{"tooLong", "crust was in the oven for longer than it may be"} {
		text := packed(t, t.Context(), a, query, 0).Text()
		for _, want := range []string{"oven/crust.go:6-7  tooLong\n", "oven/crust.go:4: const mostMinutes = 40\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in:\n%s", query, want, text)
			}
		}
	}
	whole := regexp.MustCompile(`(?m)^oven/bake\.go:(\d+)-(\d+)  Bake`)
	for _, budget := range []int{150, 400, 0} {
		text := packed(t, t.Context(), a, "the crust of rye is scalded", budget).Text()
		if n, most := tokens.Estimate(text), budget; n > max(most, 150) && budget > 0 {
			t.Errorf("%d tokens of %d:\n%s", n, budget, text)
		}
		if budget == 150 {
			continue
		}
		m := whole.FindStringSubmatch(text)
		if m == nil {
			t.Errorf("budget %d: Bake is not there:\n%s", budget, text)
			continue
		}
		for _, want := range []string{"\tfunc Bake(batch []Loaf) error {\n", "the crust of %s is scalded", " lines\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("budget %d: %q is not in:\n%s", budget, want, text)
			}
		}
		if from, to := number(m[1]), number(m[2]); accounted(text[strings.Index(text, m[0]):]) != to-from+1 {
			t.Errorf("budget %d: of lines %d to %d some are neither shown nor said to be left out:\n%s", budget, from, to, text)
		}
	}
}

func number(s string) int { n, _ := strconv.Atoi(s); return n }

// accounted counts the lines of the first place of a text that are shown or named.
func accounted(text string) (n int) {
	left := regexp.MustCompile(`^\t… (\d+) lines?$`)
	shown := regexp.MustCompile(`^\d+\t`)
	for i, l := range strings.Split(text, "\n") {
		if m := left.FindStringSubmatch(l); m != nil {
			n += number(m[1])
		} else if shown.MatchString(l) {
			n++
		} else if i > 0 {
			return n
		}
	}
	return n
}

// TestFurtherFunctions: of a document with lines the functions that may be meant
// besides are named below its place, in its order, each once.
func TestFurtherFunctions(t *testing.T) {
	s, a := bakery(t)
	var b strings.Builder
	b.WriteString("package oven\n")
	for i := range 12 {
		fmt.Fprintf(&b, "\n// rinse%d rinses kettle number %d with soda, then with water.\nfunc rinse%d(kettle int) int {\n", i, i, i)
		for j := range 14 {
			fmt.Fprintf(&b, "\tkettle = pour(kettle, %d, \"soda and water for the kettle\")\n", i*20+j)
		}
		b.WriteString("\treturn kettle\n}\n")
	}
	s.Write("p/oven/rinse.go", b.String())
	text := packed(t, t.Context(), a, "how long a kettle has to be rinsed with soda before water is poured", 0).Text()
	m := regexp.MustCompile(`(?m)^also (:.*)$`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no further functions:\n%s", text)
	}
	last := 0
	for name := range strings.SplitSeq(m[1], ", ") {
		at := regexp.MustCompile(`^:(\d+)-(\d+) (rinse\d+)$`).FindStringSubmatch(name)
		if at == nil || number(at[1]) <= last {
			t.Fatalf("%q after line %d:\n%s", name, last, text)
		}
		if last = number(at[2]); strings.Count(text, at[3]+"\n")+strings.Count(text, at[3]+",") != 1 {
			t.Errorf("%s is not named once:\n%s", at[3], text)
		}
	}
	if n := tokens.Estimate(text); n > search.PackedTokens {
		t.Errorf("%d tokens:\n%s", n, text)
	}
	text = packed(t, t.Context(), a, "rinse the kettle with soda before water is poured", 200).Text()
	if !strings.Contains(text, "\nalso :") || !strings.Contains(text, "\tkettle = pour(") {
		t.Errorf("a short reply has not both lines and names:\n%s", text)
	}
}

// TestNothingTwice: what a session was given whole is named and not shown
// again, until it changes or the session forgets.
func TestNothingTwice(t *testing.T) {
	s, a := bakery(t)
	m := &search.Memory{}
	ctx := search.WithMemory(t.Context(), m)
	const line = "func Weigh(l *Loaf) int"
	if text := packed(t, ctx, a, "Weigh", 0).Text(); !strings.Contains(text, line) {
		t.Fatalf("%s", text)
	}
	again := packed(t, ctx, a, "Weigh", 0).Text()
	if strings.Contains(again, line) || !strings.Contains(again, "oven/loaf.go:6-7  Weigh  (shown above)") {
		t.Errorf("shown twice:\n%s", again)
	}
	if text := packed(t, t.Context(), a, "Weigh", 0).Text(); !strings.Contains(text, line) {
		t.Errorf("another session is shown nothing:\n%s", text)
	}
	m.Forget(time.Now())
	if text := packed(t, ctx, a, "Weigh", 0).Text(); !strings.Contains(text, line) {
		t.Errorf("not forgotten:\n%s", text)
	}
	s.Write("p/oven/loaf.go", "package oven\n\n// Loaf is one bread.\ntype Loaf struct{ grams int }\n\n"+
		"// Weigh returns the grams of a loaf.\nfunc Weigh(l *Loaf) int { return 2 * l.grams }\n")
	producttest.Eventually(t, "the change is shown", func() bool {
		return strings.Contains(packed(t, ctx, a, "Weigh", 0).Text(), "return 2 * l.grams")
	})
}

// TestShowAll: several places at once, ranges, names; what is needed to change one.
func TestShowAll(t *testing.T) {
	_, a := bakery(t)
	linked(t, a)
	show := func(places string) string {
		t.Helper()
		found, err := find.ShowAll(t.Context(), a, places, app.Waiting{Wait: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		switch x := found.(type) {
		case find.Context:
			x.Plain = true
			return x.Text()
		case search.Several:
			x.Plain = true
			for i := range x.Places {
				x.Places[i].Plain = true
			}
			return x.Text()
		}
		return ""
	}
	for places, want := range map[string][]string{
		"oven/loaf.go:7":              {"7\tfunc Weigh("},
		"oven/loaf.go:3-13":           {"4\ttype Loaf", "7\tfunc Weigh(", "14\t}"},
		"Weigh":                       {"7\tfunc Weigh("},
		"Weigh, oven/loaf.go:4":       {"7\tfunc Weigh(", "4\ttype Loaf"},
		"oven/loaf.go:4,nothing.go:1": {"4\ttype Loaf", `note: no document is called "nothing.go"`},
	} {
		text := show(places)
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: %q is not in:\n%s", places, w, text)
			}
		}
	}
	for _, want := range []string{"called by:\nscald oven/loaf.go:11\t_ = Weigh(&batch[i])", "tests that reach it:\nTestWeigh oven/loaf_test.go:6",
		"types it uses:\nLoaf oven/loaf.go:4\ttype Loaf struct{ grams int }"} {
		if text := show("Weigh"); !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
}
