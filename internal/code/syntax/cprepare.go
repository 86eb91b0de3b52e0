package syntax

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// cPrepare blanks what the grammars of C and C++ cannot read without knowing
// macros: attributes written as macros ("EXPORT int f(void)"), macros in
// place of a declaration, dead branches, and the directives around
// branches that are no whole statements, with all branches but one. The text
// keeps its length and its lines.
func cPrepare(text string) string {
	p := &cText{text: text}
	p.scan()
	p.branches()
	p.statements()
	if p.out == nil {
		return text
	}
	return string(p.out)
}

type cToken struct {
	start, end int
	kind       byte // 'i' a name, 'l' a literal, '#' a directive, 0 blanked, else the character
}

type cText struct {
	text   string
	tokens []cToken
	out    []byte
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

func (p *cText) word(i int) string { return p.text[p.tokens[i].start:p.tokens[i].end] }

// blank overwrites the tokens from a to b, exclusive, and what lies between.
func (p *cText) blank(a, b int) {
	if a >= b {
		return
	}
	p.white(p.tokens[a].start, p.tokens[b-1].end)
	for i := a; i < b; i++ {
		p.tokens[i].kind = 0
	}
}

// white overwrites bytes, except ends of lines and the "\\" before one.
func (p *cText) white(from, to int) {
	if p.out == nil {
		p.out = []byte(p.text)
	}
	for i := from; i < to; i++ {
		if c := p.out[i]; c != '\n' && c != '\r' && (c != '\\' || i+1 < len(p.out) && p.out[i+1] != '\n' && p.out[i+1] != '\r') {
			p.out[i] = ' '
		}
	}
}

func (p *cText) scan() {
	s := p.text
	fresh := true // nothing yet on this line
	for i := 0; i < len(s); {
		c := s[i]
		from := i
		switch {
		case c == '\n':
			fresh = true
			i++
			continue
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			i++
			continue
		case c == '/' && i+1 < len(s) && s[i+1] == '/':
			for i < len(s) && s[i] != '\n' {
				if s[i] == '\\' && i+1 < len(s) && s[i+1] == '\n' {
					i++
				}
				i++
			}
			continue
		case c == '/' && i+1 < len(s) && s[i+1] == '*':
			if k := strings.Index(s[i+2:], "*/"); k >= 0 {
				i += k + 4
			} else {
				i = len(s)
			}
			continue
		case c == '#' && fresh:
			i = p.directiveEnd(i)
			p.tokens = append(p.tokens, cToken{from, i, '#'})
			continue
		case c == '"' || c == '\'':
			i = p.stringEnd(i)
			p.tokens = append(p.tokens, cToken{from, i, 'l'})
		case isWord(c):
			for i < len(s) && (isWord(s[i]) || s[i] == '\'' && c >= '0' && c <= '9' && i+1 < len(s) && isWord(s[i+1])) {
				i++
			}
			kind := byte('i')
			if c >= '0' && c <= '9' {
				kind = 'l'
			}
			p.tokens = append(p.tokens, cToken{from, i, kind})
		default:
			i++
			p.tokens = append(p.tokens, cToken{from, i, c})
		}
		fresh = false
	}
}

// directiveEnd returns where a directive ends, which goes on over escaped line
// ends and block comments.
func (p *cText) directiveEnd(i int) int {
	s := p.text
	for i < len(s) && s[i] != '\n' {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '\n':
			i++
		case s[i] == '\\' && i+2 < len(s) && s[i+1] == '\r' && s[i+2] == '\n':
			i += 2
		case s[i] == '"':
			for i++; i < len(s) && s[i] != '"' && s[i] != '\n'; i++ {
				if s[i] == '\\' && i+1 < len(s) && s[i+1] != '\n' {
					i++
				}
			}
			if i < len(s) && s[i] == '\n' {
				continue
			}
		case s[i] == '/' && i+1 < len(s) && s[i+1] == '*':
			// The grammars stumble over comments in the text of a macro.
			if k := strings.Index(s[i+2:], "*/"); k >= 0 {
				p.white(i, i+k+4)
				i += k + 3
			}
		}
		i++
	}
	return min(i, len(s))
}

// stringEnd returns where the string or character that begins at i ends.
func (p *cText) stringEnd(i int) int {
	s, quote := p.text, p.text[i]
	if quote == '"' && i > 0 && s[i-1] == 'R' && len(p.tokens) > 0 && p.tokens[len(p.tokens)-1].end == i {
		if k := strings.IndexByte(s[i:min(len(s), i+20)], '('); k > 0 {
			if e := strings.Index(s[i:], ")"+s[i+1:i+k]+`"`); e > 0 {
				return i + e + k + 1
			}
		}
	}
	for i++; i < len(s) && s[i] != quote && s[i] != '\n'; i++ {
		if s[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(s))
}

var (
	// cQualifiers say nothing about the type; cBuiltin are types; cHands are
	// words at which a statement is left alone.
	cQualifiers = kb.WordsOf("static extern inline const volatile register restrict constexpr consteval constinit virtual explicit mutable thread_local _Thread_local __inline __inline__ __forceinline __extension__ _Noreturn __restrict __restrict__ typename auto_ptr_ __const noexcept")
	cBuiltin    = kb.WordsOf("void char short int long float double signed unsigned bool _Bool auto wchar_t size_t ssize_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t __int128 _Complex __signed__ char16_t char32_t")
	cHands      = kb.WordsOf("operator using friend requires concept namespace asm __asm__ static_assert _Static_assert goto return if for while switch do else case default public private protected new delete throw import module export __attribute__ __declspec alignas decltype typeof __typeof__ _Alignas defined try catch co_return")
	cTags       = kb.WordsOf("struct class union enum")
	cTrailing   = kb.WordsOf("const override final noexcept volatile throw try requires mutable __attribute__ __asm__ asm restrict")
	cMarks      = kb.WordsOf("__user __force __iomem __rcu __percpu __init __exit __must_check __maybe_unused __always_unused __read_mostly __always_inline __cold __hot __pure")
)

// shouted reports whether a name is written as macros are.
func shouted(s string) bool {
	if strings.HasPrefix(s, "__") {
		return true
	}
	upper := false
	for i := range len(s) {
		if s[i] >= 'a' && s[i] <= 'z' {
			return false
		}
		upper = upper || s[i] >= 'A' && s[i] <= 'Z'
	}
	return upper && len(s) > 1
}

// statements goes through the declarations outside of functions.
func (p *cText) statements() {
	t := slices.DeleteFunc(p.tokens, func(t cToken) bool { return t.kind == 0 || t.kind == '#' })
	p.tokens = t
	for i := range t {
		if t[i].kind == 'i' && cMarks[p.word(i)] {
			p.blank(i, i+1)
		}
	}
	t = slices.DeleteFunc(t, func(t cToken) bool { return t.kind == 0 })
	p.tokens = t
	var open []bool // for each brace around: that of a record
	for i := 0; i < len(t); {
		if t[i].kind == '}' {
			if n := len(open); n > 0 {
				record := open[n-1]
				open = open[:n-1]
				i++
				// "} name;" behind a record; a name space just ends.
				if record {
					i = p.tail(i)
				}
				continue
			}
			i++
			continue
		}
		from := i
		var assigned bool
		i, assigned = p.statementEnd(from, len(open) > 0)
		if i >= len(t) {
			break
		}
		switch t[i].kind {
		case '{':
			switch p.block(from, i) {
			case 'd':
				open = append(open, false)
				i++
			case 'r':
				open = append(open, true)
				i++
			default:
				if !assigned {
					p.declaration(from, i)
				}
				i = p.matching(i) + 1
				if assigned {
					i = p.tail(i)
				}
			}
		case '}':
			// Macros are left of a statement without an end.
			if i > from && t[from].kind == 'i' && shouted(p.word(from)) {
				p.blank(from, i)
			}
		default:
			if t[i].kind == ';' {
				p.declaration(from, i)
			}
			i++
		}
	}
}

// statementEnd returns the token that ends a statement, ";", "{" or "}" outside
// of parentheses, and whether something is assigned in it. braced says that
// braces are around, where "public:" ends one too.
func (p *cText) statementEnd(from int, braced bool) (i int, assigned bool) {
	t, paren := p.tokens, 0
	for i = from; i < len(t); i++ {
		switch t[i].kind {
		case '(', '[':
			paren++
		case ')', ']':
			paren--
		case '=':
			assigned = assigned || paren == 0
		case ':':
			if paren <= 0 && i == from+1 && braced && (i+1 >= len(t) || t[i+1].kind != ':') {
				return i, assigned
			}
		case ';', '}':
			if paren <= 0 {
				return i, assigned
			}
		case '{':
			if paren <= 0 {
				return i, assigned
			}
			i = p.matching(i) // a lambda, say
		}
	}
	return i, assigned
}

// matching returns the token that closes the brace at i.
func (p *cText) matching(i int) int {
	depth := 0
	for ; i < len(p.tokens); i++ {
		switch p.tokens[i].kind {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(p.tokens) - 1
}

// tail skips to behind the next ";".
func (p *cText) tail(i int) int {
	for k := i; k < len(p.tokens); k++ {
		switch p.tokens[k].kind {
		case ';':
			return k + 1
		case '{':
			k = p.matching(k)
		case '}':
			return k
		}
	}
	return len(p.tokens)
}

// behind returns the token behind the parentheses that open at i.
func (p *cText) behind(i, to int) int {
	depth := 0
	for ; i < to; i++ {
		switch p.tokens[i].kind {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return to
}
