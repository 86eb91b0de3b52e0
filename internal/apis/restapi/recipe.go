package restapi

import (
	"cmp"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// Imported is the result of an import, before it is kept.
type Imported struct {
	nodes []*yaml.Node // one API each, in the shape of our files
	// Codes are those of the APIs.
	Codes []string
	// Secrets are the references that replace credentials. They must be set before
	// an API can be called.
	Secrets map[string]Ref
	Notes   []string
	Losses  []Loss // what of operations was not carried over
	// Merged is what Merge made, as it will be read.
	Merged *File
}

// ImportOptions say how documents become definitions.
type ImportOptions struct {
	Code       string   // of the API, for OpenAPI; "" makes one from the title
	BaseURL    string   // instead of what the document says, for OpenAPI
	Secret     string   // reference to the credential: ${NAME} or keyring:NAME; "" makes a name
	From       string   // URL of the document, if it has one
	Operations []string // OpenAPI: only operations whose id, path or tag matches one of these patterns
}

// ImportRecipe reads a recipe of seed 002 as JSON or YAML: a list of APIs, or the
// older form in which each tool is one API; or the file in which a client of the
// Model Context Protocol keeps its servers. References, which Secrets lists,
// replace the credentials in it.
func ImportRecipe(name string, text []byte, o ImportOptions) (*Imported, error) {
	doc, err := Document(name, text)
	if err != nil {
		return nil, err
	}
	if doc == nil {
		return nil, kb.Errorf(kb.Invalid, "%s is empty", name).WithHint(seeDocs)
	}
	if servers := ofClient(doc); servers != nil {
		return importClient(name, servers)
	}
	list, err := providersNode(name, doc)
	if err != nil {
		return nil, err
	}
	im := &Imported{Secrets: map[string]Ref{}}
	for _, n := range list {
		if n.Kind != yaml.MappingNode {
			return nil, kb.Errorf(kb.Invalid, "%s:%d: an API must have keys and values", name, n.Line).WithHint(seeDocs)
		}
		n = flat(n)
		tidy(n)
		if tools := member(n, "tools"); tools != nil {
			for _, t := range tools.Content {
				tidy(t)
			}
		}
		code := valueOf(n, "code")
		if !codeName.MatchString(code) {
			code = slug(code)
			set(n, "code", code)
		}
		if err := im.credential(n, code, o); err != nil {
			return nil, err
		}
		im.nodes, im.Codes = append(im.nodes, n), append(im.Codes, code)
	}
	if len(im.nodes) == 0 {
		return nil, kb.Errorf(kb.Invalid, "%s declares no API", name).WithHint(seeDocs)
	}
	return im, im.check(name)
}

// tidy drops what only the service of recipes needs, and makes a code of the name.
func tidy(n *yaml.Node) {
	gone := []string{"id", "createdAt", "updatedAt", "exportable", "healthy", "lastHealthCheck", "isExportable"}
	for _, key := range gone {
		drop(n, key)
	}
	if name := member(n, "name"); name != nil && member(n, "code") == nil {
		set(n, "code", slug(name.Value))
	}
}

// valueOf returns the text of a key, "" when it is not there.
func valueOf(n *yaml.Node, key string) string {
	if v := member(n, key); v != nil {
		return v.Value
	}
	return ""
}

// check reads what was made as it will be read from the file.
func (im *Imported) check(name string) error {
	text, err := encode(sequence(im.nodes...))
	if err != nil {
		return err
	}
	f, err := Parse(name, text)
	if err != nil {
		return err
	}
	if len(f.Problems) > 0 {
		p := f.Problems[0] // its line is that of the made text
		e := kb.Errorf(kb.Invalid, "%s cannot be imported: %s", name, p.Text)
		if p.API != "" {
			e = kb.Errorf(kb.Invalid, "%s cannot be imported: API %q: %s", name, p.API, p.Text)
		}
		return e.WithHint("%s", cmp.Or(p.Hint, seeDocs))
	}
	return nil
}

// flat turns the older form, one tool with the API's fields, into an API with a tool.
func flat(n *yaml.Node) *yaml.Node {
	if member(n, "tools") != nil || member(n, "endpointPath") == nil {
		return n
	}
	out := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: n.Line}
	tool := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: n.Line}
	for i := 0; i+1 < len(n.Content); i += 2 {
		to := out
		switch n.Content[i].Value {
		case "endpointPath", "httpMethod", "parameters", "description", "enabled", "bodyPayloadTemplate":
			to = tool
		case "name", "code":
			tool.Content = append(tool.Content, n.Content[i], n.Content[i+1])
		}
		to.Content = append(to.Content, n.Content[i], n.Content[i+1])
	}
	out.Content = append(out.Content, scalar("tools"), sequence(tool))
	return out
}

// credential replaces credentials and placeholders by references, in apiKeyValue
// and in headers.
func (im *Imported) credential(n *yaml.Node, code string, o ImportOptions) error {
	want := Ref{Env: envFor(code, "API_KEY")}
	if o.Secret != "" {
		ref, ok := ParseRef(o.Secret)
		if !ok {
			return kb.Errorf(kb.Invalid, "that is no reference to a secret").
				WithHint("write ${NAME} or keyring:NAME, not the credential itself")
		}
		want = ref
	}
	auth := AuthNone
	if a := member(n, "authenticationType"); a != nil {
		auth = authSpellings[strings.ToUpper(a.Value)]
	}
	value := member(n, "apiKeyValue")
	if auth != AuthNone {
		im.Secrets[code] = want
		if value == nil {
			set(n, "apiKeyValue", want.String())
		} else if ref, ok := ParseRef(value.Value); ok {
			im.Secrets[code] = ref
		} else {
			if !placeholder(value.Value) {
				im.Notes = append(im.Notes, "the credential of "+code+" in the document was not stored: "+
					"put it where the reference says, and delete the document if others can read it")
			}
			set(n, "apiKeyValue", want.String())
		}
	} else {
		drop(n, "apiKeyValue")
	}
	heads := member(n, "customHeaders")
	if heads == nil || heads.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(heads.Content); i += 2 {
		key, v := heads.Content[i].Value, heads.Content[i+1]
		if _, ok := ParseRef(v.Value); ok || !secretName(key) && !credential.MatchString(v.Value) {
			continue
		}
		ref := Ref{Env: envFor(code, strings.ToUpper(nonWord.ReplaceAllString(key, "_")))}
		v.Value, v.Style = ref.String(), 0
		im.Secrets[code+", header "+key] = ref
		im.Notes = append(im.Notes, "the value of the header "+key+" of "+code+" was not stored")
	}
	return nil
}

var (
	nonWord = lazyregexp.New(`[^A-Za-z0-9]+`)
	htmlTag = lazyregexp.New(`<[^<>]{1,200}>`)
)

// envFor makes the name of a variable: WEATHER_API_KEY.
func envFor(code, what string) string {
	s := strings.Trim(strings.ToUpper(nonWord.ReplaceAllString(code, "_")), "_")
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		s = "API_" + s
	}
	return clip(s, 60) + "_" + what
}

// slug makes a code of a title: "Weather service (v2)" is weather-service-v2.
func slug(title string) string {
	s := strings.Trim(nonWord.ReplaceAllString(strings.ToLower(title), "-"), "-")
	if len(s) > 40 {
		s = strings.Trim(s[:40], "-")
	}
	return s
}

func scalar(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if strings.Contains(s, "\n") {
		n.Style = yaml.LiteralStyle
	}
	return n
}

func sequence(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: items}
}

// set gives a key of a mapping a text.
func set(n *yaml.Node, key, value string) {
	if v := member(n, key); v != nil {
		*v = *scalar(value)
		return
	}
	n.Content = append(n.Content, scalar(key), scalar(value))
}

func drop(n *yaml.Node, key string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			n.Content = slices.Delete(n.Content, i, i+2)
			return
		}
	}
}

// plain lets the encoder choose the style of each value: those from JSON would
// keep braces and quotes.
func plain(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode {
		n.Style = 0
	} else if n.Tag == "!!float" && !strings.ContainsAny(n.Value, ".eE") {
		n.Tag = "!!int"
	} else if n.Style == yaml.DoubleQuotedStyle {
		n.Style = 0
		if strings.Contains(n.Value, "\n") {
			n.Style = yaml.LiteralStyle
		}
	}
	n.Line, n.Column = 0, 0
	for _, c := range n.Content {
		plain(c)
	}
}
