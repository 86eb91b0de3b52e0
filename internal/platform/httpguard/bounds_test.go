package httpguard

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// crowd serves h to as many clients as connect, in the bubble of synctest.
type crowd struct {
	t    *testing.T
	ln   one
	stop func()
}

func newCrowd(t *testing.T, h http.HandlerFunc) *crowd {
	ctx, cancel := context.WithCancel(t.Context())
	ln := one{make(chan net.Conn), make(chan struct{})}
	served := make(chan error, 1)
	go func() { served <- Run(ctx, Server(h), ln) }()
	return &crowd{t, ln, func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}}
}

// dial connects and sends text, as far as the server takes it.
func (c *crowd) dial(text string) net.Conn {
	client, server := net.Pipe()
	c.ln.conns <- server
	go io.WriteString(client, text)
	c.t.Cleanup(func() { client.Close() })
	return client
}

const get = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

// TestClientsThatDoNotRead ask for a megabyte each and take nothing: few of
// their replies are held at a time, and a client that reads is answered meanwhile.
func TestClientsThatDoNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 1 << 20
		var held, most atomic.Int64
		c := newCrowd(t, func(w http.ResponseWriter, _ *http.Request) {
			reply := strings.Repeat("x", size)
			if n := held.Add(1); n > most.Load() {
				most.Store(n)
			}
			defer held.Add(-1)
			io.WriteString(w, reply)
		})
		for range 300 {
			c.dial(get)
		}
		synctest.Wait()
		if got, want := most.Load(), int64(unreadBytes/size+mostAtWork); got > want {
			t.Errorf("%d replies were held, at most %d are to be", got, want)
		}
		start := time.Now()
		got, err := io.ReadAll(c.dial(get))
		if err != nil || len(got) < size {
			t.Errorf("a reader got %d bytes, %v", len(got), err)
		}
		if took := time.Since(start); took > unread {
			t.Errorf("after %v", took)
		}
		time.Sleep(2 * unread)
		synctest.Wait()
		if n := held.Load(); n != 0 {
			t.Errorf("%d replies are held for clients that are gone", n)
		}
		c.stop()
	})
}

// TestWaitingIsNoStalling: a client whose reply waited for room has as long as
// others to take it, however long it waited.
func TestWaitingIsNoStalling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, strings.Repeat("x", unreadBytes)) // all the room there is
		})
		c.dial(get) // takes nothing
		synctest.Wait()
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if got, err := io.ReadAll(c.dial(get)); err != nil || len(got) < unreadBytes {
					t.Errorf("a reader got %d bytes, %v", len(got), err)
				}
			})
		}
		all.Wait()
		c.stop()
	})
}

// socket is a connection with a buffer of the system.
type socket struct {
	net.Conn
	buffer int // as it was set, in bytes
}

func (s *socket) SetWriteBuffer(n int) error { s.buffer = n; return nil }

// TestTheSystemHoldsLittle: what the system takes for a client that does not
// read is bounded too, so that writes to it come to wait.
func TestTheSystemHoldsLittle(t *testing.T) {
	client, server := net.Pipe()
	defer client.Close()
	ln := one{make(chan net.Conn, 1), make(chan struct{})}
	s := &socket{Conn: server}
	ln.conns <- s
	c, err := attentive{ln, newBounds()}.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if s.buffer <= 0 || s.buffer > 128<<10 {
		t.Errorf("the system may hold %d bytes of an answer that is not read", s.buffer)
	}
}

// TestSlowBodiesTakeNobodysPlace: a request that is not whole yet is not at work.
func TestSlowBodiesTakeNobodysPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			fmt.Fprint(w, len(body), err)
		})
		for range mostAtWork + 10 {
			c.dial("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx")
		}
		synctest.Wait()
		start := time.Now()
		got, err := io.ReadAll(c.dial(get))
		if err != nil || !strings.HasSuffix(string(got), "0 <nil>") || time.Since(start) > 0 {
			t.Errorf("%q, %v, after %v", got, err, time.Since(start))
		}
		c.stop()
	})
}

// TestTooManyConnections: the oldest that does nothing gives way.
func TestTooManyConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, free := make(chan bool), make(chan bool)
		c := newCrowd(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/long" {
				began <- true
				<-free
			}
			io.WriteString(w, "done")
		})
		long := c.dial("GET /long HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		<-began
		var idle []net.Conn
		for range mostConns + 20 {
			idle = append(idle, c.dial("GET / HTTP/1.1\r\nHost: x\r\nX-Slow"))
			synctest.Wait()
			time.Sleep(time.Millisecond)
		}
		gone := 0
		for _, conn := range idle {
			conn.SetReadDeadline(time.Now().Add(time.Millisecond))
			if _, err := conn.Read(make([]byte, 1)); err == io.EOF {
				gone++
			}
		}
		if gone != 21 {
			t.Errorf("%d connections gave way, want 21", gone)
		}
		if got, err := io.ReadAll(c.dial(get)); err != nil || !strings.HasSuffix(string(got), "done") {
			t.Errorf("a new client: %q, %v", got, err)
		}
		close(free)
		if got, err := io.ReadAll(long); err != nil || !strings.HasSuffix(string(got), "done") {
			t.Errorf("the one that was at work: %q, %v", got, err)
		}
		c.stop()
	})
}
