package teamserver

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/bearer"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
	"github.com/seed-4f2d999b/knowledge/internal/team/rights"
)

const (
	// tokenHolds is how long what the login's server says of a token counts.
	tokenHolds = 30 * time.Second
	// askAgain is how often a request that takes long is asked again for its right to.
	askAgain = 10 * time.Second
	// atOnce is how many requests of one user are at work.
	atOnce = 6
)

// mcpPath is where agents connect.
const mcpPath = "/mcp"

// wellKnown are the paths at which clients find the login.
var wellKnown = []string{bearer.WellKnown, bearer.WellKnown + mcpPath}

// loginsOf returns the token server that the configuration names.
func (s *server) loginsOf(m config.MCP) (*bearer.Server, error) {
	c := bearer.Config{Issuer: m.Issuer, Resource: m.Resource, Introspection: m.Introspection, ClientID: m.ClientID, Scopes: m.Scopes,
		Keys: !s.config.Introspect, Holds: tokenHolds, UserAgent: "knowledge/" + s.app.Version()}
	if c.Resource == "" {
		c.Resource = s.origin + mcpPath
	}
	if m.SecretEnv != "" {
		if c.Secret = s.app.Config.Env(m.SecretEnv); c.Secret == "" {
			return nil, kb.Errorf(kb.Denied, "the variable %s, which mcp.clientSecret names, is not set", m.SecretEnv).WithHint("set it where this program starts")
		}
	}
	return bearer.New(c)
}

func hostOf(origin string) string {
	u, err := url.Parse(origin)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// hostPort returns host and port of an origin as a Host header has them.
func hostPort(origin string) string {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return strings.ToLower(u.Host)
}

// caller is who asks.
type caller struct {
	rights.User
	login []string // groups that the login brought
	token string   // the ID of a token of the file; "login" for one of elsewhere
}

// refusal is why somebody is not let in.
type refusal struct {
	status    int
	err       *kb.Error
	challenge string
	why       string // for the figures: none, unknown, off, away, scope
}

// know says who has a token.
func (s *server) know(ctx context.Context, token string) (caller, *refusal) {
	no := func(status int, why, challenge string, err *kb.Error) (caller, *refusal) {
		if status == http.StatusUnauthorized && challenge == "" {
			if challenge = "Bearer"; s.logins != nil {
				challenge = s.logins.Challenge(bearer.Verdict{})
			}
		}
		return caller{}, &refusal{status, err, challenge, why}
	}
	if token == "" {
		return no(http.StatusUnauthorized, "none", "", kb.Errorf(kb.Denied, "this needs a token of yours").
			WithHint("send the header Authorization: Bearer TOKEN; who runs this server gives you one"))
	}
	var c caller
	name, id, ok := s.book.Token(token)
	switch {
	case ok:
		c.token = id
	case s.logins == nil:
		return no(http.StatusUnauthorized, "unknown", "", kb.Errorf(kb.Denied, "this token is not known, or not any more").WithHint("ask who runs this server for another"))
	default:
		v := s.logins.Judge(ctx, token)
		switch {
		case v.Err != nil && kb.CodeOf(v.Err) == kb.Away:
			return no(http.StatusServiceUnavailable, "away", "", v.Err)
		case v.Lacks:
			return no(http.StatusForbidden, "scope", s.logins.Challenge(v), v.Err)
		case v.Err != nil:
			return no(http.StatusUnauthorized, "unknown", s.logins.Challenge(v), v.Err)
		}
		c.token = "login"
		name, c.login = named(v.Claims, s.config)
	}
	held, _ := s.book.Now()
	if c.User, ok = held.Known(name, c.login); !ok {
		return no(http.StatusForbidden, "off", "", kb.Errorf(kb.Denied, "you are not let in here").WithHint("ask who runs this server"))
	}
	return c, nil
}

// named returns the user and groups of a login; "" when it names none.
func named(claims map[string]any, c config.Team) (name string, groups []string) {
	user, list := c.User, c.Groups
	if user == "" {
		user = "sub"
	}
	if list == "" {
		list = "groups"
	}
	name, _ = claims[user].(string)
	if verified, _ := claims["email_verified"].(bool); user == "email" && !verified {
		name = ""
	}
	all, _ := claims[list].([]any)
	for _, g := range all {
		if text, ok := g.(string); ok {
			groups = append(groups, text)
		}
	}
	slices.Sort(groups)
	return name, slices.Compact(groups)
}

// ServeHTTP answers one request.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec := &record{Time: time.Now(), Client: s.proxies.Client(r), status: http.StatusOK}
	t := &tallied{ResponseWriter: w, rec: rec}
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			s.log.Error("panic", "path", r.URL.Path, "value", fmt.Sprint(p), "stack", string(debug.Stack()))
			fail(t, http.StatusInternalServerError, kb.Errorf(kb.Internal, "the server met a defect of its own and gave up").WithHint("try other arguments"))
		}
		s.done(rec)
	}()
	h := t.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	if s.config.Cert != "" || s.config.ACME || strings.HasPrefix(s.origin, "https://") {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	if s.open(t, r, rec) {
		return
	}
	if status, err := s.sent(r); err != nil {
		rec.face, rec.refused = "door", "origin"
		fail(t, status, err)
		return
	}
	s.enter(t, r, rec)
}

// open answers what needs no token, and reports whether r was that.
func (s *server) open(w http.ResponseWriter, r *http.Request, rec *record) bool {
	get := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case get && (r.URL.Path == "/healthz" || r.URL.Path == "/health"): // asked by address, and says nothing
		rec.face = "health"
		fmt.Fprintln(w, "ok")
		return true
	case get && r.URL.Path == "/readyz":
		rec.face = "health"
		if _, err := s.app.Open(r.Context()); err != nil || !s.ready() {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintln(w, "not ready")
			return true
		}
		fmt.Fprintln(w, "ready")
		return true
	case get && s.logins != nil && slices.Contains(wellKnown, r.URL.Path):
		rec.face = "login"
		if status, err := s.guard.Check(r, httpguard.Open); err != nil {
			fail(w, status, err)
			return true
		}
		s.logins.About(w)
		return true
	}
	if h, pattern := s.page.Handler(r); pattern != "" && get {
		rec.face = "page"
		h.ServeHTTP(w, r)
		return true
	}
	return false
}

// sent refuses requests for another host, and of pages of another site.
func (s *server) sent(r *http.Request) (int, *kb.Error) {
	if status, err := s.guard.Check(r, httpguard.Open); err != nil {
		return status, err
	}
	origin := r.Header.Get("Origin")
	site := r.Header.Get("Sec-Fetch-Site")
	if origin != "" && !strings.EqualFold(origin, s.origin) && hostPort(origin) != strings.ToLower(r.Host) || origin == "" && (site == "cross-site" || site == "same-site") {
		return http.StatusForbidden, kb.Errorf(kb.Denied, "pages of other sites may not ask this").WithHint("send the request from the server's own page or without a browser")
	}
	return 0, nil
}

// enter lets in who has a token, within limits.
func (s *server) enter(w http.ResponseWriter, r *http.Request, rec *record) {
	rec.face = "door"
	from := rec.Client.String()
	if s.failures.Spent(from) {
		rec.refused = "tries"
		w.Header().Set("Retry-After", "10")
		fail(w, http.StatusTooManyRequests, kb.Errorf(kb.Busy, "too many tokens from this address were not taken").WithHint("wait a minute, then try with the right one"))
		return
	}
	token := bearer.Token(r)
	who, no := s.know(r.Context(), token)
	if no != nil {
		if no.why == "unknown" {
			s.failures.Take(from)
		}
		rec.refused = no.why
		if no.challenge != "" {
			w.Header().Set("WWW-Authenticate", no.challenge)
		}
		if no.status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "5")
		}
		fail(w, no.status, no.err)
		return
	}
	rec.User, rec.Token = who.Name, who.token
	held, version := s.book.Now()
	if r.URL.Path == "/metrics" {
		if rec.face = "metrics"; !held.Operates(who.User) {
			fail(w, http.StatusNotFound, nothing())
			return
		}
		s.figures.write(w, s)
		return
	}
	leave, wait := s.quota.enter(who.Name, held.Limits)
	if leave == nil {
		rec.refused = "quota"
		w.Header().Set("Retry-After", fmt.Sprint(int(wait.Seconds())+1))
		fail(w, http.StatusTooManyRequests, kb.Errorf(kb.Busy, "you ask more than this server answers one user").WithHint("wait %d s, then ask again", int(wait.Seconds())+1))
		return
	}
	defer func() { leave(rec.Bytes) }()
	ctx, stop := s.whileKnown(r.Context(), token, version)
	defer stop()
	s.answer(w, r.WithContext(withRecord(ctx, rec)), who, rec)
}

func nothing() *kb.Error {
	return kb.Errorf(kb.NotFound, "nothing is served at this address").WithHint("agents connect at /mcp; commands are POST /api/commands/NAME")
}

// whileKnown returns a context that ends when the token is taken no more, or
// rights have changed: what was begun with other rights does not go on for long.
func (s *server) whileKnown(ctx context.Context, token string, version int) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	var again *time.Timer
	again = time.AfterFunc(askAgain, func() {
		_, no := s.know(ctx, token)
		_, now := s.book.Now()
		if no != nil || now != version {
			cancel()
			return
		}
		again.Reset(askAgain)
	})
	return ctx, func() { again.Stop(); cancel() }
}

// answer hands a request to the faces of its user.
func (s *server) answer(w http.ResponseWriter, r *http.Request, who caller, rec *record) {
	m, err := s.members.get(s, who)
	if err != nil {
		s.log.Error("a user cannot be served", "user", who.Name, "error", err.Error())
		fail(w, http.StatusInternalServerError, kb.Errorf(kb.Internal, "the server cannot answer now").WithHint("try again"))
		return
	}
	defer s.members.put(m)
	in := r.Clone(r.Context())
	in.RemoteAddr = netip.AddrPortFrom(rec.Client, 0).String()
	for _, h := range append(slices.Clone(httpguard.ClientHeaders), "X-Forwarded-Host", "X-Forwarded-Proto", "True-Client-Ip", "Via", "Authorization", "Cookie", "Origin", "Sec-Fetch-Site") {
		in.Header.Del(h) // read, or not to be believed
	}
	switch {
	case r.URL.Path == mcpPath:
		rec.face = "mcp"
		m.mcp.ServeHTTP(w, in)
	case r.URL.Path == "/" || strings.HasPrefix(r.URL.Path, "/api/"):
		rec.face = "api"
		m.api.ServeHTTP(w, in)
	default:
		rec.face = "api"
		fail(w, http.StatusNotFound, nothing())
	}
}
