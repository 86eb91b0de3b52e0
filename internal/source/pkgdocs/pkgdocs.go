// Package pkgdocs gets the documentation of one version of a package from its
// registry: README, guides and type declarations of an npm package, README,
// guides and sources of a Go module. It asks the registries that the user's
// own settings name, as npm and the go command would (~/.npmrc, the go command's
// environment file, and the variables that override them; never a file of a
// project), and keeps the documents as package pages keeps those of a crawl.
// Nothing of a package is ever run.
//
// The archive of an npm package is compared with the integrity that its
// registry states. That of a Go module obeys the rules of module zips; the
// checksum database is not asked.
package pkgdocs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
)

// Config names a package.
type Config struct {
	Registry string // "npm" or "go"
	Name     string
	Version  string // as asked for: a version, a part of one, a tag; "" is the latest
	Env      func(string) string
	Policy   outbound.Policy // the hosts that the user's settings name are allowed besides
	Force    bool            // get it again though it has not changed

	home string // for tests; "" is the user's
}

// Result is what was kept.
type Result struct {
	Version   string // what the version that was asked for turned out to be
	Documents int
	Unchanged bool // it was kept already
	Notes     []string
}

const (
	maxMeta     = 64 << 20  // bytes of a registry's description of a package
	maxArchive  = 128 << 20 // bytes of an archive
	maxFile     = 1 << 20   // bytes of one document
	maxKept     = 128 << 20 // bytes of all documents
	maxDocs     = 20_000
	maxUnpacked = 1 << 30 // bytes of an archive, unpacked, documents or not
	maxEntries  = 200_000 // files of an archive

	archiveTime = 5 * time.Minute
)

// registries is the table of registries.
var registries = map[string]struct {
	settings func(c *Config) settings
	fetch    func(ctx context.Context, s *session) (Result, error)
}{
	"npm": {npmSettings, fetchNPM},
	"go":  {goSettings, fetchGo},
}

// settings are those of a registry in the user's own files and variables.
type settings struct {
	values map[string]string // by the registry's own names
	hosts  []string          // that are named, with their ports
	proxy  string
	needs  []string // variables with secrets that are used
	err    error    // why a file could not be read
}

// Needs returns the set variables that hold secrets for a registry: a process
// without them might not reach what this one does.
func Needs(registry string, env func(string) string) []string {
	r, ok := registries[registry]
	if !ok {
		return nil
	}
	return r.settings(&Config{Env: env}).needs
}

// session is one Fetch.
type session struct {
	Config
	settings
	client *outbound.Client
	kept   *pages.Store
	whole  *Archive // where it is wanted instead of documents
}

// Fetch gets a package and keeps its documents. NotFound when there is no such
// package or version, Denied for what the registry or the guard refuses, Away
// when it does not answer, Corrupt when what it sends is not what it promised.
func Fetch(ctx context.Context, c Config, kept *pages.Store) (Result, error) {
	return begin(ctx, &session{Config: c, kept: kept})
}

// begin asks the registry.
func begin(ctx context.Context, s *session) (Result, error) {
	c := &s.Config
	r, ok := registries[c.Registry]
	if !ok {
		return Result{}, kb.Errorf(kb.Invalid, "there is no registry %q", c.Registry).WithHint("use npm or go")
	}
	if s.settings = r.settings(c); s.err != nil {
		return Result{}, s.err
	}
	p := c.Policy
	p.MaxBytes, p.Timeout = maxArchive, archiveTime
	p.Allow = slices.Concat(p.Allow, s.hosts)
	p.Proxy = cmp.Or(p.Proxy, s.proxy)
	var err error
	if s.client, err = outbound.New(p); err != nil {
		return Result{}, err
	}
	defer s.client.Close()
	kb.Report(ctx, kb.Progress{Phase: "fetch"})
	return r.fetch(ctx, s)
}

// same reports whether a version is kept already, and how many documents of it.
func (s *session) same(version string) (int, bool) {
	if s.Force || s.whole != nil || !s.kept.Committed() {
		return 0, false
	}
	n := 0
	for v := range s.kept.All() {
		if v.Version != version {
			return 0, false
		}
		n++
	}
	return n, n > 0
}

// keep replaces what is kept by documents, by path.
func (s *session) keep(version string, docs []document) error {
	if _, err := s.kept.Begin(s.Registry + ":" + s.Name + "@" + version); err != nil {
		return err
	}
	now := time.Now().UTC()
	for _, d := range docs {
		if text, n := secret.Mask(d.path, string(d.body)); n > 0 {
			d.body = []byte(text)
		}
		sum := sha256.Sum256(d.body)
		v := pages.Visit{Key: d.path, Outcome: pages.OutKept, Kept: pages.Kept{
			Path: d.path, Version: version, Hash: hex.EncodeToString(sum[:]), Fetched: now, Reason: d.reason,
		}}
		if err := s.kept.Put(v, nil, d.body); err != nil {
			return err
		}
	}
	return s.kept.Commit()
}

// get asks a registry. what is named in errors.
func (s *session) get(ctx context.Context, address, what, accept string, auth http.Header, most int64) ([]byte, error) {
	req, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return nil, kb.Errorf(kb.Invalid, "the address of %s is not well-formed", what).
			WithHint("check the registry in your settings")
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	for k, v := range auth {
		req.Header[k] = v
	}
	resp, err := s.client.Do(ctx, req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	host := req.URL.Host
	switch {
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone:
		return nil, kb.Errorf(kb.NotFound, "%s has no %s", host, what).WithHint("check the name and the version")
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return nil, kb.Errorf(kb.Denied, "%s refuses %s (%s)", host, what, resp.Status).
			WithHint("%s", loginHint[s.Registry])
	case resp.StatusCode != http.StatusOK:
		return nil, kb.Errorf(kb.Away, "%s answers %s for %s", host, resp.Status, what).WithHint("try again later")
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err != nil {
		var known *kb.Error
		if errors.As(err, &known) || ctx.Err() != nil {
			return nil, err
		}
		return nil, kb.Errorf(kb.Away, "%s stopped in the middle of %s: %w", host, what, err).WithHint("try again")
	}
	if int64(len(b)) > most {
		return nil, kb.Errorf(kb.TooLarge, "%s is larger than %d MB", what, most>>20).
			WithHint("make a store of its repository instead")
	}
	return b, nil
}

var loginHint = map[string]string{
	"npm": "log in with npm login, so that ~/.npmrc has a token for that registry",
	"go":  "put a login for that host into ~/.netrc, or set GOPRIVATE and make a store of its repository",
}

// hostOf returns the host of a URL, with its port when it names one.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// document is one file that is kept.
type document struct {
	path   string
	body   []byte
	reason string
}

// bundle collects documents within limits.
type bundle struct {
	docs  []document
	bytes int64
	left  int // documents over a limit
}

func (b *bundle) add(path, reason string, size int64, read func() ([]byte, error)) error {
	if size > maxFile || len(b.docs) >= maxDocs || b.bytes+size > maxKept {
		b.left++
		return nil
	}
	body, err := read()
	if err != nil {
		return err
	}
	b.bytes += int64(len(body))
	b.docs = append(b.docs, document{path, body, reason})
	return nil
}

func (b *bundle) notes() []string {
	if b.left == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d documents are left out: larger than 1 MiB, or too many", b.left)}
}
