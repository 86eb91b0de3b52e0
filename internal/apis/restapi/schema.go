package restapi

import (
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	yaml "github.com/oasdiff/yaml3"
)

// members are the properties of an object, those of allOf included.
func members(s *openapi3.Schema, depth int) (openapi3.Schemas, map[string]bool) {
	props, required := openapi3.Schemas{}, map[string]bool{}
	if s == nil || depth > 8 {
		return props, required
	}
	for _, part := range s.AllOf {
		if part != nil {
			more, req := members(part.Value, depth+1)
			maps.Copy(props, more)
			maps.Copy(required, req)
		}
	}
	maps.Copy(props, s.Properties)
	for _, r := range s.Required {
		required[r] = true
	}
	return props, required
}

// typeOf returns our type of a schema. One that allows several types is an object
// where it may be one, else a text.
func typeOf(s *openapi3.Schema) string {
	if s == nil {
		return String
	}
	if s.Type != nil {
		for _, k := range s.Type.Slice() {
			if t := types[strings.ToUpper(k)]; t != "" {
				return t
			}
		}
	}
	if len(s.Properties) > 0 || len(s.AllOf) > 0 {
		for _, part := range s.AllOf {
			if part != nil && part.Value != nil && part.Value.Type != nil {
				return typeOf(part.Value)
			}
		}
		return Object
	}
	for _, part := range slices.Concat(s.AnyOf, s.OneOf) {
		if part != nil && part.Value != nil && part.Value.Type != nil && !part.Value.Type.Is("null") {
			return typeOf(part.Value)
		}
	}
	return String
}

func (m *maker) param(name, in, about string, required bool, ref *openapi3.SchemaRef) *yaml.Node {
	var s *openapi3.Schema
	if ref != nil {
		s = ref.Value
	}
	kind := typeOf(s)
	if about == "" && s != nil {
		about = s.Description
	}
	n := mapping("name", name, "type", kind, "in", in, "description", firstSentence(about))
	if required {
		n.Content = append(n.Content, scalar("required"), &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"})
	}
	if s == nil {
		return n
	}
	if kind == Array && s.Items != nil && s.Items.Value != nil {
		if items := typeOf(s.Items.Value); items != String && items != Array {
			n.Content = append(n.Content, scalar("items"), scalar(items))
		}
	}
	if kind == String && len(s.Enum) > 0 && len(s.Enum) <= 50 {
		list := sequence()
		list.Style = yaml.FlowStyle
		for _, e := range s.Enum {
			if word, ok := e.(string); ok && word != "" {
				list.Content = append(list.Content, scalar(word))
			}
		}
		if len(list.Content) == len(s.Enum) && len(s.AnyOf)+len(s.OneOf) == 0 {
			n.Content = append(n.Content, scalar("enum"), list)
		}
	}
	return n
}
