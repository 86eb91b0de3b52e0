package impact_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/impact"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

var wait = app.Waiting{Wait: time.Minute, Person: true}

const bank = `package bank

// Teller pays.
type Teller interface{ Pay(cents int) int }

// Desk is a Teller.
type Desk struct{ fee int }

// Pay takes the fee.
func (d *Desk) Pay(cents int) int {
	return cents - d.fee
}

// Round rounds to ten.
func Round(cents int) int {
	return cents / 10 * 10
}

// Total sums and rounds.
func Total(t Teller, all []int) (sum int) {
	for _, c := range all {
		sum += t.Pay(c)
	}
	return Round(sum)
}

func hidden() int { return Round(7) }
`

const bankTest = `package bank

import "testing"

func TestRound(t *testing.T) {
	if Round(17) != 10 {
		t.Fail()
	}
}

func TestTotal(t *testing.T) {
	if Total(&Desk{fee: 1}, []int{11, 21}) != 30 {
		t.Fail()
	}
}

func TestNothing(t *testing.T) {}

func check(t *testing.T) { hidden() }

func TestHidden(t *testing.T) { check(t) }
`

const shelf = `class Base:
    def load(self, name):
        return self.read(name)

    def read(self, name):
        return None


class Shelf(Base):
    def read(self, name):
        if not name:
            return None
        return name.upper()


def _quiet(name):
    return name
`

const shelfTest = `from lib.shelf import Shelf


class TestShelf:
    def test_load(self):
        assert Shelf().load("a") == "A"

    def helper(self):
        pass


def test_other():
    assert 1
`

// site is a project with one commit.
func site(t *testing.T) (*producttest.Site, *app.App, func(string)) {
	t.Helper()
	s := producttest.NewSite(t)
	s.Write("p/go.mod", "module example.org/p\n\ngo 1.25\n")
	s.Write("p/bank/bank.go", bank)
	s.Write("p/bank/bank_test.go", bankTest)
	s.Write("p/lib/__init__.py", "")
	s.Write("p/lib/shelf.py", shelf)
	s.Write("p/tests/test_shelf.py", shelfTest)
	s.Write("p/tests/conftest.py", "import pytest\n\nfrom lib.shelf import _quiet\n\n\n@pytest.fixture\ndef calm():\n    return _quiet(1)\n")
	s.Write("p/tests/test_calm.py", "def test_given(calm, tmp_path=None):\n    assert calm\n")
	s.Write("p/docs/money.md", "---\nid: SPEC-7\nkind: decision\ntitle: Money is rounded\nstatus: approved\n---\n\n# Money is rounded\n\n`Round` in bank/bank.go rounds down to ten.\n")
	repo, err := git.PlainInit(filepath.Join(s.Root, "p"), false)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := repo.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	when := time.Now().Add(-20 * 24 * time.Hour)
	commit := func(message string) {
		t.Helper()
		if err := tree.AddWithOptions(&git.AddOptions{All: true}); err != nil {
			t.Fatal(err)
		}
		who := &object.Signature{Name: "Ada", Email: "a@example.org", When: when}
		if _, err := tree.Commit(message, &git.CommitOptions{Author: who, Committer: who}); err != nil {
			t.Fatal(err)
		}
		when = when.Add(24 * time.Hour)
	}
	commit("all of it")
	return s, s.In("p", true), commit
}

func ask(t *testing.T, a *app.App, in impact.Request) impact.Reply {
	t.Helper()
	in.Waiting = wait
	r, err := impact.Impact(t.Context(), a, in)
	if err != nil {
		t.Fatalf("%+v: %v (%s)", in, err, kb.HintOf(err))
	}
	if n := tokens.Estimate(r.Text()); n > 1500 {
		t.Errorf("%+v: %d tokens", in, n)
	}
	return r
}

func symbols(r impact.Reply) string {
	var out []string
	for _, x := range r.Tests {
		out = append(out, x.Symbol)
	}
	return strings.Join(out, " ")
}

// TestWorkTree asks without arguments: for nothing, for a changed line, a removed
// function and a file that is gone.
func TestWorkTree(t *testing.T) {
	s, a, _ := site(t)
	if r := ask(t, a, impact.Request{}); len(r.Changed) != 0 || len(r.Tests) != 0 || !strings.Contains(r.Text(), "nothing differs") {
		t.Errorf("nothing differs: %+v", r)
	}
	s.Write("p/bank/bank.go", strings.Replace(bank, "cents / 10 * 10", "cents / 10 * 11", 1))
	r := ask(t, a, impact.Request{})
	if len(r.Changed) != 1 || r.Changed[0].Symbol != "Round" || !r.Changed[0].Public || r.Changed[0].At != "bank/bank.go:L16" {
		t.Errorf("changed: %+v", r.Changed)
	}
	if !strings.HasPrefix(symbols(r), "TestRound") || !strings.Contains(symbols(r), "TestTotal") || !strings.Contains(symbols(r), "TestHidden") || strings.HasPrefix(symbols(r), "TestRound TestNothing") {
		t.Errorf("tests: %s", symbols(r))
	}
	if len(r.Run) != 1 || !strings.HasPrefix(r.Run[0], "go test ./bank -run '^(TestRound|") {
		t.Errorf("run: %q", r.Run)
	}
	if len(r.Callers) != 2 || r.Callers[0].Depth != 1 || r.Callers[0].Confidence != 0 {
		t.Errorf("callers: %+v", r.Callers)
	}
	if len(r.API) != 1 || !strings.HasPrefix(r.API[0], "Round (function)") {
		t.Errorf("public: %q", r.API)
	}
	if len(r.Specs) != 1 || !strings.Contains(r.Specs[0], "Money is rounded") {
		t.Errorf("specifications: %q", r.Specs)
	}
	if !strings.Contains(strings.Join(r.Unknown, "\n"), "reflection") {
		t.Errorf("not known: %q", r.Unknown)
	}
	s.Write("p/bank/bank.go", strings.Replace(bank, "\n// Round rounds to ten.\nfunc Round(cents int) int {\n\treturn cents / 10 * 10\n}\n", "", 1))
	if r = ask(t, a, impact.Request{}); !strings.Contains(strings.Join(r.API, "\n"), "Round is removed: func Round(cents int) int") {
		t.Errorf("a function that went: %q", r.API)
	}
	s.Write("p/bank/bank.go", strings.Replace(bank, "func Total(t Teller, all []int)", "func Total(t Teller, all ...int)", 1))
	if r = ask(t, a, impact.Request{}); !strings.Contains(strings.Join(r.API, "\n"), "Total was func Total(t Teller, all []int)") {
		t.Errorf("a signature: %q", r.API)
	}
}

// TestPlaces asks about lines and names: through an interface and a base class,
// which are guesses, and says so.
func TestPlaces(t *testing.T) {
	_, a, _ := site(t)
	r := ask(t, a, impact.Request{Place: "bank/bank.go:11"})
	if !strings.HasPrefix(symbols(r), "TestTotal") || len(r.Changed) != 1 || r.Changed[0].Symbol != "Desk.Pay" {
		t.Errorf("a method that an interface calls: %s, %+v", symbols(r), r.Changed)
	}
	if r.Callers[0].Confidence == 0 && r.Callers[0].Depth > 1 {
		t.Errorf("a guess is certain: %+v", r.Callers)
	}
	if r = ask(t, a, impact.Request{Place: "hidden"}); !strings.HasPrefix(symbols(r), "TestHidden") {
		t.Errorf("through a helper: %s", symbols(r))
	}
	if r = ask(t, a, impact.Request{Place: "_quiet"}); !strings.HasPrefix(symbols(r), "test_given") || !strings.Contains(r.Tests[0].Why, "2 steps") {
		t.Errorf("through a fixture: %s, %+v", symbols(r), r.Tests)
	}
	r = ask(t, a, impact.Request{Place: "lib/shelf.py:11-12"})
	if !strings.HasPrefix(symbols(r), "TestShelf.test_load") || len(r.Run) != 1 || !strings.HasPrefix(r.Run[0], "python -m pytest tests/test_shelf.py::TestShelf::test_load") {
		t.Errorf("a method that its base calls: %s, %q", symbols(r), r.Run)
	}
	if strings.Contains(symbols(r), "helper") {
		t.Errorf("what is no test: %s", symbols(r))
	}
	if r = ask(t, a, impact.Request{Place: "_quiet"}); len(r.API) != 0 || r.Changed[0].Public {
		t.Errorf("what is private: %+v", r)
	}
}

const patch = `diff --git a/bank/bank.go b/bank/bank.go
--- a/bank/bank.go
+++ b/bank/bank.go
@@ -25,3 +25,3 @@ func Total(t Teller, all []int) (sum int) {
 }
 
-func hidden() int { return Round(7) }
+func hidden() int { return Round(8) }
--- a/gone/\n.go
+++ b/gone/\n.go
@@ -1 +1 @@
-a
+b
`

// TestDiffs asks about a diff that is not applied yet, as text and as a file,
// and about two revisions.
func TestDiffs(t *testing.T) {
	s, a, commit := site(t)
	r := ask(t, a, impact.Request{Diff: patch})
	if len(r.Changed) != 1 || r.Changed[0].Symbol != "hidden" || !strings.HasPrefix(symbols(r), "TestHidden") || !strings.Contains(strings.Join(r.Unknown, "\n"), "not indexed") {
		t.Errorf("a diff: %+v", r)
	}
	s.Write("p/x.patch", patch)
	if r = ask(t, a, impact.Request{Diff: "x.patch"}); len(r.Changed) != 1 || r.Changed[0].Symbol != "hidden" {
		t.Errorf("a file: %+v", r)
	}
	s.Write("p/bank/bank.go", strings.Replace(bank, "cents - d.fee", "cents - 2*d.fee", 1))
	commit("bank: a higher fee")
	for _, in := range []impact.Request{{Diff: "HEAD~1..HEAD"}, {Place: "HEAD~1..HEAD"}} {
		if r = ask(t, a, in); len(r.Changed) < 1 || !strings.HasPrefix(symbols(r), "TestTotal") || !strings.Contains(r.About, "against") {
			t.Errorf("%+v: %+v", in, r)
		}
	}
	for _, tc := range []struct {
		in   impact.Request
		code kb.Code
	}{
		{impact.Request{Diff: "HEAD~99..HEAD"}, kb.NotFound}, {impact.Request{Diff: "none.patch"}, kb.NotFound}, {impact.Request{Diff: "../../etc/passwd"}, kb.NotFound},
		{impact.Request{Diff: "bank/bank.go"}, kb.Invalid}, {impact.Request{Place: "bank/bank.go:9", Diff: patch}, kb.Invalid},
		{impact.Request{Place: "bank/bank.go:9999"}, kb.Invalid}, {impact.Request{Depth: 9}, kb.Invalid}, {impact.Request{Limit: -1}, kb.Invalid},
		{impact.Request{Diff: strings.Repeat("x", 5<<20)}, kb.TooLarge},
	} {
		tc.in.Waiting = wait
		if _, err := impact.Impact(t.Context(), a, tc.in); kb.CodeOf(err) != tc.code || kb.HintOf(err) == "" {
			t.Errorf("%.60v: %v (%s)", tc.in, err, kb.HintOf(err))
		}
	}
}

// TestHistory: of two tests that use a function alike, the one that came with
// its lines is first.
func TestHistory(t *testing.T) {
	s, a, commit := site(t)
	one := "package bank\n\nimport \"testing\"\n\nfunc TestAlpha(t *testing.T) {\n\tif fix(1) != 1 {\n\t\tt.Fatal(1)\n\t}\n}\n"
	s.Write("p/bank/fix.go", "package bank\n\nfunc fix(n int) int {\n\treturn n\n}\n")
	s.Write("p/bank/alpha_test.go", one)
	commit("bank: fix")
	s.Write("p/bank/fix.go", "package bank\n\nfunc fix(n int) int {\n\tif n < 0 {\n\t\treturn 0\n\t}\n\treturn n\n}\n")
	s.Write("p/bank/omega_test.go", strings.ReplaceAll(one, "Alpha", "Omega"))
	commit("bank: nothing below nought")
	s.Write("p/bank/fix.go", "package bank\n\nfunc fix(n int) int {\n\tif n <= 0 {\n\t\treturn 0\n\t}\n\treturn n\n}\n")
	if r := ask(t, a, impact.Request{}); !strings.HasPrefix(symbols(r), "TestOmega TestAlpha") || !strings.Contains(r.Tests[0].Why, "same commit") {
		t.Errorf("%s: %+v", symbols(r), r.Tests)
	}
}

// TestElsewhere: without a repository places are answered, the work tree is not.
func TestElsewhere(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("plain/a.go", "package a\n\nfunc A() {}\n\nfunc b() { A() }\n")
	a := s.In("plain", true)
	if r := ask(t, a, impact.Request{Place: "a.go:3"}); len(r.Callers) != 1 || len(r.Unknown) == 0 {
		t.Errorf("%+v", r)
	}
	if _, err := impact.Impact(t.Context(), a, impact.Request{Waiting: wait}); kb.CodeOf(err) != kb.NotFound || kb.HintOf(err) == "" {
		t.Errorf("%v", err)
	}
}

// TestHostileNames: names of files and declarations end no line and start no
// program.
func TestHostileNames(t *testing.T) {
	s, a, _ := site(t)
	s.Write("p/tests/test_$(touch x).py", "from lib.shelf import _quiet\n\n\ndef test_evil():\n    assert _quiet(1)\n")
	r := ask(t, a, impact.Request{Place: "_quiet"})
	if !strings.Contains(symbols(r), "test_evil") || strings.Contains(strings.Join(r.Run, "\n"), "touch") {
		t.Errorf("%s: %q", symbols(r), r.Run)
	}
}
