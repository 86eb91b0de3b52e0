package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/face/packaging"
)

// The channels that other programs read: manifests, tried with their real
// client or against their published schema.

// client runs a program of an npm package, alone: with an empty home and, where
// the system permits, no network.
func (l *trial) client(env []string, name string, args ...string) (string, error) {
	if l.noNpm != "" {
		return "", skip("%s", l.noNpm)
	}
	program := filepath.Join(l.clients, "node_modules", ".bin", name)
	if _, err := os.Stat(program); err != nil {
		return "", skip("npm installed no %s", name)
	}
	words := append([]string{program}, args...)
	if exec.Command("unshare", "-n", "true").Run() == nil {
		words = append([]string{"unshare", "-n"}, words...)
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir, cmd.Env = l.docs, append(env, "PATH="+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return string(out), err
}

// bundle checks the manifests of all bundles with the format's own tool, and
// runs the server of this machine's as its manifest says.
func (l *trial) bundle(r *row) error {
	_, env, err := l.env("mcpb")
	if err != nil {
		return err
	}
	var dir string
	for _, p := range packaging.Platforms {
		to := filepath.Join(l.scratch, "mcpb", p.OS+"-"+p.Arch)
		file := filepath.Join(l.dist, "bundles", p.Bundle(command.Version))
		if out, err := l.client(env, "mcpb", "unpack", file, to); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		if _, err := l.client(env, "mcpb", "validate", filepath.Join(to, "manifest.json")); err != nil {
			return err
		}
		if p == l.host {
			dir = to
		}
	}
	var m struct {
		Server struct {
			Config struct {
				Command string   `json:"command"`
				Args    []string `json:"args"`
			} `json:"mcp_config"`
		} `json:"server"`
	}
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	fill := strings.NewReplacer("${__dirname}", dir, "${user_config.folder}", l.docs)
	args := make([]string, len(m.Server.Config.Args))
	for i, a := range m.Server.Config.Args {
		args[i] = fill.Replace(a)
	}
	r.note = "six manifests pass the validator of @anthropic-ai/mcpb " + lab.NpmVersion(l.clients, "@anthropic-ai/mcpb")
	return l.server(env, "/", fill.Replace(m.Server.Config.Command), args...)
}

// server asks an MCP server the question, started in dir.
func (l *trial) server(env []string, dir, program string, args ...string) error {
	if len(args) == 0 || args[0] != "mcp" {
		return fmt.Errorf("%s %v is no server", program, args)
	}
	c, err := lab.Dial(dir, env, program, lab.Handshake, args[1:]...)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	for until := time.Now().Add(time.Minute); ; time.Sleep(500 * time.Millisecond) {
		text, err := c.Call("search", map[string]any{"query": question})
		if err == nil && strings.Contains(text, answer) {
			return nil
		}
		if time.Now().After(until) {
			return fmt.Errorf("the server does not answer with %s: %q, %w", answer, text, err)
		}
	}
}

func (l *trial) gemini(r *row) error {
	home, env, err := l.env("gemini", "GEMINI_API_KEY=dummy", "GEMINI_CLI_TRUST_WORKSPACE=true")
	if err != nil {
		return err
	}
	dir := filepath.Join(l.scratch, "gemini", "unpacked")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if _, err := lab.Command(dir, nil, "tar", "-xzf", filepath.Join(l.dist, "bundles", l.host.Extension())); err != nil {
		return err
	}
	if _, err := l.client(env, "gemini", "extensions", "validate", dir); err != nil {
		return err
	}
	if _, err := l.client(env, "gemini", "extensions", "install", "--consent", dir); err != nil {
		return err
	}
	out, err := l.client(env, "gemini", "extensions", "list")
	if err != nil || !strings.Contains(out, "knowledge") {
		return fmt.Errorf("the extension is not listed: %q, %w", out, err)
	}
	out, err = l.client(env, "gemini", "mcp", "list")
	if err != nil {
		return err
	}
	state := regexp.MustCompile(`(?m)^.*knowledge.*$`).FindString(out)
	if !strings.Contains(state, "Connected") {
		return fmt.Errorf("the client is not connected: %q", out)
	}
	if !strings.Contains(state, "mcp --project "+l.docs+" ") {
		return fmt.Errorf("the client does not name its folder: %q", state)
	}
	r.note = "@google/gemini-cli " + lab.NpmVersion(l.clients, "@google/gemini-cli") + " validates and installs it and says: Connected"
	return l.server(env, "/", filepath.Join(home, ".gemini", "extensions", "knowledge", l.host.Binary()), "mcp", "--project", l.docs)
}

func (l *trial) codex(r *row) error {
	// The client makes no helpers below /tmp and says so; its home lies elsewhere.
	home, env, err := l.env("codex")
	if err != nil {
		return err
	}
	if _, err := l.client(env, "codex", "plugin", "marketplace", "add", l.source); err != nil {
		return err
	}
	if _, err := l.client(env, "codex", "plugin", "add", "knowledge@seed-4f2d999b"); err != nil {
		return err
	}
	out, err := l.client(env, "codex", "mcp", "get", "--json", "knowledge")
	if err != nil {
		return err
	}
	i := strings.Index(out, "{")
	var got struct {
		Enabled   bool
		Transport struct {
			Command string
			Args    []string
			Cwd     *string
		}
	}
	if i < 0 || json.Unmarshal([]byte(out[i:]), &got) != nil || !got.Enabled || got.Transport.Command != "knowledge" || got.Transport.Cwd != nil {
		return fmt.Errorf("the client would start %q", out)
	}
	if _, err := os.Stat(filepath.Join(home, ".codex", "plugins", "cache", "seed-4f2d999b", "knowledge", command.Version, ".mcp.json")); err != nil {
		return err
	}
	dir := filepath.Join(home, "bin")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if _, err := lab.Command(dir, nil, "tar", "-xzf", filepath.Join(l.dist, l.host.Archive(command.Version)), "knowledge"); err != nil {
		return err
	}
	// A project here is a git work tree.
	project := filepath.Join(l.scratch, "codex", "project")
	if _, err := lab.Command(l.docs, nil, "cp", "-r", l.docs, project); err != nil {
		return err
	}
	if _, err := lab.Command(project, nil, "git", "init", "-q"); err != nil {
		return err
	}
	r.note = "@openai/codex " + lab.NpmVersion(l.clients, "@openai/codex") + " adds marketplace and plugin, and names as server: knowledge mcp; a session with it, which needs an account, is untried"
	return l.server(env, project, filepath.Join(dir, "knowledge"), got.Transport.Args...)
}

// registryModule holds the published schemas of server.json.
const registryModule = "github.com/modelcontextprotocol/registry@v1.7.9"

func (l *trial) registry(r *row) error {
	r.installed, r.answer = "–", "–"
	out, err := lab.Command(l.source, append(os.Environ(), "GOFLAGS=-mod=mod"), "go", "mod", "download", "-json", registryModule)
	if err != nil {
		return skip("the schema cannot be had: %v", err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal([]byte(out), &module); err != nil {
		return err
	}
	if err := valid(filepath.Join(module.Dir, "internal", "validators", "schemas", "2025-12-11.json"), l.channel("server.json")); err != nil {
		return err
	}
	r.note = "passes the published schema of 2025-12-11; publishing is untried"
	return nil
}

func valid(schema, document string) error {
	s, err := jsonschema.NewCompiler().Compile(schema)
	if err != nil {
		return err
	}
	f, err := os.Open(document)
	if err != nil {
		return err
	}
	defer f.Close()
	doc, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

func (l *trial) homebrew(r *row) error {
	r.installed, r.answer = "–", "–"
	if err := on("ruby"); err != nil {
		return err
	}
	if _, err := lab.Command(l.scratch, nil, "ruby", "-c", l.channel("homebrew", "knowledge.rb")); err != nil {
		return err
	}
	r.note = "ruby -c: Syntax OK; untried with brew"
	return nil
}

func (l *trial) scoop(r *row) error {
	r.installed, r.answer = "–", "–"
	schema := filepath.Join(l.schemas, "scoop.schema.json")
	if _, err := os.Stat(schema); l.schemas == "" || err != nil {
		return skip("-schemas names no folder with scoop.schema.json; our own table of keys is in the suite")
	}
	if err := valid(schema, l.channel("scoop", "knowledge.json")); err != nil {
		return err
	}
	r.note = "passes Scoop's schema; untried with Scoop"
	return nil
}

func (l *trial) powershell(r *row) error {
	r.installed, r.answer = "–", "–"
	r.note = "untried; a table in the suite holds its steps"
	return nil
}
