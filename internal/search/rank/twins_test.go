package rank

import (
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// What declares comes after what does it, unless declarations are asked for.
func TestHeadersComeAfterWhatTheyDeclare(t *testing.T) {
	for query, want := range map[string]string{
		"parse headers":                 "src/a.c include/a.h",
		"declaration to parse headers":  "include/a.h src/a.c",
		"parse headers without a twin":  "src/a.c include/a.h",
		"prototype for parsing headers": "include/a.h src/a.c",
	} {
		c := newCorpus(query)
		c.add("include/a.h", 9, "pars header", "", 0)
		c.add("src/a.c", 8.8, "pars header", "", 0)
		if got := c.order(Options{}); got != want {
			t.Errorf("%s: %s", query, got)
		}
	}
	c := newCorpus("parse headers")
	c.add("include/b.h", 9, "pars header", "", 0) // of something else
	c.add("src/a.c", 8.8, "pars header", "", 0)
	if got := c.order(Options{}); got != "include/b.h src/a.c" {
		t.Error(got)
	}
}

// Of a page in several languages the one that is asked in comes first.
func TestPagesInTheLanguageOfTheQuestion(t *testing.T) {
	for query, want := range map[string]string{
		"parse headers":                "docs/run.md",
		"cómo analizar los header":     "docs/es/run.md",
		"header の解析":                   "docs/ja/run.md",
		"как разобрать header":         "docs/run.md", // there is none in Russian
		"where are the headers parsed": "docs/run.md",
	} {
		c := newCorpus(query)
		for i, p := range []string{"docs/ja/run.md", "docs/es/run.md", "docs/run.md"} {
			c.add(p, 9-0.1*float64(i), "pars header", "", kb.FlagProse)
		}
		if got, _, _ := strings.Cut(c.order(Options{}), " "); got != want {
			t.Errorf("%s: %s comes first", query, got)
		}
	}
}

func TestLanguageOf(t *testing.T) {
	for path, want := range map[string][2]string{
		"docs/es/index.md":      {"es", "docs/index.md"},
		"docs/zh-CN/a/b.md":     {"zh", "docs/a/b.md"},
		"README.pt-BR.md":       {"pt", "README.md"},
		"README_zh_CN.md":       {"zh", "README.md"},
		"README-ja.md":          {"ja", "README.md"},
		"README.md":             {"en", "README.md"},
		"docs/how-to.md":        {"en", "docs/how-to.md"},
		"docs/it.md":            {"en", "docs/it.md"},
		"site/content/en/x.mdx": {"en", "site/content/x.mdx"},
	} {
		lang, rest := languageOf(path)
		if lang != want[0] || rest != want[1] {
			t.Errorf("%s: %s %s", path, lang, rest)
		}
	}
}
