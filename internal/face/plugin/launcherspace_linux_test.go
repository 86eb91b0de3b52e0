package plugin

import (
	"os/exec"
	"strings"
	"testing"
)

// Where the address space is too small for Go's runtime, which dies of it with
// a page of its own, the launcher says so in a sentence, and starts nothing.
func TestLauncherAndLittleAddressSpace(t *testing.T) {
	archive := packed(t, "echo started")
	i := newInstall(t, archive, 0)
	i.promise(archive)
	for limit, want := range map[string]string{
		"500000":    "knowledge: the address space of a process is limited to 500000 kB here, and this program needs 900000; raise the limit of this shell: ulimit -v unlimited",
		"2000000":   "started",
		"unlimited": "started",
	} {
		inner := i.command("version")
		cmd := exec.Command("sh", "-c", "ulimit -v "+limit+` && exec "$0" version`, inner.Path)
		cmd.Env, cmd.Dir = inner.Env, inner.Dir
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); got != want || (err == nil) != (want == "started") {
			t.Errorf("%s: %v: %s", limit, err, got)
		}
	}
	if out, err := exec.Command("sh", "-c", `ulimit -v 500000 && exec "$0" hook SessionStart </dev/null`, i.command().Path).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("a hook says %q, %v", out, err)
	}
}
