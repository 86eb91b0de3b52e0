package restapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// maxDepth is how deep a schema may be nested in itself, references aside.
const maxDepth = 64

// schemas takes schemas out of one document: as JSON Schema of draft 2020-12,
// references kept, so that a recursive one stays small, and what they name
// collected.
type schemas struct {
	*tree
	old   bool              // version 2.0 or 3.0
	names map[string]string // of what references name, by pointer
	taken map[string]json.RawMessage
	drops map[string]bool // members that say nothing of values
	left  int             // steps that schemas of the operation at hand may still take
}

// mostSteps bounds what is looked at of the schemas of one operation: references
// can make a few lines of a document look like more than can be read.
const mostSteps = 20000

func (s *schemas) step() bool {
	s.left--
	return s.left > 0
}

func newSchemas(d *tree, old bool) *schemas {
	return &schemas{
		tree: d, old: old, names: map[string]string{}, taken: map[string]json.RawMessage{},
		drops: map[string]bool{"xml": true, "externalDocs": true, "example": true, "$recursiveAnchor": true, "$recursiveRef": true},
	}
}

// take writes a schema with its references as #/$defs/NAME.
func (s *schemas) take(v json.RawMessage) (json.RawMessage, error) {
	var b bytes.Buffer
	if err := s.write(&b, v, 0); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (s *schemas) write(b *bytes.Buffer, v json.RawMessage, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("a schema is nested more than %d deep", maxDepth)
	}
	list := fields(v)
	if kindOf(v) != '{' {
		b.WriteString("true")
		if string(v) == "false" {
			b.Truncate(b.Len() - 4)
			b.WriteString("false")
		}
		return nil
	}
	if ref := get(v, "$ref"); ref != nil {
		name, err := s.named(textOf(ref))
		if err != nil {
			return err
		}
		at := "{\"$ref\":" + string(mustJSON("#/$defs/"+name))
		if s.old { // siblings of a reference have no meaning there
			b.WriteString(at + "}")
			return nil
		}
		b.WriteString(at)
		list = slices.DeleteFunc(list, func(f field) bool { return f.key == "$ref" })
		if len(list) > 0 {
			b.WriteByte(',')
		}
	} else {
		b.WriteByte('{')
	}
	list = modern(list) // many a document of 3.1 still has what was removed in it
	first := true
	for _, f := range list {
		if s.drops[f.key] || strings.HasPrefix(f.key, "x-") {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.Write(mustJSON(f.key))
		b.WriteByte(':')
		if err := s.keyword(b, f, depth+1); err != nil {
			return err
		}
	}
	if first && bytes.HasSuffix(b.Bytes(), []byte{','}) {
		b.Truncate(b.Len() - 1)
	}
	b.WriteByte('}')
	return nil
}

// keyword writes the value of one keyword, which may be a schema, a list of
// them, a map of them, or none.
func (s *schemas) keyword(b *bytes.Buffer, f field, depth int) error {
	switch f.key {
	case "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames",
		"unevaluatedItems", "unevaluatedProperties", "contentSchema", "additionalItems":
		if kindOf(f.raw) != '[' {
			return s.write(b, f.raw, depth)
		}
		return s.list(b, f.raw, depth)
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return s.list(b, f.raw, depth)
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		b.WriteByte('{')
		for i, m := range fields(f.raw) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(mustJSON(m.key))
			b.WriteByte(':')
			if err := s.write(b, m.raw, depth); err != nil {
				return err
			}
		}
		b.WriteByte('}')
		return nil
	case "discriminator":
		return s.discriminator(b, f.raw)
	}
	return json.Compact(b, f.raw)
}

func (s *schemas) list(b *bytes.Buffer, v json.RawMessage, depth int) error {
	b.WriteByte('[')
	for i, x := range elements(v) {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := s.write(b, x, depth); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

// discriminator keeps the name of the property and the values that it may have.
func (s *schemas) discriminator(b *bytes.Buffer, v json.RawMessage) error {
	if kindOf(v) == '"' { // version 2.0
		v = append(append(json.RawMessage(`{"propertyName":`), v...), '}')
	}
	return json.Compact(b, v)
}

// named returns the name that what a reference names has in $defs, and takes it.
func (s *schemas) named(ref string) (string, error) {
	if name, ok := s.names[ref]; ok {
		return name, nil
	}
	v, err := s.at(ref)
	if err != nil {
		return "", err
	}
	base := strings.Trim(nonWord.ReplaceAllString(ref[strings.LastIndexByte(ref, '/')+1:], "_"), "_")
	if base == "" {
		base = "schema"
	}
	name := base
	for i := 2; s.taken[name] != nil; i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	s.names[ref], s.taken[name] = name, json.RawMessage("true") // it may name itself
	made, err := s.take(v)
	if err != nil {
		delete(s.names, ref)
		delete(s.taken, name)
		return "", err
	}
	s.taken[name] = made
	return name, nil
}

// modern rewrites what draft 2020-12 has in another way than versions 2.0 and 3.0.
func modern(list []field) []field {
	var out []field
	at := map[string]json.RawMessage{}
	for _, f := range list {
		at[f.key] = f.raw
	}
	for _, f := range list {
		switch {
		case f.key == "nullable":
			continue
		case f.key == "type" && string(at["nullable"]) == "true":
			f.raw = json.RawMessage(`[` + string(f.raw) + `,"null"]`)
		case f.key == "enum" && string(at["nullable"]) == "true" && !slices.ContainsFunc(elements(f.raw), func(x json.RawMessage) bool { return string(x) == "null" }):
			f.raw = json.RawMessage(strings.TrimSuffix(string(f.raw), "]") + ",null]")
		case f.key == "type" && textOf(f.raw) == "file":
			f.raw = json.RawMessage(`"string"`)
		case f.key == "exclusiveMinimum" && string(f.raw) == "true" && at["minimum"] != nil:
			f.raw = at["minimum"]
		case f.key == "exclusiveMaximum" && string(f.raw) == "true" && at["maximum"] != nil:
			f.raw = at["maximum"]
		case f.key == "minimum" && string(at["exclusiveMinimum"]) == "true", f.key == "maximum" && string(at["exclusiveMaximum"]) == "true",
			f.key == "exclusiveMinimum" && kindOf(f.raw) != '-' && (kindOf(f.raw) < '0' || kindOf(f.raw) > '9'),
			f.key == "exclusiveMaximum" && kindOf(f.raw) != '-' && (kindOf(f.raw) < '0' || kindOf(f.raw) > '9'):
			continue
		}
		out = append(out, f)
	}
	return out
}

// kinds is a set of types of JSON Schema. The empty set is any.
type kinds map[string]bool

// kindsOf returns the types that a schema allows.
func (s *schemas) kindsOf(v json.RawMessage, depth int) kinds {
	out := kinds{}
	if depth > maxRefs || kindOf(v) != '{' || !s.step() {
		return out
	}
	if ref := get(v, "$ref"); ref != nil {
		to, err := s.at(textOf(ref))
		if err != nil {
			return out
		}
		if of := s.kindsOf(to, depth+1); len(of) > 0 || s.old {
			return of
		}
	}
	t := get(v, "type")
	for _, x := range append(elements(t), t) {
		if k := textOf(x); k != "" {
			out[k] = true
		}
	}
	if s.old && isTrue(v, "nullable") && len(out) > 0 {
		out["null"] = true
	}
	if len(out) > 0 {
		return out
	}
	if get(v, "properties") != nil || kindOf(get(v, "additionalProperties")) == '{' {
		return kinds{"object": true}
	}
	if get(v, "prefixItems") != nil || get(v, "items") != nil {
		return kinds{"array": true}
	}
	for _, part := range elements(get(v, "allOf")) {
		if of := s.kindsOf(part, depth+1); len(of) > 0 {
			return of
		}
	}
	values := elements(get(v, "enum"))
	if c := get(v, "const"); c != nil {
		values = append(values, c)
	}
	for _, x := range values {
		out[map[byte]string{'"': "string", 't': "boolean", 'f': "boolean", '{': "object", '[': "array", 'n': "null"}[kindOf(x)]] = true
	}
	if out[""] {
		delete(out, "")
		out["number"] = true
	}
	if len(values) > 0 {
		return out
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		for _, part := range elements(get(v, key)) {
			of := s.kindsOf(part, depth+1)
			if len(of) == 0 {
				return kinds{}
			}
			maps.Copy(out, of)
		}
		if len(out) > 0 {
			return out
		}
	}
	return out
}

// typeOf returns our type of a schema, and whether it allows null.
func (s *schemas) typeOf(v json.RawMessage) (kind string, null bool) {
	of := s.kindsOf(v, 0)
	null = of["null"]
	delete(of, "null")
	if of["integer"] && of["number"] {
		delete(of, "integer")
	}
	if len(of) == 1 {
		for k := range of {
			return types[strings.ToUpper(k)], null
		}
	}
	return Any, null
}

// property is one member of an object that a schema describes.
type property struct {
	name     string
	schema   json.RawMessage
	required bool
}

// properties returns the members of an object, those of allOf included, and
// whether the schema says nothing else of it, so that they may be given one by one.
func (s *schemas) properties(v json.RawMessage, depth int) (list []property, plain bool) {
	v, err := s.follow(v)
	if err != nil || depth > 8 || kindOf(v) != '{' || !s.step() {
		return nil, false
	}
	plain = true
	required := map[string]bool{}
	add := func(p property) {
		if i := slices.IndexFunc(list, func(q property) bool { return q.name == p.name }); i >= 0 {
			if p.schema != nil {
				list[i].schema = p.schema
			}
			list[i].required = list[i].required || p.required
			return
		}
		list = append(list, p)
	}
	for _, f := range fields(v) {
		switch f.key {
		case "allOf":
			for _, part := range elements(f.raw) {
				more, ok := s.properties(part, depth+1)
				plain = plain && ok && len(list) <= maxParams
				for _, p := range more {
					add(p)
				}
			}
		case "properties":
			for _, p := range fields(f.raw) {
				add(property{name: p.key, schema: p.raw})
			}
		case "required":
			for _, x := range elements(f.raw) {
				required[textOf(x)] = true
			}
		case "type":
			plain = plain && (textOf(f.raw) == "object")
		case "additionalProperties", "unevaluatedProperties":
			plain = plain && string(f.raw) == "false"
		case "oneOf", "anyOf", "not", "if", "patternProperties", "dependentSchemas", "dependentRequired", "propertyNames",
			"minProperties", "maxProperties", "discriminator":
			plain = false
		case "nullable":
			plain = plain && string(f.raw) != "true"
		}
	}
	for i := range list {
		list[i].required = list[i].required || required[list[i].name]
		delete(required, list[i].name)
	}
	for _, name := range slices.Sorted(maps.Keys(required)) { // another part may describe it
		list = append(list, property{name: name, required: true})
	}
	if depth == 0 {
		plain = plain && !slices.ContainsFunc(list, func(p property) bool { return p.schema == nil })
	}
	return list, plain
}
