// Package mcpsource speaks with other servers of the Model Context Protocol, whose
// tools and resources are found and called as those of declared APIs are.
//
// A server is started when it is needed and stopped when nothing has asked it for a
// while. One that dies is started anew by the next call, after failures in a row with
// growing pauses. What it lists is kept in a file, so that finding its tools starts
// nothing. Nothing that it does keeps a call longer than the call's deadline: a
// program that does not answer is killed. Its lines, its lists and what it writes to
// stderr are bounded. It is offered neither a model, nor files, nor questions to the
// user, and of what it calls itself nothing is believed but names, descriptions and
// schemas, which are data.
package mcpsource

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Pool holds the servers that run. It is safe for concurrent use.
type Pool struct {
	Version string              // of this program, which servers are told
	File    string              // where lists are kept; "" keeps none
	Env     func(string) string // the environment that programs inherit a part of
	Dir     string              // in which programs run that name no folder

	mu     sync.Mutex
	conns  map[string]*conn
	lists  map[string]*Listing // by key
	loaded bool
	closed bool
}

// Listing is what a server listed.
type Listing struct {
	At    time.Time      `json:"at"`
	Tools []restapi.Tool `json:"-"`
	Left  []string       `json:"left,omitempty"` // that cannot be called

	Offers []restapi.Offer `json:"offers"`
}

// key tells servers apart: what is declared of one. It holds no secret.
func key(p *restapi.Provider) string {
	b, err := json.Marshal([]any{p.Code, p.BaseURL, p.Server, p.Headers, p.Auth, p.Schemes, p.Security, p.AllowHosts, p.MaxBytes, p.File})
	if err != nil {
		return p.File + "\x00" + p.Code
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// Known returns what a server listed last, nil when it was never asked. The same
// pointer means the same list.
func (s *Pool) Known(p *restapi.Provider) *Listing {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load()
	l := s.lists[key(p)]
	if l != nil && l.Tools == nil {
		l.Tools, l.Left = p.Offered(l.Offers)
	}
	return l
}

// Learn asks a server what it has, and starts it for that when it does not run.
func (s *Pool) Learn(ctx context.Context, l restapi.Link) error {
	c, err := s.conn(l.Provider)
	if err != nil {
		return err
	}
	if err := c.acquire(ctx, s, l); err != nil {
		return err
	}
	defer c.release()
	if !c.changed.Swap(false) {
		return nil // it was asked when it was started
	}
	return c.learn(ctx, s, l)
}

// Why says why a server could not be asked last, nil when it could.
func (s *Pool) Why(p *restapi.Provider) error {
	s.mu.Lock()
	c := s.conns[key(p)]
	s.mu.Unlock()
	if c == nil {
		return nil
	}
	return c.why()
}

// Call calls a tool or reads a resource. What reads only is asked a second time when
// the server died; anything else only when the server cannot have seen it.
func (s *Pool) Call(ctx context.Context, l restapi.Link, t *restapi.Tool, args json.RawMessage) (restapi.Answer, error) {
	for tries := 1; ; tries++ {
		a, again, err := s.call(ctx, l, t, args)
		a.Tries = tries
		if err == nil || tries == 2 || ctx.Err() != nil || !again {
			return a, err
		}
	}
}

func (s *Pool) call(ctx context.Context, l restapi.Link, t *restapi.Tool, args json.RawMessage) (a restapi.Answer, again bool, err error) {
	c, err := s.conn(l.Provider)
	if err != nil {
		return a, false, err
	}
	if err := c.acquire(ctx, s, l); err != nil {
		return a, false, err
	}
	defer c.release()
	if c.changed.Swap(false) {
		if err := c.learn(ctx, s, l); err != nil {
			return a, false, err
		}
	}
	if err := s.still(l.Provider, t); err != nil {
		return a, false, err
	}
	ctx, cancel := context.WithTimeout(ctx, l.Timeout)
	defer cancel()
	var raw json.RawMessage
	err = c.ask(ctx, &raw, func(ctx context.Context) error {
		if t.Resource {
			req := mcp.ReadResourceRequest{}
			req.Params.URI = fillIn(t.Wire, args)
			_, err := c.client.ReadResource(ctx, req)
			return err
		}
		req := mcp.CallToolRequest{}
		req.Params.Name, req.Params.Arguments = t.Wire, args
		_, err := c.client.CallTool(ctx, req)
		return err
	})
	switch {
	case raw != nil: // what the client makes of it does not matter
		a, err = answer(t, raw)
		return a, false, err
	case ctx.Err() != nil:
		return a, false, ctx.Err()
	case errors.Is(err, transport.ErrSessionTerminated):
		c.drop(nil)
		return a, true, gone(l, err)
	case errors.Is(err, transport.ErrTransportClosed), c.dead():
		return a, t.Idempotent(), c.died(ctx, l, err)
	}
	return a, false, refused(ctx, l, t, err)
}

// still refuses a tool that is not there any more, or does not say of itself what it
// said when it was listed: the call was made for what it said then.
func (s *Pool) still(p *restapi.Provider, t *restapi.Tool) error {
	now := s.Known(p)
	if now == nil {
		return nil
	}
	for i := range now.Tools {
		u := &now.Tools[i]
		if u.Wire != t.Wire || u.Resource != t.Resource {
			continue
		}
		if u.Same(t) {
			return nil
		}
		return kb.Errorf(kb.Invalid, "%s has changed since it was listed, so it was not called", t.Code).
			WithHint("see what it says of itself now: api:help {\"name\":%q}", u.Code)
	}
	return kb.Errorf(kb.NotFound, "%s has no %q any more", p.Code, t.Wire).WithHint("list what it has: apis {\"api\":%q}", p.Code)
}

// refused is the error of a server that answered with one.
func refused(ctx context.Context, l restapi.Link, t *restapi.Tool, err error) error {
	var e *kb.Error
	if errors.As(err, &e) { // of the guard, or of the credentials
		return e
	}
	said := l.Clean(ctx, kb.Clip(oneLine(err.Error()), 300))
	var away *transport.Error
	if errors.As(err, &away) {
		return kb.Errorf(kb.Away, "%s could not be asked: %s", l.Code, said).WithHint("try again later")
	}
	return kb.Errorf(kb.Invalid, "%s refused: %s", l.Code, said).
		WithHint("see what it takes: api:help {\"name\":%q}", t.Code)
}

func gone(l restapi.Link, err error) error {
	return kb.Errorf(kb.Away, "%s has forgotten this session: %s", l.Code, kb.Clip(oneLine(err.Error()), 100)).WithHint("try again")
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// conn returns the connection to a server, running or not.
func (s *Pool) conn(p *restapi.Provider) (*conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, kb.Errorf(kb.Canceled, "the program is ending")
	}
	k := key(p)
	c := s.conns[k]
	if c == nil {
		if s.conns == nil {
			s.conns = map[string]*conn{}
		}
		c = &conn{key: k, start: make(chan struct{}, 1), idle: p.Server.Idle}
		s.conns[k] = c
	}
	return c, nil
}

// Close stops all servers.
func (s *Pool) Close() {
	s.mu.Lock()
	s.closed = true
	all := s.conns
	s.conns = nil
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, c := range all {
		wg.Go(func() { c.drop(nil) })
	}
	wg.Wait()
}

// Running returns how many servers run.
func (s *Pool) Running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, c := range s.conns {
		if c.running() {
			n++
		}
	}
	return n
}

// rounds is how many pages of a list are read.
const rounds = 100

// pages reads a list page by page. A server that names a page twice, or has too many,
// is heard no further.
func pages(read func(cursor mcp.Cursor) (next mcp.Cursor, err error)) error {
	seen := map[mcp.Cursor]bool{}
	cursor := mcp.Cursor("")
	for range rounds {
		next, err := read(cursor)
		if err != nil {
			return err
		}
		if next == "" || seen[next] {
			return nil
		}
		seen[next], cursor = true, next
	}
	return fmt.Errorf("its list has more than %d pages", rounds)
}
