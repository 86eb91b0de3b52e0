package gitlog

import "slices"

// pass follows the lines for which to knows a line of the parent, and returns
// the others.
func (t *tracing) pass(up parent, lines []line, to func(at int) int) (rest []line) {
	var passed []line
	for _, l := range lines {
		if n := to(l.at); n >= 0 {
			l.at = n
			passed = append(passed, l)
		} else {
			rest = append(rest, l)
		}
	}
	t.follow(up.where, up.blob, passed)
	return rest
}

// passReformatted follows lines that only have another form.
func (t *tracing) passReformatted(up parent, before, now *version, matched []int32, lines []line) []line {
	known := map[int]int{}
	for _, h := range hunks(matched, len(before.ids)) {
		if !slices.ContainsFunc(lines, func(l line) bool { return l.at >= h.b1 && l.at < h.b2 }) {
			continue
		}
		for j, i := range reformatted(before, now, h) {
			known[j] = i
		}
	}
	return t.pass(up, lines, func(at int) int {
		if i, ok := known[at]; ok {
			return i
		}
		return -1
	})
}

// replaced follows, one generation on, the lines that were replaced by lines; of
// a commit that is ignored it follows them as they are. It returns those that
// remain the commit's.
func (t *tracing) replaced(up parent, before, now *version, matched []int32, lines []line, ignored bool) (rest []line) {
	var older []line
	all := hunks(matched, len(before.ids))
	for _, l := range lines {
		h := slices.IndexFunc(all, func(h hunk) bool { return l.at >= h.b1 && l.at < h.b2 })
		if h < 0 || all[h].a1 == all[h].a2 {
			rest = append(rest, l)
			continue
		}
		best, score := -1, 0.3
		if ignored {
			// What stood in the same place is good enough.
			best, score = all[h].a1+(l.at-all[h].b1)*(all[h].a2-all[h].a1)/(all[h].b2-all[h].b1), 0
		}
		for i := all[h].a1; i < all[h].a2 && i < all[h].a1+200; i++ {
			if s := alike(before.text[i], now.text[l.at]); s > score {
				best, score = i, s
			}
		}
		if !ignored {
			rest = append(rest, l)
		}
		if best < 0 || !ignored && l.generation+1 >= mostGenerations {
			continue
		}
		if l.at = best; !ignored {
			l.generation++
		}
		older = append(older, l)
	}
	t.follow(up.where, up.blob, older)
	return rest
}
