package depot

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
)

// bucket is a Target in an object store that speaks S3.
type bucket struct {
	core         *minio.Core
	name, prefix string
}

func (b bucket) String() string { return "s3://" + path.Join(b.name, b.prefix) }

// newBucket reads s3://BUCKET/PREFIX. Where the object store is, and as whom it is asked, the
// environment says in the variables that Amazon's own tools have.
func newBucket(u *url.URL, env func(string) string, client *outbound.Client) (Target, error) {
	id, secret := env("AWS_ACCESS_KEY_ID"), env("AWS_SECRET_ACCESS_KEY")
	if id == "" || secret == "" {
		return nil, kb.Errorf(kb.Denied, "s3://%s needs credentials", u.Host).
			WithHint("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; what anybody may read has an https address too")
	}
	region := cmp.Or(env("AWS_REGION"), env("AWS_DEFAULT_REGION"), "us-east-1")
	at, err := url.Parse(cmp.Or(env("AWS_ENDPOINT_URL_S3"), env("AWS_ENDPOINT_URL"), "https://s3."+region+".amazonaws.com"))
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return nil, kb.Errorf(kb.Invalid, "AWS_ENDPOINT_URL is no address").WithHint("write it as https://host")
	}
	core, err := minio.NewCore(at.Host, &minio.Options{
		Creds: credentials.NewStaticV4(id, secret, env("AWS_SESSION_TOKEN")), Secure: at.Scheme == "https", Region: region,
		Transport: guarded{client}, MaxRetries: 4,
	})
	if err != nil {
		return nil, kb.Errorf(kb.Invalid, "%s is no address of an object store: %w", u, err).WithHint("write it as s3://BUCKET/PATH")
	}
	return bucket{core, u.Host, strings.Trim(u.Path, "/")}, nil
}

// guarded sends what minio-go asks through the one guard.
type guarded struct{ client *outbound.Client }

// RoundTrip implements http.RoundTripper.
func (g guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Accept-Encoding") == "" {
		r = r.Clone(r.Context())
		r.Header.Set("Accept-Encoding", "identity")
	}
	return g.client.Once(r.Context(), r)
}

func (b bucket) key(name string) string { return path.Join(b.prefix, name) }

// Get implements Target.
func (b bucket) Get(ctx context.Context, name string, most int64) (io.ReadCloser, string, error) {
	body, info, _, err := b.core.GetObject(ctx, b.name, b.key(name), minio.GetObjectOptions{})
	if err != nil {
		return nil, "", b.explain(name, err)
	}
	return bounded{io.LimitReader(body, most+1), body}, info.ETag, nil
}

// Has implements Target.
func (b bucket) Has(ctx context.Context, name string) (bool, error) {
	_, err := b.core.StatObject(ctx, b.name, b.key(name), minio.StatObjectOptions{})
	if err = b.explain(name, err); kb.CodeOf(err) == kb.NotFound {
		return false, nil
	}
	return err == nil, err
}

// Put implements Target.
func (b bucket) Put(ctx context.Context, name string, body io.ReadSeeker, size int64, when string) error {
	// With its sum signed the body goes out as it is: streamed signatures are what object
	// stores of other makers understand least.
	h := sha256.New()
	if _, err := io.Copy(h, body); err != nil {
		return err
	}
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return err
	}
	o := minio.PutObjectOptions{ContentType: "application/octet-stream", DisableMultipart: true, DisableContentSha256: true}
	switch when {
	case Always:
	case Absent:
		o.SetMatchETagExcept("*")
	default:
		o.SetMatchETag(when)
	}
	_, err := b.core.PutObject(ctx, b.name, b.key(name), body, size, "", hex.EncodeToString(h.Sum(nil)), o)
	return b.explain(name, err)
}

// explain makes what the object store says one of our errors.
func (b bucket) explain(name string, err error) error {
	if err == nil {
		return nil
	}
	var ours *kb.Error
	if errors.As(err, &ours) {
		return ours
	}
	r := minio.ToErrorResponse(err)
	switch {
	case r.Code == "NoSuchBucket":
		return kb.Errorf(kb.Invalid, "there is no bucket %q", b.name).WithHint("make it where you pay for it, or name another")
	case r.StatusCode == http.StatusNotFound, r.Code == "NoSuchKey":
		return kb.Errorf(kb.NotFound, "%s has no %s", b, name)
	case r.StatusCode == http.StatusPreconditionFailed, r.StatusCode == http.StatusConflict:
		return kb.Errorf(kb.Busy, "%s of %s has changed", name, b)
	case r.StatusCode == http.StatusNotImplemented:
		return kb.Errorf(kb.Unsupported, "the object store of %s has no conditional writes: %s", b, r.Message).
			WithHint("publish to one that has (If-Match, If-None-Match), or into a folder")
	case r.StatusCode == http.StatusForbidden, r.StatusCode == http.StatusUnauthorized:
		return kb.Errorf(kb.Denied, "%s may not be used with these credentials: %s", b, r.Message).
			WithHint("check AWS_ACCESS_KEY_ID and what it may do: get and put of objects, and nothing else, are needed")
	}
	return kb.Errorf(kb.Away, "%s cannot be asked: %w", b, err).WithHint("try again later")
}
