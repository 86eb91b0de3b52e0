package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// source reads lines of a tree's files.
type source struct {
	dir   string
	files map[string][]string
}

func (s *source) lines(path string) []string {
	if l, ok := s.files[path]; ok {
		return l
	}
	b, _ := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(path)))
	if s.files == nil {
		s.files = map[string][]string{}
	}
	s.files[path] = strings.Split(string(b), "\n")
	return s.files[path]
}

// line returns a line, counted from one, or nothing.
func (s *source) line(path string, n int) string {
	l := s.lines(path)
	if n < 1 || n > len(l) {
		return ""
	}
	return strings.TrimSuffix(l[n-1], "\r")
}

// literal is the text of a message as a program prints it: the literals of
// its parts, with values for what stands between and in them.
func (s *source) literal(path, lang string, parts []span, filled bool, rng *rand.Rand) string {
	var b strings.Builder
	for _, p := range parts {
		if len(p) != 3 {
			b.WriteString(value("", rng))
			continue
		}
		l := s.line(path, p[0])
		t := unescape(l[min(p[1], len(l)):min(p[2], len(l))], lang)
		if filled {
			t = fill(t, lang, rng)
		}
		b.WriteString(t)
	}
	return strings.TrimSpace(b.String())
}

var escapes = strings.NewReplacer(`\n`, "\n", `\t`, " ", `\r`, "", `\"`, `"`, `\'`, "'", `\\`, `\`, "\\`", "`", `\$`, "$")

func unescape(t, lang string) string {
	if lang == "lua" || lang == "bash" || lang == "haskell" {
		t = strings.ReplaceAll(t, `\ `, " ")
	}
	return escapes.Replace(t)
}

var (
	printf  = regexp.MustCompile(`^%(?:\((\w+)\))?[-+#0 ]*[0-9.*]*(?:ll|l|z|h)?([a-zA-Z])`)
	dollar  = regexp.MustCompile(`^\$(\w+(?:->\w+)?)`)
	percent = map[string]string{"python": "srdxifc", "go": "vsdqTwxtcpU", "c": "sdiuxcfpS", "php": "sd", "lua": "sdq", "java": "sd", "haskell": "sd", "ruby": "sd"}
)

// fill replaces the placeholders of a language by values.
func fill(t, lang string, rng *rand.Rand) string {
	var b strings.Builder
	for i := 0; i < len(t); {
		rest := t[i:]
		switch {
		case strings.HasPrefix(rest, "#{") && (lang == "ruby" || lang == "elixir"),
			strings.HasPrefix(rest, "${") && strings.Contains("typescript kotlin scala bash", lang),
			strings.HasPrefix(rest, "{$") && lang == "php":
			n := balanced(rest)
			b.WriteString(value(strings.Trim(rest[:n], "#${}"), rng))
			i += n
			continue
		case strings.HasPrefix(rest, "{{") && strings.Contains("python rust zig csharp", lang):
			b.WriteByte('{')
			i += 2
			continue
		case strings.HasPrefix(rest, "}}") && strings.Contains("python rust zig csharp", lang):
			b.WriteByte('}')
			i += 2
			continue
		case rest[0] == '{' && strings.Contains("python rust zig java csharp", lang):
			if n := balanced(rest); n > 0 {
				hint := strings.Trim(rest[:n], "{}")
				v := value(hint, rng)
				if strings.Contains(hint, "!r") || strings.Contains(hint, ":?") {
					v = "'" + v + "'"
				}
				b.WriteString(v)
				i += n
				continue
			}
		case rest[0] == '$' && strings.Contains("php kotlin scala bash", lang):
			if m := dollar.FindStringSubmatch(rest); m != nil {
				b.WriteString(value(m[1], rng))
				i += len(m[0])
				continue
			}
		case strings.HasPrefix(rest, "%%") && percent[lang] != "":
			b.WriteByte('%')
			i += 2
			continue
		case rest[0] == '%':
			if m := printf.FindStringSubmatch(rest); m != nil && strings.Contains(percent[lang], m[2]) {
				b.WriteString(verb(m[2], m[1], lang, rng))
				i += len(m[0])
				continue
			}
		}
		b.WriteByte(rest[0])
		i++
	}
	return b.String()
}

// balanced returns the length of what begins with a brace, after a mark or
// not, up to the one that closes it; 0 when none does.
func balanced(t string) int {
	depth := 0
	for i := range len(t) {
		switch t[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

func verb(verb, hint, lang string, rng *rand.Rand) string {
	switch verb {
	case "d", "i", "u", "f":
		return strconv.Itoa(rng.IntN(900) + 3)
	case "x":
		return strconv.FormatInt(int64(rng.IntN(1<<20)), 16)
	case "c":
		return "x"
	case "t":
		return "true"
	case "p":
		return "0x7f3a2c01b4d0"
	case "T":
		return "*orders.Item"
	case "w":
		return "connection refused"
	case "q":
		return `"` + value(hint, rng) + `"`
	case "r":
		return "'" + value(hint, rng) + "'"
	}
	return value(hint, rng)
}

var values = []struct {
	hint *regexp.Regexp
	of   []string
}{
	{regexp.MustCompile(`(?i)url|uri|link|href`), []string{"http://localhost:8080/items/7", "https://shop.example.com/cart?id=3"}},
	{regexp.MustCompile(`(?i)path|file|dir|folder`), []string{"/srv/shop/config/main.yml", "/home/ana/notes/todo.txt", "data/import.csv"}},
	{regexp.MustCompile(`(?i)len|count|size|num|port|status|code|limit|idx|index|line|max|min|total|offset|bytes`), []string{"17", "404", "3", "65", "8080", "1024"}},
	{regexp.MustCompile(`(?i)exc|err|reason|cause|traceback`), []string{"connection reset by peer", "no such file or directory", "unexpected end of input"}},
	{regexp.MustCompile(`(?i)class|type|module|inspect|struct|schema`), []string{"OrderItem", "Invoice", "Customer", "NoneType"}},
	{regexp.MustCompile(`(?i)host|addr|domain|server`), []string{"db-2.internal", "127.0.0.1", "mail.example.org"}},
	{regexp.MustCompile(`(?i)version`), []string{"2.14.1", "18.0.2"}},
	{regexp.MustCompile(`(?i)key|name|field|param|attr|option|flag|arg|id\b`), []string{"user_id", "billing_address", "colour", "start_date", "quantity"}},
	{regexp.MustCompile(``), []string{"invoice-2291", "blue", "42", "orders", "ana@example.com", "weekly", "customer_7"}},
}

// value makes up what a program would have printed for an expression.
func value(hint string, rng *rand.Rand) string {
	for _, v := range values {
		if v.hint.MatchString(hint) && (hint != "" || v.hint.String() == "") {
			return v.of[rng.IntN(len(v.of))]
		}
	}
	return ""
}

// errorTypes stand before messages of form "type".
var errorTypes = map[string]string{"python": "ValueError: ", "typescript": "Error: ", "go": "panic: ", "java": "java.lang.IllegalStateException: ", "kotlin": "java.lang.IllegalStateException: ", "scala": "java.lang.IllegalArgumentException: ", "ruby": "RuntimeError: ", "php": "PHP Fatal error:  Uncaught RuntimeException: ", "elixir": "** (ArgumentError) ", "rust": "Error: ", "lua": "E5108: Error executing lua: ", "zig": "error: ", "haskell": "*** Exception: ", "c": "(error) ERR ", "bash": ""}

func (s *source) message(it *item, lang string) string {
	rng := rand.New(rand.NewPCG(uint64(it.Seed), 22))
	t := s.literal(it.Gold[0].Path, lang, it.Parts, it.Kind == "filled", rng)
	switch it.Form {
	case "type":
		return errorTypes[lang] + t
	case "log":
		return "2026-03-14 09:26:53,589 ERROR [worker-3] " + t
	}
	return t
}
