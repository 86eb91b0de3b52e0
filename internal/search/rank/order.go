package rank

import (
	"cmp"
	"math"
	"slices"
)

// perDocument orders documents by their best chunk, each with the chunks in
// it that answer best, which are not always those that speak for the document.
func (r *ranking) perDocument(list []Scored) []Scored {
	chunks := map[docKey][]int{}
	var keys []docKey
	for i := range list {
		k := docKey{list[i].Store, list[i].Path}
		if chunks[k] == nil {
			keys = append(keys, k)
		}
		chunks[k] = append(chunks[k], i)
	}
	most := r.t.MostAgain
	if r.o.Intent == Pattern || r.o.Mode == Vector { // as many documents as there are
		most = 1
	}
	// Numbers are sorted, since candidates are large and those of many stores many.
	type entry struct {
		raw float64
		i   int
	}
	entries := make([]entry, 0, len(list))
	for _, k := range keys {
		of := chunks[k]
		raw := list[of[0]].raw
		for _, i := range of {
			raw = max(raw, list[i].raw)
		}
		slices.SortFunc(of, func(a, b int) int {
			if c := cmp.Or(cmp.Compare(list[b].Named, list[a].Named), cmp.Compare(list[b].Literal, list[a].Literal),
				cmp.Compare(list[b].within, list[a].within)); c != 0 {
				return c
			}
			return order(&list[a], &list[b])
		})
		for n, i := range of[:min(most, len(of))] {
			if n > 0 && raw <= 0 {
				break
			}
			x := entry{raw, i}
			if n > 0 {
				x.raw = math.Min(list[i].raw, raw) * math.Pow(r.t.Again, float64(n))
			}
			entries = append(entries, x)
		}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if c := cmp.Compare(b.raw, a.raw); c != 0 {
			return c
		}
		return alike(&list[a.i], &list[b.i])
	})
	out := make([]Scored, len(entries))
	for k, x := range entries {
		out[k] = list[x.i]
		out[k].raw = x.raw
	}
	return out
}

// order puts the better first; equals stand in an order that no run changes.
func order(a, b *Scored) int {
	if c := cmp.Compare(b.raw, a.raw); c != 0 {
		return c
	}
	return alike(a, b)
}

// alike orders candidates that are equally good.
func alike(a, b *Scored) int {
	if c := cmp.Compare(a.Store, b.Store); c != 0 {
		return c
	}
	if c := samePage(a.Path, b.Path); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Start, b.Start); c != 0 {
		return c
	}
	return cmp.Compare(a.ID, b.ID)
}
