package plugin

import (
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/command"
)

// market serves a bare clone of the plugin over HTTP on this machine, as a
// forge does, and returns its address.
func (c *clients) market(promised []byte) string {
	c.Helper()
	dir := c.TempDir()
	c.must(dir, "git", "clone", "-q", "--bare", c.clone(promised), "knowledge.git")
	git, err := exec.LookPath("git")
	if err != nil {
		c.Skip("no program git on the PATH")
	}
	s := httptest.NewServer(&cgi.Handler{Path: git, Args: []string{"http-backend"}, Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1"}})
	c.Cleanup(s.Close)
	return s.URL + "/knowledge.git"
}

// cache is where the launcher keeps programs for this home.
func (c *clients) cache() string { return filepath.Join(c.home, ".cache/knowledge/bin") }

// withGo lets the client find Go, whose caches are those of this machine: what
// is tried is that the launcher builds, not that modules can be fetched.
func (c *clients) withGo() (goroot string) {
	c.Helper()
	out, err := exec.Command("go", "env", "GOROOT", "GOMODCACHE", "GOCACHE").Output()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(lines) != 3 {
		c.Skip("no program go on the PATH")
	}
	c.env = append(c.env, "GOMODCACHE="+lines[1], "GOCACHE="+lines[2], "GOPROXY=off", "GOTOOLCHAIN=local")
	return lines[0]
}

// path puts a folder before the PATH.
func (c *clients) path(dir string) {
	for i, e := range c.env {
		if p, ok := strings.CutPrefix(e, "PATH="); ok {
			c.env[i] = "PATH=" + dir + ":" + p
		}
	}
}

// TestClaudeCodeFromMarketplace is the way of most users: a marketplace behind
// a git URL, which the client copies without .git, and an empty home directory.
// Each way to a program ends in a true answer.
func TestClaudeCodeFromMarketplace(t *testing.T) {
	const question = "how long to pause between attempts"
	for _, tt := range []struct {
		name    string
		release bool
		set     func(c *clients) (mend func())
		refused string // what the first call is told instead of an answer
		kept    string // where the program is kept, below the cache; none for ""
	}{
		{name: "Go and no release", kept: "0*/built/*", set: func(c *clients) func() {
			c.path(filepath.Join(c.withGo(), "bin"))
			return nil
		}},
		{name: "a release and no Go", release: true, kept: "0*/knowledge", set: func(c *clients) func() { return nil }},
		{name: "a program on the PATH", set: func(c *clients) func() {
			dir := c.TempDir()
			if err := os.Symlink(c.program, filepath.Join(dir, "knowledge")); err != nil {
				c.Fatal(err)
			}
			c.path(dir)
			return nil
		}},
		{name: "none of it", refused: "curl -fsSL https://go.dev/dl/go", kept: "0*/built/*", set: func(c *clients) func() {
			goroot := c.withGo()
			return func() { // what the command does that the client was told
				if err := os.MkdirAll(c.cache(), 0o755); err != nil {
					c.Fatal(err)
				}
				if err := os.Symlink(goroot, filepath.Join(c.cache(), "go")); err != nil {
					c.Fatal(err)
				}
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newClients(t)
			if _, err := os.Stat("/usr/bin/go"); err == nil {
				t.Skip("Go lies beside the tools that the client needs")
			}
			if err := os.WriteFile(filepath.Join(c.project, "retry.go"), []byte(sample), 0o644); err != nil {
				t.Fatal(err)
			}
			mend := tt.set(c)
			var archive []byte
			if tt.release {
				archive = c.release()
				c.env = append(c.env, "KNOWLEDGE_RELEASE_URL="+c.standIn(archive))
			}
			market := c.market(archive)
			m := newModel(t)
			c.env = append(c.env, "ANTHROPIC_BASE_URL="+m.URL, "ANTHROPIC_API_KEY=dummy")

			began := time.Now()
			c.must(c.project, "claude", "plugin", "marketplace", "add", market)
			c.must(c.project, "claude", "plugin", "install", name+"@"+owner)
			data := filepath.Join(c.home, "data of mine")
			configure := exec.Command(filepath.Join(c.modules, ".bin/claude"), "plugin", "configure", name+"@"+owner, "--values-stdin")
			configure.Dir, configure.Env, configure.Stdin = c.project, c.env, strings.NewReader(`{"data_dir":"`+data+`"}`)
			if out, err := configure.CombinedOutput(); err != nil {
				t.Fatalf("configure: %v %s", err, out)
			}
			installed := time.Since(began)
			copies, err := filepath.Glob(filepath.Join(c.home, ".claude/plugins/cache/*/*/*"))
			if err != nil || len(copies) != 1 {
				t.Fatalf("the client keeps %q (%v)", copies, err)
			}
			if _, err := os.Stat(filepath.Join(copies[0], ".git")); err == nil {
				t.Error("the client copies .git now: this test tries nothing new")
			}
			replies := 0
			first, text := c.say(m, "/knowledge:search "+question, func(last string) *use {
				if last != "" {
					replies++
				}
				if replies == 1 && tt.refused != "" {
					mend()
				}
				if strings.Contains(last, "retry.go") || replies > 90 {
					return nil
				}
				return &use{toolPrefix + "search", map[string]any{"query": question}}
			})
			t.Logf("installed after %v, answered after %v, %d calls", installed.Round(10*time.Millisecond), time.Since(began).Round(10*time.Millisecond), replies)
			if !strings.Contains(text, "retry.go") || !strings.Contains(text, "Backoff") {
				t.Errorf("no answer:\n%s", text)
			}
			if tt.refused != "" {
				if !strings.Contains(text, "< error: knowledge: ") || !strings.Contains(text, tt.refused) {
					t.Errorf("the first call is not told what to do:\n%s", text)
				}
				said := string(first.System)
				for _, msg := range first.Messages {
					said += string(msg.Content)
				}
				if !strings.Contains(said, "This server cannot work yet") || !strings.Contains(said, tt.refused) {
					t.Error("the first prompt does not say what is missing")
				}
				t.Log(text[strings.Index(text, "< error"):][:600])
			} else if strings.Contains(text, "< error") {
				t.Errorf("%s", text)
			}
			if _, err := os.Stat(filepath.Join(data, "knowledge.db")); err != nil {
				t.Errorf("the setting of the data directory does not reach the program: %v", err)
			}
			got, _ := filepath.Glob(filepath.Join(c.cache(), tt.kept))
			if tt.kept != "" && len(got) == 0 {
				t.Errorf("nothing is kept as %s", tt.kept)
			}
			if plain, _ := os.Stat(filepath.Join(c.cache(), command.Version, "knowledge")); tt.kept == "" && plain != nil {
				t.Error("a program was kept although one is on the PATH")
			}
			list := c.must(c.project, "claude", "mcp", "list")
			if strings.Count(list, "bin/knowledge") != 1 || !strings.Contains(list, "plugin:knowledge:knowledge") || !strings.Contains(list, "✔ Connected") {
				t.Errorf("not one server: %s", list)
			}
		})
	}
}
