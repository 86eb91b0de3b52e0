package httpguard

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// What the clients of one listener can cost, whether they send slowly, ask and
// do not read, or only connect.
const (
	mostConns   = 512      // connections; beyond, the longest idle goes
	mostAtWork  = 16       // requests between the end of their body and their reply
	bodyBytes   = 16 << 20 // of bodies of requests that are not answered yet
	unreadBytes = 8 << 20  // of replies that clients have not taken
	largeReply  = 8 << 10  // from here a piece of a reply counts
	inKernel    = 64 << 10 // of what a client has not taken, about half of what the system holds for us
	// stalled is how long a client may take nothing before its reply gives way
	// to those of others, when there is no room for all.
	stalled = time.Second / 2
)

// bounds holds the clients of one listener within these.
type bounds struct {
	work   chan struct{} // holds a token for each request at work
	bodies atomic.Int64  // bytes of bodies

	mu      sync.Mutex
	conns   map[*attentiveConn]bool
	unread  int // bytes of large replies that are being written
	writing map[*attentiveConn]int
	changed chan struct{} // closed when unread falls
}

func newBounds() *bounds {
	return &bounds{work: make(chan struct{}, mostAtWork), conns: map[*attentiveConn]bool{}, writing: map[*attentiveConn]int{}, changed: make(chan struct{})}
}

// attentive accepts connections whose writes fail when for the time of unread
// nothing could be written: a client that asks and does not read would hold
// its connection and its answer for ever.
type attentive struct {
	net.Listener
	bounds *bounds
}

func (l attentive) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	// By default, systems hold megabytes for a client that does not read, whose
	// requests are worked at for so long.
	if s, ok := c.(interface{ SetWriteBuffer(int) error }); ok {
		_ = s.SetWriteBuffer(inKernel) // a connection that is gone shows when it is read
	}
	a := &attentiveConn{Conn: c, bounds: l.bounds}
	a.moved()
	l.bounds.add(a)
	return a, nil
}

// attentiveConn is a connection and how it goes on.
type attentiveConn struct {
	net.Conn
	bounds *bounds
	last   atomic.Int64 // when its client last sent a request or took a part, in nanoseconds
	busy   atomic.Bool  // a request of it is being answered
}

func (c *attentiveConn) moved() { c.last.Store(time.Now().UnixNano()) }

// Write writes p in parts that any reader takes in time.
func (c *attentiveConn) Write(p []byte) (n int, err error) {
	for first := true; first || len(p) > 0; first = false {
		if err := c.SetWriteDeadline(time.Now().Add(unread)); err != nil {
			return n, err
		}
		m, err := c.Conn.Write(p[:min(len(p), 64<<10)])
		n += m
		if err != nil {
			return n, err
		}
		c.moved()
		p = p[m:]
	}
	return n, nil
}

func (c *attentiveConn) Close() error {
	c.bounds.mu.Lock()
	delete(c.bounds.conns, c)
	c.bounds.mu.Unlock()
	return c.Conn.Close()
}

// add lets a connection in. Of too many, the one goes whose client has done
// nothing for the longest and waits for no answer; else the new one.
func (b *bounds) add(c *attentiveConn) {
	b.mu.Lock()
	leaves := c
	if len(b.conns) >= mostConns {
		for other := range b.conns {
			if !other.busy.Load() && other.last.Load() < leaves.last.Load() {
				leaves = other
			}
		}
		delete(b.conns, leaves)
	} else {
		leaves = nil
	}
	if leaves != c {
		b.conns[c] = true
	}
	b.mu.Unlock()
	if leaves != nil {
		leaves.Conn.Close() // its reads and writes fail
	}
}

// connKey finds the connection of a request in its context.
type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// handler answers with next within the bounds.
func (b *bounds) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, ok := r.Context().Value(connKey{}).(*attentiveConn)
		if !ok { // in a test, without a listener
			next.ServeHTTP(w, r)
			return
		}
		c.moved()
		c.busy.Store(true)
		defer c.busy.Store(false)
		a := &answered{ResponseWriter: w, bounds: b, conn: c, ctx: r.Context()}
		defer a.leave()
		if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
			a.enter()
		} else {
			body := &boundedBody{ReadCloser: r.Body, answered: a}
			defer func() { b.bodies.Add(-body.held) }()
			r.Body = body
		}
		next.ServeHTTP(a, r)
	})
}

// boundedBody counts what is read of a body. The work begins at its
// end: a slow sender takes no place.
type boundedBody struct {
	io.ReadCloser
	answered *answered
	held     int64
}

func (r *boundedBody) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.held += int64(n)
	if r.answered.bounds.bodies.Add(int64(n)) > bodyBytes {
		return n, errors.New("the bodies of too many requests are under way")
	}
	if err == io.EOF {
		r.answered.enter()
	}
	return n, err
}

// answered is the reply to one request.
type answered struct {
	http.ResponseWriter
	bounds  *bounds
	conn    *attentiveConn
	ctx     context.Context
	working atomic.Bool // the reply may be written from another goroutine
}

// enter waits for a place among the requests at work.
func (a *answered) enter() {
	if a.working.Load() {
		return
	}
	select {
	case a.bounds.work <- struct{}{}:
		a.working.Store(true)
	case <-a.ctx.Done(): // the handler notices
	}
}

func (a *answered) leave() {
	if a.working.CompareAndSwap(true, false) {
		<-a.bounds.work
	}
}

// Unwrap lets http.ResponseController through.
func (a *answered) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (a *answered) Write(p []byte) (int, error) {
	if err := a.begin(len(p)); err != nil {
		return 0, err
	}
	defer a.end(len(p))
	return a.ResponseWriter.Write(p)
}

// WriteString is Write without a copy.
func (a *answered) WriteString(s string) (int, error) {
	if err := a.begin(len(s)); err != nil {
		return 0, err
	}
	defer a.end(len(s))
	return io.WriteString(a.ResponseWriter, s)
}

// begin waits until there is room for n bytes that the client may not take at
// once. The place at work is kept until then, so that no more replies are made
// than are read.
func (a *answered) begin(n int) error {
	defer a.leave()
	if n < largeReply {
		return nil
	}
	b := a.bounds
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.unread > 0 && b.unread+n > unreadBytes {
		slowest := (*attentiveConn)(nil)
		for c := range b.writing {
			if slowest == nil || c.last.Load() < slowest.last.Load() {
				slowest = c
			}
		}
		wait := stalled - time.Since(time.Unix(0, slowest.last.Load()))
		if wait <= 0 {
			b.drop(slowest)
			slowest.Conn.Close() // its write fails
			continue
		}
		changed := b.changed
		b.mu.Unlock()
		var err error
		select {
		case <-changed:
		case <-time.After(wait):
		case <-a.ctx.Done():
			err = context.Cause(a.ctx)
		}
		b.mu.Lock()
		if err != nil {
			return err
		}
	}
	a.conn.moved() // its client is not to blame for the wait
	b.unread += n
	b.writing[a.conn] = n
	return nil
}

func (a *answered) end(n int) {
	if n >= largeReply {
		a.bounds.mu.Lock()
		a.bounds.drop(a.conn)
		a.bounds.mu.Unlock()
	}
}

// drop forgets what a connection's client has not taken. b.mu is held.
func (b *bounds) drop(c *attentiveConn) {
	b.unread -= b.writing[c]
	delete(b.writing, c)
	close(b.changed)
	b.changed = make(chan struct{})
}
