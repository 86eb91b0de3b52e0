package repostate

import (
	"bytes"
	"cmp"
	"context"
	"path"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// blob is one side of what may be a rename.
type blob struct {
	name string
	mode filemode.FileMode
	hash plumbing.Hash
	load func() ([]byte, error)

	size  int
	spans map[uint32]int // bytes by hash of their piece; nil until needed
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

// pairing finds the renames among deleted and added paths.
type pairing struct {
	deleted, added []blob
	from, to       []bool // taken
	pairs          int
}

// renames counts the pairs of deleted and added paths that git takes for renames:
// equal contents first, then the only ones of their base name that are three
// quarters alike, then the most similar that are half alike.
func renames(ctx context.Context, deleted, added []blob) (int, error) {
	byName := func(a, b blob) int { return cmp.Compare(a.name, b.name) }
	kb.SortFunc(deleted, byName)
	kb.SortFunc(added, byName)
	p := &pairing{deleted: deleted, added: added, from: make([]bool, len(deleted)), to: make([]bool, len(added))}
	p.equal()
	if err := p.sameName(); err != nil {
		return p.pairs, err
	}
	return p.pairs, p.alike(ctx)
}

func (p *pairing) take(i, j int) { p.from[i], p.to[j] = true, true; p.pairs++ }

// equal pairs equal contents.
func (p *pairing) equal() {
	byHash := map[plumbing.Hash][]int{}
	for i, d := range p.deleted {
		byHash[d.hash] = append(byHash[d.hash], i)
	}
	for j := range p.added {
		b := &p.added[j]
		best, bestScore := -1, -1
		for _, i := range byHash[b.hash] {
			a := &p.deleted[i]
			if p.from[i] || (!a.regular() || !b.regular()) && a.mode != b.mode {
				continue
			}
			if score := sameBase(a, b); score > bestScore {
				best, bestScore = i, score
			}
		}
		if best >= 0 {
			p.take(best, j)
		}
	}
}

// sameName pairs the only ones of their base name.
func (p *pairing) sameName() error {
	only := func(all []blob, taken []bool) map[string]int {
		m := map[string]int{}
		for i, b := range all {
			if taken[i] {
				continue
			}
			base := path.Base(b.name)
			if _, twice := m[base]; twice {
				i = -1
			}
			m[base] = i
		}
		return m
	}
	names := only(p.added, p.to)
	for base, i := range only(p.deleted, p.from) {
		j, ok := names[base]
		if !ok || i < 0 || j < 0 {
			continue
		}
		score, err := similarity(&p.deleted[i], &p.added[j], similar)
		if err != nil {
			return err
		}
		if score >= byBasename {
			p.take(i, j)
		}
	}
	return nil
}

// alike pairs the most similar ones.
func (p *pairing) alike(ctx context.Context) error {
	if (len(p.deleted)-p.pairs)*(len(p.added)-p.pairs) > renameLimit*renameLimit {
		return nil
	}
	type match struct{ i, j, score, name int }
	order := func(a, b match) int { return cmp.Or(b.score-a.score, b.name-a.name) }
	var all []match
	for j := range p.added {
		var best []match
		for i := range p.deleted {
			if p.from[i] || p.to[j] {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			score, err := similarity(&p.deleted[i], &p.added[j], similar)
			if err != nil {
				return err
			}
			if score >= similar {
				best = append(best, match{i, j, score, sameBase(&p.deleted[i], &p.added[j])})
			}
		}
		kb.SortStableFunc(best, order)
		all = append(all, best[:min(len(best), candidates)]...)
	}
	kb.SortStableFunc(all, order)
	for _, m := range all {
		if !p.from[m.i] && !p.to[m.j] {
			p.take(m.i, m.j)
		}
	}
	return nil
}

func sameBase(a, b *blob) int {
	if path.Base(a.name) == path.Base(b.name) {
		return 1
	}
	return 0
}

// similarity is the share of the larger file that is also in the other, of full:
// pieces of a line, or of 64 bytes of a longer one. It is 0 when the sizes alone
// show that it is less than least.
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
