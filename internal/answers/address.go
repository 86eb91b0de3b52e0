package answers

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// sourceURL is where a reader finds lines of a document: at the forge that a
// commit was fetched from, at its site, else from this program.
func sourceURL(c *app.Core, t *search.Target, base, id, path string, start, end int) string {
	if h := t.Store.Head; h != nil && h.Commit != "" {
		if u := forgeURL(t.Store.Spec.Source, h.Commit, path, start, end); u != "" {
			return u
		}
	}
	if u := t.Address(context.Background(), path, start); u != "" { // a page of the web
		return u
	}
	if base == "" {
		return ""
	}
	return base + "/api/v1/chunks/" + url.PathEscape(id)
}

// forges are hosts whose pages of files have one form.
var forges = map[string]string{
	"github.com":   "%s/blob/%s/%s#L%d-L%d",
	"gitlab.com":   "%s/-/blob/%s/%s#L%d-%d",
	"codeberg.org": "%s/src/commit/%s/%s#L%d-L%d",
}

func forgeURL(source, commit, path string, start, end int) string {
	u, err := url.Parse(source)
	if err != nil || u.Scheme != "https" || forges[u.Host] == "" {
		return ""
	}
	segments := strings.Split(path, "/")
	for i := range segments {
		segments[i] = url.PathEscape(segments[i])
	}
	return fmt.Sprintf(forges[u.Host], "https://"+u.Host+strings.TrimSuffix(u.EscapedPath(), ".git"), commit, strings.Join(segments, "/"), start, end)
}
