package project

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func noEnv(string) string { return "" }

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// repo makes what git needs to recognise a repository at dir.
func repo(t *testing.T, dir string) {
	t.Helper()
	write(t, filepath.Join(dir, "HEAD"), "ref: refs/heads/main\n")
	for _, d := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

func mkdir(t *testing.T, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func must(t *testing.T, dir, explicit string, env func(string) string) Project {
	t.Helper()
	p, err := Resolve(dir, explicit, env)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// temp returns a directory without links in its path, outside any repository.
func temp(t *testing.T) string {
	t.Helper()
	d, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestWorkTreesAreOneProjectWithRootsOfTheirOwn(t *testing.T) {
	top := temp(t)
	main, git := filepath.Join(top, "main"), filepath.Join(top, "main", ".git")
	repo(t, git)
	linked := mkdir(t, filepath.Join(top, "linked"))
	write(t, filepath.Join(linked, ".git"), "gitdir: "+filepath.Join(git, "worktrees", "linked")+"\n")
	write(t, filepath.Join(git, "worktrees", "linked", "HEAD"), "ref: refs/heads/x\n")
	write(t, filepath.Join(git, "worktrees", "linked", "commondir"), "../..\n")
	sub := filepath.Join(main, "vendor", "sub")
	write(t, filepath.Join(sub, ".git"), "gitdir: ../../.git/modules/sub\n")
	repo(t, filepath.Join(git, "modules", "sub"))
	bare := filepath.Join(top, "bare.git")
	repo(t, bare)

	a := must(t, mkdir(t, filepath.Join(main, "deep", "er")), "", noEnv)
	if a.Root != main || !a.Git || a.None || len(a.ID) != 16 || a.Dir != filepath.Join(main, "deep", "er") {
		t.Errorf("main: %+v", a)
	}
	if b := must(t, linked, "", noEnv); b.ID != a.ID || b.Root != linked || !b.Git {
		t.Errorf("work tree: %+v, main has %s", b, a.ID)
	}
	if c := must(t, sub, "", noEnv); c.ID == a.ID || c.Root != sub || !c.Git {
		t.Errorf("submodule: %+v", c)
	}
	if d := must(t, bare, "", noEnv); d.Root != bare || !d.Git || d.ID == a.ID {
		t.Errorf("bare: %+v", d)
	}
	if e := must(t, top, filepath.Join("main", "deep"), env(ClientVariable, bare)); e.ID != a.ID {
		t.Errorf("explicit and relative: %+v", e)
	}
	if f := must(t, top, "", env(ClientVariable, linked)); f.ID != a.ID || f.Root != linked {
		t.Errorf("from the client: %+v", f)
	}
	if runtime.GOOS != "windows" {
		link := filepath.Join(top, "link")
		if err := os.Symlink(main, link); err != nil {
			t.Fatal(err)
		}
		if g := must(t, filepath.Join(link, "deep"), "", noEnv); g.ID != a.ID || g.Root != main {
			t.Errorf("through a link: %+v", g)
		}
	}
}

func TestOutsideGitOnlyANamedDirectoryIsAProject(t *testing.T) {
	top := temp(t)
	write(t, filepath.Join(top, "fake", ".git"), "not a pointer\n")
	mkdir(t, filepath.Join(top, "empty", ".git"))
	write(t, filepath.Join(top, "dangling", ".git"), "gitdir: /nowhere/at/all\n")
	for _, dir := range []string{top, filepath.Join(top, "fake"), filepath.Join(top, "empty"), filepath.Join(top, "dangling")} {
		p := must(t, dir, "", noEnv)
		if !p.None || p.ID != "" || p.Root != dir || p.Git {
			t.Errorf("%s: %+v", dir, p)
		}
		named, client := must(t, "/", dir, noEnv), must(t, "/", "", env(ClientVariable, dir))
		if named != client || named.None || named.ID == "" || named.Root != dir || named.Git {
			t.Errorf("named %s: %+v, %+v", dir, named, client)
		}
	}
}

func TestWhatIsNoDirectoryIsSaid(t *testing.T) {
	top := temp(t)
	write(t, filepath.Join(top, "file"), "x")
	for name, want := range map[string]kb.Code{"none": kb.NotFound, "file": kb.Invalid} {
		_, err := Resolve(top, name, noEnv)
		if kb.CodeOf(err) != want || kb.HintOf(err) == "" || !strings.Contains(err.Error(), "--project") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Resolve(top, "", env(ClientVariable, filepath.Join(top, "none"))); !strings.Contains(err.Error(), ClientVariable) {
		t.Errorf("got %v", err)
	}
}

func TestDataDir(t *testing.T) {
	for _, c := range []struct {
		goos, flag string
		env        func(string) string
		want       string
	}{
		{"linux", "/flag", env(DataVariable, "/var", "HOME", "/h"), "/flag"},
		{"linux", "", env(DataVariable, "/var", "HOME", "/h", "XDG_DATA_HOME", "/x"), "/var"},
		{"linux", "", env("HOME", "/h", "XDG_DATA_HOME", "/x"), "/x/knowledge"},
		{"linux", "", env("HOME", "/h", "XDG_DATA_HOME", "rel"), "/h/.local/share/knowledge"},
		{"freebsd", "", env("HOME", "/h"), "/h/.local/share/knowledge"},
		{"darwin", "", env("HOME", "/Users/u", "XDG_DATA_HOME", "/x"), "/Users/u/Library/Application Support/knowledge"},
		{"windows", "", env("LocalAppData", `C:\Users\u\AppData\Local`, "HOME", "/h"), `C:\Users\u\AppData\Local\knowledge`},
		{"windows", "", env("USERPROFILE", `C:\Users\u`), `C:\Users\u\AppData\Local\knowledge`},
		{"linux", "~/kn", env(DataVariable, "/var", "HOME", "/h"), "/h/kn"},
		{"linux", "", env(DataVariable, "~/kn", "HOME", "/h"), "/h/kn"},
		{"linux", "", env(DataVariable, "/a/~/kn", "HOME", "/h"), "/a/~/kn"},
		{"windows", "", env(DataVariable, `~\kn`, "USERPROFILE", `C:\Users\u`), `C:\Users\u\kn`},
		{"windows", "~/kn", env("USERPROFILE", `C:\Users\u`), `C:\Users\u/kn`},
		{"linux", "", noEnv, ""},
		{"darwin", "", noEnv, ""},
		{"windows", "", noEnv, ""},
	} {
		got, err := dataDir(c.goos, c.flag, c.env)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: got %q, %v, want %q", c.goos, got, err, c.want)
		}
		if c.want == "" && (kb.CodeOf(err) != kb.Invalid || !strings.Contains(kb.HintOf(err), DataVariable)) {
			t.Errorf("%s: %v", c.goos, err)
		}
	}
	for _, d := range []string{"rel/kn", "~", "~other/kn", "./kn"} {
		if got, err := DataDir("", env(DataVariable, d, "HOME", "/h")); kb.CodeOf(err) != kb.Invalid || !strings.Contains(err.Error(), d) || !strings.Contains(kb.HintOf(err), "~/") {
			t.Errorf("the variable %q: %q, %v", d, got, err)
		}
	}
	if _, err := DataDir("", env(DataVariable, "~/kn")); kb.CodeOf(err) != kb.Invalid || kb.HintOf(err) == "" {
		t.Errorf("without a home: %v", err)
	}
	if d, err := DataDir("rel", noEnv); err != nil || !filepath.IsAbs(d) {
		t.Errorf("got %q, %v", d, err)
	}
}
