package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/agents/trial"
	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// request and reply are one line each between look and its kept server.
type request struct {
	Tool string         `json:"tool"`
	Args map[string]any `json:"args"`
}

type reply struct {
	Text  string `json:"text"`
	Error string `json:"error,omitempty"`
}

// product asks the product in the way of the arm.
func product(dir string, r *trial.Run, args []string) (string, error) {
	if r.Arm == trial.CLI {
		return lab.Command(r.Root, lab.Env(r.Data), r.Program, commandLine(args)...)
	}
	tool, in, err := toolCall(args)
	if err != nil {
		return "", err
	}
	return kept(dir, request{tool, in})
}

// commandLine is what a look is on the command line of the product.
func commandLine(args []string) []string {
	switch args[0] {
	case "context":
		return append([]string{"show"}, args[1:]...)
	case "execute":
		return args[1:]
	}
	return args
}

// toolCall is what a look is as a call of one of the three tools. Flags in the
// way of the command line are its arguments.
func toolCall(args []string) (tool string, in map[string]any, err error) {
	in = map[string]any{}
	var words []string
	for i := 1; i < len(args); i++ {
		name, is := strings.CutPrefix(args[i], "--")
		if !is || args[0] == "execute" {
			words = append(words, args[i])
			continue
		}
		name, value, ok := strings.Cut(name, "=")
		if !ok {
			if i++; i == len(args) {
				return "", nil, fmt.Errorf("--%s has no value", name)
			}
			value = args[i]
		}
		in[camel(name)] = typed(name, value)
	}
	text := strings.Join(words, " ")
	switch args[0] {
	case "search":
		in["query"] = text
		return "search", in, nil
	case "context":
		in["resultId"] = text
		return "get_full_context", in, nil
	}
	if len(words) == 0 {
		return "", nil, errors.New("execute needs a command")
	}
	in["command"] = words[0]
	if len(words) > 1 {
		var more map[string]any
		if err := json.Unmarshal([]byte(strings.Join(words[1:], " ")), &more); err != nil {
			return "", nil, fmt.Errorf("the arguments are no JSON object: %w", err)
		}
		in["args"] = more
	}
	return "execute", in, nil
}

func camel(name string) string {
	parts := strings.Split(name, "-")
	for i, p := range parts[1:] {
		if p != "" {
			parts[i+1] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, "")
}

func typed(name, value string) any {
	if name == "stores" {
		return strings.Split(value, ",")
	}
	if n, err := strconv.ParseFloat(value, 64); err == nil {
		return n
	}
	return value
}

// socket is where the kept server of a run listens; a path of its own, since
// those of sockets are short.
func socket(dir string) string {
	abs, _ := filepath.Abs(dir)
	sum := sha256.Sum256([]byte(abs))
	return filepath.Join(os.TempDir(), fmt.Sprintf("look-%x.sock", sum[:8]))
}

// kept asks the kept server, and starts it first where there is none.
func kept(dir string, q request) (string, error) {
	c, err := net.Dial("unix", socket(dir))
	if err != nil {
		self, err := os.Executable()
		if err != nil {
			return "", err
		}
		cmd := exec.Command(self, "-run", dir, "serve")
		detach(cmd)
		if err := cmd.Start(); err != nil {
			return "", err
		}
		go func() { _ = cmd.Wait() }()
		for until := time.Now().Add(10 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
			if c, err = net.Dial("unix", socket(dir)); err == nil {
				break
			}
			if time.Now().After(until) {
				return "", fmt.Errorf("the kept server does not answer: %w", err)
			}
		}
	}
	defer c.Close()
	if err := json.NewEncoder(c).Encode(q); err != nil {
		return "", err
	}
	var a reply
	if err := json.NewDecoder(c).Decode(&a); err != nil {
		return "", fmt.Errorf("the kept server: %w", err)
	}
	if a.Error != "" {
		return a.Text, errors.New(a.Error)
	}
	return a.Text, nil
}

// idle is how long a kept server waits for the next look; each tick it sees
// whether a question is left.
const (
	idle = 30 * time.Minute
	tick = 20 * time.Second
)

// serve keeps one "knowledge mcp" for the whole run, as a client does, so that
// what the product remembers of a session holds here too. It has the tree
// indexed before it listens.
func serve(ctx context.Context, dir string, r *trial.Run) error {
	env := lab.Env(r.Data)
	_, err := lab.Command(r.Root, env, r.Program, "search", "--wait", "--yes", "--json", "--limit", "1", "first")
	if err != nil {
		return err
	}
	client, err := lab.Dial(r.Root, env, r.Program, lab.Handshake)
	if err != nil {
		return err
	}
	defer client.Close()
	path := socket(dir)
	_ = os.Remove(path)
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	defer l.Close()
	context.AfterFunc(ctx, func() { l.Close() })
	for last := time.Now(); time.Since(last) < idle; {
		if err := l.(*net.UnixListener).SetDeadline(time.Now().Add(tick)); err != nil {
			return err
		}
		c, err := l.Accept()
		switch {
		case err == nil:
			answer(client, c)
			last = time.Now()
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return nil // it was told to end
		default:
			if answers, err := trial.Answers(dir); err != nil || r.Now(answers) == nil {
				return err
			}
		}
	}
	return nil
}

func answer(client *lab.Client, c net.Conn) {
	defer c.Close()
	var q request
	if err := json.NewDecoder(bufio.NewReader(c)).Decode(&q); err != nil {
		return
	}
	var a reply
	text, err := client.Call(q.Tool, q.Args)
	if a.Text = text; err != nil && text == "" {
		a.Error = err.Error()
	}
	_ = json.NewEncoder(c).Encode(a) // who asked may have gone
}
