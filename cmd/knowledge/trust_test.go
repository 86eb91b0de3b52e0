package main

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/follow"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// askers are the two faces through which agents and programs ask, each without
// a terminal: what they say of a failure, "" when there is none, and the job.
func askers(t *testing.T, w *world, project string) map[string]func(command string, args obj) (said, job string) {
	t.Helper()
	agent := w.agent(project)
	in := *w
	in.root = project // where the server is started: what lies below needs no word
	server := in.serve(project)
	return map[string]func(string, obj) (string, string){
		"mcp": func(command string, args obj) (string, string) {
			c := agent.tool("execute", obj{"command": command, "args": args})
			if c.isError {
				return c.text, ""
			}
			var s app.Started
			agent.execute(&s, command, args) // again: it is the same store
			return "", s.Job
		},
		"http": func(command string, args obj) (string, string) {
			body, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			status, b := server.post(command, body)
			if status != http.StatusOK {
				return string(b), ""
			}
			var s app.Started
			if err := json.Unmarshal(b, &s); err != nil {
				t.Fatal(err)
			}
			return "", s.Job
		},
	}
}

// TestStoresOfAgents: over MCP and HTTP, with no terminal anywhere, a folder
// that the environment of the server vouches for is indexed and found, one of
// the project too, and any other is refused in words that send to the user.
func TestStoresOfAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shared, secret, project := w.dir("shared"), w.dir("secret"), w.dir("project")
	newOrigin(t, project)
	write(t, project, "guides/a.md", []byte("# A\n\nturn the crank clockwise\n"))
	write(t, shared, "lib/b.md", []byte("# B\n\nthe widget frobnicates\n"))
	write(t, secret, "keys.md", []byte("# Keys\n\nunder the doormat\n"))
	w.vouched = []string{shared}
	for face, ask := range askers(t, w, project) {
		for source, ok := range map[string]bool{filepath.Join(project, "guides"): true, filepath.Join(shared, "lib"): true, secret: false, filepath.Join(w.root, "none"): false, "/": false} {
			said, job := ask("store:create", obj{"name": face + filepath.Base(source[:len(source)-1]), "source": source, "type": "file"})
			switch {
			case ok && (said != "" || job == ""):
				t.Errorf("%s: %s: %s", face, source, said)
			case !ok && (!strings.Contains(said, "nobody has vouched for it") || !strings.Contains(said, "ask your user") || strings.Contains(said, "knowledge ")):
				t.Errorf("%s: %s: %q", face, source, said)
			}
		}
		if said, _ := ask("trust", obj{"path": secret}); said == "" || strings.Contains(said, "knowledge ") {
			t.Errorf("%s: an agent vouches, or is told how: %q", face, said)
		}
	}
	// Whoever types needs nobody's word, and an agent may search what they made.
	w.must(project, "store:create", "mine", secret)
	w.agent(project).finds("mine", "doormat", "under")
}

// TestStrangersAddresses: a project's definitions and lockfile name servers on
// this machine. Nothing is asked there, each is named, and the rest is done.
func TestStrangersAddresses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var seen atomic.Int64
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			seen.Add(1)
		}
	}
	srv.Start()
	defer srv.Close()
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	project := w.dir("project")
	newOrigin(t, project)
	write(t, project, "docs/a.md", []byte("# A\n\nturn the crank clockwise\n"))
	write(t, project, "package.json", []byte(`{"name":"x","dependencies":{"evil":"^1.0.0"}}`))
	write(t, project, "package-lock.json", []byte(`{"name":"x","lockfileVersion":3,"packages":{"":{"dependencies":{"evil":"^1.0.0"}},
		"node_modules/evil":{"version":"1.0.0","resolved":"git+http://127.0.0.1:`+port+`/lock.git#0123456789012345678901234567890123456789"}}}`))
	write(t, project, "i.js", []byte("import x from 'evil'\n"))
	defines(t, project,
		obj{"name": "one", "type": "repo", "source": "http://127.0.0.1:" + port + "/x.git"},
		obj{"name": "two", "type": "repo", "source": "https://localhost:" + port + "/x.git"},
		obj{"name": "three", "type": "repo", "source": "git@127.0.0.1:x"},
		obj{"name": "four", "type": "web", "source": "http://127.0.0.1:" + port + "/"},
		obj{"name": "docs", "type": "file", "source": "docs"})
	a := w.agent(project)
	var s follow.Synced
	a.execute(&s, "stores:sync", obj{})
	for _, j := range s.Jobs {
		a.wait(j.Job)
	}
	var failed []string
	for _, f := range s.Failed {
		failed = append(failed, f.Name)
		if !strings.Contains(f.Hint, "web.allow") {
			t.Errorf("%+v", f)
		}
	}
	if strings.Join(failed, " ") != "one two three four" || strings.Join(s.Created, " ") != "docs" {
		t.Errorf("%+v", s)
	}
	a.finds("docs", "turn the crank", "clockwise")
	var found follow.Suggested
	a.execute(&found, "suggest", obj{"add": true})
	if len(found.Added) > 0 {
		t.Errorf("%+v", found)
	}
	c := a.tool("execute", obj{"command": "store:create", "args": obj{"name": "x", "source": "http://127.0.0.1:" + port + "/y.git", "type": "repo"}})
	if !c.isError || !strings.Contains(c.text, "loopback") {
		t.Errorf("%s", c.text)
	}
	if r := w.run(project, "store:create", "y", "https://localhost:"+port+"/y.git"); r.status != command.ExitStatus(kb.Errorf(kb.Denied, "x")) {
		t.Errorf("%+v", r)
	}
	if n := seen.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}
