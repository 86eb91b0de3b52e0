package rights

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const example = `
groups:
  docs: [ann, bob]
stores:
  handbook: {read: ["*"], write: ["@docs"]}
  payroll: {read: [carl, "@boards"]}
sources: ["https://github.com/acme/", "npm:"]
operators: [prometheus]
off: [mallory]
`

func TestRights(t *testing.T) {
	r, err := Parse("rights.yaml", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		user, groups string
		store        string
		reads, write bool
	}{
		{"ann", "", "handbook", true, true},
		{"dora", "", "handbook", true, false},
		{"dora", "docs", "handbook", true, true}, // by the login's groups
		{"ann", "", "payroll", false, false},
		{"carl", "", "payroll", true, false},
		{"eve", "boards", "payroll", true, false},
		{"boards", "", "payroll", false, false}, // a user who is called as a group
		{"@boards", "", "payroll", false, false},
		{"*", "", "payroll", false, false},
		{"ann", "", "unknown", false, false},
		{"ann", "", "", false, false},
	} {
		u, ok := r.Known(c.user, strings.Fields(c.groups))
		if ok && (r.Reads(u, c.store) != c.reads || r.Writes(u, c.store) != c.write) || !ok && c.reads {
			t.Errorf("%s (%s) at %s: known %v, reads %v, writes %v", c.user, c.groups, c.store, ok, r.Reads(u, c.store), r.Writes(u, c.store))
		}
	}
	for _, name := range []string{"mallory", "", "*", "@docs", "a b", "a\nb", "ünï", strings.Repeat("x", 300)} {
		if _, ok := r.Known(name, nil); ok {
			t.Errorf("%q is let in", name)
		}
	}
	if (&Rights{}).Reads(User{Name: "ann"}, "handbook") {
		t.Error("without a file somebody may read")
	}
}

func TestRightsThatAreWrong(t *testing.T) {
	for _, text := range []string{
		"stores: {a: {reads: [ann]}}", "store: {}", "stores: [a]", "groups: {docs: ['@other']}", "groups: {'*': [ann]}",
		"stores: {a: {read: ['@']}}", "stores: {a: {read: ['a b']}}", "sources: ['https://github.com']", "sources: [/srv]", "sources: ['file:///srv/']",
		"limits: {requests: 0}", "limits: {stores: -1}", "a: b\n---\nc: d", "\x00",
	} {
		if _, err := Parse("rights.yaml", []byte(text)); kb.CodeOf(err) != kb.Invalid || kb.HintOf(err) == "" {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"", "# nothing\n"} {
		if r, err := Parse("rights.yaml", []byte(text)); err != nil || r.Limits != defaults {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Fuzz(func(t *testing.T, text []byte) {
		if r, err := Parse("rights.yaml", text); err == nil && r.Reads(User{Name: "nobody-at-all"}, "no-such-store-at-all") && !strings.Contains(string(text), "no-such") {
			t.Errorf("%q", text)
		}
	})
}

func TestTokens(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "tokens")
	ann, a, err := Give(file, "ann", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := Give(file, "ann", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	old, _, err := Give(file, "bob", time.Now().AddDate(0, 0, -2))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(text), ann) || strings.Contains(string(text), strings.TrimPrefix(ann, prefix)) {
		t.Fatalf("the file holds the token: %s %v", text, err)
	}
	b, err := Open(filepath.Join(dir, "rights.yaml"), file)
	if err != nil {
		t.Fatal(err)
	}
	clock := time.Now()
	b.now = func() time.Time { return clock }
	if user, id, ok := b.Token(ann); !ok || user != "ann" || id != a.ID() {
		t.Errorf("%q %q %v", user, id, ok)
	}
	for _, no := range []string{old, "", ann + "x", strings.ToUpper(ann), a.line(), a.ID()} {
		if user, _, ok := b.Token(no); ok {
			t.Errorf("%q lets %s in", no, user)
		}
	}
	if n, err := Take(file, "ann", a.ID()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	clock = clock.Add(looked)
	if _, _, ok := b.Token(ann); ok {
		t.Error("a token that was taken away counts")
	}
	if _, _, ok := b.Token(second); !ok {
		t.Error("the other is gone too")
	}
	if n, err := Take(file, "ann", ""); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if _, _, err := Give(file, "a b", time.Time{}); kb.CodeOf(err) != kb.Invalid {
		t.Error(err)
	}
}

// What is changed counts within a second; what cannot be understood changes nothing.
func TestBook(t *testing.T) {
	dir := t.TempDir()
	file, tokens := filepath.Join(dir, "rights.yaml"), filepath.Join(dir, "tokens")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file, example)
	b, err := Open(file, tokens)
	if err != nil {
		t.Fatal(err)
	}
	clock := time.Now()
	b.now = func() time.Time { return clock }
	carl := User{Name: "carl"}
	before, version := b.Now()
	if !before.Reads(carl, "payroll") {
		t.Fatal("carl may not read")
	}
	write(file, "stores: {payroll: {read: [dora]}}")
	clock = clock.Add(looked)
	if now, v := b.Now(); now.Reads(carl, "payroll") || v == version {
		t.Error("a right that was taken away holds")
	}
	write(file, "stores: {payroll: {read: [carl]}, x: ")
	clock = clock.Add(looked)
	if now, _ := b.Now(); now.Reads(carl, "payroll") || !now.Reads(User{Name: "dora"}, "payroll") {
		t.Error("a broken file changes something")
	}
	if kb.CodeOf(b.Problem()) == "" || b.Problem() == nil {
		t.Error("and nothing is said")
	}
	write(file, "stores: {payroll: {read: [carl]}}")
	if err := b.Reload(); err != nil {
		t.Error(err)
	}
	if now, _ := b.Now(); !now.Reads(carl, "payroll") {
		t.Error("mended, it does not count")
	}
	if runtime.GOOS == "windows" {
		return
	}
	write(tokens, "")
	if err := os.Chmod(tokens, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := b.Reload(); kb.CodeOf(err) != kb.Denied {
		t.Errorf("tokens that everybody can read: %v", err)
	}
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file, filepath.Join(dir, "none")); kb.CodeOf(err) != kb.Denied {
		t.Errorf("rights that everybody can change: %v", err)
	}
}
