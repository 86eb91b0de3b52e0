package chunk

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// shape reads a declaration that looks like a call: words of a type, a name,
// "(" and, in a later line at most, a body. It looks at most 20 lines and 2,000
// bytes ahead, so reading stays linear. owner is the name's qualification;
// types is how many words come before the name.
func shape(w *window, i int, s string, open bool) (name string, owner []string, types int) {
	p := strings.IndexByte(s, '(')
	if p <= 0 || p > 400 {
		return "", nil, 0
	}
	head := strings.TrimRight(s[:p], " \t")
	for k := 0; k < len(head); k++ {
		if c := head[k]; !isWord(c) && strings.IndexByte(" \t*&:<>,[]~?.", c) < 0 {
			return "", nil, 0
		}
	}
	from := len(head)
	for from > 0 && (isWord(head[from-1]) || head[from-1] == ':' || head[from-1] == '~') {
		from--
	}
	full := head[from:]
	if from > 0 && strings.IndexByte(" \t*&>]", head[from-1]) < 0 || full == "" || strings.Contains(full, ":::") {
		return "", nil, 0
	}
	owner, name = owners(full)
	if strings.Count(full, ":") != 2*len(owner) {
		return "", nil, 0
	}
	bare := strings.TrimPrefix(name, "~")
	if plain(bare) == "" || notNames[bare] {
		return "", nil, 0
	}
	before := strings.Fields(head[:from])
	if len(before) > 0 && notTypes[before[0]] {
		return "", nil, 0
	}
	if !bodied(w, i, s[p:], open) {
		return "", nil, 0
	}
	return name, owner, len(before)
}

// bodied reports whether s, which begins with the "(" of parameters on line i,
// goes on to a body. open takes a ";" for one: a method of an interface.
func bodied(w *window, i int, s string, open bool) bool {
	depth, seen := 0, 0
	for n := 0; n < 20 && seen < 2000; n++ {
		for k := 0; k < len(s) && k < 2000; k++ {
			switch c := s[k]; c {
			case '(', '[':
				depth++
			case ')', ']':
				depth--
			case '{':
				if depth == 0 {
					return true
				}
			case ';':
				return open && depth == 0
			case '=':
				if depth == 0 {
					return strings.HasPrefix(s[k:], "=>")
				}
			case '/':
				if strings.HasPrefix(s[k:], "//") {
					k = len(s)
				}
			case '#', '"':
				if depth == 0 {
					return false
				}
			}
		}
		seen += len(s) + 1
		i++
		if i >= w.ls.len() {
			return false
		}
		s = w.ls.text(i)
	}
	return false
}

var (
	notNames = kb.WordsOf(`if for while switch return catch sizeof typeof do else throw new delete await yield using lock
		synchronized foreach function super this assert defined alignof decltype static_assert when with match select fixed
		unless until elseif elif case in is as and or not print echo require include import`)
	notTypes = kb.WordsOf(`return else new throw case goto delete await yield using typedef assert if for while switch do
		import package export default operator var let const in is`)
)
