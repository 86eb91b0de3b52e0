package crawl

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
)

// response is one answer, read.
type response struct {
	status         int
	body           []byte
	hash           string
	etag, modified string
	contentType    string
	noindex        bool // by X-Robots-Tag
	nofollow       bool
	target         *url.URL
	err            error
}

const accept = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, application/pdf;q=0.7, */*;q=0.1"

// get asks a site for one URL. A redirect is not followed but for what is not a page (follow).
func (r *run) get(ctx context.Context, s *site, u *url.URL, prev pages.Visit, conditional, follow bool) response {
	if err := s.enter(ctx); err != nil {
		return response{err: err}
	}
	defer s.leave()
	req := (&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}}).WithContext(ctx)
	if r.Headers != nil {
		for k, vs := range r.Headers(u) {
			req.Header[http.CanonicalHeaderKey(k)] = vs
		}
	}
	req.Header.Set("User-Agent", r.UserAgent)
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", accept)
	}
	if conditional {
		if prev.ETag != "" {
			req.Header.Set("If-None-Match", prev.ETag)
		}
		if prev.LastModified != "" {
			req.Header.Set("If-Modified-Since", prev.LastModified)
		}
	}
	r.requests.Add(1)
	do := r.Client.Once
	if follow {
		do = r.Client.Do
	}
	resp, err := do(ctx, req)
	if err != nil {
		if kb.CodeOf(err) == kb.Away {
			s.silent()
		}
		return response{err: err}
	}
	defer resp.Body.Close()
	defer func() { r.bytes.Add(outbound.Received(resp)) }()
	s.answered(resp.StatusCode, resp.Header, time.Now())
	out := response{
		status: resp.StatusCode, etag: resp.Header.Get("ETag"), modified: resp.Header.Get("Last-Modified"),
		contentType: resp.Header.Get("Content-Type"),
	}
	out.noindex, out.nofollow = robotsTag(resp.Header.Values("X-Robots-Tag"), r.agent)
	if resp.StatusCode >= 300 && resp.StatusCode < 400 && resp.StatusCode != http.StatusNotModified {
		out.target = outbound.Redirect(resp)
		return out
	}
	if resp.StatusCode != http.StatusOK || !follow && !readable(out.contentType, u) {
		return out
	}
	if out.body, out.err = io.ReadAll(resp.Body); out.err == nil {
		sum := sha256.Sum256(out.body)
		out.hash = hex.EncodeToString(sum[:])
	}
	return out
}

// robotsTag reads the headers of that name: rules, separated by commas, perhaps
// after the name of the crawler that they are for.
func robotsTag(values []string, agent string) (noindex, nofollow bool) {
	for _, v := range values {
		ours := true
		for _, rule := range strings.Split(strings.ToLower(v), ",") {
			rule = strings.TrimSpace(rule)
			// "name: rule", or a rule with a value, which says nothing here.
			if name, rest, ok := strings.Cut(rule, ":"); ok {
				ours = strings.TrimSpace(name) == strings.ToLower(agent)
				if strings.HasPrefix(name, "max-") || name == "unavailable_after" {
					ours = true
				}
				rule = strings.TrimSpace(rest)
				if !ours || strings.HasPrefix(name, "max-") {
					continue
				}
			}
			switch {
			case !ours:
			case rule == "none":
				noindex, nofollow = true, true
			case rule == "noindex":
				noindex = true
			case rule == "nofollow":
				nofollow = true
			}
		}
	}
	return noindex, nofollow
}

// readable reports whether a body of this type may be text.
func readable(contentType string, u *url.URL) bool {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil || media == "" {
		return true // the body decides
	}
	family, sub, _ := strings.Cut(media, "/")
	switch family {
	case "image", "audio", "video", "font", "model":
		return false
	case "application":
		switch {
		case sub == "octet-stream": // what servers say that do not know
			switch strings.ToLower(path.Ext(u.Path)) {
			case ".md", ".mdx", ".markdown", ".txt", ".rst", ".adoc", ".html", ".pdf":
				return true
			}
		case sub == "pdf", sub == "json", sub == "xml", sub == "xhtml+xml", sub == "markdown", sub == "x-markdown", strings.HasSuffix(sub, "+xml"), strings.HasSuffix(sub, "+json"):
			return true
		}
		return false
	}
	return true
}

func requestPath(u *url.URL) string {
	if u.RawQuery != "" {
		return u.EscapedPath() + "?" + u.RawQuery
	}
	return u.EscapedPath()
}
