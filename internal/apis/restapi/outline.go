package restapi

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// Line is a parameter in a line: "labels?: text[]" and what it is for.
type Line struct {
	Name     string
	Type     string // "text", "whole", "a|b", "{content!: text}[]"
	Required bool
	About    string
}

// String writes it as it is shown to an agent.
func (l Line) String() string {
	s := l.Name + map[bool]string{true: "!", false: "?"}[l.Required] + ": " + l.Type
	if l.About != "" {
		s += "  " + l.About
	}
	return s
}

// Lines describes the parameters, those that are needed first. deep is how far
// objects are shown within objects, and about how long a description may be.
func (t *Tool) Lines(deep, about int) []Line {
	var out []Line
	for i := range t.Params {
		p := &t.Params[i]
		l := Line{Name: p.Name, Type: t.typeWord(p, deep), Required: p.Required && p.Default == nil}
		if about > 0 {
			l.About = clip(oneLine(p.Description), about)
		}
		out = append(out, l)
	}
	slices.SortStableFunc(out, func(a, b Line) int {
		return cmp.Compare(map[bool]int{true: 0, false: 1}[a.Required], map[bool]int{true: 0, false: 1}[b.Required])
	})
	return out
}

var typeWords = map[string]string{
	String: "text", Number: "number", Integer: "whole", Boolean: "bool", Object: "object", Any: "any",
	Bytes: "text|{base64|path, filename, type}",
}

func (t *Tool) typeWord(p *Param, deep int) string {
	if p.Schema != nil {
		return t.walk().shape(p.Schema, deep, 0)
	}
	if len(p.Enum) > 0 && p.Type == String {
		return choice(p.Enum)
	}
	if p.Type == Array {
		return typeWords[cmp.Or(p.Items, String)] + "[]"
	}
	return typeWords[p.Type]
}

// choice writes the values that one may choose from.
func choice(list []string) string {
	if len(list) > 12 {
		list = append(slices.Clone(list[:12]), "…")
	}
	return strings.Join(list, "|")
}

// walker walks a schema, of which references can make something that has no end:
// after so many steps it sees nothing more.
type walker struct {
	t    *Tool
	left int
}

func (t *Tool) walk() *walker { return &walker{t, 2000} }

func (w *walker) step() bool {
	w.left--
	return w.left > 0
}

// shape writes a schema as people write types: {content!: text, n?: whole}[].
func (w *walker) shape(s json.RawMessage, deep, depth int) string {
	if kindOf(s) != '{' || depth > 12 || !w.step() {
		return "any"
	}
	if ref, ok := strings.CutPrefix(getText(s, "$ref"), "#/$defs/"); ok {
		if deep <= 0 {
			return ref
		}
		return w.shape(w.t.defs[ref], deep, depth+1)
	}
	if c := get(s, "const"); c != nil {
		return text(c)
	}
	if list := elements(get(s, "enum")); len(list) > 0 {
		var words []string
		for _, x := range list {
			words = append(words, text(x))
		}
		return choice(words)
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		if list := elements(get(s, key)); len(list) > 0 && get(s, "properties") == nil {
			var words []string
			for _, x := range list {
				if s := w.shape(x, deep, depth+1); !slices.Contains(words, s) {
					words = append(words, s)
				}
			}
			return choice(words)
		}
	}
	var words []string
	types := elements(get(s, "type"))
	if types == nil {
		types = []json.RawMessage{get(s, "type")}
	}
	for _, x := range types {
		switch textOf(x) {
		case "array":
			words = append(words, w.shape(get(s, "items"), deep, depth+1)+"[]")
		case "string":
			words = append(words, "text")
		case "integer":
			words = append(words, "whole")
		case "number":
			words = append(words, "number")
		case "boolean":
			words = append(words, "bool")
		case "null":
			words = append(words, "null")
		default:
			words = append(words, w.objectShape(s, deep, depth))
		}
	}
	return strings.Join(words, "|")
}

// objectShape writes the members of an object.
func (w *walker) objectShape(s json.RawMessage, deep, depth int) string {
	if deep <= 0 {
		return "object"
	}
	var words []string
	required := elements(get(s, "required"))
	for _, f := range fields(get(s, "properties")) {
		need := slices.ContainsFunc(required, func(x json.RawMessage) bool { return textOf(x) == f.key })
		words = append(words, f.key+map[bool]string{true: "!", false: "?"}[need]+": "+w.shape(f.raw, deep-1, depth+1))
	}
	for _, part := range elements(get(s, "allOf")) {
		if s := w.shape(part, deep, depth+1); strings.HasPrefix(s, "{") {
			words = append(words, strings.TrimSuffix(s[1:], "}"))
		}
	}
	if more := get(s, "additionalProperties"); kindOf(more) == '{' {
		words = append(words, "<any name>: "+w.shape(more, deep-1, depth+1))
	}
	if len(words) == 0 {
		return map[bool]string{true: "any", false: "object"}[get(s, "type") == nil]
	}
	return "{" + strings.Join(words, ", ") + "}"
}
