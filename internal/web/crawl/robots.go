package crawl

import (
	"bytes"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// maxRobots is how much of a robots.txt is read (RFC 9309, §2.5).
const maxRobots = 500 << 10

// robots are the rules of one origin for one crawler, after RFC 9309. The
// libraries there are differ from it where it hurts: they match rules with
// wildcards anywhere in a path, prefer disallow to allow where both are as
// long, compare percent-encoded paths byte by byte, or give up a whole file
// for one bad line.
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

// parseRobots reads a file. agent is our product token.
func parseRobots(body []byte, agent string) *robots {
	body = bytes.TrimPrefix(body[:min(len(body), maxRobots)], []byte("\xef\xbb\xbf"))
	r := &robots{}
	var ours, star struct {
		rules []rule
		delay time.Duration
		found bool
	}
	inOurs, inStar, inAgents := false, false, false
	for line := range bytes.FieldsFuncSeq(body, func(c rune) bool { return c == '\n' || c == '\r' }) {
		text, _, _ := strings.Cut(string(line), "#")
		name, value, ok := strings.Cut(text, ":")
		if !ok || !utf8.ValidString(text) {
			continue
		}
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		switch name {
		case "user-agent", "useragent":
			if !inAgents {
				inOurs, inStar = false, false
			}
			inAgents = true
			token := value
			if i := strings.IndexFunc(value, func(c rune) bool {
				return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-')
			}); i >= 0 && value != "*" {
				token = value[:i]
			}
			switch {
			case token == "*":
				inStar, star.found = true, true
			case strings.EqualFold(token, agent):
				inOurs, ours.found = true, true
			}
		case "allow", "disallow":
			inAgents = false
			if value == "" {
				continue
			}
			if value[0] != '/' && value[0] != '*' {
				value = "/" + value
			}
			ru := rule{name == "allow", escapePath(value)}
			if inOurs {
				ours.rules = append(ours.rules, ru)
			}
			if inStar {
				star.rules = append(star.rules, ru)
			}
		case "crawl-delay":
			inAgents = false
			sec, err := strconv.ParseFloat(value, 64)
			if err != nil || !(sec >= 0 && sec < 1e6) {
				continue
			}
			d := time.Duration(sec * float64(time.Second))
			if inOurs {
				ours.delay = max(ours.delay, d)
			}
			if inStar {
				star.delay = max(star.delay, d)
			}
		case "sitemap":
			if len(r.sitemaps) < maxSitemaps && value != "" {
				r.sitemaps = append(r.sitemaps, value)
			}
		}
	}
	if ours.found {
		r.rules, r.delay = ours.rules, ours.delay
	} else {
		r.rules, r.delay = star.rules, star.delay
	}
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

// match reports whether the rule's path is a prefix of the path, "*" standing
// for anything and a final "$" for the end.
func (ru *rule) match(path string) bool {
	p, end := strings.CutSuffix(ru.path, "$")
	parts := strings.Split(p, "*")
	rest, ok := strings.CutPrefix(path, parts[0])
	if !ok {
		return false
	}
	// Taking the first place where each part stands leaves the most for the
	// others; only the last must reach the end.
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
