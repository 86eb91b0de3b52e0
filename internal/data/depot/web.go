package depot

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
)

// web is a Target behind plain HTTP(S), which is only read.
type web struct {
	base   *url.URL
	client *outbound.Client
}

func (w web) String() string { return w.base.Redacted() }

// ask sends a request for what has a name.
func (w web) ask(ctx context.Context, method, name string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, w.base.JoinPath(name).String(), nil)
	if err != nil {
		return nil, kb.Errorf(kb.Invalid, "%q is no address", w).WithHint("write it as https://host/path")
	}
	if name == headName {
		req.Header.Set("Cache-Control", "no-cache") // the one file that changes
	}
	resp, err := w.client.Do(ctx, req)
	if err != nil {
		return nil, err
	}
	switch resp.StatusCode {
	case http.StatusOK:
		return resp, nil
	case http.StatusNotFound, http.StatusGone, http.StatusForbidden: // as buckets say where listing is not allowed
		err = kb.Errorf(kb.NotFound, "%s has no %s (status %d)", w, name, resp.StatusCode)
	default:
		err = kb.Errorf(kb.Away, "%s answered with status %d", w, resp.StatusCode).WithHint("try again later; what was fetched is kept")
	}
	resp.Body.Close()
	return nil, err
}

// Get implements Target.
func (w web) Get(ctx context.Context, name string, most int64) (io.ReadCloser, string, error) {
	resp, err := w.ask(ctx, http.MethodGet, name)
	if err != nil {
		return nil, "", err
	}
	return bounded{io.LimitReader(resp.Body, most+1), resp.Body}, resp.Header.Get("Etag"), nil
}

// Has implements Target.
func (w web) Has(ctx context.Context, name string) (bool, error) {
	resp, err := w.ask(ctx, http.MethodHead, name)
	if kb.CodeOf(err) == kb.NotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, resp.Body.Close()
}

// Put implements Target.
func (w web) Put(context.Context, string, io.ReadSeeker, int64, string) error {
	return kb.Errorf(kb.Unsupported, "%s can be read and not written", w).
		WithHint("publish into a folder that is served there, or to s3://BUCKET/PATH")
}

// bounded is a body of which a part is read.
type bounded struct {
	io.Reader
	io.Closer
}
