package config

import (
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"
)

// Public holds the settings of a listener that is reached from beyond this machine.
type Public struct {
	Host         string         // origin at which it is reached: "https://docs.example.org"; "" for none
	Trusted      []netip.Prefix // proxies that may say who a client is
	ClientHeader string         // in which they say it; "" is X-Forwarded-For
	Cert, Key    string         // files of a certificate and its key; "" for none
	ACME         bool           // certificates are had from an authority
	Authority    string         // its directory; "" is Let's Encrypt's
}

// publicKeys and teamListenerKeys are the keys below public and team that say how
// their listeners are reached, a part of the table.
var (
	publicKeys       = listenerKeys("public", "the public reaches `serve --public`", func(c *Config) *Public { return &c.Public })
	teamListenerKeys = listenerKeys("team", "users reach `serve --team`", func(c *Config) *Public { return &c.Team.Public })
)

// listenerKeys are the keys of a listener beyond this machine.
func listenerKeys(of, reached string, at func(*Config) *Public) []Key {
	return []Key{
		{
			Name: of + ".host", Type: "host, or origin (`https://docs.example.org`)", Default: "none",
			Help:    "the name at which " + reached + "; requests for other hosts are refused",
			Example: "docs.example.org",
			set: func(p *parser, n *yaml.Node, c *Config) error {
				s, err := p.text(n)
				if err != nil {
					return err
				}
				if !strings.Contains(s, "://") {
					s = "https://" + s
				}
				s = strings.ToLower(strings.TrimRight(s, "/"))
				if u, err := url.Parse(s); err != nil || !isOrigin(s) || u.Hostname() == "" {
					return p.wrong(n, "%s.host is no host", of).WithHint("write the name alone, for example docs.example.org")
				}
				at(c).Host = s
				return nil
			},
		},
		{
			Name: of + ".trusted_proxies", Type: "list of addresses and networks (`127.0.0.1`, `10.0.0.0/8`)", Default: "none",
			Help:    "the proxies that may say who a client is, since they set the header " + of + ".client_header themselves",
			Example: `[127.0.0.1, "::1"]`,
			set: func(p *parser, n *yaml.Node, c *Config) error {
				var all []string
				if err := list(func(*Config) *[]string { return &all }, isNetwork, "write addresses, or networks as 10.0.0.0/8")(p, n, c); err != nil {
					return err
				}
				for _, s := range all {
					at(c).Trusted = append(at(c).Trusted, network(s))
				}
				return nil
			},
		},
		{
			Name: of + ".client_header", Type: "`X-Forwarded-For`, `Forwarded`, `X-Real-IP` or `CF-Connecting-IP`", Default: "`X-Forwarded-For`",
			Help:    "the one header in which trusted proxies name their client; the others are not read, since a client may have made them up",
			Example: "X-Real-IP",
			set: text(func(c *Config) *string { return &at(c).ClientHeader }, func(s string) bool { return slices.Contains(clientHeaders, s) },
				"must be one of X-Forwarded-For, Forwarded, X-Real-IP and CF-Connecting-IP", "leave it out for X-Forwarded-For"),
		},
		{
			Name: of + ".cert", Type: "absolute path", Default: "none",
			Help:    "the file of the certificate, with those between it and its root, in PEM; it is read again when it changes",
			Example: "/etc/knowledge/cert.pem",
			set:     text(func(c *Config) *string { return &at(c).Cert }, filepath.IsAbs, "must be an absolute path", "begin it with the root of the file system"),
		},
		{
			Name: of + ".key", Type: "absolute path", Default: "none",
			Help:    "the file of the certificate's key, in PEM",
			Example: "/etc/knowledge/key.pem",
			set:     text(func(c *Config) *string { return &at(c).Key }, filepath.IsAbs, "must be an absolute path", "begin it with the root of the file system"),
		},
		{
			Name: of + ".acme", Type: "`true`, or the address of an authority's directory", Default: "none",
			Help: "has certificates for " + of + ".host made by Let's Encrypt, or another authority that speaks ACME, whose terms you accept; " +
				"it must reach this listener at port 443",
			Example: "true",
			set: func(p *parser, n *yaml.Node, c *Config) error {
				if n.Kind != yaml.ScalarNode {
					return p.wrong(n, "%s.acme must be true or an address", of).WithHint("write true for Let's Encrypt")
				}
				if n.Tag == "!!bool" {
					at(c).ACME = strings.EqualFold(n.Value, "true")
					return nil
				}
				if u, ok := webURL(n.Value); !ok || u.Scheme != "https" {
					return p.wrong(n, "%s.acme is no https address of a directory", of).WithHint("write true for Let's Encrypt")
				}
				at(c).ACME, at(c).Authority = true, n.Value
				return nil
			},
		},
	}
}

// clientHeaders are the headers in which a proxy may name its client.
var clientHeaders = []string{"X-Forwarded-For", "Forwarded", "X-Real-IP", "CF-Connecting-IP"}

func isNetwork(s string) bool { return network(s).IsValid() }

// network reads a network, or an address as a network of one.
func network(s string) netip.Prefix {
	if p, err := netip.ParsePrefix(s); err == nil {
		return p.Masked()
	}
	a, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Prefix{}
	}
	return netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen())
}
