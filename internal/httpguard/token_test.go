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
		"no file":        {env: good, file: filepath.Join(t.TempDir(), "none"), code: kb.NotFound},
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
		} else if err != nil || got != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
