package httpguard

import (
	"crypto/tls"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Certificate says how a listener's certificate is had.
type Certificate struct {
	Of        string // the beginning of its keys in the configuration, for messages: "public"
	Host      string // the origin at which it is reached
	Cert, Key string // files; "" for none
	ACME      bool   // an authority makes it
	Authority string // its directory; "" is Let's Encrypt's
}

// TLS returns the settings for it; nil for plain HTTP. What an authority made is
// kept below dataDir.
func (c Certificate) TLS(dataDir string) (*tls.Config, error) {
	switch {
	case c.ACME && c.Cert != "":
		return nil, kb.Errorf(kb.Invalid, "the configuration names both %s.acme and %s.cert", c.Of, c.Of).WithHint("keep one of them")
	case c.ACME:
		return c.authority(dataDir)
	case (c.Cert == "") != (c.Key == ""):
		return nil, kb.Errorf(kb.Invalid, "the configuration names %s.cert or %s.key without the other", c.Of, c.Of).WithHint("name both, or neither")
	case c.Cert != "":
		return c.files()
	}
	return nil, nil
}

// files returns TLS with a certificate from files, which are read again when
// they change, as programs that renew certificates make them.
func (c Certificate) files() (*tls.Config, error) {
	f := &files{cert: c.Cert, key: c.Key}
	if _, err := f.get(nil); err != nil {
		return nil, kb.Errorf(kb.Invalid, "the certificate cannot be read: %w", err).
			WithHint("check %s.cert and %s.key: both are PEM, and the key is the certificate's", c.Of, c.Of)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: f.get, NextProtos: []string{"http/1.1"}}, nil
}

// files is a certificate in files.
type files struct {
	cert, key string

	mu      sync.Mutex
	loaded  *tls.Certificate
	stamp   time.Time // of the younger file
	checked time.Time
}

// get returns the certificate as the files have it; while they cannot be read,
// as it was.
func (f *files) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.loaded != nil && time.Since(f.checked) < time.Second {
		return f.loaded, nil
	}
	f.checked = time.Now()
	stamp := f.stamp
	for _, name := range []string{f.cert, f.key} {
		if i, err := os.Stat(name); err == nil && i.ModTime().After(stamp) {
			stamp = i.ModTime()
		}
	}
	if f.loaded != nil && stamp.Equal(f.stamp) {
		return f.loaded, nil
	}
	c, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		if f.loaded != nil { // it is being replaced
			return f.loaded, nil
		}
		return nil, err
	}
	f.loaded, f.stamp = &c, stamp
	return f.loaded, nil
}

// authority returns TLS with certificates for the host, which an authority that
// speaks ACME makes and renews.
func (c Certificate) authority(dataDir string) (*tls.Config, error) {
	u, err := url.Parse(c.Host)
	if err != nil || u.Hostname() == "" {
		return nil, kb.Errorf(kb.Invalid, "%s.acme needs %s.host: a certificate is for a name", c.Of, c.Of).
			WithHint("write %s.host: docs.example.org into the configuration", c.Of)
	}
	m := &autocert.Manager{
		Prompt: autocert.AcceptTOS, HostPolicy: autocert.HostWhitelist(u.Hostname()),
		Cache: autocert.DirCache(filepath.Join(dataDir, "acme")),
	}
	if c.Authority != "" {
		m.Client = &acme.Client{DirectoryURL: c.Authority}
	}
	keys := m.TLSConfig()
	keys.MinVersion = tls.VersionTLS12
	keys.NextProtos = []string{"http/1.1", acme.ALPNProto}
	return keys, nil
}
