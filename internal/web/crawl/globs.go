package crawl

import (
	"net/url"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// globs are patterns as Config.Include describes them.
type globs []string

// parseGlobs refuses patterns that can match nothing.
func parseGlobs(patterns []string) (globs, error) {
	var out globs
	for _, p := range patterns {
		p = strings.TrimSpace(p)
		if p == "" {
			continue
		}
		if len(p) > 1024 {
			return nil, kb.Errorf(kb.Invalid, "the pattern %q… is longer than 1024 bytes", p[:40]).
				WithHint("write it shorter; ** stands for anything")
		}
		if strings.HasSuffix(p, "/") && p != "/" {
			p += "**"
		}
		if !strings.HasPrefix(p, "/") && !strings.Contains(p, "://") {
			p = "**/" + strings.TrimPrefix(p, "**/")
		}
		out = append(out, p)
	}
	return out, nil
}

// match reports whether one of the patterns matches the URL.
func (g globs) match(u *url.URL) bool {
	p := u.Path
	if p == "" {
		p = "/"
	}
	for _, pattern := range g {
		s := p
		if strings.Contains(pattern, "://") {
			s = u.Scheme + "://" + u.Host + p
		}
		if strings.Contains(pattern, "?") && u.RawQuery != "" && glob(pattern, s+"?"+u.RawQuery) {
			return true
		}
		if glob(pattern, s) || strings.HasSuffix(s, "/") && glob(pattern, strings.TrimSuffix(s, "/")) || !strings.HasSuffix(s, "/") && glob(pattern, s+"/") {
			return true
		}
	}
	return false
}

// glob matches a whole string. It takes at most len(pattern) × len(s) steps.
func glob(pattern, s string) bool {
	// reach[j] says whether the pattern so far matches s[:j].
	reach := make([]bool, len(s)+1)
	reach[0] = true
	for i := 0; i < len(pattern); {
		c := pattern[i]
		if c == '*' {
			deep := strings.HasPrefix(pattern[i:], "**")
			i++
			if deep {
				i++
			}
			for j := 1; j <= len(s); j++ {
				reach[j] = reach[j] || reach[j-1] && (deep || s[j-1] != '/')
			}
			if deep && strings.HasPrefix(pattern[i:], "/") {
				// "**/" is also nothing, after a slash or at the beginning.
				empty := make([]bool, len(s)+1)
				for j := range empty {
					empty[j] = reach[j] && (j == 0 || s[j-1] == '/')
				}
				i++
				for j := len(s); j > 0; j-- {
					reach[j] = reach[j-1] && s[j-1] == '/' || empty[j]
				}
				reach[0] = empty[0]
			}
			continue
		}
		i++
		for j := len(s); j > 0; j-- {
			reach[j] = reach[j-1] && (s[j-1] == c || c == '?' && s[j-1] != '/')
		}
		reach[0] = false
	}
	return reach[len(s)]
}

// hosts are Config.Hosts and those of the start pages.
type hosts struct {
	exact map[string]bool
	below []string // ".example.org"
}

func parseHosts(list []string) (hosts, error) {
	h := hosts{exact: map[string]bool{}}
	for _, s := range list {
		name := strings.ToLower(strings.TrimSpace(s))
		if u, err := url.Parse(name); err == nil && u.Host != "" {
			name = u.Host
		}
		if rest, ok := strings.CutPrefix(name, "*."); ok && rest != "" && !strings.ContainsAny(rest, "*/ ") {
			h.below = append(h.below, "."+rest)
			name = rest
		}
		if name == "" || strings.ContainsAny(name, "*/ ?#@") {
			return h, kb.Errorf(kb.Invalid, "%q is no host", s).WithHint("write docs.example.org or *.example.org")
		}
		h.exact[name] = true
	}
	return h, nil
}

func (h *hosts) has(host string) bool {
	return h.exact[host] || slices.ContainsFunc(h.below, func(b string) bool { return strings.HasSuffix(host, b) })
}
