// Package weaviate speaks with a cluster of Weaviate (v1.39) over its REST and
// GraphQL endpoints: schema, batches of objects, objects by id, deletion by
// filter, queries, state of the nodes. It knows nothing of what is kept there.
//
// Every call has a deadline of its own, is tried again with growing, jittered
// pauses while the patience lasts, and at the next address when one does not
// answer; a reading one is sent to a second address when the first takes a quarter of the
// deadline. What fails after that has the code kb.Away.
package weaviate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Deadlines of a reading and a writing request, and how long a reading and a
// writing call are tried again.
const (
	readDeadline  = 2 * time.Second
	writeDeadline = 5 * time.Second
	readPatience  = 4 * time.Second
	writePatience = time.Minute
)

// askNext is how long an address has for the answer to a reading request before the next
// one is asked beside it.
const askNext = readDeadline / 4

// mostAway is how many requests are under way at once. More would wait in the
// cluster, each on its own deadline, until none is answered in time.
const mostAway = 8

// maxReply bounds what is read of a reply.
const maxReply = 256 << 20

// Client speaks with one cluster. It is safe for concurrent use.
type Client struct {
	// Read and Write are how long a call is tried again, 0 for 4 seconds and a
	// minute. A person who waits has less patience than a job.
	Read, Write time.Duration

	hosts []string
	key   string
	http  *http.Client
	at    atomic.Uint32 // the address that answered last
	turns chan struct{} // of requests under way
	ahead atomic.Int64  // how far its clock was ahead of ours at the last answer, in nanoseconds
}

// New returns a client of the cluster at addresses, URLs separated by commas.
// key is sent as bearer token unless it is "".
func New(addresses, key string) (*Client, error) {
	c := &Client{key: key, turns: make(chan struct{}, mostAway), http: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute, ResponseHeaderTimeout: 2 * writeDeadline},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // the key goes to nobody else
		},
	}}
	for _, a := range strings.Split(addresses, ",") {
		u, err := url.Parse(strings.TrimSpace(a))
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" {
			return nil, kb.Errorf(kb.Invalid, "%q is not the address of a cluster", a).
				WithHint("set index.url like this: http://node1:8080,http://node2:8080")
		}
		c.hosts = append(c.hosts, strings.TrimRight(u.String(), "/"))
	}
	return c, nil
}

type patient struct{}

// Patient returns a context whose reading calls are tried as long as writing ones:
// those that a write begins with. A majority answers once the cluster has seen that a
// node hangs or is cut off, which takes longer than who searches waits.
func Patient(ctx context.Context) context.Context { return context.WithValue(ctx, patient{}, true) }

// Addresses returns where the cluster is reached.
func (c *Client) Addresses() string { return strings.Join(c.hosts, ",") }

// Now is the time by the clock of the node that answered last, by ours before any has.
// Machines whose own clocks are wrong agree on it, to a second and as far as the
// nodes do.
func (c *Client) Now() time.Time { return time.Now().Round(0).Add(time.Duration(c.ahead.Load())) }

// clock notes the time that an answer says.
func (c *Client) clock(h http.Header) {
	at, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return
	}
	d := at.Sub(time.Now().Round(0))
	if d > -2*time.Second && d < 2*time.Second { // the header counts in seconds, and the way takes time
		d = 0
	}
	c.ahead.Store(int64(d))
}

// Close gives up idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// call is one request of the interface.
type call struct {
	method, path string
	body         any
	write        bool
	ok           []int // statuses besides 200 that are answers, not failures
}

// statusError is an answer that is no success.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return fmt.Sprintf("status %d: %s", e.status, e.text) }

// do sends a call until it is answered, and decodes the answer into out unless
// that is nil. It returns the status.
func (c *Client) do(ctx context.Context, q call, out any) (int, error) {
	var body []byte
	if q.body != nil {
		var err error
		if body, err = json.Marshal(q.body); err != nil {
			return 0, kb.Errorf(kb.Internal, "encode a request to the cluster: %w", err)
		}
	}
	deadline, patience := readDeadline, cmp.Or(c.Read, readPatience)
	if q.write {
		deadline = writeDeadline
	}
	if q.write || ctx.Value(patient{}) != nil {
		patience = cmp.Or(c.Write, writePatience)
	}
	select {
	case <-ctx.Done():
		return 0, c.ended(ctx)
	case c.turns <- struct{}{}: // the patience begins when it is its turn
		defer func() { <-c.turns }()
	}
	end := time.Now().Add(patience)
	for attempt := 0; ; attempt++ {
		a := c.send(ctx, q, body, min(deadline, time.Until(end)))
		err := a.err
		if err == nil && out != nil && !slices.Contains(q.ok, a.status) {
			if err = json.Unmarshal(a.raw, out); err != nil {
				err = fmt.Errorf("its answer does not parse: %w", err)
			}
		}
		if err == nil {
			return a.status, nil
		}
		if ctx.Err() != nil {
			return 0, c.ended(ctx)
		}
		if s, ok := a.refusal(); ok {
			return a.status, refused(s)
		}
		pause := min(50*time.Millisecond<<min(attempt, 5), time.Second)
		pause += time.Duration(rand.Int64N(int64(pause))) / 2
		if time.Until(end) < pause+20*time.Millisecond {
			return a.status, c.away(err)
		}
		select {
		case <-ctx.Done():
			return 0, c.ended(ctx)
		case <-time.After(pause):
		}
	}
}

// ended is the failure of a call whose caller waits no longer: one that has given
// it a time has found the cluster away.
func (c *Client) ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return c.away(ctx.Err())
	}
	return ctx.Err()
}

// answer is what came of one request.
type answer struct {
	at     uint32 // the address, as Client.at counts
	status int
	raw    []byte
	err    error
}

// refusal returns the answer to a request that was refused for what it is: another
// one would be answered alike.
func (a *answer) refusal() (s *statusError, ok bool) {
	ok = errors.As(a.err, &s) && s.status < 500 && s.status != http.StatusTooManyRequests
	return s, ok
}

// send sends a request to the address that answered last. A reading one that is not
// answered within askNext is sent to the next address as well, unless as many are
// under way as may be, and the first that answers counts: a node that hangs
// costs that long and not the whole deadline. Who answers is asked first from then on,
// and who fails last.
func (c *Client) send(ctx context.Context, q call, body []byte, limit time.Duration) answer {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel() // ends the one that is not waited for
	answers := make(chan answer, 2)
	first := c.at.Load()
	begin := func(at uint32) {
		a := c.once(ctx, c.hosts[int(at)%len(c.hosts)], q, body)
		a.at = at
		answers <- a
	}
	go begin(first)
	waiting := 1
	var beside <-chan time.Time
	if !q.write && len(c.hosts) > 1 {
		t := time.NewTimer(askNext)
		defer t.Stop()
		beside = t.C
	}
	for {
		select {
		case <-beside:
			beside = nil
			select {
			case c.turns <- struct{}{}:
				waiting++
				go func() {
					defer func() { <-c.turns }()
					begin(first + 1)
				}()
			default: // all of the cluster is busy
			}
		case a := <-answers:
			waiting--
			_, ok := a.refusal()
			switch {
			case ok || a.err == nil:
				c.at.CompareAndSwap(first, a.at)
				return a
			case waiting == 0:
				c.at.CompareAndSwap(first, a.at+1)
				return a
			}
		}
	}
}

// once sends a request to one address.
func (c *Client) once(ctx context.Context, host string, q call, body []byte) (a answer) {
	req, err := http.NewRequestWithContext(ctx, q.method, host+q.path, bytes.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	a.status = resp.StatusCode
	c.clock(resp.Header)
	if a.raw, a.err = io.ReadAll(io.LimitReader(resp.Body, maxReply)); a.err != nil {
		return a
	}
	if (a.status < 200 || a.status >= 300) && !slices.Contains(q.ok, a.status) {
		a.err = &statusError{a.status, excerpt(a.raw)}
	}
	return a
}

// excerpt returns what an answer says, in one line.
func excerpt(raw []byte) string {
	text := strings.Join(strings.Fields(string(raw)), " ")
	return text[:min(len(text), 300)]
}

// away is the failure of a cluster that does not answer as it should.
func (c *Client) away(err error) error {
	return kb.Errorf(kb.Away, "the shared stores at %s are away: %w", c.Addresses(), err).
		WithHint("local stores still answer; see what the cluster says: curl -f %s/v1/.well-known/ready", c.hosts[0])
}

func refused(s *statusError) error {
	switch s.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return kb.Errorf(kb.Denied, "the cluster of the shared stores refuses the key: %w", s).
			WithHint("set KNOWLEDGE_INDEX_KEY, or index.keyFile, to a key of the cluster")
	case http.StatusNotFound:
		return kb.Errorf(kb.NotFound, "the cluster of the shared stores lacks what is asked of it: %w", s)
	}
	return kb.Errorf(kb.Internal, "the cluster of the shared stores refuses a request: %w", s)
}
