package restapi

import (
	"bytes"
	"container/list"
	"context"
	"crypto/sha256"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Cache keeps replies to GET for as long as their services say (RFC 9111). It is a
// private cache (section 1): a reply is kept for requests with the very same headers,
// the credential among them, so that what Vary names always agrees (section 4.1). No
// lifetime is guessed (4.2.2 allows that, and requires nothing). It is safe for concurrent use.
type Cache struct {
	Now func() time.Time // nil is the clock; for tests

	mu    sync.Mutex
	kept  map[[sha256.Size]byte]*list.Element
	order list.List // of *cached, the one that was used last in front
	size  int
}

// The bounds of a cache.
const (
	mostCached  = 256
	cacheBytes  = 16 << 20
	cachedBytes = 1 << 20 // of one reply
)

// cached is one reply.
type cached struct {
	key    [sha256.Size]byte
	url    string
	header http.Header
	body   []byte
	at     time.Time // of the request that it answered, or that said it is still so
}

func (c *Cache) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

// send answers a request from what is kept, or sends it. old is how old what was kept
// is, negative for what has just come.
func (c *Cache) send(ctx context.Context, req *http.Request, send func(context.Context, *http.Request) (*http.Response, error)) (resp *http.Response, old time.Duration, err error) {
	if c == nil || req.Method != http.MethodGet || directive(req.Header, "no-store") != "" || req.Header.Get("Range") != "" {
		resp, err = send(ctx, req)
		if err == nil && c != nil && resp.StatusCode < 400 && !slices.Contains([]string{"GET", "HEAD", "OPTIONS"}, req.Method) {
			c.forget(req.URL.String()) // section 4.4
		}
		return resp, -1, err
	}
	key := cacheKey(req)
	have := c.get(key)
	if have != nil && directive(req.Header, "no-cache") == "" {
		if age := c.age(have); age < lifetime(have.header) && directive(have.header, "no-cache") == "" {
			return have.response(req), age, nil
		}
	}
	asked := c.now()
	if have != nil { // section 4.3.1
		req = req.Clone(ctx)
		if tag := have.header.Get("ETag"); tag != "" {
			req.Header.Set("If-None-Match", tag)
		} else if at := have.header.Get("Last-Modified"); at != "" {
			req.Header.Set("If-Modified-Since", at)
		}
	}
	if resp, err = send(ctx, req); err != nil {
		return nil, -1, err
	}
	if have != nil && resp.StatusCode == http.StatusNotModified { // section 4.3.4
		resp.Body.Close()
		fresh := *have
		fresh.header, fresh.at = have.header.Clone(), asked
		for k, v := range resp.Header {
			if k != "Content-Length" && k != "Content-Encoding" && k != "Transfer-Encoding" { // section 3.2
				fresh.header[k] = v
			}
		}
		c.put(&fresh)
		return fresh.response(req), 0, nil
	}
	if storable(resp) {
		made := &cached{key: key, url: req.URL.String(), header: resp.Header.Clone(), at: asked}
		resp.Body = &recorder{ReadCloser: resp.Body, keep: func(b []byte) {
			made.body = b
			c.put(made)
		}}
	}
	return resp, -1, nil
}

// storable reports whether a reply may be kept (section 3), and is of use: it says
// how long it holds, or how to ask whether it still does.
func storable(resp *http.Response) bool {
	h := resp.Header
	return resp.StatusCode == http.StatusOK && directive(h, "no-store") == "" && !slices.Contains(values(h, "Vary"), "*") &&
		(lifetime(h) > 0 || h.Get("ETag") != "" || h.Get("Last-Modified") != "")
}

// cacheKey tells requests apart by everything in them.
func cacheKey(req *http.Request) [sha256.Size]byte {
	var b bytes.Buffer
	b.WriteString(req.URL.String())
	for _, k := range slices.Sorted(maps.Keys(req.Header)) {
		b.WriteString("\x00" + k + "\x00" + strings.Join(req.Header[k], "\x00"))
	}
	return sha256.Sum256(b.Bytes())
}

// values returns the elements of a header that is a list.
func values(h http.Header, name string) []string {
	var all []string
	for _, line := range h.Values(name) {
		for v := range strings.SplitSeq(line, ",") {
			if v = strings.ToLower(strings.TrimSpace(v)); v != "" {
				all = append(all, v)
			}
		}
	}
	return all
}

// directive returns a directive of Cache-Control as it stands there, "" when it does
// not.
func directive(h http.Header, name string) string {
	for _, v := range values(h, "Cache-Control") {
		if key, _, _ := strings.Cut(v, "="); strings.TrimSpace(key) == name {
			return v
		}
	}
	return ""
}

// lifetime returns how long a reply is fresh by its own word (section 4.2.1), 0 when
// it does not say.
func lifetime(h http.Header) time.Duration {
	if v := directive(h, "max-age"); v != "" {
		_, said, _ := strings.Cut(v, "=")
		n, err := strconv.Atoi(strings.Trim(said, `" `))
		if err != nil || n < 0 {
			return 0 // section 4.2.1: what cannot be read is stale
		}
		return time.Duration(min(n, 365*24*3600)) * time.Second
	}
	till, err := http.ParseTime(h.Get("Expires"))
	if err != nil {
		return 0
	}
	from, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return max(0, till.Sub(from))
}

// age returns how old a reply is (section 4.2.3): since it was asked for, and what it
// had behind it in other caches.
func (c *Cache) age(k *cached) time.Duration {
	before := time.Duration(0)
	if n, err := strconv.Atoi(k.header.Get("Age")); err == nil && n > 0 {
		before = time.Duration(min(n, 365*24*3600)) * time.Second
	}
	return max(0, c.now().Sub(k.at)) + before
}

func (k *cached) response(req *http.Request) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Header: k.header.Clone(), Request: req, Body: io.NopCloser(bytes.NewReader(k.body))}
}

func (c *Cache) get(key [sha256.Size]byte) *cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.kept[key]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*cached)
}

func (c *Cache) put(k *cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = map[[sha256.Size]byte]*list.Element{}
	}
	if old := c.kept[k.key]; old != nil {
		c.drop(old)
	}
	c.kept[k.key] = c.order.PushFront(k)
	c.size += len(k.body)
	for c.order.Len() > mostCached || c.size > cacheBytes {
		c.drop(c.order.Back())
	}
}

// drop lets go of one; the caller holds the lock.
func (c *Cache) drop(e *list.Element) {
	k := c.order.Remove(e).(*cached)
	delete(c.kept, k.key)
	c.size -= len(k.body)
}

// forget lets go of what is kept of an address.
func (c *Cache) forget(url string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for e := c.order.Front(); e != nil; {
		next := e.Next()
		if e.Value.(*cached).url == url {
			c.drop(e)
		}
		e = next
	}
}

// recorder passes a body on and keeps it once it has been read whole.
type recorder struct {
	io.ReadCloser
	all  []byte
	keep func([]byte) // nil once it has been called, or is not to be
}

func (r *recorder) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	if r.keep == nil {
		return n, err
	}
	if len(r.all)+n > cachedBytes || err != nil && err != io.EOF {
		r.all, r.keep = nil, nil
		return n, err
	}
	r.all = append(r.all, b[:n]...)
	if err == io.EOF {
		r.keep(r.all)
		r.keep = nil
	}
	return n, err
}
