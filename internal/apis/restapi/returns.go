package restapi

import (
	"encoding/json"
	"strings"
)

// returns summarises what a reply holds: the description of the first success
// and the names of its members.
func (o *operation) returns() string {
	for _, f := range fields(get(o.op, "responses")) {
		if !strings.HasPrefix(f.key, "2") && f.key != "default" {
			continue
		}
		r, err := o.m.follow(f.raw)
		if err != nil {
			return ""
		}
		schema := get(r, "schema") // version 2.0
		for _, c := range fields(get(r, "content")) {
			if schema == nil || isJSONMedia(c.key) {
				schema = get(c.raw, "schema")
			}
		}
		said := strings.TrimSuffix(clip(oneLine(getText(r, "description")), 60), ".")
		names := o.m.outline(schema)
		if names == "" {
			return ""
		}
		if l := strings.ToLower(said); l == "" || l == "ok" || l == "success" || l == "response" || strings.HasPrefix(l, "successful") {
			return names
		}
		return said + ": " + names
	}
	return ""
}

// outline names the members of a schema: "id, name, tags[]", of a list with [] behind.
func (s *schemas) outline(v json.RawMessage) string {
	v, err := s.follow(v)
	if err != nil || v == nil {
		return ""
	}
	list := ""
	if kind, _ := s.typeOf(v); kind == Array {
		list = "[] of "
		if v, err = s.follow(get(v, "items")); err != nil {
			return ""
		}
	}
	props, _ := s.properties(v, 0)
	var names []string
	for _, p := range props {
		if len(names) == 8 {
			names = append(names, "…")
			break
		}
		name := p.name
		if kind, _ := s.typeOf(p.schema); kind == Array {
			name += "[]"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return ""
	}
	return clip(list+strings.Join(names, ", "), 160)
}
