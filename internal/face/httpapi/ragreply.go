package httpapi

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	composed "github.com/seed-4f2d999b/knowledge/internal/answers/answer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
)

// ragReply is a success. A key "error" on it would be one to the Python client.
type ragReply struct {
	Success    bool         `json:"success"`
	Result     string       `json:"result"`
	Content    []ragContent `json:"content"`
	Sources    []ragSource  `json:"sources"`
	Confidence *float64     `json:"confidence"`
	SessionID  string       `json:"session_id,omitempty"`
	SessionKey string       `json:"session_key,omitempty"` // for who asked alone: it opens the session
	Cached     bool         `json:"cached"`
	Question   string       `json:"question,omitempty"` // as it was understood
	Notes      []string     `json:"notes,omitempty"`
	Data       any          `json:"data,omitempty"` // what tools other than answers return, as data
}

type ragContent struct {
	Type    string   `json:"type"`
	Text    string   `json:"text"`
	Sources []string `json:"sources,omitempty"`
}

// ragSource is a source; pages take title for its name.
type ragSource struct {
	Title     string  `json:"title"`
	URL       string  `json:"url"`
	Relevance float64 `json:"relevance"`
	ID        string  `json:"id"`
	URI       string  `json:"chunk_uri"`
	Snippet   string  `json:"snippet"`
}

// ragFailure is everything that is no success. detail is set on requests that
// make no sense.
type ragFailure struct {
	Success bool         `json:"success"`
	Error   string       `json:"error"`
	Detail  string       `json:"detail,omitempty"`
	Content []ragContent `json:"content"`
	IsError bool         `json:"isError"`
}

func ragFail(w http.ResponseWriter, status int, sentence string) {
	f := ragFailure{Error: composed.InertLine(sentence), IsError: true}
	f.Content = []ragContent{{"text", f.Error, nil}}
	if status >= 400 && status < 500 {
		f.Detail = f.Error
	}
	answerRAG(w, status, f)
}

// ragFault answers a request that makes no sense: 422 for values, 400 for
// what cannot be read at all.
func ragFault(w http.ResponseWriter, err error) {
	status := http.StatusBadRequest
	if e, ok := errors.AsType[*statusError](err); ok {
		status = e.status
	}
	ragFail(w, status, ragSentence(err))
}

func ragUnfit(w http.ResponseWriter, err error) {
	ragFail(w, http.StatusUnprocessableEntity, ragSentence(err))
}

// ragDeny answers what the guard refused.
func ragDeny(w http.ResponseWriter, status int, err *kb.Error) {
	switch status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests:
		w.Header().Set("Retry-After", "1")
	}
	ragFail(w, status, ragSentence(err))
}

// ragFailed answers the failure of a tool.
func ragFailed(w http.ResponseWriter, r *http.Request, err error) {
	switch kb.CodeOf(err) {
	case kb.Invalid, kb.TooLarge:
		ragUnfit(w, err)
		return
	case kb.Busy, kb.Away, kb.Canceled:
		w.Header().Set("Retry-After", "2")
		ragFail(w, http.StatusServiceUnavailable, ragSentence(err))
		return
	case kb.Internal:
		ragFail(w, http.StatusOK, "the server met a defect of its own and gave up")
		return
	}
	if r.Context().Value(baseKey{}) != nil || !httpguard.Near(r) || r.Header.Get("Origin") != "" {
		// What a person at this machine could do is nothing to a stranger.
		ragFail(w, http.StatusOK, ragSentence(&kb.Error{Message: err.Error()}))
		return
	}
	ragFail(w, http.StatusOK, ragSentence(err))
}

// ragSentence is an error with what to do next.
func ragSentence(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	if hint := kb.HintOf(err); hint != "" {
		text += ": " + hint
	}
	return text
}

func quoted(s string) string {
	return `"` + kb.Clip(s, 60) + `"`
}

// jsonFault says what is wrong with a body without naming Go's types.
func jsonFault(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		if kind.Field == "" {
			return "it is no object"
		}
		return kind.Field + " is of the wrong type"
	case errors.As(err, &syntax):
		return "it is no JSON"
	}
	return "it ends early"
}

// answerRAG writes a reply; < and > are escaped once more by encoding/json.
func answerRAG(w http.ResponseWriter, status int, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		raw = []byte(`{"success":false,"error":"the reply cannot be written","isError":true}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	io.WriteString(w, visible.Values(string(raw))+"\n")
}

func answer200(w http.ResponseWriter, v any) { answerRAG(w, http.StatusOK, v) }
