package find

import (
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestGlob(t *testing.T) {
	for glob, paths := range map[string]string{ // those after the stroke do not match
		"*.go":              "a.go x/y/b.go | a.gox go",
		"net/**/*_test.go":  "net/a_test.go net/http/x/b_test.go | a_test.go net/a.go",
		"*.{go,md}":         "a.go x/README.md | a.mod a.{go,md}",
		"{src,lib}/**/*.ts": "src/a.ts lib/x/y.ts | test/a.ts src.ts",
		"*.{c,h{,pp}}":      "a.c a.h a.hpp | a.hp a.",
		"a,b}.txt":          "a,b}.txt | a.txt",
		"[{]x}.txt":         "{x}.txt | x.txt",
		"año?.md":           "x/años.md | año.md ano1.md",
		"[!a]?.md":          "bc.md | ab.md",
	} {
		match, err := globMatcher(glob)
		if err != nil {
			t.Errorf("%s: %v", glob, err)
			continue
		}
		yes, no, _ := strings.Cut(paths, "|")
		for _, p := range strings.Fields(yes) {
			if !match(p) {
				t.Errorf("%s does not match %s", glob, p)
			}
		}
		for _, p := range strings.Fields(no) {
			if match(p) {
				t.Errorf("%s matches %s", glob, p)
			}
		}
	}
	for _, glob := range []string{"*.{go,md", "[", strings.Repeat("a", 2000)} {
		if _, err := globMatcher(glob); err == nil || kb.HintOf(err) == "" {
			t.Errorf("%.20s: %v", glob, err)
		}
	}
}
