// Package pages keeps what the crawls of one site found: the pages, with
// their text, and the state of a crawl that is under way, so that a refresh
// asks servers only for what changed and a crawl that died goes on.
//
// # Files
//
// A folder holds one log, "pages.N", where N counts up in six digits. A log is
// only ever appended to; the next one, made when most of a log is out of date,
// begins as a whole file. A reader opens the log with the highest number and
// sees what was there when it opened; it needs no lock and disturbs no other.
// There is one writer at a time: the caller sees to that.
//
// A log begins with 16 bytes: the magic "KNPAGES\n", the version of the format
// (uint32) and the CRC-32C of these twelve. All numbers are little endian.
// Records follow:
//
//	0  magic "pRec"
//	4  kind: 1 begin, 2 visit, 3 same, 4 commit
//	8  lengths of meta, links and body in the file (3 × uint32)
//	20 CRC-32C of meta, links and body (3 × uint32)
//	32 CRC-32C of the 32 bytes before
//	36 meta (JSON), links (JSON, zstd), body (zstd)
//
// A begin starts a crawl, a visit is the outcome of one URL, same carries a
// visit of the crawl before over into this one (its body, and its links unless
// it brings new ones, stay where they are), and a commit ends the crawl: from
// there on its pages are the ones that count, and what was not visited is gone.
// Until a first commit, what the first crawl has found so far is shown.
//
// A record that was cut off by the death of its writer ends the log; the next
// writer cuts it away. A record whose checksums fail is skipped and counted,
// up to where the next sound one begins; its URL counts as not visited.
// Records are written at once, so that they outlive the process, and synced
// every second, so that a power cut costs at most that much of a crawl.
package pages

import (
	"encoding/json"
	"hash/crc32"
	"time"
)

// Version is the version of the format.
const Version = 1

// Kept is one page as it is kept.
type Kept struct {
	// Path names the page in its store: host, port where it is no usual one, and the
	// elements of the URL's path, slash-separated, valid UTF-8, unique:
	// "docs.example.org/guide/intro".
	Path        string    `json:"path,omitempty"`
	URL         string    `json:"url"` // to cite, without a fragment
	Title       string    `json:"title,omitempty"`
	Description string    `json:"description,omitempty"`
	Language    string    `json:"language,omitempty"`
	Version     string    `json:"version,omitempty"` // of the documentation
	Breadcrumbs []string  `json:"breadcrumbs,omitempty"`
	Hash        string    `json:"hash,omitempty"`        // SHA-256 of the Markdown, in hexadecimal
	Size        int64     `json:"size,omitempty"`        // bytes of Markdown
	Words       int       `json:"words,omitempty"`       // of Markdown
	Fingerprint uint64    `json:"fingerprint,omitempty"` // see webdoc.Distance
	Modified    time.Time `json:"modified,omitzero"`     // as page or server say
	Fetched     time.Time `json:"fetched,omitzero"`      // when it was last read or known to be unchanged
	Changed     time.Time `json:"changed,omitzero"`      // when its text was last seen to change
	Truncated   bool      `json:"truncated,omitempty"`   // a limit cut it short
	Rendered    bool      `json:"rendered,omitempty"`    // by a browser
	// Reason is why the page was taken, for a reader.
	Reason string `json:"reason,omitempty"`

	body span
}

// Outcome is the result of a visit.
type Outcome string

// The outcomes.
const (
	OutKept     Outcome = "kept"     // a page of the store
	OutFolded   Outcome = "folded"   // nearly or wholly the same as the page Target
	OutNoIndex  Outcome = "noindex"  // asks not to be indexed; its links were followed
	OutEmpty    Outcome = "empty"    // holds no text
	OutRedirect Outcome = "redirect" // leads to Target
	OutFailed   Outcome = "failed"   // see Cause
	OutLeft     Outcome = "left out" // ruled out, see Cause
	OutAside    Outcome = "aside"    // robots.txt, llms.txt or a sitemap, kept for the next crawl
)

// Visit is what became of one URL in one crawl.
type Visit struct {
	Key     string  `json:"key"` // the crawler's identity of the URL
	Outcome Outcome `json:"outcome"`
	Cause   string  `json:"cause,omitempty"`  // of a failure, one of few
	Detail  string  `json:"detail,omitempty"` // of a failure, one sentence
	Target  string  `json:"target,omitempty"` // key or URL of where it leads
	Depth   int     `json:"depth,omitempty"`  // links away from the start
	Listed  string  `json:"listed,omitempty"` // lastmod of the sitemap, "-" when listed without
	// Of the server's reply, to ask next time whether it changed.
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"lastModified,omitempty"`
	Raw          string `json:"raw,omitempty"` // SHA-256 of the body as sent, in hexadecimal
	// Made names the settings that made the text out of the body; what others
	// made does not count as unchanged.
	Made      string  `json:"made,omitempty"`
	Canonical string  `json:"canonical,omitempty"` // key that the page says it goes by, if not its own
	Relevance float64 `json:"relevance,omitempty"` // to the crawl's instruction
	Kept

	links span
}

// Link is one link of a page, kept so that a page that did not change need not
// be read for where it leads.
type Link struct {
	URL  string `json:"u"`
	Text string `json:"t,omitempty"`
}

type span struct {
	at, n int64 // offset and length in the log; n 0 is nothing
	crc   uint32
}

// begin is the meta of a begin record, commit of a commit record.
type begin struct {
	Crawl    int       `json:"crawl"` // counts up from 1
	Settings string    `json:"settings"`
	Time     time.Time `json:"time"`
}

type commit struct {
	Crawl int       `json:"crawl"`
	Time  time.Time `json:"time"`
}

const (
	magic      = "KNPAGES\n"
	headBytes  = 16
	recMagic   = "pRec"
	recBytes   = 36
	kindBegin  = 1
	kindVisit  = 2
	kindSame   = 3
	kindCommit = 4

	// maxPart bounds meta, links and body of one record, so that a damaged
	// length allocates nothing.
	maxPart = 64 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func crc(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // structs of strings and numbers always marshal
	}
	return b
}
