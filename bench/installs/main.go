// Command installs tries `knowledge install` with real clients from npm: in
// an empty home directory, in a file that the client's user has, with the
// variables that move files, and in a project. After an install the client
// must list the server, connected where it says so; after an uninstall not any
// more, and the file must be what it was to the byte, unless the client itself
// wrote it anew meanwhile, which is told.
//
//	installs [-out FILE]
//
// CLIENTS_DIR keeps what npm installed for the next time. The clients see an
// empty home directory and, where the system permits, no network.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/install/configedit"
)

// The versions that are tried.
var packages = []string{
	"@anthropic-ai/claude-code@2.1.329", "@openai/codex@0.169.0", "@google/gemini-cli@0.61.0", "opencode-ai@1.18.33", "@github/copilot@1.0.102",
	"node@22.23.3", // some of them need it
}

// client is a row of what is tried.
type client struct {
	name     string
	file     string // of the user, below the home directory
	before   string // what a user has in it
	project  string // the file of a project
	variable string // that moves the user's file
	moved    string // the file below what it names
	says     string // stands in the line of a server that is connected
	shared   string // the same in a project: what it says before the user approves it
	trust    string // the user's file that makes the client trust the project DIR,
	trusted  string // and what stands in it
}

const others = "{\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"/bin/false\",\n      \"args\": []\n    }\n  }\n}\n"

var clients = []client{
	{"claude", ".claude.json", others, ".mcp.json", "CLAUDE_CONFIG_DIR", ".claude.json", "✔ Connected", "Pending approval", "", ""},
	{"codex", ".codex/config.toml", "# mine\nmodel = \"gpt-5-codex\" # fast\n\n[mcp_servers.other]\ncommand = \"/bin/false\"", ".codex/config.toml", "CODEX_HOME", "config.toml", "enabled", "enabled",
		".codex/config.toml", "[projects.\"DIR\"]\ntrust_level = \"trusted\"\n"},
	{"gemini", ".gemini/settings.json", "{\n\t// mine\n\t\"ui\": {\"theme\": \"GitHub\"},\n\t\"mcpServers\": {}\n}", ".gemini/settings.json", "GEMINI_CLI_HOME", ".gemini/settings.json", "Connected", "Connected", "", ""},
	{"opencode", ".config/opencode/opencode.jsonc", "{\n    \"$schema\": \"https://opencode.ai/config.json\",\n    // mine\n    \"mcp\": {\n        \"other\": {\"type\": \"local\", \"command\": [\"/bin/false\"], \"enabled\": false,},\n    },\n}\n", "opencode.json", "XDG_CONFIG_HOME", "opencode/opencode.json", "connected", "connected", "", ""},
	{"copilot", ".copilot/mcp-config.json", others, ".github/mcp.json", "COPILOT_HOME", "mcp-config.json", "local", "local",
		".copilot/config.json", `{"trustedFolders":["DIR"]}`},
}

func main() {
	out := flag.String("out", "", "write the report there")
	flag.Parse()
	switch skipped, err := run(*out); {
	case err != nil:
		fmt.Fprintln(os.Stderr, "installs:", err)
		os.Exit(1)
	case skipped != "":
		fmt.Println("skipped:", skipped)
	}
}

func run(out string) (skipped string, err error) {
	if runtime.GOOS != "linux" {
		return "the clients are tried on Linux only", nil
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return "no program npm on the PATH", nil
	}
	tmp, err := os.MkdirTemp("", "installs-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	if _, err := exec.LookPath("git"); err != nil {
		return "no program git on the PATH", nil
	}
	dir := os.Getenv("CLIENTS_DIR")
	if dir == "" {
		dir = filepath.Join(tmp, "clients")
	}
	if skipped := fetch(dir); skipped != "" {
		return skipped, nil
	}
	bin := filepath.Join(tmp, "bin")
	build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(bin, "knowledge"), "./cmd/knowledge")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if b, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, b)
	}
	modules := filepath.Join(dir, "node_modules")
	t := &trial{tmp: tmp, path: strings.Join([]string{bin, filepath.Join(modules, ".bin"), filepath.Join(modules, "node", "bin"), "/usr/bin", "/bin"}, ":")}
	t.alone = exec.Command("unshare", "-n", "true").Run() == nil
	var report strings.Builder
	fmt.Fprintf(&report, "# Installing into real clients, %s\n\nnpm: %s\n\n", time.Now().UTC().Format(time.DateOnly), strings.Join(packages, ", "))
	fmt.Fprintf(&report, "| client | where | after install | after uninstall | file |\n|---|---|---|---|---|\n")
	failed := 0
	for _, c := range clients {
		for _, row := range t.client(c) {
			if row.err != "" {
				failed++
				row.after = "FAILED: " + strings.Join(strings.Fields(row.err), " ")
			}
			fmt.Fprintf(&report, "| %s | %s | %s | %s | %s |\n", c.name, row.where, row.after, row.gone, row.file)
		}
	}
	fmt.Print(report.String())
	if out != "" {
		if err := os.WriteFile(out, []byte(report.String()), 0o644); err != nil {
			return "", err
		}
	}
	if failed > 0 {
		return "", fmt.Errorf("%d rows failed", failed)
	}
	return "", nil
}

// fetch has npm install the clients, once; it returns why they cannot be had.
func fetch(dir string) string {
	want := strings.Join(packages, "\n")
	stamp := filepath.Join(dir, "installs")
	if b, err := os.ReadFile(stamp); err == nil && string(b) == want {
		return ""
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err.Error()
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private":true}`), 0o644); err != nil {
		return err.Error()
	}
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "npm", append([]string{"install", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1"}, packages...)...)
	cmd.Dir = dir
	if b, err := cmd.CombinedOutput(); err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
		return "npm cannot install the clients: " + line
	}
	if err := os.WriteFile(stamp, []byte(want), 0o644); err != nil {
		return err.Error()
	}
	return ""
}

type trial struct {
	tmp, path string
	alone     bool // a network of its own is permitted
	n         int
}

// row is one line of the report.
type row struct{ where, after, gone, file, err string }

func (t *trial) client(c client) []row {
	rows := []row{
		t.one(c, "no file", "", "", ""),
		t.one(c, "a user's file", c.before, "", ""),
		t.one(c, "$"+c.variable, "", c.variable, ""),
	}
	if c.project != "" {
		rows = append(rows, t.one(c, "project", "", "", c.project))
	}
	return rows
}

// one installs, lists, uninstalls and lists again, in a home of its own.
func (t *trial) one(c client, where, before, variable, project string) row {
	r := row{where: where}
	t.n++
	home := filepath.Join(t.tmp, fmt.Sprintf("home%d", t.n))
	work := filepath.Join(home, "project")
	if b, err := exec.Command("git", "init", "-q", work).CombinedOutput(); err != nil {
		r.err = "git: " + string(b)
		return r
	}
	file := filepath.Join(home, c.file)
	env := []string{"HOME=" + home, "PATH=" + t.path, "TERM=dumb", "LANG=C.UTF-8", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "GEMINI_CLI_TRUST_WORKSPACE=true", "OPENCODE_DISABLE_AUTOUPDATE=1"}
	args := []string{"--client", c.name}
	if variable != "" {
		env = append(env, variable+"="+filepath.Join(home, "moved"))
		file = filepath.Join(home, "moved", c.moved)
	}
	connected := c.says
	if project != "" {
		args = append(args, "--project")
		file, connected = filepath.Join(work, project), c.shared
	}
	if before == "" && variable == "" && project == "" {
		file = strings.TrimSuffix(file, "c") // of opencode.jsonc, which is taken where it is there
	}
	if project != "" && c.trust != "" {
		trust := filepath.Join(home, c.trust)
		if err := os.MkdirAll(filepath.Dir(trust), 0o755); err != nil {
			r.err = err.Error()
			return r
		}
		if err := os.WriteFile(trust, []byte(strings.ReplaceAll(c.trusted, "DIR", work)), 0o644); err != nil {
			r.err = err.Error()
			return r
		}
	}
	if before != "" || variable != "" {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			r.err = err.Error()
			return r
		}
	}
	if before != "" {
		if err := os.WriteFile(file, []byte(before), 0o644); err != nil {
			r.err = err.Error()
			return r
		}
	}
	run := func(name string, args ...string) string {
		ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
		defer stop()
		if t.alone {
			args = append([]string{"-n", "bash", "-c", `ip link set lo up; exec "$@"`, "_", name}, args...)
			name = "unshare"
		}
		cmd := exec.CommandContext(ctx, "env", append(append([]string{"-i"}, env...), append([]string{name}, args...)...)...)
		cmd.Dir = work
		b, err := cmd.CombinedOutput()
		if err != nil {
			b = append(b, "\n["+err.Error()+"]"...)
		}
		return string(b)
	}
	if before != "" { // what the client adds to its file at its first start is not ours
		run(c.name, "mcp", "list")
		b, err := os.ReadFile(file)
		if err != nil {
			r.err = err.Error()
			return r
		}
		before = string(b)
	}
	said := run("knowledge", append([]string{"install"}, args...)...)
	installed, err := os.ReadFile(file)
	if err != nil {
		r.err = said
		return r
	}
	list := run(c.name, "mcp", "list")
	lines := slices.DeleteFunc(strings.Split(list, "\n"), func(l string) bool { return !strings.Contains(l, "knowledge") })
	if !strings.Contains(strings.Join(lines, "\n"), connected) || len(lines) == 0 {
		r.err = strings.ReplaceAll(list, "\n", " / ")
		return r
	}
	r.after = "listed, " + strings.TrimLeft(connected, "✔ ")
	now, _ := os.ReadFile(file)
	rewritten := !bytes.Equal(now, installed)
	said = run("knowledge", append([]string{"uninstall"}, args...)...)
	after, err := os.ReadFile(file)
	switch {
	case strings.Contains(string(after), "knowledge"):
		r.err = "the entry stays: " + said
	case rewritten && !onlyOurs(now, after):
		r.err = fmt.Sprintf("the client wrote %q, and left is %q", now, after)
	case rewritten:
		r.file = "the client wrote it anew; our entry alone went"
	case before == "" && errors.Is(err, os.ErrNotExist):
		r.file = "gone again"
	case err == nil && string(after) == before:
		r.file = "same bytes"
	default:
		r.err = fmt.Sprintf("the file is %q", after)
	}
	list = run(c.name, "mcp", "list")
	if strings.Contains(list, filepath.Join(filepath.Dir(t.path[:strings.Index(t.path, ":")]), "bin", "knowledge")) {
		r.err = "still listed: " + list
	}
	r.gone = "not listed"
	return r
}

// onlyOurs reports whether two JSON files say the same but for our entry, and
// the objects around it when nothing else is in them.
func onlyOurs(with, without []byte) bool {
	a, _, errA := configedit.JSON{}.Get(with, nil)
	b, _, errB := configedit.JSON{}.Get(without, nil)
	if errA != nil || errB != nil {
		return false
	}
	for _, doc := range []any{a, b} {
		m, ok := doc.(map[string]any)
		if !ok {
			return false
		}
		for _, key := range []string{"mcpServers", "mcp"} {
			if in, ok := m[key].(map[string]any); ok {
				if delete(in, "knowledge"); len(in) == 0 {
					delete(m, key)
				}
			}
		}
	}
	return reflect.DeepEqual(a, b)
}
