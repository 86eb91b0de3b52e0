package source

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestCanonicalURL(t *testing.T) {
	dir := t.TempDir()
	for raw, want := range map[string]string{
		"https://github.com/a/b":              "https://github.com/a/b",
		"https://GitHub.com/a/B.git":          "https://github.com/a/B",
		"HTTPS://github.com:443/a/b/":         "https://github.com/a/b",
		"https://github.com/a/b.git/":         "https://github.com/a/b",
		"https://user@github.com/a/b":         "https://github.com/a/b",
		"https://host:8443/a":                 "https://host:8443/a",
		"  https://host/a  ":                  "https://host/a",
		"https://[::1]:8443/a":                "https://[::1]:8443/a",
		"http://127.0.0.1:8080/a.git":         "http://127.0.0.1:8080/a",
		"http://localhost/a":                  "http://localhost/a",
		"http://[::1]/a":                      "http://[::1]/a",
		"ssh://git@Host.org:22/a/b.git":       "ssh://git@host.org/a/b",
		"ssh://host.org:2222/a":               "ssh://host.org:2222/a",
		"git@github.com:a/b.git":              "git@github.com:a/b",
		"git@GitHub.com:a/b/":                 "git@github.com:a/b",
		"host.org:path/to.git":                "host.org:path/to",
		"https://host/~me/b.git":              "https://host/~me/b",
		"https://host/.git":                   "https://host/.git",
		"https://dev.azure.com/o/p/_git/repo": "https://dev.azure.com/o/p/_git/repo",
	} {
		kind, got, err := Canonical(t.Context(), "", raw, dir)
		if err != nil || got != want || kind != kb.KindRepo {
			t.Errorf("%q: %q, %q, %v; want %q", raw, kind, got, err, want)
			continue
		}
		if _, again, err := Canonical(t.Context(), kind, got, dir); again != got || err != nil {
			t.Errorf("%q is not stable: %q, %v", got, again, err)
		}
	}
}

func TestCanonicalRefuses(t *testing.T) {
	dir := writeFiles(t, map[string]string{"file": "x"})
	for _, c := range []struct {
		kind kb.Kind
		raw  string
		code kb.Code
		says string // in message or hint
	}{
		{"", "ext::sh -c touch% /tmp/x", kb.Invalid, "transport"},
		{"repo", "ext::sh", kb.Invalid, "transport"},
		{"repo", "git://host/a", kb.Invalid, "transport"},
		{"repo", "file:///tmp/x", kb.Invalid, "path itself"},
		{"repo", "ftp://host/a", kb.Invalid, "transport"},
		{"repo", "http://example.com/a", kb.Invalid, "https"},
		{"repo", "http://127.0.0.1.evil.com/a", kb.Invalid, "https"},
		{"repo", "http://10.0.0.1/a", kb.Invalid, "https"},
		{"repo", "https://u:hunter2@host/a", kb.Invalid, "credential helper"},
		{"repo", "https://host", kb.Invalid, "no repository"},
		{"repo", "https://host/a?x=1", kb.Invalid, "query"},
		{"repo", "https://host/a#main", kb.Invalid, "parameters"},
		{"repo", "https://-oProxyCommand=x/a", kb.Invalid, "host"},
		{"repo", "ssh://-oProxyCommand=x/a", kb.Invalid, "host"},
		{"repo", "ssh://-x@host/a", kb.Invalid, "user"},
		{"repo", "-oProxy@host:a", kb.Invalid, "user@host:path"},
		{"repo", "git@-host:a", kb.Invalid, "user@host:path"},
		{"repo", "git@host:--upload-pack=x", kb.Invalid, "user@host:path"},
		{"repo", "--upload-pack=x", kb.NotFound, "https"},
		{"repo", "https://host/a\nb", kb.Invalid, "control"},
		{"repo", "facebook/react", kb.NotFound, "https://github.com/facebook/react"},
		{"repo", "github.com/a/b", kb.NotFound, "https://github.com/a/b"},
		{"repo", ".", kb.NotFound, "type file"},
		{"repo", "https://" + strings.Repeat("a", 5000), kb.TooLarge, "URL"},
		{"folder", "https://host/a", kb.Invalid, "type repo"},
		{"folder", "nowhere", kb.NotFound, "spelling"},
		{"folder", "file", kb.Invalid, "paths"},
		{"", "", kb.Invalid, "source"},
		{"web", "host.org/docs", kb.Invalid, "https://host.org/docs"},
		{"web", "ftp://host/docs", kb.Invalid, "http"},
		{"web", "https://u:hunter2@host/a", kb.Invalid, "web.headers"},
		{"web", "https:///a", kb.Invalid, "host"},
		{"web", "./docs", kb.Invalid, "https://host/path"},
		{"web", "npm:", kb.Invalid, "npm:NAME"},
		{"web", "npm:../x", kb.Invalid, "npm:NAME"},
		{"web", "npm:a@1 2", kb.Invalid, "npm:NAME"},
		{"", "npm:a@", kb.Invalid, "npm:NAME"},
		{"", "go:x", kb.Invalid, "go:MODULE"},
		{"", "go:../../x.y", kb.Invalid, "go:MODULE"},
		{"", "https://docs.example.org/", kb.Invalid, "type web"},
		{"tape", "x", kb.Invalid, "file, repo, web or zip"},
	} {
		_, got, err := Canonical(t.Context(), c.kind, c.raw, dir)
		said := ""
		if err != nil {
			said = err.Error() + " / " + kb.HintOf(err)
		}
		if kb.CodeOf(err) != c.code || kb.HintOf(err) == "" || !strings.Contains(said, c.says) || strings.Contains(said, "hunter2") {
			t.Errorf("%s %q: %q, %s (%s)", c.kind, c.raw, got, said, kb.CodeOf(err))
		}
	}
}

func TestCanonicalWeb(t *testing.T) {
	for _, c := range []struct {
		kind            kb.Kind
		raw, want, name string
	}{
		{"web", "HTTPS://Docs.Example.org:443", "https://docs.example.org/", "docs.example.org"},
		{"web", "https://docs.example.org/Guide/#install", "https://docs.example.org/Guide/", "docs.example.org"},
		{"site", "https://docs.example.org/react/intro.html?v=2", "https://docs.example.org/react/intro.html?v=2", "docs.example.org-intro"},
		{"web", "http://127.0.0.1:8080/x", "http://127.0.0.1:8080/x", "127.0.0.1-x"},
		{"web", "http://[::1]:80/", "http://[::1]/", "::1"},
		{"web", "https://bücher.example/", "https://bücher.example/", "bücher.example"},
		{"", "npm:left-pad", "npm:left-pad", "left-pad"},
		{"", "npm:left-pad@latest", "npm:left-pad", "left-pad"},
		{"web", "npm:@types/node@^22.1", "npm:@types/node@^22.1", "node-22.1"},
		{"", "go:golang.org/x/sync@v0.7.0", "go:golang.org/x/sync@v0.7.0", "sync-v0.7.0"},
		{"", "go:gopkg.in/yaml.v3", "go:gopkg.in/yaml.v3", "yaml"},
		{"", "go:github.com/jackc/pgx/v5@v5", "go:github.com/jackc/pgx/v5@v5", "pgx-v5"},
	} {
		kind, got, err := Canonical(t.Context(), c.kind, c.raw, t.TempDir())
		if err != nil || got != c.want || kind != kb.KindWeb {
			t.Errorf("%q: %q, %q, %v; want %q", c.raw, kind, got, err, c.want)
			continue
		}
		if _, again, err := Canonical(t.Context(), kind, got, ""); again != got || err != nil {
			t.Errorf("%q is not stable: %q, %v", got, again, err)
		}
		if n := NameOf(kind, got); n != c.name {
			t.Errorf("%q is named %q, want %q", got, n, c.name)
		}
	}
}

func TestCanonicalSite(t *testing.T) {
	a, err := CanonicalSelection(kb.Selection{Web: kb.Web{Include: []string{" /b/ ", "/a/", "/a/", ""}, Hosts: []string{"B.org", "*.a.org"}, Headless: "auto", Crawl: " x "}})
	b, err2 := CanonicalSelection(kb.Selection{Web: kb.Web{Include: []string{"/a/", "/b/"}, Hosts: []string{"*.a.org", "b.org"}, Crawl: "x"}})
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	one, two := kb.Spec{Kind: kb.KindWeb, Source: "https://x/", Selection: a}, kb.Spec{Kind: kb.KindWeb, Source: "https://x/", Selection: b}
	if one.ID() != two.ID() {
		t.Errorf("%+v and %+v differ", a, b)
	}
	if b.Web.MaxPages = 7; one.ID() == (kb.Spec{Kind: kb.KindWeb, Source: "https://x/", Selection: b}).ID() {
		t.Error("maxPages is no part of the identity")
	}
	for _, w := range []kb.Web{{Depth: -1}, {MaxPages: MaxPages + 1}, {Headless: "sometimes"}, {Hosts: []string{"https://x"}}, {Crawl: strings.Repeat("x", 3000)}} {
		if _, err := CanonicalSelection(kb.Selection{Web: w}); err == nil || kb.HintOf(err) == "" {
			t.Errorf("%+v: %v", w, err)
		}
	}
	// What a store of another kind is called does not change by the new fields.
	if id := (kb.Spec{Kind: kb.KindFolder, Source: "/a"}).ID(); id != "q4cgjf4cxwwiu6fd" {
		t.Errorf("the id of a folder is %s", id)
	}
}

func TestCanonicalFolder(t *testing.T) {
	dir := writeFiles(t, map[string]string{"a/b/": "", "we ird:name/": ""})
	for _, c := range []struct{ raw, want string }{
		{".", dir}, {"a", filepath.Join(dir, "a")}, {"./a/../a/b/", filepath.Join(dir, "a", "b")},
		{filepath.Join(dir, "a"), filepath.Join(dir, "a")}, {"we ird:name", filepath.Join(dir, "we ird:name")},
	} {
		for _, kind := range []kb.Kind{"", "file", "folder"} {
			k, got, err := Canonical(t.Context(), kind, c.raw, dir)
			if k != kb.KindFolder || got != c.want || err != nil {
				t.Errorf("%q %q: %q, %q, %v", kind, c.raw, k, got, err)
			}
		}
	}
	t.Setenv("HOME", dir)
	t.Setenv("USERPROFILE", dir)
	if _, got, err := Canonical(t.Context(), "file", "~/a", "/"); got != filepath.Join(dir, "a") || err != nil {
		t.Errorf("home: %q, %v", got, err)
	}
	if runtime.GOOS != "windows" {
		os.Symlink("a", filepath.Join(dir, "link"))
		if _, got, err := Canonical(t.Context(), "file", "link/b", dir); got != filepath.Join(dir, "a", "b") || err != nil {
			t.Errorf("link: %q, %v", got, err)
		}
	}
}

func TestCanonicalRef(t *testing.T) {
	for _, c := range []struct {
		in, want kb.Ref
		ok       bool
	}{
		{kb.Ref{}, kb.Ref{}, true},
		{kb.Ref{Type: kb.RefDefault, Name: "x"}, kb.Ref{}, true},
		{kb.Ref{Type: kb.RefBranch, Name: "refs/heads/main"}, kb.Ref{Type: kb.RefBranch, Name: "main"}, true},
		{kb.Ref{Type: kb.RefTag, Name: "v1.0"}, kb.Ref{Type: kb.RefTag, Name: "v1.0"}, true},
		{kb.Ref{Type: kb.RefCommit, Name: "ABCDEF0"}, kb.Ref{Type: kb.RefCommit, Name: "abcdef0"}, true},
		{kb.Ref{Type: kb.RefCommit, Name: "abc"}, kb.Ref{}, false},
		{kb.Ref{Type: kb.RefCommit, Name: "xyzxyzx"}, kb.Ref{}, false},
		{kb.Ref{Type: kb.RefBranch, Name: "--upload-pack=x"}, kb.Ref{}, false},
		{kb.Ref{Type: kb.RefBranch, Name: "a..b"}, kb.Ref{}, false},
		{kb.Ref{Type: kb.RefBranch, Name: "a:b"}, kb.Ref{}, false},
		{kb.Ref{Type: kb.RefBranch, Name: "a/../b"}, kb.Ref{}, false},
		{kb.Ref{Type: kb.RefBranch, Name: "a/"}, kb.Ref{}, false},
		{kb.Ref{Type: kb.RefBranch, Name: ""}, kb.Ref{}, false},
		{kb.Ref{Type: "mood", Name: "x"}, kb.Ref{}, false},
	} {
		got, err := CanonicalRef(c.in)
		if (err == nil) != c.ok || c.ok && got != c.want || err != nil && kb.HintOf(err) == "" {
			t.Errorf("%+v: %+v, %v", c.in, got, err)
		}
	}
}

func TestCanonicalSelection(t *testing.T) {
	sel, err := CanonicalSelection(kb.Selection{Paths: []string{"b/", "./a", "a/x", `c\d`, "b"}, All: true})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(kb.Selection{Paths: []string{"a", "b", "c/d"}, All: true}, sel); d != "" {
		t.Error(d)
	}
}

func TestLocalRefNamesDoNotCollide(t *testing.T) {
	seen := map[string]string{}
	for _, n := range []string{"a", "A", "a/b", "a%2fb", "a_b", "é", strings.Repeat("x", 300), strings.Repeat("x", 301)} {
		l := string(local(kb.Ref{Type: kb.RefBranch, Name: n}))
		if other, ok := seen[strings.ToLower(l)]; ok {
			t.Errorf("%q and %q are both %q", n, other, l)
		}
		seen[strings.ToLower(l)] = n
		if strings.Count(l, "/") != 3 || len(l) > 200 {
			t.Errorf("%q → %q", n, l)
		}
	}
}

func TestNetrc(t *testing.T) {
	text := "machine other login a password b\n# machine x password y\nmacdef init\nmachine host password no\n\nmachine host\n  login me\n  password pw\ndefault login d password dd\n"
	auth, ok := netrc(text, "host")
	if !ok || !strings.Contains(auth.String(), "me") {
		t.Errorf("%v, %v", auth, ok)
	}
	if a, ok := netrc(text, "unknown"); ok {
		t.Errorf("unknown host got %v", a)
	}
}

func TestGitEnvironment(t *testing.T) {
	env := gitEnv([]string{"PATH=/bin", "GIT_DIR=/x", "GIT_CONFIG_COUNT=1", "GIT_SSH_COMMAND=ssh", "SSH_ASKPASS=x", "GIT_ALLOW_PROTOCOL=ext"}, false)
	got := map[string]string{}
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		got[k] = v
	}
	if got["GIT_ALLOW_PROTOCOL"] != "https:ssh" || got["GIT_TERMINAL_PROMPT"] != "0" || got["SSH_ASKPASS"] != "" || got["GIT_SSH_COMMAND"] != "ssh" || got["PATH"] != "/bin" {
		t.Errorf("%v", got)
	}
	for _, k := range []string{"GIT_DIR", "GIT_CONFIG_COUNT"} {
		if _, ok := got[k]; ok {
			t.Errorf("%s is kept", k)
		}
	}
	for url, want := range map[string]bool{"http://127.0.0.1:80/x": true, "http://[::1]:80/x": true, "http://localhost/x": true, "http://example.org:80/x": false} {
		if loopbackURL(url) != want {
			t.Errorf("loopbackURL(%q) = %v", url, !want)
		}
	}
}

func TestSideband(t *testing.T) {
	var got []kb.Progress
	ctx := kb.WithProgress(t.Context(), func(p kb.Progress) { got = append(got, p) })
	s := &sideband{ctx: ctx, phase: "clone"}
	for _, part := range []string{"Enumerating objects: 5, done.\nCounting obj", "ects:  40% (2/5)\rCounting objects: 100% (5/5), done.\n", "Total 5 (delta 0)\n"} {
		s.Write([]byte(part))
	}
	want := []kb.Progress{{Phase: "clone", Done: 2, Total: 5, Percent: 40}, {Phase: "clone", Done: 5, Total: 5, Percent: 100}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
