package browser

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// proxy is an HTTP proxy on loopback for one browser. Every connection is
// opened by the dial function. What it refuses ends without an answer: a page
// that was answered, by whomever, would count as reached.
type proxy struct {
	dial  func(ctx context.Context, network, addr string) (net.Conn, error)
	limit int64
	ln    net.Listener
	srv   *http.Server
	tr    *http.Transport
	ctx   context.Context
	stop  context.CancelFunc

	traffic atomic.Int64 // bytes received for the page at hand
	last    atomic.Int64 // when something moved, unix nanoseconds
	active  atomic.Int64 // requests that are not answered yet

	mu      sync.Mutex
	tunnels map[net.Conn]bool
	why     error // the first refusal since reset
}

func newProxy(dial func(ctx context.Context, network, addr string) (net.Conn, error), limit int64) (*proxy, error) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, kb.Errorf(kb.Internal, "no port on loopback for the browser: %v", err)
	}
	p := &proxy{dial: dial, limit: limit, ln: ln, tunnels: map[net.Conn]bool{}}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.tr = &http.Transport{DialContext: p.open, DisableCompression: true, MaxIdleConnsPerHost: 6, IdleConnTimeout: 10 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second, MaxResponseHeaderBytes: 1 << 18}
	p.srv = &http.Server{Handler: p, ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 1 << 18}
	go func() { _ = p.srv.Serve(ln) }()
	return p, nil
}

func (p *proxy) addr() string { return p.ln.Addr().String() }

// reset begins the account of another page. Connections of the last one end.
func (p *proxy) reset() {
	p.tr.CloseIdleConnections()
	p.mu.Lock()
	for c := range p.tunnels {
		c.Close()
	}
	p.why = nil
	p.mu.Unlock()
	p.traffic.Store(0)
	p.touch()
}

func (p *proxy) touch()           { p.last.Store(time.Now().UnixNano()) }
func (p *proxy) moved() time.Time { return time.Unix(0, p.last.Load()) }
func (p *proxy) busy() int64      { return p.active.Load() }
func (p *proxy) spent() bool      { return p.traffic.Load() > p.limit }

func (p *proxy) refused() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why
}

func (p *proxy) close() {
	p.stop()
	_ = p.srv.Close()
	p.tr.CloseIdleConnections()
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.tunnels {
		c.Close()
	}
}

// open dials and counts what comes in.
func (p *proxy) open(ctx context.Context, network, addr string) (net.Conn, error) {
	if p.spent() {
		return nil, errors.New("the page has loaded too much")
	}
	c, err := p.dial(ctx, network, addr)
	if err != nil {
		p.mu.Lock()
		if p.why == nil && ctx.Err() == nil {
			p.why = err
		}
		p.mu.Unlock()
		return nil, err
	}
	return &counted{Conn: c, p: p}, nil
}

// counted is a connection whose bytes are counted.
type counted struct {
	net.Conn
	p *proxy
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.p.touch()
		if c.p.traffic.Add(int64(n)) > c.p.limit {
			return n, errors.New("the page has loaded too much")
		}
	}
	return n, err
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.touch()
	if r.Method == http.MethodConnect {
		p.tunnel(w, r)
		return
	}
	if r.URL.Scheme != "http" || r.URL.Host == "" {
		http.Error(w, "this is a proxy", http.StatusBadRequest)
		return
	}
	p.active.Add(1)
	defer p.active.Add(-1)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	out := r.Clone(ctx)
	out.RequestURI = ""
	for _, h := range []string{"Proxy-Connection", "Proxy-Authorization", "Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade"} {
		out.Header.Del(h)
	}
	resp, err := p.tr.RoundTrip(out)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer resp.Body.Close()
	for k, v := range resp.Header {
		if k != "Connection" && k != "Keep-Alive" && k != "Transfer-Encoding" {
			w.Header()[k] = v
		}
	}
	w.WriteHeader(resp.StatusCode)
	buf := make([]byte, 32<<10)
	for {
		n, err := resp.Body.Read(buf)
		if n > 0 {
			if _, werr := w.Write(buf[:n]); werr != nil {
				return
			}
			if f, ok := w.(http.Flusher); ok {
				f.Flush()
			}
		}
		if err != nil {
			if err != io.EOF {
				panic(http.ErrAbortHandler) // the page must not take it for whole
			}
			return
		}
	}
}

// tunnel joins the browser with a host for https and web sockets.
func (p *proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	p.active.Add(1)
	up, err := func() (net.Conn, error) {
		defer p.active.Add(-1)
		ctx, cancel := context.WithTimeout(r.Context(), 30*time.Second)
		defer cancel()
		return p.open(ctx, "tcp", r.Host)
	}()
	if err != nil {
		http.Error(w, "not reached", http.StatusBadGateway)
		return
	}
	defer up.Close()
	hj, ok := w.(http.Hijacker)
	if !ok {
		return
	}
	down, rw, err := hj.Hijack()
	if err != nil {
		return
	}
	defer down.Close()
	p.mu.Lock()
	p.tunnels[up], p.tunnels[down] = true, true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.tunnels, up)
		delete(p.tunnels, down)
		p.mu.Unlock()
	}()
	if p.ctx.Err() != nil {
		return
	}
	if _, err := io.WriteString(down, "HTTP/1.1 200 Connection Established\r\n\r\n"); err != nil {
		return
	}
	done := make(chan struct{}, 2)
	go func() {
		_, _ = io.Copy(up, rw)
		up.Close()
		done <- struct{}{}
	}()
	go func() {
		_, _ = io.Copy(down, up)
		down.Close()
		done <- struct{}{}
	}()
	<-done
	<-done
}
