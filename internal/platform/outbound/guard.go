package outbound

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// allowed is Policy.Allow, read.
type allowed struct {
	hosts map[string]bool // "host" for every port, "host:port"
	nets  []netip.Prefix
}

func parseAllow(entries []string) (allowed, error) {
	a := allowed{hosts: map[string]bool{}}
	for _, e := range entries {
		bad := kb.Errorf(kb.Invalid, "%q names no host or network", e).
			WithHint("write a host (docs.internal), a host with its port (localhost:8080) or a network (10.0.0.0/8)")
		e := strings.ToLower(strings.TrimSpace(e))
		if strings.Contains(e, "/") {
			p, err := netip.ParsePrefix(e)
			if err != nil {
				return a, bad
			}
			a.nets = append(a.nets, p.Masked())
			continue
		}
		host, port := e, ""
		if ip, err := netip.ParseAddr(strings.Trim(e, "[]")); err == nil {
			host = ip.String()
		} else if h, p, err := net.SplitHostPort(e); err == nil {
			if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 {
				return a, bad
			}
			host, port = h, p
			if ip, err := netip.ParseAddr(h); err == nil {
				host = ip.String()
			}
		}
		host = strings.TrimSuffix(host, ".")
		if host == "" || strings.ContainsAny(host, " *?@\\%") || port == "" && strings.Contains(host, ":") && !isAddr(host) {
			return a, bad
		}
		if port != "" {
			host = net.JoinHostPort(host, port)
		}
		a.hosts[host] = true
	}
	return a, nil
}

func isAddr(s string) bool { _, err := netip.ParseAddr(s); return err == nil }

func (a *allowed) host(host, port string) bool {
	return a.hosts[host] || a.hosts[net.JoinHostPort(host, port)]
}

func (a *allowed) net(ip netip.Addr) bool {
	return slices.ContainsFunc(a.nets, func(p netip.Prefix) bool { return p.Contains(ip) })
}

//go:embed special.txt
var specialText string

// block is a row of special.txt.
type block struct {
	prefix netip.Prefix
	name   string // in messages
}

// special are the blocks that are no public unicast.
var special = sync.OnceValue(func() []block {
	var out []block
	for line := range strings.Lines(specialText) {
		prefix, name, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok && prefix != "#" {
			out = append(out, block{netip.MustParsePrefix(prefix), name})
		}
	}
	return out
})

var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96")
	global = netip.MustParsePrefix("2000::/3")
)

// why returns the reason why an address is not public, "" when it is. An address
// translated by NAT64 is judged by the IPv4 address in it: on a network without
// IPv4 every IPv4 host is reached that way.
func why(ip netip.Addr) string {
	if ip.Zone() != "" {
		return "an address of one network interface"
	}
	ip = ip.Unmap()
	if nat64.Contains(ip) {
		b := ip.As16()
		return why(netip.AddrFrom4([4]byte(b[12:])))
	}
	for _, s := range special() {
		if s.prefix.Contains(ip) {
			return s.name
		}
	}
	if !ip.IsValid() || ip.Is6() && !global.Contains(ip) {
		return "a reserved address"
	}
	return ""
}

// CheckURL refuses URLs that no request may name, without resolving anything: with
// another scheme than http and https, with user names and passwords, with hosts
// that only look like names. Invalid or Denied.
func (c *Client) CheckURL(u *url.URL) error {
	show := kb.Clip(u.Redacted(), 200)
	if u.Scheme != "http" && u.Scheme != "https" {
		return kb.Errorf(kb.Invalid, "%q is not an address on the web", show).
			WithHint("only http and https are fetched")
	}
	if u.User != nil {
		return kb.Errorf(kb.Denied, "%q has a user name or password in it", show).
			WithHint("leave it out; credentials come from the environment or the configuration")
	}
	if len(u.String()) > maxURL {
		return kb.Errorf(kb.TooLarge, "the address %q is longer than %d bytes", show, maxURL).
			WithHint("such a page is not fetched")
	}
	_, _, err := c.checkHost(u.Hostname(), portOf(u))
	return err
}

func portOf(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}

// checkHost returns the host in its plain form and, when it is a literal, its
// address, or the reason why nothing of that form is reached.
func (c *Client) checkHost(host, port string) (string, netip.Addr, error) {
	var none netip.Addr
	n, err := strconv.ParseUint(port, 10, 16)
	named := slices.Contains(c.policy.Ports, n) || c.allow.hosts[net.JoinHostPort(strings.ToLower(host), port)]
	if err != nil || n == 0 || badPort(n) && !named {
		return "", none, kb.Errorf(kb.Denied, "port %s of %q is not one for the web", port, host).
			WithHint("%s", c.hint())
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "" || len(host) > 253 {
		return "", none, kb.Errorf(kb.Invalid, "the address names no host").
			WithHint("write it like https://docs.example.org/")
	}
	if strings.Contains(host, "%") {
		return "", none, kb.Errorf(kb.Denied, "%q names one network interface", host).
			WithHint("such addresses are never fetched")
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.String(), ip, c.judge(ip.String(), port, ip)
	}
	// A host whose last label is a number is an IPv4 address to browsers and
	// to the C library, in one of several spellings (URL standard, §3.5). Only
	// the plain one is read, above.
	last := host[strings.LastIndexByte(host, '.')+1:]
	if numeric(last) {
		return "", none, kb.Errorf(kb.Denied, "the host %q is an address in disguise", host).
			WithHint("write an address as four decimal numbers")
	}
	for i := 0; i < len(host); i++ {
		b := host[i]
		if !(b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '-' || b == '.' || b == '_' || b >= 0x80) {
			return "", none, kb.Errorf(kb.Invalid, "%q is no name of a host", host).
				WithHint("check how the address is written")
		}
	}
	return host, none, nil
}

func numeric(label string) bool {
	if h, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(h, "0123456789abcdef") == ""
	}
	return label != "" && strings.Trim(label, "0123456789") == ""
}

// CheckHost refuses a host and port that are unreachable by their form alone:
// nothing is resolved.
func (c *Client) CheckHost(host, port string) error {
	_, _, err := c.checkHost(host, port)
	if h := strings.TrimSuffix(strings.ToLower(host), "."); err == nil && (h == "localhost" || strings.HasSuffix(h, ".localhost")) {
		// RFC 6761: whatever a resolver says, it is this machine.
		return c.judge(h, port, netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	}
	return err
}

// CheckRoute judges the host of a URL as that of a request: by the addresses that
// it resolves to here; one that does not resolve is left to the user's proxy.
func (c *Client) CheckRoute(ctx context.Context, u *url.URL) error {
	if err := c.CheckURL(u); err != nil {
		return err
	}
	if c.policy.ProxyFor != nil && c.policy.ProxyFor(u) != nil {
		return c.checkProxied(ctx, u)
	}
	_, err := c.Resolve(ctx, u.Hostname(), portOf(u))
	return err
}

// Allows reports whether the policy names a host as it is written.
func (c *Client) Allows(host, port string) bool {
	return c.allow.host(strings.TrimSuffix(strings.ToLower(host), "."), port)
}

// judge reports why the address of a host may not be dialled.
func (c *Client) judge(host, port string, ip netip.Addr) error {
	reason := why(ip)
	plain := ip.Unmap().WithZone("")
	switch {
	case reason == "", c.allow.net(plain):
		return nil
	case ip.Zone() == "" && c.allow.host(host, port) &&
		(isAddr(host) || !plain.IsLinkLocalUnicast() && !plain.IsMulticast() && !plain.IsUnspecified()):
		return nil
	}
	if host != ip.String() && host != "localhost" && !strings.HasSuffix(host, ".localhost") {
		return c.absent(host)
	}
	return kb.Errorf(kb.Denied, "%q is not fetched: it is %s", host, reason).WithHint("%s", c.hint())
}

// absent is the error of a name that does not exist and of one whose address is
// not public: the caller does not learn the names of a private network.
func (c *Client) absent(host string) error {
	return kb.Errorf(kb.Denied, "%q is no host on the public network", host).
		WithHint("check how it is written, and your connection; %s", c.hint())
}

func (c *Client) hint() string {
	return cmp.Or(c.policy.AllowHint, "if that host is yours, allow it in the configuration")
}

// Resolve returns the addresses of a host that may be dialled. All of them
// must be allowed: a name with one bad answer among good ones is refused.
func (c *Client) Resolve(ctx context.Context, host, port string) ([]netip.Addr, error) {
	ips, _, err := c.resolve(ctx, host, port)
	return ips, err
}

// resolve is Resolve; known is false of a name for which no address was found.
func (c *Client) resolve(ctx context.Context, host, port string) (_ []netip.Addr, known bool, err error) {
	host, ip, err := c.checkHost(host, port)
	if err != nil {
		return nil, true, err
	}
	if ip.IsValid() {
		return []netip.Addr{ip.Unmap()}, true, nil
	}
	ips, err := c.policy.Lookup(ctx, host)
	if err != nil {
		if ctx.Err() != nil {
			return nil, true, ctx.Err()
		}
		var de *net.DNSError
		if errors.As(err, &de) && de.IsNotFound {
			if !c.allow.host(host, port) {
				return nil, false, c.absent(host)
			}
			return nil, false, kb.Errorf(kb.Away, "there is no host named %q: %w", host, err).
				WithHint("check the name and your connection")
		}
		return nil, false, kb.Errorf(kb.Away, "the address of %q cannot be found: %w", host, err).
			WithHint("check your connection, then try again")
	}
	out := ips[:0:0]
	for _, ip := range ips {
		if err := c.judge(host, port, ip); err != nil {
			return nil, true, err
		}
		out = append(out, ip.Unmap())
	}
	if len(out) == 0 {
		return nil, false, c.absent(host)
	}
	return out, true, nil
}

// DialContext connects to host:port through the guard, for callers with their own
// HTTP, as a browser's proxy.
func (c *Client) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, kb.Errorf(kb.Invalid, "%q is no host with a port", addr)
	}
	ips, err := c.Resolve(ctx, host, port)
	if err != nil {
		return nil, err
	}
	return c.dialAny(ctx, network, host, port, ips)
}

// dialAny tries the addresses in turn, each a little after the one before,
// until one answers (RFC 8305, simplified).
func (c *Client) dialAny(ctx context.Context, network, host, port string, ips []netip.Addr) (net.Conn, error) {
	const stagger = 300 * time.Millisecond
	ips = ips[:min(len(ips), 8)]
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		conn net.Conn
		err  error
	}
	results := make(chan result, len(ips))
	next, pending := 0, 0
	start := func() {
		ip := ips[next]
		next++
		pending++
		d := c.dialer
		// The last check, of the address that the kernel gets.
		d.Control = func(_, address string, _ syscall.RawConn) error {
			ap, err := netip.ParseAddrPort(address)
			if err != nil || ap.Addr().Unmap() != ip {
				return kb.Errorf(kb.Denied, "%q is not the address that was checked", address)
			}
			if c.watch != nil {
				return c.watch(address)
			}
			return nil
		}
		go func() {
			conn, err := d.DialContext(ctx, network, net.JoinHostPort(ip.String(), port))
			results <- result{conn, err}
		}()
	}
	start()
	timer := time.NewTimer(stagger)
	defer timer.Stop()
	var first error
	for pending > 0 {
		select {
		case r := <-results:
			pending--
			if r.err == nil {
				go func(n int) { // the other connections are not needed
					for range n {
						if r := <-results; r.conn != nil {
							r.conn.Close()
						}
					}
				}(pending)
				return r.conn, nil
			}
			if first == nil {
				first = r.err
			}
			if next < len(ips) {
				start()
			}
		case <-timer.C:
			if next < len(ips) {
				start()
				timer.Reset(stagger)
			}
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, kb.Errorf(kb.Away, "cannot connect to %q: %w", net.JoinHostPort(host, port), first).
		WithHint("check that the server runs and your connection works, then try again")
}
