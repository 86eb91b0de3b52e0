package graph

import (
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// maxResults bounds how many calls of one chain are followed, and how many
// lines lie between one and the next.
const (
	maxResults = 40
	maxApart   = 12
)

// receiver returns the type of what the call that is reference k of file i is
// made on, when that is the result of another call: the reference behind it.
// It is a guess that only holds if the type has a member of that name; -1 when
// nothing is known.
func (r *resolver) receiver(i, at int32, k int, unwrap bool) int32 {
	refs := r.refs(i)
	if k+1 >= len(refs) || !r.files[i].lang.outward {
		return -1
	}
	if apart := refs[k].Line - refs[k+1].Line; apart < 0 || apart > maxApart {
		return -1
	}
	return r.result(i, at, k+1, unwrap)
}

// result returns the type of the value of the call that is reference k, with
// unwrap of what its Result or Option holds.
func (r *resolver) result(i, at int32, k int, unwrap bool) int32 {
	ref := &r.refs(i)[k]
	if ref.Kind != kb.UseCall || r.chained > maxResults {
		return -1
	}
	r.chained++
	defer func() { r.chained-- }()
	if ref.Qualifier == "()" && slices.Contains(r.files[i].lang.unwraps, ref.Name) {
		return r.receiver(i, at, k, true)
	}
	id := r.known(ref.Name)
	if id < 0 {
		return -1
	}
	n := int32(-1)
	switch ref.Qualifier {
	case "()":
		if t := r.receiver(i, at, k, false); t >= 0 {
			n, _ = r.member(t, id)
		}
	case "":
		n = r.lookup(i, at, ref.Line, id).node
	default:
		if v := r.chain(i, at, ref.Line, ref.Qualifier); v.node >= 0 && !v.super {
			if r.is(v.node, isFile|isSpace) {
				n = r.offers(v.node, id)
			} else {
				n, _ = r.member(v.node, id)
			}
		}
	}
	switch {
	case r.is(n, isType) && !unwrap:
		return n
	case r.is(n, isFunc):
		return r.returns(n, unwrap)
	}
	return -1
}
