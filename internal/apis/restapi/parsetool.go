package restapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/url"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

const (
	maxTools  = 2000
	maxParams = 200
)

var pathParam = lazyregexp.New(`\{([^{}]*)\}`)

func (r *reader) tool(n *yaml.Node, p *Provider) {
	before := r.bad
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		r.wrong(n, "a tool must have keys and values").hint(seeDocs)
		return
	}
	t := Tool{Method: "GET", Enabled: true, Line: n.Line}
	var arrays, form string
	r.fields(n, "a tool", map[string]func(*yaml.Node){
		"code":        func(v *yaml.Node) { r.text(v, &t.Code, "code") },
		"name":        func(v *yaml.Node) { r.text(v, &t.Name, "name") },
		"description": func(v *yaml.Node) { r.about(v, &t.Description) },
		"httpMethod": func(v *yaml.Node) {
			r.choice(v, &t.Method, "httpMethod", methods, "GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
		},
		"endpointPath":        func(v *yaml.Node) { r.text(v, &t.Path, "endpointPath") },
		"bodyPayloadTemplate": func(v *yaml.Node) { r.text(v, &t.Template, "bodyPayloadTemplate") },
		"graphql":             func(v *yaml.Node) { r.graphql(v, &t) },
		"bodyFormat": func(v *yaml.Node) {
			r.choice(v, &form, "bodyFormat", map[string]string{"JSON": "JSON", "FORM": "FORM", "NONE": "NONE"}, "JSON", "FORM", "NONE")
		},
		"bodyMedia":    func(v *yaml.Node) { t.Media = r.media(v) },
		"bodyOptional": func(v *yaml.Node) { r.flag(v, &t.Optional, "bodyOptional") },
		"baseUrl":      func(v *yaml.Node) { t.BaseURL = r.base(v) },
		"security":     func(v *yaml.Node) { t.Security = r.security(v) },
		"deprecated":   func(v *yaml.Node) { r.flag(v, &t.Deprecated, "deprecated") },
		"tags":         func(v *yaml.Node) { t.Tags = r.texts(v, "tags") },
		"returns":      func(v *yaml.Node) { r.about(v, &t.Returns) },
		"arrays": func(v *yaml.Node) {
			r.choice(v, &arrays, "arrays", map[string]string{"REPEAT": "REPEAT", "COMMA": "COMMA"}, "REPEAT", "COMMA")
		},
		"enabled": func(v *yaml.Node) { r.flag(v, &t.Enabled, "enabled") },
		"open":    func(v *yaml.Node) { r.flag(v, &t.Open, "open") },
		"parameters": func(v *yaml.Node) {
			if v.Kind != yaml.SequenceNode || len(v.Content) > maxParams {
				r.wrong(v, "parameters must be a list of at most %d", maxParams)
				return
			}
			for _, c := range v.Content {
				r.param(c, &t)
			}
		},
	})
	t.Comma, t.Form, t.Bare, t.defs = arrays == "COMMA", form == "FORM", form == "NONE", p.Schemas
	r.named(n, t.Security, p)
	r.code(n, &t)
	t.Name = cmp.Or(t.Name, t.Code)
	if t.Open && t.Method != "GET" {
		r.wrong(n, "only a GET may be open, and this is a %s", t.Method).hint("leave open out")
	}
	r.path(n, &t)
	r.template(n, &t)
	r.selection(n, &t)
	if p.Auth.Type != AuthNone && p.Auth.In == InBody && !t.hasBody() && t.Security == nil {
		r.wrong(n, "the credential goes into the body, and a %s has none", t.Method).
			hint("choose another apiKeyLocation, or give the tool to an API of its own")
	}
	for _, q := range t.Params {
		if (q.In == "body" || q.In == "payload") && !t.hasBody() {
			r.wrong(n, "parameter %q goes into the body, and a %s has none", q.Name, t.Method).
				hint("leave in out: it goes into the query")
		}
	}
	if r.bad > before {
		return
	}
	if len(p.Tools) == maxTools {
		r.wrong(n, "an API may have %d tools, and this has more", maxTools)
		return
	}
	r.tools[t.Code] = n.Line
	p.Tools = append(p.Tools, t)
}

// code judges the code of a tool.
func (r *reader) code(n *yaml.Node, t *Tool) {
	switch {
	case t.Code == "" && codeName.MatchString(t.Name):
		t.Code = t.Name
	case t.Code == "":
		r.wrong(n, "this tool has no code").hint("give it a short name of letters and digits")
	case !codeName.MatchString(t.Code):
		r.wrong(n, "%q is no code for a tool", clip(t.Code, 60)).hint("use letters, digits, _ and -, at most 64")
	}
	if at, ok := r.tools[t.Code]; ok && t.Code != "" {
		r.wrong(n, "the tool code %q is used twice", t.Code).hint("the other is in line %d; agents call tools by their code", at)
	}
}

// path checks that path and parameters fit each other.
func (r *reader) path(n *yaml.Node, t *Tool) {
	if !strings.HasPrefix(t.Path, "/") {
		t.Path = "/" + t.Path
	}
	plain := pathParam.ReplaceAllString(t.Path, "x")
	u, err := url.Parse(plain)
	if err != nil || u.Host != "" || u.Fragment != "" || strings.ContainsAny(plain, "{}\\ ") || strings.HasPrefix(plain, "//") {
		r.wrong(n, "endpointPath %q is no path", clip(t.Path, 80)).hint("write it like /forecast/{city}")
		return
	}
	if parts := strings.Split(u.Path, "/"); slices.Contains(parts, "..") || slices.Contains(parts, ".") {
		r.wrong(n, "endpointPath %q leads elsewhere", clip(t.Path, 80)).hint("write it without . and ..")
		return
	}
	bare, _, _ := strings.Cut(t.Path, "?")
	inPath := map[string]bool{}
	for _, m := range pathParam.FindAllStringSubmatch(t.Path, -1) {
		q := t.Param(m[1])
		if i := slices.IndexFunc(t.Params, func(q Param) bool { return q.In == "path" && q.wire() == m[1] }); i >= 0 {
			q = &t.Params[i]
		}
		if q == nil {
			p := r.wrong(n, "endpointPath names {%s}, which is no parameter", clip(m[1], 60))
			p.hint("declare it below parameters")
			if near := kb.Nearest(m[1], t.paramNames()); near != "" {
				p.hint("did you mean {%s}?", near)
			}
			return
		}
		if strings.Contains(bare, m[0]) {
			inPath[q.Name] = true
		}
	}
	for i := range t.Params {
		q := &t.Params[i]
		switch {
		case inPath[q.Name] && (q.In == "" || q.In == "path"):
			q.In, q.Required = "path", true
		case q.In == "path" && strings.Contains(bare, "{"+q.wire()+"}"):
			q.Required = true
		case q.In == "path":
			r.wrong(n, "parameter %q is said to be in the path, and endpointPath does not have {%s}", q.Name, q.Name)
		}
	}
}

func (t *Tool) paramNames() []string {
	names := make([]string, len(t.Params))
	for i, p := range t.Params {
		names[i] = p.Name
	}
	return names
}

func (r *reader) param(n *yaml.Node, t *Tool) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		r.wrong(n, "a parameter must have keys and values").hint(seeDocs)
		return
	}
	q := Param{Type: String, Line: n.Line}
	r.fields(n, "a parameter", map[string]func(*yaml.Node){
		"name": func(v *yaml.Node) { r.text(v, &q.Name, "name") },
		"type": func(v *yaml.Node) {
			r.choice(v, &q.Type, "type", types, String, Number, Integer, Boolean, Object, Array, Any, Bytes)
		},
		"items": func(v *yaml.Node) {
			r.choice(v, &q.Items, "items", types, String, Number, Integer, Boolean, Object, Any, Bytes)
		},
		"in": func(v *yaml.Node) {
			r.choice(v, &q.In, "in", placeNames, "path", "query", "body", "header", "cookie", "payload", selectPlace)
		},
		"sentAs":        func(v *yaml.Node) { r.text(v, &q.Wire, "sentAs") },
		"style":         func(v *yaml.Node) { r.choice(v, &q.Style, "style", styles, styleNames...) },
		"explode":       func(v *yaml.Node) { q.Explode = new(bool); r.flag(v, q.Explode, "explode") },
		"allowReserved": func(v *yaml.Node) { r.flag(v, &q.Reserved, "allowReserved") },
		"nullable":      func(v *yaml.Node) { r.flag(v, &q.Nullable, "nullable") },
		"allowEmpty":    func(v *yaml.Node) { r.flag(v, &q.AllowEmpty, "allowEmpty") },
		"media":         func(v *yaml.Node) { r.text(v, &q.Media, "media") },
		"schema":        func(v *yaml.Node) { r.schema(v, &q.Schema, "schema") },
		"description":   func(v *yaml.Node) { r.about(v, &q.Description) },
		"required":      func(v *yaml.Node) { r.flag(v, &q.Required, "required") },
		"defaultValue": func(v *yaml.Node) {
			s := v.Value
			if v.Kind != yaml.ScalarNode {
				s = nodeJSON(v)
			}
			q.Default = &s
		},
		"enum": func(v *yaml.Node) { q.Enum = r.texts(v, "enum") },
	})
	switch {
	case q.Name == "" || len(q.Name) > 128 || strings.ContainsAny(q.Name, "\r\n\x00{}"):
		r.wrong(n, "this parameter has no usable name")
		return
	case t.Param(q.Name) != nil:
		r.wrong(n, "the parameter %q is declared twice", q.Name).hint("keep one of them")
		return
	case (q.In == "header" || q.In == "cookie") && (!headerName.MatchString(q.wire()) || q.In == "header" && reserved(q.wire())):
		r.wrong(n, "%q is no %s that an argument may set", clip(q.wire(), 60), q.In)
		return
	}
	if q.Default != nil {
		if *q.Default == "" && q.Type != String {
			q.Default = nil // how recipes write none
		} else if _, err := q.convert(mustJSON(*q.Default)); err != nil {
			r.wrong(n, "the default of %q does not fit its type: %s", q.Name, err.Error())
			return
		}
	}
	t.Params = append(t.Params, q)
}

// styles are those of OpenAPI, and one of its version 2.0.
var styles = map[string]string{
	"FORM": "form", "SIMPLE": "simple", "LABEL": "label", "MATRIX": "matrix", "SPACEDELIMITED": "spaceDelimited",
	"PIPEDELIMITED": "pipeDelimited", "TABDELIMITED": "tabDelimited", "DEEPOBJECT": "deepObject", "COOKIE": "cookie",
}

var styleNames = strings.Fields("form simple label matrix spaceDelimited pipeDelimited tabDelimited deepObject cookie")

// media reads media types: one, or a list of those that a file may have.
func (r *reader) media(n *yaml.Node) []string {
	list := []string{n.Value}
	if n.Kind == yaml.SequenceNode {
		list = r.texts(n, "bodyMedia")
	}
	for _, m := range list {
		if _, _, err := mime.ParseMediaType(m); err != nil || !strings.Contains(m, "/") {
			r.wrong(n, "%q is no media type", clip(m, 60)).hint("write it like text/plain")
			return nil
		}
	}
	return list
}

// nodeJSON writes a node that is a list or mapping as JSON.
func nodeJSON(n *yaml.Node) string {
	var v any
	if n.Decode(&v) != nil {
		return ""
	}
	return string(mustJSON(v))
}

// Document reads YAML or JSON into nodes with their lines; nil for an empty text.
// JSON has its own reader: YAML reads tabs and \ud83d differently.
func Document(name string, text []byte) (*yaml.Node, error) {
	if len(text) > MaxFile {
		return nil, kb.Errorf(kb.TooLarge, "%s has more than %d MiB", name, MaxFile>>20).
			WithHint("keep fewer tools in it")
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if t := bytes.TrimSpace(text); len(t) > 0 && (t[0] == '[' || t[0] == '{') && json.Valid(t) {
		return jsonNode(text)
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, kb.Errorf(kb.Invalid, "%s is not YAML: %s", name, yamlFault(err)).WithHint(seeDocs)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, kb.Errorf(kb.Invalid, "%s holds more than one document", name).
			WithHint("remove the lines --- between them")
	}
	if aliases(&doc) > 100 {
		return nil, kb.Errorf(kb.Invalid, "%s uses too many aliases", name).WithHint("write things out")
	}
	return doc.Content[0], nil
}

// yamlFault keeps the line of a syntax error and drops what could quote the file.
func yamlFault(err error) string {
	s := strings.TrimPrefix(err.Error(), "yaml: ")
	return clip(strings.Join(strings.Fields(s), " "), 120)
}

func aliases(n *yaml.Node) int {
	c := 0
	if n.Kind == yaml.AliasNode {
		c++
	}
	for _, x := range n.Content {
		c += aliases(x)
	}
	return c
}

// jsonNode reads valid JSON.
func jsonNode(text []byte) (*yaml.Node, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	line, at := 1, 0
	here := func() int {
		to := int(dec.InputOffset())
		line += bytes.Count(text[at:to], []byte("\n"))
		at = to
		return line
	}
	var read func(depth int) (*yaml.Node, error)
	read = func(depth int) (*yaml.Node, error) {
		if depth > 100 {
			return nil, kb.Errorf(kb.Invalid, "the file is nested more than 100 deep")
		}
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Line: here()}
		switch v := tok.(type) {
		case json.Delim:
			n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
			if v == '{' {
				n.Kind, n.Tag = yaml.MappingNode, "!!map"
			}
			for dec.More() {
				c, err := read(depth + 1)
				if err != nil {
					return nil, err
				}
				n.Content = append(n.Content, c)
			}
			_, err = dec.Token()
			return n, err
		case string:
			n.Value = v
			n.Style = yaml.DoubleQuotedStyle
		case json.Number:
			n.Tag, n.Value = "!!float", v.String()
		case bool:
			n.Tag, n.Value = "!!bool", map[bool]string{true: "true", false: "false"}[v]
		case nil:
			n.Tag, n.Value = "!!null", "null"
		}
		return n, nil
	}
	return read(0)
}
