package gitlog

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// find returns the blob of a path below a tree, zero where there is none.
func (t *tracing) find(tree plumbing.Hash, path string) (plumbing.Hash, error) {
	for {
		v := t.trees[tree]
		if v == nil {
			var err error
			if v, err = t.repo.Tree(tree); err != nil {
				return plumbing.ZeroHash, err
			}
			if len(t.trees) >= keptTrees {
				clear(t.trees)
			}
			t.trees[tree] = v
		}
		name, rest, more := strings.Cut(path, "/")
		i := slices.IndexFunc(v.Entries, func(e object.TreeEntry) bool { return e.Name == name })
		switch {
		case i < 0 || more != isFolder(&v.Entries[i]):
			return plumbing.ZeroHash, nil
		case !more && !v.Entries[i].Mode.IsFile():
			return plumbing.ZeroHash, nil
		case !more:
			return v.Entries[i].Hash, nil
		}
		tree, path = v.Entries[i].Hash, rest
	}
}

// beside returns the other files that a commit changed and that its first
// parent has, as that has them; gone only those that it deleted.
func (t *tracing) beside(p *pending, gone bool) ([]parent, error) {
	c := &t.log.commits[p.commit]
	if len(c.parents) == 0 {
		return nil, nil
	}
	n, ok := t.log.number[c.parents[0]]
	if !ok {
		return nil, nil
	}
	var out []parent
	for _, x := range nearest(t.log, c.changed, p.path) {
		name := t.log.paths[x]
		blob, err := t.blobAt(n, name)
		if err != nil {
			return nil, err
		}
		if blob.IsZero() {
			continue
		}
		if gone {
			still, err := t.blobAt(p.commit, name)
			if err != nil {
				return nil, err
			}
			if !still.IsZero() {
				continue
			}
		}
		if out = append(out, parent{where{n, name}, blob}); len(out) == mostMovedFrom {
			break
		}
	}
	return out, nil
}

// nearest orders paths by how much of their name they share with one, which is
// left out: a large commit has more files than are looked through.
func nearest(l *Log, changed []int32, path string) []int32 {
	dir, base := path[:strings.LastIndexByte(path, '/')+1], path[strings.LastIndexByte(path, '/')+1:]
	ext := base[strings.LastIndexByte(base, '.')+1:]
	near := func(p string) int {
		n := 0
		if strings.HasSuffix(p, "/"+base) || p == base {
			n += 4
		}
		if strings.HasPrefix(p, dir) {
			n += 2
		}
		if strings.HasSuffix(p, "."+ext) {
			n++
		}
		return n
	}
	out := slices.DeleteFunc(slices.Clone(changed), func(x int32) bool { return l.paths[x] == path })
	slices.SortStableFunc(out, func(a, b int32) int {
		if d := near(l.paths[b]) - near(l.paths[a]); d != 0 {
			return d
		}
		return strings.Compare(l.paths[a], l.paths[b])
	})
	return out
}

// renamedFrom returns the file that a commit deleted and that a new one is
// under another name; nil for none.
func (t *tracing) renamedFrom(p *pending, now *version) (*parent, error) {
	others, err := t.beside(p, true)
	if err != nil {
		return nil, err
	}
	count := map[int32]int{}
	size := 0
	for _, id := range now.ids {
		count[id]++
		size += int(t.words.weight[id])
	}
	var best *parent
	score := leastRenamed
	for i := range others {
		if others[i].blob == p.blob {
			return &others[i], nil
		}
		v, err := t.version(others[i].blob)
		if errors.Is(err, source.ErrTooLarge) {
			continue
		}
		if err != nil {
			return nil, err
		}
		both, other := 0, 0
		seen := map[int32]int{}
		for _, id := range v.ids {
			w := int(t.words.weight[id])
			other += w
			if seen[id]++; seen[id] <= count[id] {
				both += w
			}
		}
		if s := float64(both) / float64(max(size, other, 1)); s >= score {
			best, score = &others[i], s
		}
	}
	return best, nil
}

// passMoved follows lines that the commit moved, from elsewhere in the file or
// from another file that it changed, and returns the others. matched says which
// lines of the file the commit did not make; nil is none.
func (t *tracing) passMoved(p *pending, now *version, matched []int32, lines []line) ([]line, error) {
	fresh := func(at int) bool { return matched == nil || matched[at] < 0 }
	if !t.heavy(now, fresh, lines) {
		return lines, nil
	}
	from, err := t.beside(p, false)
	if err != nil {
		return lines, err
	}
	c := &t.log.commits[p.commit]
	if len(c.parents) > 0 {
		if n, ok := t.log.number[c.parents[0]]; ok {
			blob, err := t.blobAt(n, p.path)
			if err != nil {
				return lines, err
			}
			if !blob.IsZero() {
				from = append([]parent{{where{n, p.path}, blob}}, from...)
			}
		}
	}
	for _, up := range from {
		v, err := t.version(up.blob)
		if errors.Is(err, source.ErrTooLarge) {
			continue
		}
		if err != nil {
			return lines, err
		}
		moved := t.moved(v, now, fresh, lines)
		if len(moved) == 0 {
			continue
		}
		lines = t.pass(up, lines, func(at int) int {
			if i, ok := moved[at]; ok {
				return i
			}
			return -1
		})
		if !t.heavy(now, fresh, lines) {
			break
		}
	}
	return lines, nil
}

// heavy reports whether lines, with those around them that are fresh too, are
// enough to be told for a move.
func (t *tracing) heavy(v *version, fresh func(int) bool, lines []line) bool {
	for _, l := range lines {
		from, to := l.at, l.at
		weight, n := 0, 0
		for k := l.at; k >= 0 && k > l.at-mostAround && fresh(k); k-- {
			from = k
		}
		for k := l.at; k < len(v.ids) && k < l.at+mostAround && fresh(k); k++ {
			to = k
		}
		for k := from; k <= to; k++ {
			if w := int(t.words.weight[v.ids[k]]); w > 0 {
				weight, n = weight+w, n+1
			}
		}
		if n >= leastMovedLines && weight >= leastMoved {
			return true
		}
	}
	return false
}

// moved maps the lines that lie, in a run that is long enough, in another file.
// Lines around them that are fresh count for the run, whether they were asked
// about or not.
func (t *tracing) moved(from, now *version, fresh func(int) bool, lines []line) map[int]int {
	at := map[int32][]int{}
	for i, id := range from.ids {
		if t.words.weight[id] > 0 {
			at[id] = append(at[id], i)
		}
	}
	out := map[int]int{}
	for _, l := range lines {
		if _, done := out[l.at]; done {
			continue
		}
		var best run
		for _, i := range at[now.ids[l.at]] {
			if r := t.around(from, now, fresh, i, l.at); r.weight > best.weight {
				best = r
			}
		}
		for k := range best.lines {
			out[best.to+k] = best.from + k
		}
	}
	return out
}

// run is a run of lines that two files have.
type run struct{ from, to, lines, weight int }

// around is the run of fresh lines around a line that another file has around its
// line i, as they are; empty where it is too short for a move.
func (t *tracing) around(from, now *version, fresh func(int) bool, i, at int) run {
	same := func(n int) bool {
		return at+n >= 0 && i+n >= 0 && at+n < len(now.ids) && i+n < len(from.ids) && now.ids[at+n] == from.ids[i+n] && fresh(at+n)
	}
	first, last := 0, 0
	for first > -mostAround && same(first-1) {
		first--
	}
	for last < mostAround && same(last+1) {
		last++
	}
	for first < 0 && t.words.weight[now.ids[at+first]] == 0 {
		first++ // an empty line before a block is nobody's
	}
	weight, full := 0, 0
	for n := first; n <= last; n++ {
		if w := int(t.words.weight[now.ids[at+n]]); w > 0 {
			weight, full = weight+w, full+1
		}
	}
	if weight < leastMoved || full < leastMovedLines {
		return run{}
	}
	return run{from: i + first, to: at + first, lines: last - first + 1, weight: weight}
}
