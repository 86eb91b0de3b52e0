package deps

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// project writes files below a temporary folder.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		p := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func none(string) string { return "" }

// TestHolders: a question finds the dependency that it is about by the table, by
// what an installed copy says, and by names that the project uses.
func TestHolders(t *testing.T) {
	cache := project(t, map[string]string{
		"example.org/!kettle@v1.2.0/README.md": "# Kettle\n\nHeats water and whistles at the boiling point.\n",
	})
	root := project(t, map[string]string{
		"go.mod":                            "module example.org/bakery\n\ngo 1.24\n\nrequire (\n\texample.org/Kettle v1.2.0\n\tgithub.com/gorilla/websocket v1.5.3\n\texample.org/plain v0.1.0\n)\n",
		"package.json":                      `{"name":"bakery","dependencies":{"crumble":"1.0.0","portfinder":"^1.0.0"}}`,
		"node_modules/crumble/package.json": `{"version":"1.0.0","description":"Splits loaves into crumbs","keywords":["bread"]}`,
		"requirements.txt":                  "rye-flour==2.0\n",
		".venv/lib/python3.12/site-packages/rye_flour-2.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: rye-flour\nSummary: Grinds grain with a stone mill\nKeywords: milling\n\nThe stones turn slowly.\n",
	})
	h, err := Gather(t.Context(), root, func(k string) string {
		if k == "GOMODCACHE" {
			return cache
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	plain := slices.IndexFunc(h.List, func(x Holder) bool { return x.Name == "example.org/plain" })
	h.Uses(plain, 2, []string{"NewThermostat", "Regulate"})
	for question, want := range map[string]string{
		"compress websocket messages":         "go:github.com/gorilla/websocket",
		"whistle when water boils":            "go:example.org/Kettle",
		"split a loaf into crumbs":            "npm:crumble",
		"current port that a machine has":     "npm:portfinder",
		"turning stones of a mill for grain":  "pypi:rye-flour",
		"thermostats that regulate a chamber": "go:example.org/plain",
	} {
		best, most := "", 0.0
		for i := range h.List {
			if s, _ := h.Share(i, Asked(strings.Fields(question))); s > most {
				best, most = h.List[i].ID(), s
			}
		}
		if best != want {
			t.Errorf("%q finds %s (%.2f), want %s", question, best, most, want)
		}
	}
	for i := range h.List {
		if s, has := h.Share(i, Asked([]string{"synthesizer", "midi"})); s != 0 || has != nil {
			t.Errorf("%s has %.2f of a question that is about nothing here: %v", h.List[i].ID(), s, has)
		}
	}
	if got := h.Import("oven/bake.go", "github.com/gorilla/websocket", ""); len(got) != 1 || h.List[got[0]].Name != "github.com/gorilla/websocket" {
		t.Errorf("the import means %v", got)
	}
	if got := h.Import("oven/bake.py", "rye_flour.mill", "grind"); len(got) != 1 || h.List[got[0]].Name != "rye-flour" {
		t.Errorf("the import means %v", got)
	}
	if got := h.Import("notes.md", "github.com/gorilla/websocket", ""); got != nil {
		t.Errorf("a text imports %v", got)
	}
}

// TestHoldersHostile: names that leave the folder, links and huge files say
// nothing.
func TestHoldersHostile(t *testing.T) {
	outside := project(t, map[string]string{"package.json": `{"description":"secret recipe"}`})
	root := project(t, map[string]string{
		"package.json":   `{"name":"bakery","dependencies":{"../../etc":"1","linked":"1"}}`,
		"go.mod":         "module example.org/bakery\n\nrequire ../up v1.0.0\n",
		"node_modules/x": "",
	})
	if err := os.Symlink(outside, filepath.Join(root, "node_modules", "linked")); err != nil {
		t.Skip("no links here:", err)
	}
	h, err := Gather(t.Context(), root, none)
	if err != nil {
		t.Fatal(err)
	}
	for i := range h.List {
		if s, _ := h.Share(i, Asked([]string{"secret", "recipe"})); s > 0 {
			t.Errorf("%s was read from outside the project", h.List[i].ID())
		}
	}
}

// TestTopics: each line of the table is of a known ecosystem, in order, and has
// words.
func TestTopics(t *testing.T) {
	n := 0
	seen := map[string]bool{}
	for line := range strings.Lines(topicsText) {
		if line == "\n" || line[0] == '#' {
			continue
		}
		n++
		f := strings.Fields(line)
		if len(f) < 3 || ecosystemNamed(f[0]) == nil {
			t.Errorf("%q is no row", line)
			continue
		}
		if id := f[0] + " " + f[1]; seen[id] {
			t.Errorf("%s stands twice", id)
		} else {
			seen[id] = true
		}
	}
	if n < 4000 {
		t.Errorf("the table has %d rows", n)
	}
	if a, b := root("compression"), root("compress"); a != b {
		t.Errorf("compression has the root %s, compress %s", a, b)
	}
}

// TestRequirementsFolder: files of a folder requirements are manifests, and what go.mod
// calls indirect is brought along by others.
func TestRequirementsFolder(t *testing.T) {
	root := project(t, map[string]string{
		"requirements/default.txt": "rye-flour>=2\n",
		"docs/notes.txt":           "no-package==1\n",
		"go.mod":                   "module example.org/bakery\n\nrequire (\n\texample.org/direct v1.0.0\n\texample.org/along v1.0.0 // indirect\n)\n",
	})
	rep, err := Manifests(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range rep.Dependencies {
		got = append(got, d.ID())
	}
	for _, d := range rep.Brought {
		got = append(got, "brought "+d.ID())
	}
	if want := "go:example.org/direct pypi:rye-flour brought go:example.org/along"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
