package httpguard

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies says whose word counts about who a client is. Its zero value believes
// nobody: the client is who the connection comes from.
type Proxies struct {
	// Trusted are the addresses of proxies that set Header themselves.
	Trusted []netip.Prefix
	// Header is the one header that is read; "" is X-Forwarded-For. One alone,
	// since a proxy that sets one lets the others pass as a client made them up.
	Header string
}

// ClientHeaders are the headers in which a proxy may name its client.
var ClientHeaders = []string{"X-Forwarded-For", "Forwarded", "X-Real-IP", "CF-Connecting-IP"}

// Client returns the address of who asks: what a trusted proxy says, if the
// request comes from one, and the peer of the connection otherwise, or when what
// the proxy says is no address. The zero value is a peer without an address.
func (p *Proxies) Client(r *http.Request) netip.Addr {
	peer := parseAddr(r.RemoteAddr)
	if !p.trusts(peer) {
		return peer
	}
	header := p.Header
	if header == "" {
		header = ClientHeaders[0]
	}
	var hops []string
	for _, line := range r.Header.Values(header) {
		hops = append(hops, strings.Split(line, ",")...)
	}
	switch http.CanonicalHeaderKey(header) {
	case "X-Forwarded-For":
	case "Forwarded":
		for i, h := range hops {
			hops[i] = forwardedFor(h)
		}
	default: // one address, which the proxy has put in the place of any other
		if len(hops) != 1 {
			return peer
		}
	}
	// Each proxy adds its client at the end: what is before the first that is not
	// trusted, anybody may have written.
	client := peer
	for _, h := range slices.Backward(hops) {
		a := parseAddr(strings.TrimSpace(h))
		if !a.IsValid() {
			return client
		}
		client = a
		if !p.trusts(a) {
			return client
		}
	}
	return client
}

// Speaks reports whether a request comes through a proxy that is not trusted:
// its clients are then one.
func (p *Proxies) Speaks(r *http.Request) bool {
	if p.trusts(parseAddr(r.RemoteAddr)) {
		return false
	}
	return slices.ContainsFunc(append(ClientHeaders, "Via"), func(h string) bool { return r.Header.Get(h) != "" })
}

func (p *Proxies) trusts(a netip.Addr) bool {
	return a.IsValid() && slices.ContainsFunc(p.Trusted, func(t netip.Prefix) bool { return t.Contains(a) })
}

// forwardedFor returns the node of an element of Forwarded (RFC 7239).
func forwardedFor(element string) string {
	for pair := range strings.SplitSeq(element, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if strings.EqualFold(name, "for") {
			return strings.Trim(value, `"`)
		}
	}
	return ""
}

// parseAddr reads an address, with or without a port.
func parseAddr(s string) netip.Addr {
	if a, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return a.Unmap().WithZone("")
	}
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}
