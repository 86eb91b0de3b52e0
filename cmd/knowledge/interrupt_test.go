package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
)

// TestInterrupt presses Ctrl-C while the first search of a folder waits for
// its index: the job goes on, and the program says so and how to stop it.
func TestInterrupt(t *testing.T) {
	if !interruptible {
		t.Skip("a process cannot be interrupted here")
	}
	w := newWorld(t)
	here := w.dir("here")
	for i := range 1500 { // enough to be seen on its way
		write(t, here, fmt.Sprintf("p%d/a.go", i), []byte(fmt.Sprintf("package p%d\n\n// Retry%d tries again.\nfunc Retry%d(n int) error {\n\treturn nil\n}\n", i, i, i)))
	}
	cmd := w.command(here, "search", "retry")
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var jobs app.JobList
	for until := time.Now().Add(patience); len(jobs.Jobs) == 0 && time.Now().Before(until); {
		w.decode(&jobs, here, "jobs")
	}
	if err := cmd.Process.Signal(interrupt); err != nil {
		t.Skip("the search had ended:", err)
	}
	_ = cmd.Wait() // its status is looked at
	if cmd.ProcessState.ExitCode() == 0 {
		t.Skip("the search had ended")
	}
	if cmd.ProcessState.ExitCode() != 130 || !strings.HasSuffix(said.String(), "knowledge: interrupted: this folder is still being indexed, by job "+jobs.Jobs[0].ID+"\n  stop it with: knowledge job:cancel "+jobs.Jobs[0].ID+"\n") {
		t.Fatalf("%d %s", cmd.ProcessState.ExitCode(), &said)
	}
	if r := w.run(here, "job:cancel", jobs.Jobs[0].ID); r.status != 0 {
		w.decode(&jobs, here, "jobs")
		if !jobs.Jobs[0].State.Ended() { // unless it was done by now
			t.Error(r.err)
		}
	}
}
