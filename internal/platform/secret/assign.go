package secret

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

func allWords() []*word {
	words := append(tokenWords(), blockWords()...)
	for _, v := range lists()["vendors"] {
		words = append(words, &word{text: v, vendor: true})
	}
	for _, h := range lists()["hints"] {
		words = append(words, &word{text: h})
	}
	return words
}

// reach is the largest distance in bytes from a name to its value.
const reach = 72

// assigned judges the value that follows a name which contains the word.
func (f *finder) assigned(w *word, start, end int) {
	s := f.text
	from, to := start, end
	for from > 0 && start-from < 80 && isIdent(s[from-1]) {
		from--
	}
	to = span(s, to, 60, isIdent)
	if w.vendor && !standsAlone(s, start, end) {
		return
	}
	name := s[from:to]
	if before := strings.ToLower(s[max(0, from-8):from]); strings.HasSuffix(before, "public ") {
		return // the first line of a public key
	}
	strength := nameStrength(name, w.vendor)
	if len(name) > 30 && looksRandom(name, 0.2) {
		return // letters that happen to spell a word
	}
	if strength == 0 || from == f.last && !w.vendor {
		return
	}
	f.last = from
	if f.weak(name, to) {
		return
	}
	limit := min(len(s), to+reach)
	// The value may be on the next line when nothing else is on this one.
	line := strings.IndexByte(s[to:limit], '\n')
	if line >= 0 {
		limit = to + line
		next := strings.TrimLeft(s[limit+1:min(len(s), limit+60)], " \t-")
		if isGlue(s[to:limit]) && (strings.TrimSpace(s[to:limit]) != "" || strings.HasPrefix(next, "value")) {
			limit = len(s)
			if next := strings.IndexByte(s[to+line+1:], '\n'); next >= 0 {
				limit = to + line + 1 + next
			}
			limit = min(limit, to+line+1+reach)
		}
	}
	// The name itself may run into the value: "token.Parse", "key-85e4".
	for i, tried := to, 0; i < limit && tried < 6; tried++ {
		for i < limit && !isValue(s[i]) {
			i++
		}
		begin := i
		i = span(s, i, 400, isValue)
		if begin == to && isIdentOrMark(s[begin]) { // nothing between: no assignment
			continue
		}
		if begin >= limit {
			return
		}
		between := s[to:begin]
		service := strength == vendorName && nameStrength(name, false) == 0
		switch {
		case strength == anyName && strings.IndexFunc(between, unicode.IsLetter) >= 0:
			return // "key" alone means little: its value follows at once
		case (strength == anyName || service) && !strings.ContainsAny(between+s[begin:begin+1], "=:,(>|\"'`"):
			continue // prose about a service
		case service && !isGlue(between):
			return
		}
		if f.value(name, strength, begin, i) {
			return
		}
	}
}

// isIdentOrMark reports whether c goes on a name rather than giving it a value.
func isIdentOrMark(c byte) bool { return c != '=' && c != ':' && c != '|' && c != '?' }

// value masks s[begin:end] if it is a credential for a name of that strength.
func (f *finder) value(name string, strength, begin, end int) bool {
	s := f.text
	for begin < end && strings.IndexByte("=:/.,+-|!#&%@^*?", s[begin]) >= 0 {
		begin++
	}
	for end > begin && strings.IndexByte(".,:;!?", s[end-1]) >= 0 {
		end--
	}
	if strings.HasSuffix(strings.ToLower(s[max(0, begin-6):begin]), "basic ") {
		return false // basic judges it
	}
	// An expression: a call, an index, a member.
	if end < len(s) && strings.IndexByte("([{", s[end]) >= 0 {
		return false
	}
	v := s[begin:end]
	least, ratio := 16, 0.2
	if strength >= vendorName {
		least, ratio = 14, 0.14
	} else if strength == strongName && len(v) < 16 && begin > 0 && strings.IndexByte("\"'`", s[begin-1]) >= 0 {
		least, ratio = 10, 0.3
	}
	if len(v) < least || len(v) < 16 && isNumber(v) || isPlaceholder(v) || manuals[v] || isReference(s, begin, v) {
		return false
	}
	switch {
	case isUUID(v):
		if strength < strongName {
			return false
		}
	case all(v, isDigit):
		// An account's number is as good as its name.
		if strength < vendorName || len(v) < 15 ||
			nameStrength(name, false) == 0 && !strings.Contains(strings.ToLower(name), "client") {
			return false
		}
	case all(v, isHex) && strength < strongName:
		return false
	case all(v, isHex):
		if containsAny(strings.ToLower(f.line(begin)), "hashes") || distinct(v) < 6 {
			return false
		}
	case !looksRandom(v, ratio) || longestChunk(v) < 8:
		return false
	}
	if isSequence(v) {
		return false
	}
	f.add(begin, end, kindAssignment)
	return true
}

// isNumber reports whether v is a number with an exponent.
func isNumber(v string) bool {
	m, e, ok := strings.Cut(strings.ToLower(v), "e")
	e = strings.TrimLeft(e, "+-")
	return ok && m != "" && e != "" && all(strings.Replace(m, ".", "", 1), isDigit) && all(e, isDigit)
}

// line returns the text before i on its line.
func (f *finder) line(i int) string {
	return f.text[max(strings.LastIndexByte(f.text[:i], '\n')+1, i-120):i]
}

// Strengths of names.
const (
	anyName    = 1 // "key", "auth"
	strongName = 2 // "apiKey", "client_secret", "password"
	vendorName = 3 // the name of a service in it
)

var (
	qualified = set("qualified")
	harmless  = set("harmless")
	glue      = set("glue")
)

// nameStrength returns how surely a name is that of a credential; 0 is not at all.
func nameStrength(name string, vendor bool) int {
	words := wordsOf(name)
	strength := 0
	for i, w := range words {
		switch w {
		case "public", "pub", "publishable":
			if !vendor {
				return 0
			}
		case "key", "keys":
			strength = max(strength, anyName)
			if i > 0 && qualified[words[i-1]] || i > 1 && qualified[words[i-2]] {
				strength = strongName
			}
		case "auth":
			strength = max(strength, anyName)
		case "authorization", "bearer", "webhook", "dsn", "pass", "pwd":
			strength = strongName
		default:
			if harmless[w] {
				return 0
			}
			if containsAny(w, "strong") {
				strength = strongName
			}
		}
	}
	if vendor {
		return vendorName
	}
	return strength
}

// wordsOf splits a name at its marks and humps, in lower case.
func wordsOf(name string) []string {
	var out []string
	begin := 0
	cut := func(i int) {
		if i > begin {
			out = append(out, strings.ToLower(name[begin:i]))
		}
		begin = i
	}
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case !isAlnum(c):
			cut(i)
			begin = i + 1
		case i > 0 && isUpper(c) && (isLower(name[i-1]) || isDigit(name[i-1])):
			cut(i)
		case i > 1 && isLower(c) && isUpper(name[i-1]) && isUpper(name[i-2]):
			cut(i - 1)
		}
	}
	cut(len(name))
	return out
}

// standsAlone reports whether the word at s[start:end] is a word of its own in
// the name around it: "lobKey" is of Lob, "blob" and "global" are not.
func standsAlone(s string, start, end int) bool {
	if start > 0 && isLetter(s[start-1]) && (isLower(s[start]) || isUpper(s[start-1])) {
		return false
	}
	if end < len(s) && isLetter(s[end]) && end-start < 5 && (isLower(s[end]) || isUpper(s[end-1])) {
		return false
	}
	return true
}

// isGlue reports whether s consists of marks and the words of declarations.
func isGlue(s string) bool {
	for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return r >= 0x80 || !isAlnum(byte(r)) }) {
		if !glue[w] {
			return false
		}
	}
	return true
}

// isValue reports whether c may be part of a value that looks random.
func isValue(c byte) bool { return isAlnum(c) || strings.IndexByte("_-+/=.~%:|!@#$^&*?", c) >= 0 }

// isReference reports whether a value refers to a credential instead of being
// one: a variable, a template, a path, an address, a hash.
func isReference(s string, begin int, v string) bool {
	follows := func(mark string) bool { return strings.HasSuffix(s[:begin], mark) }
	if slices.ContainsFunc([]string{"$", "${", "{{", "#{"}, follows) ||
		strings.Contains(v, "://") || strings.HasPrefix(v, "//") || strings.Contains(v, "$") {
		return true
	}
	lower := strings.ToLower(v)
	begins := func(p string) bool { return strings.HasPrefix(lower, p) }
	if slices.ContainsFunc(lists()["references"], begins) {
		return true
	}
	if strings.HasPrefix(lower, "0x") && len(v) == 42 {
		return true // the address of a contract or account
	}
	if i := strings.LastIndexByte(v, '@'); i >= 0 && len(v)-i == 41 && all(v[i+1:], isHex) {
		return true // an action, pinned to a commit
	}
	n := len(v)
	return strings.Count(v, "/") > 1+n/16 || strings.Count(v, ".") > 1+n/24 || strings.Count(v, ":") > 1 || strings.Count(v, "@") > 1
}

func isPlaceholder(v string) bool {
	if strings.HasSuffix(v, "EXAMPLEKEY") && len(v) >= 40 {
		return false // as long as a true one
	}
	lower := strings.ToLower(v)
	return containsAny(lower, "placeholders") ||
		slices.ContainsFunc([]string{"your", "my-", "my_", "test-"}, func(p string) bool { return strings.HasPrefix(lower, p) })
}

// isSequence reports whether v contains a run of the keyboard or the alphabet, as
// values do that people make up.
func isSequence(v string) bool { return containsAny(strings.ToLower(v), "sequences") }

func isUUID(v string) bool {
	if len(v) != 36 {
		return false
	}
	for i := 0; i < 36; i++ {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (v[i] == '-') || !dash && !isHex(v[i]) {
			return false
		}
	}
	return true
}

// looksRandom reports whether v is no word and no name: letters and digits, or
// humps that no word has, take turns at least at that share of its places. In
// random base 62 that is 0.43 of them, in hexadecimal 0.47, in identifiers
// with digits below 0.2. Shannon's entropy alone does not separate them: a
// long identifier has 3.5 bits a character, and so has a key of 16.
func looksRandom(v string, ratio float64) bool {
	turns, letters, digits, n := 0, 0, 0, 0
	var prev byte
	for i := 0; i < len(v); i++ {
		c := v[i]
		if !isAlnum(c) {
			prev = 0
			continue
		}
		n++
		if isDigit(c) {
			digits++
		} else {
			letters++
		}
		if prev != 0 && (isDigit(c) != isDigit(prev) || isUpper(c) && isLower(prev)) {
			turns++
		}
		prev = c
	}
	if n < 10 || letters == 0 || n*10 < len(v)*7 ||
		digits == 0 && (n < 16 || max(ratio*1.4, 0.25)*float64(n) > float64(turns)) {
		return false
	}
	return float64(turns) >= ratio*float64(n) && entropy(v) >= 2.7 && !isHumps(v)
}

// isHumps reports whether v is words that begin with capitals, for the most
// part: "InvalidUtf8InPathParam".
func isHumps(v string) bool {
	in, capitals := 0, false
	for i := 0; i < len(v); {
		j := i
		if isUpper(v[j]) {
			j++
		}
		for j < len(v) && isLower(v[j]) {
			j++
		}
		if isUpper(v[i]) && j-i >= 3 || !isUpper(v[i]) && j-i >= 4 {
			in += j - i
		}
		capitals = capitals || isUpper(v[i])
		i = max(j, i+1)
	}
	return capitals && 10*in >= 7*len(v)
}

// longestChunk returns the length of the longest run of letters and digits.
func longestChunk(v string) int {
	longest := 0
	for w := range strings.FieldsFuncSeq(v, func(r rune) bool { return r >= 0x80 || !isAlnum(byte(r)) }) {
		longest = max(longest, len(w))
	}
	return longest
}

func distinct(v string) int {
	var seen [256]bool
	n := 0
	for i := 0; i < len(v); i++ {
		if !seen[v[i]] {
			seen[v[i]] = true
			n++
		}
	}
	return n
}

// entropy is Shannon's, of the characters of v, in bits a character.
func entropy(v string) float64 {
	var counts [256]int
	for i := 0; i < len(v); i++ {
		counts[v[i]]++
	}
	h := 0.0
	for _, c := range counts {
		if c > 0 {
			p := float64(c) / float64(len(v))
			h -= p * math.Log2(p)
		}
	}
	return h
}
