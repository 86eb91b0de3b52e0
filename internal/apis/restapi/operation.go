package restapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"
)

// operation is one operation that becomes a tool.
type operation struct {
	m            *maker
	path, method string
	item, op     json.RawMessage
	params       []*yaml.Node
	seen         map[string]bool // names of arguments
}

// ownHeader reports whether a definition of a header SHALL be ignored (3.1.2
// Parameter Object, name).
func ownHeader(name string) bool {
	switch strings.ToLower(name) {
	case "authorization", "accept", "content-type":
		return true
	}
	return false
}

func (o *operation) lose(format string, args ...any) {
	o.m.im.Losses = append(o.m.im.Losses, Loss{o.method + " " + o.path, false, fmt.Sprintf(format, args...)})
}

// tool makes the definition of a tool. An error says why the operation cannot be
// called.
func (o *operation) tool() (*yaml.Node, error) {
	o.m.left = mostSteps
	if methods[o.method] == "" {
		return nil, fmt.Errorf("its method is %s", o.method)
	}
	path, _, _ := strings.Cut(o.path, "#") // which is never sent
	if strings.ContainsAny(path, " \\") || strings.Contains(path, "/../") || strings.HasSuffix(path, "/..") {
		return nil, fmt.Errorf("its path is none")
	}
	body, err := o.parameters()
	if err != nil {
		return nil, err
	}
	// A path of which a part is declared nowhere still needs it.
	for _, hole := range pathParam.FindAllStringSubmatch(o.path, -1) {
		if !o.seen[hole[1]] {
			if err := o.param(json.RawMessage(`{"in":"path","required":true,"name":` + string(mustJSON(hole[1])) + `,"schema":{"type":"string"}}`)); err != nil {
				return nil, err
			}
		}
	}
	about := o.about()
	t := named{mapping("code", o.m.toolCode(o.path, o.method, o.op), "name", clip(oneLine(getText(o.op, "summary")), 100),
		"description", about, "httpMethod", o.method, "endpointPath", path)}
	base, err := o.server()
	if err != nil {
		return nil, err
	}
	if base != "" {
		t.add("baseUrl", scalar(base))
	}
	if err := o.security(t); err != nil {
		return nil, err
	}
	if body == nil {
		if body, err = o.m.follow(get(o.op, "requestBody")); err != nil {
			return nil, err
		}
	}
	if err := o.body(t, body); err != nil {
		return nil, err
	}
	if isTrue(o.op, "deprecated") {
		t.add("deprecated", boolean(true))
	}
	var tags []string
	for _, x := range elements(get(o.op, "tags")) {
		if s := clip(oneLine(textOf(x)), 60); s != "" && len(tags) < 5 {
			tags = append(tags, s)
		}
	}
	if len(tags) > 0 {
		t.add("tags", words(tags))
	}
	if r := o.returns(); r != "" {
		t.add("returns", scalar(r))
	}
	if len(o.params) > maxParams {
		return nil, fmt.Errorf("it has %d parameters, and %d is the most", len(o.params), maxParams)
	}
	if len(o.params) > 0 {
		t.add("parameters", sequence(o.params...))
	}
	return t.Node, nil
}

// about is what the operation does, in a line.
func (o *operation) about() string {
	summary := strings.TrimSuffix(oneLine(getText(o.op, "summary")), ".")
	more := firstSentence(getText(o.op, "description"))
	switch {
	case summary == "":
		summary = cmp.Or(more, oneLine(getText(o.item, "summary")))
	case len(more) > len(summary) && strings.EqualFold(more[:len(summary)], summary):
		summary = more
	case more != "" && !strings.EqualFold(summary, more) && len(summary) < 120:
		summary += ". " + more
	}
	return clip(summary, 300)
}

// server returns the address of the operation where it is not the API's.
func (o *operation) server() (string, error) {
	for _, of := range []json.RawMessage{o.op, o.item} {
		if list := get(of, "servers"); len(elements(list)) > 0 && o.m.o.BaseURL == "" {
			base, err := o.m.server("", list)
			if err != nil || base == o.m.base {
				return "", err
			}
			if u, err := url.Parse(base); err == nil && !(&Provider{BaseURL: o.m.base}).SameHost(base) {
				o.m.hosts[u.Host] = true
			}
			return base, nil
		}
	}
	return "", nil
}

// parameters reads the parameters of the operation and those of its path that it
// does not override. It returns the body that those of version 2.0 make.
func (o *operation) parameters() (json.RawMessage, error) {
	taken := map[string]bool{}
	var form []json.RawMessage
	var body json.RawMessage
	for _, v := range slices.Concat(elements(get(o.op, "parameters")), elements(get(o.item, "parameters"))) {
		v, err := o.m.follow(v)
		if err != nil {
			return nil, err
		}
		in := getText(v, "in")
		key := in + " " + getText(v, "name")
		if in == "body" {
			key = in
		}
		if taken[key] {
			continue
		}
		taken[key] = true
		switch {
		case o.m.two && in == "body":
			body = v
		case o.m.two && in == "formData":
			form = append(form, v)
		case o.m.two:
			v = param2(v)
			fallthrough
		default:
			if err := o.param(v); err != nil {
				return nil, err
			}
		}
	}
	if o.m.two {
		return body2(body, form, o.m.consumes(o.op))
	}
	return nil, nil
}

// argument returns the name by which an argument of a place is given: its own, or
// with the place behind it where another has it.
func (o *operation) argument(name, in string) (string, error) {
	if name == "" || strings.ContainsAny(name, "{}\r\n\x00") || len(name) > 120 {
		return "", fmt.Errorf("the name %q of a parameter cannot be used", clip(name, 60))
	}
	for _, as := range []string{name, name + "_" + in} {
		if !o.seen[as] {
			o.seen[as] = true
			return as, nil
		}
	}
	return "", fmt.Errorf("two of its parameters are called %q", clip(name, 60))
}

// param adds one parameter.
func (o *operation) param(v json.RawMessage) error {
	name, in := getText(v, "name"), getText(v, "in")
	required := isTrue(v, "required") || in == "path"
	switch in {
	case "path", "query":
	case "header", "cookie":
		if in == "header" && ownHeader(name) || in == "header" && strings.EqualFold(name, "cookie") {
			return nil
		}
		if !headerName.MatchString(name) || in == "header" && reserved(name) {
			if required {
				return fmt.Errorf("it needs the %s %q, which cannot be set", in, clip(name, 60))
			}
			o.lose("the %s %q cannot be set", in, clip(name, 60))
			return nil
		}
	default:
		if required {
			return fmt.Errorf("it needs a parameter in %q", clip(in, 30))
		}
		o.lose("the parameter %q is in %q, which is not known", clip(name, 60), clip(in, 30))
		return nil
	}
	if o.m.auths.replaces(name, in) {
		return nil // the credential takes its place
	}
	as, err := o.argument(name, in)
	if err != nil {
		return err
	}
	n := named{mapping("name", as)}
	schema, media := get(v, "schema"), ""
	if list := fields(get(v, "content")); len(list) > 0 {
		media, schema = list[0].key, get(list[0].raw, "schema")
	}
	if err := o.describe(n, schema, in, firstSentence(getText(v, "description")), required); err != nil {
		return err
	}
	if as != name {
		n.add("sentAs", scalar(name))
	}
	if media != "" {
		n.add("media", scalar(media))
	}
	style := getText(v, "style")
	if style == map[string]string{"query": "form", "cookie": "form", "path": "simple", "header": "simple"}[in] {
		style = ""
	}
	if style != "" {
		if styles[strings.ToUpper(style)] == "" {
			return fmt.Errorf("the style %q of %q is not known", clip(style, 30), clip(name, 60))
		}
		n.add("style", scalar(style))
	}
	if e := get(v, "explode"); e != nil {
		n.add("explode", boolean(string(e) == "true"))
	} else if kind, _ := o.m.typeOf(schema); style == "" && in == "query" && (kind == Object || kind == Any) {
		n.add("explode", boolean(true))
	}
	if isTrue(v, "allowReserved") && in == "query" {
		n.add("allowReserved", boolean(true))
	}
	if isTrue(v, "allowEmptyValue") {
		n.add("allowEmpty", boolean(true))
	}
	o.params = append(o.params, n.Node)
	return nil
}

// describe adds what a schema says of an argument: a type, and the schema itself
// where the type does not say all of it.
func (o *operation) describe(n named, schema json.RawMessage, in, about string, required bool) error {
	kind, null := o.m.typeOf(schema)
	if about == "" {
		about = firstSentence(getText(schema, "description"))
	}
	if kind != String {
		n.add("type", scalar(kind))
	}
	n.add("in", scalar(in))
	if about != "" {
		n.add("description", scalar(about))
	}
	if required {
		n.add("required", boolean(true))
	}
	if null {
		n.add("nullable", boolean(true))
	}
	if kind == Array {
		full, err := o.m.follow(schema)
		if err != nil {
			return err
		}
		items, _ := o.m.typeOf(get(full, "items"))
		if items == Array || get(full, "prefixItems") != nil {
			items = Any
		}
		if items != String {
			n.add("items", scalar(items))
		}
	}
	if schema == nil || kindOf(schema) != '{' {
		return nil
	}
	if kind == String || kind == Any && get(schema, "$ref") == nil {
		if list := elements(get(schema, "enum")); kind == String && len(list) > 0 && len(list) <= 50 {
			var names []string
			for _, x := range list {
				if s := textOf(x); s != "" {
					names = append(names, s)
				}
			}
			if len(names) == len(list) {
				n.add("enum", words(names))
			}
		}
	}
	if simple(schema) {
		return nil
	}
	full, err := o.m.take(schema)
	if err != nil {
		return err
	}
	n.add("schema", scalar(string(full)))
	return nil
}

// simple reports whether a schema says no more than a type of ours, and what the
// definition has beside it: a description, an enum.
func simple(v json.RawMessage) bool {
	for _, f := range fields(v) {
		switch f.key {
		case "type":
			if kindOf(f.raw) != '"' || textOf(f.raw) == "object" {
				return false
			}
		case "items":
			for _, g := range fields(f.raw) {
				if g.key != "type" || kindOf(g.raw) != '"' || textOf(g.raw) == "object" || textOf(g.raw) == "array" {
					return false
				}
			}
		case "description", "title", "example", "xml", "externalDocs":
		case "enum":
			if getText(v, "type") != "string" || len(elements(f.raw)) > 50 {
				return false
			}
		default:
			if !strings.HasPrefix(f.key, "x-") {
				return false
			}
		}
	}
	return true
}
