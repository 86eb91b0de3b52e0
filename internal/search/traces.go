package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

// spot is a line of a document that the query names.
type spot struct {
	target int
	path   string
	line   int
	symbol string
	value  float64 // what speaks for it, in [0,1]
}

// in reports whether the place lies in a candidate.
func (s *spot) in(e *rank.Evidence) bool {
	return s.target == e.Store && s.path == e.Path && e.Start <= s.line && s.line <= e.End
}

// Spot is a line of a document that a frame of a trace means.
type Spot struct {
	Target int // its number
	Path   string
	Line   int    // 1 at least
	Symbol string // the function that the frame names, "" for none
}

// Places returns the places of the targets that each frame means, none where
// the frame is of no target. Several are equally likely.
func Places(ctx context.Context, targets []Target, frames []rank.Frame) ([][]Spot, error) {
	found, err := documentsOf(ctx, targets, frames, "")
	if err != nil {
		return nil, err
	}
	out := make([][]Spot, len(frames))
	for i, spots := range found {
		if len(spots) > fitted.MostAlike {
			continue
		}
		spots, err := declaredIn(ctx, targets, spots)
		if err != nil {
			return nil, err
		}
		for _, s := range spots {
			out[i] = append(out[i], Spot{s.target, s.path, s.line, s.symbol})
		}
	}
	return out, nil
}

// documentsOf returns the documents that each frame means. The file of a frame
// is the document that lies there, or else the one that has the end of its path,
// two names of it at least or all.
func documentsOf(ctx context.Context, targets []Target, frames []rank.Frame, under string) ([][]spot, error) {
	tails := make([][]string, len(frames))
	byBase := map[string][]int{}
	for i, f := range frames {
		tails[i] = tail(f.Path)
		if n := len(tails[i]); n > 0 {
			byBase[tails[i][n-1]] = append(byBase[tails[i][n-1]], i)
		}
	}
	best := make([]int, len(frames)) // names of the path in common
	found := make([][]spot, len(frames))
	for t := range targets {
		paths, err := targets[t].Index.Documents(ctx, under)
		if err != nil {
			return nil, of(t, err)
		}
		root := strings.TrimSuffix(targets[t].Store.Spec.Source, "/") + "/"
		for _, p := range paths {
			for _, i := range byBase[p[strings.LastIndexByte(p, '/')+1:]] {
				n, whole := common(tails[i], tail(p))
				if len(root) > 1 && frames[i].Path == root+p {
					n, whole = there, true
				}
				if n < best[i] || n < 2 && (!whole || foreign.MatchString(frames[i].Path)) {
					continue
				}
				if n > best[i] {
					best[i], found[i] = n, nil
				}
				found[i] = append(found[i], spot{target: t, path: p, line: max(1, frames[i].Line), symbol: frames[i].Symbol})
			}
		}
	}
	return found, nil
}

// there is more than any path has names: the document is the file itself.
const there = math.MaxInt

// own returns the places of the targets that frames mean, the innermost first;
// the line is the frame's, or that of the declaration of its symbol where another
// version of the file has it elsewhere.
func own(ctx context.Context, targets []Target, frames []rank.Frame, r *Request) ([]spot, error) {
	found, err := documentsOf(ctx, targets, frames, r.Under)
	if err != nil {
		return nil, err
	}
	var out []spot
	value := 1.0
	for _, spots := range found {
		if len(spots) > r.Tuning.MostAlike {
			continue
		}
		spots, err := declaredIn(ctx, targets, spots)
		if err != nil {
			return nil, err
		}
		for _, s := range spots {
			s.value = value
			out = append(out, s)
		}
		if len(spots) > 0 {
			value *= r.Tuning.FrameFade
		}
		if len(out) >= r.Tuning.MostFrames {
			break
		}
	}
	return out, nil
}

// foreign are paths of standard libraries, in which a name alone means none of
// the documents.
var foreign = lazyregexp.New(`^(?:/usr/local/go/src|/rustc|/usr/lib|java|javax|jdk|sun|kotlin|scala|internal)/|^node:|<`)

// version is what tells a folder of one version of a package.
var version = lazyregexp.New(`[-@]v?\d[\w.+-]*$`)

// tail are the names of a path, without versions.
func tail(p string) []string {
	names := strings.FieldsFunc(p, func(c rune) bool { return c == '/' })
	if strings.ContainsAny(p, "-@") {
		for i := range names[:max(0, len(names)-1)] {
			names[i] = version.Regexp().ReplaceAllString(names[i], "")
		}
	}
	return names
}

// common counts the names at the end that two paths share, and reports whether
// that is one of them whole.
func common(a, b []string) (n int, whole bool) {
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n, n > 0 && (n == len(a) || n == len(b))
}

// declaredIn keeps of documents with the same end of the path those that declare
// the symbol, if any does, and moves lines to where they declare it.
func declaredIn(ctx context.Context, targets []Target, spots []spot) ([]spot, error) {
	declare := make([]bool, len(spots))
	for i := range spots {
		s := &spots[i]
		if s.symbol == "" {
			continue
		}
		list, err := targets[s.target].Index.Outlines(ctx, []string{s.path})
		if err != nil {
			return nil, of(s.target, err)
		}
		near, at := -1, s.line
		for j := range list[0].Symbols {
			d := &list[0].Symbols[j]
			if d.Name != s.symbol || !d.Declares() {
				continue
			}
			away := max(d.Start-s.line, s.line-d.End, 0)
			if near < 0 || away < near {
				near, at = away, s.line
				if away > 0 {
					at = max(d.Line, d.Start)
				}
			}
		}
		declare[i], s.line = near >= 0, at
	}
	if !slices.Contains(declare, true) {
		return spots, nil
	}
	var out []spot
	for i, s := range spots {
		if declare[i] {
			out = append(out, s)
		}
	}
	return out, nil
}

// placed adds the chunks that spots lie in to the candidates, with what speaks
// for them.
func placed(ctx context.Context, targets []Target, req kb.Retrieval, spots []spot,
	found []rank.Evidence) ([]rank.Evidence, error) {
	for t := range targets {
		var parts []kb.Part
		here := slices.DeleteFunc(slices.Clone(spots), func(s spot) bool { return s.target != t })
		slices.SortStableFunc(here, func(a, b spot) int { return cmp.Compare(a.path, b.path) })
		for _, s := range here {
			if n := len(parts); n == 0 || parts[n-1].Path != s.path {
				parts = append(parts, kb.Part{Path: s.path})
			}
			p := &parts[len(parts)-1]
			p.Lines = append(p.Lines, [2]int{s.line, s.line})
		}
		if parts == nil {
			continue
		}
		req := req
		req.Only = parts
		list, err := targets[t].Index.Retrieve(ctx, req)
		if err != nil {
			return nil, of(t, err)
		}
		for _, c := range list {
			k := slices.IndexFunc(found, func(e rank.Evidence) bool { return e.Store == t && e.Place == c.Place })
			if k < 0 {
				k = len(found)
				found = append(found, rank.Evidence{Candidate: c, Store: t})
			}
			for _, s := range here {
				if e := &found[k]; s.in(e) && s.value > e.Named {
					e.Named, e.Line = s.value, s.line
				}
			}
		}
	}
	return found, nil
}
