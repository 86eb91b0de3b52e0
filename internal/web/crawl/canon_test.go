package crawl

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/temoto/robotstxt"
)

func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		"HTTP://Docs.Example.ORG:80":                        "http://docs.example.org/ docs.example.org/",
		"https://a.test:443/x#frag":                         "https://a.test/x a.test/x",
		"https://a.test:8443/x/":                            "https://a.test:8443/x/ a.test:8443/x",
		"https://a.test./x/index.html":                      "https://a.test/x/index.html a.test/x",
		"https://a.test/x/../y/./z//w":                      "https://a.test/y/z/w a.test/y/z/w",
		"https://a.test/x?utm_source=a&b=2&a=1&fbclid=q":    "https://a.test/x?b=2&a=1 a.test/x?a=1&b=2",
		"https://a.test/x?gclid=1":                          "https://a.test/x a.test/x",
		"https://a.test/x;jsessionid=ABC/y?PHPSESSID=1":     "https://a.test/x/y a.test/x/y",
		"https://a.test/%7euser/%e4%b8%ad/a b":              "https://a.test/~user/%E4%B8%AD/a%20b a.test/~user/%E4%B8%AD/a%20b",
		"https://a.test/a%2fb":                              "https://a.test/a%2Fb a.test/a%2Fb",
		"https://[2001:DB8::1]:443/x":                       "https://[2001:db8::1]/x [2001:db8::1]/x",
		"https://a.test/guide/?":                            "https://a.test/guide/ a.test/guide",
		"https://a.test/100%":                               "",
		"ftp://a.test/":                                     "",
		"https://user:pw@a.test/":                           "",
		"mailto:x@y.test":                                   "",
		"https://a.test/" + strings.Repeat("x", 2*maxURL+1): "",
	} {
		got := ""
		if u := parse(nil, in); u != nil {
			got = u.String() + " " + keyOf(u)
			if again := parse(nil, u.String()); again == nil || again.String() != u.String() || keyOf(again) != keyOf(u) {
				t.Errorf("%s: the form %s has another form %s", in, u, again)
			}
		}
		if got != want {
			t.Errorf("%.80s:\n got %s\nwant %s", in, got, want)
		}
	}
	base, _ := url.Parse("https://a.test/guide/intro")
	for ref, want := range map[string]string{"../api?x=1#y": "https://a.test/api?x=1", "//b.test": "https://b.test/", "setup": "https://a.test/guide/setup", "#top": "https://a.test/guide/intro"} {
		if u := parse(base, ref); u == nil || u.String() != want {
			t.Errorf("%s: %v", ref, u)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	f.Add("https://a.test/x/../y?utm_x=1&b=%zz#f")
	f.Add("http://[::1]:80//a;jsessionid=1/..%2f")
	f.Fuzz(func(t *testing.T, s string) {
		u := parse(nil, s)
		if u == nil {
			return
		}
		again := parse(nil, u.String())
		if len(u.String()) > 2*maxURL {
			return
		}
		if again == nil || again.String() != u.String() || keyOf(again) != keyOf(u) {
			t.Errorf("%q has the form %q, which has the form %v", s, u, again)
		}
		patternOf(u)
		p := storePath(keyOf(u))
		for _, e := range strings.Split(p, "/") {
			if e == "" || e == "." || e == ".." || len(e) > 400 {
				t.Errorf("%q has the path %q", s, p)
			}
		}
	})
}

func TestStorePath(t *testing.T) {
	for key, want := range map[string]string{
		"a.test/":                            "a.test/index",
		"a.test/guide/intro":                 "a.test/guide/intro",
		"a.test/x?a=1&b=2":                   "a.test/x@a=1&b=2",
		"a.test/%E4%B8%AD":                   "a.test/中",
		"a.test/a%2Fb":                       "a.test/a%2Fb",
		"a.test/%2E%2E/x":                    "a.test/%2E%2E/x",
		"a.test/%FF":                         "a.test/%FF",
		"a.test:8443/x":                      "a.test:8443/x",
		"a.test/" + strings.Repeat("é", 100): "a.test/" + strings.Repeat("é", 50) + "~" + short(strings.Repeat("é", 100)),
	} {
		if got := storePath(key); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}

func TestPatterns(t *testing.T) {
	for in, want := range map[string]string{
		"https://a.test/guide/intro":                            "a.test/guide/intro false",
		"https://a.test/cal/2024/05/12":                         "a.test/cal/#/#/# true",
		"https://a.test/x?month=5&year=2024":                    "a.test/x?month&year true",
		"https://a.test/s/4f2a9c01d7e8b3f6/page":                "a.test/s/#/page true",
		"https://a.test/o/550e8400-e29b-41d4-a716-446655440000": "a.test/o/# true",
		"https://a.test/v1.2/guide":                             "a.test/v#.#/guide true",
		"https://a.test/authentication/internationalization":    "a.test/authentication/internationalization false",
	} {
		p, v := patternOf(parse(nil, in))
		if got := p + map[bool]string{true: " true", false: " false"}[v]; got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	for key, want := range map[string]string{
		"a.test/docs/v2/intro": "v2", "a.test/en/5.2/topics": "5.2", "a.test/3/tutorial": "3", "a.test/latest/x": "latest", "a.test/stable": "stable",
		"a.test/docs/intro": "", "a.test/page/3": "", "a.test/2024/05/x": "", "a.test/docs/1.x/a": "1.x", "a.test/release-1.2/a": "release-1.2", "a.test/docs/3-steps": "",
	} {
		if got := versionOf(key); got != want {
			t.Errorf("version of %s: %q, want %q", key, got, want)
		}
	}
}

func TestGlobs(t *testing.T) {
	for _, tt := range []struct {
		pattern, url string
		want         bool
	}{
		{"/docs/**", "https://a.test/docs/x/y", true}, {"/docs/**", "https://a.test/docs", true}, {"/docs/**", "https://a.test/docsx", false},
		{"/docs/*", "https://a.test/docs/x", true}, {"/docs/*", "https://a.test/docs/x/y", false}, {"/docs/", "https://a.test/docs/x/y", true},
		{"api/*", "https://a.test/v1/api/x", true}, {"api/*", "https://a.test/api/x", true}, {"api/*", "https://a.test/xapi/x", false},
		{"**/api/**", "https://a.test/v1/api/x/y", true}, {"*.pdf", "https://a.test/x/y.pdf", true}, {"*.pdf", "https://a.test/x/y.pdf.html", false},
		{"https://a.test/**", "https://a.test/x/y", true}, {"https://*.test/**", "https://b.test/x", true}, {"https://a.test/**", "http://a.test/x", false},
		{"/a/**/z", "https://a.test/a/z", true}, {"/a/**/z", "https://a.test/a/b/c/z", true}, {"/a/**/z", "https://a.test/a/bz", false},
		{"/x?", "https://a.test/xy", true}, {"/x?", "https://a.test/x/", false}, {"**", "https://a.test/", true}, {"/", "https://a.test/", true},
	} {
		g, err := parseGlobs([]string{tt.pattern})
		if err != nil {
			t.Fatal(err)
		}
		if got := g.match(parse(nil, tt.url)); got != tt.want {
			t.Errorf("%s on %s: %v", tt.pattern, tt.url, got)
		}
	}
	g, err := parseGlobs([]string{strings.Repeat("*a", 500)})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	g.match(&url.URL{Scheme: "http", Host: "a", Path: "/" + strings.Repeat("a", 2000)})
	if time.Since(began) > 5*time.Second {
		t.Error("a pattern took ages")
	}
}

// The rules of RFC 9309, with its own examples.
func TestRobots(t *testing.T) {
	const file = "\ufeffUser-Agent: *\r\nDisallow: *.gif$\r\nDisallow: /example/\nAllow: /publications/\n\nUser-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n\n" +
		"User-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\nCrawl-delay: 2.5\n\nUser-Agent: quxbot\n\nsitemap: https://a.test/s.xml\nnonsense\nUser-agent: FooBot/2.1\nAllow: /more # said later\nCrawl-delay: soon\n"
	for _, tt := range []struct {
		agent, path string
		want        bool
	}{
		{"foobot", "/", false}, {"foobot", "/example/page.html", true}, {"foobot", "/more/x", true}, {"foobot", "/robots.txt", true},
		{"barbot", "/example/page.html", false}, {"bazbot", "/example/page.html", false}, {"bazbot", "/other", true}, {"quxbot", "/example/", true},
		{"knowledge", "/example/x", false}, {"knowledge", "/a/b.gif", false}, {"knowledge", "/a/b.gif?x", true}, {"knowledge", "/publications/", true}, {"knowledge", "/%65xample/x", false},
	} {
		if got := parseRobots([]byte(file), tt.agent).allows(tt.path); got != tt.want {
			t.Errorf("%s %s: %v", tt.agent, tt.path, got)
		}
	}
	if r := parseRobots([]byte(file), "barbot"); r.delay != 2500*time.Millisecond || len(r.sitemaps) != 1 {
		t.Errorf("%+v", r)
	}
	for _, tt := range []struct {
		rules, path string
		want        bool
	}{
		{"Disallow: /p\nAllow: /p", "/page", true}, // as long: allow
		{"Allow: /p\nDisallow: /", "/page", true},
		{"Allow: /folder\nDisallow: /folder/", "/folder/x", false},
		{"Allow: /public/*.html\nDisallow: /", "/private/public/x.html", false}, // anchored
		{"Disallow: /*/secret$", "/a/secret", false}, {"Disallow: /*/secret$", "/a/secret/b", true}, {"Disallow: /a*b*c", "/aXbYc", false}, {"Disallow: /a*b*c", "/aXcYb", true},
		{"Disallow: /x$", "/x", false}, {"Disallow: /x$", "/xy", true}, {"Disallow: /*?", "/x?y", false}, {"Disallow: /*?", "/x", true},
		{"Disallow: /caf%c3%a9", "/café", false}, {"Disallow: /café", "/caf%C3%A9", false}, {"Disallow:", "/x", true}, {"Disallow: tmp", "/tmp", false},
		{"Disallow: /ab*ba$", "/aba", true}, {"Disallow: /ab*ba$", "/abba", false},
	} {
		if got := parseRobots([]byte("User-agent: *\n"+tt.rules), "x").allows(escapePath(tt.path)); got != tt.want {
			t.Errorf("%q on %s: %v", tt.rules, tt.path, got)
		}
	}
}

// Where another implementation is sound, it agrees: files without wildcards,
// faults and equally long rules.
func FuzzRobots(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /a\nAllow: /a/b\n", "/a/b/c")
	f.Add("User-agent: knowledge\nDisallow: /\n\nUser-agent: *\nAllow: /\n", "/x")
	f.Add("User-agent: a\nUser-agent: *\nDisallow: /x/y\n", "/x/yz")
	f.Fuzz(func(t *testing.T, file, path string) {
		ours := parseRobots([]byte(file), "knowledge").allows("/" + strings.TrimPrefix(path, "/"))
		for _, line := range strings.Split(file, "\n") {
			name, value, _ := strings.Cut(line, ": ")
			if line != "" && (name != "User-agent" && name != "Allow" && name != "Disallow" || strings.Trim(value, "abcdefghijklmnopqrstuvwxyz/") != "" && value != "*" || value == "") ||
				(name == "Allow" || name == "Disallow") && !strings.HasPrefix(value, "/") {
				return
			}
			if name == "User-agent" && value != "*" && value != "knowledge" && strings.HasPrefix("knowledge", value) {
				return // the other takes prefixes of names for names
			}
		}
		if strings.Trim(path, "abcdefghijklmnopqrstuvwxyz/") != "" || strings.Contains(path, "robots") || strings.Contains(file, "\n\n") {
			return
		}
		other, err := robotstxt.FromString(file)
		if err != nil {
			return
		}
		group := other.FindGroup("knowledge")
		if got := group.Test("/" + strings.TrimPrefix(path, "/")); got != ours && !tie(file) {
			t.Errorf("%q on %q: ours %v, the other %v", file, path, ours, got)
		}
	})
}

// tie reports whether the same path is both allowed and disallowed.
func tie(file string) bool {
	seen := map[string]string{}
	for _, line := range strings.Split(file, "\n") {
		name, value, _ := strings.Cut(line, ": ")
		if old := seen[value]; old != "" && old != name {
			return true
		}
		seen[value] = name
	}
	return false
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for h, want := range map[string]time.Duration{
		"": 0, "5": 5 * time.Second, "0": 0, "-3": 0, "1.5": 1500 * time.Millisecond, "999999": maxRetryAfter, "soon": 0,
		"Fri, 02 Jan 2026 03:04:35 GMT": 30 * time.Second, "Fri, 02 Jan 2026 03:00:00 GMT": 0, "Sat, 03 Jan 2026 03:00:00 GMT": maxRetryAfter, "NaN": 0,
	} {
		if got := retryAfter(h, now); got != want {
			t.Errorf("%q: %v, want %v", h, got, want)
		}
	}
}

func TestLists(t *testing.T) {
	entries, nested := sitemap([]byte(`<?xml version="1.0"?><urlset><url><loc> https://a.test/x </loc><lastmod>2026-01-02</lastmod></url><url><loc>https://a.test/y</loc><image:loc>no</image:loc></url><url><loc>https://a.test/cut`), 1<<20)
	if len(entries) != 2 || entries[0].URL != "https://a.test/x" || entries[0].Text != "2026-01-02" || len(nested) != 0 {
		t.Errorf("%v %v", entries, nested)
	}
	if entries, _ := sitemap([]byte("https://a.test/1\n\nhttps://a.test/2\nnot one\n"), 1<<20); len(entries) != 2 {
		t.Errorf("%v", entries)
	}
	if entries, nested := sitemap([]byte{0x1f, 0x8b, 1, 2, 3}, 1<<20); entries != nil || nested != nil {
		t.Error("a broken file has entries")
	}
	base, _ := url.Parse("https://a.test/docs/llms.txt")
	links := llms([]byte("# X\n\n> About.\n\n- [Guide](guide.md): how to begin\n- [API](<https://a.test/api> \"t\")\n- [Mail](mailto:x@y)\n"), base)
	if len(links) != 2 || links[0].URL != "https://a.test/docs/guide.md" || links[0].Text != "Guide: how to begin" || links[1].URL != "https://a.test/api" {
		t.Errorf("%v", links)
	}
	links = llms([]byte("# One\nSource: https://a.test/one\n\ntext [x](https://a.test/other)\n\n# Two\nURL: <https://a.test/two>\n"), base)
	if len(links) != 2 || links[1].URL != "https://a.test/two" {
		t.Errorf("%v", links)
	}
}

func TestRobotsTag(t *testing.T) {
	for in, want := range map[string][2]bool{
		"": {}, "noindex": {true, false}, "NoIndex, nofollow": {true, true}, "none": {true, true}, "max-image-preview:none": {}, "max-snippet:-1, noindex": {true, false},
		"googlebot: noindex, nofollow": {}, "knowledge: nofollow": {false, true}, "unavailable_after: 25 Jun 2027 15:00:00 GMT": {}, "all": {}, "noarchive": {},
	} {
		if i, f := robotsTag([]string{in}, "knowledge"); i != want[0] || f != want[1] {
			t.Errorf("%q: noindex %v, nofollow %v", in, i, f)
		}
	}
}
