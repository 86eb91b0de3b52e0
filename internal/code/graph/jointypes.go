package graph

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/code/grammar"
	"github.com/seed-4f2d999b/knowledge/internal/code/syntax"
	"github.com/seed-4f2d999b/knowledge/internal/code/tstype"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// typeReader finds uses in a join that only types tell: members of what a call
// returns, of parameters, of what other files of the project make.
type typeReader struct {
	ctx   context.Context
	r     *resolver
	src   Source
	set   *grammar.Set
	world *tstype.World
	lines map[int32]map[int32][]int32 // of a document: symbols by line
}

// newTypeReader returns one for the documents of a resolver, with grammars that are
// kept in a folder.
func newTypeReader(ctx context.Context, r *resolver, src Source, folder string) *typeReader {
	set := &grammar.Set{Folder: folder, Wanted: syntax.Wanted}
	t := &typeReader{ctx: ctx, r: r, src: src, set: set, lines: map[int32]map[int32][]int32{}}
	t.world = tstype.New(ctx, set, t)
	return t
}

// typeScripts are the languages that are read for types.
var typeScripts = []string{"typescript", "tsx", "javascript"}

// Read implements tstype.Host.
func (t *typeReader) Read(p string) (text, language string, ok bool) {
	i, found := t.r.byPath[p]
	if !found || !slices.Contains(typeScripts, t.r.docs[i].language) {
		return "", "", false
	}
	docs, err := t.src.Load(t.ctx, []string{p})
	if err != nil || len(docs) != 1 {
		return "", "", false
	}
	body, err := docs[0].Body()
	if err != nil || len(body) > maxStated {
		return "", "", false
	}
	return body, t.r.docs[i].language, true
}

// Resolve implements tstype.Host.
func (t *typeReader) Resolve(from, spec string) (string, bool) {
	i, ok := t.r.byPath[from]
	if !ok {
		return "", false
	}
	n := t.r.jsModule(i, spec)
	if n < 0 || t.r.nodes[n].file < 0 {
		return "", false
	}
	return t.r.docs[t.r.nodes[n].file].path, true
}

// uses calls emit with what a document uses by its types.
func (t *typeReader) uses(i int32, emit func(used)) {
	d := &t.r.docs[i]
	if !slices.Contains(typeScripts, d.language) || strings.Contains(path.Base(d.path), ".d.") {
		return
	}
	for _, u := range t.world.Uses(d.path) {
		kind := kb.UseCall
		switch u.Kind {
		case tstype.Typed:
			kind = kb.UseType
		case tstype.Inherited:
			kind = kb.UseInherit
		}
		for _, p := range u.To {
			if to, ok := t.declared(p); ok {
				emit(used{from: i, line: int32(u.Line), to: to, kind: kind, sure: sureReceiver})
				break
			}
		}
	}
}

// declared finds the symbol at a place.
func (t *typeReader) declared(p tstype.Place) (decl, bool) {
	i, ok := t.r.byPath[p.Path]
	if !ok {
		return decl{}, false
	}
	at := t.lines[i]
	if at == nil {
		at = map[int32][]int32{}
		for k := range t.r.docs[i].symbols {
			s := &t.r.docs[i].symbols[k]
			line := cmp.Or(s.line, s.start)
			at[line] = append(at[line], int32(k))
		}
		t.lines[i] = at
	}
	name := t.r.known(p.Name)
	for _, k := range at[int32(p.Line)] {
		if s := &t.r.docs[i].symbols[k]; s.decl >= 0 && (p.Name == "" || int32(s.name) == name) {
			return decl{file: i, sym: k}, true
		}
	}
	return decl{}, false
}
