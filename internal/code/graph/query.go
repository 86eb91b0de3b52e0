package graph

import (
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// changed reports whether a document is not what was linked, and whether it is gone.
func (v *View) changed(doc int) (changed, gone bool, err error) {
	if v.now.Hash == nil {
		return false, false, nil
	}
	h, ok := v.now.Hash(v.core.paths[doc])
	if !ok {
		return true, true, nil
	}
	sum, err := v.core.hash(doc)
	return string(sum) != string(h[:hashBytes]), false, err
}

// table is the declarations of one document, and of where they are now if it changed.
type table struct {
	doc     int
	path    string
	rows    []row
	strs    *texts
	field   int // the number of kindField, -1 for none
	changed bool
	now     map[string][]*kb.Symbol // by qualified name, when changed
	quals   map[int]string          // by row, the qualified names that were asked for
}

func (v *View) table(doc int) (*table, error) {
	rows, err := v.core.rows(doc)
	if err != nil {
		return nil, err
	}
	strs, err := v.core.strings()
	if err != nil {
		return nil, err
	}
	changed, gone, err := v.changed(doc)
	if err != nil {
		return nil, err
	}
	t := &table{doc: doc, path: v.core.paths[doc], rows: rows, strs: strs, field: strs.search(kindField), changed: changed}
	if changed {
		t.now = map[string][]*kb.Symbol{}
		if !gone && v.now.Symbols != nil {
			symbols := v.now.Symbols(t.path)
			for i := range symbols {
				q := symbols[i].Qualified()
				t.now[q] = append(t.now[q], &symbols[i])
			}
		}
	}
	return t, nil
}

func (t *table) qualified(i int) string {
	if q, ok := t.quals[i]; ok {
		return q
	}
	r := t.rows[i]
	q := t.strs.at(r.name)
	if in := t.strs.at(r.qual); in != "" {
		q = in + "." + q
	}
	if t.quals == nil {
		t.quals = map[int]string{}
	}
	t.quals[i] = q
	return q
}

// decl returns a declaration as it is now; false if it is there no more.
func (t *table) decl(i int) (Decl, bool) {
	r := t.rows[i]
	d := Decl{Path: t.path, Name: t.strs.at(r.name), Qualified: t.qualified(i), Kind: t.strs.at(r.kind), Line: r.line, Start: r.start, End: r.end}
	if !t.changed {
		return d, true
	}
	ordinal := 0
	for k := range i {
		if t.rows[k].name == r.name && t.rows[k].qual == r.qual {
			ordinal++
		}
	}
	now := t.now[d.Qualified]
	if ordinal < len(now) {
		s := now[ordinal]
		d.Line, d.Start, d.End = s.Line, s.Start, s.End
		if d.Line == 0 {
			d.Line = s.Start
		}
		return d, true
	}
	// A field is no symbol of its own: it stands where its type does.
	if at := strings.LastIndexByte(d.Qualified, '.'); at > 0 && d.Kind == kindField && len(t.now[d.Qualified[:at]]) > 0 {
		s := t.now[d.Qualified[:at]][0]
		d.Line, d.Start, d.End = max(s.Line, s.Start), s.Start, s.End
		return d, true
	}
	return Decl{}, false
}

// around returns the innermost declaration around a line, other than fields;
// -1 at top level.
func (t *table) around(line int) int {
	best := -1
	for i, r := range t.rows {
		if r.start > line && r.line > line {
			break
		}
		if line < r.start || line > r.end || r.kind == t.field {
			continue
		}
		if best < 0 || r.end-r.start <= t.rows[best].end-t.rows[best].start {
			best = i
		}
	}
	return best
}

// Symbols returns the declarations of a document in order of line; none for
// a document that the view does not know or that changed.
func (v *View) Symbols(path string) ([]Decl, error) {
	var out []Decl
	err := v.guard(func() error {
		doc := v.core.doc(path)
		if doc < 0 {
			return nil
		}
		t, err := v.table(doc)
		if err != nil || t.changed {
			return err
		}
		for i := range t.rows {
			if d, ok := t.decl(i); ok {
				out = append(out, d)
			}
		}
		return nil
	})
	return out, err
}

// guard loads the tables and runs f, damaged content being an error.
func (v *View) guard(f func() error) error {
	return v.r.Guard(func() error {
		if err := v.core.load(); err != nil {
			return err
		}
		err := f()
		if err == nil && v.core.bad.Load() {
			return v.core.damaged()
		}
		return err
	})
}

// Find returns the declarations of a name: "Serve", a qualified one: "Server.Serve", or
// one after its package or folder: "http.Server", "net/http.Server.Serve",
// "(*Server).Serve". "::" and "#" separate like ".". In order of path and line.
func (v *View) Find(name string) ([]Decl, error) {
	name = strings.NewReplacer("::", ".", "#", ".", "(", "", ")", "", "*", "").Replace(strings.TrimSpace(name))
	folder := ""
	if slash := strings.LastIndexByte(name, '/'); slash >= 0 {
		folder, name = name[:slash+1], name[slash+1:]
	}
	qual := ""
	last := name
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		qual, last = name[:dot], name[dot+1:]
	}
	var out []Decl
	err := v.guard(func() error {
		id, err := v.core.search(last)
		if err != nil || id < 0 {
			return err
		}
		docs, err := v.core.declaring(id)
		if err != nil {
			return err
		}
		for _, doc := range docs {
			t, err := v.table(doc)
			if err != nil {
				return err
			}
			for i, r := range t.rows {
				if r.name != id || !matches(t.path, t.strs.at(r.qual), folder, qual) {
					continue
				}
				if d, ok := t.decl(i); ok {
					out = append(out, d)
				}
			}
		}
		return nil
	})
	return out, err
}

// matches reports whether a declaration inside has, of the document at p, is
// one that folder + qual names.
func matches(p, has, folder, qual string) bool {
	if folder == "" && (qual == "" || qual == has || strings.HasSuffix(has, "."+qual)) {
		return true
	}
	// The first name may be the package: the folder's name or the file's.
	first, rest, _ := strings.Cut(qual, ".")
	if rest != has {
		return false
	}
	dir := path.Dir(p)
	stem := strings.TrimSuffix(p, path.Ext(p))
	want := folder + first
	return dir == want || strings.HasSuffix(dir, "/"+want) || stem == want || strings.HasSuffix(stem, "/"+want)
}

// locate returns the table and the position of a declaration: that of the
// path, the qualified name and, if more than one is called so, the line.
func (v *View) locate(s kb.Spot) (*table, int, error) {
	doc := v.core.doc(s.Path)
	if doc < 0 {
		return nil, -1, nil
	}
	t, err := v.table(doc)
	if err != nil {
		return nil, -1, err
	}
	best := -1
	names := t.strs.qualified(s.Decl)
	for i := range t.rows {
		if !slices.Contains(names, [2]int{t.rows[i].qual, t.rows[i].name}) {
			continue
		}
		d, ok := t.decl(i)
		if !ok {
			continue
		}
		if d.Line == s.Line {
			return t, i, nil
		}
		if best < 0 {
			best = i
		}
	}
	return t, best, nil
}

// Out returns the edges out of a declaration: what the lines from its first to its last
// use. With an empty Decl: those of the whole document. In order of line.
func (v *View) Out(s kb.Spot) ([]kb.Edge, error) {
	var out []kb.Edge
	err := v.guard(func() error {
		if s.Decl == "" {
			doc := v.core.doc(s.Path)
			if doc < 0 {
				return nil
			}
			t, err := v.table(doc)
			if err != nil || t.changed {
				return err
			}
			out, err = v.edges(t, nil)
			return err
		}
		t, i, err := v.locate(s)
		if err != nil || i < 0 || t.changed {
			return err
		}
		r := t.rows[i]
		out, err = v.edges(t, func(a arrow) bool {
			return a.line >= r.start && a.line <= r.end && (int(a.target.doc) != t.doc || int(a.target.decl) != i)
		})
		return err
	})
	return out, err
}

// edges returns the edges out of a document that want picks.
func (v *View) edges(from *table, want func(arrow) bool) ([]kb.Edge, error) {
	as, err := v.core.arrows(from.doc)
	if err != nil {
		return nil, err
	}
	if want != nil {
		as = slices.DeleteFunc(as, func(a arrow) bool { return !want(a) })
	}
	return v.shown(from, as, from)
}

// shown makes edges of arrows out of a document; to is a table that many lead to.
func (v *View) shown(from *table, as []arrow, to *table) ([]kb.Edge, error) {
	tables := map[int32]*table{int32(from.doc): from, int32(to.doc): to}
	spots := map[ref]kb.Spot{} // the zero one is there no more
	out := make([]kb.Edge, 0, len(as))
	for _, a := range as {
		spot, ok := spots[a.target]
		if !ok {
			to := tables[a.target.doc]
			if to == nil {
				var err error
				if to, err = v.table(int(a.target.doc)); err != nil {
					return nil, err
				}
				tables[a.target.doc] = to
			}
			if d, ok := to.decl(int(a.target.decl)); ok {
				spot = d.Spot()
			}
			spots[a.target] = spot
		}
		if spot == (kb.Spot{}) {
			continue
		}
		e := kb.Edge{From: kb.Spot{Path: from.path, Line: a.line}, To: spot, Kind: a.kind, Confidence: float64(a.conf) / 100}
		if k := from.around(a.line); k >= 0 {
			e.From.Decl = from.qualified(k)
		}
		out = append(out, e)
	}
	return out, nil
}

// Declared returns the declaration whose name stands at a line of a document,
// or, if none does, the innermost one around the line; false if there is none.
func (v *View) Declared(path string, line int) (Decl, bool, error) {
	var out Decl
	found := false
	err := v.guard(func() error {
		doc := v.core.doc(path)
		if doc < 0 {
			return nil
		}
		t, err := v.table(doc)
		if err != nil || t.changed {
			return err
		}
		i := sort.Search(len(t.rows), func(i int) bool { return t.rows[i].line >= line })
		if i == len(t.rows) || t.rows[i].line != line {
			i = t.around(line)
		}
		if i >= 0 {
			out, found = t.decl(i)
		}
		return nil
	})
	return out, found, err
}

// InDegree returns how many other documents use a name that the document
// declares; 0 for one that the view does not know.
func (v *View) InDegree(path string) (int, error) {
	n := 0
	err := v.guard(func() error {
		if doc := v.core.doc(path); doc >= 0 {
			n = int(v.core.inDeg[doc])
		}
		return nil
	})
	return n, err
}
