package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// session is a "knowledge mcp" whose client reads what it is sent.
type session struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	id  int
}

func (w *place) session(dir, data string) (*session, error) {
	m := &session{cmd: exec.Command(w.bin, "--data-dir", data, "mcp")}
	m.cmd.Dir, m.cmd.Env = dir, w.env
	var err error
	if m.in, err = m.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	m.out = bufio.NewReader(out)
	return m, m.cmd.Start()
}

// search asks a question and returns the text of the answer.
func (m *session) search(arguments string) (string, error) {
	m.id++
	if _, err := fmt.Fprintf(m.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"search","arguments":%s}}`+"\n", m.id, arguments); err != nil {
		return "", err
	}
	for {
		line, err := m.out.ReadBytes('\n')
		if err != nil {
			return "", err
		}
		var r struct {
			ID     int
			Result struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal(line, &r); err != nil {
			return "", err
		}
		if r.ID == m.id && len(r.Result.Content) == 1 {
			return r.Result.Content[0].Text, nil
		}
		if r.ID == m.id {
			return "", fmt.Errorf("no text in %s", line)
		}
	}
}

func (m *session) end() {
	m.in.Close()
	_ = m.cmd.Wait() // its status says nothing that was asked
}

// afterAnswers returns the resident memory, in MiB, of a server that has
// answered the question of the scripts a few times.
func (w *place) afterAnswers(dir, data string) (int, error) {
	m, err := w.session(dir, data)
	if err != nil {
		return 0, err
	}
	defer m.end()
	for range 5 {
		if _, err := m.search(`{"query":"zebra canary","limit":40,"detail":"full"}`); err != nil {
			return 0, err
		}
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.cmd.Process.Pid))
	return count(string(b), `(?m)^VmRSS:\s+(\d+)`) >> 10, err
}
