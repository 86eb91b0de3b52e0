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

// Files returns TLS with a certificate from files, which are read again when
// they change, as programs that renew certificates make them.
func Files(cert, key string) (*tls.Config, error) {
	f := &files{cert: cert, key: key}
	if _, err := f.get(nil); err != nil {
		return nil, kb.Errorf(kb.Invalid, "the certificate cannot be read: %w", err).
			WithHint("check public.cert and public.key: both are PEM, and the key is the certificate's")
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

// Authority returns TLS with certificates for the host of an origin, which an
// authority that speaks ACME makes and renews. They are kept below dataDir.
func Authority(origin, directory, dataDir string) (*tls.Config, error) {
	u, err := url.Parse(origin)
	if err != nil || u.Hostname() == "" {
		return nil, kb.Errorf(kb.Invalid, "public.acme needs public.host: a certificate is for a name").
			WithHint("write public.host: docs.example.org into the configuration")
	}
	m := &autocert.Manager{
		Prompt: autocert.AcceptTOS, HostPolicy: autocert.HostWhitelist(u.Hostname()),
		Cache: autocert.DirCache(filepath.Join(dataDir, "acme")),
	}
	if directory != "" {
		m.Client = &acme.Client{DirectoryURL: directory}
	}
	c := m.TLSConfig()
	c.MinVersion = tls.VersionTLS12
	c.NextProtos = []string{"http/1.1", acme.ALPNProto}
	return c, nil
}
