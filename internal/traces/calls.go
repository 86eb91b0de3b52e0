package traces

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// call is a line of a declaration that runs another.
type call struct {
	line   int
	to     *place
	weight float64 // how sure it is, in (0,1]
}

var (
	// callRE is a name that is called, and what stands before its dot.
	callRE = lazyregexp.New(`(?:([\pL_$][\pL\pN_$]*)(?:\.|::|->))?([\pL_$][\pL\pN_$]*)(?:\[[^\[\]()]*\])?\s*\(`)
	// memberRE is a member that is read, which may run code too.
	memberRE = lazyregexp.New(`[\pL_$)\]](?:\.|->)([\pL_$][\pL\pN_$]*)\b`)
)

// callsOf returns what a declaration calls, in order of line: as references are
// resolved and, where a call is not, by its name alone.
func (s *sources) callsOf(p *place) ([]call, error) {
	if list, ok := s.calls[p]; ok {
		return list, nil
	}
	var out []call
	seen := map[[2]any]bool{}
	add := func(line int, to *place, weight float64) {
		if k := [2]any{line, to}; to != p && !seen[k] {
			seen[k] = true
			out = append(out, call{line, to, weight})
		}
	}
	known := map[int][]string{} // names resolved on each line
	if v := s.targets[p.target].View; v != nil && p.name != "" {
		edges, err := v.Out(p.spot())
		if err != nil {
			return nil, &search.TargetError{Target: p.target, Err: err}
		}
		for _, e := range edges {
			if e.Kind != kb.UseCall && e.Kind != kb.UseName {
				continue
			}
			to, err := s.declared(p.target, e.To)
			if err != nil {
				return nil, err
			}
			if e.Kind != kb.UseCall && !slices.Contains(callable, to.kind) {
				continue
			}
			known[e.From.Line] = append(known[e.From.Line], to.last())
			if err := s.land(to, func(to *place, w float64) { add(e.From.Line, to, w*e.Confidence) }); err != nil {
				return nil, err
			}
		}
	}
	if err := s.byName(p, known, add); err != nil {
		return nil, err
	}
	slices.SortStableFunc(out, func(a, b call) int { return a.line - b.line })
	s.calls[p] = out
	return out, nil
}

// declared returns the place of a declaration that an edge leads to.
func (s *sources) declared(target int, at kb.Spot) (*place, error) {
	f, err := s.file(target, at.Path)
	if err != nil {
		return nil, err
	}
	for i := range f.symbols {
		if y := &f.symbols[i]; max(y.Line, y.Start) == at.Line && y.Qualified() == at.Decl {
			return s.symbol(target, at.Path, y), nil
		}
	}
	return s.around(target, at.Path, at.Line)
}

// land calls f with what runs when a declaration is called: constructors of a
// type, and where it has no body of its own what else has its name.
func (s *sources) land(to *place, f func(*place, float64)) error {
	if slices.Contains(types, to.kind) {
		list, err := s.constructors(to)
		for _, c := range list {
			f(c, 1)
		}
		return err
	}
	f(to, 1)
	if to.end-to.start > 1 || to.name == "" {
		return nil
	}
	doc, err := s.file(to.target, to.path)
	if err != nil || strings.ContainsAny(doc.line(to.end), "{}=") {
		return err
	}
	same, err := s.called(to.last())
	if err != nil || len(same) > s.t.MostAlike {
		return err
	}
	for _, o := range same {
		if o != to && o.test == to.test {
			f(o, s.t.Soft)
		}
	}
	return nil
}

// byName adds the calls whose target is not resolved: to declarations that have
// the name, in whichever store, if few have it.
func (s *sources) byName(p *place, known map[int][]string, add func(int, *place, float64)) error {
	f, err := s.file(p.target, p.path)
	if err != nil {
		return err
	}
	for l := p.start; l <= min(p.end, p.start+400, len(f.lines)); l++ {
		text := unquoted(f.line(l))
		var asked []string
		ask := func(qualifier, name string, share float64) error {
			if len(name) < 2 || keywords[name] || slices.Contains(known[l], name) || slices.Contains(asked, name) || l == p.line && name == p.last() {
				return nil
			}
			asked = append(asked, name)
			var list []*place
			var err error
			if qualifier != "" && !keywords[qualifier] {
				if list, err = s.called(qualifier + "." + name); err != nil {
					return err
				}
			}
			if len(list) == 0 {
				if list, err = s.called(name); err != nil {
					return err
				}
			}
			list = slices.DeleteFunc(slices.Clone(list), func(o *place) bool { return o.test && !p.test || share < 1 && !slices.Contains(callable, o.kind) })
			if len(list) > s.t.MostAlike {
				return nil
			}
			for _, o := range list {
				if err := s.land(o, func(o *place, w float64) { add(l, o, w*share*s.t.Soft/float64(len(list))) }); err != nil {
					return err
				}
			}
			return nil
		}
		for _, m := range callRE.Regexp().FindAllStringSubmatch(text, 40) {
			if err := ask(m[1], m[2], 1); err != nil {
				return err
			}
		}
		for _, m := range memberRE.Regexp().FindAllStringSubmatch(text, 40) {
			if err := ask("", m[1], s.t.Member); err != nil {
				return err
			}
		}
	}
	return nil
}

// writers returns the functions of a document that give a member a value.
func (s *sources) writers(p *place, member string) ([]*place, error) {
	f, err := s.file(p.target, p.path)
	if err != nil {
		return nil, err
	}
	var out []*place
	for i, line := range f.lines {
		k := strings.Index(line, "."+member)
		if k < 0 || i+1 >= p.start && i+1 <= p.end {
			continue
		}
		rest := strings.TrimLeft(line[k+1+len(member):], " \t")
		if j := strings.IndexByte(rest, ']'); strings.HasPrefix(rest, "[") && j > 0 {
			rest = strings.TrimLeft(rest[j+1:], " \t")
		}
		rest = strings.TrimLeft(rest, "+-|&:")
		if !strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, "==") {
			continue
		}
		o, err := s.around(p.target, p.path, i+1)
		if err != nil {
			return nil, err
		}
		if o.name != "" && o != p && !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	return out, nil
}
