package lab

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// The eras of the protocol.
const (
	Handshake = "2025-11-25" // initialize, notifications/initialized, then requests
	Stateless = "2026-07-28" // server/discover, then requests that carry _meta
)

// Client speaks to one "knowledge mcp" over its standard input and output,
// one request at a time.
type Client struct {
	Began        time.Time // when the process was started
	Instructions string    // what the server says of itself; "" for Stateless

	era  string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	errs bytes.Buffer
	id   int
}

// Dial starts a server, with more arguments if there are any, and greets it as
// a client of the era does.
func Dial(dir string, env []string, bin, era string, args ...string) (*Client, error) {
	c := &Client{era: era, cmd: exec.Command(bin, append([]string{"mcp"}, args...)...)}
	c.cmd.Dir, c.cmd.Env, c.cmd.Stderr = dir, env, &c.errs
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReaderSize(out, 1<<16)
	c.Began = time.Now()
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	if era == Stateless {
		_, err = c.Ask("server/discover", map[string]any{})
		return c, err
	}
	met, err := c.Ask("initialize", map[string]any{
		"protocolVersion": era, "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "bench", "version": "1"},
	})
	var said struct{ Instructions string }
	if err == nil {
		err = json.Unmarshal(met, &said)
		c.Instructions = said.Instructions
	}
	if err == nil {
		_, err = io.WriteString(c.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	}
	return c, err
}

// Ask sends a request and returns the result of its reply.
func (c *Client) Ask(method string, params map[string]any) (json.RawMessage, error) {
	if c.era == Stateless {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    c.era,
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "bench", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}
	}
	c.id++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("%s: no reply: %w: %s", method, err, tail(c.errs.String()))
		}
		var m struct {
			ID     *int            `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, fmt.Errorf("%s: %w in %.200q", method, err, line)
		}
		switch {
		case m.ID == nil || *m.ID != c.id:
			continue // a notification
		case m.Error != nil:
			return nil, fmt.Errorf("%s: %s", method, m.Error)
		}
		return m.Result, nil
	}
}

// Call calls a tool and returns its text. A result that says isError is an error here.
func (c *Client) Call(tool string, args map[string]any) (string, error) {
	raw, err := c.Ask("tools/call", map[string]any{"name": tool, "arguments": args})
	if err != nil {
		return "", err
	}
	var r struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return "", err
	}
	text := ""
	for _, p := range r.Content {
		text += p.Text
	}
	if r.IsError {
		return text, fmt.Errorf("%s %v: %s", tool, args, tail(text))
	}
	return text, nil
}

// Execute runs a command behind the third tool and decodes its JSON into out.
func (c *Client) Execute(command string, args map[string]any, out any) error {
	text, err := c.Call("execute", map[string]any{"command": command, "args": args})
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), out)
}

// Close ends the input and waits for the server to leave.
func (c *Client) Close() error {
	c.in.Close()
	gone := make(chan error, 1)
	go func() { gone <- c.cmd.Wait() }()
	select {
	case err := <-gone:
		return err
	case <-time.After(10 * time.Second):
		_ = c.cmd.Process.Kill()
		return fmt.Errorf("the server did not leave within 10 s of the end of its input")
	}
}

// CPU returns the processor time that the server took in its life; call it after Close.
func (c *Client) CPU() time.Duration {
	if c.cmd.ProcessState == nil {
		return 0
	}
	return c.cmd.ProcessState.UserTime() + c.cmd.ProcessState.SystemTime()
}

// PID is the server's process.
func (c *Client) PID() int { return c.cmd.Process.Pid }

// Kill ends the server without a word.
func (c *Client) Kill() error {
	err := c.cmd.Process.Kill()
	_ = c.cmd.Wait() // that it was killed
	return err
}
