// Package teamserver is the face for the users of one server: agents over streamable
// HTTP at /mcp, programs and the page at /api, each with the rights of the user
// whose token the request carries. It knows users by tokens of a file, or by those
// of a login elsewhere (OpenID Connect, OAuth); package rights says what each may do.
//
// What users see of each other is decided below: each has an App of his own
// (app.For), whose catalog has no other stores than his, and faces of his own over
// it, so that there is no session, answer or cache that another could meet. This
// package finds out who asks, and keeps count: limits, figures, the log of who did
// what.
package teamserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/bearer"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
	"github.com/seed-4f2d999b/knowledge/internal/product"
	"github.com/seed-4f2d999b/knowledge/internal/team"
	"github.com/seed-4f2d999b/knowledge/internal/team/rights"
)

// Drain is how long requests that are under way may take to end when the server is stopped.
const Drain = 25 * time.Second

// Options says where to serve, and with which faces.
type Options struct {
	Addr string // host:port
	// MCP and API make the faces of one user, behind a guard that asks for no token.
	MCP, API func(context.Context, *app.App, *command.Table, *httpguard.Guard, io.Writer) (http.Handler, error)
	// Page makes what serves the page, by patterns of http.ServeMux.
	Page func(*httpguard.Guard) map[string]http.Handler
	// Reload has the rights read again at once when it gets something.
	Reload <-chan struct{}
	Log    io.Writer // takes JSON, a line for each event
}

// server is one server for several users.
type server struct {
	app     *app.App
	o       Options
	log     *slog.Logger
	config  config.Team
	book    *rights.Book
	logins  *bearer.Server // nil where there are tokens of the file alone
	guard   *httpguard.Guard
	proxies httpguard.Proxies
	table   *command.Table
	page    *http.ServeMux
	origin  string // own, as browsers write it

	members  members
	quota    quota
	failures *httpguard.Limiter // of tokens, by client
	audit    *auditLog
	figures  figures
	ready    func() bool
}

// Serve serves a until ctx ends; then requests under way may end, and it returns nil.
func Serve(ctx context.Context, a *app.App, o Options) error {
	ln, err := httpguard.Listen(ctx, o.Addr)
	if err != nil {
		return err
	}
	o.Addr = ln.Addr().String()
	s, err := newServer(ctx, a, o)
	if err != nil {
		ln.Close()
		return err
	}
	defer s.close()
	dir, err := a.DataDir()
	if err != nil {
		ln.Close()
		return err
	}
	srv := httpguard.Server(s)
	if srv.TLSConfig, err = s.certificate().TLS(dir); err != nil {
		ln.Close()
		return err
	}
	if srv.TLSConfig == nil && !httpguard.IsLoopback(o.Addr) && len(s.config.Trusted) == 0 {
		ln.Close()
		return kb.Errorf(kb.Invalid, "tokens would pass %s without TLS", o.Addr).
			WithHint("name a certificate with team.cert and team.key, or the proxy that has one with team.trusted_proxies, see docs/team.md")
	}
	s.log.Info("serving", "address", o.Addr, "host", s.config.Host, "tls", srv.TLSConfig != nil, "logins", s.logins != nil, "version", a.Version())
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go s.tend(work)
	err = httpguard.RunFor(ctx, srv, ln, Drain)
	s.log.Info("stopped")
	return err
}

func (s *server) certificate() httpguard.Certificate {
	c := s.config
	return httpguard.Certificate{Of: "team", Host: c.Host, Cert: c.Cert, Key: c.Key, ACME: c.ACME, Authority: c.Authority}
}

// newServer makes the server that is reached at o.Addr.
func newServer(ctx context.Context, a *app.App, o Options) (*server, error) {
	file, err := a.Settings()
	if err != nil {
		return nil, err
	}
	dir, err := a.DataDir()
	if err != nil {
		return nil, err
	}
	s := &server{
		app: a, o: o, log: slog.New(slog.NewJSONHandler(o.Log, nil)), config: file.Team, origin: file.Team.Host,
		proxies: httpguard.Proxies{Trusted: file.Team.Trusted, Header: file.Team.ClientHeader},
		guard:   &httpguard.Guard{Bound: o.Addr}, failures: &httpguard.Limiter{Rate: 0.5, Burst: 20}, page: http.NewServeMux(),
		ready: func() bool { return ctx.Err() == nil },
	}
	if s.origin == "" {
		s.origin = httpguard.URL(o.Addr)
	} else {
		s.guard.Hosts = []string{hostOf(s.origin)}
	}
	if s.book, err = rights.Open(team.Files(dir, file.Team)); err != nil {
		return nil, err
	}
	if file.MCP.Issuer != "" {
		if s.logins, err = s.loginsOf(file.MCP); err != nil {
			return nil, err
		}
	}
	if s.audit, err = openAudit(auditFile(dir, file.Team)); err != nil {
		return nil, err
	}
	s.table = product.ForMembers().Watch(s.watched)
	for pattern, h := range o.Page(s.guard) {
		s.page.Handle(pattern, h)
	}
	return s, nil
}

// auditFile returns where the log lies; "" is nowhere.
func auditFile(dataDir string, c config.Team) string {
	switch c.Audit {
	case "":
		return filepath.Join(dataDir, team.Folder, "audit.jsonl")
	case "none":
		return ""
	}
	return c.Audit
}

// tend closes what no user has used for a while, and reads the rights again when told to.
func (s *server) tend(ctx context.Context) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.members.rest(idle)
			s.quota.forget()
		case _, ok := <-s.o.Reload:
			if !ok {
				s.o.Reload = nil
				continue
			}
			if err := s.book.Reload(); err != nil {
				s.log.Error("rights are not understood, and what held before holds", "error", err.Error())
				continue
			}
			s.log.Info("rights were read again")
		}
	}
}

func (s *server) close() {
	s.members.rest(0)
	s.audit.close()
}

// fail answers with an error as httpapi has it.
func fail(w http.ResponseWriter, status int, err *kb.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	b, _ := json.Marshal(map[string]any{"error": map[string]string{"code": string(err.Code), "message": err.Error(), "hint": err.Hint}}) // texts
	fmt.Fprintf(w, "%s\n", b)                                                                                                            // a client that is gone needs no answer
}
