package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/answers"
	composed "github.com/seed-4f2d999b/knowledge/internal/answers/answer"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// The dialect of seed 003, which pages and their widgets speak:
//
//	POST {"tool_name","arguments":{"query",…},"session_id"}
//	200  {"success":true,"result":"<markdown>","content":[{"type":"text","text","sources":[titles]}],
//	      "sources":[{"title","url","relevance",…}],"confidence","session_id","cached"}
//	200  {"success":false,"error":"<sentence>","content":[…],"isError":true}   a tool that failed
//	4xx  {"detail":"<sentence>",…}                                             a request that makes no sense
//
// It is what three readers of it need together: the widget shows result when
// success is true, its Python client content and takes any key "error" for a
// failure, the document that describes it content and sources. name is read as
// tool_name too, and session_id may be in the arguments.
//
// The four tools answer from public stores alone and are of class Answer. Any
// other name is that of a command, and of that command's class. Text of
// documents is inert in every reply: see composed.Inert.

// ragPrefixes are where the same routes are served.
var ragPrefixes = []string{"/api/v1", "/api/v2"}

// ragRoutes adds the routes that answer questions and take feedback, below
// /api/v1 and /api/v2.
func (s *service) ragRoutes() {
	// Answers take a processor each: more at once would only be slower.
	s.asking = make(chan struct{}, max(4, 2*runtime.GOMAXPROCS(0)))
	for _, p := range append([]string{""}, ragPrefixes...) {
		s.rag("GET "+p+"/mcp/tools", httpguard.Answer, s.ragTools)
		s.rag("GET "+p+"/mcp/health", httpguard.Open, s.ragHealth)
	}
	for _, p := range ragPrefixes {
		s.mux.HandleFunc("POST "+p+"/mcp/tools/call", s.ragDialect)
		s.rag("GET "+p+"/mcp/sessions/{id}", httpguard.Answer, s.ragSession)
		s.rag("DELETE "+p+"/mcp/sessions/{id}", httpguard.Answer, s.ragForget)
		s.rag("POST "+p+"/feedback", httpguard.Answer, s.ragFeedback)
		s.rag("GET "+p+"/feedback", httpguard.Token, s.ragFeedbackList)
		s.rag("GET "+p+"/feedback/stats", httpguard.Token, s.ragFeedbackStats)
		s.rag("POST "+p+"/feedback/{id}/review", httpguard.Token, s.ragReview)
		s.rag("GET "+p+"/chunks/{id}", httpguard.Answer, s.ragChunk)
	}
}

// rag adds one route with its guard.
func (s *service) rag(pattern string, class httpguard.Class, do http.HandlerFunc) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if r.Context().Value(preflightKey{}) != nil {
			s.preflight(w, r, class)
			return
		}
		s.cors(w, r, class)
		if status, err := s.guard.Check(r, class); err != nil {
			ragDeny(w, status, err)
			return
		}
		do(w, r)
	})
}

// ragDialect reads a body and hands it to who speaks its dialect.
func (s *service) ragDialect(w http.ResponseWriter, r *http.Request) {
	if r.Context().Value(preflightKey{}) != nil {
		s.preflight(w, r, httpguard.Answer)
		return
	}
	// The loosest class that a tool can have, before a stranger's body is read.
	s.cors(w, r, httpguard.Answer)
	if status, err := s.guard.Check(r, httpguard.Answer); err != nil {
		ragDeny(w, status, err)
		return
	}
	raw, err := s.ragBody(w, r)
	if err != nil {
		ragFault(w, err)
		return
	}
	switch m, _ := members(raw); {
	case m["jsonrpc"] != nil:
		s.rpcCall(w, r, raw)
	case m["toolName"] != nil:
		s.plainCall(w, r, raw)
	default:
		s.ragAnswer(w, r, raw, true)
	}
}

func (s *service) ragBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	raw, err := s.arguments(w, r, route{}, command.Command{})
	if err == nil && !utf8.Valid(raw) {
		err = kb.Errorf(kb.Invalid, "the request's body is not valid UTF-8").WithHint("send it as UTF-8 text")
	}
	return raw, err
}

// ragCall answers one call in the dialect {tool_name, arguments, session_id},
// whose body has been read.
func (s *service) ragCall(w http.ResponseWriter, r *http.Request, body []byte) {
	s.ragAnswer(w, r, body, false)
}

// ragRequest is one call.
type ragRequest struct {
	ToolName   string          `json:"tool_name"`
	Name       string          `json:"name"` // of older clients
	Arguments  json.RawMessage `json:"arguments"`
	SessionID  string          `json:"session_id"`
	SessionKey string          `json:"session_key"`
	Stream     bool            `json:"stream"`
}

// ragAnswer answers one call; checked says that the guard has let it pass as
// class Answer.
func (s *service) ragAnswer(w http.ResponseWriter, r *http.Request, body []byte, checked bool) {
	var q ragRequest
	if err := json.Unmarshal(bytes.TrimSpace(body), &q); err != nil {
		s.ragRefuse(w, r, checked, kb.Errorf(kb.Invalid, "the request's body is not a call of a tool: %s", jsonFault(err)).
			WithHint(`send {"tool_name":"generate_rag_answer","arguments":{"query":"…"}}`))
		return
	}
	if q.ToolName == "" {
		q.ToolName = q.Name
	}
	tool, known := ragTable()[q.ToolName]
	class := httpguard.Answer
	var c command.Command
	if !known {
		var err error
		if c, err = s.find(q.ToolName); err == nil {
			class = classOf(c)
		} else {
			class = httpguard.Answer // which names there are is said by the list of tools
		}
	}
	if !checked || class != httpguard.Answer {
		s.cors(w, r, class)
		if status, err := s.guard.Check(r, class); err != nil {
			ragDeny(w, status, err)
			return
		}
	}
	switch {
	case strings.TrimSpace(q.ToolName) == "":
		ragFault(w, kb.Errorf(kb.Invalid, "the request names no tool").WithHint(`set "tool_name", for example to generate_rag_answer`))
	case known:
		s.ragRun(w, r, tool, &q)
	case c.Name == "":
		ragFail(w, http.StatusOK, "there is no tool "+quoted(q.ToolName)+"; GET /api/v1/mcp/tools lists them")
	default:
		s.ragCommand(w, r, c, q.Arguments)
	}
}

// ragRun runs one of the four tools.
func (s *service) ragRun(w http.ResponseWriter, r *http.Request, tool ragTool, q *ragRequest) {
	args := bytes.TrimSpace(q.Arguments)
	if len(args) == 0 || string(args) == "null" {
		args = []byte("{}")
	}
	if args[0] != '{' {
		ragFault(w, kb.Errorf(kb.Invalid, "arguments must be an object").WithHint(`send {"query":"…"}`))
		return
	}
	tool.run(s, w, r, q, args)
}

// ragRefuse answers a body that is no call.
func (s *service) ragRefuse(w http.ResponseWriter, r *http.Request, checked bool, fault error) {
	if !checked {
		s.cors(w, r, httpguard.Answer)
		if status, err := s.guard.Check(r, httpguard.Answer); err != nil {
			ragDeny(w, status, err)
			return
		}
	}
	ragFault(w, fault)
}

// ragCommand runs a command of the registry in this dialect.
func (s *service) ragCommand(w http.ResponseWriter, r *http.Request, c command.Command, args json.RawMessage) {
	d, err := product.Commands().Dispatched(r.Context(), c, args)
	if err == nil && classOf(d) != classOf(c) {
		if status, refused := s.guard.Check(r, classOf(d)); refused != nil {
			ragDeny(w, status, refused)
			return
		}
	}
	var result any
	if err == nil {
		result, err = c.Run(r.Context(), s.app, args)
	}
	if err != nil {
		ragFailed(w, r, err)
		return
	}
	text := composed.InertBlock(printer.Render(result))
	answerRAG(w, http.StatusOK, ragReply{Success: true, Result: text, Content: []ragContent{{"text", text, nil}}, Sources: []ragSource{}})
}

// owner distinguishes clients whose sessions have one id, as every widget's is
// "web": by address, page and program.
func owner(r *http.Request) string {
	return strings.Join([]string{"http", client(r), r.Header.Get("X-Forwarded-For"), r.Header.Get("Origin"), r.Header.Get("User-Agent")}, "\x00")
}

// client is the address that quotas are counted by.
func client(r *http.Request) string {
	host := r.RemoteAddr
	if i := strings.LastIndexByte(host, ':'); i > 0 {
		host = host[:i]
	}
	return host
}

// keyHeader carries what shows that a session is the client's own.
const keyHeader = "X-Session-Key"

// base is the address under which the client reaches this server. The guard
// has checked the Host header.
func base(r *http.Request) string {
	if b, ok := r.Context().Value(baseKey{}).(string); ok && b != "" {
		return b
	}
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// turn waits for one of the places that answers are made at.
func (s *service) turn(ctx context.Context) (func(), error) {
	select {
	case s.asking <- struct{}{}:
		return func() { <-s.asking }, nil
	case <-ctx.Done():
		return nil, kb.Errorf(kb.Busy, "too many questions are being answered").WithHint("ask again in a moment")
	}
}

func (s *service) ragHealth(w http.ResponseWriter, _ *http.Request) {
	answer200(w, map[string]any{"status": "healthy", "version": s.app.Version(), "tools": len(ragNames)})
}

func (s *service) ragSession(w http.ResponseWriter, r *http.Request) {
	var c answers.Conversation
	var err error
	if s.guard.Holds(r) {
		c, err = answers.ConversationNamed(r.Context(), s.app, r.PathValue("id"))
	} else {
		c, err = answers.ConversationOf(r.Context(), s.app, r.PathValue("id"), r.Header.Get(keyHeader))
	}
	if err != nil {
		s.ragMissing(w, err)
		return
	}
	answer200(w, inertTurns(c))
}

// inertTurns makes what was asked safe for pages that put it into HTML.
func inertTurns(c answers.Conversation) answers.Conversation {
	c.SessionID = composed.InertTitle(c.SessionID)
	for _, turns := range append([][]composed.Turn{c.Turns}, c.Others...) {
		for i := range turns { // copies, see composed.Sessions
			turns[i].Question, turns[i].Answer = composed.InertTitle(turns[i].Question), composed.InertBlock(turns[i].Answer)
			turns[i].Topic = nil
		}
	}
	return c
}

func (s *service) ragForget(w http.ResponseWriter, r *http.Request) {
	var f answers.Forgotten
	var err error
	if s.guard.Holds(r) {
		f, err = answers.Forget(r.Context(), s.app, r.PathValue("id"))
	} else {
		f, err = answers.ForgetOwn(r.Context(), s.app, r.PathValue("id"), r.Header.Get(keyHeader))
	}
	if err != nil {
		s.ragMissing(w, err)
		return
	}
	answer200(w, map[string]any{"success": true, "session_id": f.SessionID, "forgotten": f.Forgotten})
}

// ragMissing answers for a thing that a path names.
func (s *service) ragMissing(w http.ResponseWriter, err error) {
	status := statuses[kb.CodeOf(err)]
	if status == 0 {
		status = http.StatusInternalServerError
	}
	ragFail(w, status, ragSentence(err))
}

// ragChunk shows the text of a source: as plain text, which nothing in it can change.
func (s *service) ragChunk(w http.ResponseWriter, r *http.Request) {
	c, err := answers.ChunkPublic(r.Context(), s.app, r.PathValue("id"), base(r))
	if err != nil {
		s.ragMissing(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	io.WriteString(w, visible.Line(c.Store+" "+visible.Name(c.At)+"\n\n"+c.Text+"\n"))
}
