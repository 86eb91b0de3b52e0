package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/face/cli"
)

// bytesOf is a size, which depends on where the test runs.
var bytesOf = regexp.MustCompile(`\(\d+ bytes\)`)

// TestInstallSession follows a person who has Claude Code and Zed from the
// first look to the purge. The transcript is kept: every message can be read in it.
func TestInstallSession(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the transcript has Linux's paths")
	}
	w := t.TempDir()
	at := func(rest ...string) string { return filepath.Join(append([]string{w}, rest...)...) }
	for _, d := range []string{"home/.claude", "home/.config/zed", "project", "bin"} {
		if err := os.MkdirAll(at(d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(text string, path ...string) {
		if err := os.WriteFile(at(path...), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("the program", "bin", "knowledge")
	write("// mine\n{\n  \"theme\": \"One Dark\", // dark\n}\n", "home", ".config", "zed", "settings.json")
	write("# Rules\n", "project", "AGENTS.md")
	for k, v := range map[string]string{"HOME": at("home"), "PATH": at("bin"), "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": "", "CLAUDE_CONFIG_DIR": "", "CLAUDE_PROJECT_DIR": "",
		"KNOWLEDGE_DATA_DIR": at("data"), "KNOWLEDGE_CONFIG": "", "NO_COLOR": "1", "CODEX_HOME": "", "COPILOT_HOME": "", "GEMINI_CLI_HOME": "", "GOBIN": "", "GOPATH": ""} {
		t.Setenv(k, v)
	}
	before := snapshot(t, at("home"), at("project"))

	var transcript strings.Builder
	say := func(terminal bool, typed string, args ...string) {
		var out bytes.Buffer // what a person sees, in the order in which it comes
		f := faces
		f.Program = at("bin", "knowledge")
		status := cli.Run(context.Background(), f, cli.Env{Args: args, Dir: at("project"), Stdin: strings.NewReader(typed), Stdout: &out, Stderr: &out,
			InTerminal: terminal, ErrTerminal: terminal, Terminal: terminal})
		where := "$"
		if !terminal {
			where = "| $"
		}
		fmt.Fprintf(&transcript, "%s knowledge %s\n", where, strings.ReplaceAll(strings.Join(args, " "), w, ""))
		if typed != "" {
			fmt.Fprintf(&transcript, "(types %q)\n", typed)
		}
		transcript.WriteString(strings.ReplaceAll(strings.ReplaceAll(bytesOf.ReplaceAllString(out.String(), "(N bytes)"), "] ", "]\n"), w, ""))
		fmt.Fprintf(&transcript, "[%d]\n\n", status)
	}

	say(false, "", "install")
	say(true, "n\n", "install")
	say(true, "", "install") // the end of input is no
	say(true, "\n", "install")
	say(false, "", "clients")
	say(true, "", "install", "--client", "all-found")
	say(true, "", "install", "--client", "codex,cursor", "--project", "--instructions", "--dry-run")
	say(true, "", "install", "--client", "codex,cursor", "--project", "--instructions")
	say(true, "", "install", "--client", "cloude")
	say(true, "", "install", "--client", "windsurf", "--project")
	say(true, "", "install", "--client", "cursor", "--project", at("nowhere"))
	say(true, "", "upgrade")
	zed := strings.ReplaceAll(snapshot(t, at("home"))[at("home", ".config", "zed", "settings.json")], at("bin"), "/old/bin")
	write(zed, "home", ".config", "zed", "settings.json")
	say(true, "", "upgrade", "--dry-run")
	say(true, "", "upgrade")
	write("{\n  \"mcpServers\": {\n", "home", ".claude.json")
	say(true, "", "upgrade")
	say(true, "", "uninstall", "--client", "claude")
	if err := os.Remove(at("home", ".claude.json")); err != nil {
		t.Fatal(err)
	}
	say(true, "", "uninstall", "--client", "codex")
	say(false, "", "uninstall")
	say(true, "\n", "uninstall")
	say(true, "y\n", "uninstall")
	write(`{"enabledPlugins": {"knowledge@market": true}}`, "home", ".claude", "settings.json")
	say(true, "", "install", "--client", "claude")
	say(true, "", "install", "--client", "claude", "--force")
	say(false, "", "clients")
	say(true, "", "upgrade")
	var doctor bytes.Buffer
	cli.Run(context.Background(), faces, cli.Env{Args: []string{"--data-dir", at("another"), "doctor", "--json"}, Dir: at("project"), Stdin: strings.NewReader(""), Stdout: &doctor, Stderr: &doctor})
	if !strings.Contains(doctor.String(), "Claude Code starts two servers, that of the plugin knowledge@market") || !strings.Contains(doctor.String(), ": knowledge uninstall --client claude") {
		t.Errorf("doctor does not tell of two servers: %s", &doctor)
	}
	say(true, "", "uninstall", "--client", "claude")
	say(true, "", "uninstall")
	if err := os.Remove(at("home", ".claude", "settings.json")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, snapshot(t, at("home"), at("project"))); diff != "" {
		t.Errorf("after uninstall (-want +got)\n%s", diff)
	}

	say(true, "", "install", "--client", "zed")
	if err := os.MkdirAll(at("data"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("{}", "data", "registry.json")
	write("a photo", "data", "photo.jpg")
	say(false, "", "uninstall", "--purge")
	say(true, "", "uninstall", "--purge", "--client", "zed")
	say(true, "no\n", "uninstall", "--purge")
	say(true, "yes\n", "uninstall", "--purge")
	if diff := cmp.Diff(before, snapshot(t, at("home"), at("project"))); diff != "" {
		t.Errorf("after purge (-want +got)\n%s", diff)
	}
	if left := snapshot(t, at("data")); len(left) != 1 {
		t.Errorf("left: %v", left)
	}

	got := strings.ReplaceAll(transcript.String(), "version "+command.Version, "version VERSION")
	golden := filepath.Join("testdata", "install.golden")
	if *cli.Update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got; refresh with -update)\n%s", diff)
	}
}

// snapshot maps files to their content.
func snapshot(t *testing.T, dirs ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, dir := range dirs {
		err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
			if err != nil || info.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			all[path] = string(b)
			return err
		})
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	return all
}
