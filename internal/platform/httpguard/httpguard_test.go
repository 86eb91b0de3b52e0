package httpguard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	own    = "127.0.0.1:7390"
	near   = "127.0.0.1:50000"
	far    = "192.0.2.7:50000"
	secret = "right"
)

// asked is one request of the table.
type asked struct {
	host, remote, origin, token, site, forwarded string
}

func (a asked) request() *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.Host, r.RemoteAddr = a.host, a.remote
	for k, v := range map[string]string{"Origin": a.origin, "Sec-Fetch-Site": a.site, "X-Forwarded-For": a.forwarded} {
		if v != "" {
			r.Header.Set(k, v)
		}
	}
	if a.token != "" {
		r.Header.Set("Authorization", "Bearer "+a.token)
	}
	return r
}

// TestClasses is the whole table: class × loopback or not × token × origin.
// want lists the status of Person, Token, Read, Answer, Open.
func TestClasses(t *testing.T) {
	const ownOrigin, listed, foreign = "http://" + own, "https://docs.example.org", "https://evil.example"
	for _, tc := range []struct {
		remote, token, origin string
		want                  [5]int
	}{
		{near, "", "", [5]int{401, 401, 401, 0, 0}},
		{near, "", ownOrigin, [5]int{401, 401, 401, 0, 0}},
		{near, "", listed, [5]int{403, 403, 403, 0, 0}},
		{near, "", foreign, [5]int{403, 403, 403, 403, 0}},
		{near, "", "null", [5]int{403, 403, 403, 403, 0}},
		{near, "wrong", "", [5]int{401, 401, 401, 0, 0}},
		{near, "wrong", ownOrigin, [5]int{401, 401, 401, 0, 0}},
		{near, secret, "", [5]int{403, 0, 0, 0, 0}},
		{near, secret, ownOrigin, [5]int{0, 0, 0, 0, 0}},
		{near, secret, listed, [5]int{403, 403, 403, 0, 0}},
		{near, secret, foreign, [5]int{403, 403, 403, 403, 0}},
		{far, "", "", [5]int{401, 401, 401, 401, 0}},
		{far, "", ownOrigin, [5]int{401, 401, 401, 401, 0}},
		{far, "", listed, [5]int{403, 403, 403, 0, 0}},
		{far, "", foreign, [5]int{403, 403, 403, 403, 0}},
		{far, "wrong", "", [5]int{401, 401, 401, 401, 0}},
		{far, secret, "", [5]int{403, 0, 0, 0, 0}},
		{far, secret, ownOrigin, [5]int{0, 0, 0, 0, 0}},
		{far, secret, listed, [5]int{403, 403, 403, 0, 0}},
		{far, secret, foreign, [5]int{403, 403, 403, 403, 0}},
	} {
		g := &Guard{Bound: own, Secret: secret, Origins: []string{listed}}
		for class, want := range tc.want {
			a := asked{host: own, remote: tc.remote, token: tc.token, origin: tc.origin}
			got, err := g.Check(a.request(), Class(class))
			if got != want || (err != nil) != (want != 0) {
				t.Errorf("class %d %+v: status %d, err %v, want %d", class, a, got, err, want)
			}
			if err != nil && (err.Message == "" || err.Hint == "") {
				t.Errorf("class %d %+v: no sentence or no hint: %+v", class, a, err)
			}
			a.host = "evil.example:7390"
			if got, _ := g.Check(a.request(), Class(class)); got != 403 {
				t.Errorf("class %d with a foreign host: status %d, want 403", class, got)
			}
		}
	}
}

// TestSwitches: --open-read takes the token from what only reads, on this
// machine alone; --require-token asks for it also for what is public.
func TestSwitches(t *testing.T) {
	const listed = "https://docs.example.org"
	open := &Guard{Bound: own, Secret: secret, OpenRead: true, Origins: []string{listed}}
	locked := &Guard{Bound: own, Secret: secret, RequireToken: true, Origins: []string{listed}}
	for _, tc := range []struct {
		g     *Guard
		a     asked
		class Class
		want  int
	}{
		{open, asked{host: own, remote: near}, Read, 0},
		{open, asked{host: own, remote: near, origin: "http://" + own}, Read, 0},
		{open, asked{host: own, remote: near, origin: listed}, Read, 403},
		{open, asked{host: own, remote: near, site: "cross-site"}, Read, 403},
		{open, asked{host: own, remote: near, forwarded: "192.0.2.9"}, Read, 401},
		{open, asked{host: own, remote: far}, Read, 401},
		{open, asked{host: own, remote: far, token: secret}, Read, 0},
		{open, asked{host: own, remote: near}, Token, 401},
		{locked, asked{host: own, remote: near}, Read, 401},
		{locked, asked{host: own, remote: near, token: secret}, Read, 0},
		{locked, asked{host: own, remote: near}, Answer, 401},
		{locked, asked{host: own, remote: near, origin: listed}, Answer, 0},
		{locked, asked{host: own, remote: near, token: secret}, Answer, 0},
		{locked, asked{host: own, remote: near}, Open, 0},
	} {
		if got, _ := tc.g.Check(tc.a.request(), tc.class); got != tc.want {
			t.Errorf("%+v class %d: %d, want %d", tc.a, tc.class, got, tc.want)
		}
	}
}

// TestNoSecret: without a token everything but Person is open to this machine's programs, and no page.
func TestNoSecret(t *testing.T) {
	g := &Guard{Bound: own}
	for _, tc := range []struct {
		a     asked
		class Class
		want  int
	}{
		{asked{host: own, remote: near}, Token, 0},
		{asked{host: own, remote: near, origin: "http://" + own}, Person, 0},
		{asked{host: own, remote: near}, Person, 403},
		{asked{host: own, remote: near, origin: "https://evil.example"}, Token, 403},
		{asked{host: "evil.example:7390", remote: near}, Token, 403},
		{asked{host: own, remote: near, site: "cross-site"}, Token, 403},
	} {
		if got, _ := g.Check(tc.a.request(), tc.class); got != tc.want {
			t.Errorf("%+v class %d: %d, want %d", tc.a, tc.class, got, tc.want)
		}
	}
}

func TestHost(t *testing.T) {
	lan := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 7390}
	for _, tc := range []struct {
		bound, host string
		local       net.Addr
		hosts       []string
		want        bool
	}{
		{own, own, nil, nil, true},
		{own, "localhost:7390", nil, nil, true},
		{own, "LocalHost:7390", nil, nil, true},
		{own, "[::1]:7390", nil, nil, true},
		{own, "127.1.2.3:7390", nil, nil, true},
		{own, "127.0.0.1:7391", nil, nil, false},
		{own, "127.0.0.1", nil, nil, false},
		{"127.0.0.1:80", "127.0.0.1", nil, nil, true},
		{own, "evil.example:7390", nil, nil, false},
		{own, "127.0.0.1.evil.example:7390", nil, nil, false},
		{own, "localhost.:7390", nil, nil, false},
		{own, "", nil, nil, false},
		{own, "proxy.example", nil, []string{"proxy.example"}, true},
		{own, "192.0.2.1:7390", nil, nil, false},
		{"0.0.0.0:7390", "192.0.2.1:7390", lan, nil, true},
		{"0.0.0.0:7390", "192.0.2.2:7390", lan, nil, false},
		{"0.0.0.0:7390", "evil.example:7390", lan, nil, false},
		{"0.0.0.0:7390", "0.0.0.0:7390", lan, nil, false},
		{"box.lan:7390", "box.lan:7390", lan, nil, true},
	} {
		g := &Guard{Bound: tc.bound, Secret: secret, Hosts: tc.hosts}
		r := asked{host: tc.host, remote: near}.request()
		if tc.local != nil {
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, tc.local))
		}
		if got := g.hostAllowed(r); got != tc.want {
			t.Errorf("bound %s host %q: %v, want %v", tc.bound, tc.host, got, tc.want)
		}
	}
}

func TestCrossSiteWithoutOrigin(t *testing.T) {
	g := &Guard{Bound: own, Secret: secret, OpenRead: true}
	for site, want := range map[string]int{"cross-site": 403, "same-site": 403, "same-origin": 0, "none": 0, "": 0} {
		if got, _ := g.Check(asked{host: own, remote: near, site: site}.request(), Read); got != want {
			t.Errorf("Sec-Fetch-Site %q: %d, want %d", site, got, want)
		}
	}
}

func TestNear(t *testing.T) {
	for _, tc := range []struct {
		a    asked
		want bool
	}{
		{asked{remote: near}, true},
		{asked{remote: "[::1]:1"}, true},
		{asked{remote: "[::ffff:127.0.0.1]:1"}, true},
		{asked{remote: far}, false},
		{asked{remote: "garbage"}, false},
		{asked{remote: near, forwarded: "192.0.2.7"}, false},
	} {
		if got := Near(tc.a.request()); got != tc.want {
			t.Errorf("%+v: %v, want %v", tc.a, got, tc.want)
		}
	}
	// What any proxy says of itself is enough: it speaks for another.
	for _, header := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Real-IP", "Via"} {
		r := asked{remote: near}.request()
		r.Header.Set(header, "x")
		if Near(r) {
			t.Errorf("a request with %s counts as one from this machine", header)
		}
	}
}

func TestLimiter(t *testing.T) {
	now := time.Unix(1000, 0)
	l := &Limiter{Rate: 2, Burst: 3, now: func() time.Time { return now }}
	take := func(remote string) (n int) {
		for l.Allow(remote) {
			n++
		}
		return n
	}
	if got := take("192.0.2.1:1"); got != 3 {
		t.Errorf("burst %d, want 3", got)
	}
	if got := take("192.0.2.1:2"); got != 0 {
		t.Errorf("another port of the same client got %d", got)
	}
	if got := take("192.0.2.2:1"); got != 3 {
		t.Errorf("another client got %d, want 3", got)
	}
	if take("[2001:db8::1]:1"); take("[2001:db8::2]:1") != 0 {
		t.Error("a neighbour in the same /64 got more")
	}
	now = now.Add(time.Second)
	if got := take("192.0.2.1:1"); got != 2 {
		t.Errorf("after a second %d, want 2", got)
	}
	for i := range maxBuckets + 100 {
		l.Allow(fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255))
	}
	if len(l.buckets) > maxBuckets {
		t.Errorf("%d buckets kept", len(l.buckets))
	}
}

func TestLimitIsForFarAnswersOnly(t *testing.T) {
	g := &Guard{Bound: own, Secret: secret, Origins: []string{"https://a.example"}, Limit: &Limiter{Rate: 0.001, Burst: 2}}
	last := func(a asked, class Class) (status int) {
		for range 5 {
			status, _ = g.Check(a.request(), class)
		}
		return status
	}
	if got := last(asked{host: own, remote: far, origin: "https://a.example"}, Answer); got != 429 {
		t.Errorf("far: %d, want 429", got)
	}
	if got := last(asked{host: own, remote: near, origin: "https://a.example"}, Answer); got != 0 {
		t.Errorf("near: %d, want 0", got)
	}
	if got := last(asked{host: own, remote: far, token: secret}, Read); got != 0 {
		t.Errorf("far reader: %d, want 0", got)
	}
}

func TestNewToken(t *testing.T) {
	a, b := NewToken(), NewToken()
	if len(a) != 43 || a == b {
		t.Errorf("tokens %q and %q", a, b)
	}
}

func TestListen(t *testing.T) {
	ln, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, err = Listen(t.Context(), ln.Addr().String())
	if kb.CodeOf(err) != kb.Busy || !strings.Contains(kb.HintOf(err), "port") {
		t.Errorf("busy port: %v (%s), hint %q", err, kb.CodeOf(err), kb.HintOf(err))
	}
	for _, addr := range []string{"", "7390", ":7390", "127.0.0.1", "127.0.0.1:http", "127.0.0.1:99999", "203.0.113.1:7390"} {
		ln, err := Listen(t.Context(), addr)
		if err == nil {
			ln.Close()
		}
		if kb.CodeOf(err) != kb.Invalid || kb.HintOf(err) == "" {
			t.Errorf("%q: %v (%s)", addr, err, kb.CodeOf(err))
		}
	}
}

func TestIsLoopbackAndURL(t *testing.T) {
	for addr, want := range map[string]bool{
		"127.0.0.1:1": true, "localhost:1": true, "[::1]:1": true,
		"0.0.0.0:1": false, "[::]:1": false, "192.0.2.1:1": false, "example.org:1": false, ":1": false,
	} {
		if got := IsLoopback(addr); got != want {
			t.Errorf("IsLoopback(%q) = %v", addr, got)
		}
	}
	for addr, want := range map[string]string{
		"127.0.0.1:7390": "http://127.0.0.1:7390", "[::]:80": "http://127.0.0.1:80", "[::1]:80": "http://[::1]:80",
	} {
		if got := URL(addr); got != want {
			t.Errorf("URL(%q) = %q, want %q", addr, got, want)
		}
	}
}

func TestServerHasTimeouts(t *testing.T) {
	s := Server(http.NotFoundHandler())
	if s.ReadHeaderTimeout <= 0 || s.ReadTimeout <= 0 || s.IdleTimeout <= 0 || s.MaxHeaderBytes <= 0 {
		t.Errorf("a slow client can hold the server: %+v", s)
	}
}

// TestRun: the end of the context lets running requests end and names those that do not.
func TestRun(t *testing.T) {
	ln, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	began := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(began)
		<-ctx.Done()
		io.WriteString(w, "done")
	})
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, Server(h), ln) }()
	got := make(chan error, 1)
	go func() {
		tr := &http.Transport{}
		defer tr.CloseIdleConnections()
		res, err := (&http.Client{Transport: tr}).Get("http://" + ln.Addr().String())
		if err == nil {
			b, _ := io.ReadAll(res.Body)
			res.Body.Close()
			if string(b) != "done" {
				err = errors.New("got " + string(b))
			}
		}
		got <- err
	}()
	<-began
	cancel()
	if err := <-got; err != nil {
		t.Errorf("the running request: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
}
