package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// maxMessage bounds one message in bytes, over stdio and HTTP alike.
const maxMessage = 4 << 20

// unanswered bounds the calls of one connection that are at work, waiting, or
// whose replies the client has not taken yet. Beyond it nothing more is read,
// so that a client that asks and never reads fills its own pipe and not this
// process. Nothing is refused for it: who reads slowly gets every reply.
const unanswered = running + waiting

// heldBytes bounds the requests that are held for them, in bytes: one of the
// largest, or as many as are unanswered of the usual.
const heldBytes = maxMessage

// After the end of input calls may end by themselves for endGrace, so that
// `printf … | knowledge mcp` is answered; then they are cancelled and have
// endCancel to notice. Together they stay under the second that clients wait
// before they kill.
const (
	endGrace  = 500 * time.Millisecond
	endCancel = 250 * time.Millisecond
)

// ServeStdio answers the messages on in, one a line, with lines on out. It
// returns nil within a second of the end of in, and ctx's error when ctx ends
// first. A goroutine may stay behind in in.Read until that returns.
func ServeStdio(ctx context.Context, a *app.App, o Options, in io.Reader, out io.Writer) error {
	f, err := faceOf(ctx, a, o)
	if err != nil {
		return err
	}
	f.memory = &search.Memory{}
	return f.serve(ctx, in, out)
}

// conn is one stdio connection.
type conn struct {
	face  *face
	calls sync.WaitGroup

	out  *outbox
	room chan struct{}           // holds a token for each of the unanswered
	turn chan struct{}           // holds a token for each at work, until its reply is taken
	fail context.CancelCauseFunc // ends the connection when out is gone

	mu    sync.Mutex
	under map[string]*call // by id as the client spelt it
	held  int              // bytes of the requests of the unanswered
	freed chan struct{}    // holds a token when held has fallen
}

// call is a request under way.
type call struct {
	cancel  context.CancelFunc
	dropped bool // cancelled by the client, which wants no reply; guarded by conn.mu
}

func (f *face) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	work, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	c := &conn{
		face: f, out: newOutbox(out, func(err error) { fail(err) }), fail: fail, under: map[string]*call{},
		room: make(chan struct{}, unanswered), turn: make(chan struct{}, running), freed: make(chan struct{}, 1),
	}
	defer close(c.out.end)
	go c.out.run()
	lines := make(chan line)
	go readLines(in, lines, work.Done())

	var end error
	for end == nil {
		select {
		case l := <-lines:
			c.handle(work, l)
			end = l.err
		case <-work.Done():
			end = context.Cause(work)
		}
	}
	c.finish(fail)
	switch {
	case errors.Is(end, io.EOF):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		return kb.Errorf(kb.Internal, "the connection to the client broke: %w", end)
	}
}

// finish waits for the calls under way, within the bounds of endGrace and endCancel.
func (c *conn) finish(fail context.CancelCauseFunc) {
	done := make(chan struct{})
	go func() { c.calls.Wait(); close(done) }()
	select {
	case <-done:
		return
	case <-time.After(endGrace):
	}
	fail(context.Canceled)
	select {
	case <-done:
	case <-time.After(endCancel):
	}
}

// handle answers one line. Only tool calls and reads of resources can be
// slow: they run beside the loop. All else is answered at once and in order.
func (c *conn) handle(ctx context.Context, l line) {
	if l.tooLong {
		m := message{id: idOf(l.data)}
		c.reply(ctx, m, refuse(mcp.INVALID_REQUEST, "the message is longer than 4 MiB").reply(m.id))
		return
	}
	if len(bytes.TrimSpace(l.data)) == 0 {
		return
	}
	m, wrong := c.face.parse(l.data)
	switch {
	case wrong != nil:
		if !m.notification() {
			c.reply(ctx, m, wrong.reply(m.id))
		}
	case m.method == "": // a response: the client was asked nothing
	case m.id == nil:
		if m.method == string(mcp.MethodNotificationCancelled) {
			c.drop(m.request)
		}
	case m.method == string(mcp.MethodToolsCall), m.method == string(mcp.MethodResourcesRead):
		if !c.hold(ctx, len(l.data)) {
			return
		}
		work, cancel := context.WithCancel(ctx)
		t := &call{cancel: cancel}
		c.mu.Lock()
		c.under[string(m.id)] = t
		c.mu.Unlock()
		c.calls.Go(func() {
			defer c.release(len(l.data))
			defer cancel()
			// The turn ends when the reply is taken: as many are made as are read.
			select {
			case c.turn <- struct{}{}:
				defer func() { <-c.turn }()
			case <-work.Done(): // what is stopped need not wait
			}
			c.answer(work, m, l.data, t)
		})
	default:
		c.answer(ctx, m, l.data, nil)
	}
}

// hold waits for a place among the unanswered, and for n bytes among theirs.
func (c *conn) hold(ctx context.Context, n int) bool {
	select {
	case c.room <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	for {
		c.mu.Lock()
		fits := c.held == 0 || c.held+n <= heldBytes
		if fits {
			c.held += n
		}
		c.mu.Unlock()
		if fits {
			return true
		}
		select {
		case <-c.freed:
		case <-ctx.Done():
			<-c.room
			return false
		}
	}
}

func (c *conn) release(n int) {
	c.mu.Lock()
	c.held -= n
	c.mu.Unlock()
	<-c.room
	select {
	case c.freed <- struct{}{}:
	default:
	}
}

// answer lets mcp-go handle one request and writes what comes of it.
func (c *conn) answer(ctx context.Context, m message, raw []byte, t *call) {
	s := &session{notes: make(chan mcp.JSONRPCNotification, 4)}
	work := withNotifier(c.face.mcp.WithContext(ctx, s), notifier{m.token, func(method string, params any) {
		if b, err := encode(note{mcp.JSONRPC_VERSION, method, params}); err == nil {
			c.out.note(s, b)
		}
	}})
	res := c.face.mcp.HandleMessage(work, raw)
	if t != nil {
		c.mu.Lock()
		if c.under[string(m.id)] == t {
			delete(c.under, string(m.id))
		}
		dropped := t.dropped
		c.mu.Unlock()
		if dropped {
			c.out.forget(s)
			return
		}
		ctx = context.WithoutCancel(ctx) // what was stopped is answered too
	}
	for {
		select {
		case n := <-s.notes: // the acknowledgement of subscriptions/listen
			if b, err := encode(n); err == nil {
				c.out.reply(b, ctx.Done())
			}
			continue
		default:
		}
		break
	}
	if res != nil {
		c.reply(ctx, m, res)
	}
}

// drop cancels a call that the client no longer waits for.
func (c *conn) drop(id json.RawMessage) {
	c.mu.Lock()
	t := c.under[string(id)]
	if t != nil {
		t.dropped = true
	}
	c.mu.Unlock()
	if t != nil {
		t.cancel()
	}
}

// note is a notification to the client.
type note struct {
	JSONRPC string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitempty"`
}

// reply writes the reply to m as one line, and returns when the client has
// taken it, or when ctx ends.
func (c *conn) reply(ctx context.Context, m message, v any) {
	b, err := encode(v)
	if err != nil {
		c.fail(err)
		return
	}
	c.out.reply(shown(b, m), ctx.Done())
}

// encode returns v as JSON with a newline. <, > and & are not escaped where
// v's own methods do not escape them.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// shown returns the JSON of the reply to m, in which what cannot be seen is
// escaped, also after a client has decoded it. The client finds its request by
// the id, which is m's byte for byte.
func shown(reply []byte, m message) []byte {
	var r struct {
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if json.Unmarshal(reply, &r) != nil || r.Result == nil && r.Error == nil {
		return []byte(visible.Values(string(reply)))
	}
	b := bytes.NewBufferString(`{"jsonrpc":"2.0","id":`)
	if m.id == nil {
		b.WriteString("null")
	}
	b.Write(m.id)
	switch {
	case r.Error != nil:
		b.WriteString(`,"error":` + visible.Values(string(r.Error)))
	case m.method == string(mcp.MethodSubscriptionsListen): // says the id again, and nothing of a stranger's
		b.WriteString(`,"result":` + string(r.Result))
	default:
		b.WriteString(`,"result":` + visible.Values(string(r.Result)))
	}
	b.WriteString("}\n")
	return b.Bytes()
}

// line is one line of input, without its end. err is what ended the input,
// after this line.
type line struct {
	data    []byte // the head of it when tooLong
	tooLong bool
	err     error
}

// readLines sends the lines of in until it ends or done is closed.
func readLines(in io.Reader, lines chan<- line, done <-chan struct{}) {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		l := readLine(r)
		select {
		case lines <- l:
		case <-done:
			return
		}
		if l.err != nil {
			return
		}
	}
}

func readLine(r *bufio.Reader) (l line) {
	for {
		part, err := r.ReadSlice('\n')
		if len(l.data)+len(part) > maxMessage+1 {
			if !l.tooLong {
				l.data = append(l.data, part...)
			}
			l.tooLong = true
		} else if !l.tooLong {
			l.data = append(l.data, part...)
		}
		switch err {
		case nil:
			return l
		case bufio.ErrBufferFull:
		default:
			l.err = err
			return l
		}
	}
}

// session is what mcp-go wants to know of a client for the time of one
// request. It keeps nothing: the protocol of 2026-07-28 has no sessions, and
// of the older one nothing here depends on what initialize said.
type session struct {
	notes chan mcp.JSONRPCNotification
}

func (s *session) SessionID() string                                   { return "stdio" }
func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.notes }
func (s *session) Initialize()                                         {}
func (s *session) Initialized() bool                                   { return true }
