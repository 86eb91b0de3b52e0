package crawl

import (
	"bytes"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// maxRobots is how much of a robots.txt is read (RFC 9309, §2.5).
const maxRobots = 500 << 10

// robots are the rules of one origin for one crawler, after RFC 9309. The known
// libraries differ from it: they match rules with wildcards anywhere in a path,
// prefer disallow to an allow of the same length, compare percent-encoded paths
// byte by byte, or give up a whole file for one bad line.
type robots struct {
	rules    []rule
	delay    time.Duration
	sitemaps []string
	all      bool // everything is disallowed: the server failed to say
}

type rule struct {
	allow bool
	path  string // normalised, may hold "*" and end with "$"
}

var productRE = lazyregexp.New(`^[A-Za-z_-]*`)

// parseRobots reads a file. agent is our product token.
func parseRobots(body []byte, agent string) *robots {
	body = bytes.TrimPrefix(body[:min(len(body), maxRobots)], []byte("\xef\xbb\xbf"))
	r := &robots{}
	// The group for every crawler, and the one for us.
	var groups [2]struct {
		rules     []rule
		delay     time.Duration
		found, in bool // in reports whether the lines being read belong to it
	}
	inAgents := false
	for line := range bytes.FieldsFuncSeq(body, func(c rune) bool { return c == '\n' || c == '\r' }) {
		text, _, _ := strings.Cut(string(line), "#")
		name, value, ok := strings.Cut(text, ":")
		if !ok || !utf8.ValidString(text) {
			continue
		}
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		switch name {
		case "user-agent", "useragent":
			for i, is := range []bool{value == "*", value != "*" && strings.EqualFold(productRE.FindString(value), agent)} {
				groups[i].in = is || inAgents && groups[i].in
				groups[i].found = groups[i].found || is
			}
			inAgents = true
			continue
		case "sitemap":
			if len(r.sitemaps) < maxSitemaps && value != "" {
				r.sitemaps = append(r.sitemaps, value)
			}
			continue
		}
		var rules []rule
		var delay time.Duration
		switch name {
		case "allow", "disallow":
			if value != "" && value[0] != '/' && value[0] != '*' {
				value = "/" + value
			}
			if value != "" {
				rules = []rule{{name == "allow", escapePath(value)}}
			}
		case "crawl-delay":
			if sec, err := strconv.ParseFloat(value, 64); err == nil && sec >= 0 && sec < 1e6 {
				delay = time.Duration(sec * float64(time.Second))
			}
		default:
			continue
		}
		inAgents = false
		for i := range groups {
			if g := &groups[i]; g.in {
				g.rules, g.delay = append(g.rules, rules...), max(g.delay, delay)
			}
		}
	}
	g := groups[0]
	if groups[1].found {
		g = groups[1]
	}
	r.rules, r.delay = g.rules, g.delay
	return r
}

// allows reports whether a path with its query, as it is requested, may be asked for.
func (r *robots) allows(path string) bool {
	if path == "/robots.txt" {
		return true
	}
	if r.all {
		return false
	}
	path = escapePath(path)
	best, allow := -1, true
	for _, ru := range r.rules {
		if n := len(ru.path); (n > best || n == best && ru.allow) && ru.match(path) {
			best, allow = n, ru.allow
		}
	}
	return allow
}

// match reports whether the rule's path is a prefix of the path. In it "*" matches
// anything and a final "$" the end.
func (ru *rule) match(path string) bool {
	p, end := strings.CutSuffix(ru.path, "$")
	parts := strings.Split(p, "*")
	rest, ok := strings.CutPrefix(path, parts[0])
	if !ok {
		return false
	}
	// The first match of each part leaves the most for the others; only the last
	// must reach the end.
	for i, part := range parts[1:] {
		if end && i == len(parts)-2 {
			return strings.HasSuffix(rest, part)
		}
		j := strings.Index(rest, part)
		if j < 0 {
			return false
		}
		rest = rest[j+len(part):]
	}
	return !end || rest == ""
}
