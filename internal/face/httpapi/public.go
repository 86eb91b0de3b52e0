package httpapi

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/answers"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
)

// The side of the server that a public site may show: questions to public
// stores, ratings of the answers, the widget and health, with no other route
// behind them, and no token that opens one. Proxies that the configuration
// names say who the client is; who is not named is the client himself.

// publicRoutes are all there are; docs/publish.md lists them.
var publicRoutes = []struct {
	pattern string // below the prefixes
	class   httpguard.Class
	do      func(*service, http.ResponseWriter, *http.Request)
}{
	{"POST /mcp/tools/call", httpguard.Answer, (*service).publicCall},
	{"POST /feedback", httpguard.Answer, (*service).ragFeedback},
	{"GET /chunks/{id}", httpguard.Open, (*service).ragChunk}, // a link may lead here from any page
	{"GET /mcp/tools", httpguard.Open, (*service).ragTools},
	{"GET /mcp/health", httpguard.Open, (*service).publicHealth},
}

// What one client may ask, and all together.
const (
	clientRate, clientBurst = 1, 20
	allRate, allBurst       = 30, 200
)

// baseKey marks requests of the public, and finds the address at which it
// reaches the server.
type baseKey struct{}

// publicSide is the listener for the public.
type publicSide struct {
	*service
	proxies  httpguard.Proxies
	base     string // the origin at which the public reaches it; "" is that of the request
	one, all *httpguard.Limiter
	once     sync.Once // says that a proxy is not trusted
}

// PublicHandler returns what the public may reach at addr.
func PublicHandler(a *app.App, addr string, c config.Public, origins []string, o Options) http.Handler {
	s := &service{
		app: a, log: o.log(), mux: http.NewServeMux(), public: true,
		guard:          &httpguard.Guard{Bound: addr, Origins: slices.Clone(origins)},
		ratings:        &httpguard.Limiter{Rate: 0.1, Burst: 30},
		sessionRatings: &httpguard.Limiter{Rate: 1.0 / 60, Burst: 10},
		asking:         make(chan struct{}, max(4, 2*runtime.GOMAXPROCS(0))),
	}
	p := &publicSide{
		service: s, proxies: httpguard.Proxies{Trusted: c.Trusted, Header: c.ClientHeader}, base: c.Host,
		one: &httpguard.Limiter{Rate: clientRate, Burst: clientBurst}, all: &httpguard.Limiter{Rate: allRate, Burst: allBurst},
	}
	if u, err := url.Parse(c.Host); err == nil && c.Host != "" {
		s.guard.Hosts = []string{u.Hostname()}
		s.guard.Origins = append(s.guard.Origins, c.Host)
	}
	for _, prefix := range ragPrefixes {
		for _, r := range publicRoutes {
			method, path, _ := strings.Cut(r.pattern, " ")
			s.rag(method+" "+prefix+path, r.class, func(w http.ResponseWriter, q *http.Request) {
				if r.class == httpguard.Answer || path == "/chunks/{id}" {
					if !p.mayAsk(w, q) {
						return
					}
				}
				r.do(s, w, q)
			})
		}
	}
	s.rag("GET /health", httpguard.Open, s.publicHealth)
	widgetRoutes(s.mux, func(w http.ResponseWriter, r *http.Request) bool { return s.allowed(w, r, httpguard.Open) })
	return p
}

// mayAsk takes one request from the quotas of its client, and of all.
func (p *publicSide) mayAsk(w http.ResponseWriter, r *http.Request) bool {
	if p.one.Allow(r.RemoteAddr) && p.all.Take("") {
		return true
	}
	ragDeny(w, http.StatusTooManyRequests, kb.Errorf(kb.Busy, "too many questions").WithHint("wait a second and ask again"))
	return false
}

func (p *publicSide) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(p.log, "knowledge: panic in %s %s: %v\n%s", r.Method, r.URL.Path, v, debug.Stack())
			ragFail(w, http.StatusInternalServerError, "the server met a defect of its own and gave up")
		}
	}()
	if p.proxies.Speaks(r) {
		p.once.Do(func() {
			fmt.Fprintf(p.log, "a proxy at %s speaks for others and is not among public.trusted_proxies: all its clients share one limit, "+
				"and what it says of them is not believed\n", client(r))
		})
	}
	ctx := context.WithValue(r.Context(), baseKey{}, p.base)
	if r.Method == http.MethodOptions {
		ctx = context.WithValue(ctx, preflightKey{}, true)
	}
	who := p.proxies.Client(r)
	r = r.Clone(ctx)
	r.RemoteAddr = net.JoinHostPort(who.String(), "0")
	for _, h := range append(slices.Clone(httpguard.ClientHeaders), "X-Forwarded-Host", "X-Forwarded-Proto", "True-Client-Ip", "Via", "Authorization", "Cookie") {
		r.Header.Del(h) // read, or not to be believed
	}
	if r.Context().Value(preflightKey{}) != nil {
		r.Method = r.Header.Get("Access-Control-Request-Method")
	}
	guardHeaders(w, "default-src 'none'; frame-ancestors 'none'")
	if _, pattern := p.mux.Handler(r); pattern == "" {
		ragFail(w, http.StatusNotFound, "nothing is served at this address")
		return
	}
	p.mux.ServeHTTP(w, r)
}

// publicCall calls one of the tools that answer from public stores; there are
// no others here.
func (s *service) publicCall(w http.ResponseWriter, r *http.Request) {
	raw, err := s.ragBody(w, r)
	if err != nil {
		ragFault(w, err)
		return
	}
	var q ragRequest
	if err := json.Unmarshal(raw, &q); err != nil {
		ragFault(w, kb.Errorf(kb.Invalid, "the request's body is not a call of a tool: %s", jsonFault(err)).
			WithHint(`send {"tool_name":"generate_rag_answer","arguments":{"query":"…"}}`))
		return
	}
	if q.ToolName == "" {
		q.ToolName = q.Name
	}
	tool, ok := ragTable()[q.ToolName]
	if !ok {
		ragFail(w, http.StatusOK, "there is no tool "+quoted(q.ToolName)+"; GET /api/v1/mcp/tools lists them")
		return
	}
	s.ragRun(w, r, tool, &q)
}

func (s *service) publicHealth(w http.ResponseWriter, _ *http.Request) {
	answer200(w, map[string]any{"status": "healthy", "tools": len(ragNames)})
}

// ServePublic serves the public side at addr until ctx ends, and returns nil
// then. The address is printed once on o.Log.
func ServePublic(ctx context.Context, a *app.App, addr string, o Options) error {
	c, origins, err := answers.Publishing(ctx, a)
	if err != nil {
		return err
	}
	ln, err := httpguard.Listen(ctx, addr)
	if err != nil {
		return err
	}
	addr = ln.Addr().String()
	dir, err := a.DataDir()
	var keys *tls.Config
	if err == nil {
		keys, err = httpguard.Certificate{Of: "public", Host: c.Host, Cert: c.Cert, Key: c.Key, ACME: c.ACME, Authority: c.Authority}.TLS(dir)
	}
	if err != nil {
		ln.Close()
		return err
	}
	at := c.Host
	if at == "" {
		at = httpguard.URL(addr)
		if !httpguard.IsLoopback(addr) {
			fmt.Fprintln(o.log(), "public.host is not set: requests that name this server by anything but its address are refused; see docs/publish.md")
		}
	}
	fmt.Fprintf(o.log(), "public: %s/widget.js, listening on %s\n", at, addr)
	srv := httpguard.Server(PublicHandler(a, addr, c, origins, o))
	srv.TLSConfig = keys
	return httpguard.Run(ctx, srv, ln)
}
