// Package crawl takes a documentation site: which pages there are, which of
// them are wanted, in which order, and how the servers are spared. What a page
// says is read by webdoc, fetched through outbound and kept by pages.
//
// A crawl first asks each site what it lists (llms.txt, sitemaps), then
// follows links, best first. It goes on where it was killed, since every visit
// is recorded as it is made, and a later crawl of the same folder asks only
// for what changed. docs/design/012-crawling.md says how and why.
package crawl

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
	"github.com/seed-4f2d999b/knowledge/internal/web/webdoc"
)

// Headless says when a browser reads a page.
type Headless string

// The ways to use a browser. Auto is for pages that hold no text without one.
const (
	HeadlessAuto   Headless = "auto"
	HeadlessAlways Headless = "always"
	HeadlessNever  Headless = "never"
)

// The limits that hold where a Config has zero.
const (
	DefaultDepth    = 10
	DefaultMaxPages = 1000
	// DefaultRate and DefaultParallel spare a server: what a person with a few
	// tabs open asks of it. At this rate a documentation of 1,000 pages takes two minutes.
	DefaultRate     = 8.0
	DefaultParallel = 4
)

// Config is one crawl. Client, Pages and Start are needed, the rest may be zero.
type Config struct {
	// Start are the URLs that the user named, http or https. A page that only
	// a redirect of one leads to belongs to the site as well.
	Start []string
	// Depth is how many links away from a start page a page may be; pages that
	// the site lists count as one. 0 is DefaultDepth, negative the start pages alone.
	Depth    int
	MaxPages int // pages kept; 0 is DefaultMaxPages
	// Include and Exclude are globs over the paths of URLs: "*" matches what
	// has no "/", "**" anything, "?" one character. One that begins with "/" is
	// matched against the whole path, one with "://" against the URL, any
	// other against the path from some "/" on. "/api/" is what lies below it.
	// A start page is always taken.
	Include, Exclude []string
	// Hosts may be crawled besides those of Start: "docs.example.org",
	// "*.example.org", "localhost:8080".
	Hosts []string
	// Instructions in plain language: which links come first, and which
	// sections of a page are kept. They need an Embedder.
	CrawlInstructions, ExtractInstructions string
	Embedder                               kb.Embedder

	Headless Headless // "" is HeadlessAuto
	// Render reads a page with a browser; nil for none.
	Render func(ctx context.Context, url string) (html []byte, finalURL string, err error)

	Client *outbound.Client
	Pages  *pages.Store

	// Rate is in requests per second and host, Parallel how many may be under way
	// at one host. 0 are the defaults, except that hosts of this very machine are
	// not spared; a negative Rate is no limit. What a site's robots.txt and its
	// answers ask for goes before when it is slower.
	Rate     float64
	Parallel int
	Workers  int // requests under way in all; 0 is 2 × Parallel, at most 16

	// Headers are sent to the origins that they are given for, and nowhere else.
	Headers   func(u *url.URL) http.Header
	UserAgent string // product token before "/", by which robots.txt knows us; "" is DefaultUserAgent

	// Force fetches every page anew, whatever it says about changes.
	Force bool
	// Patterns bounds how many pages are taken whose URLs differ in numbers
	// only, unless the site lists them: calendars have no end. 0 is 200.
	Patterns int
	// Attempts is how often a page is tried that the server fails to send;
	// Backoff the first pause. 0 are 3 and a second.
	Attempts int
	Backoff  time.Duration

	// Watch is called after every visit, by one goroutine at a time.
	Watch func(Stats)
	// Read turns a body into a page; nil is webdoc.Read.
	Read func(body []byte, contentType, url string, o webdoc.Options) (webdoc.Page, error)
}

// DefaultUserAgent names the program to servers; the part before "/" is what
// robots.txt files may address.
const DefaultUserAgent = "knowledge/1 (+https://github.com/seed-4f2d999b/knowledge)"

// Stats is how far a crawl has come.
type Stats struct {
	Pages     int            `json:"pages"`               // kept
	Queued    int            `json:"queued"`              // known and wanted, not visited
	Visited   int            `json:"visited"`             // URLs that something became of
	Unchanged int            `json:"unchanged,omitempty"` // of Pages, those that had not changed
	Folded    int            `json:"folded,omitempty"`    // the same as another page
	Rendered  int            `json:"rendered,omitempty"`  // by a browser
	Gone      int            `json:"gone,omitempty"`      // kept by the crawl before and no longer there
	Failures  map[string]int `json:"failures,omitempty"`  // URLs that failed, by cause
	// FailedAt has the first URL of each cause.
	FailedAt map[string]string `json:"failedAt,omitempty"`
	LeftOut  map[string]int    `json:"leftOut,omitempty"` // URLs that were not asked for, by reason
	Requests int               `json:"requests"`
	Bytes    int64             `json:"bytes"` // received: bodies before decoding
}

// Result is what a crawl that ended did.
type Result struct {
	Stats
	Resumed bool     `json:"resumed,omitempty"` // it went on with one that had died
	Notes   []string `json:"notes,omitempty"`   // what a reader should know, at most maxNotes
}
