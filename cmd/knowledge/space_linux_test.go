package main

import (
	"os/exec"
	"strings"
	"testing"
)

// Where the address space is limited a search either works or says in one
// sentence what it needs; a data directory that was there is as it was.
func TestLittleAddressSpace(t *testing.T) {
	if raceFlag != "" {
		t.Skip("the race detector itself takes terabytes of addresses")
	}
	w := newWorld(t)
	dir := w.dir("p")
	write(t, dir, "a.md", []byte("# Retries\n\nThe limit of retries is five.\n"))
	under := func(kilobytes string) *exec.Cmd {
		t.Helper()
		sh, err := exec.LookPath("sh")
		if err != nil {
			t.Skip("no sh: ", err)
		}
		cmd := w.command(dir, "search", "retries", "--limit", "1")
		cmd.Args = append([]string{"sh", "-c", `ulimit -v ` + kilobytes + ` && exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
		cmd.Path = sh
		return cmd
	}
	if r := w.finish(under("950000")); r.status != 0 || !strings.Contains(r.out, "a.md") {
		t.Errorf("with enough: status %d\n%s%s", r.status, r.out, r.err)
	}
	r := w.finish(under("880000"))
	if r.status != 1 || !strings.Contains(r.err, "address space of a process is limited to 901 MB here") || !strings.HasSuffix(strings.TrimSpace(r.err), "with ulimit -v unlimited, then try: knowledge version") {
		t.Errorf("with less than it needs: status %d\n%s%s", r.status, r.out, r.err)
	}
	// So little that Go's runtime gives up before the program begins: the
	// launcher has the sentence then, TestLauncherAndLittleAddressSpace.
	if out, err := under("500000").Output(); err == nil || len(out) > 0 {
		t.Errorf("with less than the runtime needs: %v, %s", err, out)
	}
	if out := w.must(dir, "search", "retries", "--limit", "1"); !strings.Contains(out, "a.md") {
		t.Errorf("afterwards: %s", out)
	}
}
