package depot

import (
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
)

const (
	maxObject = 5 << 30          // bytes, what a single put of S3 takes
	transfers = 30 * time.Minute // for one object
)

// Remote reports whether a target is not on this machine.
func Remote(target string) bool {
	scheme, _, ok := strings.Cut(target, "://")
	return ok && scheme != "file"
}

// Open opens a target: s3://BUCKET/PATH, http(s)://HOST/PATH, or a folder,
// which is taken relative to dir. Nothing is asked yet.
func Open(target, dir string, env func(string) string, p outbound.Policy) (Depot, error) {
	target = strings.TrimPrefix(target, "file://")
	if !Remote(target) {
		if target == "" {
			return Depot{}, kb.Errorf(kb.Invalid, "where a publication lies must be named").WithHint("a folder, https://host/path or s3://BUCKET/PATH")
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(dir, target)
		}
		return Depot{folder{filepath.Clean(target)}}, nil
	}
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return Depot{}, kb.Errorf(kb.Invalid, "that is no address of a publication").
			WithHint("write it as https://host/path or s3://BUCKET/PATH, without credentials and query")
	}
	p.MaxBytes, p.Timeout = maxObject, transfers
	client, err := outbound.New(p)
	if err != nil {
		return Depot{}, err
	}
	switch u.Scheme {
	case "s3":
		t, err := newBucket(u, env, client)
		return Depot{t}, err
	case "http", "https":
		return Depot{web{u, client}}, nil
	}
	return Depot{}, kb.Errorf(kb.Invalid, "nothing is published at addresses of %s", u.Scheme).
		WithHint("a folder, https://host/path or s3://BUCKET/PATH")
}
