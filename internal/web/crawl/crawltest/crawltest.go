// Package crawltest generates a documentation site with everything that a
// crawler meets: what it must find, what it must not touch, and what must not
// hold it up. It records every request, so that a test can say what was asked
// for and how often.
package crawltest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options choose what a site has. The zero value is a small sound one.
type Options struct {
	Pages int // ordinary pages; 0 is 100
	// Traps adds what a crawler must survive: see the package's handlers.
	Traps bool
	// Slow is how long the slow pages take; 0 is 300 ms.
	Slow time.Duration
	// NoValidators leaves out ETag and Last-Modified.
	NoValidators bool
	// NoSitemap leaves out the sitemaps, so that only links lead on.
	NoSitemap bool
	// Lastmod puts lastmod into the sitemaps.
	Lastmod bool
	// LLMs adds an llms.txt that names every tenth page.
	LLMs bool
	// CrawlDelay is what robots.txt asks for, in seconds.
	CrawlDelay float64
	// Words of an ordinary page; 0 is about 400.
	Words int
	// RetryAfter is what the busy pages answer with at first; "" is "1".
	RetryAfter string
}

// Request is one request that a site got.
type Request struct {
	Path   string // with the query
	Header http.Header
	Status int
	Time   time.Time
}

// Site is the generated site, an http.Handler. It is safe for concurrent use.
type Site struct {
	o Options

	mu       sync.Mutex
	log      []Request
	counts   map[string]int
	versions map[int]int  // of pages that were changed
	gone     map[int]bool // pages that were removed
	down     bool
	lists    int // how often the sitemap changed
}

// New makes a site.
func New(o Options) *Site {
	if o.Pages <= 0 {
		o.Pages = 100
	}
	if o.Slow <= 0 {
		o.Slow = 300 * time.Millisecond
	}
	if o.RetryAfter == "" {
		o.RetryAfter = "1"
	}
	if o.Words <= 0 {
		o.Words = 400
	}
	return &Site{o: o, counts: map[string]int{}, versions: map[int]int{}, gone: map[int]bool{}}
}

// Server is a site on a port of the loopback interface.
type Server struct {
	*Site
	*httptest.Server
	sent *atomic.Int64
}

// Start serves a site until Close.
func Start(s *Site) *Server {
	srv := httptest.NewUnstartedServer(s)
	sent := &atomic.Int64{}
	srv.Listener = counting{srv.Listener, sent}
	srv.Start()
	return &Server{s, srv, sent}
}

// Sent returns how many bytes the server has put on the wire: heads and bodies.
func (s *Server) Sent() int64 { return s.sent.Load() }

type counting struct {
	net.Listener
	n *atomic.Int64
}

func (l counting) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return countingConn{c, l.n}, nil
}

type countingConn struct {
	net.Conn
	n *atomic.Int64
}

func (c countingConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.n.Add(int64(n))
	return n, err
}

// Requests returns what was asked for so far, in order.
func (s *Site) Requests() []Request { s.mu.Lock(); defer s.mu.Unlock(); return slices.Clone(s.log) }

// Reset forgets the requests so far.
func (s *Site) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log, s.counts = nil, map[string]int{}
}

// Count returns how often a path, with its query, was asked for.
func (s *Site) Count(path string) int { s.mu.Lock(); defer s.mu.Unlock(); return s.counts[path] }

// Change gives a page another text; Remove takes it away.
func (s *Site) Change(n int) { s.mu.Lock(); defer s.mu.Unlock(); s.versions[n]++; s.lists++ }

// Remove takes a page away: from the lists, from all links, and for good.
func (s *Site) Remove(n int) { s.mu.Lock(); defer s.mu.Unlock(); s.gone[n] = true; s.lists++ }

// Down makes the server answer everything with 503, or no longer.
func (s *Site) Down(down bool) { s.mu.Lock(); defer s.mu.Unlock(); s.down = down }

// perSection is how many pages one section has.
const perSection = 25

// Path returns the path of an ordinary page.
func Path(n int) string { return fmt.Sprintf("/docs/%s/%s", section(n/perSection), name(n)) }

func section(i int) string { return pick(i*7919+13) + "-" + pick(i*104729+7) }

func name(n int) string { return fmt.Sprintf("%s-%s-%d", pick(n*31+3), pick(n*17+5), n) }

// Wanted returns the paths of everything that a crawl must keep, each once, sorted.
func (s *Site) Wanted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []string{"/"}
	for i := 0; i*perSection < s.o.Pages; i++ {
		out = append(out, "/docs/"+section(i))
	}
	for n := range s.o.Pages {
		if !s.gone[n] {
			out = append(out, Path(n))
		}
	}
	if s.o.Traps {
		for i := range few {
			out = append(out, fmt.Sprintf("/slow/%d", i), fmt.Sprintf("/busy/%d", i), fmt.Sprintf("/md/%d", i), fmt.Sprintf("/behind/%d", i), fmt.Sprintf("/mirror/%d", i))
		}
		out = append(out, "/flaky")
	}
	slices.Sort(out)
	return out
}

// few is how many pages there are of each special sort.
const few = 3

// Forbidden reports whether robots.txt forbids a path.
func Forbidden(path string) bool {
	return strings.HasPrefix(path, "/private/") || strings.Contains(path, "/secret.html") || strings.HasPrefix(path, "/search?")
}

// Topic returns the words that the pages of a section are about.
func Topic(sectionNumber int) []string {
	return []string{pick(sectionNumber*7919 + 13), pick(sectionNumber*104729 + 7)}
}

func (s *Site) rng(n int) *rand.Rand {
	s.mu.Lock()
	v := s.versions[n]
	s.mu.Unlock()
	return rand.New(rand.NewPCG(uint64(n), uint64(v)))
}

// prose is random text of n words.
func prose(r *rand.Rand, n int, topic []string) string {
	var b strings.Builder
	for i := range n {
		switch {
		case i > 0 && i%11 == 0:
			b.WriteString(". ")
		case i > 0:
			b.WriteByte(' ')
		}
		if len(topic) > 0 && r.IntN(12) == 0 {
			b.WriteString(topic[r.IntN(len(topic))])
			continue
		}
		b.WriteString(pick(int(r.Uint32() >> 1)))
	}
	b.WriteByte('.')
	return b.String()
}

// pick returns one of 64 × 32 made-up words.
func pick(i int) string {
	if i < 0 {
		i = -i
	}
	return heads[i%len(heads)] + tails[i/len(heads)%len(tails)]
}

var (
	heads = strings.Fields("al bar cor dan el fen gor hal in jun kal lor mar nor ob par quin ral sol tan ul ver wor xan yar zor " +
		"bre cla dro fle gri klu pla pre spo sta stri tra bel cam den fil gam hin jol kem lam mon nel pol rin sam tol vin wes " +
		"arc bol cur dor fur hem lin mul pen ser tem")
	tails = strings.Fields("ade age al ance ane ard ate ent er ery et ia ian ice ide ie il ine ing ion ish ism ist ite ity ium ive ize o or ose ule")
)
