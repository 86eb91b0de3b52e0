package restapi

import (
	"bytes"
	"cmp"
	"errors"
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
// older form in which each tool is one API. References, which Secrets lists,
// replace the credentials in it.
func ImportRecipe(name string, text []byte, o ImportOptions) (*Imported, error) {
	doc, err := Document(name, text)
	if err != nil {
		return nil, err
	}
	if doc == nil {
		return nil, kb.Errorf(kb.Invalid, "%s is empty", name).WithHint(seeDocs)
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

// Merge puts imported APIs into the text of a file of definitions, replacing those
// of the same code. It returns the new text and the replaced codes. A person's
// decisions stay: references to secrets, allowed hosts, and which tools are
// enabled or open.
func Merge(name string, text []byte, im *Imported) (out []byte, replaced []string, err error) {
	doc, list, err := editable(name, text)
	if err != nil {
		return nil, nil, err
	}
	for i, n := range im.nodes {
		plain(n)
		at := slices.IndexFunc(list.Content, func(x *yaml.Node) bool { return valueOf(x, "code") == im.Codes[i] })
		if at < 0 {
			list.Content = append(list.Content, n)
			continue
		}
		replaced = append(replaced, im.Codes[i])
		keep(list.Content[at], n)
		if v := member(n, "apiKeyValue"); v != nil {
			if ref, ok := ParseRef(v.Value); ok {
				im.Secrets[im.Codes[i]] = ref
			}
		}
		list.Content[at] = n
	}
	out, err = encode(doc)
	if err != nil {
		return nil, nil, err
	}
	f, err := Parse(name, out)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range f.Problems {
		if slices.Contains(im.Codes, p.API) {
			return nil, nil, kb.Errorf(kb.Invalid, "it does not fit with what is declared already: %s", p.Text).
				WithHint("give the API another code, or remove the other one")
		}
	}
	return out, replaced, nil
}

// keep copies a person's decisions from the old definition of an API.
func keep(old, n *yaml.Node) {
	for _, key := range []string{"apiKeyValue", "allowHosts", "enabled", "timeoutSeconds", "maxBytes", "username"} {
		v := member(old, key)
		if v == nil || key == "apiKeyValue" && (placeholder(v.Value) || member(n, key) == nil) {
			continue
		}
		drop(n, key)
		n.Content = append(n.Content, scalar(key), v)
	}
	tools, news := member(old, "tools"), member(n, "tools")
	if tools == nil || news == nil {
		return
	}
	for _, o := range tools.Content {
		for _, t := range news.Content {
			if code := valueOf(o, "code"); code == "" || code != valueOf(t, "code") {
				continue
			}
			for _, key := range []string{"enabled", "open"} {
				if v := member(o, key); v != nil {
					drop(t, key)
					t.Content = append(t.Content, scalar(key), v)
				}
			}
		}
	}
}

// Remove takes an API out of the text of a file of definitions.
func Remove(name string, text []byte, code string) ([]byte, error) {
	doc, list, err := editable(name, text)
	if err != nil {
		return nil, err
	}
	var codes []string
	for i, n := range list.Content {
		c := member(n, "code")
		if c == nil {
			continue
		}
		if c.Value == code {
			list.Content = slices.Delete(list.Content, i, i+1)
			return encode(doc)
		}
		codes = append(codes, c.Value)
	}
	e := kb.Errorf(kb.NotFound, "%s declares no API %q", name, clip(code, 60))
	if near := kb.Nearest(code, codes); near != "" {
		return nil, e.WithHint("did you mean %q?", near)
	}
	return nil, e.WithHint("it declares: %s", strings.Join(codes, ", "))
}

// editable returns a document and its list of APIs, made when there is none.
func editable(name string, text []byte) (doc, list *yaml.Node, err error) {
	if doc, err = Document(name, text); err != nil {
		return nil, nil, err
	}
	switch {
	case doc == nil || doc.Kind == yaml.ScalarNode:
		list = sequence()
		doc = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{scalar("apis"), list}}
		doc.HeadComment = "APIs that agents may call; see docs/apis.md. Credentials stand in variables or\nthe keyring and are only named here."
		return doc, list, nil
	case doc.Kind == yaml.SequenceNode:
		return doc, doc, nil
	}
	list = cmp.Or(member(doc, "apis"), member(doc, "providers"))
	switch {
	case list == nil:
		list = sequence()
		doc.Content = append(doc.Content, scalar("apis"), list)
	case list.Tag == "!!null":
		*list = *sequence()
	}
	list.Style = 0
	return doc, list, nil
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

func encode(doc *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(doc), enc.Close()); err != nil {
		return nil, kb.Errorf(kb.Internal, "the definitions cannot be written: %w", err)
	}
	return b.Bytes(), nil
}
