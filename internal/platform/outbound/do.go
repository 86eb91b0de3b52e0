package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Do sends a request and follows its redirects. Every hop is judged anew;
// headers that may hold credentials, which are all but a few harmless ones,
// stay with the origin (scheme, host and port) that they were meant for. The
// response's Body is decoded and bounded, and its Request has the last URL.
// A status other than success is no error.
//
// Errors: Denied for what the guard refuses, Away for what does not answer,
// TooLarge, Invalid, Unsupported (an encoding that was not asked for), and
// the context's own. Reading the body can give TooLarge, Away and Corrupt.
func (c *Client) Do(ctx context.Context, req *http.Request) (*http.Response, error) {
	return c.do(ctx, req, c.policy.MaxRedirects)
}

// Once is Do without following redirects: the response may be one.
func (c *Client) Once(ctx context.Context, req *http.Request) (*http.Response, error) {
	return c.do(ctx, req, 0)
}

func (c *Client) do(ctx context.Context, req *http.Request, hops int) (*http.Response, error) {
	// The limit in time covers the body, so Body.Close ends the context.
	limited, cancel := context.WithTimeoutCause(ctx, c.policy.Timeout, errSlow)
	resp, err := c.follow(limited, req, hops)
	if err != nil {
		defer cancel()
		return nil, c.explain(limited, ctx, req.URL, err)
	}
	if err := c.decode(limited, ctx, cancel, resp); err != nil {
		resp.Body.Close()
		cancel()
		return nil, err
	}
	return resp, nil
}

var errSlow = errors.New("took too long")

// harmless are the headers that go along to another origin.
var harmless = []string{"Accept", "Accept-Encoding", "Accept-Language", "User-Agent"}

func (c *Client) follow(ctx context.Context, first *http.Request, hops int) (*http.Response, error) {
	req := first.Clone(ctx)
	if req.Header == nil {
		req.Header = http.Header{}
	}
	if req.Header.Get("User-Agent") == "" && c.policy.UserAgent != "" {
		req.Header.Set("User-Agent", c.policy.UserAgent)
	}
	if req.Header.Get("Accept-Encoding") == "" && req.Header.Get("Range") == "" {
		req.Header.Set("Accept-Encoding", "gzip, deflate, br")
	}
	seen := map[string]bool{}
	for n := 0; ; n++ {
		if err := c.CheckURL(req.URL); err != nil {
			return nil, err
		}
		if c.policy.ProxyFor != nil && c.policy.ProxyFor(req.URL) != nil {
			if err := c.checkProxied(ctx, req.URL); err != nil {
				return nil, err
			}
		}
		seen[req.Method+" "+withoutFragment(req.URL)] = true
		resp, err := c.tr.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		next := Redirect(resp)
		if next == nil || hops <= 0 {
			return resp, nil
		}
		discard(resp.Body)
		req, err = redirected(ctx, req, resp.StatusCode, next)
		if err != nil {
			return nil, err
		}
		if seen[req.Method+" "+withoutFragment(next)] {
			return nil, kb.Errorf(kb.Away, "%q redirects in a circle", first.URL.Redacted()).
				WithHint("that page cannot be had; try another address")
		}
		if n+1 > hops {
			return nil, kb.Errorf(kb.Away, "%q redirects more than %d times", first.URL.Redacted(), hops).
				WithHint("that page cannot be had; try another address")
		}
	}
}

// Redirect returns where a response sends its client, nil when it is no
// redirect or names nothing that parses.
func Redirect(resp *http.Response) *url.URL {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil
	}
	loc := resp.Header.Get("Location")
	if loc == "" {
		return nil
	}
	u, err := resp.Request.URL.Parse(loc)
	if err != nil {
		return nil
	}
	return u
}

// redirected is the request after req at next, as RFC 9110 §15.4 and browsers
// have it: 307 and 308 repeat it, the others become GET but for HEAD.
func redirected(ctx context.Context, req *http.Request, status int, next *url.URL) (*http.Request, error) {
	out := req.Clone(ctx)
	out.URL, out.Host = next, ""
	if status == http.StatusTemporaryRedirect || status == http.StatusPermanentRedirect {
		if req.Body != nil && req.Body != http.NoBody {
			if req.GetBody == nil {
				return nil, kb.Errorf(kb.Unsupported, "%q wants the request sent again elsewhere", req.URL.Redacted()).
					WithHint("ask at %s", next.Redacted())
			}
			body, err := req.GetBody()
			if err != nil {
				return nil, err
			}
			out.Body = body
		}
	} else if req.Method != http.MethodHead && req.Method != http.MethodGet {
		out.Method, out.Body, out.GetBody, out.ContentLength = http.MethodGet, nil, nil, 0
		for _, h := range []string{"Content-Type", "Content-Length", "Content-Encoding", "Content-Language"} {
			out.Header.Del(h)
		}
	}
	if !SameOrigin(req.URL, next) {
		kept := http.Header{}
		for _, h := range harmless {
			if v, ok := out.Header[h]; ok {
				kept[h] = v
			}
		}
		if out.Body != nil && out.Body != http.NoBody {
			// The body was meant for the first server only.
			return nil, kb.Errorf(kb.Denied, "%q sends the request's body on to another host, %q", req.URL.Redacted(), next.Host).
				WithHint("ask there directly if you trust it")
		}
		out.Header = kept
	}
	return out, nil
}

// SameOrigin reports whether two URLs have scheme, host and port in common.
func SameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}

func withoutFragment(u *url.URL) string {
	v := *u
	v.Fragment, v.RawFragment = "", ""
	return v.String()
}

// checkProxied judges a target before the proxy is asked for it.
func (c *Client) checkProxied(ctx context.Context, u *url.URL) error {
	_, known, err := c.resolve(ctx, u.Hostname(), portOf(u))
	if !known {
		return nil // a name that only the proxy knows
	}
	return err
}

func discard(body io.ReadCloser) {
	io.CopyN(io.Discard, body, 16<<10) // so that the connection can be used again
	body.Close()
}

// explain makes a transport's error one for a reader. limited is the context
// that the request ran under, ctx the caller's.
func (c *Client) explain(limited, ctx context.Context, u *url.URL, err error) error {
	var known *kb.Error
	if errors.As(err, &known) {
		return known
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	host := u.Host
	var (
		ne       net.Error
		unknown  x509.UnknownAuthorityError
		wrong    x509.HostnameError
		expired  x509.CertificateInvalidError
		verify   *tls.CertificateVerificationError
		notTLS   tls.RecordHeaderError
		tooMuch  = strings.Contains(err.Error(), "server response headers exceeded")
		timedOut = limited.Err() != nil || errors.As(err, &ne) && ne.Timeout()
	)
	switch {
	case tooMuch:
		return kb.Errorf(kb.TooLarge, "the headers of %q are longer than %d bytes", u.Redacted(), maxHeaderBytes).
			WithHint("that page cannot be had")
	case timedOut && limited.Err() == nil:
		return kb.Errorf(kb.Away, "%q did not answer in time", host).WithHint("try again later")
	case timedOut:
		return kb.Errorf(kb.Away, "%q did not answer within %s", host, c.policy.Timeout).WithHint("try again later")
	case errors.As(err, &verify), errors.As(err, &unknown), errors.As(err, &wrong), errors.As(err, &expired):
		return kb.Errorf(kb.Away, "%q cannot be trusted: %w", host, err).
			WithHint("its certificate must be valid; trust its authority on this machine if it is yours")
	case errors.As(err, &notTLS):
		return kb.Errorf(kb.Away, "%q does not speak https there", host).WithHint("try http, or another port")
	}
	return kb.Errorf(kb.Away, "%q broke off: %w", host, err).WithHint("try again later")
}
