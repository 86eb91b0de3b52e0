package kb

import (
	"os/exec"
	"testing"
)

func TestShellWord(t *testing.T) {
	for s, want := range map[string]string{
		"":                    "''",
		"/srv/a-b_c.d:1,2@%+": "/srv/a-b_c.d:1,2@%+",
		"--in=x":              "--in=x",
		"two words":           "'two words'",
		"it's":                `'it'\''s'`,
		"$(date) `id` !1":     "'$(date) `id` !1'",
		"~":                   "'~'",
		"~/bin/it":            "~/bin/it",
		"~/my bin":            "~/'my bin'",
		"größe":               "'größe'",
		"a\nb":                "'a\nb'",
		`C:\kb`:               `'C:\kb'`,
	} {
		if got := ShellWord(s); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}

func TestShellWordIsReadByAShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh on the PATH")
	}
	for _, s := range []string{"", "a", "two words", "it's", `"$HOME"`, "a;b|c&d", "*", "~", "#", "\\", "a\nb", "größe", "-n"} {
		out, err := exec.Command(sh, "-c", "printf '%s.' "+ShellWord(s)).Output()
		if err != nil || string(out) != s+"." {
			t.Errorf("%q: a shell reads %q, %v", s, out, err)
		}
	}
}
