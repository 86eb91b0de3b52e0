package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Nothing is trusted that nobody was shown: at a terminal the file, or what a
// folder holds, is shown and a person answers; elsewhere nobody can.
func TestTrustAsks(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("KNOWLEDGE_DATA_DIR", filepath.Join(dir, "data"))
	t.Setenv("HOME", dir)
	if err := os.WriteFile(filepath.Join(dir, "stores.json"), []byte("{\"stores\": \x1b[2J[]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(terminal bool, answer string, args ...string) (status int, out, errs string) {
		t.Helper()
		var o, e bytes.Buffer
		status = Run(t.Context(), Faces{}, Env{Args: append([]string{"trust"}, args...), Dir: dir, Stdin: strings.NewReader(answer), Stdout: &o, Stderr: &e,
			Terminal: terminal, ErrTerminal: terminal, InTerminal: terminal})
		return status, o.String(), e.String()
	}
	if status, out, errs := run(false, "", "stores.json"); status != 4 || out != "" || !strings.Contains(errs, "KNOWLEDGE_TRUST_PATHS") {
		t.Errorf("no terminal: %d %q %q", status, out, errs)
	}
	for _, answer := range []string{"", "\n", "n\n", "nonsense\n"} {
		if status, out, errs := run(true, answer, "stores.json"); status == 0 || out != "" || !strings.Contains(errs, "not trusted") {
			t.Errorf("%q: %d %q %q", answer, status, out, errs)
		}
	}
	status, out, errs := run(true, "y\n", "stores.json")
	if status != 0 || !strings.Contains(out, "trusted "+dir) || !strings.Contains(errs, "{\"stores\": \\u001b[2J[]}") {
		t.Errorf("yes: %d %q %q", status, out, errs)
	}
	if err := os.MkdirAll(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	for n, body := range []string{"a.md", "b.md", "c.go"} {
		if err := os.WriteFile(filepath.Join(dir, "folder", body), make([]byte, n), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if status, _, errs := run(true, "n\n", "folder"); status == 0 || !strings.Contains(errs, "3 files, 3 bytes: 2 .md, 1 .go") || !strings.Contains(errs, "everything below it") {
		t.Errorf("a folder: %d %q", status, errs)
	}
	if status, out, errs := run(true, "y\n", "folder"); status != 0 || !strings.Contains(out, "agents may index "+dir) {
		t.Errorf("a folder: %d %q %q", status, out, errs)
	}
	if status, out, errs := run(false, "", "folder", "--forget"); status != 0 || !strings.Contains(out, "trusted no more") {
		t.Errorf("forget: %d %q %q", status, out, errs)
	}
	for _, args := range [][]string{{"--yes", "stores.json"}, {"--json", "stores.json"}, {"execute", "trust", `{"path":"stores.json"}`}} {
		if status, out, errs := run(false, "y\n", args...); status == 0 || strings.Contains(out, "trusted") {
			t.Errorf("%q: %d %q %q", args, status, out, errs)
		}
	}
	if status, _, errs := run(true, "y\n", "missing.json"); status != 3 || !strings.Contains(errs, "no file") || strings.Contains(errs, "[y/N]") {
		t.Errorf("missing: %d %q", status, errs)
	}
}
