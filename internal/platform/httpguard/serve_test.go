package httpguard

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// one is a listener with one connection.
type one struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (o one) Accept() (net.Conn, error) {
	select {
	case c := <-o.conns:
		return c, nil
	case <-o.closed:
		return nil, net.ErrClosed
	}
}
func (o one) Close() error   { close(o.closed); return nil }
func (o one) Addr() net.Addr { return &net.TCPAddr{} }

// TestClientThatDoesNotRead is left after a while, and one that reads slowly is not.
func TestClientThatDoesNotRead(t *testing.T) {
	const size = 1 << 20
	for _, tt := range []struct {
		name  string
		pause time.Duration // before each read of a part
		whole bool
	}{
		{"never", 10 * unread, false},
		{"slowly", unread / 2, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				client, server := net.Pipe()
				ln := one{make(chan net.Conn, 1), make(chan struct{})}
				ln.conns <- server
				served, failed := make(chan error, 1), make(chan bool, 1)
				h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					_, err := io.WriteString(w, strings.Repeat("x", size))
					failed <- err != nil
				})
				go func() { served <- Run(ctx, Server(h), ln) }()
				go io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
				got := 0
				part := make([]byte, 64<<10)
				for {
					time.Sleep(tt.pause)
					n, err := client.Read(part)
					got += n
					if err != nil {
						break
					}
				}
				if whole := got > size; whole != tt.whole {
					t.Errorf("%d bytes arrived", got)
				}
				if err := <-failed; err == tt.whole {
					t.Errorf("the handler's write failed: %v", err)
				}
				cancel()
				if err := <-served; err != nil {
					t.Error(err)
				}
				client.Close()
			})
		})
	}
}
