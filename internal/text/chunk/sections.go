package chunk

import "github.com/seed-4f2d999b/knowledge/internal/kb"

// sections collects the sections of a document of prose by its headings,
// whatever its format.
type sections struct {
	ls   *lines
	o    outline
	open []heading // headings that enclose the current line, by level
}

type heading struct {
	level int
	text  string
	unit  int // index of its unit
}

// newSections begins with a section without a name at the first line.
func newSections(ls *lines) *sections {
	return &sections{ls: ls, o: outline{
		units:    []unit{{kind: "section"}},
		sections: true,
		class:    make([]class, ls.len()),
	}}
}

// begin begins a section at line first. The heading's text is on lines at
// to last. The anchor, "#install", is what links call the section where the
// document says so itself; it becomes the symbol's signature.
func (s *sections) begin(first, at, last, level int, text, anchor string) {
	s.close(first, level)
	text = fold(text, noteBytes)
	u := unit{start: first, level: level, kind: "section", path: s.path()}
	if text != "" {
		u.path = append(u.path, text)
		u.symbols = []symbol{{
			Symbol: kb.Symbol{Name: text, Kind: "heading", Signature: fold(anchor, noteBytes), Start: first + 1, End: last + 1},
			line:   at,
		}}
	}
	if k := len(s.o.units) - 1; s.o.units[k].start >= first && len(s.o.units[k].symbols) == 0 {
		s.o.units = s.o.units[:k] // there is nothing between the two
	}
	s.open = append(s.open, heading{level: level, text: text, unit: len(s.o.units)})
	s.o.units = append(s.o.units, u)
}

// resume begins a section that goes on with the current path at line i.
func (s *sections) resume(i int) {
	u := unit{start: i, kind: "section", path: s.path()}
	if n := len(s.open); n > 0 {
		u.level = s.open[n-1].level
	}
	s.o.units = append(s.o.units, u)
}

// path returns the headings that enclose the current line, outermost first.
func (s *sections) path() []string {
	var path []string
	for _, h := range s.open {
		if h.text != "" {
			path = append(path, h.text)
		}
	}
	return path
}

// close ends the sections of this level and deeper before line i: a heading's
// symbol reaches to the last line of its section that is not blank.
func (s *sections) close(i, level int) {
	if len(s.open) == 0 || s.open[len(s.open)-1].level < level {
		return
	}
	for i > 0 && s.ls.blank(i-1) {
		i--
	}
	for len(s.open) > 0 && s.open[len(s.open)-1].level >= level {
		h := s.open[len(s.open)-1]
		s.open = s.open[:len(s.open)-1]
		if sym := s.o.units[h.unit].symbols; len(sym) > 0 {
			sym[0].End = max(sym[0].End, i)
		}
	}
}

// block is a block of lines that another line ends.
type block struct {
	end      string // what ends it, to compare as the format does
	verbatim bool   // holds no further blocks
	line     int    // on which it begins
}

// fences marks the lines inside of blocks, the last ones included, as
// classInside. begins reports whether a line begins a block, ends whether it
// ends one. A block that never ends was most likely none: then the lines below
// its first are taken again without it, at most a few times.
func (s *sections) fences(begins func(i int, line string) (block, bool), ends func(line, end string) bool) {
	const retries = 4
	var stack []block
	from := 0
	for try := 0; ; try++ {
		stack = stack[:0]
		for i := from; i < s.ls.len(); i++ {
			line := s.ls.text(i)
			if n := len(stack); n > 0 {
				s.o.class[i] = classInside
				if ends(line, stack[n-1].end) {
					stack = stack[:n-1]
					continue
				}
				if stack[n-1].verbatim || n >= maxFences {
					continue
				}
			}
			if b, ok := begins(i, line); ok {
				b.line = i
				stack = append(stack, b)
			}
		}
		if len(stack) == 0 {
			return
		}
		from = stack[0].line + 1
		for i := from; i < s.ls.len(); i++ {
			s.o.class[i] = classCode
		}
		if try == retries {
			return
		}
	}
}

// maxFences bounds how deeply blocks are followed.
const maxFences = 16
