package command

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// shorts are the letters of flags, the same in every command. A letter means
// what it means to ripgrep, git and gh where these agree: -n, -g, -i, -t, -f, -y.
var shorts = map[string]string{
	"limit": "n", "stores": "s", "store": "s", "ignoreCase": "i", "glob": "g", "kind": "k", "type": "t", "mode": "m",
	"detail": "d", "depth": "d", "lines": "l", "all": "a", "follow": "f", "force": "f", "yes": "y",
}

// paramsOf reads the parameters off the tags of a flat struct: positional
// ones first, by their number, then the others as written.
func paramsOf(t reflect.Type) []Param {
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("command: parameters must be a struct, not %s", t))
	}
	var params []Param
	order := map[string]int{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			panic(fmt.Sprintf("command: field %s of %s has no name", f.Name, t))
		}
		p := Param{
			Name:    name,
			Type:    typeOf(f.Type),
			Help:    f.Tag.Get("help"),
			Default: f.Tag.Get("default"),
			CLIOnly: f.Tag.Get("cli") == "only", Unlisted: f.Tag.Get("cli") == "never", Unseen: f.Tag.Get("cli") == "first",
			Also:   strings.FieldsFunc(f.Tag.Get("also"), func(r rune) bool { return r == '|' }),
			Short:  shorts[name],
			Person: f.Tag.Get("person"), Unless: f.Tag.Get("unless"),
			field: i,
		}
		if f.Tag.Get("short") == "none" { // its letter is taken for another flag by people
			p.Short = ""
		}
		p.Required = f.Tag.Get("required") == "true" || option == "" && f.Type.Kind() != reflect.Pointer
		switch enum := f.Tag.Get("enum"); enum {
		case "":
		case "kinds":
			p.Enum = source.KindNames()
		default:
			p.Enum = strings.Split(enum, "|")
		}
		if arg := f.Tag.Get("arg"); arg != "" {
			n, err := strconv.Atoi(strings.TrimSuffix(arg, "..."))
			if err != nil {
				panic(fmt.Sprintf("command: field %s of %s: %v", f.Name, t, err))
			}
			p.Arg, p.Rest = true, strings.HasSuffix(arg, "...")
			order[name] = n
		}
		params = append(params, p)
	}
	const last = 1 << 20
	place := func(p Param) int {
		if n, ok := order[p.Name]; ok {
			return n
		}
		return last
	}
	kb.SortStableFunc(params, func(a, b Param) int { return place(a) - place(b) })
	return params
}

var rawType = reflect.TypeFor[json.RawMessage]()

func typeOf(t reflect.Type) string {
	if t == rawType {
		return "object"
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Int:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Bool:
		return "boolean"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.String {
			return "strings"
		}
	}
	panic(fmt.Sprintf("command: no parameter has type %s", t))
}

// Schema returns the JSON schema of the command's arguments: types, choices
// and what is required, in as few bytes as that takes. It says nothing of
// parameters that only the command line knows, or that are unlisted or unseen.
func (c Command) Schema() json.RawMessage {
	var b strings.Builder
	var required []string
	b.WriteString(`{"type":"object","properties":{`)
	first := true
	for _, p := range c.Params {
		if p.CLIOnly || p.Unlisted || p.Unseen {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.WriteString(strconv.Quote(p.Name))
		b.WriteByte(':')
		switch {
		case p.Type == "strings":
			b.WriteString(`{"type":"array","items":{"type":"string"}}`)
		case p.Enum != nil:
			b.WriteString(`{"type":"string","enum":` + printer.JSON(p.Enum) + `}`)
		default:
			b.WriteString(`{"type":"` + p.Type + `"}`)
		}
		if p.Required && p.Unless == "" {
			required = append(required, p.Name)
		}
	}
	b.WriteByte('}')
	if required != nil {
		b.WriteString(`,"required":` + printer.JSON(required))
	}
	b.WriteByte('}')
	return json.RawMessage(b.String())
}
