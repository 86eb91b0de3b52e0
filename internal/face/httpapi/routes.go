package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
)

// route is one line of the table: a method and path, the command that it
// runs ("" takes it from the path's {name}), and which wildcard of the path is
// which argument. The other arguments come from the body, or from the query
// where there is none.
type route struct {
	pattern string
	command string
	args    map[string]string // argument by wildcard
}

var table = []route{
	{"GET /api/commands", "commands", nil},
	{"POST /api/commands/{name}", "", nil},
	{"GET /api/search", "search", nil},
	{"POST /api/search", "search", nil},
	{"GET /api/stores", "stores", nil},
	{"POST /api/stores", "store:create", nil},
	{"GET /api/stores/{store}", "store:info", map[string]string{"store": "store"}},
	{"DELETE /api/stores/{store}", "store:delete", map[string]string{"store": "store"}},
	{"POST /api/stores/{store}/index", "store:index", map[string]string{"store": "store"}},
	{"GET /api/jobs", "jobs", nil},
	{"GET /api/jobs/{id}", "job:status", map[string]string{"id": "jobId"}},
	{"GET /api/kdd/search", "kdd:search", nil},
	{"GET /api/kdd/related", "kdd:related", nil},
	{"GET /api/kdd/list", "kdd:list", nil},
	{"GET /api/kdd/impact", "kdd:impact", nil},
	{"GET /api/kdd/context", "kdd:context", nil},
	{"GET /api/kdd/find", "kdd:find", nil},
	{"GET /api/kdd/section", "kdd:section", nil},
	{"GET /api/kdd/graph", "kdd:graph", nil},
	{"GET /api/kdd/stats", "kdd:stats", nil},
	{"GET /api/kdd/check", "kdd:check", nil},
}

// commands serves the commands.
func (s *service) commands() {
	for _, t := range table {
		s.mux.HandleFunc(t.pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, t) })
	}
}

func (s *service) routes() {
	s.commands()
	s.rpcRoutes()
	s.ragRoutes()
	s.mux.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) {
		if s.allowed(w, r, httpguard.Open) {
			answer(w, http.StatusOK, map[string]string{"status": "ok", "version": s.app.Version()})
		}
	})
	s.mux.HandleFunc(root, s.front)
}

// root is the pattern of what people and programs meet first.
const root = "GET /{$}"

// front answers at /: people with the page where there is one, programs with
// how to go on.
func (s *service) front(w http.ResponseWriter, r *http.Request) {
	if s.page != nil && strings.Contains(r.Header.Get("Accept"), "text/html") {
		s.page.ServeHTTP(w, r)
		return
	}
	if !s.allowed(w, r, httpguard.Open) {
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	// The token is in the fragment of the address, which no browser sends.
	io.WriteString(w, "This is knowledge: an API for programs on this machine, and in a browser a page to look at.\n\n"+
		"  curl -H \"Authorization: Bearer TOKEN\" -d '{\"query\":\"retry with backoff\"}' "+httpguard.URL(s.guard.Bound)+"/api/commands/search\n\n"+
		"TOKEN stands behind #token= in this page's address, or in the file or variable that keeps it.\n"+
		"GET /api/commands lists what else it can do.\n"+
		"At a terminal, the same is: knowledge search \"retry with backoff\"\n")
}

// preflightKey marks a request in place of the one a browser asks about.
type preflightKey struct{}

// guardHeaders sets what every reply has: nothing in it is run, framed, guessed
// or kept but by the policy of its content.
func guardHeaders(w http.ResponseWriter, policy string) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", policy)
	h.Set("Cache-Control", "no-store")
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(s.log, "knowledge: panic in %s %s: %v\n%s", r.Method, r.URL.Path, p, debug.Stack())
			fail(w, 0, kb.Errorf(kb.Internal, "the server met a defect of its own and gave up").
				WithHint("try other arguments; the details are in the server's log"))
		}
	}()
	guardHeaders(w, "default-src 'none'")
	if r.Method == http.MethodOptions {
		ctx := context.WithValue(r.Context(), preflightKey{}, true)
		r = r.WithContext(ctx)
		r.Method = r.Header.Get("Access-Control-Request-Method")
	}
	if _, pattern := s.mux.Handler(r); pattern == "" {
		if !s.allowed(w, r, httpguard.Open) {
			return
		}
		if s.page != nil && r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") {
			s.page.ServeHTTP(&missing{w}, r) // it says that there is no such page
			return
		}
		w = &plain{ResponseWriter: w}
	}
	s.mux.ServeHTTP(w, r)
}

// serve answers one route: guard, arguments, command, result.
func (s *service) serve(w http.ResponseWriter, r *http.Request, t route) {
	name := t.command
	if name == "" {
		name = r.PathValue("name")
	}
	c, unknown := s.find(name)
	if unknown != nil {
		// Even which names do not exist is said to those alone who may read.
		if s.allowed(w, r, httpguard.Read) {
			fail(w, 0, unknown)
		}
		return
	}
	class := classOf(c)
	if r.Context().Value(preflightKey{}) != nil {
		s.preflight(w, r, class)
		return
	}
	s.cors(w, r, class)
	status, refused := s.guard.Check(r, class)
	if refused != nil && !httpguard.Near(r) {
		deny(w, status, refused) // before a stranger's body is read
		return
	}
	args, err := s.arguments(w, r, t, c)
	if err != nil && refused == nil {
		fail(w, 0, err)
		return
	}
	if err == nil {
		var d command.Command
		if d, err = s.table.Dispatched(r.Context(), c, args); err == nil && classOf(d) != class {
			status, refused = s.guard.Check(r, classOf(d))
		}
	}
	if refused != nil {
		deny(w, status, refused)
		return
	}
	if err != nil {
		fail(w, 0, err)
		return
	}
	if streams(r, c) {
		s.streamCommand(w, r, c, args)
		return
	}
	result, err := c.Run(r.Context(), s.app, args)
	if err != nil {
		fail(w, 0, err)
		return
	}
	answer(w, http.StatusOK, result)
}

// classOf translates a command's audience and access.
func classOf(c command.Command) httpguard.Class {
	if c.Audience != command.Agent {
		return httpguard.Person
	}
	switch c.Access {
	case command.Open:
		return httpguard.Open
	case command.Answer:
		return httpguard.Answer
	case command.Read:
		return httpguard.Read
	default:
		return httpguard.Token
	}
}

// allowed checks a request and answers it when it is refused.
func (s *service) allowed(w http.ResponseWriter, r *http.Request, class httpguard.Class) bool {
	status, err := s.guard.Check(r, class)
	if err != nil {
		deny(w, status, err)
	}
	return err == nil
}

// cors lets listed pages read the answers of class Answer, and no others.
func (s *service) cors(w http.ResponseWriter, r *http.Request, class httpguard.Class) bool {
	if class != httpguard.Answer {
		return false
	}
	w.Header().Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if !s.guard.Listed(origin) {
		return false
	}
	w.Header().Set("Access-Control-Allow-Origin", origin)
	return true
}

// preflight answers a browser that asks whether a page may send a request.
func (s *service) preflight(w http.ResponseWriter, r *http.Request, class httpguard.Class) {
	if !s.allowed(w, r, httpguard.Open) {
		return
	}
	if !s.cors(w, r, class) {
		deny(w, http.StatusForbidden, kb.Errorf(kb.Denied, "pages of other sites may not ask this").
			WithHint("send the request from the server's own page or without a browser"))
		return
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", r.Method)
	h.Set("Access-Control-Allow-Headers", "Content-Type, "+keyHeader)
	h.Set("Access-Control-Max-Age", "600")
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
	w.WriteHeader(http.StatusNoContent)
}

// arguments makes the command's arguments of path, query and body. The path
// wins over the body, since the guard's caller sees the path.
func (s *service) arguments(w http.ResponseWriter, r *http.Request, t route, c command.Command) (json.RawMessage, error) {
	args := json.RawMessage("{}")
	if r.Method == http.MethodPost {
		if r.Header.Get("Origin") != "" && !isJSON(r.Header.Get("Content-Type")) {
			return nil, &statusError{http.StatusUnsupportedMediaType, kb.Errorf(kb.Invalid, "the body must be of type application/json").
				WithHint("send the header Content-Type: application/json")}
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			if _, large := errors.AsType[*http.MaxBytesError](err); large {
				return nil, kb.Errorf(kb.TooLarge, "the request's body is over 1 MiB").WithHint("send less at a time")
			}
			return nil, kb.Errorf(kb.Invalid, "the request's body ended early").WithHint("send it again")
		}
		if body = bytes.TrimSpace(body); len(body) > 0 {
			args = body
		}
	} else {
		q, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			return nil, kb.Errorf(kb.Invalid, "the query of the address cannot be read").WithHint("percent-encode its values")
		}
		if args, err = json.Marshal(fromQuery(q, c)); err != nil {
			return nil, err
		}
	}
	if len(t.args) == 0 {
		return args, nil
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(args, &m); err != nil || m == nil {
		return nil, kb.Errorf(kb.Invalid, "the request's body must be a JSON object").WithHint("send {} or nothing for no arguments")
	}
	for wildcard, name := range t.args {
		v, err := json.Marshal(r.PathValue(wildcard))
		if err != nil {
			return nil, err
		}
		m[name] = v
	}
	return json.Marshal(m)
}

// fromQuery turns a query into arguments. Values stay strings, which commands
// read as what they want; lists are repeated keys or comma-separated.
func fromQuery(q url.Values, c command.Command) map[string]any {
	lists := map[string]bool{}
	for _, p := range c.Params {
		lists[p.Name] = p.Type == "strings"
	}
	args := map[string]any{}
	for name, values := range q {
		switch {
		case lists[name]:
			var all []string
			for _, v := range values {
				all = append(all, strings.Split(v, ",")...)
			}
			args[name] = all
		case len(values) == 1:
			args[name] = values[0]
		default:
			args[name] = values
		}
	}
	return args
}

func isJSON(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	return err == nil && t == "application/json"
}
