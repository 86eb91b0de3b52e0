package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/answers"
	composed "github.com/seed-4f2d999b/knowledge/internal/answers/answer"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
)

// streams reports whether a request wants the sentences of an answer as they come.
func streams(r *http.Request, c command.Command) bool {
	return c.Name == "answer:ask" && strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

// events sends server-sent events on a reply, and begins it with the first.
func events(w http.ResponseWriter) func(event, data string) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := http.NewResponseController(w)
	return func(event, data string) {
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data)
		_ = out.Flush() // a client that is gone is seen by the context
	}
}

// streamCommand answers a question as server-sent events: start at once, a
// sentence for each that was checked, and done with the command's result, or
// error with what every other reply says of a failure.
func (s *service) streamCommand(w http.ResponseWriter, r *http.Request, c command.Command, args json.RawMessage) {
	send := events(w)
	send("start", "{}")
	var said []composed.Part
	before := ""
	ctx := answers.Hearing(r.Context(), func(p composed.Part) {
		said = append(said, p)
		text := composed.Markdown(said)
		if raw, err := json.Marshal(map[string]string{"delta": strings.TrimPrefix(text, before)}); err == nil {
			send("sentence", visible.Values(string(raw)))
		}
		before = text
	})
	result, err := c.Run(ctx, s.app, args)
	if err != nil {
		_, f := failureOf(err)
		send("error", printer.Shown(f))
		return
	}
	send("done", printer.Shown(result))
}
