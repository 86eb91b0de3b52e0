package syntax

import (
	"slices"
	"strings"
)

// block says what the brace behind a head opens: 'd' a name space, 'r' a
// record, 'f' anything else. Macros in the head of a record are blanked.
func (p *cText) block(from, to int) byte {
	t := p.tokens
	tag, paren := -1, 0
	from = p.template(from, to)
	for i := from; i < to; i++ {
		switch t[i].kind {
		case '(':
			paren++
		case ')':
			paren--
		case 'i':
			switch w := p.word(i); {
			case w == "namespace":
				return 'd'
			case w == "extern" && i+2 == to && t[i+1].kind == 'l':
				return 'd'
			case paren == 0 && cTags[w] && tag < 0:
				tag = i
			}
		case '=':
			if paren == 0 {
				return 'f'
			}
		}
	}
	if tag < 0 {
		return 'f'
	}
	// The names behind the tag: macros, then the name.
	enum := p.word(tag) == "enum"
	i := tag + 1
	if enum && i < to && t[i].kind == 'i' && cTags[p.word(i)] {
		i++
	}
	items, i := p.names(i, to)
	if i < to && t[i].kind != ':' && t[i].kind != '<' && !(t[i].kind == 'i' && p.word(i) == "final") && t[i].kind != '[' {
		return 'f' // a function that returns one
	}
	if n := len(items); n > 0 && items[n-1].to-items[n-1].from > 1 && t[items[n-1].from+1].kind == '(' {
		return 'f'
	}
	if n := len(items); n > 1 {
		name := n - 1
		if shouted(p.word(items[name].from)) && !shouted(p.word(items[0].from)) {
			name = 0
		}
		for k, x := range items {
			if k != name {
				p.blank(x.from, x.to)
			}
		}
	}
	for i := from; i < tag; i++ {
		if w := p.word(i); t[i].kind == 'i' && w != "typedef" && !cQualifiers[w] && !cHands[w] {
			k := i + 1
			if k < tag && t[k].kind == '(' {
				k = p.behind(k, tag)
			}
			p.blank(i, k)
			i = k - 1
		}
	}
	if enum {
		return 'f'
	}
	return 'r'
}

// names returns the names from token i on that may be that of a record, with
// their arguments, and the token behind them.
func (p *cText) names(i, to int) (items []cItem, behind int) {
	t := p.tokens
	for i < to && t[i].kind == 'i' && p.word(i) != "final" {
		k, w := i+1, p.word(i)
		if k < to && t[k].kind == '(' {
			k = p.behind(k, to)
		}
		for k+2 < to && t[k].kind == ':' && t[k+1].kind == ':' && t[k+2].kind == 'i' {
			k += 3
		}
		if w != "__attribute__" && w != "alignas" && w != "__declspec" && w != "_Alignas" {
			items = append(items, cItem{from: i, to: k})
		}
		i = k
	}
	return items, i
}

// template returns the token behind "template <…>".
func (p *cText) template(from, to int) int {
	t := p.tokens
	for from+1 < to && t[from].kind == 'i' && p.word(from) == "template" && t[from+1].kind == '<' {
		from = p.angle(from+1, to)
	}
	return from
}

// angle returns the token behind the ">" that closes the "<" at i.
func (p *cText) angle(i, to int) int {
	depth := 0
	for ; i < to; i++ {
		switch p.tokens[i].kind {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return to
}

// cItem is a piece of the head of a declaration.
type cItem struct {
	kind     byte // 'w' a name, 'b' a built-in type, 'g' a name with parentheses, '*'
	from, to int
}

// declaration blanks the macros among the words of a declaration without a
// body of its own: the head of a function, a prototype, a variable.
func (p *cText) declaration(from, to int) {
	from = p.template(from, to)
	items, stopped, ok := p.items(from, to)
	if !ok {
		return
	}
	function := cNamed(items)
	if function < 0 {
		// A macro before a whole declaration: "MODULE(x) static int y;".
		if len(items) > 2 && items[0].kind == 'g' && (shouted(p.word(items[0].from)) || p.lines(items[0].to-1, items[0].to)) {
			p.blank(items[0].from, items[0].to)
			p.reduce(items[1:len(items)-1], items[len(items)-1])
		} else if n := len(items); n > 2 && items[n-1].kind == 'w' {
			p.reduce(items[:n-1], items[n-1])
		}
		return
	}
	f := items[function]
	before := items[:function]
	// "int x GUARDED_BY(mu);"
	if shouted(p.word(f.from)) && function >= 2 && before[function-1].kind == 'w' && !shouted(p.word(before[function-1].from)) {
		types := 0
		for _, x := range before[:function-1] {
			if x.kind == 'b' || x.kind == 'w' {
				types++
			}
		}
		if types > 0 {
			p.blank(f.from, f.to)
			return
		}
	}
	p.reduce(before, f)
	// Behind the parameters.
	rest := items[function+1:]
	for _, x := range rest {
		if x.kind == '*' || x.kind == 'b' || !shouted(p.word(x.from)) && !(x.kind == 'g' && len(rest) == 1 && stopped == to) || cTrailing[p.word(x.from)] {
			return
		}
	}
	for _, x := range rest {
		p.blank(x.from, x.to)
	}
}

// cNamed returns which item is the function: the first name with parentheses
// that has a type before it; -1 without one.
func cNamed(items []cItem) int {
	typed := false
	for k, x := range items {
		if x.kind != 'g' {
			typed = true
		} else if typed {
			return k
		}
	}
	return -1
}

// items splits the head of a declaration, up to the token where it stopped;
// false for a statement that is left alone.
func (p *cText) items(from, to int) (items []cItem, stopped int, ok bool) {
	t := p.tokens
	for i := from; ; {
		if i >= to {
			return items, i, true
		}
		k, kind := i+1, byte('*')
		switch t[i].kind {
		case 'i':
			switch w := p.word(i); {
			case cHands[w] || w == "typedef":
				return nil, i, false
			case cQualifiers[w]:
				i++
				continue
			case cBuiltin[w]:
				kind = 'b'
			case cTags[w]: // "struct x" is a type
				if k >= to || t[k].kind != 'i' {
					return nil, i, false
				}
				kind, k = 'b', i+2
			default:
				if k, ok = p.qualified(k, to); !ok {
					return nil, i, false
				}
				kind = 'w'
				if k < to && t[k].kind == '(' {
					kind, k = 'g', p.behind(k, to)
				}
			}
		case '*', '&':
		case '(':
			// "int (f)(int)", where a macro f is not to be taken for it.
			if i+3 >= to || t[i+1].kind != 'i' || t[i+2].kind != ')' || t[i+3].kind != '(' || len(items) == 0 {
				return items, i, true
			}
			i++
			kind, k = 'g', p.behind(i+2, to)
		default:
			return items, i, true
		}
		items = append(items, cItem{kind, i, k})
		i = k
	}
}

// qualified returns the token behind "<…>" and "::name", as often as they follow.
func (p *cText) qualified(k, to int) (int, bool) {
	t := p.tokens
	for k < to {
		if t[k].kind == '<' {
			end := p.angle(k, to)
			for ; k < end; k++ {
				if t[k].kind == ';' {
					return k, false
				}
			}
			continue
		}
		if k+2 >= to || t[k].kind != ':' || t[k+1].kind != ':' || t[k+2].kind != 'i' && t[k+2].kind != '~' {
			break
		}
		if t[k+2].kind == '~' {
			k++ // A::~A
			if k+2 >= to || t[k+2].kind != 'i' {
				return k, false
			}
		}
		if cHands[p.word(k+2)] {
			return k, false
		}
		k += 3
	}
	return k, true
}

// lines reports whether two tokens lie on different lines.
func (p *cText) lines(a, b int) bool {
	return b < len(p.tokens) && strings.Contains(p.text[p.tokens[a].end:p.tokens[b].start], "\n")
}

// maker reports whether a name is that of a constructor or destructor outside
// its class: A::A, A<T>::~A.
func (p *cText) maker(x cItem) bool {
	var names []string
	for i := x.from; i < x.to && p.tokens[i].kind != '('; i++ {
		switch k := p.tokens[i].kind; k {
		case '<':
			i = p.angle(i, x.to) - 1
		case 'i':
			names = append(names, p.word(i))
		}
	}
	n := len(names)
	return n > 1 && names[n-1] == names[n-2]
}

// attributeWords are parts of macros that are attributes of a declaration.
var attributeWords = []string{"API", "EXPORT", "INLINE", "CALL", "PUBLIC", "ATTR", "EXTERN", "DECL", "NODISCARD", "LIKELY"}

// reduce leaves one type before a name: the text between the last "*" and
// the name goes, and so do names too many, those that look like macros first.
func (p *cText) reduce(before []cItem, name cItem) {
	for k := len(before) - 1; k >= 0; k-- {
		if before[k].kind == '*' {
			for _, x := range before[k+1:] {
				if x.kind == 'w' || x.kind == 'g' {
					p.blank(x.from, x.to)
				}
			}
			before = before[:k]
			break
		}
	}
	need := 1
	if p.maker(name) {
		need = 0
	}
	var names []cItem
	for _, x := range before {
		switch x.kind {
		case 'b':
			need = 0
		case 'w', 'g':
			names = append(names, x)
		}
	}
	extra := len(names) - need
	for _, round := range []func(x cItem) bool{
		func(x cItem) bool { return x.kind == 'g' },
		func(x cItem) bool {
			w := p.word(x.from)
			return strings.HasPrefix(w, "__") || shouted(w) && slices.ContainsFunc(attributeWords,
				func(s string) bool { return strings.Contains(w, s) })
		},
		func(x cItem) bool { return shouted(p.word(x.from)) },
		func(x cItem) bool { return true },
	} {
		for k := range names {
			if extra > 0 && names[k].kind != 0 && round(names[k]) {
				p.blank(names[k].from, names[k].to)
				names[k].kind = 0
				extra--
			}
		}
	}
}
