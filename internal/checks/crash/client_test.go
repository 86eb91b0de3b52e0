package crash

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
)

// server is a process that serves an agent over its standard input and output.
type server struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	errs strings.Builder
	id   int
}

func (w *world) serve() (*server, error) {
	s := &server{cmd: w.command("mcp")}
	s.cmd.Stderr = &s.errs
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReaderSize(out, 1<<16)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	_, err = s.request("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "crash", "version": "1"}})
	if err == nil {
		_, err = io.WriteString(s.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	}
	return s, err
}

func (s *server) request(method string, params any) (json.RawMessage, error) {
	s.id++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": s.id, "method": method, "params": params})
	if err == nil {
		_, err = s.in.Write(append(line, '\n'))
	}
	if err != nil {
		return nil, err
	}
	for {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %s", method, err, s.errs.String())
		}
		var m struct {
			ID     *int
			Result json.RawMessage
			Error  json.RawMessage
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, err
		}
		if m.ID == nil || *m.ID != s.id {
			continue
		}
		if m.Error != nil {
			return nil, fmt.Errorf("%s: %s", method, m.Error)
		}
		return m.Result, nil
	}
}

// errTool is a failure that the tool itself reported.
type errTool struct{ text string }

func (e errTool) Error() string { return e.text }

// call calls a tool and decodes the JSON of its reply.
func (s *server) call(tool string, args map[string]any, out any) error {
	raw, err := s.request("tools/call", map[string]any{"name": tool, "arguments": args})
	if err != nil {
		return err
	}
	var r struct {
		Content []struct{ Text string }
		IsError bool
	}
	if err := json.Unmarshal(raw, &r); err != nil || len(r.Content) == 0 {
		return errors.Join(err, fmt.Errorf("%s: %s", tool, raw))
	}
	if r.IsError {
		return errTool{r.Content[0].Text}
	}
	return json.Unmarshal([]byte(r.Content[0].Text), out)
}

func (s *server) execute(command string, args map[string]any, out any) error {
	return s.call("execute", map[string]any{"command": command, "args": args}, out)
}

// end closes the input and waits.
func (s *server) end() error {
	s.in.Close()
	io.Copy(io.Discard, s.out)
	return s.cmd.Wait()
}

// actor is one of many that use a data directory at once: an agent's server
// or a person at a terminal.
type actor interface {
	create(name, src string) (app.Started, error)
	index(name string, force bool) (app.Started, error)
	remove(name string) error
	search(query, store string) (int, error)
	jobs() error
}

type agent struct{ s *server }

func (a agent) create(name, src string) (st app.Started, err error) {
	err = a.s.execute("store:create", map[string]any{"name": name, "type": "file", "source": src}, &st)
	return st, err
}

func (a agent) index(name string, force bool) (st app.Started, err error) {
	err = a.s.execute("store:index", map[string]any{"store": name, "force": force}, &st)
	return st, err
}

func (a agent) remove(name string) error {
	return a.s.execute("store:delete", map[string]any{"store": name}, new(app.Deleted))
}

func (a agent) search(query, store string) (int, error) {
	var r find.SearchReply
	err := a.s.call("search", map[string]any{"query": query, "stores": []string{store}, "form": "json"}, &r)
	return len(r.Hits), err
}

func (a agent) jobs() error { return a.s.execute("jobs", map[string]any{}, new(app.JobList)) }

type person struct{ w *world }

func (p person) run(out any, args ...string) error {
	stdout, err := p.w.run(append([]string{"--json"}, args...)...)
	if err == nil {
		err = json.Unmarshal([]byte(stdout), out)
	}
	return err
}

func (p person) create(name, src string) (st app.Started, err error) {
	return st, p.run(&st, "store:create", name, src)
}

func (p person) index(name string, force bool) (st app.Started, err error) {
	args := []string{"store:index", name}
	if force {
		args = append(args, "--force")
	}
	return st, p.run(&st, args...)
}

func (p person) remove(name string) error { return p.run(new(app.Deleted), "store:delete", name) }

func (p person) search(query, store string) (int, error) {
	var r find.SearchReply
	err := p.run(&r, "search", query, "--stores", store)
	return len(r.Hits), err
}

func (p person) jobs() error { return p.run(new(app.JobList), "jobs") }
