package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

// contextBytes is the most code that one reply of get_full_context holds, far
// below the 50,000 characters at which clients put a result away in a file.
const contextBytes = 24_000

// Show returns everything about the place that an id names: the whole
// declaration or section with its true lines. An id may end in "+LINE", as
// the field next of a long reply does, to go on from there.
func Show(ctx context.Context, targets []Target, id string) (Context, error) {
	bare, lines, err := splitID(id)
	if err != nil {
		near, e := misspelt(ctx, targets, strings.TrimSpace(id))
		if e != nil || near == "" {
			return Context{}, errors.Join(e, err)
		}
		return Context{}, kb.Errorf(kb.NotFound, "no place has the id %q", kb.Clip(id, 40)).WithHint("the nearest is: get_full_context {\"resultId\":%q}", near)
	}
	var found []Context
	var now []string // the ids of the places as they are now, where they have changed
	var gone *Context
	for i := range targets {
		t := &targets[i]
		res, err := t.Index.Resolve(ctx, []string{bare})
		if err != nil {
			return Context{}, of(i, err)
		}
		if g := res[0].Gone; g != nil && gone == nil {
			gone = &Context{ID: bare, Store: t.Label, Commit: commit(t), Path: g.Path, Start: g.Start, End: g.End,
				At:   fmt.Sprintf("%s:L%d-%d", g.Path, g.Start, g.End),
				Note: fmt.Sprintf("deleted since: this place is gone from the index; it last stood at lines %d to %d of %s", g.Start, g.End, g.Path)}
		}
		for _, p := range res[0].Places {
			c, err := show(ctx, t, p, lines)
			if err != nil {
				return Context{}, of(i, err)
			}
			found = append(found, c)
			if p.Changed {
				now = append(now, p.ID)
			}
		}
	}
	// That a text changed and its three letters by one alone is one chance in
	// 350; a slip of the finger is likelier, and must not pass for an answer.
	if len(found) > 0 && len(now) == len(found) {
		for _, id := range now {
			if slices.Contains(kb.Misspelt(bare), id) {
				return Context{}, kb.Errorf(kb.NotFound, "no place has the id %q", bare).WithHint("the nearest is: get_full_context {\"resultId\":%q}", id)
			}
		}
	}
	switch {
	case len(found) > 0:
		// A place whose text is still the one the id was given for comes first.
		slices.SortStableFunc(found, func(a, b Context) int { return len(a.Note) - len(b.Note) })
		c := found[0]
		c.Others = found[1:]
		if len(c.Others) == 0 {
			c.Others = nil
		}
		return c, nil
	case gone != nil:
		return *gone, nil
	}
	near, err := misspelt(ctx, targets, ownMark(bare, lines.mark))
	if err != nil {
		return Context{}, err
	}
	if near != "" {
		return Context{}, kb.Errorf(kb.NotFound, "no place has the id %q", bare).WithHint("the nearest is: get_full_context {\"resultId\":%q}", near)
	}
	return Context{}, kb.Errorf(kb.NotFound, "no place has the id %q in the %s searched", bare, kb.Count(len(targets), "store")).WithHint("ids come from search; if the store was deleted, or the file is gone since long, search again")
}

// misspelt returns the id that a slip of the finger made id of: one that a
// place has just so; "" when there is none, or more than one.
func misspelt(ctx context.Context, targets []Target, id string) (string, error) {
	id, mark := cutMark(id)
	candidates := kb.Misspelt(id)
	near := ""
	if len(candidates) == 0 {
		return "", nil
	}
	for i := range targets {
		res, err := targets[i].Index.Resolve(ctx, candidates)
		if err != nil {
			return "", of(i, err)
		}
		for _, r := range res {
			if !slices.ContainsFunc(r.Places, func(p kb.Resolved) bool { return !p.Changed }) || r.ID == near {
				continue
			}
			if near != "" {
				return "", nil
			}
			near = r.ID
		}
	}
	if near != "" {
		near = ownMark(near, mark)
	}
	return near, nil
}

func splitID(id string) (bare string, lines shownLines, err error) {
	id = strings.TrimSpace(id)
	bare, rest, more := strings.Cut(id, "+")
	bare, lines.mark = cutMark(bare)
	if _, _, ok := kb.ParseID(bare); !ok {
		return "", lines, kb.Errorf(kb.Invalid, "%q is no result id", kb.Clip(id, 40)).WithHint("give an id as search shows it, or a path with a line, such as server.go:120")
	}
	if more {
		if lines.from, err = strconv.Atoi(rest); err != nil || lines.from < 1 {
			return "", lines, kb.Errorf(kb.Invalid, "%q does not continue a reply", kb.Clip(id, 40)).WithHint("pass the value of the field next unchanged")
		}
	}
	return bare, lines, nil
}

func commit(t *Target) string {
	if t.Store.Head == nil {
		return ""
	}
	return t.Store.Head.Commit
}

// shownLines says which lines of a place are asked for: those of the
// declaration on line at, of the first where that is 0, and what goes on to line
// to; from line from on where that is not 0; those of the declaration with a
// mark alone where there is one.
type shownLines struct {
	at, to, from int
	mark         string
}

// show builds the context of one place.
func show(ctx context.Context, t *Target, p kb.Resolved, lines shownLines) (Context, error) {
	line, from := lines.at, lines.from
	d, err := t.Index.Document(ctx, p.Path)
	if err != nil {
		return Context{}, err
	}
	ch := &d.Chunks[p.Chunk]
	first, last := declaration(&d, p.Chunk)
	own := marked(ch, lines.mark)
	if own != nil {
		first, last, line = chunkAt(&d, own.Start), chunkAt(&d, own.End), max(own.Line, own.Start)
	}
	c := Context{
		ID: ownID(p.ID, ch, own), Store: t.Label, Commit: commit(t), Path: p.Path,
		Start: d.Chunks[first].Start, End: d.Chunks[last].End,
		Symbol: Title(ch), Kind: ch.Kind, Language: d.Language,
	}
	symbol := subject(&d, first, last)
	if symbol != nil {
		c.Doc, c.Signature = symbol.Doc, symbol.Signature
		switch k := chunkAt(&d, symbol.End); {
		case own != nil || k <= last:
		case symbol.End-symbol.Start < largeType:
			last, c.End = k, d.Chunks[k].End // the whole type, members and all
		default:
			c.Members = members(&d, symbol)
		}
	}
	if k := chunkAt(&d, lines.to); lines.to > c.End && k > last {
		last, c.End = k, d.Chunks[k].End
	}
	beside := 0 // declarations in the chunk that are not of symbol
	if s := cmp.Or(own, symbolAt(&d, first, last, line)); s != nil && s != symbol {
		symbol = s
		c.Symbol, c.Kind, c.Doc, c.Signature = kb.Clip(s.Qualified(), titleBytes), s.Kind, s.Doc, s.Signature
	} else if line == 0 && ch.Kind != "section" {
		beside = len(siblings(ch)) - 1
	}
	u, known, err := usageOf(ctx, t, &d, p.Chunk, symbol, maxLinks, true)
	if err == nil && known {
		err = u.need(ctx, t, &d)
	}
	if err != nil {
		return Context{}, err
	}
	c.Inherits, c.Callers, c.Callees, c.Types, c.Tests = u.inherits, u.callers, u.callees, u.types, u.tests
	c.fill(&d, ch, [2]int{first, last}, own, from)
	c.At, c.rev = t.dated(c.At), t.Rev
	c.Imports = used(&d, c.Start, c.End, 20)
	c.MoreCallers, c.MoreCallees = u.moreIn, u.moreOut
	if beside > 0 && len(u.inherits)+len(u.callers)+len(u.callees) > 0 {
		c.Of = u.decl.Qualified
	}
	notes := t.changes(&d, p)
	if lines.mark != "" && own == nil {
		notes = append(notes, "the declaration that the id was given for is not there now")
	}
	if page, ok := t.page(p.Path); ok {
		anchor, _ := anchorIn(&d, c.Start, min(chunkAt(&d, c.Start), last))
		c.At, c.Page = page.URL+anchor, &page
		c.Code = unmarkAll(c.Code)
		notes = append(notes, Untrusted)
	}
	c.Note = t.Mark(strings.Join(notes, "; "), p.Path, c.Doc+"\n"+c.Code)
	c.Related = relatedIn(t, &d, p.Chunk, 6)
	MemoryOf(ctx).Note([]uint64{placeKey(t, p.Path, c.Start, c.Code)}, tokens.Estimate(c.Code))
	return c, nil
}

// fill shows the text of chunks, first to last, of which ch is one: of one
// declaration where that is asked for, and from a line on.
func (c *Context) fill(d *kb.DocumentText, ch *kb.Chunk, chunks [2]int, own *kb.Symbol, from int) {
	first, last := &d.Chunks[chunks[0]], &d.Chunks[chunks[1]]
	if ch.ColTo > 0 && first == last {
		c.Code = d.Body[ch.From:ch.To]
		c.At = location(c.Path, ch)
		return
	}
	all := strings.Split(strings.TrimSuffix(d.Body[first.From:last.To], "\n"), "\n")
	if own != nil {
		all, c.Start, c.End = all[own.Start-c.Start:own.End-c.Start+1], own.Start, own.End
	}
	if from > c.Start && from <= c.End {
		all = all[from-c.Start:]
		c.Start = from
	}
	n := fitting(all, contextBytes)
	if n < len(all) {
		c.End = c.Start + n - 1
		c.Next = fmt.Sprintf("%s+%d", c.ID, c.End+1)
	}
	c.Code = strings.Join(all[:n], "\n")
	c.At = fmt.Sprintf("%s:L%d-%d", c.Path, c.Start, c.End)
}

// changes says that a place, or its document, is not as it was.
func (t *Target) changes(d *kb.DocumentText, p kb.Resolved) (notes []string) {
	if p.Changed {
		notes = append(notes, "changed since the id was given: this is what stands there now")
	}
	if t.Fresh != nil {
		if n := t.Fresh(p.Path, d.Stamp); n != "" {
			notes = append(notes, n)
		}
	}
	return notes
}

// fitting returns how many lines a context of so many bytes shows, at least one.
func fitting(lines []string, most int) int {
	n, size := 0, 0
	for n < len(lines) && (n == 0 || size+len(lines[n]) < most) {
		size += len(lines[n]) + 1
		n++
	}
	return n
}

// subject returns the symbol that the declaration in chunks first to last is
// about: the one that ends its path, else its first; nil without symbols.
func subject(d *kb.DocumentText, first, last int) *kb.Symbol {
	decl := d.Chunks[first].Decl
	var any *kb.Symbol
	for i := first; i <= last; i++ {
		for j := range d.Chunks[i].Symbols {
			s := &d.Chunks[i].Symbols[j]
			if n := len(decl); n > 0 && s.Name == decl[n-1] {
				return s
			}
			if any == nil {
				any = s
			}
		}
	}
	return any
}

// symbolAt returns the innermost declaration of chunks first to last that a
// line lies in; nil for none, and for line 0.
func symbolAt(d *kb.DocumentText, first, last, line int) *kb.Symbol {
	var at *kb.Symbol
	for i := first; i <= last; i++ {
		for j := range d.Chunks[i].Symbols {
			s := &d.Chunks[i].Symbols[j]
			if s.Declares() && s.Start <= line && line <= s.End && (at == nil || s.End-s.Start <= at.End-at.Start && (at.Line != line || s.Line == line)) {
				at = s
			}
		}
	}
	return at
}

// siblings are the declarations that begin in a chunk, without those that lie
// in another of them.
func siblings(c *kb.Chunk) []*kb.Symbol {
	var out []*kb.Symbol
	for i := range c.Symbols {
		s := &c.Symbols[i]
		if n := len(out); s.Declares() && (n == 0 || s.Start > out[n-1].End) {
			out = append(out, s)
		}
	}
	return out
}

// declaration returns the chunks, first and last, that make up the whole
// declaration or section that chunk i belongs to.
func declaration(d *kb.DocumentText, i int) (first, last int) {
	first, last = i, i
	own := d.Chunks[i].Decl
	if len(own) == 0 {
		return first, last
	}
	within := func(j int) bool {
		c := &d.Chunks[j]
		return c.Kind == d.Chunks[i].Kind && slices.Equal(c.Decl, own)
	}
	for first > 0 && within(first-1) {
		first--
	}
	for last+1 < len(d.Chunks) && within(last+1) {
		last++
	}
	return first, last
}
