package outbound

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Relay is a client as an HTTP proxy on loopback, for a program that dials by
// itself: its requests pass the guard, redirects too. Only those with the
// password in the URL are served.
type Relay struct {
	URL string // of the proxy, with user name and password

	c      *Client
	secret string
	srv    *http.Server
	ctx    context.Context
	stop   context.CancelFunc

	mu      sync.Mutex
	refused error
}

// Relay starts a relay. The caller closes it.
func (c *Client) Relay() (*Relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, kb.Errorf(kb.Internal, "no port on loopback can be had: %w", err).WithHint("try again")
	}
	r := &Relay{c: c, secret: rand.Text()}
	r.ctx, r.stop = context.WithCancel(context.Background())
	r.URL = (&url.URL{Scheme: "http", User: url.UserPassword("git", r.secret), Host: l.Addr().String()}).String()
	r.srv = &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return r.ctx }}
	go r.srv.Serve(l)
	return r, nil
}

// Close ends the relay and what goes through it.
func (r *Relay) Close() {
	r.stop()
	r.srv.Close()
}

// Refused returns why the guard refused something, nil when it did not.
func (r *Relay) Refused() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused
}

func (r *Relay) fail(w http.ResponseWriter, err error) {
	r.mu.Lock()
	if r.refused == nil {
		r.refused = err
	}
	r.mu.Unlock()
	http.Error(w, err.Error(), http.StatusBadGateway)
}

// ServeHTTP implements http.Handler.
func (r *Relay) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	asked := &http.Request{Header: http.Header{"Authorization": req.Header["Proxy-Authorization"]}}
	if _, p, ok := asked.BasicAuth(); !ok || subtle.ConstantTimeCompare([]byte(p), []byte(r.secret)) != 1 {
		w.Header().Set("Proxy-Authenticate", `Basic realm="relay"`)
		http.Error(w, "not for you", http.StatusProxyAuthRequired)
		return
	}
	if req.Method == http.MethodConnect {
		r.tunnel(w, req)
		return
	}
	if !req.URL.IsAbs() {
		http.Error(w, "this is a proxy", http.StatusBadRequest)
		return
	}
	out := req.Clone(req.Context())
	out.RequestURI = ""
	for _, h := range []string{"Proxy-Authorization", "Proxy-Connection", "Connection", "Keep-Alive", "Te", "Trailer", "Upgrade"} {
		out.Header.Del(h)
	}
	resp, err := r.c.Once(req.Context(), out)
	if err != nil {
		r.fail(w, err)
		return
	}
	defer resp.Body.Close()
	for k, v := range resp.Header {
		w.Header()[k] = v
	}
	w.WriteHeader(resp.StatusCode)
	io.Copy(w, resp.Body) // who asked sees that it ends early
}

// tunnel joins the client's connection with one to the host that it names.
func (r *Relay) tunnel(w http.ResponseWriter, req *http.Request) {
	far, err := r.c.DialContext(req.Context(), "tcp", req.Host)
	if err != nil {
		r.fail(w, err)
		return
	}
	defer far.Close()
	near, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		r.fail(w, err)
		return
	}
	defer near.Close()
	// A hijacked connection is no longer the server's to close.
	defer context.AfterFunc(r.ctx, func() { near.Close(); far.Close() })()
	if _, err := near.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
		return
	}
	done := make(chan struct{}, 2)
	go func() { io.Copy(far, buffered); done <- struct{}{} }()
	go func() { io.Copy(near, far); done <- struct{}{} }()
	<-done
}
