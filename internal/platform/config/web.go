package config

import (
	"net"
	"net/netip"
	"net/textproto"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	yaml "github.com/oasdiff/yaml3"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// Web holds the settings of crawling.
type Web struct {
	Allow     []string // hosts, hosts with a port, and networks that are reached though not public
	Rate      float64  // requests a second and host; 0 is the default
	UserAgent string   // "" is the default
	Browser   string   // absolute path of Chrome or Chromium; "" looks for one
	Proxy     string   // URL of a proxy for all that is fetched; "" is none
	Headers   []Header // in the file's order
}

// Header is a header that is sent to one host, whose value is a secret in
// a variable or a file.
type Header struct {
	Host string // "docs.example.org", or "host:port" for ports other than the scheme's
	Name string // canonical: "Authorization"
	Env  string // name of the variable, or ""
	File string // absolute path of the file, or ""
}

// webKeys are the keys below web, a part of the table.
var webKeys = []Key{
	{
		Name: "web.allow", Type: "list of hosts (`docs.internal`, `localhost:8080`) and networks (`10.0.0.0/8`)",
		Default: "none",
		Help:    "what may be fetched although it is not on the public network: this machine, private and link-local addresses",
		Example: "[docs.internal, \"localhost:8080\"]",
		set: list(func(c *Config) *[]string { return &c.Web.Allow }, func(s string) bool {
			_, err := netip.ParsePrefix(s)
			return err == nil || isHost(s)
		}, "write a host, a host with its port, or a network such as 10.0.0.0/8"),
	},
	{
		Name: "web.rate", Type: "number from 0.01 to 1000", Default: "8",
		Help:    "requests a second to one host when a site is crawled; what the site's robots.txt asks for goes before when it is slower",
		Example: "2",
		set: func(p *parser, n *yaml.Node, c *Config) error {
			v, err := strconv.ParseFloat(n.Value, 64)
			if n.Kind != yaml.ScalarNode || n.Tag != "!!int" && n.Tag != "!!float" || err != nil || !(v >= 0.01 && v <= 1000) {
				return p.wrong(n, "web.rate must be a number from 0.01 to 1000").
					WithHint("leave it out for 8 requests a second")
			}
			c.Web.Rate = v
			return nil
		},
	},
	{
		Name: "web.userAgent", Type: "text", Default: "`knowledge/1` with the address of this project",
		Help:    "the name that servers are told when a site is crawled; what stands before the first `/` is what robots.txt knows it by",
		Example: "my-docs-bot/1.0 (me@example.org)",
		set: text(func(c *Config) *string { return &c.Web.UserAgent }, printable,
			"must be one line of ASCII", "as in my-docs-bot/1.0"),
	},
	{
		Name: "web.browser", Type: "absolute path; `~/` is your home", Default: "the Chrome or Chromium that is installed",
		Help:    "the browser that reads pages which only scripts fill",
		Example: "/usr/bin/chromium",
		set: func(p *parser, n *yaml.Node, c *Config) (err error) {
			c.Web.Browser, err = p.absolute(n)
			return err
		},
	},
	{
		Name: "web.proxy", Type: "URL", Default: "none; the environment is not asked",
		Help:    "the HTTP proxy through which sites are crawled and package registries asked",
		Example: "http://proxy.example.org:3128",
		set: text(func(c *Config) *string { return &c.Web.Proxy }, func(s string) bool { _, ok := webURL(s); return ok },
			"must be the URL of a proxy", "write it like http://proxy.example.org:3128"),
	},
	{
		Name:    "web.headers",
		Type:    "map of host to map of header to the name of an environment variable, or to `file:` and an absolute path",
		Default: "none",
		Help: "headers that are sent to that host and no other when its pages are fetched, such as a login; " +
			"the value is that of the variable, or the content of the file, which only you may be able to read (mode 0600)",
		Example: "{docs.example.org: {Authorization: DOCS_AUTHORIZATION, Cookie: \"file:~/.secrets/docs-cookie\"}}",
		set:     setHeaders,
	},
}

func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) && len(s) <= 200
}

// webURL returns a URL of http or https with a host.
func webURL(s string) (*url.URL, bool) {
	u, err := url.Parse(s)
	return u, err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// isHost reports whether s is a host, or a host with its port.
func isHost(s string) bool {
	name, port, err := net.SplitHostPort(s)
	if err != nil {
		name, port = strings.Trim(s, "[]"), "1"
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return false
	}
	return hostName.MatchString(name) || net.ParseIP(name) != nil
}

var headerName = lazyregexp.New("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$")

func setHeaders(p *parser, n *yaml.Node, c *Config) error {
	const how = "like this: docs.example.org: {Authorization: NAME_OF_VARIABLE}"
	if n.Kind != yaml.MappingNode {
		return p.wrong(n, "web.headers must be a map of host to headers").WithHint("%s", how)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		at, headers := n.Content[i], n.Content[i+1]
		host := strings.ToLower(at.Value)
		if !isHost(host) {
			return p.wrong(at, "web.headers: %q is not a host", at.Value).
				WithHint("write the host alone, as in docs.example.org or localhost:8080")
		}
		if headers.Kind != yaml.MappingNode {
			return p.wrong(at, "web.headers: what stands for %q must be a map of header to variable", at.Value).
				WithHint("%s", how)
		}
		for j := 0; j+1 < len(headers.Content); j += 2 {
			key := headers.Content[j]
			h := Header{Host: host, Name: textproto.CanonicalMIMEHeaderKey(key.Value)}
			if !headerName.MatchString(h.Name) || h.Name == "Host" {
				return p.wrong(key, "web.headers: %q is no header that can be set", key.Value).WithHint("%s", how)
			}
			if slices.ContainsFunc(c.Web.Headers, func(o Header) bool { return o.Host == h.Host && o.Name == h.Name }) {
				return p.wrong(key, "web.headers names %s of %q twice", h.Name, host).WithHint("keep one of the lines")
			}
			v, err := p.text(headers.Content[j+1])
			if err != nil {
				return err
			}
			if file, ok := strings.CutPrefix(v, "file:"); ok {
				if h.File = p.expand(file); !filepath.IsAbs(h.File) {
					return p.wrong(key, "web.headers: the file for %s of %q must be an absolute path", h.Name, host).
						WithHint("begin it with ~/ or the root of the file system")
				}
			} else if h.Env = v; !isVariable(v) {
				// The value is not repeated: it may be the secret itself.
				return p.wrong(key, "web.headers: what stands for %s of %q is not the name of an environment variable", h.Name, host).
					WithHint("put the value into a variable and write the variable's name here, or file: and the path of a file")
			}
			c.Web.Headers = append(c.Web.Headers, h)
		}
	}
	return nil
}
