package restapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// ArgumentError says which argument of a call is wrong.
type ArgumentError struct {
	Param   string
	Missing bool
	Unknown bool
	Err     *kb.Error
}

func (e *ArgumentError) Error() string { return e.Err.Error() }

// Unwrap returns the error that carries code and hint.
func (e *ArgumentError) Unwrap() error { return e.Err }

func badArgument(param, format string, args ...any) *ArgumentError {
	return &ArgumentError{Param: param, Err: kb.Errorf(kb.Invalid, format, args...)}
}

// convert checks a JSON value against the parameter's type and returns it as JSON
// of that type. Numbers keep their digits. It also takes what agents write
// instead: a number or boolean as a string, a number for a string, a list or
// object as a string of JSON, and one element for a list.
func (p *Param) convert(v json.RawMessage) (json.RawMessage, error) {
	if trimmed := bytes.TrimSpace(v); p.Nullable && string(trimmed) == "null" || p.AllowEmpty && string(trimmed) == `""` {
		return trimmed, nil
	}
	out, err := convertTo(p.Type, p.Items, bytes.TrimSpace(v))
	if err != nil {
		return nil, badArgument(p.Name, "parameter %q must be %s", clip(p.Name, 60), err.Error())
	}
	if len(p.Enum) > 0 && p.Type != Array && p.Type != Object {
		word := text(out)
		if !slices.Contains(p.Enum, word) {
			e := badArgument(p.Name, "parameter %q must be one of %s", clip(p.Name, 60), clip(strings.Join(p.Enum, ", "), 200))
			if near := kb.Nearest(word, p.Enum); near != "" {
				e.Err = e.Err.WithHint("did you mean %q?", near)
			}
			return nil, e
		}
	}
	return out, nil
}

type wants string

func (w wants) Error() string { return string(w) }

func convertTo(kind, items string, v json.RawMessage) (json.RawMessage, error) {
	if len(v) == 0 {
		return nil, wants("a JSON value")
	}
	var s string
	isText := v[0] == '"' && json.Unmarshal(v, &s) == nil
	inner := json.RawMessage(strings.TrimSpace(s)) // what a string may hold
	switch kind {
	case Number, Integer:
		if isText {
			v = inner
		}
		if !isNumber(v) {
			return nil, wants("a number")
		}
		if kind == Integer && bytes.ContainsAny(v, ".eE") {
			return nil, wants("a whole number")
		}
		return v, nil
	case Boolean:
		if isText {
			v = json.RawMessage(strings.ToLower(string(inner)))
		}
		if string(v) != "true" && string(v) != "false" {
			return nil, wants("true or false")
		}
		return v, nil
	case Object:
		if isText {
			v = inner
		}
		if len(v) == 0 || v[0] != '{' || !json.Valid(v) {
			return nil, wants("an object")
		}
		return v, nil
	case Array:
		if isText && len(inner) > 0 && inner[0] == '[' && json.Valid(inner) {
			v = inner
		}
		list := []json.RawMessage{v}
		if v[0] == '[' && json.Unmarshal(v, &list) != nil {
			return nil, wants("a list")
		}
		for i := range list {
			if string(bytes.TrimSpace(list[i])) == "null" {
				continue
			}
			x, err := convertTo(cmp.Or(items, String), "", bytes.TrimSpace(list[i]))
			if err != nil {
				return nil, wants(fmt.Sprintf("a list in which each element is %s", err))
			}
			list[i] = x
		}
		return mustJSON(list), nil
	case Any:
		return v, nil
	case Bytes:
		if v[0] != '"' && v[0] != '{' {
			return nil, wants(`a text, or an object with "base64", "text" or "path"`)
		}
		return v, nil
	default:
		switch v[0] {
		case '"':
			return v, nil
		case '{', '[', 'n':
			return nil, wants("a string")
		}
		return mustJSON(string(v)), nil
	}
}

// isNumber reports whether v is a number as JSON has them.
func isNumber(v json.RawMessage) bool {
	return len(v) > 0 && len(v) <= 400 && (v[0] == '-' || v[0] >= '0' && v[0] <= '9') && json.Valid(v)
}

// text returns a value as a path or query has it: a string without its quotes,
// anything else as JSON.
func text(v json.RawMessage) string {
	var s string
	if len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}

// value is one argument after all checks.
type value struct {
	param *Param
	json  json.RawMessage
	at    int // how many arguments were given before it
}

// arguments checks the arguments of a call, a JSON object or nothing, and fills in
// defaults. null counts as absent where it is no value. An error about one
// argument is an *ArgumentError.
func (t *Tool) arguments(auths []*Auth, raw json.RawMessage) ([]value, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && string(raw) != "null" && (raw[0] != '{' || !json.Valid(raw)) {
		return nil, kb.Errorf(kb.Invalid, "the arguments of %s must be a JSON object", t.Code).
			WithHint(`send something like {"name":"value"}`)
	}
	given, order := map[string]json.RawMessage{}, map[string]int{}
	for i, f := range fields(raw) {
		given[f.key], order[f.key] = f.raw, i
	}
	key := func(name string) bool {
		return slices.ContainsFunc(auths, func(a *Auth) bool { return a.Name == name && a.In != InHeader })
	}
	some := slices.ContainsFunc(t.Params, func(p Param) bool {
		return (p.In == "body" || p.In == "payload") && given[p.Name] != nil
	})
	var out []value
	for i := range t.Params {
		p := &t.Params[i]
		v, ok := given[p.Name]
		at, given1 := order[p.Name]
		if !given1 {
			at = len(order) + i
		}
		delete(given, p.Name)
		if !ok || string(bytes.TrimSpace(v)) == "null" && !p.Nullable {
			switch {
			case p.Default != nil:
				v = mustJSON(*p.Default)
			case key(p.wire()) && p.In != "path":
				continue // the credential takes its place
			case p.Required && p.In == "body" && t.Optional && !some:
				continue // of a body that is not sent
			case p.In == "header" && strings.EqualFold(p.wire(), "Idempotency-Key"):
				continue // one is made
			case p.Required:
				e := badArgument(p.Name, "missing required parameter %q", clip(p.Name, 60))
				e.Missing = true
				e.Err = e.Err.WithHint("%s needs it%s", t.Code, colon(p.Description))
				return nil, e
			default:
				continue
			}
		}
		x, err := p.convert(v)
		if err != nil {
			return nil, err
		}
		out = append(out, value{p, x, at})
	}
	// Some clients send the key that the service documents; ours goes instead.
	for _, a := range auths {
		delete(given, a.Name)
	}
	if len(given) > 0 {
		return nil, t.unknown(slices.Sorted(maps.Keys(given))[0])
	}
	return out, nil
}

// unknown is the error about an argument that is no parameter.
func (t *Tool) unknown(name string) error {
	known := t.paramNames()
	e := badArgument(name, "%s has no parameter %q", t.Code, clip(name, 60))
	e.Unknown = true
	switch near := kb.Nearest(name, known); {
	case len(known) == 0:
		e.Err = e.Err.WithHint("it takes none")
	case near != "":
		e.Err = e.Err.WithHint("did you mean %q?", near)
	default:
		e.Err = e.Err.WithHint("it takes: %s", clip(strings.Join(known, ", "), 300))
	}
	return e
}

func colon(s string) string {
	if s == "" {
		return ""
	}
	return ": " + clip(s, 200)
}

// Example returns arguments that show how the tool is called: those that are
// required, or the first when none is.
func (t *Tool) Example() json.RawMessage {
	var values []value
	for i := range t.Params {
		p := &t.Params[i]
		if p.Required && p.Default == nil || len(values) == 0 && i == len(t.Params)-1 {
			values = append(values, value{&Param{Name: p.Name}, p.example(t), i})
		}
	}
	return objectOf(values)
}

func (p *Param) example(t *Tool) json.RawMessage {
	switch {
	case p.Default != nil:
		if v, err := p.convert(mustJSON(*p.Default)); err == nil {
			return v
		}
	case len(p.Enum) > 0 && p.Type == String:
		return mustJSON(p.Enum[0])
	}
	switch p.Type {
	case Number, Integer:
		return json.RawMessage("1")
	case Boolean:
		return json.RawMessage("true")
	case Object, Any:
		if s := t.walk().exampleOf(p.Schema, 0); s != nil {
			return s
		}
		return json.RawMessage("{}")
	case Bytes:
		return json.RawMessage(`{"path":"file.txt"}`)
	case Array:
		if s := t.walk().exampleOf(p.Schema, 0); s != nil {
			return s
		}
		if p.Items == "" || p.Items == String {
			return json.RawMessage(`["a","b"]`)
		}
		return json.RawMessage("[]")
	}
	return mustJSON("a " + p.Name)
}
