package secret

import (
	"encoding/base64"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

func blockWords() []*word {
	return []*word{
		{text: "private key-----", block: (*finder).privateKey},
		{text: "private key block-----", block: (*finder).privateKey},
		{text: "ssh2 encrypted private key ----", block: (*finder).privateKey},
		{text: "private-lines:", block: (*finder).putty},
		{text: "://", block: (*finder).address},
		{text: "basic ", block: (*finder).basic},
		{text: "authorization", block: (*finder).header},
		{text: "accountkey=", block: azure},
		{text: "sharedaccesskey=", block: azure},
		{text: "sig=", block: (*finder).signature},
		{text: "curl ", block: (*finder).curl},
		{text: "kind", block: (*finder).kind},
		{text: "machine ", block: (*finder).netrc},
		{text: "_auth", block: (*finder).npmrc},
		{text: "otpauth://", block: (*finder).otp},
	}
}

func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// longestKey bounds how far the end of a private key is looked for: RSA keys of
// 16,384 bits have 13 kB.
const longestKey = 20 << 10

// privateKey masks what follows the line that begins a private key, as far as
// the line that ends it; without one, the lines that are nothing but Base64.
func (f *finder) privateKey(start, end int) {
	s := f.text
	line := s[max(0, start-60):start]
	begin := strings.LastIndex(strings.ToUpper(line), "BEGIN ")
	if begin < 0 || strings.Contains(strings.ToUpper(line[begin:]), "END ") || end < f.keyEnd {
		return
	}
	stop := min(len(s), end+longestKey)
	if i := strings.Index(s[end:stop], "-----END"); i >= 0 {
		stop = end + i
	} else if i := strings.Index(s[end:stop], "---- END"); i >= 0 {
		stop = end + i
	} else {
		stop = end + plainLines(s[end:stop])
	}
	f.keyEnd = stop
	if isKeyBody(s[end:stop]) {
		f.add(end, stop, kindKey)
	}
}

// isKeyBody reports whether s is Base64 for the most part, whatever quotes,
// signs of addition, comments or escapes a language puts around its lines.
func isKeyBody(s string) bool {
	in, rest, run, longest := 0, 0, 0, 0
	flush := func() {
		longest = max(longest, run)
		if run >= 12 {
			in += run
		} else {
			rest += run
		}
		run = 0
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			flush()
			i++
		case isBase64(c):
			run++
		default:
			flush()
			if strings.IndexByte(" \t\r\n\"'`+,;#*/().|>", c) < 0 {
				rest++
			}
		}
	}
	flush()
	return (longest >= 40 || longest >= 16 && in >= 64) && in >= 2*rest && distinct(s) >= 8
}

// plainLines returns how long the lines at the start of s are that Base64 or
// the headers of a key are all of, after the rest of the first one.
func plainLines(s string) int {
	n := 0
	for n < len(s) {
		line := s[n:]
		if i := strings.IndexByte(line, '\n'); i >= 0 {
			line = line[:i+1]
		}
		text := strings.Trim(line, " \t\r\n\"'`+,\\#*/|>")
		header := strings.Contains(text, ": ") && len(text) < 80 && strings.Contains(text, "-") || strings.HasPrefix(text, "Version: ")
		if !all(text, isBase64) && !header && !strings.Contains(text, `\n`) {
			break
		}
		n += len(line)
	}
	return n
}

// putty masks the private lines of a key of PuTTY.
func (f *finder) putty(_, end int) {
	s := f.text
	if i := strings.IndexByte(s[end:], '\n'); i >= 0 {
		from := end + i + 1
		n := plainLines(s[from:min(len(s), from+longestKey)])
		if n >= 40 {
			f.add(from, from+n, kindKey)
		}
	}
}

// address masks the password in "scheme://user:password@host".
func (f *finder) address(_, end int) {
	s := f.text
	colon := -1
	for i := end; i < len(s) && i-end < 300; i++ {
		switch c := s[i]; {
		case c == ':' && colon < 0:
			colon = i
		case c == '@':
			if colon < 0 || i == colon+1 {
				return
			}
			// A password may hold an at sign; a host does not.
			pass := s[colon+1 : i]
			if isPasswordInAddress(pass, s[end:colon]) {
				f.add(colon+1, i, "password in an address")
			}
			return
		case c == '/' && colon < 0, c <= ' ', strings.IndexByte("\"'`<>{}()$\\,;", c) >= 0:
			return
		}
	}
}

// common are passwords that documentation writes in addresses.
var common = lists["common"]

func isPasswordInAddress(v, user string) bool {
	lower, upper, digit, _ := classes(v)
	v = strings.ToLower(v)
	return len(v) >= 6 && digit && (lower || upper) && !isPlaceholder(v) && !common[v] && v != strings.ToLower(user) &&
		!strings.ContainsAny(v, "/?#*[]%|") && utf8.ValidString(v)
}

// basic masks what follows "Basic" when it is a user and a password.
func (f *finder) basic(_, end int) {
	to := end
	for to < len(f.text) && to-end < 400 && isBase64(f.text[to]) {
		to++
	}
	v := strings.TrimRight(f.text[end:to], "=")
	if len(v) < 8 {
		return
	}
	raw, err := base64.RawStdEncoding.DecodeString(v)
	if err != nil {
		return
	}
	user, pass, ok := strings.Cut(string(raw), ":")
	if ok && utf8.Valid(raw) && len(pass) >= 4 && !common[strings.ToLower(pass)] && !isPlaceholder(pass) && pass != user {
		f.add(end, to, "basic authorization")
	}
}

var bearer = lazy(`(?i)^(?:["'\]]{0,3}[\s]*[:=,]?[\s"'(]*(?:bearer|token|bot|apikey|api-key|key)[ =:]+)([A-Za-z0-9._~+/=-]{16,400})`)

// header masks the token of a header "Authorization: Bearer …".
func (f *finder) header(_, end int) {
	m := bearer().FindStringSubmatchIndex(f.text[end:min(len(f.text), end+500)])
	if m == nil {
		return
	}
	if v := f.text[end+m[2] : end+m[3]]; looksRandom(v, 0.14) && !isPlaceholder(v) && !sequence(v) {
		f.add(end+m[2], end+m[3], "authorization")
	}
}

func azure(f *finder, _, end int) {
	to := end
	for to < len(f.text) && to-end < 200 && isBase64(f.text[to]) {
		to++
	}
	if v := f.text[end:to]; len(v) >= 40 && distinct(v) >= 10 && !isPlaceholder(v) {
		f.add(end, to, "Azure key")
	}
}

// signature masks the signature of a shared access address of Azure.
func (f *finder) signature(start, end int) {
	if start == 0 || strings.IndexByte("?&;", f.text[start-1]) < 0 {
		return
	}
	to := end
	for to < len(f.text) && to-end < 200 && (isBase64(f.text[to]) || f.text[to] == '%') {
		to++
	}
	if v := f.text[end:to]; len(v) >= 43 && distinct(v) >= 12 {
		f.add(end, to, "Azure signature")
	}
}

var curlHeader = lazy(`(?i)\s(?:-H|--header)[ =]?\s*["']?[\w-]*(?:authorization|token|key|auth|secret)[\w-]*\s*:\s*(?:(?:bearer|token|apitoken|bot|key)[ =]+)?([\w=~@.+/-]{8,})`)

var curlUser = lazy(`\s(?:-u|--user)[ =]?\s*["']?([^\s:"'$<{]{1,64}):([^\s"'\\$<{]{4,120})`)

// curl masks the password of "curl -u user:password" and what a header for
// authorization carries, also where the call goes on over several lines.
func (f *finder) curl(_, end int) {
	from := end - 1
	stop := min(len(f.text), from+800)
	for at := from; at < stop; {
		i := strings.IndexByte(f.text[at:stop], '\n')
		if i < 0 {
			break
		}
		if line := strings.TrimRight(f.text[at:at+i], " \t\r"); !strings.HasSuffix(line, "\\") {
			stop = at + i
			break
		}
		at += i + 1
	}
	call := f.text[from:stop]
	if m := curlUser().FindStringSubmatchIndex(call); m != nil {
		v := call[m[4]:m[5]]
		_, _, digit, mark := classes(v)
		if (digit || mark) && !common[strings.ToLower(v)] && !isPlaceholder(v) {
			f.add(from+m[4], from+m[5], "password of a call")
		}
	}
	for _, m := range curlHeader().FindAllStringSubmatchIndex(call, -1) {
		v := call[m[2]:m[3]]
		if lower, upper, digit, _ := classes(v); digit && (lower || upper) && !isPlaceholder(v) && !sequence(v) && distinct(v) >= 6 {
			f.add(from+m[2], from+m[3], "authorization of a call")
		}
	}
}

var kindSecret = lazy(`^["']?[ \t]*:[ \t]*["']?Secret["']?[ \t,]*(?:\r?\n|#|$)`)

// kind notes that a manifest of Kubernetes is a Secret.
func (f *finder) kind(_, end int) {
	f.manifest = f.manifest || kindSecret().MatchString(f.text[end:min(len(f.text), end+40)])
}

var dataLine = lazy(`^([ \t]*)["']?(data|stringData)["']?[ \t]*:[ \t]*(?:#.*)?$`)
var entryLine = lazy(`^([ \t]+)(?:"[^"]+"|'[^']+'|[\w./-]+)[ \t]*:[ \t]*(.*?)[ \t]*$`)

// manifests masks the values of Secrets of Kubernetes.
func (f *finder) manifests() {
	indent, secret, block := -1, false, -1
	for off := 0; off < len(f.text); {
		line := f.text[off:]
		if i := strings.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
		}
		at := off
		off += len(line) + 1
		line = strings.TrimRight(line, "\r")
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "---":
			indent, secret, block = -1, false, -1
			// The kind may follow the data: look through the whole manifest.
			rest := f.text[min(off, len(f.text)):]
			if i := strings.Index(rest, "\n---"); i >= 0 {
				rest = rest[:i]
			}
			secret = isSecretManifest(rest)
			continue
		case at == 0:
			first := f.text
			if i := strings.Index(first, "\n---"); i >= 0 {
				first = first[:i]
			}
			secret = isSecretManifest(first)
		}
		if !secret || trimmed == "" {
			continue
		}
		if m := dataLine().FindStringSubmatch(line); m != nil {
			indent, block = len(m[1]), -1
			continue
		}
		here := len(line) - len(strings.TrimLeft(line, " \t"))
		if indent < 0 {
			continue
		}
		if here <= indent {
			indent, block = -1, -1
			continue
		}
		if block >= 0 && here > block {
			f.add(at+here, at+len(line), "Kubernetes secret")
			continue
		}
		block = -1
		m := entryLine().FindStringSubmatchIndex(line)
		if m == nil {
			continue
		}
		v := line[m[4]:m[5]]
		switch {
		case v == "" || v[0] == '|' || v[0] == '>':
			block = here
		case strings.Contains(v, "{{") || strings.Contains(v, "$") || strings.HasPrefix(v, "<") || strings.HasPrefix(v, "#") || isPlaceholder(v) || len(strings.Trim(v, `"'`)) < 4:
		default:
			f.add(at+m[4], at+m[5], "Kubernetes secret")
		}
	}
}

var secretManifest = lazy(`(?m)^[ \t-]*["']?kind["']?[ \t]*:[ \t]*["']?Secret["']?[ \t,]*(?:#.*)?\r?$`)

func isSecretManifest(s string) bool { return secretManifest().MatchString(s) }

var netrcLine = lazy(`^[^\s]+\s+login\s+[^\s]+\s+password\s+([^\s"'\\]{4,})`)

// netrc masks the password in "machine HOST login NAME password …".
func (f *finder) netrc(_, end int) {
	m := netrcLine().FindStringSubmatchIndex(f.text[end:min(len(f.text), end+400)])
	if m == nil {
		return
	}
	v := f.text[end+m[2] : end+m[3]]
	if !common[strings.ToLower(v)] && !isPlaceholder(v) && !strings.ContainsAny(v, "${<") {
		f.add(end+m[2], end+m[3], kindPassword)
	}
}

var npmrcLine = lazy(`^(?:Token)?\s*=\s*["']?([A-Za-z0-9+/=_.-]{8,})`)

// npmrc masks "_authToken=…" and "_auth=…".
func (f *finder) npmrc(start, end int) {
	if start > 0 && strings.IndexByte(":\n\"' ", f.text[start-1]) < 0 {
		return
	}
	m := npmrcLine().FindStringSubmatchIndex(f.text[end:min(len(f.text), end+300)])
	if m == nil {
		return
	}
	v := f.text[end+m[2] : end+m[3]]
	if _, _, digit, _ := classes(v); digit && !isPlaceholder(v) {
		f.add(end+m[2], end+m[3], "npm token")
	}
}

var otpSecret = lazy(`^[^\s"'<>]{0,200}?[?&]secret=([A-Za-z2-7]{16,})`)

// otp masks the secret of an address for one-time passwords.
func (f *finder) otp(_, end int) {
	if m := otpSecret().FindStringSubmatchIndex(f.text[end:min(len(f.text), end+400)]); m != nil {
		f.add(end+m[2], end+m[3], "one-time password secret")
	}
}
