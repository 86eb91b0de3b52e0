package restapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// Introspection asks a service of GraphQL for its schema.
const Introspection = `query { __schema { queryType { name } mutationType { name } types { kind name description ` +
	`fields(includeDeprecated: true) { name description isDeprecated args { name description type { ...T } defaultValue } type { ...T } } ` +
	`inputFields { name description type { ...T } defaultValue } enumValues { name } possibleTypes { name } } } } ` +
	`fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } } }`

var sdl = lazyregexp.New(`(?m)^\s*(?:extend\s+)?(?:type\s+(?:Query|Mutation|[A-Z]\w*)\b[^:\n]*\{|schema\b[^:\n]*\{)`)

// IsGraphQL reports whether a text seems to be a schema of GraphQL: its language, or
// the answer to an introspection.
func IsGraphQL(text []byte) bool {
	head := strings.TrimSpace(string(text[:min(len(text), 4<<10)]))
	if strings.HasPrefix(head, "{") {
		return strings.Contains(head, `"__schema"`)
	}
	return sdl.MatchString(string(text[:min(len(text), 1<<20)]))
}

// maxSchemaTokens bounds a schema: GitHub's has 300,000.
const maxSchemaTokens = 3_000_000

// graph is a schema whose fields become tools.
type graph struct {
	im    *Imported
	o     ImportOptions
	code  string
	path  string // of the address
	types map[string]*ast.Definition
	defs  map[string]json.RawMessage // of input types
	codes map[string]bool
}

// ImportGraphQL makes one API of a schema of GraphQL: a tool of each query. Mutations
// become tools only where Operations names them, by their name or as "mutation".
func ImportGraphQL(name string, text []byte, o ImportOptions) (*Imported, error) {
	if len(text) > MaxOpenAPI {
		return nil, kb.Errorf(kb.TooLarge, "%s has more than %d MiB", name, MaxOpenAPI>>20).WithHint("choose a part of it")
	}
	base := cmp.Or(o.BaseURL, o.From)
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, kb.Errorf(kb.Invalid, "a schema of GraphQL does not say where its service is").WithHint("give its address: --baseUrl https://api.example.org/graphql")
	}
	g := &graph{
		im: &Imported{Secrets: map[string]Ref{}}, o: o, types: map[string]*ast.Definition{}, defs: map[string]json.RawMessage{}, codes: map[string]bool{},
		path: cmp.Or(u.EscapedPath(), "/"), code: cmp.Or(o.Code, slug(strings.TrimPrefix(u.Hostname(), "api."))),
	}
	if !codeName.MatchString(g.code) {
		return nil, kb.Errorf(kb.Invalid, "no code for the API follows from its address").WithHint("give one: --code shop")
	}
	queries, mutations, err := g.read(text)
	if err != nil {
		return nil, kb.Errorf(kb.Invalid, "%s cannot be read as a schema of GraphQL: %s", name, clip(oneLine(err.Error()), 300)).WithHint("check it with a validator")
	}
	list := sequence()
	left := 0
	for kind, root := range map[string]*ast.Definition{"query": queries, "mutation": mutations} {
		if root == nil {
			continue
		}
		for _, f := range root.Fields {
			if strings.HasPrefix(f.Name, "__") || !g.wanted(kind, f.Name) {
				left++
				continue
			}
			list.Content = append(list.Content, g.tool(kind, f))
		}
	}
	if n := len(list.Content); n == 0 || n > maxTools {
		return nil, kb.Errorf(kb.Invalid, "%d of its queries and mutations were chosen, and 1 to %d can be", n, maxTools).
			WithHint("check --operations: it matches names, and query and mutation")
	}
	slices.SortFunc(list.Content, func(a, b *yaml.Node) int { return strings.Compare(valueOf(a, "code"), valueOf(b, "code")) })
	if left > 0 && len(o.Operations) == 0 {
		g.im.Notes = append(g.im.Notes, kb.Count(left, "mutation")+" of it left out: choose those that may be called, as in --operations query,createIssue")
	}
	g.im.nodes, g.im.Codes = []*yaml.Node{g.api(u, list)}, []string{g.code}
	return g.im, nil
}

func (g *graph) api(u *url.URL, list *yaml.Node) *yaml.Node {
	n := named{mapping("code", g.code, "baseUrl", u.Scheme+"://"+u.Host)}
	if g.o.Secret != "" {
		if ref, ok := ParseRef(g.o.Secret); ok {
			n.add("authenticationType", scalar(AuthBearer))
			n.add("apiKeyValue", scalar(ref.String()))
			g.im.Secrets[g.code] = ref
		}
	}
	if len(list.Content) > manyTools {
		n.add("listed", boolean(false))
		g.im.Notes = append(g.im.Notes, fmt.Sprintf("its %d tools", len(list.Content))+unlistedNote)
	}
	if len(g.defs) > 0 {
		defs := mapping()
		for _, k := range slices.Sorted(maps.Keys(g.defs)) {
			defs.Content = append(defs.Content, scalar(k), scalar(string(g.defs[k])))
		}
		n.add("schemas", defs)
	}
	n.add("tools", list)
	return n.Node
}

func (g *graph) wanted(kind, name string) bool {
	if len(g.o.Operations) == 0 {
		return kind == "query"
	}
	return slices.ContainsFunc(g.o.Operations, func(p string) bool {
		begin, ok := strings.CutSuffix(p, "*")
		return p == kind || p == name || ok && begin != "" && strings.HasPrefix(name, begin)
	})
}

// read reads a schema in either form.
func (g *graph) read(text []byte) (queries, mutations *ast.Definition, err error) {
	roots := map[string]string{"query": "Query", "mutation": "Mutation"}
	if t := strings.TrimSpace(string(text)); strings.HasPrefix(t, "{") {
		err = g.introspected(json.RawMessage(t), roots)
	} else {
		var doc *ast.SchemaDocument
		if doc, err = parser.ParseSchemaWithLimit(&ast.Source{Input: string(text)}, maxSchemaTokens); err == nil {
			for _, s := range append(doc.Schema, doc.SchemaExtension...) {
				for _, o := range s.OperationTypes {
					roots[string(o.Operation)] = o.Type
				}
			}
			for _, d := range append(doc.Definitions, doc.Extensions...) {
				if have := g.types[d.Name]; have != nil {
					have.Fields, have.EnumValues = append(have.Fields, d.Fields...), append(have.EnumValues, d.EnumValues...)
					continue
				}
				g.types[d.Name] = d
			}
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if queries = g.types[roots["query"]]; queries == nil {
		return nil, nil, fmt.Errorf("it has no queries")
	}
	return queries, g.types[roots["mutation"]], nil
}

// tool makes a tool of a field of Query or Mutation.
func (g *graph) tool(kind string, f *ast.FieldDefinition) *yaml.Node {
	about := firstSentence(f.Description)
	if about == "" {
		about = spaced(f.Name)
	}
	if kind == "mutation" {
		about = "Changes data: " + about
	}
	n := named{mapping("code", (&maker{code: g.code, codes: g.codes}).toolCode("", "", mustJSON(map[string]string{"operationId": f.Name})),
		"name", f.Name, "description", clip(about, 300), "httpMethod", "POST", "endpointPath", g.path)}
	var vars, args []string
	var params []*yaml.Node
	for _, a := range f.Arguments {
		need := a.Type.NonNull && a.DefaultValue == nil
		vars, args = append(vars, "$"+a.Name+": "+a.Type.String()), append(args, a.Name+": $"+a.Name)
		params = append(params, g.param(a.Name, a.Description, a.Type, need))
	}
	doc := kind + " "
	if len(vars) > 0 {
		doc += "(" + strings.Join(vars, ", ") + ") "
	}
	doc += "{ " + f.Name
	if len(args) > 0 {
		doc += "(" + strings.Join(args, ", ") + ")"
	}
	left := 40
	if sel := g.selection(f.Type.Name(), 0, &left); sel != "" {
		doc += " " + selectHole
		q := named{mapping("name", "select", "in", selectPlace, "defaultValue", sel, "description", "what is wanted of "+f.Type.Name()+": "+g.fieldNames(f.Type.Name()))}
		for _, a := range f.Arguments {
			if a.Name == "select" {
				set(q.Node, "name", "select_of")
			}
		}
		params = append(params, q.Node)
	}
	n.add("graphql", scalar(doc+" }"))
	n.add("tags", words([]string{kind}))
	if names := g.fieldNames(f.Type.Name()); names != "" {
		n.add("returns", scalar(clip(f.Type.String()+": "+names, 160)))
	}
	if f.Directives.ForName("deprecated") != nil {
		n.add("deprecated", boolean(true))
	}
	if len(params) > 0 {
		n.add("parameters", sequence(params...))
	}
	return n.Node
}

// spaced writes a name as words: createIssue is create issue.
func spaced(s string) string {
	var b strings.Builder
	for i, c := range s {
		if c >= 'A' && c <= 'Z' && i > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
	}
	return strings.ToLower(strings.ReplaceAll(b.String(), "_", " "))
}

// fieldNames names the fields of a type.
func (g *graph) fieldNames(name string) string {
	d := g.types[name]
	if d == nil {
		return ""
	}
	var names []string
	for _, f := range d.Fields {
		if len(names) == 20 {
			names = append(names, "…")
			break
		}
		names = append(names, f.Name)
	}
	if len(names) == 0 {
		names = d.Types
	}
	return strings.Join(names, " ")
}

// selection chooses what is asked for where a call does not say: what is no object,
// and of objects a little. left is how many fields there may still be.
func (g *graph) selection(name string, depth int, left *int) string {
	d := g.types[name]
	if d == nil || d.IsLeafType() {
		return ""
	}
	most := []int{20, 8, 6, 4}[min(depth, 3)]
	var parts []string
	if d.Kind == ast.Union || d.Kind == ast.Interface {
		parts = append(parts, "__typename")
	}
	for pass := range 2 { // what is no object first
		for _, f := range d.Fields {
			needs := slices.ContainsFunc(f.Arguments, func(a *ast.ArgumentDefinition) bool { return a.Type.NonNull && a.DefaultValue == nil })
			of := g.types[f.Type.Name()]
			leaf := of == nil || of.IsLeafType()
			if needs || strings.HasPrefix(f.Name, "__") || leaf != (pass == 0) || len(parts) >= most || *left <= 0 || f.Directives.ForName("deprecated") != nil {
				continue
			}
			if leaf {
				parts = append(parts, f.Name)
				*left--
				continue
			}
			list := f.Name == "nodes" || f.Name == "edges" || f.Name == "node" || f.Name == "pageInfo"
			if depth >= 2 && !list || depth >= 3 {
				continue
			}
			if sel := g.selection(f.Type.Name(), depth+1, left); sel != "" {
				parts = append(parts, g.sized(f)+" "+sel)
			}
		}
	}
	for _, member := range d.Types[:min(len(d.Types), 3)] {
		if sel := g.selection(member, depth+2, left); sel != "" {
			parts = append(parts, "... on "+member+" "+sel)
		}
	}
	if len(parts) == 0 {
		parts = []string{"__typename"}
	}
	return "{ " + strings.Join(parts, " ") + " }"
}

// sized asks for a few elements of a list that says how many it may have.
func (g *graph) sized(f *ast.FieldDefinition) string {
	if a := f.Arguments.ForName("first"); a != nil && a.Type.Name() == "Int" {
		return f.Name + "(first: 5)"
	}
	return f.Name
}

// param makes the parameter of an argument.
func (g *graph) param(name, about string, t *ast.Type, need bool) *yaml.Node {
	n := named{mapping("name", name, "in", "body")}
	schema := g.schema(t, 0)
	kind := Any
	if k := types[strings.ToUpper(getText(schema, "type"))]; k != "" {
		kind = k
	}
	if kind != String {
		n.add("type", scalar(kind))
	}
	if s := firstSentence(about); s != "" {
		n.add("description", scalar(s))
	}
	if need {
		n.add("required", boolean(true))
	}
	if d := g.types[t.Name()]; d != nil && d.Kind == ast.Enum && t.Elem == nil && len(d.EnumValues) <= 50 {
		var names []string
		for _, v := range d.EnumValues {
			names = append(names, v.Name)
		}
		n.add("enum", words(names))
	}
	if kind == Array {
		items := Any
		if k := types[strings.ToUpper(getText(get(schema, "items"), "type"))]; k != "" && k != Array {
			items = k
		}
		if items != String {
			n.add("items", scalar(items))
		}
	}
	if !simple(schema) {
		n.add("schema", scalar(string(schema)))
	}
	return n.Node
}

// schema writes a type as a JSON schema; input types are referred to.
func (g *graph) schema(t *ast.Type, depth int) json.RawMessage {
	if t.Elem != nil {
		if depth > 8 {
			return json.RawMessage("{}")
		}
		return json.RawMessage(`{"type":"array","items":` + string(g.schema(t.Elem, depth+1)) + `}`)
	}
	switch t.NamedType {
	case "Int":
		return json.RawMessage(`{"type":"integer"}`)
	case "Float":
		return json.RawMessage(`{"type":"number"}`)
	case "Boolean":
		return json.RawMessage(`{"type":"boolean"}`)
	case "String", "ID":
		return json.RawMessage(`{"type":"string"}`)
	}
	d := g.types[t.NamedType]
	switch {
	case d == nil || d.Kind == ast.Scalar:
		return json.RawMessage(`{"description":` + string(mustJSON("a "+t.NamedType)) + `}`)
	case d.Kind == ast.Enum:
		names := []string{}
		for _, v := range d.EnumValues {
			names = append(names, v.Name)
		}
		return json.RawMessage(`{"type":"string","enum":` + string(mustJSON(names)) + `}`)
	}
	if g.defs[d.Name] == nil {
		g.defs[d.Name] = json.RawMessage("true") // it may name itself
		required := []string{}
		var props []field
		for _, f := range d.Fields {
			if f.Type.NonNull && f.DefaultValue == nil {
				required = append(required, f.Name)
			}
			props = append(props, field{f.Name, g.schema(f.Type, depth)})
		}
		g.defs[d.Name] = json.RawMessage(`{"type":"object","properties":` + string(object(props)) + `,"required":` + string(mustJSON(required)) + `,"additionalProperties":false}`)
	}
	return json.RawMessage(`{"$ref":` + string(mustJSON("#/$defs/"+d.Name)) + `}`)
}
