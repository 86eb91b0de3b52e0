package restapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// schemaTypes are the names of our types in JSON schema.
var schemaTypes = map[string]string{
	String: "string", Number: "number", Integer: "integer", Boolean: "boolean", Object: "object", Array: "array",
}

// fileSchema is the schema of an argument that is a file.
const fileSchema = `{"type":["string","object"],"description":"a text, or {base64|path, filename, type}"}`

// Schema returns the JSON schema of the tool's arguments, whole: what it refers
// to is in its $defs.
func (t *Tool) Schema() json.RawMessage {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	required := []string{}
	need := map[string]bool{}
	for i := range t.Params {
		p := &t.Params[i]
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(mustJSON(p.Name))
		b.WriteByte(':')
		s := p.schema()
		b.Write(s)
		t.refers(s, need)
		if p.Required && p.Default == nil {
			required = append(required, p.Name)
		}
	}
	b.WriteString(`},"required":`)
	b.Write(mustJSON(required))
	for i, name := range slices.Sorted(maps.Keys(need)) {
		b.WriteString(map[bool]string{true: `,"$defs":{`, false: ","}[i == 0])
		b.Write(mustJSON(name))
		b.WriteByte(':')
		b.Write(t.defs[name])
	}
	if len(need) > 0 {
		b.WriteByte('}')
	}
	b.WriteByte('}')
	return json.RawMessage(b.String())
}

// refers adds the names of what a schema refers to, and of what that does.
func (t *Tool) refers(s json.RawMessage, need map[string]bool) {
	const mark = `"#/$defs/`
	for at := bytes.Index(s, []byte(mark)); at >= 0; {
		rest := s[at+len(mark):]
		if end := bytes.IndexByte(rest, '"'); end > 0 {
			if name := string(rest[:end]); !need[name] && t.defs[name] != nil {
				need[name] = true
				t.refers(t.defs[name], need)
			}
		}
		s = rest
		at = bytes.Index(s, []byte(mark))
	}
}

// schema returns the JSON schema of one argument.
func (p *Param) schema() json.RawMessage {
	if p.Schema != nil {
		if p.Description == "" || kindOf(p.Schema) != '{' || get(p.Schema, "description") != nil || string(p.Schema) == "{}" {
			return p.Schema
		}
		return json.RawMessage(`{"description":` + string(mustJSON(p.Description)) + "," + strings.TrimSpace(string(p.Schema[1:])))
	}
	type property struct {
		Type        string   `json:"type,omitempty"`
		Description string   `json:"description,omitempty"`
		Enum        []string `json:"enum,omitempty"`
		Default     any      `json:"default,omitempty"`
		Items       any      `json:"items,omitempty"`
	}
	prop := property{Type: schemaTypes[p.Type], Description: p.Description}
	switch p.Type {
	case Bytes:
		return json.RawMessage(fileSchema)
	case String:
		prop.Enum = p.Enum
	case Array:
		prop.Items = json.RawMessage(`{}`)
		if items := cmp.Or(p.Items, String); items == Bytes {
			prop.Items = json.RawMessage(fileSchema)
		} else if items != Any {
			prop.Items = map[string]string{"type": schemaTypes[items]}
		}
	}
	if p.Default != nil {
		if v, err := p.convert(mustJSON(*p.Default)); err == nil {
			prop.Default = v
		}
	}
	return mustJSON(prop)
}

// exampleOf makes a value of a schema: of an object the members that are
// required, or one of them. It is nil where there is no schema.
func (w *walker) exampleOf(s json.RawMessage, depth int) json.RawMessage {
	if s == nil || depth > 5 || !w.step() {
		return nil
	}
	if name, ok := strings.CutPrefix(getText(s, "$ref"), "#/$defs/"); ok {
		return w.exampleOf(w.t.defs[name], depth+1)
	}
	for _, key := range []string{"default", "const"} {
		if v := get(s, key); v != nil {
			return v
		}
	}
	for _, key := range []string{"enum", "examples", "oneOf", "anyOf"} {
		if list := elements(get(s, key)); len(list) > 0 {
			if key == "enum" || key == "examples" {
				return list[0]
			}
			return w.exampleOf(list[0], depth+1)
		}
	}
	kind := getText(s, "type")
	if list := elements(get(s, "type")); len(list) > 0 {
		kind = textOf(list[0])
	}
	switch {
	case kind == "array":
		if x := w.exampleOf(get(s, "items"), depth+1); x != nil {
			return json.RawMessage("[" + string(x) + "]")
		}
		return json.RawMessage("[]")
	case kind == "string":
		return json.RawMessage(`"text"`)
	case kind == "integer" || kind == "number":
		return json.RawMessage("1")
	case kind == "boolean":
		return json.RawMessage("true")
	}
	return w.exampleObject(s, depth)
}

func (w *walker) exampleObject(s json.RawMessage, depth int) json.RawMessage {
	var list []value
	required := elements(get(s, "required"))
	props := fields(get(s, "properties"))
	for i, f := range props {
		need := slices.ContainsFunc(required, func(x json.RawMessage) bool { return textOf(x) == f.key })
		if need || len(list) == 0 && i == len(props)-1 {
			if x := w.exampleOf(f.raw, depth+1); x != nil {
				list = append(list, value{param: &Param{Name: f.key}, json: x})
			}
		}
	}
	if more := get(s, "additionalProperties"); len(list) == 0 && kindOf(more) == '{' {
		if x := w.exampleOf(more, depth+1); x != nil {
			list = append(list, value{param: &Param{Name: "key"}, json: x})
		}
	}
	for _, part := range elements(get(s, "allOf")) {
		if x := w.exampleOf(part, depth+1); len(list) == 0 && kindOf(x) == '{' {
			return x
		}
	}
	return objectOf(list)
}
