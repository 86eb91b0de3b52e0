package crawl

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// noises are query parameters of campaigns and of sessions, in lower case:
// neither changes the page.
var noises = kb.WordsOf(`gclid gclsrc dclid gbraid wbraid fbclid msclkid twclid ttclid li_fat_id yclid igshid mc_cid mc_eid
	_ga _gl _hsenc _hsmi hsctatracking mkt_tok vero_id oly_anon_id oly_enc_id ref_src ref_url spm wt_mc pk_campaign pk_kwd
	trk trkcampaign
	sid phpsessid jsessionid aspsessionid sessionid session_id sessid cfid cftoken zenid s_id`)

func noise(param string) bool {
	p := strings.ToLower(param)
	return strings.HasPrefix(p, "utm_") || strings.HasPrefix(p, "matomo_") || noises[p]
}

// maxURL bounds a URL that is followed, maxDeep the elements of its path.
const (
	maxURL  = 2048
	maxDeep = 24
)

// canonical returns the form of a URL that is requested: host in lower case, no
// fragment, no default port, no empty, "." and ".." elements, no noise among the
// parameters. It returns nil for what is not on the web.
func canonical(u *url.URL) *url.URL {
	if u == nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Opaque != "" {
		return nil
	}
	host, port := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), u.Port()
	if host == "" || strings.HasPrefix(host, ".") {
		return nil
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" && port != map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		host += ":" + port
	}
	p := escapePath(u.EscapedPath())
	if i := strings.Index(strings.ToLower(p), ";jsessionid="); i >= 0 {
		rest := ""
		if j := strings.IndexByte(p[i:], '/'); j >= 0 {
			rest = p[i+j:]
		}
		p = p[:i] + rest
	}
	if p == "" || p[0] != '/' {
		p = "/" + p
	}
	if strings.Contains(p, "//") || strings.Contains(p, "/.") {
		slash := strings.HasSuffix(p, "/") || strings.HasSuffix(p, "/.") || strings.HasSuffix(p, "/..")
		p = path.Clean(p)
		if slash && p != "/" {
			p += "/"
		}
	}
	out := &url.URL{Scheme: u.Scheme, Host: host}
	plain, err := url.PathUnescape(p)
	if err != nil {
		return nil
	}
	out.Path, out.RawPath = plain, p
	if u.RawQuery != "" {
		var kept []string
		for _, kv := range strings.Split(u.RawQuery, "&") {
			name, _, _ := strings.Cut(kv, "=")
			if plain, err := url.QueryUnescape(name); err == nil {
				name = plain
			}
			if kv != "" && !noise(name) {
				kept = append(kept, escapePath(kv))
			}
		}
		out.RawQuery = strings.Join(kept, "&")
	}
	return out
}

// escapePath brings percent-encoding into one form (RFC 3986, §6.2.2): unreserved
// characters are plain, the others encoded, with digits in upper case.
func escapePath(s string) string {
	const upper = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		plain := c > ' ' && c < 0x7f && strings.IndexByte("\"<>\\^`{|}%", c) < 0
		if c == '%' && i+2 < len(s) {
			if d, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
				c, plain = d[0], unreserved(d[0])
				i += 2
			}
		}
		if plain {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', upper[c>>4], upper[c&15]})
		}
	}
	return b.String()
}

func unreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// keyOf returns the identity of a URL: its canonical form without scheme, final
// slash and name of an index file, its parameters sorted.
func keyOf(u *url.URL) string {
	p := u.EscapedPath()
	dir, base := path.Split(p)
	switch strings.ToLower(base) {
	case "index.html", "index.htm", "index.php", "index.xhtml", "index.md", "default.aspx", "default.htm":
		p = dir
	}
	if p = strings.TrimRight(p, "/"); p == "" {
		p = "/"
	}
	k := u.Host + p
	if u.RawQuery != "" {
		params := strings.Split(u.RawQuery, "&")
		slices.Sort(params)
		k += "?" + strings.Join(params, "&")
	}
	return k
}

// parse returns the canonical URL of a reference, relative to base, which may be nil.
func parse(base *url.URL, ref string) *url.URL {
	ref = strings.TrimSpace(ref)
	if len(ref) > 2*maxURL {
		return nil
	}
	var u *url.URL
	var err error
	if base != nil {
		u, err = base.Parse(ref)
	} else {
		u, err = url.Parse(ref)
	}
	if err != nil {
		return nil
	}
	return canonical(u)
}

// storePath is the path of a page in its store, made from its key.
func storePath(key string) string {
	key, query, has := strings.Cut(key, "?")
	parts := strings.Split(key, "/")
	if len(parts) == 2 && parts[1] == "" {
		parts[1] = "index"
	}
	for i, p := range parts {
		parts[i] = element(p)
	}
	if has {
		parts[len(parts)-1] += "@" + element(strings.ReplaceAll(query, "/", "%2F"))
	}
	return strings.Join(parts, "/")
}

// element makes one element of a path readable: decoded where that is text, at
// most 120 bytes.
func element(s string) string {
	plain, err := url.PathUnescape(s)
	bad := err != nil || !utf8.ValidString(plain) || plain == "." || plain == ".." ||
		strings.ContainsFunc(plain, func(r rune) bool { return r < ' ' || r == 0x7f || r == '/' || r == '\\' || r == utf8.RuneError })
	if !bad {
		s = plain
	}
	if len(s) > 120 {
		cut := 100
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "~" + short(s)
	}
	if s == "" {
		return "%"
	}
	return s
}

// short is a brief hash for telling apart what would look the same.
func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

// patternOf returns the form that URLs of one trap share: numbers and long tokens
// in the path are "#", of parameters only the names remain. varies reports
// whether the URL has any of these.
func patternOf(u *url.URL) (pattern string, varies bool) {
	parts := strings.Split(u.EscapedPath(), "/")
	for i, p := range parts {
		q := digits(p)
		if token(p) {
			q = "#"
		}
		varies = varies || q != p
		parts[i] = q
	}
	pattern = u.Host + strings.Join(parts, "/")
	if u.RawQuery != "" {
		var names []string
		for _, kv := range strings.Split(u.RawQuery, "&") {
			n, _, _ := strings.Cut(kv, "=")
			names = append(names, digits(n))
		}
		slices.Sort(names)
		pattern += "?" + strings.Join(slices.Compact(names), "&")
		varies = true
	}
	return pattern, varies
}

var digitsRE = lazyregexp.New(`[0-9]+`)

// digits replaces each run of digits by "#".
func digits(s string) string {
	if !strings.ContainsAny(s, "0123456789") {
		return s
	}
	return digitsRE.ReplaceAllString(s, "#")
}

// token reports whether a path's element looks made by a machine: at least
// twelve letters and digits mixed without a separator, or hexadecimal with its usual ones.
func token(s string) bool {
	if len(s) < 12 {
		return false
	}
	nums, hexa := 0, true
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			nums++
		case c >= 'a' && c <= 'f', c >= 'A' && c <= 'F', c == '-' && len(s) == 36:
		case c >= 'g' && c <= 'z', c >= 'G' && c <= 'Z':
			hexa = false
		default:
			return false
		}
	}
	return hexa && nums > 0 || nums >= 3 && nums*6 >= len(s)
}

// spins reports whether a path repeats itself, as one does that a relative link
// makes longer at every step.
func spins(u *url.URL) bool {
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	if len(parts) > maxDeep {
		return true
	}
	count := map[string]int{}
	for _, p := range parts {
		if count[p]++; count[p] > 3 {
			return true
		}
	}
	return false
}

// before orders keys: shorter first, then by bytes.
func before(a, b string) bool { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) < 0 }
