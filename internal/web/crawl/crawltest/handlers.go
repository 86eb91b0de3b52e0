package crawltest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"hash/fnv"
	"html"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// modified is when every page was last changed, as far as it was not.
var modified = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) { r.status = status; r.ResponseWriter.WriteHeader(status) }
func (r *recorder) Flush()                 { r.ResponseWriter.(http.Flusher).Flush() }

// ServeHTTP answers one request and records it.
func (s *Site) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	p := req.URL.RequestURI()
	s.mu.Lock()
	s.counts[p]++
	count, down := s.counts[p], s.down
	at := len(s.log)
	s.log = append(s.log, Request{Path: p, Header: req.Header.Clone(), Status: 200, Time: time.Now()})
	s.mu.Unlock()
	rec := &recorder{w, 200}
	defer func() {
		s.mu.Lock()
		if at < len(s.log) && s.log[at].Path == p {
			s.log[at].Status = rec.status
		}
		s.mu.Unlock()
	}()
	if down {
		http.Error(rec, "down", http.StatusServiceUnavailable)
		return
	}
	s.serve(rec, req, count)
}

func (s *Site) serve(w *recorder, req *http.Request, count int) {
	path := req.URL.Path
	switch path {
	case "/robots.txt":
		s.robots(w)
		return
	case "/llms.txt":
		if !s.o.LLMs {
			http.NotFound(w, req)
			return
		}
		s.send(w, req, "text/plain; charset=utf-8", s.llms())
		return
	case "/sitemap-index.xml", "/sitemap-1.xml", "/sitemap-2.xml.gz":
		if s.o.NoSitemap {
			http.NotFound(w, req)
			return
		}
		s.sitemap(w, req)
		return
	}
	switch clean := strings.TrimSuffix(strings.TrimSuffix(path, "index.html"), "/"); {
	case clean == "":
		s.html(w, req, "Home", s.home(), s.homeLinks(), "")
		return
	case strings.HasPrefix(clean, "/docs/"):
		if s.docs(w, req, clean) {
			return
		}
	case s.o.Traps && s.trap(w, req, clean, count):
		return
	}
	http.NotFound(w, req)
}

func (s *Site) robots(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain")
	fmt.Fprintf(w, "User-agent: badbot\nDisallow: /\n\nUser-agent: *\nDisallow: /private/\nDisallow: /*/secret.html$\nDisallow: /search?\n")
	if s.o.CrawlDelay > 0 {
		fmt.Fprintf(w, "Crawl-delay: %v\n", s.o.CrawlDelay)
	}
	if !s.o.NoSitemap {
		fmt.Fprintf(w, "Sitemap: /sitemap-index.xml\n")
	}
}

func (s *Site) isGone(n int) bool { s.mu.Lock(); defer s.mu.Unlock(); return s.gone[n] }

func (s *Site) llms() []byte {
	var b bytes.Buffer
	b.WriteString("# Site\n\n> All about it.\n\n## Docs\n\n")
	for n := 0; n < s.o.Pages; n += 10 {
		if !s.isGone(n) {
			fmt.Fprintf(&b, "- [%s](%s): about %s\n", name(n), Path(n), Topic(n / perSection)[0])
		}
	}
	return b.Bytes()
}

// sitemap lists the pages whose number is not divisible by 3, so that the others
// are found by links alone; the second file is compressed.
func (s *Site) sitemap(w http.ResponseWriter, req *http.Request) {
	base := "http://" + req.Host
	var b bytes.Buffer
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	if req.URL.Path == "/sitemap-index.xml" {
		fmt.Fprintf(&b, `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>%s/sitemap-1.xml</loc></sitemap><sitemap><loc>%s/sitemap-2.xml.gz</loc></sitemap></sitemapindex>`, base, base)
		s.send(w, req, "application/xml", b.Bytes())
		return
	}
	second := req.URL.Path == "/sitemap-2.xml.gz"
	b.WriteString(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
	for n := range s.o.Pages {
		if n%3 == 0 || (n%2 == 1) != second || s.isGone(n) {
			continue
		}
		fmt.Fprintf(&b, "<url><loc>%s%s?utm_source=sitemap</loc>", base, Path(n))
		if s.o.Lastmod {
			s.mu.Lock()
			v := s.versions[n]
			s.mu.Unlock()
			fmt.Fprintf(&b, "<lastmod>%s</lastmod>", modified.Add(time.Duration(v)*time.Hour).Format(time.RFC3339))
		}
		b.WriteString("</url>\n")
	}
	if !second {
		fmt.Fprintf(&b, "<url><loc>%s/private/listed</loc></url>\n", base)
	}
	b.WriteString("</urlset>\n")
	if second {
		var z bytes.Buffer
		g := gzip.NewWriter(&z)
		g.Write(b.Bytes())
		g.Close()
		s.send(w, req, "application/gzip", z.Bytes())
		return
	}
	s.send(w, req, "application/xml", b.Bytes())
}

// send answers with validators, and 304 where they match.
func (s *Site) send(w http.ResponseWriter, req *http.Request, contentType string, body []byte) {
	h := fnv.New64a()
	h.Write(body)
	tag := fmt.Sprintf(`"%x"`, h.Sum64())
	w.Header().Set("Content-Type", contentType)
	if !s.o.NoValidators {
		w.Header().Set("ETag", tag)
		w.Header().Set("Vary", "Accept")
		if req.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}

type link struct{ href, text string }

// html sends a page: what is around it, its text, its links.
func (s *Site) html(w http.ResponseWriter, req *http.Request, title, main string, links []link, head string) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title>%s</head>\n<body>\n<nav><a href=\"/\">Home</a> <a href=\"/private/nav\">Private</a> <a href=\"/search?q=x\">Search</a></nav>\n<main>\n%s\n<ul>\n", title, head, main)
	for _, l := range links {
		fmt.Fprintf(&b, "<li><a href=\"%s\">%s</a></li>\n", html.EscapeString(l.href), html.EscapeString(l.text))
	}
	b.WriteString("</ul>\n</main>\n<footer>All rights reserved.</footer>\n</body></html>\n")
	s.send(w, req, "text/html; charset=utf-8", b.Bytes())
}

func (s *Site) home() string {
	return "<h1>Home</h1>\n<p>" + prose(s.rng(-1), 120, nil) + "</p>"
}

func (s *Site) homeLinks() []link {
	var out []link
	for i := 0; i*perSection < s.o.Pages; i++ {
		out = append(out, link{"/docs/" + section(i), strings.Join(Topic(i), " ")})
	}
	if !s.o.Traps {
		return out
	}
	out = append(out, link{"/loop/a", "Loop"}, link{"/to-private", "Moved"}, link{"/huge", "Huge"}, link{"/bomb", "Bomb"},
		link{"/calendar/2026/1", "Calendar"}, link{"/session/start", "Session"}, link{"/deep/", "Deep"},
		link{"/flaky", "Flaky"}, link{"/broken/500", "500"}, link{"/broken/reset", "Reset"}, link{"/broken/truncated", "Truncated"},
		link{"/missing", "Missing"}, link{"/files/a.zip", "Archive"}, link{"/files/image", "Image"}, link{"/docs/secret.html", "Secret"},
		link{"http://elsewhere.invalid/", "Elsewhere"}, link{"mailto:a@b.invalid", "Mail"}, link{"javascript:void(0)", "Script"}, link{"/self", "Self"})
	for i := range few {
		for _, p := range []string{"slow", "busy", "md", "noindex", "app", "old", "print", "mirror"} {
			out = append(out, link{fmt.Sprintf("/%s/%d", p, i), fmt.Sprintf("%s %d", p, i)})
		}
		out = append(out, link{fmt.Sprintf("/mirror/%d/copy", i), fmt.Sprintf("copy %d", i)})
	}
	return out
}

// docs serves sections and ordinary pages.
func (s *Site) docs(w http.ResponseWriter, req *http.Request, path string) bool {
	parts := strings.Split(path, "/")
	if len(parts) == 3 {
		for i := 0; i*perSection < s.o.Pages; i++ {
			if section(i) != parts[2] {
				continue
			}
			var links []link
			for n := i * perSection; n < min((i+1)*perSection, s.o.Pages); n++ {
				if !s.isGone(n) {
					links = append(links, link{variant(n), name(n)})
				}
			}
			s.html(w, req, strings.Join(Topic(i), " "), fmt.Sprintf("<h1>%s</h1>\n<p>%s</p>", section(i), prose(s.rng(-2-i), 100, Topic(i))), links, "")
			return true
		}
		return false
	}
	dash := strings.LastIndexByte(path, '-')
	n, err := strconv.Atoi(path[dash+1:])
	if err != nil || n >= s.o.Pages || n < 0 || Path(n) != path || s.isGone(n) {
		return false
	}
	title, main := s.page(n)
	s.html(w, req, title, main, s.pageLinks(n), "")
	return true
}

func (s *Site) pageLinks(n int) []link {
	var links []link
	for _, m := range []int{n + 1, n - 1, (n*37 + 11) % s.o.Pages} {
		if m >= 0 && m < s.o.Pages && !s.isGone(m) {
			links = append(links, link{variant(m), name(m)})
		}
	}
	return links
}

// variant is one of the ways in which a page is linked.
func variant(n int) string {
	switch p := Path(n); n % 5 {
	case 1:
		return p + "?utm_source=link&utm_campaign=" + strconv.Itoa(n)
	case 2:
		return p + "#usage"
	case 3:
		return p + "/"
	default:
		return p
	}
}

func (s *Site) page(n int) (title, main string) {
	r := s.rng(n)
	topic := Topic(n / perSection)
	title = name(n)
	var b strings.Builder
	fmt.Fprintf(&b, "<h1 id=\"top\">%s</h1>\n", title)
	for i, h := range []string{"Usage", "Options", "Errors"} {
		fmt.Fprintf(&b, "<h2 id=\"%s\">%s of %s</h2>\n<p>%s</p>\n", strings.ToLower(h), h, title, prose(r, s.o.Words/3, topic))
		if i == 0 {
			fmt.Fprintf(&b, "<pre><code class=\"language-go\">func %s() error {\n\treturn %s(%d)\n}\n</code></pre>\n", pick(n), pick(n+1), n)
		}
	}
	return title, b.String()
}

// trap serves what is not ordinary. It reports whether the path is of that kind.
func (s *Site) trap(w *recorder, req *http.Request, path string, count int) bool {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	at := func(i int) int {
		if i >= len(parts) {
			return 0
		}
		n, _ := strconv.Atoi(parts[i])
		return n
	}
	own := s.own
	switch parts[0] {
	case "private", "search":
		s.html(w, req, "Private", own("Private", -5000, 100), nil, "")
	case "self":
		http.Redirect(w, req, req.URL.Path, http.StatusFound)
	case "loop":
		http.Redirect(w, req, map[string]string{"/loop/a": "/loop/b", "/loop/b": "/loop/a"}[path], http.StatusFound)
	case "to-private":
		http.Redirect(w, req, "/private/moved", http.StatusFound)
	case "old":
		http.Redirect(w, req, Path(at(1)), http.StatusMovedPermanently)
	case "print": // the same page, which says so
		title, main := s.page(at(1))
		s.html(w, req, title, main, s.pageLinks(at(1)), fmt.Sprintf("<link rel=\"canonical\" href=\"%s\">", Path(at(1))))
	case "mirror": // a long page, and a copy that differs in a word
		main := own("Mirror "+parts[1], -14000-at(1), 1500)
		if len(parts) > 2 {
			main += fmt.Sprintf("<p>%d</p>", at(1))
		}
		s.html(w, req, "Mirror "+parts[1], main, nil, "")
	case "slow":
		select {
		case <-time.After(s.o.Slow):
		case <-req.Context().Done():
			return true
		}
		s.html(w, req, "Slow", own("Slow "+parts[1], -6000-at(1), 150), nil, "")
	case "busy":
		if count == 1 {
			w.Header().Set("Retry-After", s.o.RetryAfter)
			http.Error(w, "slow down", http.StatusTooManyRequests)
			return true
		}
		s.html(w, req, "Busy", own("Busy "+parts[1], -7000-at(1), 150), nil, "")
	case "md":
		if strings.HasPrefix(req.Header.Get("Accept"), "text/markdown") {
			s.send(w, req, "text/markdown; charset=utf-8", []byte("# Markdown "+parts[1]+"\n\n"+prose(s.rng(-8000-at(1)), 150, nil)+"\n"))
			return true
		}
		s.html(w, req, "HTML", own("HTML "+parts[1], -8500-at(1), 150), nil, "")
	case "noindex":
		s.html(w, req, "Not for the index", own("Not "+parts[1], -9000-at(1), 150), []link{{"/behind/" + parts[1], "Behind"}}, `<meta name="robots" content="noindex">`)
	case "behind":
		s.html(w, req, "Behind", own("Behind "+parts[1], -9500-at(1), 150), nil, "")
	case "app":
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><html><head><title>App %s</title><script src="/app.js"></script></head><body><div id="root"></div><noscript>You need JavaScript.</noscript></body></html>`, parts[1])
	case "calendar":
		y, m, d := at(1), at(2), at(3)
		links := []link{
			{fmt.Sprintf("/calendar/%d/%d", y+m/12, m%12+1), "Next"},
			{fmt.Sprintf("/calendar/%d/%d", y-(12-m)/11, (m+10)%12+1), "Previous"},
		}
		for i := 1; i < 29; i++ {
			links = append(links, link{fmt.Sprintf("/calendar/%d/%d/%d", y, m, i), strconv.Itoa(i)})
		}
		s.html(w, req, "Calendar", own(fmt.Sprintf("Events of %d-%d-%d", y, m, d), -20000-y*400-m*31-d, 80), links, "")
	case "session":
		h := fnv.New64a()
		fmt.Fprint(h, path, count)
		var links []link
		for i := range 5 {
			links = append(links, link{fmt.Sprintf("/session/%016x/%d", h.Sum64()+uint64(i), i), "Again"})
		}
		s.html(w, req, "Session", own("Session", -12000, 150), links, "")
	default:
		return s.breaks(w, req, parts, count)
	}
	return true
}
