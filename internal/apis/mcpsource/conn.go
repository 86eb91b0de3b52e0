package mcpsource

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// conn is the connection to one server, which comes and goes.
type conn struct {
	key     string
	idle    time.Duration
	start   chan struct{} // holds a token while someone starts it
	changed atomic.Bool   // its lists, since they were read

	mu     sync.Mutex
	client *client.Client
	prog   *program // nil of an address
	uses   int
	timer  *time.Timer // until it is stopped; nil while it is used
	fails  int         // to start, in a row
	until  time.Time   // no start before
	last   error       // of the last start
}

const (
	startTimeout = 60 * time.Second // npx may fetch the program first
	mostPause    = time.Minute
)

// acquire has the server run, until release.
func (c *conn) acquire(ctx context.Context, s *Pool, l restapi.Link) error {
	select {
	case c.start <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-c.start }()
	if c.use() {
		return nil
	}
	c.mu.Lock()
	wait, last := time.Until(c.until), c.last
	c.mu.Unlock()
	if wait > 0 && last != nil {
		return kb.Errorf(kb.Away, "%s", last.Error()).WithHint("it is started again in %s at the earliest", wait.Round(time.Second))
	}
	err := c.open(ctx, s, l)
	c.mu.Lock()
	if err == nil {
		c.fails, c.last = 0, nil
	} else if ctx.Err() == nil || c.last == nil {
		c.last = err
		c.fails++
		if c.fails > 1 {
			c.until = time.Now().Add(min(mostPause, time.Second<<min(c.fails, 6)))
		}
	}
	c.mu.Unlock()
	if err == nil && !c.use() {
		return c.died(ctx, l, transport.ErrTransportClosed)
	}
	return err
}

// use counts a use of a server that runs.
func (c *conn) use() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.client == nil {
		return false
	}
	if c.prog != nil && c.prog.ended() {
		go c.prog.stop()
		c.client, c.prog = nil, nil
		return false
	}
	c.uses++
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
	return true
}

// release ends a use. A server that has none is stopped after a while.
func (c *conn) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.uses--; c.uses > 0 || c.client == nil {
		return
	}
	of := c.client
	c.timer = time.AfterFunc(c.idle, func() { c.drop(of) })
}

// drop stops the server; only is the connection that is meant, nil any. One that is
// in use again since an idle timer fired goes on.
func (c *conn) drop(only *client.Client) {
	c.mu.Lock()
	old, prog := c.client, c.prog
	if old == nil || only != nil && (old != only || c.uses > 0) {
		c.mu.Unlock()
		return
	}
	c.client, c.prog = nil, nil
	c.mu.Unlock()
	if prog != nil {
		prog.stop()
	}
	old.Close() // what it says of its end matters to nobody
}

func (c *conn) running() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.client != nil && (c.prog == nil || !c.prog.ended())
}

func (c *conn) dead() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.client == nil || c.prog != nil && c.prog.ended()
}

func (c *conn) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// open starts the server, greets it and reads its lists.
func (c *conn) open(ctx context.Context, s *Pool, l restapi.Link) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var over transport.Interface
	var prog *program
	var err error
	if l.Program() {
		if prog, err = startProgram(ctx, s, l); err != nil {
			return err
		}
		over = heardProgram{prog.transport}
	} else if over, err = address(l); err != nil {
		return err
	}
	made := client.NewClient(over, client.WithDiscoverTimeout(2*time.Second), client.WithMaxInputRoundTrips(1))
	c.mu.Lock()
	c.client, c.prog = made, prog
	c.mu.Unlock()
	err = c.ask(ctx, nil, func(ctx context.Context) error {
		if err := made.Start(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		made.OnNotification(func(n mcp.JSONRPCNotification) {
			switch n.Method {
			case mcp.MethodNotificationToolsListChanged, mcp.MethodNotificationResourcesListChanged:
				c.changed.Store(true)
			}
		})
		hello := mcp.InitializeRequest{}
		hello.Params.ClientInfo = mcp.Implementation{Name: "knowledge", Version: s.Version}
		_, err := made.Initialize(ctx, hello)
		return err
	})
	if err == nil {
		err = c.learn(ctx, s, l)
	}
	if err == nil {
		return nil
	}
	said := c.died(ctx, l, err)
	c.drop(nil)
	return said
}

// address returns the transport to a server at an address.
func address(l restapi.Link) (transport.Interface, error) {
	t, err := transport.NewStreamableHTTP(l.BaseURL, transport.WithHTTPBasicClient(&http.Client{
		Transport: l.HTTP, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}), transport.WithHTTPLogger(quiet))
	if err != nil {
		return nil, kb.Errorf(kb.Invalid, "%s cannot be asked at its address", l.Code).WithHint("a person may correct mcp in %s", l.File)
	}
	return heardHTTP{t}, nil
}

var quiet = slog.New(slog.DiscardHandler)

// rawKey is the key of the place for the result as it came, in a context.
type rawKey struct{}

// heard keeps the result of a request for who wants it as it came: to the digit, and
// with all that schemas say.
func heard(ctx context.Context, r *transport.JSONRPCResponse, err error) (*transport.JSONRPCResponse, error) {
	if into, ok := ctx.Value(rawKey{}).(*json.RawMessage); ok && err == nil && r != nil && r.Error == nil {
		*into = r.Result
	}
	return r, err
}

type heardProgram struct{ *transport.Stdio }

func (h heardProgram) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	got, err := h.Stdio.SendRequest(ctx, r)
	return heard(ctx, got, err)
}

type heardHTTP struct{ *transport.StreamableHTTP }

func (h heardHTTP) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	got, err := h.StreamableHTTP.SendRequest(ctx, r)
	return heard(ctx, got, err)
}

// ask runs one exchange. raw, unless it is nil, becomes the result as it came. A
// program that has not answered by the deadline is killed: the client may wait for it
// to take what was written.
func (c *conn) ask(ctx context.Context, raw *json.RawMessage, do func(context.Context) error) error {
	var got json.RawMessage
	done := make(chan error, 1)
	go func() { done <- do(context.WithValue(ctx, rawKey{}, &got)) }()
	select {
	case err := <-done:
		if raw != nil {
			*raw = got
		}
		return err
	case <-ctx.Done():
	}
	grace := time.NewTimer(time.Second)
	defer grace.Stop()
	select { // the client leaves as a rule, having told the server
	case <-done:
	case <-grace.C:
		c.kill()
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		c.kill()
	}
	return ctx.Err()
}

// kill ends a program that does not answer.
func (c *conn) kill() {
	c.mu.Lock()
	prog := c.prog
	c.mu.Unlock()
	if prog != nil {
		prog.kill()
	}
}

// died says how a server failed, with the end of what it wrote to stderr.
func (c *conn) died(ctx context.Context, l restapi.Link, err error) error {
	var e *kb.Error
	if errors.As(err, &e) {
		return e
	}
	c.mu.Lock()
	prog := c.prog
	c.mu.Unlock()
	if prog == nil {
		return kb.Errorf(kb.Away, "the server of %s cannot be reached: %s", l.Code, l.Clean(ctx, kb.Clip(oneLine(err.Error()), 300))).
			WithHint("a person can check it with: knowledge api check --live")
	}
	if e := prog.fault(l); e != nil {
		return e
	}
	select { // its output may end a moment before its life
	case <-prog.done:
	case <-time.After(300 * time.Millisecond):
	}
	said := ""
	if end := l.Clean(context.WithoutCancel(ctx), prog.said()); end != "" {
		said = "; it said: " + kb.Clip(oneLine(end), 400)
	}
	how := "did not answer as a server of the Model Context Protocol does: " + kb.Clip(oneLine(err.Error()), 200)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		how = "did not answer in time"
	case prog.ended():
		how = "ended"
	}
	return kb.Errorf(kb.Away, "the program of %s %s%s", l.Code, how, said).
		WithHint("a person can check it with: knowledge api check --live")
}
