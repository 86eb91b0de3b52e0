package outbound

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// decode puts a bounded, decoded body in the place of the one received.
func (c *Client) decode(limited, ctx context.Context, cancel context.CancelFunc, resp *http.Response) error {
	where := resp.Request.URL.Redacted()
	b := &body{c: c, limited: limited, ctx: ctx, cancel: cancel, resp: resp, where: where, raw: resp.Body, left: c.policy.MaxBytes}
	b.in = bufio.NewReader(io.TeeReader(resp.Body, &b.wire))
	b.dec = b.in
	encoding := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding")))
	empty := resp.Request.Method == http.MethodHead || resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified || resp.ContentLength == 0
	if resp.ContentLength > c.policy.MaxBytes && !empty {
		return b.tooLarge()
	}
	if !empty && len(resp.Header.Values("Content-Encoding")) > 1 {
		encoding = "several"
	}
	switch encoding {
	case "", "identity":
	case "gzip", "x-gzip", "deflate", "br":
		if !empty {
			b.encoding, b.dec = encoding, nil // begun at the first Read
		}
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
		resp.ContentLength = -1
		resp.Uncompressed = true
	default:
		if !empty {
			return kb.Errorf(kb.Unsupported, "%q comes in an encoding that was not asked for: %q", where, encoding).
				WithHint("that page cannot be read")
		}
	}
	resp.Body = b
	return nil
}

// body is a response's body within its limits.
type body struct {
	c            *Client
	limited, ctx context.Context
	cancel       context.CancelFunc
	resp         *http.Response
	where        string
	raw          io.ReadCloser
	in           *bufio.Reader
	wire         counter // bytes received
	encoding     string
	dec          io.Reader // nil until begun
	out          int64     // bytes given
	left         int64
	err          error
	once         sync.Once
}

type counter int64

func (n *counter) Write(p []byte) (int, error) { *n += counter(len(p)); return len(p), nil }

// Received returns how many bytes of a body came over the network so far,
// before decoding; 0 for a response of another client.
func Received(resp *http.Response) int64 {
	if b, ok := resp.Body.(*body); ok {
		return int64(b.wire)
	}
	return 0
}

func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if b.dec == nil {
		if b.err = b.begin(); b.err != nil {
			return 0, b.err
		}
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.dec.Read(p)
	b.out += int64(n)
	b.left -= int64(n)
	switch {
	case b.left < 0:
		b.err = b.tooLarge()
		return max(0, n-1), b.err
	case b.encoding != "" && b.out > freeBytes && b.out > maxRatio*int64(b.wire):
		b.err = kb.Errorf(kb.TooLarge, "%q unfolds to more than %d times what was sent", b.where, maxRatio).WithHint("that page is not read")
		return n, b.err
	case err != nil && err != io.EOF:
		b.err = b.broken(err)
		return n, b.err
	}
	b.err = err
	return n, err
}

func (b *body) begin() error {
	switch b.encoding {
	case "br":
		b.dec = brotli.NewReader(b.in)
	case "deflate":
		// RFC 9110 means zlib's form; some servers send the naked one.
		head, err := b.in.Peek(2)
		if err != nil {
			return b.broken(err)
		}
		if head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
			z, err := zlib.NewReader(b.in)
			if err != nil {
				return b.broken(err)
			}
			b.dec = z
		} else {
			b.dec = flate.NewReader(b.in)
		}
	default:
		// Some servers announce gzip and send none; its magic decides.
		if head, err := b.in.Peek(2); len(head) == 2 && !bytes.Equal(head, []byte{0x1f, 0x8b}) {
			b.encoding, b.dec = "", b.in
			return nil
		} else if len(head) == 0 && err == io.EOF {
			return io.EOF
		}
		z, err := gzip.NewReader(b.in)
		if err != nil {
			return b.broken(err)
		}
		b.dec = z
	}
	return nil
}

func (b *body) tooLarge() error {
	return kb.Errorf(kb.TooLarge, "%q is larger than %d bytes", b.where, b.c.policy.MaxBytes).
		WithHint("that page is not read")
}

func (b *body) broken(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case b.ctx.Err() != nil:
		return b.ctx.Err()
	case errors.As(err, &corrupt), errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum),
		errors.Is(err, zlib.ErrHeader), errors.Is(err, zlib.ErrChecksum), strings.HasPrefix(err.Error(), "brotli:"):
		return kb.Errorf(kb.Corrupt, "what %q sends cannot be decoded: %w", b.where, err).WithHint("try again later")
	}
	return b.c.explain(b.limited, b.ctx, b.resp.Request.URL, err)
}

// Close ends the request.
func (b *body) Close() error {
	b.once.Do(func() {
		if b.err == io.EOF {
			discard(b.raw)
		} else {
			b.raw.Close()
		}
		b.cancel()
	})
	return nil
}
