package deps

import (
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"
)

// unpack writes the files of an archive into a folder.
func unpack(t testing.TB, archive string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		p := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// trimmed yields the lines of a text without surrounding blanks.
func trimmed(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for l := range strings.Lines(text) {
			if !yield(strings.TrimSpace(l)) {
				return
			}
		}
	}
}

func show(d Dependency) string {
	at := d.Tag
	if d.Commit != "" {
		at = "commit " + d.Commit
	}
	dash := func(s string) string {
		if s == "" {
			return "-"
		}
		return s
	}
	s := fmt.Sprintf("%s %s %d %s %s", d.ID(), dash(d.Version), d.Files, dash(d.Repository), dash(at))
	if d.Dev {
		s += " dev"
	}
	return s
}

// TestEcosystems analyses the projects of testdata. Each is an archive whose
// comment lists what is to be found, one a line: id, version, files, repository, tag or commit.
func TestEcosystems(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			rep, err := Analyze(t.Context(), unpack(t, string(raw)))
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for line := range trimmed(string(txtar.Parse(raw).Comment)) {
				if line != "" && line[0] != '#' {
					want = append(want, line)
				}
			}
			var got []string
			for _, d := range rep.Dependencies {
				got = append(got, show(d))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s\nnotes %q", diff, rep.Notes)
			}
			if len(rep.Notes) > 0 {
				t.Errorf("notes %q", rep.Notes)
			}
		})
	}
}

func TestWhatDoesNotParseIsNotedAndPassedOver(t *testing.T) {
	dir := unpack(t, `
-- package.json --
{"dependencies": {"react"
-- sub/package.json --
{"dependencies": {"vue": "3.5.0"}}
-- Cargo.toml --
[dependencies
-- pyproject.toml --
dependencies = [
-- pom.xml --
<project><dependencies>
-- composer.lock --
[]
-- Package.resolved --
nothing
-- go.mod --
require ( (
-- mix.lock --
%{ "a": {:hex
-- pnpm-lock.yaml --
importers:
  .:
`)
	rep, err := Analyze(t.Context(), dir)
	if err != nil || len(rep.Dependencies) != 1 || rep.Dependencies[0].ID() != "npm:vue" {
		t.Errorf("%+v, %v", rep.Dependencies, err)
	}
	if len(rep.Notes) != 6 {
		t.Errorf("notes %q", rep.Notes)
	}
	for _, n := range rep.Notes {
		if len(n) > 200 {
			t.Errorf("a long note: %s", n)
		}
	}
}

func TestGoRepositories(t *testing.T) {
	for _, c := range []struct{ module, version, repo, ref string }{
		{"github.com/spf13/cobra", "v1.10.2", "https://github.com/spf13/cobra", "tag v1.10.2"},
		{"github.com/oklog/ulid/v2", "v2.1.2", "https://github.com/oklog/ulid", "tag v2.1.2"},
		{"github.com/aws/aws-sdk-go-v2/service/ec2", "v1.321.0", "https://github.com/aws/aws-sdk-go-v2", "tag service/ec2/v1.321.0"},
		{"github.com/a/b/sub/v3", "v3.0.1", "https://github.com/a/b", "tag sub/v3.0.1"},
		{"gopkg.in/yaml.v3", "v3.0.1", "https://github.com/go-yaml/yaml", "tag v3.0.1"},
		{"gopkg.in/src-d/go-git.v4", "v4.13.1", "https://github.com/src-d/go-git", "tag v4.13.1"},
		{"golang.org/x/sys", "v0.49.0", "https://github.com/golang/sys", "tag v0.49.0"},
		{"k8s.io/klog/v2", "v2.140.0", "https://github.com/kubernetes/klog", "tag v2.140.0"},
		{"go.opentelemetry.io/otel/trace", "v1.44.0", "https://github.com/open-telemetry/opentelemetry-go", "tag trace/v1.44.0"},
		{"github.com/old/thing", "v2.0.0+incompatible", "https://github.com/old/thing", "tag v2.0.0"},
		{"github.com/x/y", "v0.0.0-20250905093917-f7b3be9d1853", "https://github.com/x/y", "commit f7b3be9d1853"},
		{"github.com/x/y", "v1.2.4-0.20250905093917-f7b3be9d1853", "https://github.com/x/y", "commit f7b3be9d1853"},
		{"example.org/team/repo.git/sub", "v1.0.0", "https://example.org/team/repo.git", "tag sub/v1.0.0"},
		{"example.org/unknown", "v1.0.0", "", "tag v1.0.0"},
	} {
		repo, sub := goRepository(c.module)
		ref := goRef(sub, c.version)
		if repo != c.repo || string(ref.Type)+" "+ref.Name != c.ref {
			t.Errorf("%s %s: %s %+v", c.module, c.version, repo, ref)
		}
	}
}

func TestCleanURL(t *testing.T) {
	for raw, want := range map[string]string{
		"git+https://github.com/debug-js/debug.git":     "https://github.com/debug-js/debug",
		"git://github.com/a/b.git":                      "https://github.com/a/b",
		"git+ssh://git@github.com/a/b.git":              "https://github.com/a/b",
		"ssh://git@github.com:22/a/b":                   "https://github.com/a/b",
		"git@github.com:a/b.git":                        "https://github.com/a/b",
		"github:a/b":                                    "https://github.com/a/b",
		"a/b":                                           "https://github.com/a/b",
		"gitlab:group/b":                                "https://gitlab.com/group/b",
		"https://gitlab.com/g/s/b/-/tree/main":          "https://gitlab.com/g/s/b",
		"https://github.com/a/b/tree/main/packages/c":   "https://github.com/a/b",
		"https://www.github.com/a/b/":                   "https://github.com/a/b",
		"scm:git:git://github.com/a/b.git":              "https://github.com/a/b",
		"http://127.0.0.1:8080/a/b":                     "http://127.0.0.1:8080/a/b",
		"http://127.0.0.1:8080/a/.git":                  "http://127.0.0.1:8080/a/.git",
		"https://github.com/only":                       "",
		"file:///etc/passwd":                            "",
		"ext::sh -c id":                                 "",
		"javascript:alert(1)":                           "",
		"":                                              "",
		"https://user:secret@example.org/a/b.git?x=1#y": "https://example.org/a/b",
	} {
		if got := CleanURL(raw); got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
}

func TestTags(t *testing.T) {
	for _, c := range []struct{ pattern, version, want string }{
		{"v{v}", "1.2.3", "v1.2.3"}, {"v{v}", "v1.2.3", "v1.2.3"}, {"rel_{_}", "2.0.41", "rel_2_0_41"}, {"v{~}", "33.6.0-jre", "v33.6.0"},
		{"v{2}", "3.25.5", "v25.5"}, {"redis@{v}", "6.1.0", "redis@6.1.0"}, {"", "1.0", ""},
	} {
		if got := spell(c.pattern, c.version); got != c.want {
			t.Errorf("%s %s: %s", c.pattern, c.version, got)
		}
	}
	got := Dependency{Ecosystem: "npm", Name: "@scope/pkg", Version: "1.2.3", Tag: "pkg-v1.2.3"}.TagCandidates()
	for _, want := range []string{"pkg-v1.2.3", "v1.2.3", "1.2.3", "@scope/pkg@1.2.3", "pkg@1.2.3"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if got[0] != "pkg-v1.2.3" {
		t.Errorf("the likeliest is not the first: %q", got)
	}
}

// TestKnown holds the table of packages to its form.
func TestKnown(t *testing.T) {
	seen := map[string]bool{}
	for line := range trimmed(knownText) {
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Fields(line)
		if len(f) < 3 || len(f) > 4 || ecosystemNamed(f[0]) == nil || seen[f[0]+f[1]] || len(f) == 4 && spell(f[3], "1.2.3-x") == f[3] {
			t.Errorf("%q", line)
		}
		seen[f[0]+f[1]] = true
		if u := CleanURL(f[2]); u == "" {
			t.Errorf("%q names no repository", line)
		}
	}
	if k, ok := lookupKnown("npm", "@babel/core"); !ok || k.repo != "https://github.com/babel/babel" {
		t.Errorf("%+v %v", k, ok)
	}
	if k, _ := lookupKnown("composer", "symfony/console"); k.repo != "https://github.com/symfony/console" {
		t.Errorf("%+v", k)
	}
}

// Manifests alone say the same, but for the counts.
func TestManifestsReadNoCode(t *testing.T) {
	dir := unpack(t, `
-- go.mod --
module m
require github.com/a/b v1.0.0
-- a.go --
package m
import _ "github.com/a/b"
`)
	all, err := Analyze(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	some, err := Manifests(t.Context(), dir)
	if err != nil || all.Files != 1 || some.Files != 0 || all.Dependencies[0].Files != 1 {
		t.Fatalf("%+v, %+v, %v", all, some, err)
	}
	if diff := cmp.Diff(all.Dependencies, some.Dependencies, cmpopts.IgnoreFields(Dependency{}, "Files")); diff != "" {
		t.Error(diff)
	}
}

func FuzzManifests(f *testing.F) {
	for _, e := range ecosystems {
		for _, base := range manifestNames {
			if e.manifest(base) != nil {
				f.Add(base, []byte("{\"name\":\"a\",\"dependencies\":{\"b\":\"1.0.0\"}}"))
				f.Add(base, []byte("[[package]]\nname = \"a\"\nversion = \"1\"\n"))
				f.Add(base, []byte("a:\n  b:\n    version: 1\n"))
			}
		}
	}
	dir := f.TempDir()
	r, err := os.OpenRoot(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, base string, data []byte) {
		for _, e := range ecosystems {
			parse := e.manifest(base)
			if parse == nil {
				continue
			}
			p := newCollector(r)
			parse(p, "sub/"+base, data)
			found := p.resolve()
			for _, d := range found {
				p.locate(d)
				if d.Name == "" || d.Repository != "" && CleanURL(d.Repository) == "" {
					t.Errorf("%+v", d)
				}
			}
			match := e.matcher(p, found)
			e.imports(data, func(imp string) { match(imp) })
		}
	})
}

var manifestNames = []string{
	"go.mod", "package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "requirements.txt", "pyproject.toml", "uv.lock",
	"poetry.lock", "Cargo.toml", "Cargo.lock", "pom.xml", "build.gradle", "build.gradle.kts", "libs.versions.toml", "gradle.lockfile", "Gemfile",
	"a.gemspec", "Gemfile.lock", "composer.json", "composer.lock", "mix.exs", "mix.lock", "a.csproj", "Directory.Packages.props",
	"packages.lock.json", "Package.swift", "Package.resolved",
}

// Every manifest that the product promises to read is read by one ecosystem.
func TestEveryManifestHasOneEcosystem(t *testing.T) {
	by := map[string][]string{}
	for _, e := range ecosystems {
		for _, base := range manifestNames {
			if e.manifest(base) != nil {
				by[base] = append(by[base], e.name)
			}
		}
	}
	for _, base := range manifestNames {
		if len(by[base]) != 1 {
			t.Errorf("%s: %q", base, by[base])
		}
	}
	if got := len(slices.Collect(maps.Keys(by))); got != len(manifestNames) {
		t.Errorf("%d", got)
	}
}
