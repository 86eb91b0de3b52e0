//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const interruptible = true

var interrupt os.Signal = os.Interrupt

// TestNoPermission: a folder that may not be read is refused; one inside a
// folder is counted and named.
func TestNoPermission(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir, project := w.dir("tree"), w.dir("project")
	oddities().write(t, dir)
	write(t, dir, "shut/plan.md", []byte("zanzibar\n"))
	write(t, dir, "locked.md", []byte("zanzibar\n"))
	if err := os.Chmod(filepath.Join(dir, "locked.md"), 0); err != nil {
		t.Fatal(err)
	}
	shut := filepath.Join(dir, "shut")
	if err := os.Chmod(shut, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(shut, 0o755) })
	// Permissions do not bind root: somebody else asks then.
	as := &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		const nobody = 65534
		as.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		if err := os.MkdirAll(w.data, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(w.data, nobody, nobody); err != nil {
			t.Skipf("no other user can be had: %v", err)
		}
		cmd := w.command(project, "version")
		cmd.SysProcAttr = as
		if err := cmd.Run(); err != nil {
			t.Skipf("no other user can run the program: %v", err)
		}
	}
	run := func(args ...string) result {
		cmd := w.command(project, append([]string{"--project", project}, args...)...)
		cmd.SysProcAttr = as
		return w.finish(cmd)
	}
	r := run("store:create", "tree", dir)
	if r.status != 0 {
		t.Fatalf("status %d: %s", r.status, r.err)
	}
	failedCLI(t, "folder without permission", run("store:create", "shut", shut), kb.Denied)
	r = run("store:info", "tree", "--json")
	if !strings.Contains(r.out, `"unreadable":2`) || !strings.Contains(r.out, "locked.md") || !strings.Contains(r.out, "shut") {
		t.Errorf("store:info does not say what could not be read: %s", r.out)
	}
	if r := run("search", "quokka sleeps", "--stores", "tree"); r.status != 0 || !strings.Contains(r.out, "odd/blank.txt:") {
		t.Errorf("status %d: %s%s", r.status, r.out, r.err)
	}
	// The data directory itself may be out of reach.
	o := *w
	o.data = filepath.Join(w.data, "below")
	if err := os.MkdirAll(o.data, 0o500); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		cmd := o.command(project, "--project", project, "stores")
		cmd.SysProcAttr = as
		failedCLI(t, "data directory without permission", o.finish(cmd), kb.Denied)
	}
}

// noRoom sees a job end for want of space, or not begin: then its status says so.
func noRoom(t *testing.T, a *agent, id string) {
	t.Helper()
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		c := a.tool("execute", obj{"command": "job:status", "args": obj{"jobId": id}})
		if c.isError {
			plainly(t, "full disk, a job that cannot begin", c.text)
			return
		}
		var j kb.Job
		if err := json.Unmarshal([]byte(c.text), &j); err != nil {
			t.Fatal(err)
		}
		if j.State.Ended() {
			if j.State != kb.JobFailed {
				t.Errorf("a job on a full disk: %+v", j)
			}
			plainParts(t, "full disk, job", j.Message, j.Hint)
			return
		}
	}
	t.Errorf("job %s on a full disk neither ends nor says why it does not begin", id)
}

// fullDisk checks what happens when data, a folder on a small disk, fills up.
// grow makes the disk larger.
func fullDisk(t *testing.T, w *world, grow func()) {
	project, little, much := w.dir("project"), w.dir("little"), w.dir("much")
	oddities().write(t, little)
	goSources(t, medium...).write(t, much)
	cli := func(args ...string) result {
		return w.run(project, append([]string{"--project", project, "--quiet"}, args...)...)
	}
	w.must(project, "--project", project, "store:create", "little", little)
	found := func(when string) {
		t.Helper()
		r := cli("search", "quokka sleeps", "--stores", "little")
		if r.status != 0 || !strings.Contains(r.out, "odd/blank.txt:") {
			t.Errorf("%s: status %d: %s%s", when, r.status, r.out, r.err)
		}
	}
	found("before")
	failedCLI(t, "full disk, command line", cli("store:create", "much", much), kb.Full)
	found("after the disk was full")
	failedCLI(t, "full disk, first search", w.run(much, "--quiet", "search", "sort"), kb.Full)

	a := w.agent(project)
	var s app.Started
	c := a.tool("execute", obj{"command": "store:create", "args": obj{"name": "much", "source": much}})
	if c.isError {
		plainly(t, "full disk, MCP", c.text)
	} else {
		a.execute(&s, "store:create", obj{"name": "much", "source": much})
		noRoom(t, a, s.Job)
	}
	if r := a.search(obj{"query": "quokka sleeps", "stores": []string{"little"}}); len(r.Hits) == 0 {
		t.Errorf("an agent finds nothing on a full disk: %+v", r)
	}
	grow()
	a.index("store:create", obj{"name": "much", "source": much})
	if n := trueHits(t, a, []string{"much"}, questions[:3], func(p string) string { return read(t, much, p) }); n == 0 {
		t.Error("with more space nothing is found")
	}
	found("with more space")
	a.close()
}
