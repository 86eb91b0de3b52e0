package httpguard

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestGivenToken(t *testing.T) {
	good := strings.Repeat("0123456789abcdef", 2)
	file := func(text string, mode os.FileMode) string {
		name := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for name, c := range map[string]struct {
		env, file string
		want      string
		code      kb.Code
	}{
		"none":           {},
		"by variable":    {env: good, want: good},
		"by file":        {env: "x", file: file(good+"\n", 0o600), want: good},
		"short":          {env: good[1:], code: kb.Invalid},
		"long":           {env: strings.Repeat(good, 100), code: kb.Invalid},
		"with a space":   {env: good + " x", code: kb.Invalid},
		"one sign":       {env: strings.Repeat("a", 40), code: kb.Invalid},
		"empty file":     {env: good, file: file("\n", 0o600), code: kb.Invalid},
		"no directory":   {env: good, file: filepath.Join(t.TempDir(), "none", "token"), code: kb.NotFound},
		"a directory":    {file: t.TempDir(), code: kb.Invalid},
		"file of others": {file: file(good, 0o644), code: kb.Denied},
	} {
		if name == "file of others" && runtime.GOOS == "windows" {
			continue
		}
		got, err := GivenToken(func(string) string { return c.env }, c.file)
		if c.code != "" {
			if err == nil || kb.CodeOf(err) != c.code || kb.HintOf(err) == "" || strings.Contains(err.Error(), good) {
				t.Errorf("%s: %v (%s)", name, err, kb.HintOf(err))
			}
		} else if err != nil || got.Token != c.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestTokenFileIsMadeOnce: the first start makes it, for its owner alone, and
// every later one finds the same token.
func TestTokenFileIsMadeOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	none := func(string) string { return "" }
	first, err := GivenToken(none, file)
	if err != nil || !first.New || len(first.Token) < minToken || first.From != file {
		t.Fatalf("%+v, %v", first, err)
	}
	info, err := os.Stat(file)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("made with mode %v, %v", info.Mode(), err)
	}
	second, err := GivenToken(none, file)
	if err != nil || second.New || second.Token != first.Token {
		t.Errorf("the second start: %+v, %v", second, err)
	}
}

// TestTokenFileBehindALink: a link that leads out of its directory could lead
// to a foreign file.
func TestTokenFileBehindALink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	dir, elsewhere := t.TempDir(), t.TempDir()
	none := func(string) string { return "" }
	for _, d := range []string{dir, elsewhere} {
		if _, err := GivenToken(none, filepath.Join(d, "token")); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		target string
		code   kb.Code
	}{
		"near":    {"token", ""},
		"far":     {filepath.Join(elsewhere, "token"), kb.Denied},
		"nowhere": {"none", kb.Denied},
	} {
		link := filepath.Join(dir, name)
		if err := os.Symlink(c.target, link); err != nil {
			t.Fatal(err)
		}
		if _, err := GivenToken(none, link); (err == nil) != (c.code == "") || err != nil && (kb.CodeOf(err) != c.code || kb.HintOf(err) == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
