package apis

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/apis/oauth"
	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// loginsFile is the file of logins, in the data directory.
const loginsFile = "api-logins.json"

// tokensOf returns what gets tokens for what is declared now, nil when nothing of
// that needs one. The tokens themselves are kept from one reading of the files to
// the next.
func tokensOf(ctx context.Context, a *app.App, d *declared) (*oauth.Tokens, error) {
	if !slices.ContainsFunc(d.all, func(p *restapi.Provider) bool {
		return slices.ContainsFunc(append(p.Named(), &p.Auth), func(x *restapi.Auth) bool { return x.Type == restapi.AuthOAuth })
	}) {
		return nil, nil
	}
	s := apisOf(a)
	s.rights.Store(d)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokens == nil {
		c, err := a.Open(ctx)
		if err != nil {
			return nil, err
		}
		s.tokens = &oauth.Tokens{
			Client: func(p *restapi.Provider) (restapi.Client, error) { return apiClient(a, s.rights.Load())(p) },
			Store:  &oauth.Logins{Path: filepath.Join(c.Dir, loginsFile), NoKeyring: a.Config.Env("KNOWLEDGE_NO_KEYRING") != ""},
		}
	}
	return s.tokens, nil
}

// lender returns what lends tokens, nil for nothing.
func (d *declared) lender() restapi.Tokens {
	if d.tokens == nil {
		return nil
	}
	return d.tokens
}

type loginIn struct {
	Code   string `json:"code" arg:"1" help:"code of an API, as apis lists it"`
	Scheme string `json:"scheme,omitempty" help:"which of its schemes, when it has several"`
	Device bool   `json:"device,omitempty" help:"enter a code at an address instead of coming back to this machine"`
}

// oauthOf returns the scheme of an API that a person logs in with.
func oauthOf(ctx context.Context, a *app.App, in loginIn) (*declared, *restapi.Provider, *restapi.Auth, error) {
	d, err := declaredAPIs(ctx, a)
	if err != nil {
		return nil, nil, nil, err
	}
	var codes []string
	for _, p := range d.all {
		codes = append(codes, p.Code)
		if p.Code != in.Code {
			continue
		}
		var all []*restapi.Auth
		for _, x := range append([]*restapi.Auth{&p.Auth}, p.Named()...) {
			if x.Type == restapi.AuthOAuth && (in.Scheme == "" || x.Scheme == in.Scheme) {
				all = append(all, x)
			}
		}
		switch {
		case len(all) == 0:
			return nil, nil, nil, kb.Errorf(kb.Invalid, "%s has no scheme of OAuth to log in with", p.Code).
				WithHint("docs/apis.md shows how one is declared")
		case len(all) > 1:
			return nil, nil, nil, kb.Errorf(kb.Invalid, "%s has several schemes of OAuth", p.Code).WithHint("choose one: --scheme %s", all[0].Scheme)
		case all[0].OAuth.Flow == "clientCredentials" && !in.Device:
			return nil, nil, nil, kb.Errorf(kb.Invalid, "%s gets its tokens by itself, with the credentials of its client", p.Code).
				WithHint("call it")
		}
		return d, p, all[0], nil
	}
	return nil, nil, nil, kb.Errorf(kb.NotFound, "no API %q is declared", kb.Clip(in.Code, 60)).WithHint("declared are: %s", orNone(codes))
}

// clientOf returns what oauthOf does, with the credentials of the client.
func clientOf(ctx context.Context, a *app.App, in loginIn) (d *declared, p *restapi.Provider, x *restapi.Auth, client restapi.OAuth, secret string, err error) {
	if d, p, x, err = oauthOf(ctx, a, in); err == nil {
		client, secret, err = d.secrets.ClientOf(p, x)
	}
	return d, p, x, client, secret, err
}

// Login has a person log in to an API. say is told what the person is to do.
func Login(ctx context.Context, a *app.App, in loginIn, say func(string)) (string, error) {
	d, p, x, client, secret, err := clientOf(ctx, a, in)
	if err != nil {
		return "", err
	}
	if err := d.tokens.Login(ctx, p, x, client, secret, in.Device, say); err != nil {
		return "", err
	}
	where := "the keyring of this system"
	if l, ok := d.tokens.Store.(*oauth.Logins); ok && l.InFile() {
		where = l.Path + ", which only your user can read, since this system has no keyring"
	}
	return fmt.Sprintf("logged in to %s; the login is kept in %s", p.Code, where), nil
}

// Logout takes a login back.
func Logout(ctx context.Context, a *app.App, in loginIn) (string, error) {
	d, p, x, client, secret, err := clientOf(ctx, a, in)
	if err != nil {
		return "", err
	}
	was, revoked, err := d.tokens.Logout(ctx, p, x, client, secret)
	switch {
	case err != nil:
		return "", err
	case !was:
		return "nobody was logged in to " + p.Code, nil
	case revoked:
		return "logged out of " + p.Code + ", which took the login back", nil
	}
	return "logged out of " + p.Code + " here; whether the service still takes the login is not known", nil
}

// sayOnTerminal tells a person what to do while a command waits.
func sayOnTerminal(s string) { fmt.Fprintln(os.Stderr, strings.TrimSpace(s)) }
