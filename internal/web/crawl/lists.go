package crawl

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/xml"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
)

// Lists of sites are read up to these bounds.
const (
	maxSitemaps = 200     // files of one site
	maxListed   = 100_000 // URLs of one site
	maxNested   = 3       // indexes in indexes
)

// undated is the lastmod of a listed page that its list does not date.
const undated = "-"

// nestedMark is the text of a link to another sitemap among a sitemap's kept links.
const nestedMark = "sitemap"

// lister reads what one site lists.
type lister struct {
	*run
	site  *site
	seen  map[string]bool // addresses of lists that were read, of any start page
	files int             // sitemaps read
	// markdown are the listed pages in Markdown. They wait until all lists are
	// read: a page of HTML in another list, with anchors, is the same page.
	markdown []pages.Link
}

// lists takes what a site lists, at its root and in the folder of the start page.
func (r *run) lists(ctx context.Context, start *url.URL, seen map[string]bool) error {
	s, err := r.site(ctx, start)
	if err != nil {
		return ctx.Err() // any other error is that of the start page's visit
	}
	l := lister{run: r, site: s, seen: seen}
	folders := []string{"/"}
	if i := strings.LastIndexByte(start.Path, '/'); i > 0 {
		folders = append(folders, start.Path[:i+1])
	}
	if p := start.Path; !strings.HasSuffix(p, "/") && !strings.Contains(p[strings.LastIndexByte(p, '/'):], ".") {
		folders = append(folders, p+"/")
	}
	var maps []*url.URL
	for _, m := range s.robots.sitemaps {
		if u := parse(s.origin, m); u != nil {
			maps = append(maps, u)
		}
	}
	listed := len(maps) > 0
	for _, f := range folders {
		if err := l.llms(ctx, f); err != nil {
			return err
		}
		if !listed {
			maps = append(maps, s.at(f+"sitemap.xml"))
		}
	}
	for _, u := range maps {
		if err := l.sitemap(ctx, u, 0); err != nil {
			return err
		}
	}
	for _, m := range l.markdown {
		u := parse(nil, m.URL)
		if k := strings.TrimSuffix(keyOf(u), ".md"); r.knows(k) || r.knows(k+".html") {
			continue
		}
		a := admission{depth: 1, listed: undated, text: m.Text, reason: "listed in llms.txt"}
		if err := r.admit(ctx, u, a); err != nil {
			return err
		}
	}
	if l.files >= maxSitemaps {
		r.note("%s has more than %d sitemaps; the rest was not read", s.origin.Host, maxSitemaps)
	}
	return nil
}

// take admits a listed page, or puts it off.
func (l *lister) take(ctx context.Context, link pages.Link, a admission) error {
	u := parse(nil, link.URL)
	if u == nil || !l.scope.has(u.Host) {
		return nil
	}
	if strings.HasSuffix(keyOf(u), ".md") {
		l.markdown = append(l.markdown, link)
		return nil
	}
	return l.admit(ctx, u, a)
}

// llms takes the links of a folder's llms.txt, or else of its llms-full.txt.
func (l *lister) llms(ctx context.Context, folder string) error {
	for _, name := range []string{"llms.txt", "llms-full.txt"} {
		u := l.site.at(folder + name)
		if l.seen[u.String()] {
			return nil
		}
		l.seen[u.String()] = true
		read := func(body []byte) ([]pages.Link, []byte) { return llms(body, u), nil }
		links, _, status, err := l.aside(ctx, l.site, u, read)
		if err != nil {
			return err
		}
		if status != http.StatusOK {
			continue
		}
		for _, link := range links {
			a := admission{depth: 1, listed: undated, text: link.Text, reason: "listed in " + name}
			if err := l.take(ctx, link, a); err != nil {
				return err
			}
		}
		if len(links) > 0 {
			return nil
		}
	}
	return nil
}

// sitemap takes the pages of a sitemap, then those of the sitemaps that it lists.
func (l *lister) sitemap(ctx context.Context, u *url.URL, depth int) error {
	if l.seen[u.String()] || l.files >= maxSitemaps || depth > maxNested {
		return nil
	}
	l.seen[u.String()] = true
	l.files++
	links, _, status, err := l.aside(ctx, l.site, u, func(body []byte) ([]pages.Link, []byte) {
		entries, nested := sitemap(body, outbound.DefaultMaxBytes*5)
		for _, n := range nested {
			entries = append(entries, pages.Link{URL: n.URL, Text: nestedMark})
		}
		return entries, nil
	})
	if err != nil || status != http.StatusOK {
		return err
	}
	var nested []*url.URL
	for _, link := range links {
		if link.Text == nestedMark {
			if v := parse(u, link.URL); v != nil {
				nested = append(nested, v)
			}
			continue
		}
		a := admission{depth: 1, listed: cmp.Or(link.Text, undated), reason: "listed in a sitemap"}
		if err := l.take(ctx, link, a); err != nil {
			return err
		}
	}
	for _, v := range nested {
		if err := l.sitemap(ctx, v, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// sitemap reads a sitemap: XML (sitemaps.org), an index of such, or lines of
// URLs; gzip as well. The text of an entry is its lastmod. What comes before a
// fault counts.
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
// the pages that matter, with a description each. Of llms-full.txt, the pages
// in full, it takes the source of each.
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
	full := source.FindAllSubmatch(body, maxListed)
	for _, m := range full {
		add(string(m[1]), "")
	}
	if len(full) > 0 {
		return out
	}
	sc := bufio.NewScanner(bytes.NewReader(body))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		for _, m := range mdLink.FindAllSubmatch(sc.Bytes(), 50) {
			add(string(m[2]), strings.Trim(string(m[1])+": "+string(m[3]), ": "))
		}
	}
	return out
}

// clip folds white space and bounds a text in bytes.
func clip(s string, n int) string {
	s = strings.TrimSpace(spacing.ReplaceAllString(s, " "))
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "")
	}
	return s
}

// notPages are the endings of files that hold no text to read.
var notPages = kb.WordsOf(`.png .jpg .jpeg .gif .svg .webp .avif .ico .bmp .tif .tiff .mp3 .mp4 .m4a .m4v .mov .avi .mkv .webm
	.ogg .wav .flac .woff .woff2 .ttf .otf .eot .css .js .mjs .map .wasm .zip .gz .tgz .tar .bz2 .xz .zst .7z .rar .jar .war
	.whl .gem .deb .rpm .dmg .pkg .msi .exe .apk .iso .bin .so .dll .dylib .doc .docx .xls .xlsx .ppt .pptx .odt .epub
	.sqlite .db .parquet .rss .atom`)
