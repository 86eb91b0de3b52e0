package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/lockfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// TestEndOfInput: a server ends with its input, and clients wait a second
// before they kill it.
func TestEndOfInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := w.dir("code")
	goSources(t, small...).write(t, dir)
	a := w.agent(dir)
	if took := a.close(); took > 10*time.Second {
		t.Errorf("an idle server ends after %v", took)
	}
	a = w.agentOf(true, dir)
	a.search(obj{"query": "sort a slice"})
	took := a.close()
	t.Logf("ended after %v", took)
	if took > 10*time.Second {
		t.Errorf("a server that has searched ends after %v", took)
	}
	w.waitIdle()
	// What stands before the end of input is answered.
	cmd := w.command(dir, "mcp", "--project", dir)
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"query":"sort a slice"}}}`)
	r := w.finish(cmd)
	if r.status != 0 || strings.Count(r.out, "\n") != 2 || !strings.Contains(r.out, "sort/slice.go") {
		t.Errorf("status %d: %s%s", r.status, r.out, r.err)
	}
}

// TestOutlive: a job outlives the server that started it; when its worker
// dies too, the next process that looks resumes it.
func TestOutlive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir, project := w.dir("upstream"), w.dir("project")
	o := newOrigin(t, dir)
	goSources(t, small...).write(t, dir)
	commit := o.commit()
	free := make(chan struct{})
	asked := make(chan struct{}, 100)
	source, remote := o.serve(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			asked <- struct{}{}
			select {
			case <-free:
				next.ServeHTTP(rw, r)
			case <-r.Context().Done():
			case <-time.After(patience):
			}
		})
	})
	w.opens(source)
	if !remote {
		t.Skip("a repository on the disk cannot be made to wait")
	}
	a := w.agent(project)
	var s app.Started
	a.execute(&s, "store:create", obj{"name": "upstream", "source": source})
	<-asked // the worker waits for the server now
	var j kb.Job
	a.execute(&j, "job:status", obj{"jobId": s.Job})
	if j.State != kb.JobRunning {
		t.Errorf("the job is %s", j.State)
	}
	c := a.tool("search", obj{"query": "sort", "stores": []string{"upstream"}})
	if c.isError || !strings.Contains(c.text, s.Job) {
		t.Errorf("a search meanwhile: %+v", c)
	}
	if took := a.close(); took > 10*time.Second {
		t.Errorf("a server with a job under way ends after %v", took)
	}
	lock := filepath.Join(w.data, "jobs", s.Job+".lock")
	holder, held := lockfile.Held(lock)
	if !held {
		t.Fatal("the job did not outlive its server")
	}
	p, err := os.FindProcess(holder.PID)
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(patience); held && time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		_, held = lockfile.Held(lock)
	}
	if held {
		t.Fatal("the worker does not die")
	}
	close(free)

	b := w.agent(project)
	var list app.JobList
	b.execute(&list, "jobs", obj{})
	if len(list.Jobs) != 1 || list.Jobs[0].ID != s.Job || list.Jobs[0].State == kb.JobFailed {
		t.Fatalf("jobs: %+v", list)
	}
	if j := b.wait(s.Job); j.State != kb.JobCompleted {
		log, _ := os.ReadFile(filepath.Join(w.data, "worker.log"))
		t.Fatalf("seen as %s after its worker died, resumed it came to: %+v; its workers said:\n%s", list.Jobs[0].State, j, log)
	}
	checkRepo(t, b, s, o.repo, commit, questions[1:3])
}

// TestCancel: a cancelled job leaves what was there before.
func TestCancel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir, project := w.dir("upstream"), w.dir("project")
	o := newOrigin(t, dir)
	write(t, dir, "tea.md", []byte("# Tea\n\nsteep the oolong\n"))
	commit := o.commit()
	hold := make(chan bool, 1)
	asked := make(chan struct{}, 100)
	source, remote := o.serve(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			select {
			case <-hold:
				asked <- struct{}{}
				<-r.Context().Done()
			default:
				next.ServeHTTP(rw, r)
			}
		})
	})
	w.opens(source)
	if !remote {
		t.Skip("a repository on the disk cannot be made to wait")
	}
	a := w.agent(project)
	s, _ := a.index("store:create", obj{"name": "upstream", "source": source})
	write(t, dir, "tea.md", []byte("# Tea\n\nsteep the lapsang\n"))
	o.commit()
	hold <- true
	var again app.Started
	a.execute(&again, "store:index", obj{"store": "upstream"})
	<-asked
	var j kb.Job
	a.execute(&j, "job:cancel", obj{"jobId": again.Job})
	if j = a.wait(again.Job); j.State != kb.JobCancelled {
		t.Errorf("cancelled: %+v", j)
	}
	checkRepo(t, a, s, o.repo, commit, []string{"oolong"})
	a.index("store:index", obj{"store": "upstream"})
	if r := a.search(obj{"query": "lapsang", "stores": []string{"upstream"}}); len(r.Hits) != 1 || r.Hits[0].Note != "" {
		t.Errorf("after the next run: %+v", r)
	}
}
