package source

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// TestSecretsByContent: a file whose content shows that it holds credentials
// is left out whatever it is called, and the notes say which and what keeps it.
func TestSecretsByContent(t *testing.T) {
	key := "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7x0YbY1nqkq3yZ8b7W5Qv9T2m4d6K1r8Jc3s5L0hGfEe2Aa9\n-----END RSA PRIVATE KEY-----\n"
	dir := writeFiles(t, map[string]string{
		"deploy_key": key, "doc/notes.txt": "the key:\n" + key, "src/tls_test.go": "package src\n\nconst key = `" + key + "`\n",
		"ID_RSA": "x", ".SSH/config": "x", "app/production.env": "x", ".env.example": "NAME=value\n", "ca.pem": "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n",
	})
	s := open(t, folderSpec(dir))
	if d := cmp.Diff([]string{".env.example", "ca.pem", "src/tls_test.go"}, listing(t, s)); d != "" {
		t.Error(d)
	}
	if n := s.Skipped()[reasonSecret]; n != 5 {
		t.Errorf("%d are counted", n)
	}
	if notes := strings.Join(s.Notes(), "; "); !strings.Contains(notes, `"doc/notes.txt"`) || !strings.Contains(notes, ".knowledgeignore") {
		t.Errorf("notes %q", notes)
	}
}

// TestOwnRules: what .knowledgeignore leaves out is no document, what it keeps
// is one although another rule speaks against it; deeper files win over upper
// ones, and the rules of the folders above hold in a folder inside a work tree.
func TestOwnRules(t *testing.T) {
	files := map[string]string{
		".gitignore": "*.log\n", OwnRules: "drafts/\n*.tmp.md\n!docs/passwords.md\n!vendor/\n!keep.log\n", "docs/" + OwnRules: "!x.tmp.md\n",
		"drafts/a.md": "x\n", "a.tmp.md": "x\n", "docs/x.tmp.md": "x\n", "docs/passwords.md": "# How we choose passwords\n", "other/passwords.md": "x\n",
		"keep.log": "x\n", "other.log": "x\n", "vendor/m/m.go": "package m\n", "main.go": "package main\n",
	}
	want := []string{".gitignore", OwnRules, "docs/" + OwnRules, "docs/passwords.md", "docs/x.tmp.md", "keep.log", "main.go", "vendor/m/m.go"}
	dir := writeFiles(t, files)
	open := func(t *testing.T, spec kb.Spec) kb.Snapshot { return openTrusting(t, spec, true) }
	s := open(t, folderSpec(dir))
	if d := cmp.Diff(want, listing(t, s)); d != "" {
		t.Error(d)
	}
	skipped := map[string]int{reasonOwnRule: 2, reasonIgnored: 1, reasonSecret: 1}
	if d := cmp.Diff(skipped, s.Skipped()); d != "" {
		t.Error(d)
	}
	notes := strings.Join(s.Notes(), "; ")
	for _, says := range []string{`left out as secrets: "other/passwords.md"`, `kept by .knowledgeignore: "docs/passwords.md", "vendor"`} {
		if !strings.Contains(notes, says) {
			t.Errorf("the notes do not say %q: %q", says, notes)
		}
	}

	o := newOrigin(t)
	tree := map[string]treeEntry{}
	for p, text := range files {
		tree[p] = treeEntry{text: text}
	}
	o.commit("main", tree)
	o.head("main")
	r := open(t, repoSpec(o.dir, kb.Ref{}))
	if d := cmp.Diff(append([]string{".gitignore", OwnRules, "docs/" + OwnRules, "docs/passwords.md", "docs/x.tmp.md", "keep.log", "main.go", "other.log"}, "vendor/m/m.go"), listing(t, r)); d != "" {
		t.Errorf("a repository: %s", d)
	}

	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{OwnRules, "passwords.md", "x.tmp.md"}, listing(t, open(t, folderSpec(filepath.Join(dir, "docs"))))); d != "" {
		t.Errorf("a folder inside: %s", d)
	}
	tr, err := ListTree(t.Context(), folderSpec(dir))
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]bool{OwnRules: true, "docs/passwords.md": true, "other/passwords.md": false, "a.tmp.md": false, "keep.log": true, "vendor/m/m.go": true} {
		if got := tr.Wants(filepath.Join(dir, filepath.FromSlash(p)), false); got != want {
			t.Errorf("a change of %s matters: %v", p, got)
		}
	}
}

// openTrusting opens a source whose user vouches for own rules, for each file
// by its own name, or for none.
func openTrusting(t *testing.T, spec kb.Spec, vouches bool) kb.Snapshot {
	t.Helper()
	o := &Opener{Trusts: func(_ context.Context, file, text string) bool {
		if raw, err := os.ReadFile(file); spec.Kind == kb.KindFolder && (err != nil || string(raw) != text) {
			t.Errorf("asked for %q, which is not there as it was read: %v", file, err)
		}
		return vouches
	}}
	s, err := o.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestOwnRulesOfStrangersFreeNoSecrets: a repository brings its own
// .knowledgeignore, which leaves out what it likes; what looks like a secret by
// name or content, or lies in a folder of them, needs the user's word.
func TestOwnRulesOfStrangersFreeNoSecrets(t *testing.T) {
	key := "-----BEGIN " + "PRIVATE KEY-----\nMIIBVgIBADANBgkqhkiG9w0BAQEFAASCAUAwggE8AgEAAkEAq7BFUpkGp3+LQmlQ\n-----END " + "PRIVATE KEY-----\n"
	files := map[string]string{
		".gitignore": "*.log\n", OwnRules: "drafts/\n!.env\n!keep.log\n!.ssh/\n", "app/" + OwnRules: "!.env.production\n!notes.txt\n",
		".env": "A=1\n", "app/.env.production": "A=1\n", "app/notes.txt": key, ".ssh/config": "Host x\n", "keep.log": "x\n", "drafts/a.md": "x\n", "main.go": "package main\n",
	}
	dir := writeFiles(t, files)
	inside := []string{".gitignore", OwnRules, "app/" + OwnRules, "keep.log", "main.go"}
	s := openTrusting(t, folderSpec(dir), false)
	if d := cmp.Diff(inside, listing(t, s)); d != "" {
		t.Error(d)
	}
	notes := strings.Join(s.Notes(), "; ")
	if want := `although .knowledgeignore keeps them: ".env", ".ssh", "app/.env.production", "app/notes.txt"; such a line counts once the user vouches for its file`; !strings.Contains(notes, want) {
		t.Errorf("the notes do not say %q: %q", want, notes)
	}
	if s := openTrusting(t, folderSpec(dir), true); len(listing(t, s)) != len(inside)+4 {
		t.Errorf("with the user's word: %q", listing(t, s))
	}
	if got := listing(t, openTrusting(t, folderSpec(filepath.Join(dir, "app")), false)); len(got) != 1 {
		t.Errorf("a folder inside: %q", got)
	}
	o := newOrigin(t)
	tree := map[string]treeEntry{}
	for p, text := range files {
		tree[p] = treeEntry{text: text}
	}
	o.commit("main", tree)
	o.head("main")
	if d := cmp.Diff(inside, listing(t, openTrusting(t, repoSpec(o.dir, kb.Ref{}), false))); d != "" {
		t.Errorf("a repository: %s", d)
	}
}

// TestCostlyRulesAreCut: a listing comes to its end whatever ignore rules say
// and however deep folders lie; what is left out is counted and said.
func TestCostlyRulesAreCut(t *testing.T) {
	var rules strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&rules, "**/x/a*b*c%d\n", i)
	}
	dir := writeFiles(t, map[string]string{".gitignore": rules.String(), "a.md": "x\n", "z.md": "x\n"})
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	deep := strings.Repeat("d/", maxTreeDepth)
	if err := root.MkdirAll(deep+"d", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := root.WriteFile(deep+"kept.md", []byte("x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := open(t, folderSpec(dir)).(*folder)
	if got := listing(t, s); len(got) != 4 || s.Skipped()[reasonDeep] != 1 || !strings.Contains(strings.Join(s.Notes(), ";"), "folders that lie below 500 others are left out: 1") {
		t.Errorf("%d documents, %v, %q", len(got), s.Skipped(), s.Notes())
	}
	s = open(t, folderSpec(dir)).(*folder)
	s.budget.Earn(10_000_000 - 2*rulesBudget) // Walk adds to it
	if got := listing(t, s); len(got) >= 4 || s.Skipped()[reasonCostly] == 0 {
		t.Errorf("%q, %v", got, s.Skipped())
	}
	if want := "most of all the 3000 of .gitignore, and are applied no further"; !strings.Contains(strings.Join(s.Notes(), ";"), want) {
		t.Errorf("the notes do not say %q: %q", want, s.Notes())
	}
}
