package restapi

import (
	"encoding/json"
	"fmt"

	"github.com/vektah/gqlparser/v2/ast"
)

// The answer to an introspection (GraphQL specification, October 2021, section 4).
type (
	metaType struct {
		Kind, Name string
		OfType     *metaType
	}
	metaInput struct {
		Name, Description string
		Type              metaType
		DefaultValue      *string
	}
	metaField struct {
		Name, Description string
		IsDeprecated      bool
		Args              []metaInput
		Type              metaType
	}
	metaDefinition struct {
		Kind, Name, Description   string
		Fields                    []metaField
		InputFields               []metaInput
		EnumValues, PossibleTypes []struct{ Name string }
	}
	metaSchema struct {
		QueryType, MutationType *struct{ Name string }
		Types                   []metaDefinition
	}
)

// introspected reads the answer to an introspection, with its envelope or without.
func (g *graph) introspected(v json.RawMessage, roots map[string]string) error {
	raw := get(v, "__schema")
	if raw == nil {
		raw = get(get(v, "data"), "__schema")
	}
	var s metaSchema
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("it is no answer to an introspection: %w", err)
	}
	if s.QueryType != nil {
		roots["query"] = s.QueryType.Name
	}
	if roots["mutation"] = ""; s.MutationType != nil {
		roots["mutation"] = s.MutationType.Name
	}
	for _, d := range s.Types {
		g.types[d.Name] = d.definition()
	}
	return nil
}

func (d *metaDefinition) definition() *ast.Definition {
	out := &ast.Definition{Kind: ast.DefinitionKind(d.Kind), Name: d.Name, Description: d.Description}
	for _, f := range d.Fields {
		made := &ast.FieldDefinition{Name: f.Name, Description: f.Description, Type: f.Type.made(0)}
		for _, a := range f.Args {
			made.Arguments = append(made.Arguments, &ast.ArgumentDefinition{Name: a.Name, Description: a.Description, Type: a.Type.made(0), DefaultValue: a.value()})
		}
		if f.IsDeprecated {
			made.Directives = ast.DirectiveList{{Name: "deprecated"}}
		}
		out.Fields = append(out.Fields, made)
	}
	for _, f := range d.InputFields {
		out.Fields = append(out.Fields, &ast.FieldDefinition{Name: f.Name, Description: f.Description, Type: f.Type.made(0), DefaultValue: f.value()})
	}
	for _, v := range d.EnumValues {
		out.EnumValues = append(out.EnumValues, &ast.EnumValueDefinition{Name: v.Name})
	}
	if d.Kind == string(ast.Union) {
		for _, v := range d.PossibleTypes {
			out.Types = append(out.Types, v.Name)
		}
	}
	return out
}

func (i *metaInput) value() *ast.Value {
	if i.DefaultValue == nil {
		return nil
	}
	return &ast.Value{Raw: *i.DefaultValue}
}

// made makes the type of the parser; what is nested too deep is a String.
func (t *metaType) made(depth int) *ast.Type {
	switch {
	case t.OfType == nil || depth > 10:
		if t.Name == "" {
			return ast.NamedType("String", nil)
		}
		return ast.NamedType(t.Name, nil)
	case t.Kind == "NON_NULL":
		of := t.OfType.made(depth + 1)
		of.NonNull = true
		return of
	}
	return ast.ListType(t.OfType.made(depth+1), nil)
}
