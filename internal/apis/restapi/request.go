package restapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// credentials are the resolved secrets of one call.
type credentials map[Ref]string

// build makes the request of a call. The credential goes in last, in place of any
// argument of the same name.
func build(ctx context.Context, p *Provider, t *Tool, values []value, cred credentials) (*http.Request, error) {
	path, static, _ := strings.Cut(t.Path, "?")
	query, err := url.ParseQuery(static)
	if err != nil {
		return nil, kb.Errorf(kb.Invalid, "the query in the path of %s cannot be read", t.Code).
			WithHint("a person must mend its definition")
	}
	d := draft{path: path, query: query, header: http.Header{}}
	for _, v := range values {
		if err := d.place(t, v); err != nil {
			return nil, err
		}
	}
	for k, list := range query { // optional parameters that were left out
		query[k] = slices.DeleteFunc(list, func(s string) bool { return pathParam.MatchString(s) && t.names(s) })
		if len(query[k]) == 0 {
			delete(query, k)
		}
	}
	body, err := d.body(p, t, cred)
	if err != nil {
		return nil, err
	}
	for _, h := range p.Headers {
		v := h.Value
		if h.Secret.Set() {
			v = cred[h.Secret]
		}
		d.header.Set(h.Name, v)
	}
	if body, err = authorise(p, t, d.header, query, body, cred); err != nil {
		return nil, err
	}
	addr := p.BaseURL + d.path
	if p.BaseURL != "" && d.path == "/" {
		addr = p.BaseURL
	}
	if len(query) > 0 {
		addr += "?" + query.Encode()
	}
	var in io.Reader
	if t.hasBody() {
		in = bytes.NewReader(body)
		if d.header.Get("Content-Type") == "" {
			d.header.Set("Content-Type", map[bool]string{true: "application/x-www-form-urlencoded", false: "application/json"}[t.Form])
		}
	}
	req, err := http.NewRequestWithContext(ctx, t.Method, addr, in)
	if err != nil {
		// Its text would quote the address, and with it the credential.
		return nil, kb.Errorf(kb.Invalid, "the arguments of %s make no address", t.Code).
			WithHint("check what stands in its path")
	}
	base, err := url.Parse(p.BaseURL)
	if err != nil || req.URL.Host != base.Host || req.URL.Scheme != base.Scheme {
		return nil, kb.Errorf(kb.Denied, "the arguments of %s lead to another host", t.Code).
			WithHint("check what stands in its path")
	}
	if d.header.Get("Accept") == "" {
		d.header.Set("Accept", "application/json, text/*;q=0.8, */*;q=0.1")
	}
	req.Header = d.header
	return req, nil
}

// draft is a request whose arguments are being placed.
type draft struct {
	path    string
	query   url.Values
	header  http.Header
	payload json.RawMessage // the whole body
	members []value         // of the body
}

func (d *draft) place(t *Tool, v value) error {
	name, in := v.param.Name, v.param.In
	hole := "{" + name + "}"
	if in == "" {
		in = map[bool]string{true: "body", false: "query"}[t.hasBody()]
	}
	for k, list := range d.query {
		for i, s := range list {
			if strings.Contains(s, hole) {
				d.query[k][i], in = strings.ReplaceAll(s, hole, text(v.json)), "done"
			}
		}
	}
	s := text(v.json)
	switch in {
	case "path":
		if s == "" || s == "." || s == ".." || strings.ContainsAny(s, "\x00\r\n") {
			return badArgument(name, "parameter %q cannot stand in a path as it is", name)
		}
		d.path = strings.ReplaceAll(d.path, hole, url.PathEscape(s))
	case "query":
		addQuery(d.query, v, t.Comma)
	case "header":
		if strings.ContainsAny(s, "\r\n\x00") {
			return badArgument(name, "parameter %q must be one line", name)
		}
		d.header.Set(name, s)
	case "payload":
		d.payload = v.json
	case "body":
		d.members = append(d.members, v)
	}
	return nil
}

// body returns the body, nil where the method has none.
func (d *draft) body(p *Provider, t *Tool, cred credentials) ([]byte, error) {
	switch {
	case !t.hasBody():
		return nil, nil
	case d.payload != nil:
		return d.payload, nil
	case t.Template != "":
		return t.fill(d.members)
	case !t.Form:
		return object(d.members), nil
	}
	form := url.Values{}
	for _, v := range d.members {
		addForm(form, v.param.Name, v.json)
	}
	if p.Auth.Type != AuthNone && p.Auth.In == InBody {
		form.Set(p.Auth.Name, cred[p.Auth.Secret])
	}
	return []byte(form.Encode()), nil
}

// names reports whether s has a hole for one of the tool's parameters.
func (t *Tool) names(s string) bool {
	return slices.ContainsFunc(pathParam.FindAllStringSubmatch(s, -1), func(m []string) bool { return t.Param(m[1]) != nil })
}

// authorise puts the credential into its place.
func authorise(p *Provider, t *Tool, header http.Header, query url.Values, body []byte, cred credentials) ([]byte, error) {
	a, secret := p.Auth, cred[p.Auth.Secret]
	switch {
	case a.Type == AuthNone:
	case a.Type == AuthBasic:
		if a.User != "" {
			secret = a.User + ":" + secret
		}
		header.Set(a.Name, "Basic "+base64.StdEncoding.EncodeToString([]byte(secret)))
	case a.In == InQuery:
		query.Set(a.Name, secret)
	case a.In == InBody:
		if t.Form {
			break // the form holds it
		}
		if !t.hasBody() {
			return nil, kb.Errorf(kb.Invalid, "%s is a %s and %s wants its credential in the body", t.Code, t.Method, p.Code).
				WithHint("a person must mend its definition: apiKeyLocation")
		}
		var m map[string]json.RawMessage
		if json.Unmarshal(body, &m) != nil || m == nil {
			return nil, kb.Errorf(kb.Invalid, "%s wants its credential in the body, which is no object", p.Code).
				WithHint("a person must mend its definition: apiKeyLocation")
		}
		m[a.Name] = mustJSON(secret)
		return mustJSON(m), nil
	case a.Type == AuthBearer:
		header.Set(a.Name, "Bearer "+secret)
	default:
		header.Set(a.Name, secret)
	}
	return body, nil
}

// addQuery adds an argument to a query: a list as p=a&p=b or p=a,b, an object as JSON.
func addQuery(q url.Values, v value, comma bool) {
	name := v.param.Name
	q.Del(name)
	var list []json.RawMessage
	if v.param.Type != Array || json.Unmarshal(v.json, &list) != nil {
		q.Set(name, text(v.json))
		return
	}
	words := make([]string, len(list))
	for i, x := range list {
		words[i] = text(x)
	}
	if comma {
		q.Set(name, strings.Join(words, ","))
		return
	}
	q[name] = words
}

// addForm adds a value to a form as most services read nesting: a[b]=c, a[0]=c.
func addForm(form url.Values, name string, v json.RawMessage) {
	var list []json.RawMessage
	var m map[string]json.RawMessage
	switch {
	case len(v) > 0 && v[0] == '[' && json.Unmarshal(v, &list) == nil:
		for i, x := range list {
			addForm(form, name+"["+strconv.Itoa(i)+"]", bytes.TrimSpace(x))
		}
	case len(v) > 0 && v[0] == '{' && json.Unmarshal(v, &m) == nil:
		for k, x := range m {
			addForm(form, name+"["+k+"]", bytes.TrimSpace(x))
		}
	case string(v) == "null":
	default:
		form.Set(name, text(v))
	}
}

// object makes a JSON object of the arguments, in the order of the parameters.
func object(values []value) []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, v := range values {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(mustJSON(v.param.Name))
		b.WriteByte(':')
		b.Write(v.json)
	}
	b.WriteByte('}')
	return b.Bytes()
}
