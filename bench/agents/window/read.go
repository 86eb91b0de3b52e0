package window

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// placeRE finds path:12, path:L12-30 and the like; numberedRE the lines that an
// editor or grep shows.
var (
	placeRE    = regexp.MustCompile(`([\w@~+./\\-]*[\w+-]\.?[\w+-]*):L?(\d+)(?:-L?(\d+))?`)
	numberedRE = regexp.MustCompile(`^\s*(\d+)(?:\t|: ?|\| ?| {1,2}|-)(.*)$`)
	alsoRE     = regexp.MustCompile(`(?:^also|,) :(\d+)(?:-(\d+))? `)
	grepRE     = regexp.MustCompile(`^([^\s:][^:]*):(\d+):(.*)$`)
)

// Read reads a reply for the lines of the tree that it shows and the places that
// it names, in its order. A line counts as shown when the reply has its number
// and its text, or the first half of it and "…". Three forms are read: the JSON of search, numbered lines below a
// path, and grep's path:line:text.
func Read(t *Tree, reply string) (shown, told []Span) {
	var doc any
	if err := json.Unmarshal([]byte(reply), &doc); err == nil {
		return readJSON(t, doc, "")
	}
	r := &reader{tree: t}
	for line := range strings.SplitSeq(reply, "\n") {
		r.line(line)
	}
	return r.shown, r.told
}

type reader struct {
	tree        *Tree
	path        string
	head        string // path of the last place that a line begins with
	shown, told []Span
}

func (r *reader) line(line string) {
	if m := grepRE.FindStringSubmatch(line); m != nil {
		if r.numbered(m[1], m[2], m[3]) {
			return
		}
	}
	if m := numberedRE.FindStringSubmatch(line); m != nil && r.path != "" && r.numbered(r.path, m[1], m[2]) {
		return
	}
	if strings.HasPrefix(line, "also :") && r.path != "" {
		for _, m := range alsoRE.FindAllStringSubmatch(line, -1) {
			if s, ok := span(r.tree, r.head, m[1], m[2]); ok {
				r.told = append(r.told, s)
			}
		}
		return
	}
	for i, m := range placeRE.FindAllStringSubmatch(line, -1) {
		if s, ok := span(r.tree, m[1], m[2], m[3]); ok {
			r.path = s.Path
			if i == 0 && strings.HasPrefix(line, m[0]) {
				r.head = s.Path
			}
			r.told = append(r.told, s)
		}
	}
	if p, ok := r.tree.Lines[strings.TrimSpace(line)]; ok && len(p) > 0 {
		r.path = strings.TrimSpace(line)
	}
}

func (r *reader) numbered(path, number, text string) bool {
	n, _ := strconv.Atoi(number)
	p, ok := r.tree.File(path)
	if l, is := r.tree.Line(p, n); !ok || !is || !isLine(text, l) {
		return false
	}
	r.shown = append(r.shown, Span{p, n, n})
	return true
}

func span(t *Tree, path, from, to string) (Span, bool) {
	p, ok := t.File(path)
	if !ok {
		return Span{}, false
	}
	s := Span{Path: p}
	s.From, _ = strconv.Atoi(from)
	if s.To, _ = strconv.Atoi(to); s.To < s.From {
		s.To = s.From
	}
	return s, s.From <= len(t.Lines[p])
}

// readJSON walks a document: an object with "at" is a place, with "line" and
// "code" beside it shows lines; strings that end in path:line name places. path
// is the file of the enclosing place.
func readJSON(t *Tree, v any, path string) (shown, told []Span) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			s, p := readJSON(t, x, path)
			shown, told = append(shown, s...), append(told, p...)
		}
	case string:
		if m := placeRE.FindStringSubmatch(v[strings.LastIndexByte(v, ' ')+1:]); m != nil {
			if s, ok := span(t, m[1], m[2], m[3]); ok {
				told = append(told, s)
			}
		}
	case map[string]any:
		at, _ := v["at"].(string)
		if m := placeRE.FindStringSubmatch(at); m != nil {
			if s, ok := span(t, m[1], m[2], m[3]); ok {
				told, path = append(told, s), s.Path
			}
		}
		code, _ := v["code"].(string)
		if line, ok := v["line"].(float64); ok && path != "" {
			shown = append(shown, matching(t, path, int(line), code)...)
		}
		for _, k := range []string{"hits", "calledBy", "calls", "callers", "callees", "related", "usedBy"} {
			s, p := readJSON(t, v[k], path)
			shown, told = append(shown, s...), append(told, p...)
		}
	}
	return shown, told
}

// isLine reports whether a text is a line of a file, white space around it apart,
// or at least its first half, where it was cut for its length.
func isLine(text, line string) bool {
	text, line = strings.TrimSpace(text), strings.TrimSpace(line)
	if begin, cut := strings.CutSuffix(text, "…"); cut && text != line {
		return strings.HasPrefix(line, begin) && 2*len(begin) >= len(line)
	}
	return text == line
}

// matching returns those lines of code that the file has from a line on.
func matching(t *Tree, path string, from int, code string) (out []Span) {
	for text := range strings.SplitSeq(code, "\n") {
		if l, ok := t.Line(path, from); ok && isLine(text, l) {
			out = append(out, Span{path, from, from})
		}
		from++
	}
	return out
}
