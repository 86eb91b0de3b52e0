package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/bearer"
	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
)

// Path is where the tools are served over HTTP.
const Path = "/mcp"

// ServeHTTP serves the tools over streamable HTTP on o.Addr until ctx ends.
// It keeps no sessions: every request is complete, in both eras. The address
// and a token that is new are printed once on o.Log.
func ServeHTTP(ctx context.Context, a *app.App, o Options) error {
	f, err := faceOf(ctx, a, o)
	if err != nil {
		return err
	}
	if f.tokens, err = tokensOf(a); err != nil {
		return err
	}
	if o.NoAuth && !httpguard.IsLoopback(o.Addr) {
		return kb.Errorf(kb.Invalid, "serving %s without a token would let other machines in", o.Addr).
			WithHint("leave out --no-auth, or listen on 127.0.0.1")
	}
	ln, err := httpguard.Listen(ctx, o.Addr)
	if err != nil {
		return err
	}
	g := &httpguard.Guard{Bound: ln.Addr().String(), Secret: o.Token}
	url := httpguard.URL(g.Bound) + Path
	switch {
	case o.NoAuth:
		g.Secret = ""
		fmt.Fprintf(o.log(), "MCP at %s without a token: every user of this machine may call it\n", url)
	case o.TokenFrom != "":
		fmt.Fprintf(o.log(), "MCP at %s with the token in %s\n", url, o.TokenFrom)
	default:
		if g.Secret == "" {
			g.Secret = httpguard.NewToken()
		}
		fmt.Fprintf(o.log(), "MCP at %s with the header Authorization: Bearer %s\n", url, g.Secret)
	}
	return httpguard.Run(ctx, httpguard.Server(f.http(g)), ln)
}

// Handler returns what serves the tools at Path behind the guard of another server.
func Handler(ctx context.Context, a *app.App, o Options) (func(*httpguard.Guard) http.Handler, error) {
	f, err := faceOf(ctx, a, o)
	if err != nil {
		return nil, err
	}
	if f.tokens, err = tokensOf(a); err != nil {
		return nil, err
	}
	return f.http, nil
}

// http returns the handler behind the guard.
func (f *face) http(g *httpguard.Guard) http.Handler {
	next := server.NewStreamableHTTPServer(f.mcp,
		server.WithEndpointPath(Path),
		server.WithStateLess(true),
		server.WithDisableLocalhostProtection(true), // the guard is stricter
		server.WithStreamableHTTPLogger(slog.New(slog.DiscardHandler)))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		if !f.admitted(w, r, g) {
			return
		}
		if r.URL.Path != Path {
			reject(w, http.StatusNotFound, refuse(mcp.INVALID_REQUEST, "nothing is served here. The tools are at "+Path), message{})
			return
		}
		if r.Method != http.MethodPost {
			h.Set("Allow", http.MethodPost)
			reject(w, http.StatusMethodNotAllowed, refuse(mcp.INVALID_REQUEST, "only POST is served here: there are no sessions and no streams to resume"), message{})
			return
		}
		f.post(w, r, next)
	})
}

// admitted reports whether a request may be answered here, and answers it otherwise:
// it has the server's token, or one of the token server that the configuration names.
func (f *face) admitted(w http.ResponseWriter, r *http.Request, g *httpguard.Guard) bool {
	if slices.Contains(WellKnown, r.URL.Path) {
		switch status, err := g.Check(r, httpguard.Open); {
		case err != nil:
			reject(w, status, refuse(mcp.INVALID_REQUEST, errorText(err)), message{})
		case f.tokens == nil || r.Method != http.MethodGet:
			http.NotFound(w, r) // as clients expect where there is no token server
		default:
			f.tokens.About(w)
		}
		return false
	}
	status, err := g.Check(r, httpguard.Token)
	if err == nil {
		return true
	}
	if status == http.StatusUnauthorized {
		challenge := "Bearer"
		if f.tokens != nil {
			var v bearer.Verdict
			token := bearer.Token(r)
			if token != "" {
				v = f.tokens.Judge(r.Context(), token)
			}
			switch {
			case token == "":
			case v.Err == nil:
				return true
			case kb.CodeOf(v.Err) == kb.Away:
				status, err = http.StatusServiceUnavailable, v.Err
			case v.Lacks:
				status, err = http.StatusForbidden, v.Err
			default:
				err = v.Err
			}
			challenge = f.tokens.Challenge(v)
		}
		w.Header().Set("WWW-Authenticate", challenge)
	}
	reject(w, status, refuse(mcp.INVALID_REQUEST, errorText(err)), message{})
	return false
}

// post checks one message before mcp-go sees it, and gives its progress a way out.
func (f *face) post(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		reject(w, http.StatusUnsupportedMediaType, refuse(mcp.INVALID_REQUEST, "the body must be of type application/json"), message{})
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
	if err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			reject(w, http.StatusRequestEntityTooLarge, refuse(mcp.INVALID_REQUEST, "the message is longer than 4 MiB"), message{})
		} else {
			reject(w, http.StatusBadRequest, refuse(mcp.PARSE_ERROR, "the body ended early"), message{})
		}
		return
	}
	m, wrong := f.parse(body)
	header := r.Header.Get(mcp.HeaderProtocolVersion)
	if wrong != nil && wrong.code == mcp.UNSUPPORTED_PROTOCOL_VERSION && header != m.version {
		// That the two differ comes before what one of them says.
		wrong = refuse(mcp.HEADER_MISMATCH, mcp.HeaderProtocolVersion+" "+quote(header)+" is not the body's "+quote(m.version))
	}
	if wrong == nil && m.version == "" && header != "" && m.method != string(mcp.MethodInitialize) &&
		!slices.Contains(mcp.ValidProtocolVersions, header) {
		wrong = unsupported(header)
	}
	switch {
	case wrong != nil:
		reject(w, http.StatusBadRequest, wrong, m)
		return
	case m.id == nil || m.method == "":
		// Notifications and responses are taken and nothing comes of them. A
		// cancellation names an id that any other client may use as well;
		// closing the stream is what cancels here.
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if m.method == string(mcp.MethodSubscriptionsListen) {
		f.listen(w, r, next, m, body)
		return
	}
	s := &stream{ResponseWriter: w, of: m}
	if accepts(r, "text/event-stream") {
		r = r.WithContext(withNotifier(r.Context(), notifier{m.token, s.notify}))
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	next.ServeHTTP(s, r)
	s.finish()
}

// listen answers subscriptions/listen. There is nothing to subscribe to, so
// the stream ends with its acknowledgement, which mcp-go's own handler loses
// when the result follows at once; it only judges the request here.
func (f *face) listen(w http.ResponseWriter, r *http.Request, next http.Handler, m message, body []byte) {
	judged := &memory{header: http.Header{}, status: http.StatusOK}
	r.Body = io.NopCloser(bytes.NewReader(body))
	next.ServeHTTP(judged, r)
	if judged.status != http.StatusOK {
		maps.Copy(w.Header(), judged.header)
		w.WriteHeader(judged.status)
		w.Write(shown(judged.body.Bytes(), m)) // a client that is gone needs no answer
		return
	}
	notes := &session{notes: make(chan mcp.JSONRPCNotification, 4)}
	res := f.mcp.HandleMessage(f.mcp.WithContext(r.Context(), notes), body)
	close(notes.notes)
	s := &stream{ResponseWriter: w, of: m}
	for n := range notes.notes {
		s.notify(n.Method, n.Params)
	}
	if b, err := encode(res); err == nil && res != nil {
		s.Write(b)
	}
	s.finish()
}

// memory is a response that is kept.
type memory struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (m *memory) Header() http.Header         { return m.header }
func (m *memory) WriteHeader(status int)      { m.status = status }
func (m *memory) Write(p []byte) (int, error) { return m.body.Write(p) }

func accepts(r *http.Request, want string) bool {
	for _, v := range r.Header.Values("Accept") {
		if strings.Contains(v, want) || strings.Contains(v, "*/*") {
			return true
		}
	}
	return false
}

// reject answers with a JSON-RPC error.
func reject(w http.ResponseWriter, status int, e *rpcError, m message) {
	b, err := encode(e.reply(m.id))
	if err != nil {
		status, b = http.StatusInternalServerError, nil
	} else {
		b = shown(b, m)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(b) // a client that is gone needs no answer
}

// stream is the response to one request. It is JSON as mcp-go writes it until
// the first notification, which turns it into an event stream: mcp-go's own
// way of sending notifications loses those that come close before the result.
// A client that does not read keeps no command waiting: of the notifications
// that it has not taken, mostNotes are kept.
type stream struct {
	http.ResponseWriter
	of     message // the request
	mu     sync.Mutex
	events bool
	sent   bool          // the header is out, by mcp-go
	result bytes.Buffer  // what mcp-go wrote
	notes  [][]byte      // not yet written
	wake   chan struct{} // holds a token when there are notes; closed by finish
	done   chan struct{} // closed when the last note was written
}

func (s *stream) notify(method string, params any) {
	b, err := encode(note{mcp.JSONRPC_VERSION, method, params})
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent {
		return
	}
	if !s.events {
		s.events = true
		h := s.ResponseWriter.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("X-Accel-Buffering", "no") // or a proxy would hold it back
		s.ResponseWriter.WriteHeader(http.StatusOK)
		s.wake, s.done = make(chan struct{}, 1), make(chan struct{})
		go s.writeNotes()
	}
	if len(s.notes) < mostNotes {
		s.notes = append(s.notes, b)
	} else {
		s.notes[mostNotes-1] = b
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// writeNotes writes notifications as they come, until finish.
func (s *stream) writeNotes() {
	defer close(s.done)
	for range s.wake {
		s.mu.Lock()
		notes := s.notes
		s.notes = nil
		s.mu.Unlock()
		for _, b := range notes {
			s.event(b)
		}
	}
}

// event writes one event; b is JSON, which has no newline but its last.
func (s *stream) event(b []byte) {
	fmt.Fprintf(s.ResponseWriter, "event: message\ndata: %s\n\n", bytes.TrimSpace(b))
	http.NewResponseController(s.ResponseWriter).Flush()
}

// Header returns a header that goes nowhere once events have begun.
func (s *stream) Header() http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.events {
		return http.Header{}
	}
	return s.ResponseWriter.Header()
}

func (s *stream) WriteHeader(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.events {
		s.sent = true
		s.ResponseWriter.WriteHeader(status)
	}
}

// Write keeps the result for finish.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = !s.events
	return s.result.Write(p)
}

// Flush lets mcp-go stream.
func (s *stream) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.events {
		http.NewResponseController(s.ResponseWriter).Flush()
	}
}

// finish writes the result, behind the last notification.
func (s *stream) finish() {
	s.mu.Lock()
	events := s.events
	s.sent = true // nothing comes after the result
	s.mu.Unlock()
	if events {
		close(s.wake)
		<-s.done
	}
	switch {
	case s.result.Len() == 0:
	case events:
		s.event(shown(s.result.Bytes(), s.of))
	default:
		s.ResponseWriter.Write(shown(s.result.Bytes(), s.of)) // a client that is gone needs no answer
	}
}
