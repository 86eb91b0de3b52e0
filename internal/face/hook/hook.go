// Package hook is the face that a client asks at certain moments of an
// agent's work, and answers with at most one line for the agent's context:
//
//	SessionStart   what there is to search here
//	PreToolUse     once per session, that search would have spared this
//	SubagentStart  by which names a sub-agent calls the tools
//
// It is made to go unnoticed. Where there is no store it says nothing; it
// never blocks, denies or allows a tool; every failure is silence. It reads
// the database as it is, takes no lock, starts no job and runs nothing; of
// the project it sees where the repository lies and how large a file is. All
// that it writes is which sessions have had their hint, in DATA/hooks
// (session.go), and when an agent last began with an empty context, so that
// servers forget what they have given.
//
// The shapes of input and output are those of Claude Code:
// https://code.claude.com/docs/en/hooks. Input is {session_id, cwd,
// hook_event_name} and, before a tool, {tool_name, tool_input}; output is
// {"hookSpecificOutput":{"hookEventName":…,"additionalContext":…}}.
package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
)

// Variable turns the hooks off, or on in spite of the plugin's setting.
const Variable = "KNOWLEDGE_HOOKS"

// The plugin's settings reach its hooks as variables of these names.
const (
	optionHooks   = "CLAUDE_PLUGIN_OPTION_HINTS"
	optionDataDir = "CLAUDE_PLUGIN_OPTION_DATA_DIR"
)

const (
	maxInput = 4 << 20         // bytes of an event; a Write holds a whole file
	patience = 2 * time.Second // of the whole answer
)

// Events are the events that are answered.
func Events() []string { return []string{"SessionStart", "PreToolUse", "SubagentStart"} }

// Env is what a run takes from its process.
type Env struct {
	Event  string // "": the one that the input names
	Dir    string // working directory, where the input names none
	Stdin  io.Reader
	Stdout io.Writer
	Getenv func(string) string
	Now    func() time.Time
}

// event is the input, as far as it is looked at.
type event struct {
	Session string          `json:"session_id"`
	Dir     string          `json:"cwd"`
	Name    string          `json:"hook_event_name"`
	Tool    string          `json:"tool_name"`
	Input   json.RawMessage `json:"tool_input"`
}

// Run answers one event on e.Stdout, or with silence.
func Run(ctx context.Context, e Env) {
	defer func() { _ = recover() }() // a defect of ours must not show in a session
	if off(e.Getenv) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	raw := read(ctx, e.Stdin)
	var ev event
	if json.Unmarshal(raw, &ev) != nil || ev.Session == "" {
		return
	}
	if e.Event != "" {
		ev.Name = e.Event
	}
	if ev.Dir == "" {
		ev.Dir = e.Dir
	}
	a, err := app.New(app.Config{Version: command.Version, DataDir: e.Getenv(optionDataDir), Dir: ev.Dir, Env: e.Getenv})
	if err != nil {
		return
	}
	defer a.Close()
	var line string
	switch ev.Name {
	case "SessionStart":
		line = greet(ctx, a, names(e.Getenv))
	case "SubagentStart":
		line = remind(ctx, a, names(e.Getenv))
	case "PreToolUse":
		line = notice(ctx, a, ev, names(e.Getenv), e.Now())
	}
	if line == "" {
		return
	}
	if ev.Name != "PreToolUse" {
		_ = a.BeginAnew(e.Now()) // else a server repeats less than it should, and says where it is
	}
	var out struct {
		Output struct {
			Event   string `json:"hookEventName"`
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	out.Output.Event, out.Output.Context = ev.Name, line
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(out) == nil {
		_, _ = io.WriteString(e.Stdout, visible.Values(b.String()))
	}
}

// read returns the event, or nothing when it is not all there in time: who
// never closes its end must not hold up the client.
func read(ctx context.Context, from io.Reader) []byte {
	got := make(chan []byte, 1)
	go func() {
		raw, err := io.ReadAll(io.LimitReader(from, maxInput))
		if err != nil {
			raw = nil
		}
		got <- raw
	}()
	select {
	case raw := <-got:
		return raw
	case <-ctx.Done():
		return nil
	}
}

// off reports whether the user wants no hooks.
func off(env func(string) string) bool {
	v := env(Variable)
	if v == "" {
		v = env(optionHooks)
	}
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "off", "false", "0", "no":
		return true
	}
	return false
}

// names returns how the agent calls a tool: a plugin's are named after it.
func names(env func(string) string) func(tool string) string {
	prefix := "mcp__knowledge__"
	if env("CLAUDE_PLUGIN_ROOT") != "" {
		prefix = command.PluginTools
	}
	return func(tool string) string { return prefix + tool }
}
