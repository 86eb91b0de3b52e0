package crawl_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/web/crawl"
	"github.com/seed-4f2d999b/knowledge/internal/web/crawl/crawltest"
)

// BenchmarkCrawl takes CRAWL_PAGES (1,000) static pages from loopback, each
// time into a new folder: pages/s, and how far the heap grew between the first
// tenth of the crawl and its end.
func BenchmarkCrawl(b *testing.B) {
	n := 1000
	if s := os.Getenv("CRAWL_PAGES"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	srv := site(b, crawltest.Options{Pages: n})
	dir := b.TempDir()
	pages, i := 0, 0
	var early, late, peak uint64
	for b.Loop() {
		i++
		c := crawl.Config{Start: []string{srv.URL}, Client: client(b, 10*time.Second), Pages: store(b, filepath.Join(dir, strconv.Itoa(i))), Rate: -1, Parallel: 8, MaxPages: 100_000}
		early = 0
		c.Watch = func(s crawl.Stats) {
			if s.Visited%(n/10) != 0 {
				return
			}
			var m runtime.MemStats
			if early == 0 || s.Visited >= n-n/10 {
				runtime.GC()
			}
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapInuse)
			if late = m.HeapAlloc; early == 0 {
				early = m.HeapAlloc
			}
			srv.Reset() // what the site remembers is not the crawler's
		}
		pages += run(b, c).Pages
	}
	b.ReportMetric(float64(pages)/b.Elapsed().Seconds(), "pages/s")
	b.ReportMetric(float64(early)/(1<<20), "MB-at-10%")
	b.ReportMetric(float64(late)/(1<<20), "MB-at-end")
	b.ReportMetric(float64(peak)/(1<<20), "MB-peak")
}
