package answer

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

const (
	// mostBeside is of how many of the first passages those beside them are read,
	// and besideScore what such a one counts of that passage.
	mostBeside  = 4
	besideScore = 0.6

	// What speaks for a passage that a question goes on with: of a document that
	// the answer before cited, and near the lines that it cited.
	beforeLift = 0.15
	nearLift   = 0.35
	nearLines  = 40
	// unsureShare is what is left of it where that was no answer.
	unsureShare = 0.7
)

// beside adds the passages before and after the best, in which a section may
// go on, and those around what the answer before cited, which a question that
// leans on it goes on with.
func (q *question) beside(ctx context.Context, targets []search.Target, list []search.Passage) ([]search.Passage, error) {
	type place struct {
		target int
		kb.Place
	}
	have := map[place]bool{}
	for i := range list {
		have[place{list[i].Target, list[i].Place}] = true
	}
	add := func(target int, path string, score float64, wants func(d *kb.DocumentText, n int) bool) error {
		d, err := targets[target].Index.Document(ctx, path)
		if kb.CodeOf(err) == kb.NotFound {
			return nil
		}
		if err != nil {
			return &search.TargetError{Target: target, Err: err}
		}
		for n := range d.Chunks {
			at := place{target, kb.Place{Path: path, Chunk: n}}
			if have[at] || n >= len(d.IDs) || !wants(&d, n) {
				continue
			}
			have[at] = true
			c := d.Chunks[n]
			list = append(list, search.Passage{Passage: kb.Passage{Place: at.Place, Chunk: c, Text: d.Body[c.From:c.To], Language: d.Language},
				Target: target, ID: d.IDs[n], Score: score, Stamp: d.Stamp})
		}
		return nil
	}
	for _, p := range append([]search.Passage(nil), list[:min(len(list), mostBeside)]...) {
		err := add(p.Target, p.Path, besideScore*p.Score, func(_ *kb.DocumentText, n int) bool {
			return n == p.Place.Chunk-1 || n == p.Place.Chunk+1
		})
		if err != nil {
			return nil, err
		}
	}
	for _, c := range q.before {
		for t := range targets {
			if targets[t].Store.ID != c.Store {
				continue
			}
			err := add(t, c.Path, besideScore/2, func(d *kb.DocumentText, n int) bool { return c.nearTo(&d.Chunks[n]) })
			if err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// nearTo reports whether a chunk of its document lies near the lines.
func (c *Cite) nearTo(k *kb.Chunk) bool {
	return k.Start <= c.Lines[1]+nearLines && k.End >= c.Lines[0]-nearLines
}

// goesOn is what speaks for a sentence of a document because of the answer
// before: the more the nearer it is to what that cited first.
func (q *question) goesOn(path string, line int) float64 {
	v := 0.0
	for i := range q.before {
		c := &q.before[i]
		if c.Path != path {
			continue
		}
		far := max(c.Lines[0]-line, line-c.Lines[1], 0)
		lift := beforeLift + nearLift*max(0, 1-float64(far)/nearLines)
		if c.Near {
			lift *= unsureShare
		}
		v = max(v, lift/(1+float64(i)/2))
	}
	return v
}

// oldShare is what goesOn counts of a sentence around which nothing is of what is
// asked now.
const oldShare = 0.4

// news is how much of what goesOn counts is left, by how much of what is asked now
// is in a sentence and around it.
func (q *question) news(s *scored) float64 {
	all, held := 0.0, 0.0
	telling := slices.ContainsFunc(q.concepts, func(c concept) bool { return !c.topic && !c.faint })
	for i := range q.concepts {
		if c := &q.concepts[i]; !c.topic && !(telling && c.faint) {
			all += c.weight
			held += c.weight * s.around[i]
		}
	}
	if len(q.before) == 0 || all == 0 {
		return 1
	}
	return oldShare + (1-oldShare)*min(1, 2*held/all)
}

// heardCost is what a sentence loses that the answer before has said, where it
// has no word of what is asked now.
const heardCost = 0.3

// repeats is what speaks against a sentence because it was said already.
func (q *question) repeats(s *scored) float64 {
	if len(q.heard) == 0 || !q.hasHeard(s) {
		return 0
	}
	for i := range q.concepts {
		if c := &q.concepts[i]; !c.topic && !c.faint && s.direct[i] >= 0.9 {
			return 0
		}
	}
	return heardCost
}

// hasHeard reports whether a sentence was said, be it code, a row, or with its heading before it.
func (q *question) hasHeard(s *scored) bool {
	text := s.text
	if s.form == row {
		text = s.rowText()
	}
	bare := func(t string) string { return strings.Join(strings.Fields(strings.ReplaceAll(t, "`", "")), " ") }
	text = bare(plain(text))
	return slices.ContainsFunc(q.heard, func(h string) bool {
		h = bare(h)
		return h == text || s.about != "" && strings.HasSuffix(h, ": "+text)
	})
}
