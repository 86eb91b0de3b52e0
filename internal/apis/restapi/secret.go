package restapi

import (
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

// resolve returns the secrets that p needs.
func (s *Resolver) resolve(p *Provider) (credentials, error) {
	refs := p.Secrets()
	if len(refs) == 0 {
		return nil, nil
	}
	out := credentials{}
	for _, r := range refs {
		v, err := s.get(p, r)
		if err != nil {
			return nil, err
		}
		out[r] = v
	}
	return out, nil
}

// Keyring reads an entry of the system's keyring.
func Keyring(service, name string) (string, error) { return keyring.Get(service, name) }

// Ready reports why p cannot be called, nil when nothing speaks against it. It uses
// neither the network nor the keyring, which may ask its user.
func (s *Resolver) Ready(p *Provider) error {
	for _, r := range p.Secrets() {
		err := s.allowed(p, r)
		if r.Keyring == "" {
			_, err = s.get(p, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
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
