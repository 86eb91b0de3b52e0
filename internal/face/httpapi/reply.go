package httpapi

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// failure is the body of every answer that is not a result.
type failure struct {
	Error struct {
		Code    kb.Code `json:"code"`
		Message string  `json:"message"`
		Hint    string  `json:"hint,omitempty"`
	} `json:"error"`
}

// statusError is an error whose status does not follow from its code.
type statusError struct {
	status int
	err    *kb.Error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

// statuses translates codes. What is not here is 500.
var statuses = map[kb.Code]int{
	kb.Invalid:     http.StatusBadRequest,
	kb.NotFound:    http.StatusNotFound,
	kb.Exists:      http.StatusConflict,
	kb.Newer:       http.StatusConflict,
	kb.Denied:      http.StatusForbidden,
	kb.TooLarge:    http.StatusRequestEntityTooLarge,
	kb.Unsupported: http.StatusNotImplemented,
	kb.Busy:        http.StatusServiceUnavailable,
	kb.Away:        http.StatusServiceUnavailable,
	kb.Canceled:    http.StatusServiceUnavailable,
	kb.Full:        http.StatusInsufficientStorage,
}

// fail answers with an error; status 0 takes it from the error's code.
func fail(w http.ResponseWriter, status int, err error) {
	own, f := failureOf(err)
	if status == 0 {
		status = own
	}
	if f.Error.Code == kb.Busy {
		w.Header().Set("Retry-After", "1")
	}
	answer(w, status, f)
}

// failureOf spells an error, and returns the status that follows from it.
func failureOf(err error) (status int, f failure) {
	code := kb.CodeOf(err)
	status = statuses[code]
	if e, ok := errors.AsType[*statusError](err); ok {
		status = e.status
	}
	if status == 0 {
		status = http.StatusInternalServerError
	}
	f.Error.Code, f.Error.Message, f.Error.Hint = code, strings.Join(strings.Fields(err.Error()), " "), kb.HintOf(err)
	if code == kb.Canceled && f.Error.Hint == "" {
		f.Error.Message, f.Error.Hint = "the request was stopped before it ended", "ask again"
	}
	return status, f
}

// deny answers a request that the guard refused.
func deny(w http.ResponseWriter, status int, err *kb.Error) {
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	fail(w, status, err)
}

// answer writes a result as JSON.
func answer(w http.ResponseWriter, status int, result any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	io.WriteString(w, printer.Shown(result)+"\n")
}

// missing is a document in the place of one that is not there.
type missing struct{ http.ResponseWriter }

func (m *missing) WriteHeader(status int) {
	if status == http.StatusOK {
		status = http.StatusNotFound
	}
	m.ResponseWriter.WriteHeader(status)
}

// plain turns the words of http.ServeMux for 404 and 405 into ours.
type plain struct {
	http.ResponseWriter
	done bool
}

func (p *plain) WriteHeader(status int) {
	p.done = true
	switch status {
	case http.StatusNotFound:
		fail(p.ResponseWriter, status, kb.Errorf(kb.NotFound, "nothing is served at this address").
			WithHint("GET /api/commands lists the commands"))
	case http.StatusMethodNotAllowed:
		fail(p.ResponseWriter, status, kb.Errorf(kb.Invalid, "this address does not take that method").
			WithHint("it takes %s", p.Header().Get("Allow")))
	default:
		p.done = false
		p.ResponseWriter.WriteHeader(status)
	}
}

func (p *plain) Write(b []byte) (int, error) {
	if p.done {
		return len(b), nil
	}
	return p.ResponseWriter.Write(b)
}
