package source

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestForgeAddresses(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for _, c := range []struct{ remote, want string }{
		{"https://github.com/org/repo", "https://github.com/org/repo/blob/" + commit + "/docs/a%20b.md"},
		{"git@github.com:org/repo", "https://github.com/org/repo/blob/" + commit + "/docs/a%20b.md"},
		{"git@github.com:org/repo.git", "https://github.com/org/repo/blob/" + commit + "/docs/a%20b.md"},
		{"ssh://git@github.com/org/repo", "https://github.com/org/repo/blob/" + commit + "/docs/a%20b.md"},
		{"ssh://git@git.example.org:2222/org/repo.git", "https://git.example.org/org/repo/blob/" + commit + "/docs/a%20b.md"},
		{"https://gitlab.com/group/sub/repo", "https://gitlab.com/group/sub/repo/-/blob/" + commit + "/docs/a%20b.md"},
		{"https://bitbucket.org/org/repo", "https://bitbucket.org/org/repo/src/" + commit + "/docs/a%20b.md"},
		{"https://codeberg.org/org/repo", "https://codeberg.org/org/repo/src/commit/" + commit + "/docs/a%20b.md"},
		{"https://git.example.org:8443/org/repo", "https://git.example.org:8443/org/repo/blob/" + commit + "/docs/a%20b.md"},
	} {
		st := kb.Store{Name: "x", Spec: kb.Spec{Kind: kb.KindRepo, Source: c.remote}, Head: &kb.Head{Commit: commit}}
		got := Cite(st, "docs/a b.md")
		if got.URL != c.want || !got.Forge {
			t.Errorf("%s:\n %s\nnot %s", c.remote, got.URL, c.want)
		}
		if paths := Cited(st, got.URL); !slices.Contains(paths, "docs/a b.md") {
			t.Errorf("%s leads back to %q", got.URL, paths)
		}
	}
	st := kb.Store{Spec: kb.Spec{Kind: kb.KindRepo, Source: "https://github.com/Org/repo"}, Head: &kb.Head{Commit: commit}}
	for _, u := range []string{"https://github.com/org/repo/blob/main/docs/x.md", "https://github.com/Org/repo/blob/feature/one/docs/x.md"} {
		if paths := Cited(st, u); !slices.Contains(paths, "docs/x.md") {
			t.Errorf("%s leads to %q", u, paths)
		}
	}
	for _, u := range []string{"https://github.com/org/repository/blob/main/docs/x.md", "https://github.com/org/repo", "https://github.com/org/repo/issues/1", "https://example.org/org/repo/blob/main/a", "::", "mailto:a"} {
		if paths := Cited(st, u); len(paths) > 0 {
			t.Errorf("%s leads to %q", u, paths)
		}
	}
}

func TestFileAddresses(t *testing.T) {
	root := t.TempDir()
	if r, err := filepath.EvalSymlinks(root); err == nil {
		root = r
	}
	st := kb.Store{Name: "x", Spec: kb.Spec{Kind: kb.KindFolder, Source: root}}
	for _, p := range []string{"a.md", "docs/con espacio/decisión #1?.md", "日本/仕様.md", "a%20b.md", "(x)/[[y]].md", "a+b&c.md"} {
		u := Cite(st, p)
		if u.Forge || slices.ContainsFunc([]rune(u.URL), func(r rune) bool { return r <= ' ' || r > '~' || r == '#' || r == '?' || r == '(' }) {
			t.Errorf("%s: %s", p, u.URL)
		}
		if got := Cited(st, u.URL); !slices.Equal(got, []string{p}) {
			t.Errorf("%s leads back to %q, not %q", u.URL, got, p)
		}
	}
	for _, u := range []string{"file:///etc/passwd", fileURL(filepath.Join(root, "..", "secret.md")), fileURL(root + "x/a.md")} {
		if got := Cited(st, u); len(got) > 0 {
			t.Errorf("%s is %q in the store", u, got)
		}
	}
	if runtime.GOOS != "windows" && fileURL("/a b") != "file:///a%20b" {
		t.Error(fileURL("/a b"))
	}
	if got := fileURL("C:/x y"); got != "file:///C:/x%20y" {
		t.Error(got)
	}
}

func TestLocalRepositoryAddresses(t *testing.T) {
	root := t.TempDir()
	for _, d := range []string{".git/objects", ".git/refs"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(".git/HEAD", "ref: refs/heads/main\n")
	write("here.md", "# Here\n")
	st := kb.Store{Name: "x", Spec: kb.Spec{Kind: kb.KindRepo, Source: root}, Head: &kb.Head{Commit: "abc"}}
	if got := Cite(st, "here.md"); got.URL != fileURL(filepath.Join(root, "here.md")) {
		t.Error(got)
	}
	if got := Cite(st, "gone.md"); got.URL != "doc://x/gone.md" {
		t.Error(got)
	}
	write(".git/config", "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@github.com:org/repo.git\n[branch \"main\"]\n\turl = no\n")
	got := Cite(st, "gone.md")
	if got.URL != "https://github.com/org/repo/blob/abc/gone.md" {
		t.Error(got)
	}
	if p := Cited(st, got.URL); !slices.Contains(p, "gone.md") {
		t.Error(p)
	}
	if p := Cited(st, "doc://x/gone.md"); !slices.Equal(p, []string{"gone.md"}) {
		t.Error(p)
	}
}

func TestPageAddresses(t *testing.T) {
	st := kb.Store{Name: "x", Spec: kb.Spec{Kind: kb.KindWeb, Source: "https://docs.example.org/guide/"}}
	for path, want := range map[string]string{
		"guide/start":                        "https://docs.example.org/guide/start",
		"docs.example.org/guide/start":       "https://docs.example.org/guide/start",
		"https://docs.example.org/other?x=1": "https://docs.example.org/other?x=1",
	} {
		got := Cite(st, path)
		if got.URL != want || !slices.Contains(Cited(st, want), path) {
			t.Errorf("%s: %s, back to %q", path, got.URL, Cited(st, want))
		}
	}
}
