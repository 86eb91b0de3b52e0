package restapi

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// What version 2.0, then called Swagger, writes in another way is rewritten as
// version 3 has it, one object at a time.

// servers2 makes the servers of schemes, host and basePath. What is missing is
// that of the document itself.
func servers2(root json.RawMessage, from string) json.RawMessage {
	scheme, host := "https", getText(root, "host")
	var all []string
	for _, s := range elements(get(root, "schemes")) {
		all = append(all, textOf(s))
	}
	u, err := url.Parse(from)
	if host == "" {
		if err != nil || u.Host == "" {
			return nil
		}
		host = u.Host
	}
	switch {
	case slices.Contains(all, "https"):
	case slices.Contains(all, "http"), len(all) == 0 && err == nil && u.Scheme == "http":
		scheme = "http"
	}
	return mustJSON([]map[string]string{{"url": scheme + "://" + host + getText(root, "basePath")}})
}

// consumes are the media types of the body of an operation.
func (m *maker) consumes(op json.RawMessage) []string {
	v := get(op, "consumes")
	if v == nil {
		v = m.top("consumes")
	}
	var all []string
	for _, x := range elements(v) {
		all = append(all, textOf(x))
	}
	return all
}

// besides are the members of a parameter of version 2.0 that are not of its schema.
var besides = []string{"name", "in", "description", "required", "collectionFormat", "allowEmptyValue", "$ref"}

// schema2 is the schema that the members of a parameter make.
func schema2(v json.RawMessage) json.RawMessage {
	return object(slices.DeleteFunc(fields(v), func(f field) bool {
		return slices.Contains(besides, f.key) || strings.HasPrefix(f.key, "x-")
	}))
}

// style2 is the style and explode of a collectionFormat, which for a list is csv
// where nothing is said.
func style2(v json.RawMessage) (style string, explode bool) {
	if getText(v, "type") != "array" {
		return "", false
	}
	switch getText(v, "collectionFormat") {
	case "ssv":
		return "spaceDelimited", false
	case "tsv":
		return "tabDelimited", false
	case "pipes":
		return "pipeDelimited", false
	case "multi":
		return "form", true
	}
	return "csv", false
}

// param2 makes a parameter of version 3.
func param2(v json.RawMessage) json.RawMessage {
	p := map[string]any{"name": getText(v, "name"), "in": getText(v, "in"), "schema": schema2(v)}
	for _, key := range []string{"description", "required", "allowEmptyValue"} {
		if x := get(v, key); x != nil {
			p[key] = x
		}
	}
	switch style, explode := style2(v); style {
	case "":
	case "csv":
		p["explode"] = false
	default:
		p["style"], p["explode"] = style, explode
	}
	return mustJSON(p)
}

// body2 makes a request body of the parameter in body or of those in formData; nil
// when there are none.
func body2(body json.RawMessage, form []json.RawMessage, consumes []string) (json.RawMessage, error) {
	if body == nil && form == nil {
		return nil, nil
	}
	if body != nil {
		if len(consumes) == 0 {
			consumes = []string{"application/json"}
		}
		var b bytes.Buffer
		for _, c := range consumes {
			if b.Len() > 0 {
				b.WriteByte(',')
			}
			b.Write(mustJSON(c))
			b.WriteString(`:{"schema":`)
			if s := get(body, "schema"); s != nil {
				b.Write(s)
			} else {
				b.WriteString("{}")
			}
			b.WriteByte('}')
		}
		return json.RawMessage(`{"required":` + required2(body) + `,"content":{` + b.String() + `}}`), nil
	}
	media := "application/x-www-form-urlencoded"
	isFile := func(v json.RawMessage) bool { return getText(v, "type") == "file" }
	if slices.Contains(consumes, "multipart/form-data") && !slices.Contains(consumes, media) || slices.ContainsFunc(form, isFile) {
		media = "multipart/form-data"
	}
	var props, encoding bytes.Buffer
	var required []string
	for _, f := range form {
		name := getText(f, "name")
		if props.Len() > 0 {
			props.WriteByte(',')
		}
		props.Write(mustJSON(name))
		props.WriteByte(':')
		props.Write(described2(f))
		if required2(f) == "true" {
			required = append(required, name)
		}
		style, explode := style2(f)
		if style == "" || style == "form" && media == "multipart/form-data" {
			continue
		}
		if style == "csv" {
			style = "form"
		}
		if encoding.Len() > 0 {
			encoding.WriteByte(',')
		}
		encoding.Write(mustJSON(name))
		encoding.WriteByte(':')
		encoding.Write(mustJSON(map[string]any{"style": style, "explode": explode}))
	}
	need := "[]"
	if len(required) > 0 {
		need = string(mustJSON(required))
	}
	return json.RawMessage(`{"required":` + map[bool]string{true: "true", false: "false"}[len(required) > 0] + `,"content":{` + string(mustJSON(media)) +
		`:{"schema":{"type":"object","required":` + need + `,"properties":{` + props.String() + `}},"encoding":{` + encoding.String() + `}}}}`), nil
}

// described2 is schema2 with the description of the parameter.
func described2(v json.RawMessage) json.RawMessage {
	s := schema2(v)
	d := get(v, "description")
	if d == nil || get(s, "type") == nil {
		return s
	}
	return append(append(append(json.RawMessage(`{"description":`), d...), ','), s[1:]...)
}

func required2(v json.RawMessage) string {
	if isTrue(v, "required") {
		return "true"
	}
	return "false"
}
