package webdoc

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// urls are where the pages of testdata come from.
var urls = map[string]string{
	"docusaurus": "https://ferry.example/docs/2.4/guides/retry",
	"sphinx":     "https://mortar.example/en/stable/reference/api.html",
	"mkdocs":     "https://harbour.example/configuration/",
	"vitepress":  "https://loom.example/guide/plugins.html",
	"rustdoc":    "https://docs.example/quay/0.4.2/quay/rope/struct.Rope.html",
	"javadoc":    "https://docs.example/javase/21/docs/api/harbour/Anchor.html",
	"godoc":      "https://pkg.example/example.com/quay@v1.2.3",
}

// TestPages compares what is read from pages in the styles of the generators
// of documentation with golden files: the head as JSON, then the text.
func TestPages(t *testing.T) {
	pages, _ := filepath.Glob("testdata/pages/*")
	if len(pages) < 10 {
		t.Fatalf("%d pages in testdata", len(pages))
	}
	for _, path := range pages {
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		t.Run(name, func(t *testing.T) {
			body, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			u := urls[name]
			if u == "" {
				u = "https://site.example/" + filepath.Base(path)
			}
			p, err := Read(body, "", u, Options{})
			if err != nil {
				t.Fatal(err)
			}
			text := p.Markdown
			p.Markdown, p.Fingerprint = nil, 0
			head, _ := json.MarshalIndent(p, "", "\t")
			got := strings.ReplaceAll(string(head), "\t\"Markdown\": null,\n", "") + "\n\n" + string(text)
			golden := filepath.Join("testdata", "golden", name+".md")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v; write it with -update", err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestRules shows one rule at a time: testdata/rules.txtar holds small pages,
// each before the text that is made of it.
func TestRules(t *testing.T) {
	const name = "testdata/rules.txtar"
	rules, err := txtar.ParseFile(name)
	if err != nil || len(rules.Files) < 2 {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(rules.Files); i += 2 {
		page, text := rules.Files[i], &rules.Files[i+1]
		t.Run(strings.TrimSuffix(page.Name, ".html"), func(t *testing.T) {
			p, err := Read(page.Data, "text/html", "https://site.example/docs/page", Options{})
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				text.Data = p.Markdown
			}
			if d := cmp.Diff(string(text.Data), string(p.Markdown)); d != "" {
				t.Error(d)
			}
		})
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(rules), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
