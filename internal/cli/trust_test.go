package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Nothing is trusted that nobody was shown: at a terminal the file is shown
// and a person answers; elsewhere the command says how to vouch without.
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
	if status, out, errs := run(false, "", "stores.json"); status != 4 || out != "" || !strings.Contains(errs, "when you have read it: knowledge trust --yes stores.json\n") {
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
	if status, out, errs := run(false, "", "--yes", "stores.json"); status != 0 || !strings.Contains(out, "trusted ") {
		t.Errorf("--yes: %d %q %q", status, out, errs)
	}
	for _, terminal := range []bool{true, false} {
		if status, _, errs := run(terminal, "y\n", "missing.json"); status != 3 || !strings.Contains(errs, "no file") || strings.Contains(errs, "[y/N]") {
			t.Errorf("missing: %d %q", status, errs)
		}
	}
}
