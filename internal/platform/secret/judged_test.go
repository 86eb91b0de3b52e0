package secret

import (
	"os"
	"strings"
	"testing"
)

// line is one of a judged set: see internal/source/testdata/secrets/README.md.
type judged struct{ kind, part, form, name, content string }

func readJudged(t *testing.T, file string) []judged {
	raw, err := os.ReadFile("../../source/testdata/secrets/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var out []judged
	for l := range strings.Lines(string(raw)) {
		f := strings.SplitN(strings.TrimSuffix(l, "\n"), "\t", 5)
		if len(f) != 5 {
			t.Fatalf("%s: %q", file, l)
		}
		out = append(out, judged{f[0], f[1], f[2], f[3], f[4]})
	}
	return out
}

// content returns the text, and where in it the mark stood that breaks the secret.
func (j judged) text() (string, int) {
	s := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t").Replace(j.content)
	at := strings.Index(s, "{{}}")
	s = strings.Replace(s, "{{}}", "", 1)
	if j.form == "source" {
		before := strings.Repeat("ordinary line of text\n", 20)
		s = before + s + "\n" + strings.Repeat("another ordinary line\n", 20)
		if at >= 0 {
			at += len(before)
		}
	}
	return s, at
}

// TestJudgedSecrets holds the rules against the judged set: what is left out
// whole, and what is masked in place of a secret.
func TestJudgedSecrets(t *testing.T) {
	kinds := map[string]bool{}
	missed := map[string]bool{}
	for _, j := range readJudged(t, "secrets.txt") {
		kinds[j.kind] = true
		text, at := j.text()
		if Name(j.name) || File(j.name, []byte(text)) {
			continue
		}
		hit := false
		for _, m := range Find(j.name, text) {
			hit = hit || m.From <= at && at < m.To
		}
		if !hit {
			missed[j.kind] = true
			t.Logf("missed: %s %s %s: %.200q", j.kind, j.form, j.name, text[max(0, at-60):min(len(text), at+60)])
		}
	}
	if 10*len(missed) > len(kinds) {
		t.Errorf("%d of %d kinds are missed", len(missed), len(kinds))
	}
}

// TestJudgedOthers holds the rules against what only looks like a secret.
func TestJudgedOthers(t *testing.T) {
	n := 0
	list := readJudged(t, "not-secrets.txt")
	for _, j := range list {
		text, _ := j.text()
		if found := Find(j.name, text); len(found) > 0 {
			n++
			t.Logf("masked: %s %s %s: %s in %.300q", j.kind, j.form, j.name, found[0].Kind, text[found[0].From:found[0].To])
		}
		if Name(j.name) || File(j.name, []byte(text)) {
			n++
			t.Logf("left out: %s %s", j.kind, j.name)
		}
	}
	if n > 2 {
		t.Errorf("%d of %d that are no secrets are taken for some", n, len(list))
	}
}
