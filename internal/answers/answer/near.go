package answer

import (
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// Of a question that nothing answers for certain the sections that come nearest
// are shown: how many, with how many words each, how much worse than the first,
// and from which probability on. Below it they have little to do with it.
const (
	mostNear     = 3
	nearWords    = 45
	nearFloor    = 0.6
	leastNear    = 0.1
	mostNearText = mostNear * nearWords
)

// near takes the best sentence of each of the sections that come nearest, with
// what it leans on and what stands beside it; nothing where the question has a
// word that no store has, or where all of it is too far.
func (q *question) near(c choice, s signals) choice {
	out := choice{best: c.best, of: c.of}
	if len(c.picks) == 0 || s.probability() < leastNear || s.value("strange") > 0 {
		return out
	}
	type place struct{ passage, section int }
	var have []place
	for _, s := range c.best {
		at := place{s.passage, s.section}
		if len(have) == mostNear || s.score < nearFloor*c.best[0].score {
			break
		}
		if slices.Contains(have, at) || !q.begins(s) || out.says(s) {
			continue
		}
		if most := (len(have) + 1) * nearWords; q.pick(&out, c.of, s, max(most, mostNearText/2)) {
			have = append(have, at)
			q.around(&out, c.of, s, most)
		}
	}
	return out
}

// around adds the sentences beside one in its paragraph, as far as there is room.
func (q *question) around(c *choice, of scores, s *scored, most int) {
	page := of.pages[s.passage]
	for _, step := range []int{1, -1, 2} {
		i := s.at + step
		if s.form != prose || i < 0 || i >= len(page) || page[i].form != prose || page[i].block != s.block || page[i].length > mostWords {
			continue
		}
		c.take([]*scored{&page[i]}, most)
	}
}

// decline makes the reply to a question that nothing answers for certain: what
// comes nearest, quoted as that, or that there is nothing.
func (r *Request) decline(reply *Reply, q *question, c choice, s signals, passages []search.Passage, targets []search.Target) {
	near := q.near(c, s)
	if len(near.picks) == 0 {
		_, cited := arrange(c)
		reply.Parts = []Part{{Text: unsupported(q)}}
		reply.Near = r.sources(cited, passages, targets)
	} else {
		parts, cited := arrange(near)
		reply.Parts = append([]Part{{Text: uncertain(q)}}, shownParts(parts)...)
		reply.Sources = r.sources(cited, passages, targets)
	}
	reply.Answer = Text(reply.Parts)
}

// uncertain says that what follows is what comes nearest, in the language of the
// question.
func uncertain(q *question) string {
	if q.spanish {
		return "No he encontrado una respuesta segura a esa pregunta. Lo más cercano:"
	}
	return "No sure answer to this question was found. What comes nearest:"
}

// mostBeyond is how many sections beside those of an answer the next question may go on with.
const mostBeyond = 2

// beyond are the places of the best sentences of sections that are not chosen.
func (c *choice) beyond(most int) []citation {
	type place struct{ passage, section int }
	have := map[place]bool{}
	for _, s := range c.all {
		have[place{s.passage, s.section}] = true
	}
	var out []citation
	for _, s := range c.best {
		at := place{s.passage, s.section}
		if len(out) == most || s.score < nearFloor*c.best[0].score {
			break
		}
		if !have[at] {
			have[at] = true
			out = append(out, citation{passage: s.passage, start: s.start, end: s.end, score: s.score, lines: [][2]int{{s.start, s.end}}})
		}
	}
	return out
}
