package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// ledger remembers what was accepted: which stores must be there, and which
// must not. Each name belongs to one actor.
type ledger struct {
	mu    sync.Mutex
	state map[string]string // "there", "gone"; none when a command ended without an answer
}

func (l *ledger) set(name, state string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state == nil {
		l.state = map[string]string{}
	}
	if state == "" {
		delete(l.state, name)
	} else {
		l.state[name] = state
	}
}

func (l *ledger) of(name string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state[name]
}

// checks compares what is there with what was accepted.
func (s *stage) checks(l *ledger, name string) {
	want := l.of(name)
	if want == "" {
		return
	}
	e := s.run([]int{3}, "store:info", name, "--json")
	switch {
	case want == "there" && e.status == 3:
		s.broken("store %s was accepted and is not there: %.200s", name, e.errs)
	case want == "gone" && e.status == 0:
		s.broken("store %s was deleted and is there", name)
	case e.status == 0 || e.status == 3:
		s.count("ledger checks")
	}
}

// makes creates or deletes a store of the actor's own by the command line.
func (s *stage) makes(l *ledger, rng *rand.Rand, name string) {
	s.checks(l, name)
	if rng.IntN(2) == 0 {
		l.set(name, "")
		// The name is taken where an earlier create was accepted.
		e := s.run([]int{1}, "store:create", name, filepath.Join(s.project, "extra"), "--scope", "user")
		if e.status == 0 || e.status == 1 && strings.Contains(e.errs, "already") {
			l.set(name, "there")
		}
		return
	}
	l.set(name, "")
	if e := s.run([]int{3, 5}, "store:delete", name); e.status == 0 || e.status == 3 {
		l.set(name, "gone")
	}
}

// session is an agent's: it asks a server over stdio until that ends.
type session struct {
	*stage
	bin    string
	face   string
	client *lab.Client
	last   string // an id that was found
}

// open starts the server, once more if need be.
func (a *session) open() bool {
	if a.client != nil {
		return true
	}
	c, err := lab.Dial(a.project, a.env, a.bin, lab.Handshake)
	if err != nil {
		if c != nil {
			_ = c.Kill()
		}
		a.count(a.face + ": the server was killed at its start")
		return false
	}
	a.client = c
	return true
}

// call asks a tool. The second value is false when the server died meanwhile.
func (a *session) call(tool string, args map[string]any) (text string, alive bool, err error) {
	if !a.open() {
		return "", false, nil
	}
	c := a.client
	watchdog := time.AfterFunc(2*time.Minute, func() {
		a.broken("%s: %s %v had no answer within two minutes", a.face, tool, args)
		_ = c.Kill()
	})
	defer watchdog.Stop()
	a.count(a.face + " " + tool)
	text, err = c.Call(tool, args)
	if err != nil && strings.Contains(err.Error(), "no reply") || err != nil && strings.Contains(err.Error(), "broken pipe") {
		_ = c.Kill()
		a.client = nil
		return "", false, nil
	}
	return text, true, err
}

// step does one thing that an agent does.
func (a *session) step(rng *rand.Rand, l *ledger, own string) {
	switch rng.IntN(10) {
	case 0, 1, 2, 3:
		i := rng.IntN(fixedWords)
		text, alive, err := a.call("search", map[string]any{"query": word(i), "stores": []string{"fixed"}, "form": "json"})
		if !alive {
			return
		}
		var f found
		if err != nil || json.Unmarshal([]byte(text), &f) != nil {
			a.oddly(a.face+" search", err, text)
			return
		}
		a.known(i, f, a.face)
		if len(f.Hits) > 0 {
			a.last = f.Hits[0].ID
		}
	case 4, 5:
		if a.last == "" {
			return
		}
		if _, alive, err := a.call("get_full_context", map[string]any{"resultId": a.last}); alive && err != nil {
			a.oddly(a.face+" get_full_context", err, "")
		}
	case 6, 7:
		text, alive, err := a.call("execute", map[string]any{"command": "grep", "args": map[string]any{"store": "fixed", "pattern": word(rng.IntN(fixedWords))}})
		if alive && err != nil {
			a.oddly(a.face+" grep", err, text)
		}
	case 8:
		l.set(own, "")
		text, alive, err := a.call("execute", map[string]any{"command": "store:create", "args": map[string]any{"name": own, "source": filepath.Join(a.project, "extra")}})
		switch {
		case !alive:
		case err == nil, strings.Contains(text, "already"), strings.Contains(text, "exists"):
			l.set(own, "there")
		default:
			a.oddly(a.face+" store:create", err, text)
		}
	case 9:
		l.set(own, "")
		text, alive, err := a.call("execute", map[string]any{"command": "store:delete", "args": map[string]any{"store": own}})
		switch {
		case !alive:
		case err == nil, strings.Contains(text, "no store"):
			l.set(own, "gone")
		default:
			a.oddly(a.face+" store:delete", err, text)
		}
	}
}

// arguments are those of a call, which differ each time.
var arguments = regexp.MustCompile(`map\[[^\]]*\]+:? ?`)

// oddly remembers an error that nobody expects; being asked to wait is none.
func (s *stage) oddly(what string, err error, text string) {
	if text == "" && err != nil {
		text = err.Error()
	}
	if strings.Contains(text, "another process") || strings.Contains(text, "try again") {
		s.count("asked to try again")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.odd[fmt.Sprintf("%s: %.220s", what, arguments.ReplaceAllString(text, ""))]++
}

// httpStep asks a server one thing.
func (s *stage) httpStep(ctx context.Context, rng *rand.Rand, address string) error {
	i := rng.IntN(fixedWords)
	s.count("HTTP requests")
	var err error
	switch rng.IntN(4) {
	case 0:
		var reply map[string]any
		err = ask(ctx, address, "/api/commands/stores", map[string]any{}, &reply)
	case 1:
		var reply map[string]any
		err = ask(ctx, address, "/api/commands/grep", map[string]any{"store": "fixed", "pattern": word(i)}, &reply)
	default:
		var f found
		if err = ask(ctx, address, "/api/commands/search", map[string]any{"query": word(i), "stores": []string{"fixed"}}, &f); err == nil {
			s.known(i, f, "HTTP")
		}
	}
	return err
}
