package plugin

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestShellcheck lints the scripts where the linter is installed.
func TestShellcheck(t *testing.T) {
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("no program shellcheck on the PATH")
	}
	for _, name := range []string{"bin/knowledge", ".claude-plugin/stub", ".ci/clients"} {
		if out, err := exec.Command("shellcheck", filepath.Join(root, filepath.FromSlash(name))).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
