package outbound

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// TestRelay goes through the guard as a proxy: to where the policy lets it, in
// the clear and through a tunnel, to nowhere else, and only with its password.
func TestRelay(t *testing.T) {
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != "" {
			t.Error("the server is told the relay's password")
		}
		io.WriteString(w, "hello")
	})
	plain, secure := httptest.NewServer(hello), httptest.NewTLSServer(hello)
	defer plain.Close()
	defer secure.Close()
	var seen atomic.Int64
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { seen.Add(1) }))
	defer inside.Close()

	c, err := New(Policy{Allow: []string{strings.TrimPrefix(plain.URL, "http://"), strings.TrimPrefix(secure.URL, "https://")}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	relay, err := c.Relay()
	if err != nil {
		t.Fatal(err)
	}
	defer relay.Close()
	through := func(proxy, address string) (int, string) {
		u, err := url.Parse(proxy)
		if err != nil {
			t.Fatal(err)
		}
		tr := secure.Client().Transport.(*http.Transport).Clone()
		tr.Proxy = http.ProxyURL(u)
		defer tr.CloseIdleConnections()
		resp, err := (&http.Client{Transport: tr}).Get(address)
		if err != nil {
			return 0, err.Error()
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(b)
	}
	for _, address := range []string{plain.URL, secure.URL} {
		if status, body := through(relay.URL, address); status != http.StatusOK || body != "hello" {
			t.Errorf("%s: %d %s", address, status, body)
		}
	}
	if relay.Refused() != nil {
		t.Errorf("refused: %v", relay.Refused())
	}
	for _, address := range []string{inside.URL, strings.Replace(inside.URL, "http:", "https:", 1)} {
		if status, body := through(relay.URL, address); status == http.StatusOK || kb.CodeOf(relay.Refused()) != kb.Denied {
			t.Errorf("%s: %d %s; refused: %v", address, status, body, relay.Refused())
		}
	}
	u, _ := url.Parse(relay.URL)
	u.User = url.UserPassword("git", "guess")
	if status, _ := through(u.String(), plain.URL); status != http.StatusProxyAuthRequired {
		t.Errorf("with a wrong password: %d", status)
	}
	if seen.Load() != 0 {
		t.Errorf("%d requests came through", seen.Load())
	}
}
