package apis

import (
	"context"
	"crypto/tls"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
)

// An API whose host did not answer that often in a row is left out of lists
// for a while; a call to it is tried nevertheless.
const (
	illAfter = 3
	illFor   = time.Minute
)

// client returns the guarded client for an API.
func apiClient(a *app.App, d *declared) func(*restapi.Provider) (restapi.Client, error) {
	return func(p *restapi.Provider) (restapi.Client, error) {
		where := "allowHosts of that API in " + p.File
		if !slices.Contains(d.user, p) {
			where = "allowHosts of that API, and to apis.allowHosts in your configuration"
		}
		policy := outbound.Policy{
			Allow: p.AllowHosts, MaxBytes: p.MaxBytes, Timeout: p.Timeout, MaxRedirects: 5, UserAgent: "knowledge/" + a.Config.Version,
			MaxIdle:   256, // agents call in bursts; 16 would dial anew for most of a burst of 200
			AllowHint: "if that host is yours, a person adds it to " + where,
		}
		if p.Server != nil { // a list of tools may be longer than a reply
			policy.MaxBytes = max(policy.MaxBytes, 4<<20)
		}
		if p.CertFile != "" {
			cert, err := tls.LoadX509KeyPair(p.CertFile, p.KeyFile)
			if err != nil { // its words may quote the file
				return nil, kb.Errorf(kb.Denied, "the certificate of the client of %s cannot be read", p.Code).
					WithHint("check clientCertificate and clientKey in %s: PEM files that belong together", p.File)
			}
			policy.Certificates = []tls.Certificate{cert}
		}
		key := strings.Join(append([]string{p.File, p.CertFile, p.KeyFile, p.Timeout.String(), strconv.FormatInt(policy.MaxBytes, 10)}, p.AllowHosts...), "\x00")
		apisOf(a).mu.Lock()
		defer apisOf(a).mu.Unlock()
		if c := apisOf(a).clients[key]; c != nil {
			return c, nil
		}
		c, err := outbound.New(policy)
		if err != nil {
			return nil, err
		}
		if apisOf(a).clients == nil {
			apisOf(a).clients = map[string]*outbound.Client{}
		}
		apisOf(a).clients[key] = c
		return c, nil
	}
}

// apiCaller returns what calls tools, with its log in the data directory.
func apiCaller(ctx context.Context, a *app.App, d *declared) (*restapi.Caller, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return nil, err
	}
	apisOf(a).mu.Lock()
	if apisOf(a).log == nil {
		apisOf(a).log = &restapi.Log{Path: filepath.Join(c.Dir, callLog)}
	}
	log := apisOf(a).log
	apisOf(a).mu.Unlock()
	servers, err := apisOf(a).serversOf(ctx, a)
	if err != nil {
		return nil, err
	}
	return &restapi.Caller{Client: apiClient(a, d), Secrets: d.secrets, Tokens: d.lender(), Servers: servers, Cache: &apisOf(a).cache, Log: log}, nil
}

// outcome notes whether an API's host answered.
func (s *apis) outcome(code string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil || kb.CodeOf(err) != kb.Away {
		delete(s.failed, code)
		delete(s.illTill, code)
		return
	}
	if s.failed == nil {
		s.failed, s.illTill = map[string]int{}, map[string]time.Time{}
	}
	if s.failed[code]++; s.failed[code] >= illAfter {
		s.illTill[code] = time.Now().Add(illFor)
	}
}

// ready says why the tools of an API are left out of lists, nil when they are not.
func apiReady(a *app.App, d *declared, p *restapi.Provider) error {
	if !p.Enabled {
		return kb.Errorf(kb.Unsupported, "it is disabled")
	}
	if err := d.secrets.Ready(p, d.lender()); err != nil {
		return err
	}
	apisOf(a).mu.Lock()
	till, ill := apisOf(a).illTill[p.Code]
	apisOf(a).mu.Unlock()
	if ill && time.Now().Before(till) {
		if err := unlisted(a, p); err != nil {
			return err
		}
		return kb.Errorf(kb.Away, "its host did not answer lately").WithHint("call it nevertheless, or wait a minute")
	}
	return unlisted(a, p)
}

// allowed says whether an API may use a secret: the user's may use what they
// name, a project's what the configuration lists, or what the user's own
// definitions send to the same host.
func (d *declared) allowed(p *restapi.Provider, r restapi.Ref) error {
	if slices.Contains(d.user, p) {
		return nil
	}
	name := r.Env
	if r.Keyring != "" {
		name = "keyring:" + r.Keyring
	}
	if slices.Contains(d.cfg.Env, name) {
		return nil
	}
	for _, u := range d.user {
		if p.AtTokenServer(r) {
			break // a token server may be anywhere
		}
		if !p.Program() && !u.Program() && strings.EqualFold(u.BaseURL[:strings.Index(u.BaseURL, ":")], p.BaseURL[:strings.Index(p.BaseURL, ":")]) && u.Host() == p.Host() && slices.Contains(u.Secrets(), r) {
			return nil
		}
	}
	return kb.Errorf(kb.Denied, "the project's API %s asks for the secret %s, which your configuration does not give to projects", p.Code, name).
		WithHint("if it may be sent to %s, a person adds it to apis.env in the configuration file", p.Host())
}

// entry reads the keyring, remembering what it said for a few minutes: some
// systems ask their user each time.
func (s *apis) entry(service, name string) (string, error) {
	const fresh = 5 * time.Minute
	s.mu.Lock()
	e, ok := s.entries[name]
	s.mu.Unlock()
	if ok && time.Since(e.read) < fresh {
		return e.value, nil
	}
	v, err := restapi.Keyring(service, name)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entries == nil {
		s.entries = map[string]entry{}
	}
	s.entries[name] = entry{v, time.Now()}
	return v, nil
}
