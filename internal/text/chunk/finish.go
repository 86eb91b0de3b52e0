package chunk

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// group is a run of lines [from,to) that becomes one chunk, or several if it
// is too large: neighbouring units that were merged.
type group struct {
	from, to int
	units    []unit
}

// finish makes chunks of what a splitter found and keeps every promise of the
// package, whatever the splitter says.
func finish(ls *lines, o outline, m merging) []kb.Chunk {
	units := tidy(ls, o.units)
	groups := m.merge(ls, units, o.sections)
	f := finisher{ls: ls, o: o, out: make([]kb.Chunk, 0, len(groups)+len(ls.body)/(2*AimBytes))}
	for _, g := range groups {
		f.group(g)
	}
	return f.out
}

// tidy returns the units in order, each starting on a line of its own that is
// not blank, the first at line 0.
func tidy(ls *lines, units []unit) []unit {
	byStart := func(a, b int) bool { return units[a].start < units[b].start }
	if !sort.SliceIsSorted(units, byStart) {
		sort.SliceStable(units, byStart)
	}
	n := ls.len()
	out := units[:0]
	for _, u := range units {
		u.start = max(u.start, 0)
		for u.start < n && ls.blank(u.start) {
			u.start++
		}
		if u.start >= n {
			u.start = n - 1
		}
		if k := len(out) - 1; k >= 0 && u.start <= out[k].start {
			if len(out[k].path) == 0 && len(out[k].symbols) == 0 {
				u.start = out[k].start
				out[k] = u
			} else {
				out[k].symbols = append(out[k].symbols, u.symbols...)
			}
			continue
		}
		out = append(out, u)
	}
	if len(out) == 0 {
		return []unit{{kind: "block"}}
	}
	if first := out[0].start; first > 0 {
		only := true
		for i := 0; i < first && only; i++ {
			only = ls.blank(i)
		}
		if only {
			out[0].start = 0
		} else {
			out = append([]unit{{kind: "block"}}, out...)
		}
	}
	return out
}

// content returns the lines of [from,to) without trailing blank ones, and the bytes of all.
func (l *lines) content(from, to int) (n, bytes int) {
	bytes = l.at[to] - l.at[from]
	for to > from && l.blank(to-1) {
		to--
	}
	return to - from, bytes
}

// merge joins small neighbours:
//
//   - small declarations, until they have m.fullLines or m.fullBytes together;
//   - the head of a class with its first member, up to the aim, because a
//     class line alone says little;
//   - up to tinyLines without a name, with the piece before them;
//   - imports with imports.
//
// A heading among declarations, in a notebook, begins a group, but directly
// after one of a higher level. A class joins the group before it only whole. A
// deeper unit may join the one around it, never the other way round.
// Of sections, one with next to no text of its own joins the first below it.
func (m merging) merge(ls *lines, units []unit, sections bool) []group {
	groups := make([]group, 0, len(units))
	var (
		cur             group
		lines, bytes    int  // of cur
		lone            bool // cur holds a declaration of real size
		importing       bool // cur holds imports
		lastN, lastTail int  // content lines of cur's last unit
	)
	for k, u := range units {
		to := ls.len()
		if k+1 < len(units) {
			to = units[k+1].start
		}
		n, size := ls.content(u.start, to)
		alone := n >= m.realLines || size >= m.realBytes
		join := false
		if k > 0 {
			first, last := &cur.units[0], &cur.units[len(cur.units)-1]
			total, totalBytes := to-cur.from, bytes+size
			fits := total <= AimLines && totalBytes <= AimBytes
			nameless := len(u.symbols) == 0 && u.kind == "block"
			switch {
			case sections:
				join = u.level > last.level && lastN <= tinyLines+1 && lastTail <= m.fullBytes
			case len(u.symbols) > 0 && u.symbols[0].Kind == "heading":
				join = u.level > last.level && lastN <= tinyLines
			case u.kind == "imports" || importing:
				join = fits && (u.kind == "imports" && importing ||
					nameless && n <= tinyLines ||
					u.kind == "imports" && len(first.symbols) == 0 && lines <= tinyLines)
			case nameless && n <= tinyLines:
				join = total <= MaxLines && totalBytes <= MaxBytes
			case u.level < first.level:
			case !lone && !alone:
				join = lines < m.fullLines && bytes < m.fullBytes
				if u.end >= to && u.level <= last.level {
					join = join && u.end+1-cur.from <= m.fullLines
				}
			case !lone && len(cur.units) == 1 && u.level > first.level && len(first.path) > 0:
				join = fits
			}
		}
		if join {
			cur.to = to
			cur.units = units[k-len(cur.units) : k+1]
			lines, bytes, lone = lines+n, bytes+size, lone || alone
			importing = importing || u.kind == "imports"
		} else {
			if k > 0 {
				groups = append(groups, cur)
			}
			cur = group{from: u.start, to: to, units: units[k : k+1]}
			lines, bytes, lone = n, size, alone
			importing = u.kind == "imports"
		}
		lastN, lastTail = n, size
	}
	return append(groups, cur)
}

// weight orders the kinds of units: the heaviest first one gives a merged
// chunk its declaration path.
func weight(kind string) int {
	switch kind {
	case "block", "cell", "":
		return 0
	case "imports":
		return 1
	case "const", "var", "macro", "property", "key", "target":
		return 2
	case "section":
		return 3
	case "function", "method":
		return 4
	}
	return 5
}

// head returns the unit that speaks for a merged group.
func (g group) head(sections bool) *unit {
	if sections {
		return &g.units[len(g.units)-1] // its path holds those of the others
	}
	best := &g.units[0]
	for k := range g.units[1:] {
		if u := &g.units[k+1]; weight(u.kind) > weight(best.kind) {
			best = u
		}
	}
	return best
}

type finisher struct {
	ls  *lines
	o   outline
	out []kb.Chunk
}

// group appends the chunks of one group.
func (f *finisher) group(g group) {
	head := g.head(f.o.sections)
	c := kb.Chunk{Decl: head.path, Kind: head.kind}
	if len(c.Decl) == 0 {
		c.Decl = nil
	}
	first := len(f.out)
	limitLines, limitBytes := MaxLines, MaxBytes
	if f.o.sections || head.kind == "block" || head.kind == "cell" {
		limitLines, limitBytes = softLines, softBytes
	}
	run := g.from
	if f.ls.at[g.to]-f.ls.at[g.from] > kb.MaxLineBytes {
		for i := g.from; i < g.to; i++ {
			if f.ls.size(i) > kb.MaxLineBytes {
				f.run(c, run, i, limitLines, limitBytes)
				f.line(c, i)
				run = i + 1
			}
		}
	}
	f.run(c, run, g.to, limitLines, limitBytes)
	f.name(f.out[first:], g.units)
}

// name gives each symbol to the chunk with the line of its name.
func (f *finisher) name(chunks []kb.Chunk, units []unit) {
	total := 0
	for k := range units {
		total += len(units[k].symbols)
	}
	if total == 0 {
		return
	}
	k := 0
	for i := range units {
		for _, s := range units[i].symbols {
			for k+1 < len(chunks) && chunks[k].End < s.line+1 {
				k++
			}
			for k > 0 && chunks[k].Start > s.line+1 {
				k--
			}
			if n := len(units[i].path); s.Path == nil && n > 1 && units[i].path[n-1] == s.Name {
				s.Path = units[i].path[:n-1]
			}
			s.Line = min(s.line+1, f.ls.len())
			s.Start = min(max(s.Start, 1), f.ls.len(), s.Line)
			s.End = min(max(s.End, s.Start), f.ls.len())
			if chunks[k].Symbols == nil && len(chunks) == 1 {
				chunks[k].Symbols = make([]kb.Symbol, 0, total)
			}
			chunks[k].Symbols = append(chunks[k].Symbols, s.Symbol)
		}
	}
}

// run appends lines [from,to), none of them too long, cut where they exceed
// the limits.
func (f *finisher) run(c kb.Chunk, from, to, limitLines, limitBytes int) {
	at := f.ls.at
	for to-from > limitLines || at[to]-at[from] > limitBytes {
		if to-from <= 1 {
			break
		}
		cut := f.cut(from, to)
		f.emit(c, from, cut)
		from, limitLines, limitBytes = cut, softLines, softBytes
	}
	if from < to {
		f.emit(c, from, to)
	}
}

func (f *finisher) emit(c kb.Chunk, from, to int) {
	c.From, c.To = f.ls.at[from], f.ls.at[to]
	c.Start, c.End = from+1, to
	f.out = append(f.out, c)
}

// cut returns the cheapest line in (from,to) to begin a new part at, such that
// the part before it is at least half the aim and at most softLines and
// softBytes, if the lines allow. The cost of a line, in tenths of a column:
//
//	15 × columns of indentation beyond the least in reach, at most 24
//	+ 60 unless after a blank line
//	+ 250 if it only closes or continues something
//	+ 300 if it follows a comment or decorator, which belongs to it
//	+ 400 inside a string or fence
//	+ 1000 if it is blank, since blank lines belong to the part before
//	+ 100 × distance of the part's size from the aim, in aims
func (f *finisher) cut(from, to int) int {
	at := f.ls.at
	hi := from + 1
	for hi < to-1 && hi-from < softLines && at[hi+1]-at[from] <= softBytes {
		hi++
	}
	lo := from + 1
	for lo < hi && lo-from < AimLines/2 && at[lo]-at[from] < AimBytes/2 {
		lo++
	}
	least := 1 << 30
	for i := lo; i <= hi; i++ {
		if ind, s := markdown.Indent(f.ls.text(i)); s != "" {
			least = min(least, ind)
		}
	}
	best, bestCost := hi, 1<<30
	for i := lo; i <= hi; i++ {
		ind, s := markdown.Indent(f.ls.text(i))
		cost := 15 * min(max(ind-least, 0), 24)
		prevBlank := f.ls.blank(i - 1)
		if !prevBlank {
			cost += 60
		}
		if s == "" {
			cost += 1000
		} else if !f.o.sections && closes(s) {
			cost += 250
		}
		if f.o.class != nil {
			switch f.o.class[i] {
			case classInside, classCommentInside:
				cost += 400
			}
			if p := f.o.class[i-1]; p == classComment || p == classCommentInside || p == classDecorator {
				cost += 300
			}
		} else if _, p := markdown.Indent(f.ls.text(i - 1)); strings.HasPrefix(p, "//") {
			cost += 300
		}
		n, b := i-from, at[i]-at[from]
		share := max(100*n/AimLines, 100*b/AimBytes)
		cost += max(share-100, 100-share)
		if cost < bestCost {
			best, bestCost = i, cost
		}
	}
	return best
}

// closes reports whether a line (without indentation) only ends or continues
// the one above it.
func closes(s string) bool {
	switch s[0] {
	case '}', ')', ']', '{', '.', '?', '+', '&', '|', ',', ':':
		return true
	}
	switch w, _ := word(s); w {
	case "end", "else", "elif", "elsif", "except", "finally", "catch", "then", "fi", "done", "esac", "rescue", "ensure", "case", "default", "when":
		return true
	}
	return false
}

// line appends the parts of line i, which is too long. A part ends at white
// space or punctuation where there is some near its end, so that few words are
// torn apart; else at a rune boundary.
func (f *finisher) line(c kb.Chunk, i int) {
	const near = 64
	body, from, end := f.ls.body, f.ls.at[i], f.ls.at[i+1]
	start, last := from, from+f.ls.size(i)
	c.Start, c.End = i+1, i+1
	for from < end {
		to := end
		if end-from > kb.MaxLineBytes {
			to = from + kb.MaxLineBytes
			if to >= last {
				to = from + (last-from)/2 // leave more than the "\n" for the last part
			}
			for k := 0; k < utf8.UTFMax-1 && to > from+1 && !utf8.RuneStart(body[to]); k++ {
				to--
			}
			for j := to; j > max(to-near, from+1); j-- {
				if p := body[j-1]; p == ' ' || p == '\t' || p == ';' || p == ',' || p == '}' || p == '>' {
					to = j
					break
				}
			}
		}
		c.From, c.To = from, to
		c.ColFrom, c.ColTo = from-start, min(to, last)-start
		f.out = append(f.out, c)
		from = to
	}
}
