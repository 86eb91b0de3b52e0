// Package oauth gets the access tokens of declared APIs: with the credentials of
// the client, or with a refresh token that a person got by logging in, by the
// authorization code flow with PKCE on a loopback address (RFC 8252, RFC 7636) or
// by the device flow (RFC 8628). Addresses may come from an OpenID configuration.
//
// A token exists in this process and where a Store keeps it. No error, log line or
// reply quotes one: of what a token server answers only the code of its error is
// passed on, when it is one of RFC 6749's.
package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Store keeps the tokens of people who logged in.
type Store interface {
	// Load returns what was saved under a key, nil for nothing.
	Load(key string) ([]byte, error)
	Save(key string, value []byte) error
	Delete(key string) error
	// Known reports whether something is saved, without asking anybody.
	Known(key string) bool
}

// Tokens gets tokens. It is safe for concurrent use, and a restapi.Tokens.
type Tokens struct {
	Client func(*restapi.Provider) (restapi.Client, error) // the guarded one
	Store  Store

	mu    sync.Mutex
	kept  map[string]*kept
	found map[string]*discovery // by address
}

// kept is the token of one scheme of one API. Who holds mu asks for another.
type kept struct {
	mu    sync.Mutex
	token *oauth2.Token
}

// margin is how long before its end a token is not used any more.
const margin = 20 * time.Second

// most is the size of the longest reply of a token server that is read.
const most = 1 << 20

// key names the tokens of a scheme: another client, server or scope has others.
func key(p *restapi.Provider, a *restapi.Auth) string {
	o := a.OAuth
	sum := sha256.Sum256([]byte(strings.Join(append([]string{p.Code, a.Scheme, o.Flow, o.TokenURL, o.Discovery, o.ClientID}, o.Scopes...), "\x00")))
	return "oauth-" + p.Code + "-" + hex.EncodeToString(sum[:6])
}

func (t *Tokens) of(p *restapi.Provider, a *restapi.Auth) *kept {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept == nil {
		t.kept = map[string]*kept{}
	}
	k := key(p, a)
	if t.kept[k] == nil {
		t.kept[k] = &kept{}
	}
	return t.kept[k]
}

func fresh(tok *oauth2.Token) bool {
	return tok != nil && tok.AccessToken != "" && (tok.Expiry.IsZero() || time.Until(tok.Expiry) > margin)
}

// Ready implements restapi.Tokens.
func (t *Tokens) Ready(p *restapi.Provider, a *restapi.Auth) error {
	if a.OAuth.Flow == "clientCredentials" || t.Store.Known(key(p, a)) {
		return nil
	}
	return login(p, "nobody has logged in to "+p.Code)
}

// Drop implements restapi.Tokens.
func (t *Tokens) Drop(p *restapi.Provider, a *restapi.Auth, token string) bool {
	k := t.of(p, a)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.token == nil || k.token.AccessToken != token {
		return k.token != nil // another call has got a newer one
	}
	if a.OAuth.Flow != "clientCredentials" && k.token.RefreshToken == "" {
		return false
	}
	old := *k.token
	old.AccessToken, old.Expiry = "", time.Unix(1, 0)
	k.token = &old
	return true
}

// Token implements restapi.Tokens.
func (t *Tokens) Token(ctx context.Context, p *restapi.Provider, a *restapi.Auth, client restapi.OAuth, secret string) (string, error) {
	k := t.of(p, a)
	k.mu.Lock()
	defer k.mu.Unlock()
	if fresh(k.token) {
		return k.token.AccessToken, nil
	}
	ctx, at, err := t.endpoints(ctx, p, client)
	if err != nil {
		return "", err
	}
	if client.Flow == "clientCredentials" {
		c := clientcredentials.Config{ClientID: client.ClientID, ClientSecret: secret, TokenURL: at.Token, Scopes: client.Scopes}
		tok, err := c.Token(ctx)
		if err != nil {
			return "", t.refused(p, err, "check the id and the secret of the client, and its scopes")
		}
		k.token = tok
		return usable(p, tok)
	}
	old := k.token
	if old == nil || old.RefreshToken == "" && old.AccessToken == "" {
		if old, err = t.load(p, a); err != nil {
			return "", err
		}
		if fresh(old) && k.token == nil {
			k.token = old
			return usable(p, old)
		}
	}
	if old == nil || old.RefreshToken == "" {
		return "", login(p, "nobody has logged in to "+p.Code+", or the login has ended")
	}
	c := oauth2.Config{ClientID: client.ClientID, ClientSecret: secret, Scopes: client.Scopes, Endpoint: oauth2.Endpoint{TokenURL: at.Token}}
	tok, err := c.TokenSource(ctx, &oauth2.Token{RefreshToken: old.RefreshToken}).Token()
	if err != nil {
		if wrong, ok := errors.AsType[*oauth2.RetrieveError](err); ok && wrong.ErrorCode == "invalid_grant" {
			k.token = nil
			if err := t.Store.Delete(key(p, a)); err != nil {
				return "", err
			}
			return "", login(p, "the login to "+p.Code+" has ended")
		}
		return "", t.refused(p, err, "try again later")
	}
	k.token = tok
	if err := t.save(p, a, tok); err != nil {
		return "", err
	}
	return usable(p, tok)
}

func login(p *restapi.Provider, said string) error {
	return kb.Errorf(kb.Denied, "%s", said).WithHint("a person logs in with: knowledge api login %s", p.Code)
}

// usable returns an access token if it may stand in a header.
func usable(p *restapi.Provider, tok *oauth2.Token) (string, error) {
	s := tok.AccessToken
	if len(s) < 8 || len(s) > 16<<10 || strings.IndexFunc(s, func(c rune) bool { return c <= ' ' || c >= 0x7f }) >= 0 {
		return "", kb.Errorf(kb.Denied, "the token server of %s gives no token that can be used", p.Code).WithHint("a person can check with: knowledge api check")
	}
	if k := tok.Type(); k != "Bearer" {
		return "", kb.Errorf(kb.Unsupported, "the token server of %s gives tokens that are not sent as bearer", p.Code).WithHint("only bearer tokens are sent")
	}
	return s, nil
}

// codes are the errors of RFC 6749, 8628 and OpenID Connect that are passed on.
var codes = strings.Fields("invalid_request invalid_client invalid_grant unauthorized_client unsupported_grant_type invalid_scope " +
	"access_denied expired_token server_error temporarily_unavailable invalid_target consent_required login_required interaction_required")

// refused makes an error of what a token server answered. Its words are not
// passed on: they may quote what it was sent.
func (t *Tokens) refused(p *restapi.Provider, err error, hint string) error {
	if known, ok := errors.AsType[*kb.Error](err); ok {
		return known
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return kb.Errorf(kb.Away, "the token server of %s did not answer in time", p.Code).WithHint("try again later")
	}
	wrong, ok := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case ok && slices.Contains(codes, wrong.ErrorCode):
		return kb.Errorf(kb.Denied, "the token server of %s answered %s", p.Code, wrong.ErrorCode).WithHint("%s", hint)
	case ok && wrong.Response != nil && wrong.Response.StatusCode >= 500:
		return kb.Errorf(kb.Away, "the token server of %s failed with status %d", p.Code, wrong.Response.StatusCode).WithHint("try again later")
	case ok && wrong.Response != nil && wrong.Response.StatusCode != http.StatusOK:
		return kb.Errorf(kb.Denied, "the token server of %s answered with status %d", p.Code, wrong.Response.StatusCode).WithHint("%s", hint)
	}
	return kb.Errorf(kb.Away, "the token server of %s gave no token", p.Code).WithHint("a person can check tokenUrl of %s", p.Code)
}

// record is a token as it is kept.
type record struct {
	Access  string    `json:"access,omitempty"`
	Refresh string    `json:"refresh,omitempty"`
	Type    string    `json:"type,omitempty"`
	Until   time.Time `json:"until,omitzero"`
}

func (t *Tokens) load(p *restapi.Provider, a *restapi.Auth) (*oauth2.Token, error) {
	b, err := t.Store.Load(key(p, a))
	if err != nil || b == nil {
		return nil, err
	}
	var r record
	if json.Unmarshal(b, &r) != nil {
		return nil, login(p, "the kept login of "+p.Code+" cannot be read")
	}
	return &oauth2.Token{AccessToken: r.Access, RefreshToken: r.Refresh, TokenType: r.Type, Expiry: r.Until}, nil
}

func (t *Tokens) save(p *restapi.Provider, a *restapi.Auth, tok *oauth2.Token) error {
	b, err := json.Marshal(record{tok.AccessToken, tok.RefreshToken, tok.TokenType, tok.Expiry})
	if err != nil {
		return kb.Errorf(kb.Internal, "a token cannot be kept")
	}
	return t.Store.Save(key(p, a), b)
}

// discovery is what is read of an OpenID configuration or of RFC 8414.
type discovery struct {
	Issuer string `json:"issuer"`
	Token  string `json:"token_endpoint"`
	Auth   string `json:"authorization_endpoint"`
	Device string `json:"device_authorization_endpoint"`
	Revoke string `json:"revocation_endpoint"`
}

// endpoints returns where tokens are had, and a context whose requests go through
// the guard.
func (t *Tokens) endpoints(ctx context.Context, p *restapi.Provider, o restapi.OAuth) (context.Context, *discovery, error) {
	c, err := t.Client(p)
	if err != nil {
		return ctx, nil, err
	}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, &http.Client{
		Transport:     guarded{c},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	at := &discovery{Token: o.TokenURL, Auth: o.AuthURL, Device: o.DeviceURL, Revoke: o.RevokeURL}
	if o.Discovery != "" {
		found, err := t.discover(ctx, c, p, o.Discovery)
		if err != nil {
			return ctx, nil, err
		}
		for _, m := range []struct {
			mine  *string
			found string
		}{{&at.Token, found.Token}, {&at.Auth, found.Auth}, {&at.Device, found.Device}, {&at.Revoke, found.Revoke}} {
			if *m.mine == "" {
				*m.mine = m.found
			}
		}
	}
	for _, addr := range []string{at.Token, at.Auth, at.Device, at.Revoke} {
		if err := safe(p, addr); err != nil {
			return ctx, nil, err
		}
	}
	if at.Token == "" {
		return ctx, nil, kb.Errorf(kb.Invalid, "%s names no token server", p.Code).WithHint("a person gives it tokenUrl")
	}
	return ctx, at, nil
}

// safe refuses addresses that secrets may not go to: those without TLS, but for this
// machine's own.
func safe(p *restapi.Provider, addr string) error {
	if addr == "" {
		return nil
	}
	u, err := url.Parse(addr)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return kb.Errorf(kb.Invalid, "an address of the token server of %s is none", p.Code).WithHint("a person corrects it in %s", p.File)
	}
	if h := u.Hostname(); u.Scheme == "https" || u.Scheme == "http" && (h == "127.0.0.1" || h == "::1" || h == "localhost") {
		return nil
	}
	return kb.Errorf(kb.Denied, "the token server of %s is asked over https alone, and %q is not", p.Code, u.Scheme+"://"+u.Host).
		WithHint("a person corrects it in %s", p.File)
}

const wellKnown = "/.well-known/openid-configuration"

// discover reads an OpenID configuration. Its issuer must be where it was read:
// OpenID Connect Discovery 1.0, section 4.3.
func (t *Tokens) discover(ctx context.Context, c restapi.Client, p *restapi.Provider, addr string) (*discovery, error) {
	t.mu.Lock()
	d := t.found[addr]
	t.mu.Unlock()
	if d != nil {
		return d, nil
	}
	if err := safe(p, addr); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, addr, nil)
	if err != nil {
		return nil, kb.Errorf(kb.Invalid, "openIdUrl of %s is no address", p.Code).WithHint("a person corrects it")
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.Once(ctx, req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, most))
	if err != nil || resp.StatusCode != http.StatusOK {
		return nil, kb.Errorf(kb.Away, "the OpenID configuration of %s cannot be had (status %d)", p.Code, resp.StatusCode).WithHint("try again later, or give tokenUrl")
	}
	d = &discovery{}
	if json.Unmarshal(b, d) != nil || d.Token == "" {
		return nil, kb.Errorf(kb.Invalid, "the OpenID configuration of %s is none", p.Code).WithHint("check openIdUrl, or give tokenUrl")
	}
	if issuer, ok := strings.CutSuffix(addr, wellKnown); ok && strings.TrimRight(d.Issuer, "/") != strings.TrimRight(issuer, "/") {
		return nil, kb.Errorf(kb.Denied, "the OpenID configuration of %s is another issuer's", p.Code).WithHint("check openIdUrl")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.found == nil {
		t.found = map[string]*discovery{}
	}
	t.found[addr] = d
	return d, nil
}

// guarded sends requests through the guard, without following redirects: a token
// server has no reason for one, and secrets are in the body.
type guarded struct{ c restapi.Client }

func (g guarded) RoundTrip(r *http.Request) (*http.Response, error) { return g.c.Once(r.Context(), r) }
