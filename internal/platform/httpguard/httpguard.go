// Package httpguard decides which HTTP requests a server on this machine
// answers: it checks Host, Origin and token before any handler runs, opens
// the listener and gives the server its time-outs.
//
// Three attackers are meant. A web page in the user's browser can send
// requests to loopback: its Origin gives it away, and Sec-Fetch-Site where it
// sends none. A page whose name was rebound to 127.0.0.1 looks same-origin to
// the browser: its Host gives it away. Another machine, when the server is
// bound beyond loopback, has no token. Nor have the other users of this machine:
// they are kept from all that is not public or open, unless the owner has opened
// reading to them.
package httpguard

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Class says how a request earns its answer. The zero value is the strictest.
type Class int

// The classes, strictest first.
const (
	// Person: the token, and an Origin equal to the server's own.
	Person Class = iota
	// Token: the token, always.
	Token
	// Read: the token, but on loopback when Guard.OpenRead is set.
	Read
	// Answer: no token on loopback unless Guard.RequireToken is set, and the
	// token from elsewhere; pages of the listed origins need none from anywhere.
	// Rate-limited off loopback.
	Answer
	// Open: Host is checked and nothing else.
	Open
)

// Guard checks requests. Its fields are not changed once it is in use; Check
// is safe for concurrent use.
type Guard struct {
	// Bound is the address that the listener has, host:port.
	Bound string
	// Secret is the token; "" means that no token is asked for (the caller
	// has made sure that this happens on loopback only).
	Secret string
	// OpenRead lets class Read go without the token on loopback.
	OpenRead bool
	// RequireToken asks for the token for class Answer on loopback too.
	RequireToken bool
	// Origins are the listed origins of class Answer: "https://docs.example.org".
	Origins []string
	// Hosts are further names, without port, that the Host header may have.
	Hosts []string
	// Limit bounds the requests of class Answer; nil is no bound.
	Limit *Limiter
}

// NewToken returns 32 random bytes in 43 characters fit for a URL's fragment.
func NewToken() string {
	b := make([]byte, 32)
	rand.Read(b) // never fails; the process ends if the system has no randomness
	return base64.RawURLEncoding.EncodeToString(b)
}

// Check returns 0 and nil for a request that may be answered as class, else
// the HTTP status to answer with and the error to show.
func (g *Guard) Check(r *http.Request, class Class) (int, *kb.Error) {
	if !g.hostAllowed(r) {
		return http.StatusForbidden, kb.Errorf(kb.Denied, "host %q is not this server's", clip(r.Host)).
			WithHint("use the address that the server printed at its start")
	}
	if class == Open {
		return 0, nil
	}
	origin := r.Header.Get("Origin")
	own := origin != "" && strings.EqualFold(origin, "http://"+r.Host)
	listed := class == Answer && g.Listed(origin)
	switch {
	case origin != "" && !own && !listed:
		return http.StatusForbidden, kb.Errorf(kb.Denied, "origin %q may not ask this", clip(origin)).
			WithHint("send the request from the server's own page or without a browser")
	case origin == "" && crossSite(r):
		return http.StatusForbidden, kb.Errorf(kb.Denied, "a page of another site may not ask this").
			WithHint("send the request from the server's own page or without a browser")
	}
	near := Near(r)
	if class == Answer && !near && g.Limit != nil && !g.Limit.Allow(r.RemoteAddr) {
		return http.StatusTooManyRequests, kb.Errorf(kb.Busy, "too many questions from this address").
			WithHint("wait a second and ask again")
	}
	if g.Secret == "" {
		if class == Person && !own {
			return wrongOrigin()
		}
		return 0, nil
	}
	needed := true
	switch class {
	case Read:
		needed = !near || !g.OpenRead || g.RequireToken
	case Answer:
		needed = !listed && (!near || g.RequireToken)
	}
	if needed && !g.tokenRight(r) {
		return http.StatusUnauthorized, kb.Errorf(kb.Denied, "this needs the server's token").
			WithHint("send the header Authorization: Bearer TOKEN with the token that the server printed at its start, or that its token file holds")
	}
	if class == Person && !own {
		return wrongOrigin()
	}
	return 0, nil
}

func wrongOrigin() (int, *kb.Error) {
	return http.StatusForbidden, kb.Errorf(kb.Denied, "only a person may do this, on the server's own page or in a terminal").
		WithHint("ask your user, who may do it there")
}

// Listed reports whether origin is one of the listed origins. "*" and "null" never are.
func (g *Guard) Listed(origin string) bool {
	return origin != "" && origin != "*" && origin != "null" && slices.Contains(g.Origins, origin)
}

// Holds reports whether a request carries the token and may use it: from a
// host and an origin of this server.
func (g *Guard) Holds(r *http.Request) bool {
	_, err := g.Check(r, Token)
	return err == nil
}

// tokenRight compares in constant time. Both sides are hashed first so that
// neither content nor length can be timed.
func (g *Guard) tokenRight(r *http.Request) bool {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return false
	}
	got, want := sha256.Sum256([]byte(strings.TrimSpace(token))), sha256.Sum256([]byte(g.Secret))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// hostAllowed reports whether the Host header names this server: a loopback
// name or address with our port when the request came in over loopback, the
// bound host, the literal address that the connection reached (an address
// cannot be rebound), or a name from Hosts.
func (g *Guard) hostAllowed(r *http.Request) bool {
	host, port := splitHost(r.Host)
	boundHost, boundPort := splitHost(g.Bound)
	if host == "" {
		return false
	}
	if slices.ContainsFunc(g.Hosts, func(h string) bool { return strings.EqualFold(h, host) }) {
		return true
	}
	if port != boundPort {
		return false
	}
	if isLoopback(host) || strings.EqualFold(host, boundHost) && !unspecified(host) {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	reached, _ := splitHost(local.String())
	a, err1 := netip.ParseAddr(host)
	b, err2 := netip.ParseAddr(reached)
	return err1 == nil && err2 == nil && a.Unmap().WithZone("") == b.Unmap().WithZone("")
}

// crossSite reports whether the browser says that another site made the
// request. Requests of a GET image or script carry no Origin, but this.
func crossSite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site":
		return true
	}
	return false
}

// Near reports whether the client is on this machine: the connection comes
// from a loopback address and no proxy says that it speaks for another.
func Near(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "True-Client-Ip", "Cf-Connecting-Ip", "Via"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	host, _ := splitHost(r.RemoteAddr)
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

// IsLoopback reports whether a listen address, host:port, stays on this machine.
func IsLoopback(addr string) bool {
	host, _ := splitHost(addr)
	return isLoopback(host)
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

func unspecified(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsUnspecified()
}

// splitHost splits host:port, "[::1]:80" and bare hosts, whose port is 80.
func splitHost(s string) (host, port string) {
	if h, p, err := net.SplitHostPort(s); err == nil {
		return h, p
	}
	return strings.Trim(s, "[]"), "80"
}

// clip keeps a header of a stranger short enough to repeat.
func clip(s string) string {
	return kb.Cut(strings.ToValidUTF8(s, ""), 100)
}

// URL returns the address to open for a listener bound to addr: loopback when
// it is bound to every address.
func URL(addr string) string {
	host, port := splitHost(addr)
	if unspecified(host) || host == "" {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// validPort reports whether p is a port number; 0 lets the system choose.
func validPort(p string) bool {
	n, err := strconv.Atoi(p)
	return err == nil && n >= 0 && n <= 65535
}
