package plugin

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// hookLines returns the commands of hooks/hooks.json by their events, read as
// strictly as the client's own check reads them.
func hookLines(t *testing.T) map[string][]string {
	t.Helper()
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	var f hookFile
	dec := json.NewDecoder(bytes.NewReader(files["hooks/hooks.json"]))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		t.Fatal(err)
	}
	lines := map[string][]string{}
	for event, matches := range f.Hooks {
		for _, m := range matches {
			for _, h := range m.Hooks {
				if h.Type != "command" || h.Timeout < 1 || h.Timeout > 10 {
					t.Errorf("%s: %+v", event, h)
				}
				lines[event] = append(lines[event], h.Command)
			}
		}
	}
	return lines
}

// TestHooksRun: in every POSIX shell the line runs the launcher with the event
// and the input, and what becomes of it blocks nothing: status 2 would.
func TestHooksRun(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("POSIX shells")
	}
	dir := filepath.Join(t.TempDir(), `a plugin's "$HOME"`)
	if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bin/knowledge"), []byte("#!/bin/sh\necho \"$*: $(cat)\"\nexit 2\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, shell := range [][]string{{"sh"}, {"dash"}, {"bash"}, {"zsh"}, {"busybox", "sh"}} {
		if _, err := exec.LookPath(shell[0]); err != nil {
			continue
		}
		for event, lines := range hookLines(t) {
			for _, line := range lines {
				tried++
				cmd := exec.Command(shell[0], append(slices.Clone(shell[1:]), "-c", line)...)
				cmd.Env = append(os.Environ(), "CLAUDE_PLUGIN_ROOT="+dir)
				cmd.Stdin = strings.NewReader("an event")
				out, err := cmd.CombinedOutput()
				if err != nil || string(out) != "hook "+event+": an event\n" {
					t.Errorf("%q: %s: %v %s", shell, line, err, out)
				}
			}
		}
		cmd := exec.Command(shell[0], append(slices.Clone(shell[1:]), "-c", hookLines(t)["PreToolUse"][0])...)
		cmd.Env = append(os.Environ(), "CLAUDE_PLUGIN_ROOT="+filepath.Join(dir, "gone"))
		if err := cmd.Run(); err != nil {
			t.Errorf("%q: a launcher that is gone: %v", shell, err)
		}
	}
	if tried == 0 {
		t.Error("no hook was tried")
	}
}

// TestHooksInPowerShell reads the line by the two rules of PowerShell that it
// rests on: a backslash does not escape, and # begins a comment.
func TestHooksInPowerShell(t *testing.T) {
	for event, lines := range hookLines(t) {
		for _, line := range lines {
			var statements []string
			var s strings.Builder
			quoted := false
			for i := 0; i < len(line); i++ {
				switch b := line[i]; {
				case b == '"':
					quoted = !quoted
					s.WriteByte(b)
				case !quoted && b == '#' && line[i-1] == ' ':
					i = len(line)
				case !quoted && b == ';':
					statements = append(statements, strings.TrimSpace(s.String()))
					s.Reset()
				default:
					s.WriteByte(b)
				}
			}
			statements = append(statements, strings.TrimSpace(s.String()))
			want := []string{`test "\"`, "& ${CLAUDE_PLUGIN_ROOT}/bin/knowledge.cmd hook " + event, "exit 0"}
			if !slices.Equal(statements, want) || quoted {
				t.Errorf("PowerShell reads %q, want %q", statements, want)
			}
		}
	}
}
