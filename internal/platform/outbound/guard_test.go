package outbound

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// victim is a service of this machine that no request must reach. It listens on
// both loopback addresses where there are both.
type victim struct {
	port string
	hits atomic.Int64
}

func newVictim(t *testing.T) *victim {
	t.Helper()
	v := &victim{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, v.port, _ = net.SplitHostPort(l.Addr().String())
	listeners := []net.Listener{l}
	if six, err := net.Listen("tcp", "[::1]:"+v.port); err == nil {
		listeners = append(listeners, six)
	}
	for _, l := range listeners {
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				v.hits.Add(1)
				c.Close()
			}
		}()
	}
	return v
}

// names answers lookups from a list; a name with several entries gives another one each time.
type names struct {
	mu    sync.Mutex
	list  map[string][]string
	asked map[string]int
}

func (n *names) lookup(_ context.Context, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	answers, ok := n.list[host]
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	i := min(n.asked[host], len(answers)-1)
	n.asked[host]++
	var out []netip.Addr
	for _, s := range strings.Fields(answers[i]) {
		out = append(out, netip.MustParseAddr(s))
	}
	return out, nil
}

// hostile are URLs that lead into the machine or its network in one way or
// another; {V} is the victim's port.
var hostile = []string{
	"http://127.0.0.1:{V}/", "http://127.1.2.3:{V}/", "http://localhost:{V}/", "http://LOCALHOST.:{V}/", "http://sub.localhost:{V}/",
	"http://127.0.0.1.:{V}/", "http://0.0.0.0:{V}/", "http://0:{V}/", "http://0.1.2.3:{V}/",
	"http://2130706433:{V}/", "http://017700000001:{V}/", "http://0x7f000001:{V}/", "http://0x7f.0x0.0x0.0x1:{V}/", "http://0177.0.0.1:{V}/",
	"http://127.1:{V}/", "http://127.0.1:{V}/", "http://127.0.0.0x1:{V}/", "http://00127.0.0.1:{V}/", "http://4294967297:{V}/",
	"http://[::1]:{V}/", "http://[::]:{V}/", "http://[0:0:0:0:0:0:0:1]:{V}/", "http://[::ffff:127.0.0.1]:{V}/", "http://[::ffff:7f00:1]:{V}/",
	"http://[::127.0.0.1]:{V}/", "http://[64:ff9b::7f00:1]:{V}/", "http://[64:ff9b::127.0.0.1]:{V}/", "http://[64:ff9b:1::7f00:1]:{V}/",
	"http://[2002:7f00:1::]:{V}/", "http://[2001:0:7f00:1::]:{V}/", "http://[fe80::1%25lo]:{V}/", "http://[::1%25lo]:{V}/", "http://[fe80::1]:{V}/",
	"http://[fc00::1]:{V}/", "http://[fd12:3456::1]:{V}/", "http://[fec0::1]:{V}/", "http://[ff02::1]:{V}/", "http://[2001:db8::1]:{V}/", "http://[4000::1]:{V}/",
	"http://10.0.0.1:{V}/", "http://172.16.0.1:{V}/", "http://172.31.255.255/", "http://192.168.0.1/", "http://100.64.0.1/", "http://198.18.0.1/",
	"http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/", "http://100.100.100.200/", "http://168.63.129.16/", "http://192.0.0.192/",
	"http://224.0.0.1/", "http://239.255.255.250/", "http://255.255.255.255/", "http://240.0.0.1/",
	"http://one.test:{V}/", "http://six.test:{V}/", "http://mapped.test:{V}/", "http://mixed.test:{V}/", "http://private.test/", "http://meta.test/",
	"http://nat64.test:{V}/", "http://link.test:{V}/", "http://zone.test:{V}/", "http://flip.test:{V}/again",
	"http://public.test@127.0.0.1:{V}/", "http://127.0.0.1:{V}@127.0.0.1:{V}/", "http://①②⑦.⓪.⓪.①:{V}/", "http://127。0。0。1:{V}/", "http://ⓛocalhost:{V}/",
	"http://public.test:22/", "http://public.test:25/", "http://public.test:6379/", "http://public.test:0/",
	"file:///etc/passwd", "ftp://127.0.0.1:{V}/", "gopher://127.0.0.1:{V}/_x", "unix:///var/run/docker.sock", "data:text/html,x", "javascript:alert(1)",
	"//127.0.0.1:{V}/", "http://127.0.0.1:{V}\\@public.test/", "http:///127.0.0.1:{V}/", "http:127.0.0.1:{V}/",
}

// Whatever a URL looks like, alone or at the end of a chain of redirects:
// nothing in the machine or its network is reached.
func TestHostile(t *testing.T) {
	v := newVictim(t)
	n := &names{asked: map[string]int{}, list: map[string][]string{
		"attacker.test": {"127.0.0.1"}, "public.test": {"93.184.216.34"},
		"localhost": {"127.0.0.1 ::1"}, "sub.localhost": {"127.0.0.1"},
		"one.test": {"127.0.0.1"}, "six.test": {"::1"}, "mapped.test": {"::ffff:127.0.0.1"}, "mixed.test": {"93.184.216.34 127.0.0.1"},
		"private.test": {"10.1.2.3"}, "meta.test": {"169.254.169.254"}, "nat64.test": {"64:ff9b::a00:1"}, "link.test": {"fe80::1"}, "zone.test": {"fe80::1%lo"},
		"flip.test": {"93.184.216.34", "127.0.0.1"},
	}}
	// A server that may be reached sends its clients on, directly or in three hops.
	attacker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := r.URL.Query().Get("to")
		if hops := r.URL.Query().Get("hops"); hops != "" {
			to = "/?" + url.Values{"to": {to}, "hops": {hops[1:]}}.Encode()
		}
		w.Header()["Location"] = []string{to}
		w.WriteHeader([]int{301, 302, 303, 307, 308}[len(to)%5])
	}))
	defer attacker.Close()
	_, port, _ := net.SplitHostPort(attacker.Listener.Addr().String())
	base := "http://attacker.test:" + port
	c, err := New(Policy{Allow: []string{"attacker.test:" + port}, Lookup: n.lookup, Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var mu sync.Mutex
	var dialed []string
	notHere := errors.New("no network in tests")
	c.watch = func(addr string) error {
		mu.Lock()
		defer mu.Unlock()
		if addr == "127.0.0.1:"+port {
			return nil
		}
		dialed = append(dialed, addr)
		return notHere
	}
	// The name that flips answers with a public address first: that very one is dialled.
	req, _ := http.NewRequest("GET", "http://flip.test:"+v.port+"/", nil)
	if _, err := c.Do(t.Context(), req); !errors.Is(err, notHere) || len(dialed) != 1 || dialed[0] != "93.184.216.34:"+v.port {
		t.Fatalf("the first answer was not dialled: %v, %v", err, dialed)
	}
	dialed = nil
	tries := 0
	for _, h := range hostile {
		h = strings.ReplaceAll(h, "{V}", v.port)
		for _, how := range []string{"direct", "", "xx"} {
			u := h
			if how != "direct" {
				u = base + "/?" + url.Values{"to": {h}, "hops": {how}}.Encode()
			}
			req, err := http.NewRequest("GET", u, nil)
			if err != nil {
				continue // not even a URL
			}
			tries++
			resp, err := c.Do(t.Context(), req)
			if err == nil {
				// Only what is no redirect to a client may come back as an answer.
				if Redirect(resp) != nil || resp.StatusCode < 300 || resp.StatusCode >= 400 || resp.Request.URL.Hostname() != "attacker.test" {
					t.Errorf("%s %s: status %d from %s", how, h, resp.StatusCode, resp.Request.URL)
				}
				resp.Body.Close()
				continue
			}
			if code := kb.CodeOf(err); code != kb.Denied && code != kb.Invalid && code != kb.Away {
				t.Errorf("%s %s: code %s: %v", how, h, code, err)
			}
			var e *kb.Error
			if !errors.As(err, &e) || e.Message == "" {
				t.Errorf("%s %s: no sentence: %v", how, h, err)
			}
		}
		if u, err := url.Parse(h); err == nil && u.Host != "" {
			if conn, err := c.DialContext(t.Context(), "tcp", net.JoinHostPort(u.Hostname(), portOf(u))); err == nil {
				t.Errorf("%s was dialled", h)
				conn.Close()
			}
		}
	}
	if v.hits.Load() != 0 {
		t.Errorf("the victim was reached %d times", v.hits.Load())
	}
	if len(dialed) != 0 {
		t.Errorf("dialled %v", dialed)
	}
	t.Logf("%d hostile URLs, %d requests, none reached", len(hostile), tries)
}

func TestAllow(t *testing.T) {
	n := &names{asked: map[string]int{}, list: map[string][]string{
		"docs.internal": {"10.1.2.3"}, "other.internal": {"10.1.2.3"}, "meta.internal": {"169.254.169.254"}, "localhost": {"127.0.0.1"},
		"dns64.test": {"64:ff9b::5db8:d822"}, "public.test": {"93.184.216.34"},
	}}
	for _, tt := range []struct {
		allow []string
		host  string
		port  string
		ok    bool
	}{
		{nil, "public.test", "443", true},
		{nil, "93.184.216.34", "8080", true},
		{nil, "2606:2800:220:1::1", "443", true},
		{nil, "dns64.test", "443", true}, // a public address on a network without IPv4
		{nil, "docs.internal", "443", false},
		{[]string{"docs.internal"}, "docs.internal", "443", true},
		{[]string{"docs.internal"}, "DOCS.internal.", "8443", true},
		{[]string{"docs.internal:443"}, "docs.internal", "443", true},
		{[]string{"docs.internal:443"}, "docs.internal", "80", false},
		{[]string{"docs.internal"}, "other.internal", "443", false},
		{[]string{"10.0.0.0/8"}, "other.internal", "443", true},
		{[]string{"10.1.2.3"}, "other.internal", "443", false}, // the address is allowed, not every name for it
		{[]string{"10.1.2.3"}, "10.1.2.3", "443", true},
		{[]string{"meta.internal"}, "meta.internal", "80", false},
		{[]string{"169.254.0.0/16"}, "meta.internal", "80", true},
		{[]string{"localhost:8080"}, "localhost", "8080", true},
		{[]string{"[::1]:8080"}, "::1", "8080", true},
		{[]string{"::1"}, "::1", "9090", true},
		{[]string{"127.0.0.1:22"}, "127.0.0.1", "22", true},
		{[]string{"127.0.0.1"}, "127.0.0.1", "22", false},
	} {
		c, err := New(Policy{Allow: tt.allow, Lookup: n.lookup})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Resolve(t.Context(), tt.host, tt.port)
		if (err == nil) != tt.ok {
			t.Errorf("%v: %s:%s: %v", tt.allow, tt.host, tt.port, err)
		}
		if err != nil && (kb.CodeOf(err) != kb.Denied || kb.HintOf(err) == "") {
			t.Errorf("%v: %s: code %s, hint %q", tt.allow, tt.host, kb.CodeOf(err), kb.HintOf(err))
		}
	}
	for _, bad := range []string{"", "*", "*.example.org", "http://x", "10.0.0.0/33", "a b", "host:0", "host:99999", "user@host", "fe80::1%lo"} {
		if _, err := New(Policy{Allow: []string{bad}}); kb.CodeOf(err) != kb.Invalid {
			t.Errorf("allow %q: %v", bad, err)
		}
	}
}

func TestPortsSorted(t *testing.T) {
	if !slices.IsSorted(blockedPorts) {
		t.Error("the ports are looked up by halving and must be sorted")
	}
}

// A name that does not resolve, and one without addresses, read as one of a
// private network does; a resolver that does not answer says so.
func TestResolveErrors(t *testing.T) {
	c, err := New(Policy{Lookup: func(ctx context.Context, host string) ([]netip.Addr, error) {
		switch host {
		case "none.test":
			return nil, nil
		case "gone.test":
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		case "here.test":
			return []netip.Addr{netip.MustParseAddr("10.0.0.7")}, nil
		case "both.test":
			return []netip.Addr{netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("10.0.0.7")}, nil
		}
		return nil, fmt.Errorf("timeout")
	}})
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{}
	for _, host := range []string{"none.test", "gone.test", "here.test", "both.test"} {
		_, err := c.Resolve(t.Context(), host, "80")
		if kb.CodeOf(err) != kb.Denied || kb.HintOf(err) == "" {
			t.Errorf("%s: %v", host, err)
		}
		said[strings.ReplaceAll(err.Error(), host, "HOST")+kb.HintOf(err)] = true
	}
	if len(said) != 1 {
		t.Errorf("names of a private network are told from others: %q", slices.Collect(maps.Keys(said)))
	}
	if _, err := c.Resolve(t.Context(), "slow.test", "80"); kb.CodeOf(err) != kb.Away || kb.HintOf(err) == "" {
		t.Errorf("slow.test: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Resolve(ctx, "slow.test", "80"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// What passes as a literal address is public, however it is written.
func FuzzCheckURL(f *testing.F) {
	for _, h := range hostile {
		f.Add(h)
	}
	f.Add("https://93.184.216.34/")
	c, err := New(Policy{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := url.Parse(s)
		if err != nil || c.CheckURL(u) != nil {
			return
		}
		if ip, err := netip.ParseAddr(strings.TrimSuffix(u.Hostname(), ".")); err == nil {
			ip = ip.Unmap()
			if ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() || ip.Zone() != "" {
				t.Errorf("%q passes", s)
			}
		}
		if u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
			t.Errorf("%q passes", s)
		}
	})
}
