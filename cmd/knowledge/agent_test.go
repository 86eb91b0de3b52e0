package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// call is what a request to an agent's server came to.
type call struct {
	text    string
	isError bool
}

// agent is a client of `knowledge mcp` over standard input and output.
type agent struct {
	t      testing.TB
	cmd    *exec.Cmd
	in     *os.File
	said   bytes.Buffer
	modern bool // speaks the protocol of 2026-07-28, else that of 2025-11-25
	lines  chan []byte
	mu     sync.Mutex
	id     int
	closed bool
}

// agent starts a server for a project; the end of the test ends it.
func (w *world) agent(project string) *agent {
	w.t.Helper()
	return w.agentOf(false, project)
}

func (w *world) agentOf(modern bool, project string, args ...string) *agent {
	w.t.Helper()
	a := &agent{t: w.t, modern: modern, lines: make(chan []byte)}
	a.cmd = w.command(w.root, append([]string{"mcp", "--project", project}, args...)...)
	r, in, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}
	a.in = in
	a.cmd.Stdin, a.cmd.Stderr = r, &a.said
	out, err := a.cmd.StdoutPipe()
	if err == nil {
		err = a.cmd.Start()
	}
	r.Close()
	if err != nil {
		w.t.Fatal(err)
	}
	go func() {
		defer close(a.lines)
		d := json.NewDecoder(out)
		for {
			var m json.RawMessage
			if d.Decode(&m) != nil {
				return
			}
			a.lines <- m
		}
	}()
	w.t.Cleanup(func() { a.close() })
	if modern {
		var found struct{ SupportedVersions []string }
		a.request(&found, "server/discover", map[string]any{})
		if len(found.SupportedVersions) == 0 {
			w.t.Fatal("server/discover names no version")
		}
	} else {
		var met struct{ ProtocolVersion, Instructions string }
		a.request(&met, "initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "test", "version": "1"}})
		if met.ProtocolVersion != "2025-11-25" || met.Instructions == "" {
			w.t.Fatalf("initialize: %+v", met)
		}
		a.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	}
	return a
}

func (a *agent) send(m map[string]any) {
	a.t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		a.t.Fatal(err)
	}
	if _, err := a.in.Write(append(b, '\n')); err != nil {
		a.t.Fatalf("%v: %s", err, a.said.String())
	}
}

// request sends a request, waits for its reply and reads its result into v.
func (a *agent) request(v any, method string, params map[string]any) {
	a.t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.id++
	if a.modern {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{},
			"io.modelcontextprotocol/clientInfo": map[string]any{"name": "test", "version": "1"},
		}
	}
	a.send(map[string]any{"jsonrpc": "2.0", "id": a.id, "method": method, "params": params})
	late := time.After(patience)
	for {
		select {
		case line, ok := <-a.lines:
			if !ok {
				a.t.Fatalf("the server ended instead of answering %s", method)
			}
			var m struct {
				ID     int
				Result json.RawMessage
				Error  json.RawMessage
			}
			if err := json.Unmarshal(line, &m); err != nil {
				a.t.Fatalf("%v: %s", err, line)
			}
			if m.ID != a.id {
				continue // a notification
			}
			if m.Error != nil {
				a.t.Fatalf("%s: %s", method, m.Error)
			}
			if err := json.Unmarshal(m.Result, v); err != nil {
				a.t.Fatalf("%v: %s", err, m.Result)
			}
			return
		case <-late:
			a.t.Fatalf("no answer to %s", method)
		}
	}
}

// tool calls one of the three tools.
func (a *agent) tool(name string, args any) call {
	a.t.Helper()
	var r struct {
		Content []struct{ Type, Text string }
		IsError bool
	}
	a.request(&r, "tools/call", map[string]any{"name": name, "arguments": args})
	if len(r.Content) != 1 || r.Content[0].Type != "text" {
		a.t.Fatalf("%s: %+v", name, r)
	}
	return call{r.Content[0].Text, r.IsError}
}

// ask calls a tool that must succeed and reads its JSON into v.
func (a *agent) ask(v any, name string, args any) {
	a.t.Helper()
	if name == "search" || name == "get_full_context" {
		args = asJSON(a.t, args)
	}
	c := a.tool(name, args)
	if c.isError {
		a.t.Fatalf("%s %.200v: %s", name, args, c.text)
	}
	if err := json.Unmarshal([]byte(c.text), v); err != nil {
		a.t.Fatalf("%s: %v: %s", name, err, c.text)
	}
}

// asJSON returns arguments with those that ask for a reply in JSON.
func asJSON(t testing.TB, args any) (of obj) {
	t.Helper()
	b, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &of); err != nil {
		t.Fatal(err)
	}
	of["form"] = "json"
	return of
}

// execute runs any other command, which must succeed.
func (a *agent) execute(v any, command string, args any) {
	a.t.Helper()
	a.ask(v, "execute", map[string]any{"command": command, "args": args})
}

type obj = map[string]any

func (a *agent) search(args obj) find.SearchReply {
	a.t.Helper()
	// What all hits share is said once.
	var r struct {
		Store string
		find.SearchReply
	}
	a.ask(&r, "search", args)
	for i := range r.Hits {
		if r.Hits[i].Store == "" {
			r.Hits[i].Store = r.Store
		}
	}
	return r.SearchReply
}

func (a *agent) show(id string) find.Context {
	a.t.Helper()
	var c find.Context
	a.ask(&c, "get_full_context", obj{"resultId": id})
	return c
}

// wait polls a job until it has ended.
func (a *agent) wait(id string) kb.Job {
	a.t.Helper()
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		var j kb.Job
		a.execute(&j, "job:status", obj{"jobId": id})
		if j.State.Ended() {
			return j
		}
	}
	a.t.Fatalf("job %s does not end", id)
	return kb.Job{}
}

// index runs store:create or store:index, sees its job completed and returns it.
func (a *agent) index(command string, args obj) (app.Started, kb.Job) {
	a.t.Helper()
	var s app.Started
	a.execute(&s, command, args)
	j := a.wait(s.Job)
	if j.State != kb.JobCompleted {
		a.t.Fatalf("%s %v: %s: %s", command, args, j.State, j.Message)
	}
	return s, j
}

// close ends the server's input and returns how long it took to end.
func (a *agent) close() time.Duration {
	a.t.Helper()
	if a.closed {
		return 0
	}
	a.closed = true
	began := time.Now()
	a.in.Close()
	late := time.AfterFunc(patience, func() { a.cmd.Process.Kill() })
	for range a.lines { // what is still to be read would keep it
	}
	err := a.cmd.Wait()
	if !late.Stop() || err != nil {
		a.t.Errorf("the server does not end well: %v: %s", err, a.said.String())
	}
	if defect.Match(a.said.Bytes()) {
		a.t.Errorf("the server met a defect:\n%s", a.said.String())
	}
	return time.Since(began)
}
