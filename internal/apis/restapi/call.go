package restapi

import (
	"context"
	cryptorand "crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Client sends requests through the guard; outbound.Client is one.
type Client interface {
	// Do follows redirects.
	Do(context.Context, *http.Request) (*http.Response, error)
	// Once does not.
	Once(context.Context, *http.Request) (*http.Response, error)
}

// Caller calls tools. It is safe for concurrent use.
type Caller struct {
	Client  func(p *Provider) (Client, error)
	Secrets *Resolver
	Tokens  Tokens  // nil gets none
	Servers Servers // nil asks none
	Cache   *Cache  // of replies; nil keeps none
	Log     *Log    // nil keeps none
	// Pause waits between tries; nil is a timer. For tests.
	Pause func(context.Context, time.Duration) error
}

// Reply is what a service answered.
type Reply struct {
	API      string
	Tool     string
	Status   int             // of HTTP
	Media    string          // media type without parameters
	Link     string          // header of that name
	JSON     json.RawMessage // what came, when that is JSON
	Text     string          // else
	Odd      string          // what is wrong with a reply that is shown all the same
	Redacted []string        // parameters out of which credentials were taken
	Args     json.RawMessage // what was sent for arguments, defaults included, credentials masked
	At       time.Time
	Elapsed  time.Duration
	Tries    int

	FromCache bool          // the service allowed to show it again
	Age       time.Duration // of what was kept
}

// tries is how often an idempotent request is sent at most.
const tries = 4

// errorBytes is how much of a failure's body is read.
const errorBytes = 8 << 10

// Call checks arguments, sends the request and reads the reply. Nothing is
// sent when an argument is wrong. The errors are *ArgumentError for those;
// Denied for what may not be sent or was refused by the service; NotFound,
// Invalid, Busy and Away as the service answered; TooLarge and Unsupported for
// replies that cannot be shown. No error, reply or log line holds a secret.
func (c *Caller) Call(ctx context.Context, p *Provider, t *Tool, raw json.RawMessage) (*Reply, error) {
	start := time.Now()
	reply := &Reply{API: p.Code, Tool: t.Code, At: start.UTC().Truncate(time.Second)}
	auths, _ := c.Secrets.choose(p, t, c.Tokens) // that there is none is said below
	values, err := t.arguments(auths, raw)
	if err != nil {
		var arg *ArgumentError
		if errors.As(err, &arg) {
			return nil, arg
		}
		return nil, err
	}
	cred, err := c.Secrets.resolve(ctx, p, t, c.Tokens)
	for renewed := false; err == nil; renewed = true {
		red := newRedactor(p, cred)
		reply.Redacted = append(reply.Redacted, scrub(values, red)...)
		reply.Args = masked(values)
		if p.Server != nil {
			err = c.served(ctx, p, t, values, red, reply)
		} else {
			err = c.try(ctx, p, t, values, cred, red, reply)
		}
		if reply.Status == http.StatusUnauthorized && !renewed && c.dropped(p, cred) {
			// What a service refuses for its token it has not done.
			if cred, err = c.Secrets.resolve(ctx, p, t, c.Tokens); err == nil {
				continue
			}
		}
		if err != nil {
			var arg *ArgumentError
			if !errors.As(err, &arg) {
				err = red.Error(err)
			}
		}
		break
	}
	reply.Elapsed = time.Since(start)
	if e := c.Log.add(p, t, values, reply, err); err == nil && e != nil {
		err = e
	}
	if err != nil {
		return nil, err
	}
	return reply, nil
}

// dropped forgets the tokens of a call that were refused and reports whether
// there may be others.
func (c *Caller) dropped(p *Provider, cred credentials) bool {
	again := false
	for a, token := range cred.tokens {
		again = c.Tokens.Drop(p, a, token) || again
	}
	return again
}

// masked returns the arguments with credentials masked.
func masked(values []value) json.RawMessage {
	shown := make([]value, len(values))
	for i, v := range values {
		if secretName(v.param.Name) && v.param.Type != Boolean {
			v.json = mustJSON("[MASKED]")
		}
		shown[i] = v
	}
	return objectOf(shown)
}

// try sends the request until it is answered, cannot be, or time is up.
func (c *Caller) try(ctx context.Context, p *Provider, t *Tool, values []value, cred credentials, red *Redactor, reply *Reply) error {
	client, err := c.Client(p)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	values, keyed := t.keyed(values)
	for {
		reply.Tries++
		req, err := c.build(limited, p, t, values, cred)
		if err != nil {
			return err
		}
		again, err := c.once(limited, client, req, p, t, red, reply)
		if limited.Err() != nil && ctx.Err() == nil {
			return kb.Errorf(kb.Away, "%s did not answer within %s", p.Code, p.Timeout).
				WithHint("try again later, or ask it for less")
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil || again < 0 || !t.Idempotent() && !keyed || reply.Tries == tries {
			return err
		}
		wait := again
		if wait == 0 {
			wait = 200 * time.Millisecond << (reply.Tries - 1)
			wait += rand.N(wait / 2)
		}
		if deadline, ok := limited.Deadline(); ok && time.Until(deadline) <= wait {
			return err // no time for another
		}
		pause := c.Pause
		if pause == nil {
			pause = sleep
		}
		if e := pause(limited, wait); e != nil {
			return err
		}
	}
}

// keyed gives a request the key by which the service tells it from another one,
// where it takes one and none was given: then it may be sent again.
func (t *Tool) keyed(values []value) ([]value, bool) {
	for i := range t.Params {
		p := &t.Params[i]
		if p.In != "header" || !strings.EqualFold(p.wire(), "Idempotency-Key") {
			continue
		}
		if !slices.ContainsFunc(values, func(v value) bool { return v.param == p }) {
			values = append(slices.Clone(values), value{param: p, json: mustJSON(cryptorand.Text())})
		}
		return values, true
	}
	return values, false
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// once sends one request. Another try may help after again, at a time of the
// caller's choice when that is 0, never when it is negative.
func (c *Caller) once(ctx context.Context, client Client, req *http.Request, p *Provider, t *Tool, red *Redactor, reply *Reply) (again time.Duration, err error) {
	send := client.Once
	if t.Method == "GET" || t.Method == "HEAD" {
		send = client.Do
	}
	resp, old, err := c.Cache.send(ctx, req, send)
	if err != nil {
		if kb.CodeOf(err) == kb.Away {
			return 0, err
		}
		return -1, err
	}
	defer resp.Body.Close()
	reply.FromCache, reply.Age = old >= 0, max(old, 0)
	reply.Status, reply.Link = resp.StatusCode, red.Text(resp.Header.Get("Link"))
	if resp.StatusCode >= 300 {
		return refused(resp, p, t, red)
	}
	if t.Method == "HEAD" {
		reply.JSON = red.JSON(heads(resp))
		return -1, nil
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		switch kb.CodeOf(err) {
		case kb.Away:
			return 0, err
		case kb.TooLarge:
			return -1, kb.Errorf(kb.TooLarge, "the reply of %s has more than %d bytes", t.Code, p.MaxBytes).
				WithHint("ask it for less; a person may raise maxBytes of %s", p.Code)
		}
		return -1, err
	}
	if err := reply.read(resp.Header.Get("Content-Type"), body, red); err != nil {
		return -1, err
	}
	return -1, reply.unwrap(t)
}

// refused turns a status that is no success into an error.
func refused(resp *http.Response, p *Provider, t *Tool, red *Redactor) (time.Duration, error) {
	excerpt := ""
	if b, err := io.ReadAll(io.LimitReader(resp.Body, errorBytes)); err == nil || len(b) > 0 {
		var said Reply
		if said.read(resp.Header.Get("Content-Type"), b, red) == nil {
			excerpt = said.Text
			if said.JSON != nil {
				excerpt = string(said.JSON)
			}
			excerpt = clip(oneLine(credential.ReplaceAllString(excerpt, Redacted)), 300)
		}
	}
	said := strings.TrimSpace(strconv.Itoa(resp.StatusCode) + " " + http.StatusText(resp.StatusCode))
	if excerpt != "" {
		said += ": " + excerpt
	}
	code, hint, again := kb.Invalid, "check the arguments against what \"api:help\" says of "+t.Code, time.Duration(-1)
	switch s := resp.StatusCode; {
	case s < 400:
		code, hint = kb.Denied, "redirects of a "+t.Method+
			" are not followed; a person may correct the address in the definition of "+p.Code
	case s == http.StatusForbidden && limitedFor(resp) > 0: // as some services say that a limit is reached
		code, hint, again = kb.Busy, "try again in "+limitedFor(resp).String(), retryAfter(resp)
	case s == http.StatusUnauthorized, s == http.StatusForbidden:
		code, hint = kb.Denied, "the service did not accept the credential or does not allow this; a person can check "+
			p.Code+" with: knowledge api check --live"
	case s == http.StatusNotFound, s == http.StatusGone:
		code, hint = kb.NotFound, "check the arguments that name something"
	case s == http.StatusRequestTimeout, s == http.StatusTooManyRequests, s == http.StatusBadGateway,
		s == http.StatusServiceUnavailable, s == http.StatusGatewayTimeout:
		code, hint, again = kb.Busy, "try again later", retryAfter(resp)
		if d := limitedFor(resp); d > 0 {
			hint = "try again in " + d.String()
		}
	case s >= 500:
		code, hint, again = kb.Away, "the service failed; try again later", 0
	}
	return again, kb.Errorf(code, "%s answered %s", p.Code, said).WithHint("%s", hint)
}

// retryAfter reads the header of that name as far as we wait: up to 10 s.
func retryAfter(resp *http.Response) time.Duration {
	d := limitedFor(resp)
	if d > 10*time.Second {
		return -1
	}
	return d
}

// limitedFor returns how long a service wants to be spared: Retry-After in seconds
// or as a date, or when the window of a limit ends of which nothing is left; 0 when
// it does not say.
func limitedFor(resp *http.Response) time.Duration {
	said := strings.TrimSpace(resp.Header.Get("Retry-After"))
	if n, err := strconv.Atoi(said); err == nil {
		return max(0, time.Duration(n)*time.Second)
	}
	if at, err := http.ParseTime(said); err == nil {
		return max(0, time.Until(at).Round(time.Second))
	}
	for _, prefix := range []string{"X-RateLimit-", "RateLimit-"} {
		n, err := strconv.ParseInt(resp.Header.Get(prefix+"Reset"), 10, 64)
		if err != nil || resp.Header.Get(prefix+"Remaining") != "0" {
			continue
		}
		if n > 1e9 { // seconds since 1970; else from now
			n -= time.Now().Unix()
		}
		return max(0, time.Duration(min(n, 24*3600))*time.Second)
	}
	return 0
}

// Health reports whether the host of an API answers.
type Health struct {
	API     string `json:"api"`
	OK      bool   `json:"ok"`
	Status  int    `json:"status,omitempty"` // of HTTP
	Problem string `json:"problem,omitempty"`
	Millis  int64  `json:"ms"`
}

// healthTimeout bounds a health check.
const healthTimeout = 5 * time.Second

// Check sends HEAD to the base address, without credential. Any answer below 500
// means that the service is there.
func (c *Caller) Check(ctx context.Context, p *Provider) Health {
	start := time.Now()
	h := Health{API: p.Code}
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	err := func() error {
		client, err := c.Client(p)
		if err != nil {
			return err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodHead, p.BaseURL, nil)
		if err != nil {
			return kb.Errorf(kb.Invalid, "the base address of %s cannot be asked", p.Code)
		}
		resp, err := client.Do(ctx, req)
		if err != nil {
			return err
		}
		resp.Body.Close()
		h.Status, h.OK = resp.StatusCode, resp.StatusCode < 500
		if !h.OK {
			h.Problem = "it answers " + strconv.Itoa(resp.StatusCode)
		}
		return nil
	}()
	if err != nil {
		h.Problem = clip(oneLine(err.Error()), 300)
		if ctx.Err() != nil {
			h.Problem = "it did not answer within " + healthTimeout.String()
		}
	}
	h.Millis = time.Since(start).Milliseconds()
	return h
}
