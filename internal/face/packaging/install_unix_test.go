//go:build unix

package packaging

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A folder that may only be read is refused before anything is fetched. Root
// may write everywhere, and so runs the script as nobody.
func TestInstallReadOnly(t *testing.T) {
	p := newPlace(t, "curl", "sha256sum")
	top := filepath.Dir(p.home)
	dir := filepath.Join(top, "read only")
	if err := os.Mkdir(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(installer)))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(p.bin, "sh"))
	cmd.Dir, cmd.Stdin = top, bytes.NewReader(script)
	cmd.Env = append(p.env, "KNOWLEDGE_RELEASE_URL=http://127.0.0.1:1/", "KNOWLEDGE_INSTALL_DIR="+dir)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if err := os.Chmod(filepath.Dir(top), 0o755); err != nil { // that of the test
			t.Fatal(err)
		}
	}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if said := string(out); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(said, "cannot write to "+dir+"; name a folder of yours: curl ") {
		t.Errorf("%v: %s", err, said)
	}
	if left := kept(t, dir); left != nil {
		t.Errorf("it left %v", left)
	}
}
