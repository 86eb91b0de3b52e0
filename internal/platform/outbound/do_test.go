package outbound

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func here(t *testing.T, p Policy) *Client {
	t.Helper()
	p.Allow = append(p.Allow, "127.0.0.1")
	c, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func get(t *testing.T, c *Client, u string, header ...string) (*http.Response, []byte, error) {
	t.Helper()
	req, err := http.NewRequest("GET", u, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := c.Do(t.Context(), req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, b, err
}

func TestEncodings(t *testing.T) {
	text := []byte(strings.Repeat("the same again ", 1000))
	pack := map[string]func(io.Writer) io.WriteCloser{
		"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
		"br":      func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) },
		"raw":     func(w io.Writer) io.WriteCloser { f, _ := flate.NewWriter(w, 6); return f },
	}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		kind := strings.Trim(r.URL.Path, "/")
		switch kind {
		case "lie":
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(text)
			return
		case "empty":
			w.Header().Set("Content-Encoding", "gzip")
			return
		case "odd":
			w.Header().Set("Content-Encoding", "zstd")
			w.Write(text)
			return
		case "twice":
			w.Header().Set("Content-Encoding", "gzip, gzip")
			w.Write(text)
			return
		case "garbage":
			w.Header().Set("Content-Encoding", "br")
			w.Write(bytes.Repeat([]byte{0xff, 0x13, 0x37}, 1000))
			return
		case "cut":
			var b bytes.Buffer
			g := gzip.NewWriter(&b)
			g.Write(text)
			g.Close()
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(b.Bytes()[:b.Len()/2])
			return
		}
		name := kind
		if name == "raw" {
			name = "deflate"
		}
		w.Header().Set("Content-Encoding", name)
		p := pack[kind](w)
		p.Write(text)
		p.Close()
	})
	c := here(t, Policy{})
	for _, kind := range []string{"gzip", "deflate", "br", "raw", "lie"} {
		resp, b, err := get(t, c, s.URL+"/"+kind)
		if err != nil || !bytes.Equal(b, text) {
			t.Errorf("%s: %d bytes, %v", kind, len(b), err)
		} else if n := Received(resp); kind != "lie" && (n == 0 || n > 1000) {
			t.Errorf("%s: received %d bytes", kind, n)
		}
	}
	if _, b, err := get(t, c, s.URL+"/empty"); err != nil || len(b) != 0 {
		t.Errorf("empty: %q, %v", b, err)
	}
	for kind, code := range map[string]kb.Code{"odd": kb.Unsupported, "twice": kb.Unsupported, "garbage": kb.Corrupt, "cut": kb.Away} {
		if _, _, err := get(t, c, s.URL+"/"+kind); kb.CodeOf(err) != code || kb.HintOf(err) == "" {
			t.Errorf("%s: %v (%s)", kind, err, kb.CodeOf(err))
		}
	}
}

func TestLimits(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/big":
			for range 100 {
				w.Write(make([]byte, 1000))
			}
		case "/said":
			w.Header().Set("Content-Length", "100000")
			w.Write(make([]byte, 100000))
		case "/exact":
			w.Write(make([]byte, 50_000))
		case "/bomb", "/brbomb":
			var p io.WriteCloser
			if r.URL.Path == "/bomb" {
				w.Header().Set("Content-Encoding", "gzip")
				p = gzip.NewWriter(w)
			} else {
				w.Header().Set("Content-Encoding", "br")
				p = brotli.NewWriter(w)
			}
			for range 30 {
				p.Write(make([]byte, 1<<20))
			}
			p.Close()
		case "/headers":
			for i := range 300 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 1000))
			}
		case "/slow":
			w.Write([]byte("begun"))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "/cut":
			w.Header().Set("Content-Length", "1000")
			w.Write([]byte("begun"))
		}
	})
	small := here(t, Policy{MaxBytes: 50_000, Timeout: 10 * time.Second})
	large := here(t, Policy{MaxBytes: 100 << 20, Timeout: 10 * time.Second})
	hasty := here(t, Policy{Timeout: 100 * time.Millisecond})
	for _, tt := range []struct {
		c    *Client
		path string
		code kb.Code
		says string
	}{
		{small, "/big", kb.TooLarge, "larger than"}, {small, "/said", kb.TooLarge, "larger than"}, {small, "/exact", "", ""},
		{large, "/bomb", kb.TooLarge, "unfolds"}, {large, "/brbomb", kb.TooLarge, "unfolds"}, {small, "/bomb", kb.TooLarge, "larger than"},
		{large, "/headers", kb.TooLarge, "headers"}, {hasty, "/slow", kb.Away, "did not answer within"}, {large, "/cut", kb.Away, "broke off"},
	} {
		_, _, err := get(t, tt.c, s.URL+tt.path)
		if tt.code == "" {
			if err != nil {
				t.Errorf("%s: %v", tt.path, err)
			}
			continue
		}
		if kb.CodeOf(err) != tt.code || !strings.Contains(fmt.Sprint(err), tt.says) || kb.HintOf(err) == "" {
			t.Errorf("%s: %v (%s)", tt.path, err, kb.CodeOf(err))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequest("GET", s.URL+"/slow", nil)
	resp, err := large.Do(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	cancel()
	if _, err := io.ReadAll(resp.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while reading: %v", err)
	}
}

// What is meant for one server stays there.
func TestRedirectHeaders(t *testing.T) {
	var got http.Header
	var body string
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		b, _ := io.ReadAll(r.Body)
		body = r.Method + " " + string(b)
	})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, other.URL, http.StatusFound)
		case "/away307":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		case "/near":
			http.Redirect(w, r, "/end", http.StatusSeeOther)
		case "/near307":
			http.Redirect(w, r, "/end", http.StatusTemporaryRedirect)
		case "/end":
			got = r.Header
			b, _ := io.ReadAll(r.Body)
			body = r.Method + " " + string(b)
		case "/circle":
			http.Redirect(w, r, "/circle2", http.StatusFound)
		case "/circle2":
			http.Redirect(w, r, "/circle", http.StatusFound)
		default:
			http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
		}
	})
	c := here(t, Policy{UserAgent: "test/1"})
	secret := []string{"Authorization", "Bearer x", "Cookie", "a=b", "X-Api-Key", "k", "Accept", "text/html"}
	if _, _, err := get(t, c, s.URL+"/away", secret...); err != nil {
		t.Fatal(err)
	}
	if got.Get("Authorization")+got.Get("Cookie")+got.Get("X-Api-Key")+got.Get("Referer") != "" || got.Get("Accept") != "text/html" || got.Get("User-Agent") != "test/1" {
		t.Errorf("another origin got %v", got)
	}
	if _, _, err := get(t, c, s.URL+"/near", secret...); err != nil || got.Get("Authorization") != "Bearer x" || got.Get("X-Api-Key") != "k" {
		t.Errorf("the same origin got %v, %v", got, err)
	}
	post := func(path string) error {
		req, _ := http.NewRequest("POST", s.URL+path, strings.NewReader("body"))
		resp, err := c.Do(t.Context(), req)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	if err := post("/near307"); err != nil || body != "POST body" {
		t.Errorf("307: %q, %v", body, err)
	}
	if err := post("/near"); err != nil || body != "GET " {
		t.Errorf("303: %q, %v", body, err)
	}
	body = ""
	if err := post("/away307"); kb.CodeOf(err) != kb.Denied || body != "" {
		t.Errorf("307 to another origin: %q, %v", body, err)
	}
	for _, p := range []string{"/circle", "/long"} {
		if _, _, err := get(t, c, s.URL+p); kb.CodeOf(err) != kb.Away || !strings.Contains(err.Error(), "redirects") {
			t.Errorf("%s: %v", p, err)
		}
	}
	req, _ := http.NewRequest("GET", s.URL+"/circle", nil)
	resp, err := c.Once(t.Context(), req)
	if err != nil || resp.StatusCode != http.StatusFound {
		t.Fatalf("once: %v", err)
	}
	resp.Body.Close()
}

// The environment names no proxy; the user's configuration does.
func TestProxy(t *testing.T) {
	asked := ""
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) { asked = r.RequestURI; io.WriteString(w, "by proxy") })
	t.Setenv("HTTP_PROXY", proxy.URL)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "direct") })
	if _, b, err := get(t, here(t, Policy{}), s.URL); err != nil || string(b) != "direct" {
		t.Errorf("%q, %v", b, err)
	}
	n := &names{asked: map[string]int{}, list: map[string][]string{"inside.test": {"10.0.0.1"}}}
	c, err := New(Policy{Proxy: proxy.URL, Lookup: n.lookup})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, b, err := get(t, c, "http://only-the-proxy-knows.test/x"); err != nil || string(b) != "by proxy" || asked != "http://only-the-proxy-knows.test/x" {
		t.Errorf("%q, %q, %v", b, asked, err)
	}
	for _, u := range []string{"http://inside.test/", s.URL, "http://169.254.169.254/"} {
		if _, _, err := get(t, c, u); kb.CodeOf(err) != kb.Denied {
			t.Errorf("%s through a proxy: %v", u, err)
		}
	}
	if _, err := New(Policy{Proxy: "nonsense"}); kb.CodeOf(err) != kb.Invalid {
		t.Error(err)
	}
}

func TestTLS(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) }))
	defer s.Close()
	s.Config.ErrorLog = nil
	if _, _, err := get(t, here(t, Policy{}), s.URL); kb.CodeOf(err) != kb.Away || !strings.Contains(err.Error(), "trusted") {
		t.Errorf("a certificate of nobody: %v", err)
	}
	roots := s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	if _, b, err := get(t, here(t, Policy{RootCAs: roots}), s.URL); err != nil || len(b) == 0 {
		t.Errorf("%q, %v", b, err)
	}
	plain := serve(t, func(w http.ResponseWriter, r *http.Request) {})
	if _, _, err := get(t, here(t, Policy{}), strings.Replace(plain.URL, "http:", "https:", 1)); kb.CodeOf(err) != kb.Away {
		t.Errorf("https to http: %v", err)
	}
}
