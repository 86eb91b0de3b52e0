package index

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// Words of fewer letters are too near to others; from manyLetters on two may
// be wrong.
const (
	fewLetters  = 4
	manyLetters = 8
)

// spelling is a term that was asked for, and what is written like it.
type spelling struct {
	term   string
	signs  uint64
	most   int // letters that may be wrong
	length int
	found  map[string]int // with how many letters are wrong
}

// Spelt implements kb.Index. It reads the dictionaries from the first letter
// of each term on: a term whose length or letters are too far away costs a few
// instructions.
func (g *Generation) Spelt(ctx context.Context, list []string) ([][]string, error) {
	out := make([][]string, len(list))
	err := g.guard(func() error {
		dicts := []*dict{g.dict}
		if g.laid != nil {
			dicts = append(dicts, g.laid.terms)
		}
		for _, s := range g.segs {
			dicts = append(dicts, s.dict)
		}
		for i, t := range list {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := len(t) - strings.Count(t, "_")
			if n < fewLetters || n >= terms.MaxLen {
				continue
			}
			s := &spelling{term: t, signs: signs([]byte(t)), most: 1, length: n, found: map[string]int{}}
			if n >= manyLetters {
				s.most = 2
			}
			for _, d := range dicts {
				if err := d.each(t[:1], s.look); err != nil {
					return err
				}
			}
			for f := range s.found {
				out[i] = append(out[i], f)
			}
			slices.SortFunc(out[i], func(a, b string) int {
				return cmp.Or(cmp.Compare(s.found[a], s.found[b]), cmp.Compare(a, b))
			})
		}
		return nil
	})
	return out, err
}

// look keeps a term that is written like the one asked for.
func (s *spelling) look(term []byte, _, _ int64) error {
	if len(term) < s.length-s.most || bits.OnesCount64(signs(term)^s.signs) > 2*s.most {
		return nil
	}
	t := string(term)
	if n := terms.Edits(s.term, t, s.most); n <= s.most {
		s.found[t] = n
	}
	return nil
}

// signs is the set of letters and digits of a term.
func signs(term []byte) (set uint64) {
	for _, c := range term {
		if c != '_' {
			set |= 1 << (c & 63)
		}
	}
	return set
}
