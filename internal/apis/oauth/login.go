package oauth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// loginTime is how long a person has to log in.
const loginTime = 5 * time.Minute

// Login lets a person log in and keeps the tokens. say is called with what the
// person is to do: the address to open, or the code to enter.
func (t *Tokens) Login(ctx context.Context, p *restapi.Provider, a *restapi.Auth, client restapi.OAuth, secret string, device bool, say func(string)) error {
	ctx, cancel := context.WithTimeout(ctx, loginTime)
	defer cancel()
	ctx, at, err := t.endpoints(ctx, p, client)
	if err != nil {
		return err
	}
	c := &oauth2.Config{
		ClientID: client.ClientID, ClientSecret: secret, Scopes: client.Scopes,
		Endpoint: oauth2.Endpoint{AuthURL: at.Auth, TokenURL: at.Token, DeviceAuthURL: at.Device},
	}
	var tok *oauth2.Token
	if device || client.Flow == "deviceCode" {
		tok, err = t.device(ctx, p, c, say)
	} else {
		tok, err = t.browser(ctx, p, c, say)
	}
	if err != nil {
		return err
	}
	if _, err := usable(p, tok); err != nil {
		return err
	}
	k := t.of(p, a)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.token = tok
	return t.save(p, a, tok)
}

func (t *Tokens) device(ctx context.Context, p *restapi.Provider, c *oauth2.Config, say func(string)) (*oauth2.Token, error) {
	if c.Endpoint.DeviceAuthURL == "" {
		return nil, kb.Errorf(kb.Unsupported, "%s has no device flow", p.Code).WithHint("log in without --device, or give it deviceUrl")
	}
	d, err := c.DeviceAuth(ctx)
	if err != nil {
		return nil, t.refused(p, err, "check the id of the client")
	}
	if err := safe(p, d.VerificationURI); err != nil || d.VerificationURI == "" {
		return nil, kb.Errorf(kb.Denied, "%s names no address to enter a code at", p.Code).WithHint("log in without --device")
	}
	say(fmt.Sprintf("open %s and enter the code %s", kb.Clip(d.VerificationURI, 300), kb.Clip(d.UserCode, 40)))
	tok, err := c.DeviceAccessToken(ctx, d)
	if err != nil {
		return nil, t.refused(p, err, "begin again with: knowledge api login "+p.Code)
	}
	return tok, nil
}

// browser has a person log in in a browser, which comes back to a port of
// loopback with the code; PKCE makes it worthless to others.
func (t *Tokens) browser(ctx context.Context, p *restapi.Provider, c *oauth2.Config, say func(string)) (*oauth2.Token, error) {
	if c.Endpoint.AuthURL == "" {
		return nil, kb.Errorf(kb.Unsupported, "%s names no page to log in at", p.Code).WithHint("give it authorizationUrl, or log in with --device")
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, kb.Errorf(kb.Denied, "no port of this machine can be listened at: %w", err).WithHint("log in with --device")
	}
	c.RedirectURL = "http://" + ln.Addr().String() + "/callback"
	state, verifier := rand.Text(), oauth2.GenerateVerifier()
	codes := make(chan url.Values, 1)
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Referrer-Policy", "no-referrer")
		q := r.URL.Query()
		if r.URL.Path != "/callback" || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) != 1 {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		said := "You are logged in to " + p.Code + ". This page can be closed."
		if q.Get("code") == "" {
			said = "The login to " + p.Code + " was refused. This page can be closed."
		}
		io.WriteString(w, "<!doctype html><title>knowledge</title><p>"+html.EscapeString(said)) // a browser that is gone needs no answer
		select {
		case codes <- q:
		default:
		}
	})}
	done := make(chan struct{})
	go func() { defer close(done); server.Serve(ln) }()
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if server.Shutdown(end) != nil { // a browser that holds its connection
			server.Close()
		}
		<-done
	}()
	say("open this address in a browser on this machine and log in:\n" + c.AuthCodeURL(state, oauth2.AccessTypeOffline, oauth2.S256ChallengeOption(verifier)))
	select {
	case <-ctx.Done():
		return nil, kb.Errorf(kb.Away, "nobody logged in to %s", p.Code).WithHint("begin again with: knowledge api login %s", p.Code)
	case q := <-codes:
		if q.Get("code") == "" {
			return nil, kb.Errorf(kb.Denied, "the login to %s was refused", p.Code).WithHint("begin again with: knowledge api login %s", p.Code)
		}
		tok, err := c.Exchange(ctx, q.Get("code"), oauth2.VerifierOption(verifier))
		if err != nil {
			return nil, t.refused(p, err, "begin again with: knowledge api login "+p.Code)
		}
		return tok, nil
	}
}

// Logout gives back the tokens of a login: the server is told, where it says how
// (RFC 7009), and what was kept is deleted. It reports whether there was a login
// and whether the server took it back.
func (t *Tokens) Logout(ctx context.Context, p *restapi.Provider, a *restapi.Auth, client restapi.OAuth, secret string) (was, revoked bool, err error) {
	k := t.of(p, a)
	k.mu.Lock()
	defer k.mu.Unlock()
	tok, err := t.load(p, a)
	k.token = nil
	if e := t.Store.Delete(key(p, a)); e != nil {
		return false, false, e
	}
	if err != nil || tok == nil {
		return false, false, nil
	}
	c, err := t.Client(p)
	if err != nil {
		return true, false, nil
	}
	_, at, err := t.endpoints(ctx, p, client)
	if err != nil || at.Revoke == "" {
		return true, false, nil
	}
	for _, one := range []struct{ token, hint string }{{tok.RefreshToken, "refresh_token"}, {tok.AccessToken, "access_token"}} {
		if one.token == "" {
			continue
		}
		form := url.Values{"token": {one.token}, "token_type_hint": {one.hint}, "client_id": {client.ClientID}}
		if secret != "" {
			form.Set("client_secret", secret)
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.Revoke, strings.NewReader(form.Encode()))
		if err != nil {
			return true, false, nil
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := c.Once(ctx, req)
		if err != nil {
			return true, false, nil
		}
		resp.Body.Close()
		revoked = resp.StatusCode == http.StatusOK
	}
	return true, revoked, nil
}
