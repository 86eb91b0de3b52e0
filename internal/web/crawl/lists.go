package crawl

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"io"
	"net/url"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
)

// What sites list is read up to these bounds.
const (
	maxSitemaps = 200     // files of one site
	maxListed   = 100_000 // URLs of one site
	maxNested   = 3       // indexes in indexes
)

// sitemap reads a sitemap: XML (sitemaps.org), an index of such, or lines of
// URLs; gzip as well. The text of an entry is its lastmod. What stands before
// a fault counts.
func sitemap(body []byte, limit int64) (entries, nested []pages.Link) {
	if bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, nil
		}
		body, _ = io.ReadAll(io.LimitReader(z, limit))
	}
	if t := bytes.TrimLeft(body, "\xef\xbb\xbf \t\r\n"); !bytes.HasPrefix(t, []byte("<")) {
		for line := range bytes.Lines(t) {
			if s := strings.TrimSpace(string(line)); strings.HasPrefix(s, "http") && len(entries) < maxListed {
				entries = append(entries, pages.Link{URL: s})
			}
		}
		return entries, nil
	}
	d := xml.NewDecoder(bytes.NewReader(body))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // URLs are ASCII
	var at []string
	var cur pages.Link
	var text strings.Builder
	for len(entries)+len(nested) < maxListed {
		tok, err := d.Token()
		if err != nil {
			break
		}
		switch t := tok.(type) {
		case xml.StartElement:
			at = append(at, t.Name.Local)
			if len(at) > 16 {
				return entries, nested
			}
			if len(at) == 2 {
				cur = pages.Link{}
			}
			text.Reset()
		case xml.CharData:
			if text.Len() < maxURL {
				text.Write(t)
			}
		case xml.EndElement:
			s := strings.TrimSpace(text.String())
			text.Reset()
			if len(at) == 3 {
				switch at[2] {
				case "loc":
					cur.URL = s
				case "lastmod":
					cur.Text = s
				}
			}
			if len(at) == 2 && cur.URL != "" && len(cur.URL) <= maxURL {
				switch at[1] {
				case "url":
					entries = append(entries, cur)
				case "sitemap":
					nested = append(nested, cur)
				}
			}
			if len(at) > 0 {
				at = at[:len(at)-1]
			}
		}
	}
	return entries, nested
}

var (
	mdLink  = lazyregexp.New(`\[([^\]\n]{1,200})\]\(\s*<?([^)\s>]{1,1000})>?[^)\n]{0,300}\)[ \t]*:?[ \t]*([^\n]{0,300})`)
	source  = lazyregexp.New(`(?mi)^[ \t>*_-]*(?:source|url|link)[*_]*:[*_]*[ \t]*<?(https?://[^\s>]{1,1000})`)
	spacing = lazyregexp.New(`\s+`)
)

// llms reads an llms.txt (llmstxt.org): a document in Markdown whose links are
// the pages that matter, with what is said of them. Of llms-full.txt, the
// pages in full, it takes where each comes from.
func llms(body []byte, base *url.URL) []pages.Link {
	var out []pages.Link
	seen := map[string]bool{}
	add := func(ref, text string) {
		u := parse(base, ref)
		if u == nil || len(out) >= maxListed || seen[u.String()] {
			return
		}
		seen[u.String()] = true
		out = append(out, pages.Link{URL: u.String(), Text: clip(text, 200)})
	}
	sc := bufio.NewScanner(bytes.NewReader(body))
	sc.Buffer(nil, 1<<20)
	full := source.FindAllSubmatch(body, maxListed)
	if len(full) > 0 {
		for _, m := range full {
			add(string(m[1]), "")
		}
		return out
	}
	for sc.Scan() {
		for _, m := range mdLink.FindAllSubmatch(sc.Bytes(), 50) {
			add(string(m[2]), strings.Trim(string(m[1])+": "+string(m[3]), ": "))
		}
	}
	return out
}

// clip folds white space and bounds a text in bytes.
func clip(s string, n int) string {
	return kb.Cut(strings.TrimSpace(spacing.ReplaceAllString(s, " ")), n)
}

// notPages are the endings of files that hold no text to read.
var notPages = lists["not pages"]
