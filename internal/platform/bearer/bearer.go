// Package bearer judges access tokens of OAuth that requests carry, for servers
// whose tokens somebody else gives out. What a token server says of a token (RFC
// 7662) holds for a while and no longer, so that one that was revoked is refused
// soon; a token that is signed (a JWT, RFC 9068) can be judged by the server's keys
// instead, which are fetched anew as often. A server that cannot be asked lets
// nobody in whose token it has not vouched for.
package bearer

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

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
)

// WellKnown is where clients read which token server's tokens are taken (RFC 9728,
// section 3.1); the path of the resource follows.
const WellKnown = "/.well-known/oauth-protected-resource"

// Config says which tokens are taken.
type Config struct {
	Issuer        string   // of the tokens
	Resource      string   // the address that they must be meant for
	Introspection string   // where the issuer is asked; "" is what its metadata says
	ClientID      string   // by which the issuer knows this program
	Secret        string   // with which it proves that
	Scopes        []string // all of which a token must have
	// Keys has signed tokens judged by the issuer's keys, without asking it about each.
	Keys bool
	// Holds is how long what is known of a token counts; 0 is a minute.
	Holds     time.Duration
	UserAgent string
}

// Server is a token server whose tokens are taken. It is safe for concurrent use.
type Server struct {
	Config
	client *outbound.Client
	keys   *keys
	now    func() time.Time

	mu    sync.Mutex
	meta  *metadata // nil until it was read
	known map[[sha256.Size]byte]Verdict
}

// metadata is what an issuer says of itself (RFC 8414).
type metadata struct {
	Issuer        string
	Introspection string `json:"introspection_endpoint"`
	Keys          string `json:"jwks_uri"`
}

// Verdict is what is known of a token.
type Verdict struct {
	Err    *kb.Error // nil is taken
	Lacks  bool      // it is valid and allows too little
	Claims map[string]any
	Till   time.Time // how long this counts
}

// The bounds of what is remembered of tokens.
const (
	verdictHolds = time.Minute
	refusalHolds = 10 * time.Second
	mostVerdicts = 1000
	maxToken     = 16 << 10
)

// New returns the token server of an issuer. It asks nothing yet.
func New(c Config) (*Server, error) {
	if c.Holds == 0 {
		c.Holds = verdictHolds
	}
	s := &Server{Config: c, known: map[[sha256.Size]byte]Verdict{}, now: time.Now}
	var allow []string
	for _, a := range []string{c.Issuer, c.Introspection} {
		if u, err := url.Parse(a); err == nil && u.Host != "" {
			allow = append(allow, u.Host) // the word of who configured it
		}
	}
	var err error
	s.client, err = outbound.New(outbound.Policy{Allow: allow, MaxBytes: 256 << 10, Timeout: 10 * time.Second, UserAgent: c.UserAgent})
	s.keys = &keys{server: s}
	return s, err
}

// About answers with the metadata of the protected resource.
func (s *Server) About(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", "*") // it is for everybody
	b, err := json.Marshal(map[string]any{
		"resource": s.Resource, "authorization_servers": []string{s.Issuer}, "scopes_supported": append([]string{}, s.Scopes...),
		"bearer_methods_supported": []string{"header"}, "resource_name": "knowledge",
	})
	if err == nil {
		w.Write(b) // a client that is gone needs no answer
	}
}

// Challenge says where the metadata is (RFC 9728, section 5.1), and what was wrong.
func (s *Server) Challenge(v Verdict) string {
	u, err := url.Parse(s.Resource)
	if err != nil {
		return "Bearer"
	}
	u.Path = WellKnown + strings.TrimRight(u.Path, "/")
	text := `Bearer resource_metadata="` + u.String() + `"`
	if v.Lacks {
		text += `, error="insufficient_scope"`
	} else if v.Err != nil {
		text += `, error="invalid_token"`
	}
	if len(s.Scopes) > 0 {
		text += `, scope="` + strings.Join(s.Scopes, " ") + `"`
	}
	return text
}

// Token returns the bearer token of a request, "" when it has none.
func Token(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || len(token) > maxToken {
		return ""
	}
	return token
}

// Judge says whether a token is taken. What it says when ctx ends means nothing.
func (s *Server) Judge(ctx context.Context, token string) Verdict {
	key, now := sha256.Sum256([]byte(token)), s.now()
	s.mu.Lock()
	v, known := s.known[key]
	s.mu.Unlock()
	if known && now.Before(v.Till) {
		return v
	}
	if s.Keys && strings.Count(token, ".") == 2 {
		v = s.signed(ctx, token)
	} else {
		v = s.ask(ctx, token)
	}
	if ctx.Err() != nil {
		return v
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= mostVerdicts { // those whom somebody tried out go first
		for k, old := range s.known {
			if old.Err != nil || !now.Before(old.Till) {
				delete(s.known, k)
			}
		}
		if len(s.known) >= mostVerdicts {
			clear(s.known)
		}
	}
	s.known[key] = v
	return v
}

// refuse is the verdict on a token that is not taken.
func (s *Server) refuse(format string, args ...any) Verdict {
	return Verdict{Err: kb.Errorf(kb.Denied, format, args...).WithHint("log in again with the token server of this service"), Till: s.now().Add(refusalHolds)}
}

// away is the verdict while the token server cannot be asked.
func (s *Server) away() Verdict {
	return Verdict{Err: kb.Errorf(kb.Away, "the token server could not be asked about this token").WithHint("try again later"), Till: s.now().Add(time.Second)}
}

// judged is the verdict on a token by what is known of it, and at: when that was
// asked for.
func (s *Server) judged(at time.Time, claims map[string]any, aud []string, scope string, exp time.Time) Verdict {
	if !slices.ContainsFunc(aud, func(a string) bool { return same(a, s.Resource) }) { // RFC 8707
		return s.refuse("this token is meant for another service")
	}
	for _, want := range s.Scopes {
		if !slices.Contains(strings.Fields(scope), want) {
			v := s.refuse("this token does not allow %s", want)
			v.Lacks = true
			return v
		}
	}
	till := at.Add(s.Holds)
	if !exp.IsZero() && exp.Before(till) {
		till = exp
	}
	return Verdict{Claims: claims, Till: till}
}

// same reports whether two addresses are one, with or without a slash at the end.
func same(a, b string) bool { return strings.TrimRight(a, "/") == strings.TrimRight(b, "/") }

// ask asks the token server (RFC 7662, section 2.2).
func (s *Server) ask(ctx context.Context, token string) Verdict {
	now := s.now()
	var raw json.RawMessage
	if err := s.post(ctx, token, &raw); err != nil {
		return s.away()
	}
	var said struct {
		Active   bool
		Scope    string
		Iss      string
		Exp, Nbf int64
		Aud      list
	}
	var claims map[string]any
	if json.Unmarshal(raw, &said) != nil || json.Unmarshal(raw, &claims) != nil {
		return s.away()
	}
	switch {
	case !said.Active || said.Exp != 0 && now.Unix() >= said.Exp || said.Nbf != 0 && now.Unix() < said.Nbf:
		return s.refuse("this token is not valid, or not any more")
	case said.Iss != "" && !same(said.Iss, s.Issuer):
		return s.refuse("this token is another token server's")
	}
	var exp time.Time
	if said.Exp != 0 {
		exp = time.Unix(said.Exp, 0)
	}
	return s.judged(now, claims, said.Aud, said.Scope, exp)
}

// list is a text or several, as JWTs have it. Anything else is none.
type list []string

// UnmarshalJSON reads either.
func (l *list) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*l = list{one}
	} else if json.Unmarshal(b, (*[]string)(l)) != nil {
		*l = nil
	}
	return nil
}

func (s *Server) post(ctx context.Context, token string, into any) error {
	meta, err := s.about(ctx)
	if err != nil {
		return err
	}
	if meta.Introspection == "" {
		return kb.Errorf(kb.NotFound, "%s does not say where tokens are asked about", s.Issuer).WithHint("write it into the configuration file: mcp: {introspection: https://…}")
	}
	form := url.Values{"token": {token}, "token_type_hint": {"access_token"}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, meta.Introspection, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if s.ClientID != "" {
		req.SetBasicAuth(url.QueryEscape(s.ClientID), url.QueryEscape(s.Secret)) // RFC 6749, section 2.3.1
	}
	return s.read(req, into)
}

func (s *Server) get(ctx context.Context, address string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	return s.read(req, into)
}

func (s *Server) read(req *http.Request, into any) error {
	req.Header.Set("Accept", "application/json")
	resp, err := s.client.Once(req.Context(), req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(into)
}

// about returns the issuer's metadata (RFC 8414, section 3, or OpenID's), with what
// the configuration says in its place.
func (s *Server) about(ctx context.Context) (*metadata, error) {
	s.mu.Lock()
	meta := s.meta
	s.mu.Unlock()
	if meta != nil {
		return meta, nil
	}
	if s.Introspection != "" && !s.Keys {
		return &metadata{Issuer: s.Issuer, Introspection: s.Introspection}, nil
	}
	u, err := url.Parse(s.Issuer)
	if err != nil {
		return nil, err
	}
	path := strings.TrimRight(u.Path, "/")
	for _, p := range []string{"/.well-known/oauth-authorization-server" + path, path + "/.well-known/openid-configuration"} {
		u.Path = p
		meta := &metadata{}
		if s.get(ctx, u.String(), meta) != nil || !same(meta.Issuer, s.Issuer) {
			continue
		}
		for _, at := range []*string{&meta.Introspection, &meta.Keys} {
			if to, err := url.Parse(*at); err != nil || to.Scheme != u.Scheme {
				*at = ""
			}
		}
		if s.Introspection != "" {
			meta.Introspection = s.Introspection
		}
		if meta.Introspection == "" && meta.Keys == "" {
			continue
		}
		s.mu.Lock()
		s.meta = meta
		s.mu.Unlock()
		return meta, nil
	}
	return nil, kb.Errorf(kb.Away, "%s says nothing of itself", s.Issuer).WithHint("check mcp.issuer in the configuration file")
}
