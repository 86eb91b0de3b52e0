package config

import (
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"
)

// Public holds the settings of the listener for the public.
type Public struct {
	Host         string         // origin at which it is reached: "https://docs.example.org"; "" for none
	Trusted      []netip.Prefix // proxies that may say who a client is
	ClientHeader string         // in which they say it; "" is X-Forwarded-For
	Cert, Key    string         // files of a certificate and its key; "" for none
	ACME         bool           // certificates are had from an authority
	Authority    string         // its directory; "" is Let's Encrypt's
}

// publicKeys are the keys below public, a part of the table.
var publicKeys = []Key{
	{
		Name: "public.host", Type: "host, or origin (`https://docs.example.org`)", Default: "none",
		Help:    "the name at which the public reaches `serve --public`; requests for other hosts are refused",
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
				return p.wrong(n, "public.host is no host").WithHint("write the name alone, for example docs.example.org")
			}
			c.Public.Host = s
			return nil
		},
	},
	{
		Name: "public.trusted_proxies", Type: "list of addresses and networks (`127.0.0.1`, `10.0.0.0/8`)", Default: "none",
		Help:    "the proxies that may say who a client is, since they set the header public.client_header themselves",
		Example: `[127.0.0.1, "::1"]`,
		set: func(p *parser, n *yaml.Node, c *Config) error {
			var all []string
			if err := list(func(*Config) *[]string { return &all }, isNetwork, "write addresses, or networks as 10.0.0.0/8")(p, n, c); err != nil {
				return err
			}
			for _, s := range all {
				c.Public.Trusted = append(c.Public.Trusted, network(s))
			}
			return nil
		},
	},
	{
		Name: "public.client_header", Type: "`X-Forwarded-For`, `Forwarded`, `X-Real-IP` or `CF-Connecting-IP`", Default: "`X-Forwarded-For`",
		Help:    "the one header in which trusted proxies name their client; the others are not read, since a client may have made them up",
		Example: "X-Real-IP",
		set: text(func(c *Config) *string { return &c.Public.ClientHeader }, func(s string) bool { return slices.Contains(clientHeaders, s) },
			"must be one of X-Forwarded-For, Forwarded, X-Real-IP and CF-Connecting-IP", "leave it out for X-Forwarded-For"),
	},
	{
		Name: "public.cert", Type: "absolute path", Default: "none",
		Help:    "the file of the certificate, with those between it and its root, in PEM; it is read again when it changes",
		Example: "/etc/knowledge/cert.pem",
		set:     text(func(c *Config) *string { return &c.Public.Cert }, filepath.IsAbs, "must be an absolute path", "begin it with the root of the file system"),
	},
	{
		Name: "public.key", Type: "absolute path", Default: "none",
		Help:    "the file of the certificate's key, in PEM",
		Example: "/etc/knowledge/key.pem",
		set:     text(func(c *Config) *string { return &c.Public.Key }, filepath.IsAbs, "must be an absolute path", "begin it with the root of the file system"),
	},
	{
		Name: "public.acme", Type: "`true`, or the address of an authority's directory", Default: "none",
		Help: "has certificates for public.host made by Let's Encrypt, or another authority that speaks ACME, whose terms you accept; " +
			"it must reach this listener at port 443",
		Example: "true",
		set: func(p *parser, n *yaml.Node, c *Config) error {
			if n.Kind != yaml.ScalarNode {
				return p.wrong(n, "public.acme must be true or an address").WithHint("write true for Let's Encrypt")
			}
			if n.Tag == "!!bool" {
				c.Public.ACME = strings.EqualFold(n.Value, "true")
				return nil
			}
			if u, ok := webURL(n.Value); !ok || u.Scheme != "https" {
				return p.wrong(n, "public.acme is no https address of a directory").WithHint("write true for Let's Encrypt")
			}
			c.Public.ACME, c.Public.Authority = true, n.Value
			return nil
		},
	},
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
