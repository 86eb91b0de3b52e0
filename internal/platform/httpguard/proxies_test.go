package httpguard

import (
	"net/http/httptest"
	"net/netip"
	"testing"
)

func TestClient(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("2001:db8:1::/48")}
	for _, c := range []struct {
		name, peer, reads string
		header            [][2]string
		want              string
	}{
		{"nobody says anything", "192.0.2.1:99", "", nil, "192.0.2.1"},
		{"a stranger says it", "192.0.2.1:99", "", [][2]string{{"X-Forwarded-For", "198.51.100.7"}}, "192.0.2.1"},
		{"a proxy says it", "127.0.0.1:99", "", [][2]string{{"X-Forwarded-For", "198.51.100.7"}}, "198.51.100.7"},
		{"a client made up the begin", "127.0.0.1:99", "", [][2]string{{"X-Forwarded-For", "203.0.113.9, 198.51.100.7"}}, "198.51.100.7"},
		{"in a line of its own", "127.0.0.1:99", "", [][2]string{{"X-Forwarded-For", "203.0.113.9"}, {"X-Forwarded-For", "198.51.100.7"}}, "198.51.100.7"},
		{"through two proxies", "127.0.0.1:99", "", [][2]string{{"X-Forwarded-For", "203.0.113.9, 198.51.100.7, 10.1.2.3"}}, "198.51.100.7"},
		{"another header is made up", "127.0.0.1:99", "", [][2]string{{"X-Real-IP", "203.0.113.9"}, {"CF-Connecting-IP", "203.0.113.9"}, {"Forwarded", "for=203.0.113.9"}}, "127.0.0.1"},
		{"no address", "127.0.0.1:99", "", [][2]string{{"X-Forwarded-For", "198.51.100.7, what"}}, "127.0.0.1"},
		{"with a port", "127.0.0.1:99", "", [][2]string{{"X-Forwarded-For", "198.51.100.7:1234"}}, "198.51.100.7"},
		{"IPv6", "[2001:db8:1::5]:99", "", [][2]string{{"X-Forwarded-For", "2001:db8:2::1"}}, "2001:db8:2::1"},
		{"IPv4 in IPv6", "[::ffff:127.0.0.1]:99", "", [][2]string{{"X-Forwarded-For", "::ffff:198.51.100.7"}}, "198.51.100.7"},
		{"Forwarded", "127.0.0.1:99", "Forwarded", [][2]string{{"Forwarded", `for=203.0.113.9;proto=http, proto=https;FOR="[2001:db8:2::1]:80"`}}, "2001:db8:2::1"},
		{"Forwarded hides it", "127.0.0.1:99", "Forwarded", [][2]string{{"Forwarded", `for=203.0.113.9, for=_hidden`}}, "127.0.0.1"},
		{"X-Real-IP", "127.0.0.1:99", "X-Real-IP", [][2]string{{"X-Real-IP", "198.51.100.7"}, {"X-Forwarded-For", "203.0.113.9"}}, "198.51.100.7"},
		{"X-Real-IP twice", "127.0.0.1:99", "X-Real-IP", [][2]string{{"X-Real-IP", "198.51.100.7"}, {"X-Real-IP", "203.0.113.9"}}, "127.0.0.1"},
		{"CF-Connecting-IP", "10.9.9.9:99", "CF-Connecting-IP", [][2]string{{"Cf-Connecting-Ip", "198.51.100.7"}}, "198.51.100.7"},
		{"all are trusted", "127.0.0.1:99", "", [][2]string{{"X-Forwarded-For", "10.0.0.1, 10.0.0.2"}}, "10.0.0.1"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.peer
		for _, h := range c.header {
			r.Header.Add(h[0], h[1])
		}
		p := &Proxies{Trusted: trusted, Header: c.reads}
		if got := p.Client(r); got != netip.MustParseAddr(c.want) {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "192.0.2.1:99"
	p := &Proxies{Trusted: trusted}
	if p.Speaks(r) {
		t.Error("a client without a header is taken for a proxy")
	}
	r.Header.Set("X-Forwarded-For", "198.51.100.7")
	if !p.Speaks(r) {
		t.Error("a proxy that is not trusted is not noticed")
	}
}
