package graph

import (
	"go/ast"
	"go/types"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// elsewhere is a use of a name of an imported package that the build which
// importers see does not have: syscall.CreateFile in a file for Windows. It is
// looked for by name in the files of the other builds, when all of them have
// been read.
type elsewhere struct {
	doc    int32
	line   int32
	unit   int
	name   uint32 // interned
	kind   kb.UseKind
	config config
}

// unresolved notes a selector whose package is known and whose name is not.
func (t *task) unresolved(w *walker, s *ast.SelectorExpr, doc int32, uses map[*ast.Ident]types.Object) {
	x, ok := s.X.(*ast.Ident)
	if !ok || uses[s.Sel] != nil {
		return
	}
	pkg, ok := uses[x].(*types.PkgName)
	if !ok {
		return
	}
	k, ok := t.g.unitOf[pkg.Imported().Path()]
	if !ok || len(t.g.layout.units[k].base) == len(t.g.layout.units[k].files) {
		return
	}
	kind := kb.UseName
	for _, id := range w.callees {
		if id == s.Sel {
			kind = kb.UseCall
		}
	}
	e := elsewhere{doc: doc, line: w.lines.of(s.Sel.Pos()), unit: k, name: t.g.b.name(s.Sel.Name), kind: kind, config: t.config}
	t.g.mu.Lock()
	t.g.others = append(t.g.others, e)
	t.g.mu.Unlock()
}

// resolveOthers adds the edges that were put off.
func (g *goLinker) resolveOthers() {
	typ := g.b.name("type")
	more := map[int32][]edge{}
	for i := range g.others {
		o := &g.others[i]
		for _, f := range g.layout.units[o.unit].files {
			if f.test() || !o.config.takes(f) || !g.crosses(o.doc, f.doc) {
				continue
			}
			for k, d := range g.b.docs[f.doc].decls {
				if d.name != o.name || d.qual != 0 {
					continue
				}
				kind := o.kind
				if d.kind == typ {
					kind = kb.UseType
				}
				more[o.doc] = append(more[o.doc], edge{o.line, ref{f.doc, int32(k)}, kind, 100})
			}
		}
	}
	for doc, es := range more {
		g.b.pack(doc, fold(g.b.unpack(int(doc), es)))
	}
}
