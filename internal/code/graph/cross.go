package graph

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Far is a place in a document of a member.
type Far struct {
	Store string // the name of the member
	kb.Spot
}

// Crossing is an edge of a join: from a document of its first member to a
// declaration of another.
type Crossing struct {
	From, To   Far
	Kind       kb.UseKind
	Confidence float64
}

// Leaving returns the edges of a join out of a declaration of its first
// member, own, in order of line.
func (v *View) Leaving(own string, s kb.Spot) ([]Crossing, error) {
	s.Path = own + "/" + s.Path
	es, err := v.Out(s)
	return crossings(es), err
}

// Arriving returns the edges of a join into a declaration of a member, in order
// of path and line.
func (v *View) Arriving(member string, s kb.Spot) ([]Crossing, error) {
	s.Path = member + "/" + s.Path
	es, err := v.Into(s)
	return crossings(es), err
}

func crossings(es []kb.Edge) []Crossing {
	out := make([]Crossing, len(es))
	for i, e := range es {
		out[i] = Crossing{From: farOf(e.From), To: farOf(e.To), Kind: e.Kind, Confidence: e.Confidence}
	}
	return out
}

// farOf cuts the folder of a member off a path of a join.
func farOf(s kb.Spot) (f Far) {
	f.Spot = s
	f.Store, f.Path = CutMember(s.Path)
	return f
}

// CutMember cuts the name of a member off the path of one of its documents in a join.
func CutMember(p string) (name, rest string) {
	name, rest, _ = strings.Cut(p, "/")
	return name, rest
}
