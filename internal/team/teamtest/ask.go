package teamtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// reply is what came back, without what differs from one time to the next.
type reply struct {
	status int
	failed bool // by its status, or as a tool's result
	text   string
}

// asker is one worker.
type asker struct {
	w      *World
	rng    *rand.Rand
	client *http.Client
	user   string
	kind   string
	mcp    bool
	sent   string // the request as it was sent
}

// args are a command's arguments.
type args map[string]any

var volatile = regexp.MustCompile(`(time_)?ms\\?"?:\s*[0-9.]+`)

// suggested is what a reply advises about a name that there is not: names like it
// among those that may be seen, which check looks through.
var suggested = regexp.MustCompile(`(","hint":"|\. )(did you mean|names are exact|list the paths).*|,\\?"suggestions\\?":\[.*?\]`)

// do sends a request and checks that the reply says nothing of what is hidden.
func (a *asker) do(method, path, body, token string) reply {
	a.sent = method + " " + path + " " + body
	req, err := http.NewRequest(method, a.w.URL+path, strings.NewReader(body))
	if err != nil {
		return reply{failed: true, text: err.Error()}
	}
	if token != "" {
		req.Header.Set("Authorization", token)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := a.client.Do(req)
	if err != nil {
		a.w.leak("%s %s: no reply: %v", a.user, a.sent, err)
		return reply{failed: true}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		a.w.leak("%s %s: half a reply: %v", a.user, a.sent, err)
	}
	var head bytes.Buffer
	resp.Header.Write(&head)
	r := reply{status: resp.StatusCode, failed: resp.StatusCode >= 400, text: volatile.ReplaceAllString(string(b), "ms")}
	a.check(r.text + "\n" + head.String())
	if resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests {
		a.w.leak("%s %s: %d %s", a.user, a.sent, resp.StatusCode, r.text)
	}
	return r
}

// check looks in a reply for anything that the user may not know of.
func (a *asker) check(text string) {
	a.w.mu.Lock()
	defer a.w.mu.Unlock()
	a.w.result.Requests++
	a.w.result.Kinds[a.kind]++
	known := map[string]bool{}
	for _, s := range a.w.stores {
		if s.seen(a.user) {
			known[s.secret] = true
		}
	}
	for _, s := range a.w.stores {
		if s.seen(a.user) {
			continue
		}
		words := []string{s.secret, s.id, s.marker}
		if s.owner == "" {
			words = append(words, s.name)
		}
		for i, word := range words {
			if word == "" || known[s.secret] && i != 1 || strings.Contains(a.sent, word) {
				continue
			}
			if strings.Contains(text, word) {
				a.w.leakLocked("%s (%s) %s: the reply has %q of a store that is hidden: %s", a.user, a.kind, a.sent, word, clip(text))
			}
		}
	}
}

func clip(s string) string { return s[:min(len(s), 600)] }

// seen reports whether a user may read a store.
func (s *store) seen(user string) bool { return s.owner == user || s.owner == "" && s.read[user] }

func (w *World) leak(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leakLocked(format, args...)
}

func (w *World) leakLocked(format string, args ...any) {
	if len(w.result.Leaks) < 50 {
		w.result.Leaks = append(w.result.Leaks, fmt.Sprintf(format, args...))
	}
}

// command runs a command as the user, by whichever way.
func (a *asker) command(name string, in args) reply {
	raw, err := json.Marshal(in)
	if err != nil {
		return reply{failed: true, text: err.Error()}
	}
	token := "Bearer " + a.w.tokens[a.user]
	if !a.mcp {
		if a.rng.IntN(4) == 0 {
			raw, _ = json.Marshal(args{"command": name, "args": in}) // was marshalled before
			return a.do(http.MethodPost, "/api/commands/execute", string(raw), token)
		}
		return a.do(http.MethodPost, "/api/commands/"+name, string(raw), token)
	}
	tool, given := "execute", any(args{"command": name, "args": in})
	if name == "search" || name == "get_full_context" {
		tool, given = name, in
	}
	raw, _ = json.Marshal(args{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": args{"name": tool, "arguments": given}})
	r := a.do(http.MethodPost, "/mcp", string(raw), token)
	r.failed = r.failed || strings.Contains(r.text, `"isError":true`) || strings.Contains(r.text, `"error":`)
	return r
}

// alike asks about a thing that is hidden and one that is not there, which has to
// come to the same.
func (a *asker) alike(name string, hidden, absent string, ask func(word string) reply) {
	got, none := ask(hidden), ask(absent)
	a.w.mu.Lock()
	a.w.result.Hidden++
	a.w.mu.Unlock()
	same := func(r reply, word string) string {
		return fmt.Sprint(r.status, r.failed, suggested.ReplaceAllString(strings.ReplaceAll(r.text, word, "NAME"), ""))
	}
	if x, y := same(got, hidden), same(none, absent); x != y {
		a.w.leak("%s, %s: what is hidden (%s) differs from what is not there (%s): %s | %s", a.user, name, hidden, absent, clip(x), clip(y))
	}
}

// absent is a word of that length and kind that nothing is called.
func (a *asker) absent(word string) string {
	b := []byte(word)
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = "bcdfghjklmnpqrstvwxz"[a.rng.IntN(20)]
		}
	}
	return string(b)
}

// any returns a store, of those that there are.
func (a *asker) any() *store {
	a.w.mu.Lock()
	defer a.w.mu.Unlock()
	return a.w.stores[a.rng.IntN(len(a.w.stores))]
}

// called is how a store may be named in a request. Names of private stores are
// words that others use too, so those are asked for by id.
func (a *asker) called(s *store) string {
	if s.owner != "" || a.rng.IntN(2) == 0 {
		return s.id
	}
	return s.name
}

// Run asks until enough was asked, and returns what came of it.
func (w *World) Run() Result {
	began := time.Now()
	for round := 0; ; round++ {
		done := w.count()
		if w.Requests > 0 && done >= w.Requests || w.Requests == 0 && time.Since(began) >= w.Span {
			break
		}
		if len(w.result.Leaks) >= 50 {
			break
		}
		w.round(round, done+w.Change)
		if err := w.change(); err != nil {
			w.leak("rights cannot be changed: %v", err)
			break
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.result
}

func (w *World) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.result.Requests
}

// round has all workers ask until so many requests were sent.
func (w *World) round(round, until int) {
	done := make(chan struct{})
	for i := range w.Workers {
		go func() {
			defer func() { done <- struct{}{} }()
			a := &asker{w: w, rng: rand.New(rand.NewPCG(w.Seed+uint64(round), uint64(i)+2)), client: &http.Client{Timeout: time.Minute}}
			defer a.client.CloseIdleConnections()
			for w.count() < until {
				a.once()
				time.Sleep(w.Pause)
			}
		}()
	}
	for range w.Workers {
		<-done
	}
}

// change makes rights anew, and has the server know.
func (w *World) change() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.rights(); err != nil {
		return err
	}
	w.result.Changes++
	if w.HUP == nil {
		time.Sleep(1100 * time.Millisecond)
		return nil
	}
	if err := w.HUP(w.Server.Process); err != nil {
		return err
	}
	time.Sleep(50 * time.Millisecond)
	return nil
}

// Hang tells a process to read its files again, where there is such a signal.
var Hang = syscall.SIGHUP

// once asks one thing.
func (a *asker) once() {
	a.user = a.w.users[a.rng.IntN(len(a.w.users))]
	a.mcp = a.rng.IntN(2) == 0
	n := a.rng.IntN(weights)
	for _, o := range ops {
		if n -= o.weight; n < 0 {
			rare := o.alone
			if rare {
				a.w.turn.Lock()
			} else {
				a.w.turn.RLock()
			}
			a.kind = o.name
			o.do(a)
			if rare {
				a.w.turn.Unlock()
			} else {
				a.w.turn.RUnlock()
			}
			return
		}
	}
}

// lists reports the elements of a list in a reply of the API.
func lists(text, member, field string) ([]string, bool) {
	var all map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &all) != nil {
		return nil, false
	}
	var rows []map[string]any
	if json.Unmarshal(all[member], &rows) != nil {
		return nil, false
	}
	var out []string
	for _, r := range rows {
		s, _ := r[field].(string)
		out = append(out, s)
	}
	slices.Sort(out)
	return out, true
}
