package repostate

import (
	"bytes"
	"cmp"
	"context"
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// blob is one side of what may be a rename.
type blob struct {
	name string
	mode filemode.FileMode
	hash plumbing.Hash
	load func() ([]byte, error)

	size  int
	spans map[uint32]int // bytes by hash of the piece they stand in; nil until needed
}

func (b *blob) regular() bool {
	return b.mode == filemode.Regular || b.mode == filemode.Executable || b.mode == filemode.Deprecated
}

const (
	full        = 60000 // the score of equal contents
	similar     = full / 2
	byBasename  = similar + (full-similar)/2
	renameLimit = 1000 // both sides' product is at most its square, as diff.renameLimit has it
	candidates  = 4    // sources that are kept for one target
)

// renames counts the pairs of deleted and added paths that git takes for
// renames: equal contents first, then the only ones of their base name that
// are three quarters alike, then the most similar that are half alike.
func renames(ctx context.Context, deleted, added []blob) (int, error) {
	byName := func(a, b blob) int { return cmp.Compare(a.name, b.name) }
	slices.SortFunc(deleted, byName)
	slices.SortFunc(added, byName)
	from, to := make([]bool, len(deleted)), make([]bool, len(added)) // taken
	pairs := 0
	take := func(i, j int) { from[i], to[j] = true, true; pairs++ }

	byHash := map[plumbing.Hash][]int{}
	for i, d := range deleted {
		byHash[d.hash] = append(byHash[d.hash], i)
	}
	for j := range added {
		best, bestScore := -1, -1
		for _, i := range byHash[added[j].hash] {
			if from[i] || (!deleted[i].regular() || !added[j].regular()) && deleted[i].mode != added[j].mode {
				continue
			}
			if score := sameBase(&deleted[i], &added[j]); score > bestScore {
				best, bestScore = i, score
			}
		}
		if best >= 0 {
			take(best, j)
		}
	}
	left := func(all []blob, taken []bool) (out []int) {
		for i := range all {
			if !taken[i] {
				out = append(out, i)
			}
		}
		return out
	}
	rest, targets := left(deleted, from), left(added, to)
	if len(rest) == 0 || len(targets) == 0 {
		return pairs, nil
	}
	only := func(all []blob, which []int) map[string]int {
		m := map[string]int{}
		for _, i := range which {
			base := path.Base(all[i].name)
			if _, twice := m[base]; twice {
				m[base] = -1
			} else {
				m[base] = i
			}
		}
		return m
	}
	names := only(added, targets)
	for base, i := range only(deleted, rest) {
		j, ok := names[base]
		if !ok || i < 0 || j < 0 {
			continue
		}
		score, err := similarity(&deleted[i], &added[j], similar)
		if err != nil {
			return pairs, err
		}
		if score >= byBasename {
			take(i, j)
		}
	}
	rest, targets = left(deleted, from), left(added, to)
	if len(rest)*len(targets) > renameLimit*renameLimit {
		return pairs, nil
	}
	type match struct{ i, j, score, name int }
	var all []match
	for _, j := range targets {
		var best []match
		for _, i := range rest {
			if err := ctx.Err(); err != nil {
				return pairs, err
			}
			score, err := similarity(&deleted[i], &added[j], similar)
			if err != nil {
				return pairs, err
			}
			if score >= similar {
				best = append(best, match{i, j, score, sameBase(&deleted[i], &added[j])})
			}
		}
		order := func(a, b match) int { return cmp.Or(b.score-a.score, b.name-a.name) }
		slices.SortStableFunc(best, order)
		all = append(all, best[:min(len(best), candidates)]...)
	}
	slices.SortStableFunc(all, func(a, b match) int { return cmp.Or(b.score-a.score, b.name-a.name) })
	for _, m := range all {
		if !from[m.i] && !to[m.j] {
			take(m.i, m.j)
		}
	}
	return pairs, nil
}

func sameBase(a, b *blob) int {
	if path.Base(a.name) == path.Base(b.name) {
		return 1
	}
	return 0
}

// similarity is the share of the larger file that is also in the other, of
// full: pieces of a line, or of 64 bytes of a longer one, that both have. 0
// when the sizes alone say that it is less than least.
func similarity(a, b *blob, least int) (int, error) {
	if !a.regular() || !b.regular() {
		return 0, nil
	}
	for _, x := range []*blob{a, b} {
		if x.spans == nil {
			content, err := x.load()
			if err != nil {
				return 0, err
			}
			x.size, x.spans = len(content), spansOf(content)
		}
	}
	large := max(a.size, b.size)
	if large*(full-least) < (large-min(a.size, b.size))*full || b.size == 0 {
		return 0, nil
	}
	copied := 0
	for h, n := range a.spans {
		copied += min(n, b.spans[h])
	}
	return copied * full / large, nil
}

// spansOf hashes the pieces of a content as git's diffcore-delta does; the
// carriage returns of text do not count.
func spansOf(content []byte) map[uint32]int {
	binary := bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0
	spans := map[uint32]int{}
	var a, b uint32
	n := 0
	for i, c := range content {
		if !binary && c == '\r' && i+1 < len(content) && content[i+1] == '\n' {
			continue
		}
		old := a
		a = a<<7 ^ b>>25
		b = b<<7 ^ old>>25
		a += uint32(c)
		if n++; n < 64 && c != '\n' {
			continue
		}
		spans[(a+b*0x61)%107927] += n
		n, a, b = 0, 0, 0
	}
	if n > 0 {
		spans[(a+b*0x61)%107927] += n
	}
	return spans
}
