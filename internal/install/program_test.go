package install

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// TestProgram: clients are told the path that stays, and no program that goes.
func TestProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	dir := t.TempDir()
	exe := filepath.Join(dir, "Cellar", "knowledge", "0.1.0", "bin", "knowledge")
	put(t, exe, "program", 0o755)
	other := filepath.Join(dir, "other", "knowledge")
	put(t, other, "another program", 0o755)
	link := filepath.Join(dir, "bin", "knowledge")
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(exe, link); err != nil {
		t.Fatal(err)
	}
	path := filepath.Dir(other) + ":relative:" + filepath.Dir(link)
	p := Place{GOOS: "linux", Home: dir, Env: func(k string) string { return map[string]string{"PATH": path}[k] }}
	if got, err := Program(exe, p); err != nil || got != link {
		t.Errorf("%q %v, want the one on the PATH", got, err)
	}
	path = "/nowhere"
	if got, err := Program(exe, p); err != nil || got != exe {
		t.Errorf("%q %v, want itself", got, err)
	}
	for _, gone := range []string{"/tmp/go-build123/b001/exe/knowledge", "/home/kim/.npm/_npx/12ab/node_modules/@x/knowledge-linux-x64/knowledge",
		"/home/kim/.claude/plugins/cache/market/knowledge/0.1.0/bin/knowledge", "/home/kim/.claude/plugins/data/knowledge-market/knowledge", "/nowhere/knowledge"} {
		if _, err := Program(gone, p); err == nil || kb.HintOf(err) == "" {
			t.Errorf("%s: %v", gone, err)
		}
	}
}

// TestChannelOf: where the program lies tells how it came and is upgraded; a
// place that tells nothing is no channel.
func TestChannelOf(t *testing.T) {
	here := t.TempDir()
	put(t, filepath.Join(here, "go.mod"), "module github.com/seed-4f2d999b/knowledge\n\ngo 1.26\n", 0o644)
	env := map[string]string{"GOBIN": "/gobin"}
	p := Place{GOOS: "linux", Home: "/home/kim", Env: func(k string) string { return env[k] }}
	for exe, want := range map[string]struct{ released, now string }{
		"/opt/homebrew/Cellar/knowledge/0.1.0/bin/knowledge":                               {"brew upgrade knowledge", ""},
		"/home/linuxbrew/.linuxbrew/Cellar/knowledge/0.1.0/bin/knowledge":                  {"brew upgrade knowledge", ""},
		`C:\Users\kim\scoop\apps\knowledge\current\knowledge.exe`:                          {"scoop update knowledge", ""},
		"/usr/lib/node_modules/@x/knowledge/node_modules/@x/knowledge-linux-x64/knowledge": {"npm install --global @x/knowledge@latest", ""},
		"/home/kim/.claude/plugins/cache/market/knowledge/0.1.0/bin/knowledge":             {"claude plugin update knowledge@market", "claude plugin update knowledge@market"},
		"/home/kim/.claude/plugins/data/knowledge-market/bin/knowledge":                    {"claude plugin update knowledge@market", "claude plugin update knowledge@market"},
		"/gobin/knowledge":               {"go install " + Module + "@latest", "go install " + Module + "@latest"},
		"/home/kim/.local/bin/knowledge": {"/install.sh | sh", ""},
		"/home/kim/go/bin/knowledge":     {"", ""}, // not where $GOBIN points
		"/opt/my tools/knowledge":        {"", ""},
		here + "/bin/knowledge":          {" ./cmd/knowledge", " ./cmd/knowledge"},
	} {
		if got := ChannelOf(exe, p, true); !strings.HasSuffix(got.Upgrade, want.released) || (want.released == "") != (got.Upgrade == "") || got.Remove == "" {
			t.Errorf("%s: %+v, want %s", exe, got, want.released)
		}
		got := ChannelOf(exe, p, false)
		if !strings.HasSuffix(got.Upgrade, want.now) || (want.now == "") != (got.Upgrade == "") || got.Remove == "" {
			t.Errorf("%s, nothing is released: %+v, want %s", exe, got, want.now)
		}
		if line := got.UpgradeLine(); strings.Contains(line, "curl") || !strings.Contains(line, want.now) || want.now == "" && !strings.Contains(line, Manual) {
			t.Errorf("%s: %s", exe, line)
		}
	}
	for _, x := range []struct{ name, value, exe string }{{"GOBIN", "", "/home/kim/go/bin/knowledge"}, {"GOPATH", "/gopath", "/gopath/bin/knowledge"}} {
		env[x.name] = x.value
		if got := ChannelOf(x.exe, p, false); got.Name != "go install" {
			t.Errorf("%s: %+v", x.exe, got)
		}
	}
	w := Place{GOOS: "windows", Home: `C:\Users\kim`, Env: func(k string) string {
		return map[string]string{"LOCALAPPDATA": `C:\Users\kim\AppData\Local`}[k]
	}}
	if got := ChannelOf(`C:\Users\kim\AppData\Local\Programs\knowledge\knowledge.exe`, w, true); !strings.HasSuffix(got.Upgrade, "install.ps1 | iex") {
		t.Errorf("%+v", got)
	}
}

// TestReleased: what upgrade claims is what the README says.
func TestReleased(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if Released == strings.Contains(string(readme), "There is no published release yet") {
		t.Errorf("Released is %v; README.md says otherwise below \"Not yet\"", Released)
	}
}

// TestFound: a program on the PATH or a folder of its settings shows a client.
func TestFound(t *testing.T) {
	o := world(t)
	for _, c := range Clients() {
		if why := c.Found(o.Place); why != "" {
			t.Errorf("%s: found at %s in an empty home directory", c.Name, why)
		}
	}
	c := Clients()[1]
	put(t, filepath.Join(o.Place.Home, ".codex", "config.toml"), "", 0o600)
	if why := c.Found(o.Place); why != filepath.Join(o.Place.Home, ".codex") {
		t.Errorf("codex: %q", why)
	}
	name := "codex"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	program := filepath.Join(o.Place.Env("PATH"), name)
	put(t, program, "", 0o755)
	if why := c.Found(o.Place); why != program {
		t.Errorf("codex: %q", why)
	}
}
