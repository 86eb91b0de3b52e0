package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/apis"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
)

// tool is what a call names: one of our own commands or a tool of a declared API.
type tool struct {
	name    string
	command *command.Command // nil for a declared API's
	open    bool             // it needs no token
}

// namesElsewhere are the names that other programs give to what a command does.
var namesElsewhere = map[string]string{"generate_rag_answer": "answer:ask"}

// exposed returns our own commands that lists show, by the names that they
// have there. Names that are not registered are left out, and so is what only
// a person may run.
func (s *service) exposed(ctx context.Context) ([]tool, error) {
	names, err := apis.Exposed(ctx, s.app)
	if err != nil {
		return nil, err
	}
	var out []tool
	for _, n := range names {
		if c := s.shown(n); c != nil {
			out = append(out, tool{name: strings.ReplaceAll(n, ":", "_"), command: c})
		}
	}
	return out, nil
}

// shown returns the command that a name means if it may be shown, remembered:
// the registry does not change.
func (s *service) shown(name string) *command.Command {
	if c, ok := s.names.Load(name); ok {
		return c.(*command.Command)
	}
	var shown *command.Command
	own := name
	if namesElsewhere[name] != "" {
		own = namesElsewhere[name]
	}
	if c, err := s.find(own); err == nil && c.Audience == command.Agent && c.Name != "execute" {
		shown = &c
	}
	s.names.Store(name, shown)
	return shown
}

// tool returns what a name means: an exposed command, by any of its names,
// else a tool of a declared API.
func (s *service) tool(ctx context.Context, name string) (tool, error) {
	own, err := s.exposed(ctx)
	if err != nil {
		return tool{}, err
	}
	for _, t := range own {
		if name == t.name || name == t.command.Name || slices.Contains(t.command.Aliases, name) {
			return t, nil
		}
	}
	open, err := apis.ToolNamed(ctx, s.app, name)
	return tool{name: name, open: open}, err
}

// mayCall guards a call by the class of what it names. A declared GET that is
// marked open needs no token, but no page of another site may send it.
func (s *service) mayCall(w http.ResponseWriter, r *http.Request, t tool) bool {
	class := httpguard.Token
	if t.command != nil {
		class = classOf(*t.command)
	}
	s.cors(w, r, class)
	status, refused := s.guard.Check(r, class)
	if refused != nil && t.open && s.mayOpen(r) {
		return true
	}
	if refused != nil {
		deny(w, status, refused)
	}
	return refused == nil
}

// mayOpen reports whether a request without the token may list and call what
// is marked open: from this machine, or from a program elsewhere. A browser
// says that it is one. Host was checked before.
func (s *service) mayOpen(r *http.Request) bool {
	if s.guard.RequireToken {
		return false
	}
	_, refused := s.guard.Check(r, httpguard.Answer)
	return refused == nil && !s.guard.Listed(r.Header.Get("Origin")) || r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Site") == ""
}

// toolResult is what a call gave: JSON, or text.
type toolResult struct {
	json json.RawMessage
	text string
}

// words is the result as text.
func (o toolResult) words() string {
	if o.json != nil {
		return string(o.json)
	}
	return o.text
}

// value is the result as JSON.
func (o toolResult) value() json.RawMessage {
	if o.json != nil {
		return o.json
	}
	return json.RawMessage(printer.JSON(o.text))
}

// call checks the arguments and runs the tool.
func (s *service) call(ctx context.Context, t tool, args json.RawMessage) (toolResult, error) {
	if t.command == nil {
		r, err := apis.Call(ctx, s.app, apis.Ask{Name: t.name, Args: args})
		if err != nil {
			return toolResult{}, err
		}
		if r.IsText {
			var text string
			err = json.Unmarshal(r.Result, &text)
			return toolResult{text: text}, err
		}
		return toolResult{json: r.Result}, nil
	}
	if err := t.command.Check(ctx, args); err != nil {
		e := &apis.ArgumentError{Err: asError(err)}
		given, _ := members(args)
		for _, p := range t.command.Params {
			if v := given[p.Name]; p.Required && (v == nil || string(v) == "null") {
				e.Param, e.Missing = p.Name, true
				break
			}
		}
		return toolResult{}, e
	}
	result, err := t.command.Run(ctx, s.app, args)
	if err != nil {
		return toolResult{}, err
	}
	if _, ok := result.(interface{ Text() string }); ok {
		// Some results are JSON that is written more briefly for agents.
		text := printer.Render(result)
		if strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
			return toolResult{json: json.RawMessage(text)}, nil
		}
		return toolResult{text: text}, nil
	}
	return toolResult{json: json.RawMessage(printer.JSON(result))}, nil
}

// asError is err as one of ours.
func asError(err error) *kb.Error {
	if e, ok := errors.AsType[*kb.Error](err); ok {
		return e
	}
	return kb.Errorf(kb.CodeOf(err), "%s", err.Error())
}

// argumentOf reports whether an error is about an argument.
func argumentOf(err error) (*apis.ArgumentError, bool) {
	return errors.AsType[*apis.ArgumentError](err)
}

// definitions are the tools of both lists, and when they were changed last;
// only those that are open, when openOnly says so.
func (s *service) definitions(ctx context.Context, openOnly bool) ([]apis.ToolDefinition, time.Time, error) {
	own, err := s.exposed(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	defs := []apis.ToolDefinition{}
	taken := map[string]bool{}
	for _, t := range own {
		if taken[t.name] {
			continue
		}
		taken[t.name] = true
		if !openOnly {
			defs = append(defs, apis.ToolDefinition{Name: t.name, Description: t.command.Summary, Type: "system_tool", Parameters: schemaOf(t.command)})
		}
	}
	declared, err := apis.Tools(ctx, s.app)
	if err != nil {
		return nil, time.Time{}, err
	}
	for _, d := range declared.Tools {
		if taken[d.Name] { // ours goes before an API's of the same name
			continue
		}
		taken[d.Name] = true
		if open, err := apis.ToolNamed(ctx, s.app, d.Name); !openOnly || err == nil && open {
			defs = append(defs, d)
		}
	}
	return defs, declared.Updated, nil
}

// schemaOf is a command's schema with what is said of each parameter.
func schemaOf(c *command.Command) json.RawMessage {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	required, first := []string{}, true
	for _, p := range c.Params {
		if p.CLIOnly || p.Unlisted || p.Unseen {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		prop := struct {
			Type        string            `json:"type"`
			Description string            `json:"description,omitempty"`
			Enum        []string          `json:"enum,omitempty"`
			Items       map[string]string `json:"items,omitempty"`
		}{Type: p.Type, Description: p.Help, Enum: p.Enum}
		if p.Type == "strings" {
			prop.Type, prop.Items = "array", map[string]string{"type": "string"}
		}
		b.WriteString(printer.JSON(p.Name) + ":" + printer.JSON(prop))
		if p.Required && p.Unless == "" {
			required = append(required, p.Name)
		}
	}
	b.WriteString(`},"required":` + printer.JSON(required) + `}`)
	return json.RawMessage(b.String())
}

// discover answers GET /api/tools/discover.
func (s *service) discover(w http.ResponseWriter, r *http.Request, openOnly bool, started time.Time) {
	defs, updated, err := s.definitions(r.Context(), openOnly)
	if err != nil {
		fail(w, 0, err)
		return
	}
	if updated.IsZero() {
		updated = started
	}
	answer(w, http.StatusOK, struct {
		Tools []apis.ToolDefinition `json:"tools"`
		Total int                   `json:"totalCount"`
		At    string                `json:"lastUpdated"`
	}{defs, len(defs), updated.UTC().Format(time.RFC3339)})
}

// executed is the reply of POST /api/tools/execute.
type executed struct {
	Success   bool            `json:"success"`
	Result    json.RawMessage `json:"result"`
	Millis    int64           `json:"executionTimeMs"`
	Type      string          `json:"toolType"`
	Error     string          `json:"errorMessage,omitempty"`
	Untrusted bool            `json:"untrusted,omitempty"`
}

// plainCall answers {toolName, parameters, sessionId}. What fails is told
// with the status 200, as its callers expect.
func (s *service) plainCall(w http.ResponseWriter, r *http.Request, body []byte) {
	start := time.Now()
	out := executed{Type: "api_tool", Result: json.RawMessage("null")}
	failed := func(message string) {
		out.Success, out.Result, out.Error, out.Millis = false, json.RawMessage("null"), message, time.Since(start).Milliseconds()
		answer(w, http.StatusOK, out)
	}
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(s.log, "knowledge: panic (%T) in a tool call\n%s", p, debug.Stack())
			failed("the server met a defect of its own and gave up")
		}
	}()
	m, ok := members(body)
	var name string
	wrong := ""
	switch {
	case !ok:
		wrong = `the body must be a JSON object: {"toolName":NAME,"parameters":{}}`
	case m["toolName"] == nil:
		wrong = "the body has no toolName"
	case !isString(m["toolName"]) || json.Unmarshal(m["toolName"], &name) != nil:
		wrong = "toolName must be a string"
	}
	if wrong != "" {
		if s.mayOpen(r) || s.allowed(w, r, httpguard.Read) {
			failed(wrong)
		}
		return
	}
	t, err := s.tool(r.Context(), name)
	if err != nil {
		if s.allowed(w, r, httpguard.Read) {
			failed(plainWords(err))
		}
		return
	}
	if !s.mayCall(w, r, t) {
		return
	}
	args := m["parameters"]
	if args == nil {
		args = m["arguments"]
	}
	if t.command != nil {
		out.Type = "system_tool"
		args = withSession(t.command, args, m["sessionId"])
	}
	out.Untrusted = t.command == nil
	result, err := s.call(r.Context(), t, args)
	if err != nil {
		failed(plainWords(err))
		return
	}
	out.Success, out.Result, out.Millis = true, result.value(), time.Since(start).Milliseconds()
	answer(w, http.StatusOK, out)
}

// plainWords is an error in the words of the plain dialect.
func plainWords(err error) string {
	if a, ok := argumentOf(err); ok && a.Missing {
		return "missing required parameter '" + a.Param + "'"
	}
	if kb.CodeOf(err) == kb.Internal {
		return "the server met a defect of its own and gave up"
	}
	return kb.Said(err, ". ")
}

// withSession gives a command that knows sessions the caller's.
func withSession(c *command.Command, args, id json.RawMessage) json.RawMessage {
	if !isString(id) {
		return args
	}
	m, ok := members(args)
	if !ok {
		if len(args) > 0 && string(args) != "null" {
			return args
		}
		m = map[string]json.RawMessage{}
	}
	for _, p := range c.Params {
		if (p.Name == "session_id" || p.Name == "sessionId") && m[p.Name] == nil {
			m[p.Name] = id
			if b, err := json.Marshal(m); err == nil {
				return b
			}
		}
	}
	return args
}
