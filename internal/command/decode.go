package command

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// MaxRequest is the length in bytes of the longest arguments that are read.
const MaxRequest = 1 << 20

// decode sets the fields of in, a struct that paramsOf read params from.
func decode(ctx context.Context, name string, params []Param, raw json.RawMessage, in reflect.Value) error {
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
		if !given || string(v) == "null" {
			if p.Required {
				return missing(name, p)
			}
			if p.Default != "" {
				if err := set(f, p, json.RawMessage(strconv.Quote(p.Default))); err != nil {
					return err
				}
			}
			continue
		}
		if err := set(f, p, v); err != nil {
			return err
		}
		if p.Required && f.Kind() == reflect.String && strings.TrimSpace(f.String()) == "" {
			return kb.Errorf(kb.Invalid, "argument %q of %s is empty", p.Name, name).WithHint("%s: %s", p.Name, p.Help)
		}
	}
	return nil
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
		if p.CLIOnly && !isCLI(ctx) {
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
	}
	if left == 0 {
		return nil
	}
	unknown := ""
	for n := range args { // the first by name, so that one request has one answer
		if !contains(known, n) && (unknown == "" || n < unknown) {
			unknown = n
		}
	}
	err := kb.Errorf(kb.Invalid, "%s has no argument %q", name, clip(unknown))
	if len(known) == 0 {
		return err.WithHint("it takes none")
	}
	if near := kb.Nearest(unknown, known); near != "" {
		return err.WithHint("did you mean %q? it takes: %s", near, strings.Join(known, ", "))
	}
	return err.WithHint("it takes: %s", strings.Join(known, ", "))
}

func missing(name string, p Param) error {
	err := kb.Errorf(kb.Invalid, "%s needs the argument %q", name, p.Name)
	if p.Enum != nil {
		return err.WithHint("%s: %s; one of %s", p.Name, p.Help, strings.Join(p.Enum, ", "))
	}
	return err.WithHint("%s: %s", p.Name, p.Help)
}

// set stores one JSON value in a field, or says what it should have been.
func set(f reflect.Value, p Param, v json.RawMessage) error {
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
		if !isText {
			return wrong(p, "a string", v)
		}
		if p.Enum != nil && !contains(p.Enum, text) {
			if text == "" && !p.Required {
				return nil
			}
			err := kb.Errorf(kb.Invalid, "argument %q must be one of %s, not %q", p.Name, strings.Join(p.Enum, ", "), clip(text))
			if near := kb.Nearest(text, p.Enum); near != "" {
				return err.WithHint("did you mean %q?", near)
			}
			return err.WithHint("choose one of them, or leave it out")
		}
		f.SetString(text)
	case "integer":
		x, ok := number(v, text, isText)
		if !ok || x != math.Trunc(x) || math.Abs(x) > 1<<31 {
			return wrong(p, "a whole number", v)
		}
		f.SetInt(int64(x))
	case "number":
		x, ok := number(v, text, isText)
		if !ok {
			return wrong(p, "a number", v)
		}
		f.SetFloat(x)
	case "boolean":
		word := text
		if !isText {
			word = string(v)
		}
		if word != "true" && word != "false" {
			return wrong(p, "true or false", v)
		}
		f.SetBool(word == "true")
	case "strings":
		list := []string{}
		switch {
		case isText && strings.HasPrefix(strings.TrimSpace(text), "[") && json.Unmarshal([]byte(text), &list) == nil:
		case isText && text != "":
			list = []string{text}
		case isText:
		case v[0] != '[':
			return wrong(p, "a list of strings", v)
		default:
			var items []json.RawMessage
			if err := json.Unmarshal(v, &items); err != nil {
				return wrong(p, "a list of strings", v)
			}
			for _, item := range items {
				var s string
				if item[0] != '"' || json.Unmarshal(item, &s) != nil {
					return kb.Errorf(kb.Invalid, "argument %q must be a list of strings, and %s is not one", p.Name, clip(string(item))).
						WithHint("for example [\"a\",\"b\"]")
				}
				list = append(list, s)
			}
		}
		f.Set(reflect.ValueOf(list))
	case "object":
		if isText {
			v = bytes.TrimSpace([]byte(text))
		}
		if len(v) == 0 {
			return nil
		}
		if v[0] != '{' || !json.Valid(v) {
			return wrong(p, "an object", v)
		}
		f.SetBytes(v)
	}
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

func wrong(p Param, want string, v json.RawMessage) error {
	err := kb.Errorf(kb.Invalid, "argument %q must be %s, not %s", p.Name, want, jsonType(v))
	if p.Help == "" {
		return err.WithHint("give it as %s", want)
	}
	return err.WithHint("%s: %s", p.Name, p.Help)
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

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// clip shortens what a stranger wrote for use in a message.
func clip(s string) string { return kb.Clip(s, 60) }
