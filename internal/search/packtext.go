package search

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

// place writes path:line or path:from-to, as editors and compilers do.
func place(path string, start, end int) string {
	if start == end {
		return fmt.Sprintf("%s:%d", path, start)
	}
	return fmt.Sprintf("%s:%d-%d", path, start, end)
}

// use says of a place what calls it, the nearest first and tests last, as name
// path:line, at most most of them; where calls is set what it calls, and where
// reads is the constants and variables that it reads, with their lines.
func (p *pack) use(ctx context.Context, x *packed, most int, calls, reads bool) error {
	t := &p.s.targets[x.target]
	if t.View == nil || x.symbol == nil || !x.symbol.Declares() {
		return nil
	}
	decl, ok, err := t.View.Declared(x.path, max(x.symbol.Line, x.symbol.Start))
	if err != nil || !ok {
		return of(x.target, err)
	}
	in, err := t.View.Into(decl.Spot())
	if err != nil {
		return of(x.target, err)
	}
	slices.SortStableFunc(in, func(a, b kb.Edge) int {
		return cmp.Or(testsLast(a.From.Path, b.From.Path), shares(b.From.Path, x.path)-shares(a.From.Path, x.path))
	})
	x.link("called by", "code:callers "+decl.Qualified, in, most, func(e kb.Edge) kb.Spot { return e.From })
	if !reads {
		return nil
	}
	out, err := t.View.Out(decl.Spot())
	if err != nil {
		return of(x.target, err)
	}
	if calls {
		x.link("calls", "code:callees "+decl.Qualified, out, most, func(e kb.Edge) kb.Spot { return e.To })
	}
	if !t.Own {
		return nil // whose path alone does not lead there
	}
	return p.values(ctx, x, out)
}

// shares returns how many folders two paths have in common at their beginning.
func shares(a, b string) (n int) {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	for n < min(len(x), len(y))-1 && x[n] == y[n] {
		n++
	}
	return n
}

// values adds the lines that declare the constants and variables of its folder
// which a place reads, as path:line: text. Those from elsewhere are known by name.
func (p *pack) values(ctx context.Context, x *packed, out []kb.Edge) error {
	n := 0
	seen := map[kb.Spot]bool{}
	for _, e := range out {
		if n == packedValues {
			break
		}
		if e.Kind != kb.UseName || seen[e.To] || path.Dir(e.To.Path) != path.Dir(x.path) ||
			e.To.Path == x.path && x.symbol.Start <= e.To.Line && e.To.Line <= x.symbol.End {
			continue
		}
		seen[e.To] = true
		d, err := p.s.text(ctx, x.target, e.To.Path)
		if err != nil {
			return err
		}
		y := declares(d, e.To.Line)
		if y == nil || !slices.Contains(values, y.Kind) {
			continue
		}
		n++
		text := kb.Clip(strings.TrimSpace(lineOf(d, e.To.Line)), linkBytes)
		x.uses = append(x.uses, strings.TrimSuffix(oneLine(fmt.Sprintf("%s:%d: %s", e.To.Path, e.To.Line, text)), "\n"))
	}
	return nil
}

// values are the kinds of declarations that hold one.
var values = []string{"const", "var"}

// declares returns the innermost symbol whose name is in a line; nil without one.
func declares(d *kb.DocumentText, line int) (out *kb.Symbol) {
	for i := range d.Chunks {
		for j := range d.Chunks[i].Symbols {
			y := &d.Chunks[i].Symbols[j]
			if max(y.Line, y.Start) == line && (out == nil || y.End-y.Start <= out.End-out.Start) {
				out = y
			}
		}
	}
	return out
}

// link names the ends of calls, each once, and the command that lists the rest.
func (x *packed) link(title, command string, edges []kb.Edge, most int, end func(kb.Edge) kb.Spot) {
	var all []string
	seen := map[[2]string]bool{}
	for _, e := range edges {
		at := end(e)
		k := [2]string{at.Path, at.Decl}
		if e.Kind != kb.UseCall || seen[k] {
			continue
		}
		if seen[k] = true; len(seen) <= most {
			all = append(all, Link{At: span(at.Path, at.Line, at.Line), Symbol: at.Decl}.named())
		}
	}
	if more := len(seen) - most; more > 0 {
		all = append(all, fmt.Sprintf("%d more: %s", more, command))
	}
	if all != nil {
		x.uses = append(x.uses, title+": "+strings.Join(all, ", "))
	}
}

// named writes a link as name path:line.
func (l Link) named() string {
	at := visible.Name(plainPlace(l.At))
	if l.Store != "" {
		at = visible.Name(l.Store) + ":" + at // as get_full_context takes it
	}
	if l.Symbol == "" {
		return at
	}
	return visible.Name(l.Symbol) + " " + at
}

// plainPlace writes path:L12-14 as path:12-14.
func plainPlace(at string) string {
	if i := strings.LastIndex(at, ":L"); i >= 0 {
		return at[:i+1] + at[i+2:]
	}
	return at
}

// head is the line above the lines of a place.
func (x *packed) head() string {
	parts := []string{visible.Name(x.at)}
	if x.name != "" {
		parts = append(parts, visible.Name(x.name))
	}
	if x.from != "" {
		parts = append(parts, "← "+visible.Name(x.from))
	}
	if x.id != "" {
		parts = append(parts, x.id)
	}
	if x.given {
		parts = append(parts, "(shown above)")
	}
	return strings.Join(parts, "  ") + "\n"
}

// oneLine returns a line that nothing in it can end.
func oneLine(s string) string {
	return strings.NewReplacer("\r", `\r`, "\n", `\n`).Replace(s) + "\n"
}

// foot is what is said below the places.
func foot(notes []string, confidence string) string {
	var b strings.Builder
	for _, n := range notes {
		b.WriteString(oneLine("note: " + n))
	}
	return b.String() + "confidence " + confidence + "\n"
}

// fit writes the reply, with as many of the places as the budget has room for,
// the likeliest, and of the further functions.
func (p *pack) fit(foot string, budget int) string {
	if p.flow {
		p.places = p.inOrder()
	}
	n := min(p.named, len(p.places))
	if left := budget - tokens.Estimate(p.write(n)+foot); left >= leastSlice { // rows that became names cost less
		p.widen(left)
	}
	for {
		text := p.write(n)
		switch {
		case tokens.Estimate(text+foot) <= budget, n <= 1 && len(p.further) == 0:
			return text
		case len(p.further) > 0:
			p.further = p.further[:len(p.further)-1]
		default:
			n--
		}
	}
}

// inOrder returns the functions in the order in which they call each other:
// after each those that it calls, in the order of its lines, and first the
// likeliest that none of the others calls.
func (p *pack) inOrder() []*packed {
	called := map[*packed]bool{}
	next := map[*packed][]*packed{}
	for _, n := range slices.Sorted(maps.Keys(p.sites)) {
		x := p.sites[n]
		calls := slices.Clone(p.s.survey.calls[n])
		slices.SortFunc(calls, func(a, b call) int { return cmp.Or(a.line-b.line, a.to-b.to) })
		for _, c := range calls {
			if y := p.sites[c.to]; y != nil && y != x {
				called[y] = true
				next[x] = append(next[x], y)
			}
		}
	}
	var out []*packed
	done := map[*packed]bool{}
	var visit func(x, from *packed)
	visit = func(x, from *packed) {
		if done[x] {
			return
		}
		done[x] = true
		if from != nil {
			x.from = from.symbol.Name
		}
		out = append(out, x)
		for _, y := range next[x] {
			visit(y, x)
		}
	}
	for _, roots := range []bool{true, false} { // those that only call each other have no first
		for _, x := range p.places {
			if !roots || !called[x] {
				visit(x, nil)
			}
		}
	}
	return out
}

// write writes the n likeliest places in their order, and how many more there are.
func (p *pack) write(n int) string {
	var b strings.Builder
	lined := false
	for _, x := range p.places {
		if x.rank >= n {
			continue
		}
		shows := x.body.shown != nil && !x.body.alone
		if b.Len() > 0 && (shows || lined) {
			b.WriteByte('\n')
		}
		lined = shows
		b.WriteString(x.head())
		if note := p.marked(x); note != "" {
			b.WriteString(oneLine("note: " + note))
		}
		for _, e := range x.extras {
			for _, l := range e.Lines {
				b.WriteString(oneLine(l))
			}
		}
		if x.body.shown != nil {
			x.body.render(&b)
		}
		for _, l := range x.uses {
			b.WriteString(l + "\n")
		}
		b.WriteString(p.alsoIn(x))
	}
	if more := len(p.places) - n; more > 0 {
		fmt.Fprintf(&b, "%s: limit lists them\n", kb.Count(more, "more place"))
	}
	if n > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}

// marked returns the note on a place that is shown, with what its text is. It is
// worked out once: a text is long to judge, and most places have no room.
func (p *pack) marked(x *packed) string {
	if !x.marked {
		x.marked, x.note = true, p.s.targets[x.target].Mark(x.note, x.path, strings.Join(x.body.text, "\n"))
	}
	return x.note
}
