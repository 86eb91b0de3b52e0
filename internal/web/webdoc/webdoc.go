// Package webdoc turns what a web server sent into a document: its main text
// as Markdown by heading with the anchors of the page, and what is around
// it (title, links, breadcrumbs, language, version). It reads HTML, Markdown,
// plain text and PDF, and makes no requests.
package webdoc

import (
	"bytes"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Page is one page of the web as it is kept.
type Page struct {
	URL         string   // the final URL without a fragment
	Canonical   string   // what the page calls itself (rel=canonical), absolute; "" when it does not say
	Title       string   // without the name of the site
	Description string   // one or two sentences that the page gives of itself, or ""
	Language    string   // a BCP 47 tag such as "en", or ""
	Version     string   // of the documentation, as the page or its URL says: "v2", "3.12", "stable"; or ""
	Breadcrumbs []string // from the root down, without the page itself
	Modified    time.Time
	// Markdown is the main text in UTF-8, its lines ended by "\n". Headings
	// are ATX with the anchor that exists in the page, "## Install {#install}";
	// one without is below the nearest anchor before it.
	Markdown []byte
	Links    []Link // every link of the whole page, once each, in order
	// NoIndex and NoFollow are what the page asks of robots.
	NoIndex, NoFollow bool
	// NeedsScript says that the page holds next to no text, but scripts that
	// would make it.
	NeedsScript bool
	Truncated   bool   // a limit cut the page short
	Words       int    // of Markdown
	Fingerprint uint64 // see Distance
}

// Link is one link of a page.
type Link struct {
	URL   string // absolute, with its fragment
	Text  string // what is shown, spaces collapsed, at most 200 bytes
	Title string // the title attribute, or ""
	// Rel is the rel attribute in lower case; "frame" for a frame, "refresh"
	// for where the page sends its reader.
	Rel string
}

// Options bound what is read; zero values are the defaults.
type Options struct {
	MaxBytes int // of Markdown; 4 MiB
	MaxLinks int // 5,000
	MaxNodes int // elements and texts of a page of HTML; 400,000
	MaxPages int // of a PDF; 500
}

func (o Options) withDefaults() Options {
	for bound, n := range map[*int]int{&o.MaxBytes: 4 << 20, &o.MaxLinks: 5000, &o.MaxNodes: 400_000, &o.MaxPages: 500} {
		if *bound <= 0 {
			*bound = n
		}
	}
	return o
}

// Read turns a body into a page. contentType is the header of the response and
// may be "": then the body decides. A type that holds no text is
// kb.Unsupported, a PDF that cannot be read kb.Corrupt or kb.TooLarge.
func Read(body []byte, contentType, finalURL string, o Options) (Page, error) {
	o = o.withDefaults()
	base, err := url.Parse(finalURL)
	if err != nil {
		return Page{}, kb.Errorf(kb.Invalid, "%q is no URL", finalURL).WithHint("write it like https://example.org/docs/")
	}
	var p Page
	switch media := mediaType(body, contentType, base); media {
	case "text/html", "application/xhtml+xml":
		p = readHTML(decode(body, contentType), base, o)
	case "text/markdown", "text/x-markdown":
		p = readMarkdown(decode(body, contentType), base, o)
	case "text/plain", "text/x-rst", "text/prs.fallenstein.rst", "text/asciidoc", "text/x-asciidoc", "text/org":
		p = readText(decode(body, contentType), base, o)
	case "application/pdf", "application/x-pdf":
		if p, err = readPDF(body, o); err != nil {
			return Page{}, err
		}
		p.Version = versionOf(base)
	default:
		return Page{}, kb.Errorf(kb.Unsupported, "no text is read from %q", media)
	}
	p.URL, _ = Split(finalURL)
	if p.Title == "" {
		p.Title = path.Base(strings.TrimRight(base.Path, "/"))
		if p.Title == "." || p.Title == "/" {
			p.Title = base.Host
		}
	}
	p.Words = words(p.Markdown)
	p.Fingerprint = fingerprint(p.Markdown)
	return p, nil
}

// mediaType returns what a body is: what the header says, corrected where it
// says too little.
func mediaType(body []byte, contentType string, u *url.URL) string {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		media, _, _ = strings.Cut(contentType, ";")
		media = strings.ToLower(strings.TrimSpace(media))
	}
	switch media {
	case "", "application/octet-stream", "binary/octet-stream", "unknown/unknown":
		if media, _, err = mime.ParseMediaType(http.DetectContentType(body)); err != nil {
			media = "application/octet-stream"
		}
		if bytes.HasPrefix(body, []byte("%PDF-")) {
			media = "application/pdf"
		}
	}
	if media == "text/plain" && isMarkdownPath(u.Path) {
		media = "text/markdown"
	}
	return media
}

// decode returns a body in UTF-8: by its byte order mark, the header, the
// page's own meta element, and else by looking. Bytes that mean nothing become
// U+FFFD.
func decode(body []byte, contentType string) []byte {
	if rest, ok := bytes.CutPrefix(body, []byte("\xef\xbb\xbf")); ok {
		return bytes.ToValidUTF8(rest, []byte("\ufffd"))
	}
	_, params, _ := mime.ParseMediaType(contentType)
	if params["charset"] == "" && utf8.Valid(body) && !metaCharset(body) {
		return body
	}
	enc, name, certain := charset.DetermineEncoding(body[:min(len(body), 1024)], contentType)
	// Without a certain name, windows-1252 is a guess that the first 1,024
	// bytes were ASCII; text that is valid UTF-8 as a whole is that.
	if name == "utf-8" || !certain && utf8.Valid(body) {
		return bytes.ToValidUTF8(body, []byte("\ufffd"))
	}
	out, err := enc.NewDecoder().Bytes(body)
	if err != nil {
		return bytes.ToValidUTF8(body, []byte("\ufffd"))
	}
	return out
}

// metaCharset reports whether the head of a page names a character set.
func metaCharset(body []byte) bool {
	return bytes.Contains(bytes.ToLower(body[:min(len(body), 1024)]), []byte("charset="))
}
