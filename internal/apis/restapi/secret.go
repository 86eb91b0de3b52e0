package restapi

import (
	"context"
	"errors"
	"strings"

	"github.com/zalando/go-keyring"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Service is the name under which the keyring of the system keeps our entries.
const Service = "knowledge"

// Resolver finds the secrets that references name.
type Resolver struct {
	Env func(string) string
	// Entry reads an entry of the keyring; nil is the system's.
	Entry func(service, name string) (string, error)
	// Allowed says whether a reference may be used for a provider; nil allows all.
	Allowed func(p *Provider, r Ref) error
}

// minSecret is the length in bytes below which a value looks like ordinary
// text, so that it could not be kept out of replies.
const minSecret = 4

// resolve returns the secrets that a call of t needs: those of the first
// alternative of which every secret is there.
func (s *Resolver) resolve(ctx context.Context, p *Provider, t *Tool, tokens Tokens) (credentials, error) {
	c := credentials{refs: map[Ref]string{}, tokens: map[*Auth]string{}}
	for _, h := range p.carried() {
		if h.Secret.Set() {
			v, err := s.get(p, h.Secret)
			if err != nil {
				return c, err
			}
			c.refs[h.Secret] = v
		}
	}
	auths, err := s.choose(p, t, tokens)
	if err != nil {
		return c, err
	}
	c.auths = auths
	for _, a := range auths {
		if a.Secret.Set() {
			if c.refs[a.Secret], err = s.get(p, a.Secret); err != nil {
				return c, err
			}
		}
		for _, r := range a.others() {
			if a.Type == AuthAWS && r.Set() {
				if c.refs[r], err = s.get(p, r); err != nil {
					return c, err
				}
			}
		}
		if a.Type == AuthOAuth {
			client, _, err := s.ClientOf(p, a)
			if err != nil {
				return c, err
			}
			if c.tokens[a], err = tokens.Token(ctx, p, a, client, c.refs[a.Secret]); err != nil {
				return c, err
			}
		}
	}
	return c, nil
}

// ClientOf returns what a token server knows the client by, and its secret, "" for
// a public one.
func (s *Resolver) ClientOf(p *Provider, a *Auth) (client OAuth, secret string, err error) {
	client = *a.OAuth
	if r := a.client(); r.Set() {
		if client.ClientID, err = s.get(p, r); err != nil {
			return client, "", err
		}
	}
	if a.Secret.Set() {
		secret, err = s.get(p, a.Secret)
	}
	return client, secret, err
}

// Tokens gets access tokens of OAuth, for AuthOAuth.
type Tokens interface {
	// Token returns a token that is valid now. client has its id resolved, secret
	// is that of the client, "" for a public one. The errors quote no token.
	Token(ctx context.Context, p *Provider, a *Auth, client OAuth, secret string) (string, error)
	// Ready says without the network why there can be none, nil when there may be.
	Ready(p *Provider, a *Auth) error
	// Drop forgets a token that the service has refused and reports whether another
	// may be had.
	Drop(p *Provider, a *Auth, token string) bool
}

// choose returns the schemes of the first alternative that can be used. None is an
// alternative only where nothing else can be used.
func (s *Resolver) choose(p *Provider, t *Tool, tokens Tokens) ([]*Auth, error) {
	var first error
	none := false
	for _, all := range p.alternatives(t) {
		if len(all) == 0 {
			none = true
			continue
		}
		err := error(nil)
		for _, a := range all {
			if err == nil {
				err = s.usable(p, a, tokens)
			}
		}
		if err == nil {
			return all, nil
		}
		if first == nil {
			first = err
		}
	}
	if none {
		return nil, nil
	}
	return nil, first
}

// usable says why a scheme cannot be used. It uses neither the network nor the
// keyring, which may ask its user.
func (s *Resolver) usable(p *Provider, a *Auth, tokens Tokens) error {
	for _, r := range append(a.others(), a.Secret) {
		if !r.Set() {
			continue
		}
		err := s.allowed(p, r)
		if r.Keyring == "" {
			_, err = s.get(p, r)
		}
		if err != nil {
			return err
		}
	}
	if a.Type == AuthTLS && p.CertFile == "" {
		return kb.Errorf(kb.Denied, "%s needs a certificate of its client", p.Code).
			WithHint("a person gives it clientCertificate and clientKey in %s", p.File)
	}
	if a.Type != AuthOAuth {
		return nil
	}
	if tokens == nil {
		return kb.Errorf(kb.Unsupported, "%s needs a token of OAuth, and none can be had here", p.Code)
	}
	return tokens.Ready(p, a)
}

// Keyring reads an entry of the system's keyring.
func Keyring(service, name string) (string, error) { return keyring.Get(service, name) }

// Ready reports why p cannot be called, nil when nothing speaks against it. It uses
// neither the network nor the keyring, which may ask its user.
func (s *Resolver) Ready(p *Provider, tokens Tokens) error {
	for _, h := range p.carried() {
		if h.Secret.Set() && h.Secret.Keyring == "" {
			if _, err := s.get(p, h.Secret); err != nil {
				return err
			}
		}
	}
	_, err := s.choose(p, nil, tokens)
	return err
}

func (s *Resolver) allowed(p *Provider, r Ref) error {
	if s.Allowed == nil {
		return nil
	}
	return s.Allowed(p, r)
}

func (s *Resolver) get(p *Provider, r Ref) (string, error) {
	if err := s.allowed(p, r); err != nil {
		return "", err
	}
	var v string
	if r.Env != "" {
		if v = strings.TrimSpace(s.Env(r.Env)); v == "" {
			return "", kb.Errorf(kb.Denied, "the variable %s, which %s needs, is not set", r.Env, p.Code).
				WithHint("set it where this program starts; it holds the credential for %s", p.Host())
		}
	} else {
		read := s.Entry
		if read == nil {
			read = Keyring
		}
		entry, err := read(Service, r.Keyring)
		switch {
		case errors.Is(err, keyring.ErrNotFound):
			return "", kb.Errorf(kb.Denied, "the keyring has no entry %q, which %s needs", r.Keyring, p.Code).
				WithHint("add it for service %q and user %q, or name a variable instead: apiKeyValue: ${NAME}", Service, r.Keyring)
		case err != nil: // its words may hold anything
			return "", kb.Errorf(kb.Unsupported, "the keyring of this system cannot be read for %s", p.Code).
				WithHint("without a desktop session there often is none: name a variable instead, apiKeyValue: ${NAME}")
		}
		v = strings.TrimSpace(entry)
	}
	switch {
	case len(v) < minSecret:
		return "", kb.Errorf(kb.Denied, "what %s names for %s is too short for a credential", r, p.Code).
			WithHint("check its value")
	case strings.ContainsAny(v, "\r\n\x00"):
		return "", kb.Errorf(kb.Denied, "what %s names for %s has several lines", r, p.Code).WithHint("check its value")
	}
	return v, nil
}
