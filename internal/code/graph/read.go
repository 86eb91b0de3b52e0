package graph

import "github.com/seed-4f2d999b/knowledge/internal/kb"

// row is a declaration as the file has it; its strings are numbers.
type row struct{ name, qual, kind, line, start, end int }

func readRows(d *dec, n int) []row {
	if n > len(d.b) {
		d.bad = true
		return nil
	}
	rows := make([]row, n)
	prev := 0
	for i := range rows {
		prev += d.zig()
		rows[i].name = prev
	}
	for i := range rows {
		rows[i].qual = d.int()
	}
	for i := range rows {
		rows[i].kind = d.int()
	}
	prev = 0
	for i := range rows {
		prev += d.int()
		rows[i].line = prev
	}
	for i := range rows {
		rows[i].start = rows[i].line - d.int()
	}
	for i := range rows {
		rows[i].end = rows[i].line + d.int()
	}
	return rows
}

// rows returns the declarations of a document.
func (c *core) rows(doc int) ([]row, error) {
	rows, err := c.places(doc)
	if err != nil {
		return nil, err
	}
	strs, err := c.strings()
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if max(r.name, r.qual, r.kind) >= strs.n || r.name < 0 {
			return nil, c.damaged()
		}
	}
	return rows, nil
}

// places is rows of which the names are not asked for: those of a large store are
// a hundred megabytes.
func (c *core) places(doc int) ([]row, error) {
	raw, err := c.frame("decls", doc/c.perDecls)
	if err != nil {
		return nil, err
	}
	d := dec{b: raw}
	for k := doc / c.perDecls * c.perDecls; ; k++ {
		if k < doc {
			d.skip(6 * int(c.decls[k]))
			continue
		}
		rows := readRows(&d, int(c.decls[k]))
		if d.bad {
			return nil, c.damaged()
		}
		return rows, nil
	}
}

// arrow is an edge as the file has it.
type arrow struct {
	line   int
	target ref
	kind   kb.UseKind
	conf   int
}

// eachTarget reads the targets of a document's n edges, and reports whether the edges
// may follow.
func eachTarget(d *dec, n int, f func(i int, r ref)) bool {
	last := ref{}
	for i := range d.count() {
		doc := int32(d.int())
		decl := int32(d.int())
		if doc == 0 {
			decl += last.decl
		}
		last = ref{last.doc + doc, decl}
		f(i, last)
	}
	if n > len(d.b)+1 {
		d.bad = true
	}
	return !d.bad
}

// readArrowsTo reads those of n edges whose targets are wanted; the columns of the
// others are passed over.
func readArrowsTo(d *dec, n int, wanted func(ref) bool) []arrow {
	var numbers []int32 // by target, its number among those that are wanted, from 1 on
	var to []ref
	ok := eachTarget(d, n, func(_ int, r ref) {
		k := int32(0)
		if wanted(r) {
			to = append(to, r)
			k = int32(len(to))
		}
		numbers = append(numbers, k)
	})
	if !ok || to == nil {
		return nil
	}
	column := *d
	d.skip(n)
	var at []int // the edges
	var out []arrow
	for i := range n {
		if k := d.int(); k < len(numbers) && numbers[k] > 0 {
			at = append(at, i)
			out = append(out, arrow{target: to[numbers[k]-1], conf: 100})
		}
	}
	line, next := 0, 0
	for k, i := range at {
		for ; next <= i; next++ {
			line += column.int()
		}
		out[k].line = line
	}
	pick := func(set func(a *arrow, v int)) { // of the column that begins here
		next := 0
		for k, i := range at {
			d.skip(i - next)
			set(&out[k], d.int())
			next = i + 1
		}
		d.skip(n - next)
	}
	pick(func(a *arrow, v int) { a.kind = kb.UseKind(min(v, int(kb.UseKinds)-1)) })
	if d.int() != 0 {
		pick(func(a *arrow, v int) { a.conf = v })
	}
	d.bad = d.bad || column.bad
	return out
}

func readArrows(d *dec, n int) []arrow {
	var targets []ref
	if !eachTarget(d, n, func(_ int, r ref) { targets = append(targets, r) }) {
		return nil
	}
	out := make([]arrow, n)
	prev := 0
	for i := range out {
		prev += d.int()
		out[i].line = prev
	}
	for i := range out {
		k := d.int()
		if k >= len(targets) {
			d.bad = true
			return nil
		}
		out[i].target = targets[k]
	}
	for i := range out {
		out[i].kind = kb.UseKind(min(d.int(), int(kb.UseKinds)-1))
	}
	exact := d.int() == 0
	for i := range out {
		out[i].conf = 100
		if !exact {
			out[i].conf = d.int()
		}
	}
	return out
}

// arrows returns the edges out of a document.
func (c *core) arrows(doc int) ([]arrow, error) {
	return c.arrowsBy(doc, readArrows)
}

// arrowsTo returns the edges from a document whose targets are wanted.
func (c *core) arrowsTo(doc int, wanted func(ref) bool) ([]arrow, error) {
	return c.arrowsBy(doc, func(d *dec, n int) []arrow { return readArrowsTo(d, n, wanted) })
}

func (c *core) arrowsBy(doc int, read func(d *dec, n int) []arrow) ([]arrow, error) {
	if c.edges[doc] == 0 {
		return nil, nil
	}
	raw, err := c.frame("edges", doc/c.perEdges)
	if err != nil {
		return nil, err
	}
	d := dec{b: raw}
	for k := doc / c.perEdges * c.perEdges; k < doc; k++ {
		d.skip(2 * d.count())
		d.skip(3 * int(c.edges[k]))
		if d.int() != 0 {
			d.skip(int(c.edges[k]))
		}
	}
	as := read(&d, int(c.edges[doc]))
	if d.bad {
		return nil, c.damaged()
	}
	for _, a := range as {
		if int(a.target.doc) >= len(c.paths) || int(a.target.decl) >= int(c.decls[a.target.doc]) {
			return nil, c.damaged()
		}
	}
	return as, nil
}

// users returns the documents that use a declaration.
func (c *core) users(doc, decl int) ([]int, error) {
	raw, err := c.frame("into", doc/c.perDecls)
	if err != nil {
		return nil, err
	}
	d := dec{b: raw}
	var found []int
	for k := doc / c.perDecls * c.perDecls; k <= doc && !d.bad; k++ {
		last := 0
		for n := d.count(); n > 0 && !d.bad; n-- {
			last += d.int()
			from := 0
			for m := d.count(); m > 0 && !d.bad; m-- {
				from += d.int()
				if k == doc && last == decl {
					found = append(found, from)
				}
			}
		}
	}
	if d.bad || len(found) > 0 && found[len(found)-1] >= len(c.paths) {
		return nil, c.damaged()
	}
	return found, nil
}

// declaring returns the documents that declare the name of a number.
func (c *core) declaring(name int) ([]int, error) {
	raw, err := c.frame("names", name/stringsPerFrame)
	if err != nil {
		return nil, err
	}
	d := dec{b: raw}
	for k := name / stringsPerFrame * stringsPerFrame; ; k++ {
		out := make([]int, d.count())
		last := 0
		for i := range out {
			last += d.int()
			out[i] = last
		}
		if d.bad || len(out) > 0 && last >= len(c.paths) {
			return nil, c.damaged()
		}
		if k == name {
			return out, nil
		}
	}
}
