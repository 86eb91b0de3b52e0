package restapi

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"unicode/utf8"
)

// Request is one that would be sent: what stands for a credential is where it
// comes from.
type Request struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
}

// Dry checks arguments and returns the request that Call would send. No secret is
// read and nothing is sent.
func (c *Caller) Dry(ctx context.Context, p *Provider, t *Tool, raw json.RawMessage) (*Request, error) {
	cred := credentials{refs: map[Ref]string{}, tokens: map[*Auth]string{}}
	for _, r := range p.Secrets() {
		cred.refs[r] = "[" + r.String() + "]"
	}
	cred.auths, _ = c.Secrets.choose(p, t, c.Tokens)
	if list := p.alternatives(t); cred.auths == nil && len(list) > 0 {
		cred.auths = list[0]
	}
	for _, a := range cred.auths {
		if a.Type == AuthOAuth {
			cred.tokens[a] = "[token of OAuth]"
		}
	}
	values, err := t.arguments(cred.auths, raw)
	if err != nil {
		return nil, err
	}
	scrub(values, nil)
	if p.Server != nil {
		return &Request{Method: t.Method, URL: p.BaseURL, Body: string(mustJSON(map[string]any{"name": t.Wire, "arguments": json.RawMessage(objectOf(values))}))}, nil
	}
	req, err := c.build(ctx, p, t, values, cred)
	if err != nil {
		return nil, err
	}
	out := &Request{Method: req.Method, URL: req.URL.String(), Headers: map[string]string{}}
	for _, k := range slices.Sorted(maps.Keys(req.Header)) {
		out.Headers[k] = req.Header.Get(k)
	}
	for _, a := range cred.auths {
		if a.In == InHeader && a.Type != AuthTLS {
			out.Headers[a.Name] = "[" + a.Type + " from " + a.Secret.String() + "]"
		}
	}
	if req.Body != nil {
		b, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		if out.Body = string(b); !utf8.ValidString(out.Body) {
			out.Body = "bytes that are no text"
		}
		out.Body = clip(out.Body, 4000)
	}
	return out, nil
}
