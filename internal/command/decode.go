package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// MaxRequest is the length in bytes of the longest arguments that are read.
const MaxRequest = 1 << 20

// decode sets the fields of in, a struct that paramsOf read params from.
func (t *Table) decode(ctx context.Context, name string, params []Param, raw json.RawMessage, in reflect.Value) error {
	args, err := object(name, raw)
	if err != nil {
		return err
	}
	if err := refuseUnknown(ctx, name, params, args); err != nil {
		return err
	}
	for _, p := range params {
		f := in.Field(p.field)
		v, given := args[p.Name]
		for _, n := range p.Also {
			if x, ok := args[n]; ok && !given {
				v, given = x, true
			}
		}
		if !given || string(v) == "null" {
			if _, other := args[p.Unless]; p.Required && !other {
				return t.missing(ctx, name, p)
			}
			if p.Default != "" {
				if err := set(ctx, f, p, json.RawMessage(strconv.Quote(p.Default))); err != nil {
					return err
				}
			}
			continue
		}
		if err := set(ctx, f, p, v); err != nil {
			return err
		}
		if p.Required && f.Kind() == reflect.String && strings.TrimSpace(f.String()) == "" {
			return kb.Errorf(kb.Invalid, "%s of %s is empty", called(ctx, p), name).WithHint("%s", says(ctx, p))
		}
	}
	return nil
}

// into sets the fields of the struct that in points to, which c was made for, from
// its arguments.
func (t *Table) into(ctx context.Context, c Command, args json.RawMessage, in any) error {
	return t.worded(ctx, t.decode(ctx, c.Name, c.Params, args, reflect.ValueOf(in).Elem()))
}

// object splits arguments into their values.
func object(name string, raw json.RawMessage) (map[string]json.RawMessage, error) {
	if len(raw) > MaxRequest {
		return nil, kb.Errorf(kb.TooLarge, "the arguments of %s are %d bytes, over the limit of %d", name, len(raw), MaxRequest).
			WithHint("send less")
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if !json.Valid(raw) {
		return nil, kb.Errorf(kb.Invalid, "the arguments of %s are not valid JSON", name).
			WithHint("send a JSON object such as {\"name\":\"value\"}")
	}
	if raw[0] != '{' {
		return nil, kb.Errorf(kb.Invalid, "the arguments of %s must be an object, not %s", name, jsonType(raw)).
			WithHint("send a JSON object such as {\"name\":\"value\"}")
	}
	var args map[string]json.RawMessage
	if err := json.Unmarshal(raw, &args); err != nil {
		return nil, kb.Errorf(kb.Invalid, "the arguments of %s cannot be read: %w", name, err).
			WithHint("send a JSON object such as {\"name\":\"value\"}")
	}
	return args, nil
}

func refuseUnknown(ctx context.Context, name string, params []Param, args map[string]json.RawMessage) error {
	var known []string
	left := len(args)
	for _, p := range params {
		_, given := args[p.Name]
		if p.CLIOnly && !IsCLI(ctx) {
			if given {
				return kb.Errorf(kb.Denied, "argument %q of %s is for the command line only", p.Name, name).
					WithHint("leave it out, or ask the user to run it in a terminal: knowledge %s --%s", name, p.Name)
			}
			continue
		}
		known = append(known, p.Name)
		if given {
			left--
		}
		for _, n := range p.Also {
			if _, ok := args[n]; ok && !given {
				given = true
				left--
			}
		}
	}
	if left == 0 {
		return nil
	}
	unknown := ""
	for n := range args { // the first by name, so that one request has one answer
		if !slices.Contains(known, n) && (unknown == "" || n < unknown) {
			unknown = n
		}
	}
	err := kb.Errorf(kb.Invalid, "%s has no argument %q", name, clip(unknown))
	if name == "execute" {
		return err.WithHint("arguments of the command go into args, as in: %s", nested(args, known))
	}
	if len(known) == 0 {
		return err.WithHint("it takes none")
	}
	if near := kb.Nearest(unknown, known); near != "" {
		return err.WithHint("did you mean %q? it takes: %s", near, strings.Join(known, ", "))
	}
	return err.WithHint("it takes: %s", strings.Join(known, ", "))
}

// nested is what a call means that has the arguments of a command beside its
// name: {"command":"store:info","args":{"store":"x"}}.
func nested(args map[string]json.RawMessage, known []string) string {
	inner := map[string]json.RawMessage{}
	if a := bytes.TrimSpace(args["args"]); len(a) > 0 && a[0] == '{' {
		_ = json.Unmarshal(a, &inner) // what does not parse is left out of the example
	}
	for n, v := range args {
		if !slices.Contains(known, n) {
			inner[n] = v
		}
	}
	command := args["command"]
	if len(command) == 0 {
		command = json.RawMessage(`"store:info"`)
	}
	return kb.Clip(printer.JSON(struct {
		Command json.RawMessage            `json:"command"`
		Args    map[string]json.RawMessage `json:"args"`
	}{command, inner}), 300)
}

func (t *Table) missing(ctx context.Context, name string, p Param) error {
	if IsCLI(ctx) {
		what := p.ForPerson()
		if p.Enum != nil {
			what += ", one of " + strings.Join(p.Enum, ", ")
		}
		if c, ok := t.Lookup(name); ok {
			name = c.Word()
		}
		return kb.Errorf(kb.Invalid, "%s needs %s, %s", name, called(ctx, p), what)
	}
	err := kb.Errorf(kb.Invalid, "%s needs the argument %q", name, p.Name)
	if p.Enum != nil {
		return err.WithHint("%s: %s; one of %s", p.Name, p.Help, strings.Join(p.Enum, ", "))
	}
	return err.WithHint("%s: %s", p.Name, p.Help)
}

// called is what the reader of ctx calls a parameter.
func called(ctx context.Context, p Param) string {
	switch {
	case !IsCLI(ctx):
		return fmt.Sprintf("argument %q", p.Name)
	case p.Arg:
		return strings.TrimSuffix(p.Word(), "...")
	}
	return "--" + p.Flag()
}

// says is what a parameter means, as a hint.
func says(ctx context.Context, p Param) string {
	if IsCLI(ctx) {
		return called(ctx, p) + " is " + p.ForPerson()
	}
	return p.Name + ": " + p.Help
}

// set stores one JSON value in a field, or says what it should have been.
func set(ctx context.Context, f reflect.Value, p Param, v json.RawMessage) error {
	if f.Kind() == reflect.Pointer {
		f.Set(reflect.New(f.Type().Elem()))
		f = f.Elem()
	}
	text, isText := "", false
	if v[0] == '"' {
		isText = json.Unmarshal(v, &text) == nil
	}
	switch p.Type {
	case "string":
		return setText(ctx, f, p, v, text, isText)
	case "integer":
		x, ok := number(v, text, isText)
		if !ok || x != math.Trunc(x) || math.Abs(x) > 1<<31 {
			return wrong(ctx, p, "a whole number", v)
		}
		if p.Name == "limit" && x < 1 {
			return kb.Errorf(kb.Invalid, "%s must be at least 1, not %d", called(ctx, p), int64(x)).WithHint("%s", says(ctx, p))
		}
		f.SetInt(int64(x))
	case "number":
		x, ok := number(v, text, isText)
		if !ok {
			return wrong(ctx, p, "a number", v)
		}
		f.SetFloat(x)
	case "boolean":
		word := text
		if !isText {
			word = string(v)
		}
		if word != "true" && word != "false" {
			return wrong(ctx, p, "true or false", v)
		}
		f.SetBool(word == "true")
	case "strings":
		return setList(ctx, f, p, v, text, isText)
	case "object":
		if isText {
			v = bytes.TrimSpace([]byte(text))
		}
		if len(v) == 0 {
			return nil
		}
		if v[0] != '{' {
			return wrong(ctx, p, "an object", v)
		}
		if !json.Valid(v) { // it came as a string
			return kb.Errorf(kb.Invalid, "%s must be an object, and %s is no valid JSON", called(ctx, p), clip(string(v))).
				WithHint("for example {\"name\":\"value\"}")
		}
		f.SetBytes(v)
	}
	return nil
}

// setText stores a string, one of p.Enum where there are such.
func setText(ctx context.Context, f reflect.Value, p Param, v json.RawMessage, text string, isText bool) error {
	if !isText {
		return wrong(ctx, p, "a string", v)
	}
	if p.Enum == nil || slices.Contains(p.Enum, text) {
		f.SetString(text)
		return nil
	}
	if text == "" && !p.Required {
		return nil
	}
	err := kb.Errorf(kb.Invalid, "%s must be one of %s, not %q", called(ctx, p), strings.Join(p.Enum, ", "), clip(text))
	if near := kb.Nearest(text, p.Enum); near != "" {
		return err.WithHint("did you mean %q?", near)
	}
	if p.Required {
		return err.WithHint("choose one of them")
	}
	return err.WithHint("choose one of them, or leave it out")
}

// setList stores a list of strings. A string is a list in JSON, or its one element.
func setList(ctx context.Context, f reflect.Value, p Param, v json.RawMessage, text string, isText bool) error {
	list := []string{}
	switch {
	case isText && strings.HasPrefix(strings.TrimSpace(text), "[") && json.Unmarshal([]byte(text), &list) == nil:
	case isText && text != "":
		list = []string{text}
	case isText:
	case v[0] != '[':
		return wrong(ctx, p, "a list of strings", v)
	default:
		var items []json.RawMessage
		if err := json.Unmarshal(v, &items); err != nil {
			return wrong(ctx, p, "a list of strings", v)
		}
		for _, item := range items {
			var s string
			if item[0] != '"' || json.Unmarshal(item, &s) != nil {
				return kb.Errorf(kb.Invalid, "%s must be a list of strings, and %s is not one", called(ctx, p), clip(string(item))).
					WithHint("for example [\"a\",\"b\"]")
			}
			list = append(list, s)
		}
	}
	f.Set(reflect.ValueOf(list))
	return nil
}

// number reads a JSON number, or a string that is one.
func number(v json.RawMessage, text string, isText bool) (float64, bool) {
	if !isText {
		text = string(v)
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return x, err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
}

func wrong(ctx context.Context, p Param, want string, v json.RawMessage) error {
	got := jsonType(v)
	if IsCLI(ctx) {
		got = strings.TrimPrefix(got, "the string ")
	}
	err := kb.Errorf(kb.Invalid, "%s must be %s, not %s", called(ctx, p), want, got)
	if p.Help == "" {
		return err.WithHint("give it as %s", want)
	}
	return err.WithHint("%s", says(ctx, p))
}

// jsonType says what a JSON value is, with the value when it is short.
func jsonType(v json.RawMessage) string {
	short := len(v) <= 40
	switch {
	case len(v) == 0:
		return "nothing"
	case v[0] == '"' && short:
		return "the string " + string(v)
	case v[0] == '"':
		return "a string"
	case v[0] == '{':
		return "an object"
	case v[0] == '[':
		return "a list"
	case short:
		return string(v)
	default:
		return "a number"
	}
}

// clip shortens what a stranger wrote for use in a message.
func clip(s string) string { return kb.Clip(s, 60) }
