package restapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	yaml "github.com/oasdiff/yaml3"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// selectHole is where the selection of a call goes in the document of a tool, and
// selectPlace the place of the parameter that it comes from.
const (
	selectHole  = "{{select}}"
	selectPlace = "selection"
)

// The bounds of a selection: what is beyond them services refuse as a rule, and what
// is not refused answers more than anybody reads.
const (
	maxSelectionDepth = 8
	maxSelectionCost  = 20000 // fields times the sizes of the lists that they are in
	maxGraphTokens    = 4000
)

// graphql reads the document of a tool: one operation with one field, whose selection
// may be {{select}}.
func (r *reader) graphql(n *yaml.Node, t *Tool) {
	r.text(n, &t.GraphQL, "graphql")
	if _, err := operationOf(strings.Replace(t.GraphQL, selectHole, "{ x }", 1)); err != nil {
		r.wrong(n, "graphql is not one operation of one field: %s", clip(oneLine(err.Error()), 200)).
			hint("write it like query ($id: ID!) { user(id: $id) {{select}} }")
	}
}

// selection adds the parameter by which a call says what it wants, and checks that
// variables are parameters.
func (r *reader) selection(n *yaml.Node, t *Tool) {
	if t.GraphQL == "" {
		return
	}
	if t.Method != "POST" {
		r.wrong(n, "graphql is sent by POST").hint("write httpMethod: POST")
	}
	for i := range t.Params {
		if q := &t.Params[i]; q.In != selectPlace && q.In != "header" {
			q.In = "body"
		}
	}
}

// Reads reports whether a tool is a query of GraphQL, which changes nothing although
// it is sent by POST.
func (t *Tool) Reads() bool {
	return t.Method == MethodRead || t.GraphQL != "" && !strings.HasPrefix(t.GraphQL, "mutation")
}

// operationOf parses a document that may hold one query or mutation of one field.
func operationOf(text string) (*ast.OperationDefinition, error) {
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, maxGraphTokens)
	if err != nil {
		var e *gqlerror.Error
		if errors.As(err, &e) {
			return nil, errors.New(e.Message)
		}
		return nil, err
	}
	if len(doc.Operations) != 1 || len(doc.Fragments) > 0 || len(doc.Operations[0].SelectionSet) != 1 {
		return nil, errors.New("it must hold one field, and no fragments with names")
	}
	op := doc.Operations[0]
	if _, ok := op.SelectionSet[0].(*ast.Field); !ok || op.Operation == ast.Subscription {
		return nil, errors.New("it must be a query or a mutation of one field")
	}
	return op, nil
}

// graphBody makes the body of a call of GraphQL: the document with the selection that was
// asked for, within bounds, and the variables.
func (t *Tool) graphBody(members []value) ([]byte, error) {
	doc, vars := t.GraphQL, map[string]json.RawMessage{}
	given := ""
	for _, v := range members {
		if v.param.In == selectPlace {
			given = strings.TrimSpace(text(v.json))
		} else {
			vars[v.param.wire()] = v.json
		}
	}
	if given != "" && !strings.HasPrefix(given, "{") {
		given = "{ " + given + " }"
	}
	doc = strings.Replace(doc, selectHole, given, 1)
	op, err := operationOf(doc)
	if err != nil {
		return nil, t.badSelection("is no selection: %s", clip(oneLine(err.Error()), 160))
	}
	want, err := operationOf(strings.Replace(t.GraphQL, selectHole, "{ x }", 1))
	if err != nil {
		return nil, err
	}
	field, meant := op.SelectionSet[0].(*ast.Field), want.SelectionSet[0].(*ast.Field)
	if op.Operation != want.Operation || field.Name != meant.Name || len(field.Arguments) != len(meant.Arguments) {
		return nil, t.badSelection("must be one selection, in braces")
	}
	cost, depth := costOf(field, vars, 0)
	if depth > maxSelectionDepth {
		return nil, t.badSelection("is %d deep, and %d is the most", depth, maxSelectionDepth)
	}
	if cost > maxSelectionCost {
		return nil, t.badSelection("asks for up to %d fields, and %d is the most", cost, maxSelectionCost)
	}
	return mustJSON(struct {
		Query     string                     `json:"query"`
		Variables map[string]json.RawMessage `json:"variables"`
	}{doc, vars}), nil
}

func (t *Tool) badSelection(format string, args ...any) error {
	e := badArgument("select", "parameter \"select\" "+format, args...)
	e.Err = e.Err.WithHint("write it like { id name items(first: 10) { nodes { id } } }, or leave it out")
	return e
}

// sizes are arguments that say how long a list is.
var sizes = map[string]bool{"first": true, "last": true, "limit": true, "perPage": true, "per_page": true, "pageSize": true, "count": true, "take": true}

// costOf returns how many fields a selection may answer with, and how deep it is.
func costOf(f *ast.Field, vars map[string]json.RawMessage, above int) (cost, depth int) {
	cost, depth = 1, above
	if len(f.SelectionSet) == 0 {
		return cost, depth
	}
	times := 1
	for _, a := range f.Arguments {
		if !sizes[a.Name] || a.Value == nil {
			continue
		}
		raw := a.Value.Raw
		if a.Value.Kind == ast.Variable {
			raw = text(vars[raw])
		}
		if n, err := strconv.Atoi(raw); err == nil && n > 0 {
			times = min(n, 1<<20)
		}
	}
	depth++
	below := 0
	var walk func(set ast.SelectionSet)
	walk = func(set ast.SelectionSet) {
		for _, s := range set {
			switch s := s.(type) {
			case *ast.Field:
				c, d := costOf(s, vars, above+1)
				below, depth = min(below+c, 1<<40), max(depth, d)
			case *ast.InlineFragment:
				walk(s.SelectionSet)
			case *ast.FragmentSpread:
				below++
			}
		}
	}
	walk(f.SelectionSet)
	return min(cost+times*below, 1<<40), depth
}

// unwrap takes what a service of GraphQL answered out of its envelope. Errors without
// data are one; beside data they are said.
func (r *Reply) unwrap(t *Tool) error {
	if t.GraphQL == "" || kindOf(r.JSON) != '{' {
		return nil
	}
	var words []string
	for _, e := range elements(get(r.JSON, "errors")) {
		if len(words) < 5 {
			words = append(words, clip(oneLine(getText(e, "message")), 200))
		}
	}
	said := strings.Join(words, "; ")
	list := fields(get(r.JSON, "data"))
	if len(list) != 1 || string(list[0].raw) == "null" && said != "" {
		if said == "" {
			return nil
		}
		r.JSON = nil
		return kb.Errorf(kb.Invalid, "%s answered with an error: %s", t.Code, credential.ReplaceAllString(said, Redacted)).
			WithHint("see what it takes: api:help {\"name\":%q}", t.Code)
	}
	r.JSON = list[0].raw
	if said != "" {
		r.Odd = fmt.Sprintf("some of it could not be had: %s", said)
	}
	return nil
}
