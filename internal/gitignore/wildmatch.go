package gitignore

import "strings"

// Glob is a compiled gitignore pattern. It is a list of states that is run as
// an automaton, so that a hostile pattern of many stars costs no more than
// len(pattern) × len(text); backtracking matchers take exponential time.
type Glob struct {
	literal string // the whole pattern, when it has no special character
	suffix  string // what follows a leading star, when nothing else is special
	states  []globState
	never   bool // malformed: an open bracket, a trailing backslash
}

type globOp uint8

const (
	opByte  globOp = iota // this byte
	opAny                 // ?: one byte that is not a slash
	opClass               // [...]: one byte of the set, never a slash
	opStar                // *: bytes that are not a slash, or none
	opAll                 // ** at the end: any bytes
	opDirs                // **/: nothing, or any bytes up to and including a slash
)

type globState struct {
	op  globOp
	b   byte
	set *[256]bool
}

// Compile compiles a pattern; inPath says that it is matched against a
// path, where two stars between slashes cross directories. Patterns are made
// of bytes, as git has it.
func Compile(p string, inPath bool) Glob {
	if !strings.ContainsAny(p, `*?[\`) {
		return Glob{literal: p}
	}
	if !inPath && len(p) > 1 && p[0] == '*' && !strings.ContainsAny(p[1:], `*?[\`) {
		return Glob{suffix: p[1:]}
	}
	var g Glob
	for i := 0; i < len(p); {
		switch c := p[i]; c {
		case '*':
			j := i
			for j < len(p) && p[j] == '*' {
				j++
			}
			atStart := i == 0 || p[i-1] == '/'
			rest := p[j:]
			switch {
			case j-i < 2 || !inPath || !atStart:
				g.states = append(g.states, globState{op: opStar})
			case rest == "":
				g.states = append(g.states, globState{op: opAll})
			case rest[0] == '/':
				g.states = append(g.states, globState{op: opDirs})
				j++
			case strings.HasPrefix(rest, `\/`):
				g.states = append(g.states, globState{op: opDirs})
				j += 2
			default:
				g.states = append(g.states, globState{op: opStar})
			}
			i = j
		case '?':
			g.states = append(g.states, globState{op: opAny})
			i++
		case '[':
			s, n := parseClass(p[i:])
			if n == 0 {
				return Glob{never: true}
			}
			g.states = append(g.states, globState{op: opClass, set: s})
			i += n
		case '\\':
			if i+1 == len(p) {
				return Glob{never: true}
			}
			g.states = append(g.states, globState{op: opByte, b: p[i+1]})
			i += 2
		default:
			g.states = append(g.states, globState{op: opByte, b: c})
			i++
		}
	}
	return g
}

// parseClass reads a bracket expression at the start of p and returns the set
// and its length in bytes; 0 means that it is malformed.
func parseClass(p string) (*[256]bool, int) {
	var s [256]bool
	i := 1
	negate := false
	if i < len(p) && (p[i] == '!' || p[i] == '^') {
		negate = true
		i++
	}
	prev := -1 // the lower end, should a range follow
	for first := true; ; first = false {
		if i >= len(p) {
			return nil, 0
		}
		c := p[i]
		switch {
		case c == ']' && !first:
			if negate {
				for b := range s {
					s[b] = !s[b]
				}
			}
			s['/'] = false
			return &s, i + 1
		case c == '-' && prev >= 0 && i+1 < len(p) && p[i+1] != ']':
			i++
			if p[i] == '\\' {
				if i++; i >= len(p) {
					return nil, 0
				}
			}
			for b := prev; b <= int(p[i]); b++ {
				s[b] = true
			}
			prev = -1
			i++
		case c == '[' && strings.HasPrefix(p[i:], "[:"):
			end := strings.IndexByte(p[i+2:], ']')
			if end < 0 {
				return nil, 0
			}
			name := p[i+2 : i+2+end]
			if !strings.HasSuffix(name, ":") { // "[:" without ":]" is an ordinary bracket
				s['['] = true
				prev = '['
				i++
				continue
			}
			in, ok := posixClasses[strings.TrimSuffix(name, ":")]
			if !ok {
				return nil, 0
			}
			for b := range 128 {
				if in(byte(b)) {
					s[b] = true
				}
			}
			prev = -1
			i += 2 + end + 1
		default:
			if c == '\\' {
				if i++; i >= len(p) {
					return nil, 0
				}
				c = p[i]
			}
			s[c] = true
			prev = int(c)
			i++
		}
	}
}

func between(lo, hi byte) func(byte) bool { return func(c byte) bool { return lo <= c && c <= hi } }
func oneOf(set string) func(byte) bool {
	return func(c byte) bool { return strings.IndexByte(set, c) >= 0 }
}
func either(fs ...func(byte) bool) func(byte) bool {
	return func(c byte) bool {
		for _, f := range fs {
			if f(c) {
				return true
			}
		}
		return false
	}
}

var (
	isUpper = between('A', 'Z')
	isLower = between('a', 'z')
	isDigit = between('0', '9')
	isAlpha = either(isUpper, isLower)
	isAlnum = either(isAlpha, isDigit)
	isGraph = between('!', '~')
)

var posixClasses = map[string]func(byte) bool{
	"alpha": isAlpha, "digit": isDigit, "alnum": isAlnum, "upper": isUpper, "lower": isLower,
	"space": oneOf(" \t\n\v\f\r"), "blank": oneOf(" \t"), "graph": isGraph, "print": between(' ', '~'),
	"cntrl": either(between(0, 31), between(127, 127)), "xdigit": either(isDigit, between('a', 'f'), between('A', 'F')),
	"punct": func(c byte) bool { return isGraph(c) && !isAlnum(c) },
}

// Match reports whether the whole text matches.
func (g *Glob) Match(text string) bool {
	switch {
	case g.never:
		return false
	case g.literal != "":
		return text == g.literal
	case g.suffix != "":
		return strings.HasSuffix(text, g.suffix)
	case len(g.states) == 0:
		return text == ""
	}
	// State i means that states[:i] are matched. A second row remembers which
	// opDirs are in the middle of a directory name.
	n := len(g.states)
	var buf [4][64]bool
	rows := [4][]bool{}
	for i := range rows {
		if n < 64 {
			rows[i] = buf[i][:n+1]
		} else {
			rows[i] = make([]bool, n+1)
		}
	}
	cur, next, in, nextIn := rows[0], rows[1], rows[2], rows[3]
	enter := func(row []bool, i int) { // and what is reached without a byte
		for ; !row[i]; i++ {
			row[i] = true
			if i == n || g.states[i].op < opStar {
				return
			}
		}
	}
	enter(cur, 0)
	for t := 0; t < len(text); t++ {
		c := text[t]
		clear(next)
		clear(nextIn)
		alive := false
		for i := range g.states {
			if !cur[i] && !in[i] {
				continue
			}
			switch s := &g.states[i]; s.op {
			case opByte:
				if c == s.b {
					enter(next, i+1)
					alive = true
				}
			case opAny:
				if c != '/' {
					enter(next, i+1)
					alive = true
				}
			case opClass:
				if s.set[c] {
					enter(next, i+1)
					alive = true
				}
			case opStar:
				if c != '/' {
					enter(next, i)
					alive = true
				}
			case opAll:
				enter(next, i)
				alive = true
			case opDirs:
				nextIn[i] = true
				alive = true
				if c == '/' {
					enter(next, i+1)
				}
			}
		}
		if !alive {
			return false
		}
		cur, next = next, cur
		in, nextIn = nextIn, in
	}
	return cur[n]
}
