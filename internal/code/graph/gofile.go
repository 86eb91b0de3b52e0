package graph

import (
	"crypto/sha256"
	"go/build/constraint"
	"path"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const kindField = "field"

// goFile is what is known of one Go file without parsing it.
type goFile struct {
	doc     int32
	path    string
	size    int64
	hash    [hashBytes]byte
	pkg     string   // of the package clause; "" when there is none
	build   string   // the expression of its //go:build line
	imports []string // paths, in order, "C" and "unsafe" included
	// skeleton is a hash of all that other packages can see of it: everything
	// but comments, white space and the bodies of functions.
	skeleton sum8
	// tops are the functions it declares, of files that may be a program of
	// their own, see task.clashes.
	tops []string
}

func (f *goFile) test() bool { return strings.HasSuffix(f.path, "_test.go") }

// external reports whether the file belongs to the package of tests beside a package.
func (f *goFile) external() bool { return f.test() && strings.HasSuffix(f.pkg, "_test") }

// unitName is the package that the file belongs to, its tests included.
func (f *goFile) unitName() string {
	if f.external() {
		return strings.TrimSuffix(f.pkg, "_test")
	}
	return f.pkg
}

// scanGo fills in package, imports, constraint and skeleton. It reads tokens
// roughly: what it says of text that is no Go is of no use and no harm.
func (f *goFile) scanGo(src string) {
	s := goScanner{src: src}
	h := sha256.New()
	var buf []byte
	flush := func(force bool) {
		if force || len(buf) > 32<<10 {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	depth := 0
	inFunc := false // in a top-level func declaration, before its body
	state := 0      // 1: after "package", 2: after "import", 3: in "import (", 4: after "func"
	prev := ""      // the token before
	for {
		tok := s.next()
		if tok == "" {
			break
		}
		buf = append(buf, tok...)
		buf = append(buf, ' ')
		flush(false)
		switch {
		case state == 1:
			f.pkg, state = strings.Clone(tok), 0
		case state == 4:
			state = 0
			if word(tok[0]) && tok != "_" && tok != "init" && (f.pkg == "main" || inside(dirOfFile(f.path), "testdata")) {
				f.tops = append(f.tops, strings.Clone(tok))
			}
			if tok == "(" {
				depth++
			}
		case state == 2 || state == 3:
			switch {
			case tok[0] == '"' || tok[0] == '`':
				if p, err := strconv.Unquote(tok); err == nil {
					f.imports = append(f.imports, strings.Clone(p))
				}
				if state == 2 {
					state = 0
				}
			case tok == "(":
				state = 3
			case tok == ")":
				state = 0
			}
		case depth == 0 && tok == "package" && f.pkg == "":
			f.build = s.build
			state = 1
		case depth == 0 && tok == "import":
			state = 2
		case depth == 0 && tok == "func" && s.newline:
			inFunc, state = true, 4
		case tok == "(" || tok == "[":
			depth++
		case tok == ")" || tok == "]":
			depth--
		case tok == "{":
			if inFunc && depth == 0 && prev != "struct" && prev != "interface" {
				s.skipBody()
				buf = append(buf, '}')
				inFunc = false
				tok = "}"
			} else {
				depth++
			}
		case tok == "}":
			depth--
		}
		depth = max(depth, 0)
		if depth == 0 && s.newline && tok != "func" && inFunc && (tok == "var" || tok == "const" || tok == "type") {
			inFunc = false // the func before had no body
		}
		prev = tok
	}
	flush(true)
	sum := h.Sum(nil)
	copy(f.skeleton[:], sum)
}

// goScanner cuts Go into tokens: words, strings, single other bytes.
type goScanner struct {
	src     string
	i       int
	newline bool   // a line began before the token
	build   string // the first //go:build expression so far
}

func (s *goScanner) next() string {
	s.newline = s.i == 0
	for s.i < len(s.src) {
		c := s.src[s.i]
		switch {
		case c == '\n':
			s.newline = true
			s.i++
		case c == ' ' || c == '\t' || c == '\r':
			s.i++
		case c == '/' && strings.HasPrefix(s.src[s.i:], "//"):
			line := s.src[s.i:]
			if n := strings.IndexByte(line, '\n'); n >= 0 {
				line = line[:n]
			}
			if s.build == "" && constraint.IsGoBuild(strings.TrimRight(line, "\r")) {
				s.build = strings.Clone(strings.TrimSpace(line[len("//go:build"):]))
			}
			s.i += len(line)
		case c == '/' && strings.HasPrefix(s.src[s.i:], "/*"):
			n := strings.Index(s.src[s.i+2:], "*/")
			if n < 0 {
				s.i = len(s.src)
				return ""
			}
			if strings.Contains(s.src[s.i:s.i+2+n], "\n") {
				s.newline = true
			}
			s.i += n + 4
		default:
			from := s.i
			s.token(c)
			return s.src[from:s.i]
		}
	}
	return ""
}

// token moves behind the token that begins with c.
func (s *goScanner) token(c byte) {
	switch {
	case word(c):
		for s.i < len(s.src) && word(s.src[s.i]) {
			s.i++
		}
	case c == '`':
		n := strings.IndexByte(s.src[s.i+1:], '`')
		if n < 0 {
			s.i = len(s.src)
		} else {
			s.i += n + 2
		}
	case c == '"' || c == '\'':
		s.i++
		for s.i < len(s.src) && s.src[s.i] != c && s.src[s.i] != '\n' {
			if s.src[s.i] == '\\' {
				s.i++
			}
			s.i++
		}
		s.i = min(s.i+1, len(s.src))
	default:
		s.i++
	}
}

func word(c byte) bool {
	return c == '_' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// skipBody moves behind the brace that closes the one just read.
func (s *goScanner) skipBody() {
	depth := 1
	for s.i < len(s.src) && depth > 0 {
		switch c := s.src[s.i]; c {
		case '{':
			depth++
			s.i++
		case '}':
			depth--
			s.i++
		case '"', '\'', '`':
			s.token(c)
		case '/':
			if s.i+1 < len(s.src) && (s.src[s.i+1] == '/' || s.src[s.i+1] == '*') {
				s.comment()
			} else {
				s.i++
			}
		default:
			s.i++
		}
	}
}

func (s *goScanner) comment() {
	end := "\n"
	if s.src[s.i+1] == '*' {
		end = "*/"
	}
	n := strings.Index(s.src[s.i+2:], end)
	if n < 0 {
		s.i = len(s.src)
	} else {
		s.i += 2 + n + len(end)
	}
}

// config is one way to build: what build constraints are evaluated against.
type config struct {
	os, arch string
	tags     map[string]bool // further tags that are set
}

var firstConfig = config{os: "linux", arch: "amd64"}

// ports are the systems that Go builds for, the common ones first. Build
// constraints name them; what else they name is a tag.
var ports = []struct {
	os     string
	arches []string
}{
	{"linux", []string{"amd64", "arm64", "386", "arm", "riscv64", "ppc64le", "s390x", "loong64", "ppc64", "mips64", "mips64le", "mips", "mipsle", "sparc64"}},
	{"windows", []string{"amd64", "arm64", "386", "arm"}},
	{"darwin", []string{"arm64", "amd64"}},
	{"freebsd", []string{"amd64", "arm64", "386", "arm", "riscv64"}},
	{"openbsd", []string{"amd64", "arm64", "386", "arm", "ppc64", "riscv64", "mips64"}},
	{"netbsd", []string{"amd64", "arm64", "386", "arm"}},
	{"dragonfly", []string{"amd64"}},
	{"solaris", []string{"amd64"}},
	{"illumos", []string{"amd64"}},
	{"aix", []string{"ppc64"}},
	{"plan9", []string{"amd64", "386", "arm"}},
	{"js", []string{"wasm"}},
	{"wasip1", []string{"wasm"}},
	{"android", []string{"arm64", "amd64", "386", "arm"}},
	{"ios", []string{"arm64", "amd64"}},
	{"zos", []string{"s390x"}},
	{"hurd", []string{"amd64"}},
	{"nacl", []string{"amd64"}},
}

var knownOS, knownArch = func() (map[string]bool, map[string]bool) {
	os, arch := map[string]bool{}, map[string]bool{"amd64p32": true, "armbe": true, "arm64be": true, "mips64p32": true, "mips64p32le": true, "ppc": true, "riscv": true, "s390": true, "sparc": true}
	for _, p := range ports {
		os[p.os] = true
		for _, a := range p.arches {
			arch[a] = true
		}
	}
	return os, arch
}()

var unix = kb.WordsOf(`aix android darwin dragonfly freebsd hurd illumos ios linux netbsd openbsd solaris`)

// set reports whether a tag holds.
func (c *config) set(tag string) bool {
	switch {
	case tag == c.os || tag == c.arch || c.tags[tag]:
		return true
	case tag == "gc" || tag == "cgo":
		return true
	case tag == "unix":
		return unix[c.os]
	case tag == "linux":
		return c.os == "android"
	case tag == "darwin":
		return c.os == "ios"
	case tag == "solaris":
		return c.os == "illumos"
	}
	// Every release so far, and those to come, since a file for a newer one is
	// what will be built.
	return strings.HasPrefix(tag, "go1.")
}

// takes reports whether a file belongs to a build.
func (c *config) takes(f *goFile) bool {
	os, arch := portOf(f.path)
	if os != "" && !c.set(os) || arch != "" && c.arch != arch {
		return false
	}
	if f.build == "" {
		return true
	}
	x, err := constraint.Parse("//go:build " + f.build)
	return err != nil || x.Eval(c.set)
}

// portOf returns the system and processor that a file's name asks for, each
// "" for any.
func portOf(p string) (os, arch string) {
	name := strings.TrimSuffix(strings.TrimSuffix(path.Base(p), ".go"), "_test")
	at := strings.IndexByte(name, '_')
	if at < 0 {
		return "", ""
	}
	parts := strings.Split(name[at+1:], "_")
	n := len(parts)
	if n >= 2 && knownOS[parts[n-2]] && knownArch[parts[n-1]] {
		return parts[n-2], parts[n-1]
	}
	if knownOS[parts[n-1]] {
		return parts[n-1], ""
	}
	if knownArch[parts[n-1]] {
		return "", parts[n-1]
	}
	return "", ""
}

// configFor returns a build that takes a file, the common ones first; false
// when none does, as for "ignore".
func configFor(f *goFile) (config, bool) {
	tags := map[string]bool{}
	if f.build != "" {
		x, err := constraint.Parse("//go:build " + f.build)
		if err != nil {
			return firstConfig, true
		}
		positive(x, true, tags)
	}
	for _, more := range []map[string]bool{nil, tags} {
		for _, p := range ports {
			for _, a := range p.arches {
				c := config{os: p.os, arch: a, tags: more}
				if c.takes(f) {
					return c, true
				}
			}
		}
		if tags["ignore"] || len(tags) == 0 {
			break
		}
	}
	return config{}, false
}

// positive collects the tags that stand in an expression without a negation.
func positive(x constraint.Expr, yes bool, into map[string]bool) {
	switch x := x.(type) {
	case *constraint.AndExpr:
		positive(x.X, yes, into)
		positive(x.Y, yes, into)
	case *constraint.OrExpr:
		positive(x.X, yes, into)
		positive(x.Y, yes, into)
	case *constraint.NotExpr:
		positive(x.X, !yes, into)
	case *constraint.TagExpr:
		if yes && !knownOS[x.Tag] && !knownArch[x.Tag] {
			into[x.Tag] = true
		}
	}
}
