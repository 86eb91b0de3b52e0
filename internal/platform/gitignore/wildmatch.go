package gitignore

import (
	"math/bits"
	"strings"
)

// Glob is a compiled gitignore pattern. It is a list of states that is run as
// an automaton, so that a hostile pattern of many stars costs no more than
// len(pattern) × len(text); backtracking matchers take exponential time.
type Glob struct {
	literal string // the whole pattern, when it has no special character
	suffix  string // what follows a leading star, when nothing else is special
	tail    string // the bytes that every match ends in
	states  []globState
	never   bool // malformed: an open bracket, a trailing backslash
}

type globOp uint8

const (
	opByte   globOp = iota // this byte
	opAny                  // ?: one byte that is not a slash
	opClass                // [...]: one byte of the set, never a slash
	opStar                 // *: bytes that are not a slash, or none
	opAll                  // ** at the end: any bytes
	opDirs                 // **/: nothing, or what opInDirs takes
	opInDirs               // follows every opDirs: any bytes up to and including a slash
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
				g.states = append(g.states, globState{op: opDirs}, globState{op: opInDirs})
				j++
			case strings.HasPrefix(rest, `\/`):
				g.states = append(g.states, globState{op: opDirs}, globState{op: opInDirs})
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
	end := len(g.states)
	for end > 0 && g.states[end-1].op == opByte {
		end--
	}
	tail := make([]byte, 0, len(g.states)-end)
	for _, st := range g.states[end:] {
		tail = append(tail, st.b)
	}
	g.tail = string(tail)
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
	ok, _ := g.match(text)
	return ok
}

// match is Match; steps is how often a state was held against a byte.
func (g *Glob) match(text string) (ok bool, steps int) {
	switch {
	case g.never:
		return false, 0
	case g.literal != "":
		return text == g.literal, 0
	case g.suffix != "":
		return strings.HasSuffix(text, g.suffix), 0
	case !strings.HasSuffix(text, g.tail):
		return false, 0
	}
	var room [2 * inPlace]uint64
	at, steps := g.run(g.start(room[:inPlace]), text, room[inPlace:])
	return g.done(at), steps
}

// A place is how far an automaton has come: bit i means that states[:i] are
// matched. An empty one has failed.
type place []uint64

// inPlace is how many words of a place need no memory of their own.
const inPlace = 4

// start returns the place before the first byte, in room if it fits there.
func (g *Glob) start(room []uint64) place {
	n := len(g.states)/64 + 1
	if n > len(room) {
		room = make([]uint64, n)
	}
	at := place(room[:n])
	g.enter(at, 0)
	return at
}

// done reports whether nothing is left to match.
func (g *Glob) done(at place) bool {
	n := len(g.states)
	return len(at) > 0 && at[n/64]&(1<<(n%64)) != 0
}

// enter adds state i, and what is reached from it without a byte.
func (g *Glob) enter(at place, i int) {
	for at[i/64]&(1<<(i%64)) == 0 {
		at[i/64] |= 1 << (i % 64)
		if i == len(g.states) {
			return
		}
		switch g.states[i].op {
		case opStar, opAll:
			i++
		case opDirs:
			at[(i+1)/64] |= 1 << ((i + 1) % 64)
			i += 2
		default:
			return
		}
	}
}

// run takes the bytes of a text from a place, which it overwrites, and returns
// the place behind them: empty as soon as nothing can match any more. Room is
// for a second place.
func (g *Glob) run(at place, text string, room []uint64) (_ place, steps int) {
	if len(at) == 0 {
		return nil, 0
	}
	next := place(room)
	if len(room) < len(at) {
		next = make(place, len(at))
	}
	next = next[:len(at)]
	for t := 0; t < len(text); t++ {
		c := text[t]
		clear(next)
		alive := false
		for w, word := range at {
			for ; word != 0; word &= word - 1 {
				i := w*64 + bits.TrailingZeros64(word)
				if i == len(g.states) {
					continue
				}
				steps++
				to := -1
				switch s := &g.states[i]; s.op {
				case opByte:
					if c == s.b {
						to = i + 1
					}
				case opAny:
					if c != '/' {
						to = i + 1
					}
				case opClass:
					if s.set[c] {
						to = i + 1
					}
				case opStar:
					if c != '/' {
						to = i
					}
				case opAll:
					to = i
				case opInDirs:
					next[i/64] |= 1 << (i % 64)
					alive = true
					if c == '/' {
						to = i + 1
					}
				}
				if to >= 0 {
					g.enter(next, to)
					alive = true
				}
			}
		}
		if !alive {
			return nil, steps
		}
		at, next = next, at
	}
	return at, steps
}
