// Package outbound is the one HTTP client with which the product reaches
// servers that a text named: pages of a crawl, links in them, REST APIs,
// registries, remote repositories (over https, and the addresses of ssh). What
// a text says is not trusted, so every connection passes one guard: the name
// is resolved first, the addresses are judged, and the very address that was
// judged is dialled, on the first request, on every redirect and on every new
// connection. A name that answers differently the second time gains nothing.
//
// Refused are all addresses that are not public unicast (loopback, private,
// link-local, shared, multicast, documentation, the metadata services of
// clouds), those hidden in IPv4-mapped, NAT64, 6to4 and Teredo forms, hosts
// written as decimal, octal or hexadecimal numbers, zone identifiers, and the
// ports of other protocols. What Policy.Allow names is let through.
//
// Bodies come decoded (gzip, deflate, br), bounded in size and in the ratio
// of decoded to received bytes.
package outbound

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// The limits that hold where a Policy has zero.
const (
	DefaultMaxBytes     = 10 << 20
	DefaultTimeout      = 30 * time.Second
	DefaultMaxRedirects = 10

	// maxRatio is how often a body may be longer than what was received of it,
	// once it is longer than freeBytes. Documents compress up to about 30 to 1,
	// generated tables to 60; what gzip makes of zeros is 1000 to 1.
	maxRatio  = 120
	freeBytes = 1 << 20

	maxHeaderBytes = 256 << 10
	maxURL         = 8 << 10
)

// Policy says where a client may go and how much it takes. The zero value is
// the strictest: public addresses only, with the default limits.
type Policy struct {
	// Allow names what the user lets through beyond public addresses: hosts
	// ("docs.internal", "127.0.0.1"), hosts with a port ("localhost:8080"),
	// and networks ("10.0.0.0/8"). A host counts as it is written in the URL,
	// so that another name that resolves to its address is still refused; a
	// network counts for every name. An allowed name that resolves to a
	// link-local address (where metadata services are) is refused unless a
	// network allows that.
	Allow        []string
	MaxBytes     int64         // of a decoded body; 0 is DefaultMaxBytes
	Timeout      time.Duration // of a request with all its redirects and its body; 0 is DefaultTimeout
	MaxRedirects int           // 0 is DefaultMaxRedirects
	UserAgent    string        // for requests that bring none
	// Proxy is the URL of an HTTP proxy that the user configured; "" is none,
	// and the environment is not asked. Names are judged as far as they
	// resolve here; what does not is left to the proxy.
	Proxy string
	// ProxyFor names the proxy for a URL, nil for none, where Proxy is "": for
	// the environment of the user, when that is to be asked.
	ProxyFor func(*url.URL) *url.URL
	// Ports are ports of other protocols that are reached all the same: 22 for ssh.
	Ports []uint64
	// MaxConns bounds connections to one host; 0 is no bound.
	MaxConns int
	MaxIdle  int // connections to one host that are kept open for later; 0 is 16
	// AllowHint is what an error advises when an address is refused; "" is a
	// general sentence.
	AllowHint string

	// Lookup resolves names; nil is the system's resolver. For tests.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// Certificates are shown to servers that ask for the client's.
	Certificates []tls.Certificate
	// RootCAs are trusted instead of the system's. For tests.
	RootCAs *x509.CertPool
}

// Client is a guarded HTTP client. It is safe for concurrent use, keeps no
// cookies and asks nothing of the environment.
type Client struct {
	policy  Policy
	allow   allowed
	proxies sync.Map // host:port of proxies that the user named
	tr      *http.Transport
	dialer  net.Dialer
	// watch sees every address before it is dialled and may refuse it; for tests.
	watch func(addr string) error
}

// New returns a client for the policy, or Invalid when an entry of Allow or
// the proxy cannot be understood.
func New(p Policy) (*Client, error) {
	if p.MaxBytes <= 0 {
		p.MaxBytes = DefaultMaxBytes
	}
	if p.Timeout <= 0 {
		p.Timeout = DefaultTimeout
	}
	if p.MaxRedirects <= 0 {
		p.MaxRedirects = DefaultMaxRedirects
	}
	if p.Lookup == nil {
		p.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	allow, err := parseAllow(p.Allow)
	if err != nil {
		return nil, err
	}
	c := &Client{policy: p, allow: allow, dialer: net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}}
	c.tr = &http.Transport{
		DialContext:            c.DialContext,
		DisableCompression:     true, // decoded here, within bounds
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           max(64, p.MaxIdle),
		MaxIdleConnsPerHost:    cmp.Or(p.MaxIdle, 16),
		MaxConnsPerHost:        p.MaxConns,
		IdleConnTimeout:        30 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: maxHeaderBytes,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: p.RootCAs, Certificates: p.Certificates},
	}
	if p.Proxy == "" && p.ProxyFor != nil {
		c.tr.Proxy = func(r *http.Request) (*url.URL, error) {
			u := p.ProxyFor(r.URL)
			if u != nil {
				c.proxies.Store(proxyAddr(u), true)
			}
			return u, nil
		}
		c.tr.DialContext = c.dialProxied
	}
	if p.Proxy != "" {
		u, err := url.Parse(p.Proxy)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, kb.Errorf(kb.Invalid, "%q is not the address of a proxy", p.Proxy).
				WithHint("write it like http://proxy.example.org:3128")
		}
		c.policy.ProxyFor = func(*url.URL) *url.URL { return u }
		c.proxies.Store(proxyAddr(u), true)
		c.tr.Proxy = http.ProxyURL(u)
		c.tr.DialContext = c.dialProxied
	}
	return c, nil
}

// EnvironmentProxy is a Policy.ProxyFor that asks the environment, as net/http
// does: HTTPS_PROXY, HTTP_PROXY and NO_PROXY.
func EnvironmentProxy(u *url.URL) *url.URL {
	p, err := http.ProxyFromEnvironment(&http.Request{URL: u})
	if err != nil {
		return nil
	}
	return p
}

// Close closes idle connections.
func (c *Client) Close() { c.tr.CloseIdleConnections() }

// dialProxied reaches the proxy, which the user named and which may therefore
// be anywhere; net/http asks it for everything else.
func (c *Client) dialProxied(ctx context.Context, network, addr string) (net.Conn, error) {
	if _, ok := c.proxies.Load(addr); ok {
		return c.dialer.DialContext(ctx, network, addr)
	}
	return c.DialContext(ctx, network, addr)
}

// proxyAddr is what is dialled for a proxy, as net/http has it.
func proxyAddr(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}
