package plugin

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// model is a stand-in for the model's endpoint, in the form that the client
// speaks: it calls the tools of a script, one a turn, and then says that it is done.
type model struct {
	*httptest.Server
	mu     sync.Mutex
	script func(last string) *use // nil ends; last is the text of the last result
	turns  int
	seen   []request
}

// use is a call of a tool.
type use struct {
	tool string
	args any
}

// request is what the client sends, as far as it is looked at.
type request struct {
	Stream bool `json:"stream"`
	System json.RawMessage
	Tools  []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

// block is one piece of a message.
type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Content json.RawMessage `json:"content"`
	IsError bool            `json:"is_error"`
}

// blocks returns the pieces of a message, which may be one string.
func blocks(raw json.RawMessage) []block {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return []block{{Type: "text", Text: s}}
	}
	var b []block
	_ = json.Unmarshal(raw, &b)
	return b
}

// text returns the text of a result.
func (b block) text() string {
	var all []string
	for _, p := range blocks(b.Content) {
		all = append(all, p.Text)
	}
	return strings.Join(all, "\n")
}

func newModel(t *testing.T) *model {
	m := &model{}
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(m.Close)
	return m
}

// play sets what the next conversation calls.
func (m *model) play(script func(last string) *use) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.script, m.seen = script, nil
}

// conversation returns the last request of the conversation: it repeats all before.
func (m *model) conversation() (first, last request, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.seen) == 0 {
		return first, last, false
	}
	return m.seen[0], m.seen[len(m.seen)-1], true
}

func (m *model) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if strings.HasSuffix(r.URL.Path, "/count_tokens") {
		fmt.Fprint(w, `{"input_tokens":10}`)
		return
	}
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/v1/messages") {
		return
	}
	var req request
	if err := json.Unmarshal(body, &req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turns++
	var next *use
	if len(req.Tools) > 0 && m.script != nil { // what has no tools is the client's own housekeeping
		m.seen = append(m.seen, req)
		last := ""
		for _, b := range blocks(req.Messages[len(req.Messages)-1].Content) {
			if b.Type == "tool_result" {
				last = b.text()
			}
		}
		next = m.script(last)
	}
	message := map[string]any{"id": fmt.Sprintf("msg_%d", m.turns), "type": "message", "role": "assistant", "model": "stand-in",
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": map[string]int{"input_tokens": 1, "output_tokens": 1}}
	content, delta, stop := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": "DONE"}, "end_turn"
	if next != nil {
		args, _ := json.Marshal(next.args)
		content = map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", m.turns), "name": next.tool, "input": map[string]any{}}
		delta, stop = map[string]any{"type": "input_json_delta", "partial_json": string(args)}, "tool_use"
	}
	if !req.Stream {
		message["content"], message["stop_reason"] = []any{map[string]any{"type": "text", "text": "DONE"}}, "end_turn"
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(message)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range []map[string]any{
		{"type": "message_start", "message": message},
		{"type": "content_block_start", "index": 0, "content_block": content},
		{"type": "content_block_delta", "index": 0, "delta": delta},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]int{"output_tokens": 1}},
		{"type": "message_stop"},
	} {
		b, _ := json.Marshal(e)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], b)
	}
}
