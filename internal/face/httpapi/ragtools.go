package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/answers"
	composed "github.com/seed-4f2d999b/knowledge/internal/answers/answer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
)

// ragTool is one tool of the dialect.
type ragTool struct {
	description string
	schema      string
	run         func(s *service, w http.ResponseWriter, r *http.Request, q *ragRequest, args json.RawMessage)
}

// ragNames are the tools in the order that lists have them.
var ragNames = []string{"generate_rag_answer", "search_knowledge_base", "get_document_chunk", "list_documents"}

// ragTable is what they do.
func ragTable() map[string]ragTool {
	return map[string]ragTool{
		"generate_rag_answer": {"Answer a question with cited sentences of the public documents",
			`{"type":"object","properties":{"query":{"type":"string"},"session_id":{"type":"string"},"include_sources":{"type":"boolean","default":true},"stream":{"type":"boolean"}},"required":["query"]}`,
			(*service).ragGenerate},
		"search_knowledge_base": {"Ranked places in the public documents",
			`{"type":"object","properties":{"query":{"type":"string"},"top_k":{"type":"integer","minimum":1,"maximum":50}},"required":["query"]}`,
			(*service).ragSearch},
		"get_document_chunk": {"The text of a place that an answer or a search named",
			`{"type":"object","properties":{"chunk_uri":{"type":"string"}},"required":["chunk_uri"]}`,
			(*service).ragGetChunk},
		"list_documents": {"The public documents",
			`{"type":"object","properties":{"limit":{"type":"integer"},"offset":{"type":"integer"}}}`,
			(*service).ragList},
	}
}

func (s *service) ragTools(w http.ResponseWriter, _ *http.Request) {
	type tool struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	var list []tool
	table := ragTable()
	for _, n := range ragNames {
		list = append(list, tool{n, table[n].description, json.RawMessage(table[n].schema)})
	}
	answer200(w, map[string]any{"tools": list})
}

// ragArgs are the arguments of all tools; others than these (tenant_id, …) are
// let pass, since clients of several backends send them.
type ragArgs struct {
	Query          *string `json:"query"`
	SessionID      string  `json:"session_id"`
	SessionKey     string  `json:"session_key"`
	IncludeSources *bool   `json:"include_sources"`
	Stream         bool    `json:"stream"`
	TopK           int     `json:"top_k"`
	Limit          int     `json:"limit"`
	Offset         int     `json:"offset"`
	ChunkURI       string  `json:"chunk_uri"`
}

func readArgs(w http.ResponseWriter, raw json.RawMessage, query bool) (a ragArgs, ok bool) {
	if err := json.Unmarshal(raw, &a); err != nil {
		ragUnfit(w, kb.Errorf(kb.Invalid, "the arguments cannot be used: %s", jsonFault(err)).WithHint("GET /api/v1/mcp/tools has what each tool takes"))
		return a, false
	}
	if query && (a.Query == nil || strings.TrimSpace(*a.Query) == "") {
		ragUnfit(w, kb.Errorf(kb.Invalid, "the argument query is missing or empty").WithHint("ask in a sentence or a few words"))
		return a, false
	}
	if query && len(*a.Query) > composed.MaxQuestion {
		ragUnfit(w, kb.Errorf(kb.TooLarge, "the query has %d bytes, more than the %d that are taken", len(*a.Query), composed.MaxQuestion).WithHint("ask with the few words that matter"))
		return a, false
	}
	return a, true
}

// ragTime bounds one answer, waiting included.
const ragTime = 30 * time.Second

// ragGenerate answers a question from the public stores.
func (s *service) ragGenerate(w http.ResponseWriter, r *http.Request, q *ragRequest, raw json.RawMessage) {
	args, ok := readArgs(w, raw, true)
	if !ok {
		return
	}
	session := args.SessionID
	if session == "" {
		session = q.SessionID
	}
	if len(session) > composed.MaxSessionID {
		ragUnfit(w, kb.Errorf(kb.TooLarge, "session_id has more than %d bytes", composed.MaxSessionID).WithHint("choose a shorter one"))
		return
	}
	req := answers.AskRequest{Question: *args.Query, Session: session, Owner: owner(r), Client: client(r),
		SessionKey: cmp.Or(r.Header.Get(keyHeader), args.SessionKey, q.SessionKey), Public: true, Base: base(r)}
	ctx, cancel := context.WithTimeout(r.Context(), ragTime)
	defer cancel()
	if args.Stream || q.Stream || strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		s.ragStream(ctx, w, r, req, args)
		return
	}
	reply, err := s.ask(ctx, req)
	if err != nil {
		ragFailed(w, r, err)
		return
	}
	answer200(w, ragOf(&reply, args.IncludeSources))
}

// ask waits for a turn and asks.
func (s *service) ask(ctx context.Context, req answers.AskRequest) (answers.Answer, error) {
	done, err := s.turn(ctx)
	if err != nil {
		return answers.Answer{}, err
	}
	defer done()
	reply, err := answers.Ask(ctx, s.app, req)
	if err != nil && ctx.Err() == context.DeadlineExceeded {
		err = kb.Errorf(kb.Busy, "the answer took longer than %v", ragTime).WithHint("ask again in a moment")
	}
	return reply, err
}

// ragOf spells an answer for the readers of this dialect.
func ragOf(a *answers.Answer, include *bool) ragReply {
	shown := include == nil || *include
	parts := a.Parts
	if !shown { // numbers of sources that are not there would say nothing
		parts = nil
		for _, p := range a.Parts {
			p.Source = 0
			parts = append(parts, p)
		}
	}
	r := ragReply{Success: true, Result: composed.Markdown(parts), Sources: []ragSource{}, Confidence: &a.Confidence,
		SessionID: composed.InertTitle(a.SessionID), SessionKey: a.SessionKey, Cached: a.Cached, Question: composed.InertTitle(a.Question)}
	c := ragContent{Type: "text", Text: r.Result}
	if shown {
		for i := range a.Sources {
			src := ragSourceOf(&a.Sources[i])
			r.Sources = append(r.Sources, src)
			c.Sources = append(c.Sources, src.Title)
		}
	}
	for _, n := range a.Notes {
		r.Notes = append(r.Notes, composed.InertLine(n))
	}
	r.Content = []ragContent{c}
	return r
}

func ragSourceOf(s *answers.Source) ragSource {
	return ragSource{Title: composed.InertTitle(s.Title), URL: s.URL, Relevance: s.Relevance, ID: s.ID, URI: "chunk://" + s.ID, Snippet: composed.InertBlock(s.Snippet)}
}

// ragStream sends an answer as server-sent events: start at once, a sentence
// event for each sentence, sources, and done with the whole reply; error
// instead of the last when it fails.
func (s *service) ragStream(ctx context.Context, w http.ResponseWriter, r *http.Request, req answers.AskRequest, args ragArgs) {
	out := events(w)
	send := func(event string, v any) {
		if raw, err := json.Marshal(v); err == nil {
			out(event, visible.Values(string(raw)))
		}
	}
	send("start", map[string]string{"session_id": composed.InertTitle(req.Session)})
	var said []composed.Part
	before := ""
	say := func(p composed.Part) {
		if args.IncludeSources != nil && !*args.IncludeSources {
			p.Source = 0
		}
		said = append(said, p)
		text := composed.Markdown(said)
		send("sentence", map[string]string{"delta": strings.TrimPrefix(text, before)})
		before = text
	}
	req.Said = say
	reply, err := s.ask(ctx, req)
	if err != nil {
		f := ragFailure{Error: composed.InertLine(ragSentence(err)), IsError: true}
		f.Content = []ragContent{{"text", f.Error, nil}}
		send("error", f)
		return
	}
	whole := ragOf(&reply, args.IncludeSources)
	for _, p := range reply.Parts[min(len(said), len(reply.Parts)):] {
		say(p)
	}
	send("sources", whole.Sources)
	send("done", whole)
}

func (s *service) ragSearch(w http.ResponseWriter, r *http.Request, _ *ragRequest, raw json.RawMessage) {
	args, ok := readArgs(w, raw, true)
	if !ok {
		return
	}
	limit := args.TopK
	if limit == 0 {
		limit = args.Limit
	}
	if limit < 0 || limit > 50 {
		ragUnfit(w, kb.Errorf(kb.Invalid, "top_k must lie between 1 and 50, not %d", limit).WithHint("leave it out for 10"))
		return
	}
	found, err := answers.SearchPublic(r.Context(), s.app, *args.Query, limit, base(r))
	if err != nil {
		ragFailed(w, r, err)
		return
	}
	reply := ragReply{Success: true, Sources: []ragSource{}}
	var text []string
	for i := range found.Results {
		h := &found.Results[i]
		h.Title, h.Text, h.Store = composed.InertTitle(h.Title), composed.InertBlock(h.Text), composed.InertTitle(h.Store)
		reply.Sources = append(reply.Sources, ragSource{Title: h.Title, URL: h.URL, Relevance: h.Score, ID: h.ID, URI: h.URI, Snippet: h.Text})
		text = append(text, fmt.Sprintf("%d. %s\n\n%s", i+1, h.Title, h.Text))
	}
	if text == nil {
		text = []string{"Nothing found."}
	}
	reply.Result, reply.Data = strings.Join(text, "\n\n"), found
	reply.Content = []ragContent{{"text", reply.Result, nil}}
	answer200(w, reply)
}

func (s *service) ragGetChunk(w http.ResponseWriter, r *http.Request, _ *ragRequest, raw json.RawMessage) {
	args, ok := readArgs(w, raw, false)
	if !ok {
		return
	}
	if strings.TrimSpace(args.ChunkURI) == "" {
		ragUnfit(w, kb.Errorf(kb.Invalid, "the argument chunk_uri is missing").WithHint("take it from a source of an answer"))
		return
	}
	c, err := answers.ChunkPublic(r.Context(), s.app, args.ChunkURI, base(r))
	if err != nil {
		ragFailed(w, r, err)
		return
	}
	c.Title, c.Text, c.Store, c.At = composed.InertTitle(c.Title), composed.InertBlock(c.Text), composed.InertTitle(c.Store), composed.InertTitle(c.At)
	reply := ragReply{Success: true, Result: c.Text, Content: []ragContent{{"text", c.Text, nil}}, Data: c,
		Sources: []ragSource{{Title: c.Title, URL: c.URL, Relevance: 1, ID: c.ID, URI: c.URI}}}
	answer200(w, reply)
}

func (s *service) ragList(w http.ResponseWriter, r *http.Request, _ *ragRequest, raw json.RawMessage) {
	args, ok := readArgs(w, raw, false)
	if !ok {
		return
	}
	docs, err := answers.DocumentsPublic(r.Context(), s.app, args.Limit, args.Offset)
	if err != nil {
		ragFailed(w, r, err)
		return
	}
	var names []string
	for i := range docs.Documents {
		d := &docs.Documents[i]
		d.Name, d.Store, d.URI = composed.InertTitle(d.Name), composed.InertTitle(d.Store), composed.InertTitle(d.URI)
		names = append(names, d.Name)
	}
	text := strings.Join(names, "\n")
	answer200(w, ragReply{Success: true, Result: text, Content: []ragContent{{"text", text, nil}}, Sources: []ragSource{}, Data: docs})
}
