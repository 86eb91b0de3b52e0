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

// longestKey bounds the search for the end of a private key: RSA keys of 16,384
// bits have 13 kB.
const longestKey = 20 << 10

// privateKey masks the text between the lines that begin and end a private key;
// without an end, the lines of Base64.
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

// isKeyBody reports whether s is mostly Base64, with any quotes, plus signs,
// comments or escapes of a language around its lines.
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

// plainLines returns the length of the lines at the start of s that are Base64 or
// headers of a key, after the rest of the first one.
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

var common = set("common")

func isPasswordInAddress(v, user string) bool {
	lower, upper, digit, _ := classes(v)
	v = strings.ToLower(v)
	return len(v) >= 6 && digit && (lower || upper) && !isPlaceholder(v) && !common[v] && v != strings.ToLower(user) &&
		!strings.ContainsAny(v, "/?#*[]%|") && utf8.ValidString(v)
}

// basic masks a user and a password after "Basic".
func (f *finder) basic(_, end int) {
	to := span(f.text, end, 400, isBase64)
	v := strings.TrimRight(f.text[end:to], "=")
	raw, err := base64.RawStdEncoding.DecodeString(v)
	if err != nil || len(v) < 8 || !utf8.Valid(raw) {
		return
	}
	user, pass, ok := strings.Cut(string(raw), ":")
	if ok && len(pass) >= 4 && !common[strings.ToLower(pass)] && !isPlaceholder(pass) && pass != user {
		f.add(end, to, "basic authorization")
	}
}

// group masks the group of an expression that matches at end, within so many
// bytes, if it is a credential.
func (f *finder) group(re func() *regexp.Regexp, end, within int, kind string, is func(v string) bool) {
	m := re().FindStringSubmatchIndex(f.text[end:min(len(f.text), end+within)])
	if m != nil && is(f.text[end+m[2]:end+m[3]]) {
		f.add(end+m[2], end+m[3], kind)
	}
}

var bearer = lazy(`(?i)^(?:["'\]]{0,3}[\s]*[:=,]?[\s"'(]*(?:bearer|token|bot|apikey|api-key|key)[ =:]+)` +
	`([A-Za-z0-9._~+/=-]{16,400})`)

// header masks the token of a header "Authorization: Bearer …".
func (f *finder) header(_, end int) {
	f.group(bearer, end, 500, "authorization", func(v string) bool {
		return looksRandom(v, 0.14) && !isPlaceholder(v) && !isSequence(v)
	})
}

func azure(f *finder, _, end int) {
	to := span(f.text, end, 200, isBase64)
	if v := f.text[end:to]; len(v) >= 40 && distinct(v) >= 10 && !isPlaceholder(v) {
		f.add(end, to, "Azure key")
	}
}

// signature masks the signature of a shared access address of Azure.
func (f *finder) signature(start, end int) {
	if start == 0 || strings.IndexByte("?&;", f.text[start-1]) < 0 {
		return
	}
	to := span(f.text, end, 200, func(c byte) bool { return isBase64(c) || c == '%' })
	if v := f.text[end:to]; len(v) >= 43 && distinct(v) >= 12 {
		f.add(end, to, "Azure signature")
	}
}

var (
	curlHeader = lazy(`(?i)\s(?:-H|--header)[ =]?\s*["']?[\w-]*(?:authorization|token|key|auth|secret)[\w-]*\s*:\s*` +
		`(?:(?:bearer|token|apitoken|bot|key)[ =]+)?([\w=~@.+/-]{8,})`)
	curlUser = lazy(`\s(?:-u|--user)[ =]?\s*["']?([^\s:"'$<{]{1,64}):([^\s"'\\$<{]{4,120})`)
)

// curl masks the password of "curl -u user:password" and the value of a header
// for authorization, also in a call of several lines.
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
		lower, upper, digit, _ := classes(v)
		if digit && (lower || upper) && !isPlaceholder(v) && !isSequence(v) && distinct(v) >= 6 {
			f.add(from+m[2], from+m[3], "authorization of a call")
		}
	}
}

var kindSecret = lazy(`^["']?[ \t]*:[ \t]*["']?Secret["']?[ \t,]*(?:\r?\n|#|$)`)

// kind notes that the text contains a Secret of Kubernetes.
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
		line, _, _ = strings.Cut(line, "\n")
		at := off
		off += len(line) + 1
		line = strings.TrimRight(line, "\r")
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "---":
			indent, block = -1, -1
			secret = isSecretManifest(f.text[min(off, len(f.text)):])
			continue
		case at == 0:
			secret = isSecretManifest(f.text)
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
		case strings.Contains(v, "{{") || strings.Contains(v, "$") || v[0] == '<' || v[0] == '#',
			isPlaceholder(v), len(strings.Trim(v, `"'`)) < 4:
		default:
			f.add(at+m[4], at+m[5], "Kubernetes secret")
		}
	}
}

var secretManifest = lazy(`(?m)^[ \t-]*["']?kind["']?[ \t]*:[ \t]*["']?Secret["']?[ \t,]*(?:#.*)?\r?$`)

// isSecretManifest reports whether the first manifest of a text is a Secret. Its
// kind may follow the data.
func isSecretManifest(s string) bool {
	first, _, _ := strings.Cut(s, "\n---")
	return secretManifest().MatchString(first)
}

var netrcLine = lazy(`^[^\s]+\s+login\s+[^\s]+\s+password\s+([^\s"'\\]{4,})`)

// netrc masks the password in "machine HOST login NAME password …".
func (f *finder) netrc(_, end int) {
	f.group(netrcLine, end, 400, kindPassword, func(v string) bool {
		return !common[strings.ToLower(v)] && !isPlaceholder(v) && !strings.ContainsAny(v, "${<")
	})
}

var npmrcLine = lazy(`^(?:Token)?\s*=\s*["']?([A-Za-z0-9+/=_.-]{8,})`)

// npmrc masks "_authToken=…" and "_auth=…".
func (f *finder) npmrc(start, end int) {
	if start > 0 && strings.IndexByte(":\n\"' ", f.text[start-1]) < 0 {
		return
	}
	f.group(npmrcLine, end, 300, "npm token", func(v string) bool {
		return strings.ContainsAny(v, "0123456789") && !isPlaceholder(v)
	})
}

var otpSecret = lazy(`^[^\s"'<>]{0,200}?[?&]secret=([A-Za-z2-7]{16,})`)

// otp masks the secret of an address for one-time passwords.
func (f *finder) otp(_, end int) {
	f.group(otpSecret, end, 400, "one-time password secret", func(string) bool { return true })
}
