package httpguard

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Listen opens addr, host:port. The host may not be empty: binding every
// address is said in words (0.0.0.0), not by leaving something out.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || host == "" || !validPort(port) {
		return nil, kb.Errorf(kb.Invalid, "%q is not an address to listen on", clip(addr)).
			WithHint("write host and port, for example 127.0.0.1:7390")
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	switch {
	case err == nil:
		return ln, nil
	case errors.Is(err, errInUse) || strings.Contains(err.Error(), "address already in use"):
		return nil, kb.Errorf(kb.Busy, "another program listens on %s", addr).
			WithHint("stop it, or choose another port (port 0 takes a free one)")
	case errors.Is(err, errNoAccess):
		return nil, kb.Errorf(kb.Denied, "no permission to listen on %s", addr).
			WithHint("choose a port above 1023")
	default:
		return nil, kb.Errorf(kb.Invalid, "cannot listen on %s: %w", addr, cause(err)).
			WithHint("write an address of this machine, for example 127.0.0.1:7390")
	}
}

// cause returns the innermost error of a network failure, without the
// "listen tcp …: bind:" around it.
func cause(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// Server returns a server for h that no slow client can hold: 10 s for the
// header, 30 s for the whole request, 2 min idle, 64 KiB of header. Answers
// have no limit of time, since a job may take long to report; that their reader
// takes none of one has, see Run.
func Server(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // strangers' broken connections are no news
	}
}

// grace is how long requests that are under way may take to end at the end of Run.
const grace = 2 * time.Second

// unread is how long a client may take nothing of an answer before it is left.
const unread = 30 * time.Second

// Run serves, with TLS where srv.TLSConfig is set, within the bounds of this package until ctx ends, then lets running
// requests end for two seconds, cancels the rest and returns nil. The requests'
// contexts end when ctx does plus that time.
func Run(ctx context.Context, srv *http.Server, ln net.Listener) error {
	return RunFor(ctx, srv, ln, grace)
}

// RunFor is Run with another time for requests to end.
func RunFor(ctx context.Context, srv *http.Server, ln net.Listener, grace time.Duration) error {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	b := newBounds()
	srv.BaseContext = func(net.Listener) context.Context { return base }
	srv.ConnContext, srv.Handler = withConn, b.handler(srv.Handler)
	failed := make(chan error, 1)
	ln = attentive{ln, b}
	if srv.TLSConfig != nil {
		ln = tls.NewListener(ln, srv.TLSConfig)
	}
	go func() { failed <- srv.Serve(ln) }()
	select {
	case err := <-failed:
		return kb.Errorf(kb.Internal, "the HTTP server stopped: %w", err)
	case <-ctx.Done():
	}
	stop, done := context.WithTimeout(base, grace)
	defer done()
	if srv.Shutdown(stop) != nil {
		cancel() // for the handlers
		srv.Close()
	}
	<-failed
	return nil
}
