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
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// credentials are the resolved secrets of one call, and how they are used.
type credentials struct {
	auths  []*Auth
	refs   map[Ref]string
	tokens map[*Auth]string
}

// of returns the secret of one scheme.
func (c credentials) of(a *Auth) string {
	if t, ok := c.tokens[a]; ok {
		return t
	}
	return c.refs[a.Secret]
}

// replaces reports whether a credential takes the place of an argument.
func (c credentials) replaces(p *Param, t *Tool) bool {
	return slices.ContainsFunc(c.auths, func(a *Auth) bool {
		return a.Name == p.wire() && p.In != "path" && p.In != "header" && (a.In != InHeader) && (a.In != InCookie || p.In == "cookie")
	})
}

// build makes the request of a call. Credentials go in last, in place of any
// argument of the same name.
func (c *Caller) build(ctx context.Context, p *Provider, t *Tool, values []value, cred credentials) (*http.Request, error) {
	path, static, _ := strings.Cut(t.Path, "?")
	d := draft{path: path, header: http.Header{}}
	for part := range strings.SplitSeq(static, "&") {
		if part == "" {
			continue
		}
		k, v, _ := strings.Cut(part, "=")
		key, err1 := url.QueryUnescape(k)
		val, err2 := url.QueryUnescape(v)
		if err1 != nil || err2 != nil {
			return nil, kb.Errorf(kb.Invalid, "the query in the path of %s cannot be read", t.Code).
				WithHint("a person must mend its definition")
		}
		d.query = append(d.query, pair{key: key, atoms: []string{val}})
	}
	for _, v := range values {
		if cred.replaces(v.param, t) {
			continue
		}
		if err := d.place(t, v); err != nil {
			return nil, err
		}
	}
	d.query = slices.DeleteFunc(d.query, func(q pair) bool { // optional parameters that were left out
		return len(q.atoms) == 1 && pathParam.MatchString(q.atoms[0]) && t.names(q.atoms[0])
	})
	body, err := c.body(ctx, p, t, &d, cred)
	if err != nil {
		return nil, err
	}
	for _, h := range p.Headers {
		v := h.Value
		if h.Secret.Set() {
			v = cred.refs[h.Secret]
		}
		d.header.Set(h.Name, v)
	}
	for _, a := range cred.auths {
		if body, err = d.authorise(p, t, a, cred.of(a), body); err != nil {
			return nil, err
		}
	}
	req, err := d.request(ctx, p, t, body)
	for _, a := range cred.auths {
		if err == nil && a.Type == AuthAWS {
			err = a.sign(ctx, req, body, cred)
		}
	}
	return req, err
}

// draft is a request whose arguments are being placed.
type draft struct {
	path    string
	query   []pair
	raw     []string // parts of the query that are encoded already
	header  http.Header
	cookies []string
	payload json.RawMessage // the whole body
	members []value         // of the body
}

// request makes the request of what has been placed.
func (d *draft) request(ctx context.Context, p *Provider, t *Tool, body []byte) (*http.Request, error) {
	for part := range strings.SplitSeq(d.path, "/") {
		if part == "." || part == ".." {
			return nil, badArgument("", "an argument of %s cannot stand in a path as it is", t.Code)
		}
	}
	addr := t.base(p) + d.path
	var words []string
	for _, q := range d.query {
		words = append(words, q.query(false))
	}
	words = append(words, d.raw...)
	if len(words) > 0 {
		addr += "?" + strings.Join(words, "&")
	}
	if len(d.cookies) > 0 {
		d.header.Set("Cookie", strings.Join(d.cookies, "; "))
	}
	var in io.Reader
	if body != nil {
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
	base, err := url.Parse(t.base(p))
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

// place puts an argument where it belongs.
func (d *draft) place(t *Tool, v value) error {
	p := v.param
	name, in := p.wire(), p.In
	hole := "{" + name + "}"
	if in == "" {
		in = map[bool]string{true: "body", false: "query"}[t.hasBody()]
	}
	for i := range d.query {
		if s := d.query[i].atoms[0]; strings.Contains(s, hole) {
			d.query[i].atoms[0], in = strings.ReplaceAll(s, hole, text(v.json)), "done"
		}
	}
	switch in {
	case "path":
		s := inPath(p.Style, p.exploded(), name, v.json)
		if p.Media != "" {
			s = escape(p.content(v.json), false)
		}
		if raw := text(v.json); s == "" || raw == "." || raw == ".." || strings.ContainsAny(raw, "\x00\r\n") {
			return badArgument(p.Name, "parameter %q cannot stand in a path as it is", p.Name)
		}
		d.path = strings.ReplaceAll(d.path, hole, s)
	case "query":
		d.query = slices.DeleteFunc(d.query, func(q pair) bool { return q.key == name })
		if p.Media != "" {
			d.raw = append(d.raw, pair{key: name, atoms: []string{p.content(v.json)}}.query(p.Reserved))
			break
		}
		laid := v.json
		if p.Style == "" && p.Explode == nil && kindOf(laid) == '{' {
			laid = mustJSON(compact(laid)) // as recipes mean it
		}
		for _, q := range pairs(p.Style, p.exploded() && !t.Comma, name, laid) {
			d.raw = append(d.raw, q.query(p.Reserved))
		}
	case "header":
		s := inHeader(p.Explode != nil && *p.Explode, v.json)
		if p.Media != "" {
			s = p.content(v.json)
		}
		if strings.ContainsAny(s, "\r\n\x00") {
			return badArgument(p.Name, "parameter %q must be one line", p.Name)
		}
		if s != "" || kindOf(v.json) == '"' {
			d.header.Set(name, s)
		}
	case "cookie":
		return d.cookie(p, v.json)
	case "payload":
		d.payload = v.json
	case "body", selectPlace:
		d.members = append(d.members, v)
	}
	return nil
}

// cookie adds an argument to the cookies: of the style form it is encoded, of the
// style cookie and as content it must be fit for a cookie as it is.
func (d *draft) cookie(p *Param, v json.RawMessage) error {
	list := pairs(p.Style, p.exploded(), p.wire(), v)
	if p.Media != "" {
		list = []pair{{key: p.wire(), atoms: []string{p.content(v)}}}
	}
	for _, q := range list {
		word := q.query(false)
		if p.Style == "cookie" || p.Media != "" {
			if word = strings.Join(q.atoms, ","); !cookieSafe(word) {
				return badArgument(p.Name, "parameter %q cannot stand in a cookie as it is", p.Name)
			}
			word = q.key + "=" + word
		}
		d.cookies = append(d.cookies, word)
	}
	return nil
}

// content writes a value by the media type of its parameter.
func (p *Param) content(v json.RawMessage) string {
	if isJSONMedia(p.Media) {
		return compact(v)
	}
	return text(v)
}

// names reports whether s has a hole for one of the tool's parameters.
func (t *Tool) names(s string) bool {
	return slices.ContainsFunc(pathParam.FindAllStringSubmatch(s, -1), func(m []string) bool { return t.Param(m[1]) != nil })
}

// authorise puts a credential into its place.
func (d *draft) authorise(p *Provider, t *Tool, a *Auth, secret string, body []byte) ([]byte, error) {
	switch {
	case a.Type == AuthNone, a.Type == AuthTLS, a.Type == AuthAWS: // that signs what is complete
	case a.Type == AuthBasic:
		if a.User != "" {
			secret = a.User + ":" + secret
		}
		d.header.Set(a.Name, "Basic "+base64.StdEncoding.EncodeToString([]byte(secret)))
	case a.In == InQuery:
		d.raw = append(d.raw, pair{key: a.Name, atoms: []string{secret}}.query(false))
	case a.In == InCookie:
		if !cookieSafe(secret) {
			secret = escape(secret, false)
		}
		d.cookies = append(d.cookies, a.Name+"="+secret)
	case a.In == InBody:
		return inBody(p, t, a, secret, body)
	case a.Type == AuthBearer, a.Type == AuthOAuth:
		d.header.Set(a.Name, "Bearer "+secret)
	default:
		d.header.Set(a.Name, secret)
	}
	return body, nil
}

// inBody puts a credential into a body.
func inBody(p *Provider, t *Tool, a *Auth, secret string, body []byte) ([]byte, error) {
	if t.Form {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, kb.Errorf(kb.Invalid, "the form of %s cannot be read", t.Code).WithHint("a person must mend its definition")
		}
		form.Set(a.Name, secret)
		return []byte(form.Encode()), nil
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
}
