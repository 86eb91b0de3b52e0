package mcpserver

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
)

// aboutResource is where clients read which token server's tokens are taken (RFC
// 9728, section 3.1).
const aboutResource = "/.well-known/oauth-protected-resource"

// WellKnown are the paths beside Path that Handler serves.
var WellKnown = []string{aboutResource, aboutResource + Path}

// tokenServer is a token server whose tokens are taken. It is asked about each (RFC
// 7662), and what it says holds for a minute at most.
type tokenServer struct {
	config.MCP
	secret string
	client *outbound.Client

	mu       sync.Mutex
	endpoint string // where it is asked
	known    map[[sha256.Size]byte]verdict
}

// verdict is what is known of a token.
type verdict struct {
	err   *kb.Error // nil is taken
	lacks bool      // it is valid and allows too little
	till  time.Time
}

// The bounds of what is remembered of tokens.
const (
	verdictHolds = time.Minute
	refusalHolds = 10 * time.Second
	mostVerdicts = 1000
)

// tokensOf returns the token server of the configuration, nil when there is none.
func tokensOf(a *app.App) (*tokenServer, error) {
	file, err := config.Load(a.Config.Env)
	if err != nil || file.MCP.Issuer == "" {
		return nil, err
	}
	t := &tokenServer{MCP: file.MCP, endpoint: file.MCP.Introspection, known: map[[sha256.Size]byte]verdict{}}
	if t.Resource == "" {
		return nil, kb.Errorf(kb.Invalid, "mcp.issuer is set, and mcp.resource is not").
			WithHint("write the address that clients know /mcp by into the configuration file: mcp: {resource: https://kb.example.org/mcp}")
	}
	if t.SecretEnv != "" {
		if t.secret = a.Config.Env(t.SecretEnv); t.secret == "" {
			return nil, kb.Errorf(kb.Denied, "the variable %s, which mcp.clientSecret names, is not set", t.SecretEnv).
				WithHint("set it where this program starts")
		}
	}
	var allow []string
	for _, s := range []string{t.Issuer, t.Introspection} {
		if u, err := url.Parse(s); err == nil && u.Host != "" {
			allow = append(allow, u.Host) // the user's own word
		}
	}
	t.client, err = outbound.New(outbound.Policy{Allow: allow, MaxBytes: 256 << 10, Timeout: 10 * time.Second, UserAgent: "knowledge/" + a.Config.Version})
	return t, err
}

// about is the metadata of the protected resource.
func (t *tokenServer) about(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", "*") // it is for everybody
	b, err := json.Marshal(map[string]any{
		"resource": t.Resource, "authorization_servers": []string{t.Issuer}, "scopes_supported": append([]string{}, t.Scopes...),
		"bearer_methods_supported": []string{"header"}, "resource_name": "knowledge",
	})
	if err == nil {
		w.Write(b) // a client that is gone needs no answer
	}
}

// challenge says where the metadata is (RFC 9728, section 5.1), and what was wrong.
func (t *tokenServer) challenge(v verdict) string {
	u, err := url.Parse(t.Resource)
	if err != nil {
		return "Bearer"
	}
	u.Path = aboutResource + strings.TrimRight(u.Path, "/")
	s := `Bearer resource_metadata="` + u.String() + `"`
	if v.lacks {
		s += `, error="insufficient_scope"`
	} else if v.err != nil {
		s += `, error="invalid_token"`
	}
	if len(t.Scopes) > 0 {
		s += `, scope="` + strings.Join(t.Scopes, " ") + `"`
	}
	return s
}

// judge says whether the token of a request is taken; ok is false when it has none.
func (t *tokenServer) judge(r *http.Request) (v verdict, ok bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > 16<<10 {
		return verdict{}, false
	}
	key, now := sha256.Sum256([]byte(token)), time.Now()
	t.mu.Lock()
	v, known := t.known[key]
	t.mu.Unlock()
	if known && now.Before(v.till) {
		return v, true
	}
	v = t.ask(r.Context(), token)
	if r.Context().Err() != nil {
		return v, true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.known) >= mostVerdicts {
		clear(t.known)
	}
	t.known[key] = v
	return v, true
}

// introspected is what a token server says of a token (RFC 7662, section 2.2).
type introspected struct {
	Active   bool
	Scope    string
	Iss      string
	Exp, Nbf int64
	Aud      json.RawMessage // a text or a list of them
}

// ask asks the token server. That it cannot be asked lets nobody in.
func (t *tokenServer) ask(ctx context.Context, token string) verdict {
	now := time.Now()
	no := func(format string, args ...any) verdict {
		return verdict{err: kb.Errorf(kb.Denied, format, args...).WithHint("log in again with the token server of this service"), till: now.Add(refusalHolds)}
	}
	var said introspected
	if err := t.post(ctx, token, &said); err != nil {
		return verdict{err: kb.Errorf(kb.Away, "the token server could not be asked about this token").WithHint("try again later"), till: now.Add(time.Second)}
	}
	switch {
	case !said.Active || said.Exp != 0 && now.Unix() >= said.Exp || said.Nbf != 0 && now.Unix() < said.Nbf:
		return no("this token is not valid, or not any more")
	case said.Iss != "" && strings.TrimRight(said.Iss, "/") != strings.TrimRight(t.Issuer, "/"):
		return no("this token is another token server's")
	case !audience(said.Aud, t.Resource):
		return no("this token is meant for another service")
	}
	for _, s := range t.Scopes {
		if !slices.Contains(strings.Fields(said.Scope), s) {
			v := no("this token does not allow %s", s)
			v.lacks = true
			return v
		}
	}
	till := now.Add(verdictHolds)
	if end := time.Unix(said.Exp, 0); said.Exp != 0 && end.Before(till) {
		till = end
	}
	return verdict{till: till}
}

// audience reports whether a token is for a resource (RFC 8707): one that names no
// audience is not.
func audience(aud json.RawMessage, resource string) bool {
	var list []string
	var one string
	if json.Unmarshal(aud, &one) == nil {
		list = []string{one}
	} else if json.Unmarshal(aud, &list) != nil {
		return false
	}
	return slices.ContainsFunc(list, func(s string) bool { return strings.TrimRight(s, "/") == strings.TrimRight(resource, "/") })
}

func (t *tokenServer) post(ctx context.Context, token string, into any) error {
	where, err := t.where(ctx)
	if err != nil {
		return err
	}
	form := url.Values{"token": {token}, "token_type_hint": {"access_token"}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, where, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if t.ClientID != "" {
		req.SetBasicAuth(url.QueryEscape(t.ClientID), url.QueryEscape(t.secret)) // RFC 6749, section 2.3.1
	}
	return t.read(req, into)
}

func (t *tokenServer) read(req *http.Request, into any) error {
	resp, err := t.client.Once(req.Context(), req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(into)
}

// where returns the address at which tokens are asked about: that of the
// configuration, or of the issuer's metadata (RFC 8414, section 3, or OpenID's).
func (t *tokenServer) where(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.endpoint != "" {
		return t.endpoint, nil
	}
	u, err := url.Parse(t.Issuer)
	if err != nil {
		return "", err
	}
	path := strings.TrimRight(u.Path, "/")
	for _, p := range []string{"/.well-known/oauth-authorization-server" + path, path + "/.well-known/openid-configuration"} {
		u.Path = p
		var meta struct {
			Issuer   string
			Endpoint string `json:"introspection_endpoint"`
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return "", err
		}
		if t.read(req, &meta) != nil || meta.Endpoint == "" || strings.TrimRight(meta.Issuer, "/") != strings.TrimRight(t.Issuer, "/") {
			continue
		}
		if to, err := url.Parse(meta.Endpoint); err == nil && to.Scheme == u.Scheme {
			t.endpoint = meta.Endpoint
			return t.endpoint, nil
		}
	}
	return "", kb.Errorf(kb.NotFound, "%s does not say where tokens are asked about", t.Issuer).WithHint("write it into the configuration file: mcp: {introspection: https://…}")
}
