package traces

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// step is a frame that is in a target: the function, and the line that ran.
type step struct {
	frame int // its number among the frames that are in a target, from 0
	raw   int // and among all
	at    *place
	line  int
}

// suspect is a declaration that may be the cause.
type suspect struct {
	at    *place
	score float64
	from  *place // whose blame it took most of; nil of a frame
	line  int    // of the frame, or of the call in from
	most  float64
	frame int      // the number of the innermost frame that it is, -1 for none
	steps int      // calls below a frame
	names []string // of the message
	why   []string // what else speaks for it
}

// walker hands blame from frames to what they called.
type walker struct {
	*sources
	found map[*place]*suspect
	order []*place
	left  int // how many declarations are looked into
}

const (
	mostWalked = 3000
	deepest    = 6
	leastBlame = 0.002
)

func (w *walker) at(p *place) *suspect {
	s := w.found[p]
	if s == nil {
		s = &suspect{at: p, frame: -1, steps: deepest + 1}
		w.found[p] = s
		w.order = append(w.order, p)
	}
	return s
}

// failure hands out the blame of one failure, share in all.
func (w *walker) failure(f *failure, steps []step, share float64) error {
	mass := 1.0
	masses := make([]float64, len(steps))
	sum := 0.0
	for i := range steps {
		masses[i] = mass
		sum += mass
		mass *= w.t.Fade
	}
	for i, st := range steps {
		var callee *place
		if i > 0 {
			callee = steps[i-1].at
		}
		doc, err := w.file(st.at.target, st.at.path)
		if err != nil {
			return err
		}
		keep := w.t.Keep
		switch {
		case st.at.test:
			keep = w.t.Test
		case i == 0 && raises.MatchString(doc.line(st.line)):
			keep = w.t.KeepRaise
		}
		s := w.at(st.at)
		blame := share * masses[i] / sum
		if blame*keep > s.most {
			s.most, s.from, s.line, s.steps, s.frame = blame*keep, nil, st.line, 0, st.frame
		}
		if err := w.hand(st.at, st.line, blame, keep, 0, callee); err != nil {
			return err
		}
	}
	return nil
}

// hand lets a declaration keep a part of some blame and hands the rest to what
// it calls, as its lines have to do with the one that ran, 0 for none. What was
// called last has blame of its own.
func (w *walker) hand(p *place, line int, blame, keep float64, depth int, called *place) error {
	s := w.at(p)
	s.score += blame * keep
	if w.left--; depth >= deepest || w.left < 0 {
		return nil
	}
	list, err := w.callsOf(p)
	if err != nil {
		return err
	}
	doc, err := w.file(p.target, p.path)
	if err != nil {
		return err
	}
	rel := relevance(doc, p, line, w.t)
	of := func(l int) float64 {
		if i := l - p.start; i >= 0 && i < len(rel) {
			return rel[i]
		}
		return 0
	}
	type share struct {
		call
		weight float64
	}
	var shares []share
	sum := w.t.Damp
	give := func(c call, weight float64) {
		for i := range shares {
			if shares[i].to == c.to {
				if weight > shares[i].weight {
					sum += weight - shares[i].weight
					shares[i].weight, shares[i].line = weight, c.line
				}
				return
			}
		}
		shares = append(shares, share{c, weight})
		sum += weight
	}
	for _, c := range list {
		if c.to != called && c.to != p && !(c.to.test && !p.test) {
			give(c, c.weight*of(c.line))
		}
	}
	if w.t.Writer > 0 && depth < 2 {
		if err := w.writes(doc, p, of, func(c call, weight float64) { give(c, weight*w.t.Writer) }); err != nil {
			return err
		}
	}
	for _, x := range shares {
		b := blame * (1 - keep) * x.weight / sum
		if b < leastBlame {
			continue
		}
		k := w.t.KeepCallee
		if x.to.test {
			k = w.t.Test
		}
		t := w.at(x.to)
		if b*k > t.most {
			t.most, t.from, t.line, t.steps = b*k, p, x.line, depth+1
		}
		if err := w.hand(x.to, 0, b, k, depth+1, nil); err != nil {
			return err
		}
	}
	return nil
}

// ownMember is a member of the object that a method belongs to.
var ownMember = lazyregexp.New(`\b(?:self|this|[a-z]{1,2})\.([\pL_]\w*)`)

// writes gives to the functions that set members which the lines that matter use.
func (w *walker) writes(doc *file, p *place, of func(int) float64, give func(call, float64)) error {
	if !strings.Contains(p.name, ".") {
		return nil
	}
	seen := map[string]bool{}
	for l := p.start; l <= min(p.end, len(doc.lines)); l++ {
		if of(l) < 0.4 {
			continue
		}
		for _, m := range ownMember.Regexp().FindAllStringSubmatch(unquoted(doc.line(l)), 20) {
			if seen[m[1]] {
				continue
			}
			seen[m[1]] = true
			list, err := w.writers(p, m[1])
			if err != nil {
				return err
			}
			if len(list) > w.t.MostAlike {
				continue
			}
			for _, o := range list {
				give(call{line: l, to: o}, of(l)/float64(len(list)))
			}
		}
	}
	return nil
}

// messageRE are words of a message that may be names in the code.
var messageRE = lazyregexp.New(`[\pL_][\pL\pN_]{2,}`)

// weigh adds what the message, the names of the tests, and which of them failed,
// say of each suspect, and returns them, the likeliest first. With a stack the
// names of tests tell less.
func (w *walker) weigh(failures []failure, stack bool, spectrum map[*place]float64) ([]*suspect, error) {
	said := map[string]bool{}
	for i := range failures {
		for _, line := range failures[i].says {
			for _, word := range messageRE.Regexp().FindAllString(line, 60) {
				if !keywords[word] {
					said[word] = true
				}
			}
		}
	}
	tests := map[string]bool{}
	for i := range failures {
		for _, part := range terms.Words(failures[i].test) {
			tests[part] = true
		}
	}
	common := map[string]int{} // suspects that have a word of the message
	for _, p := range w.order {
		doc, err := w.file(p.target, p.path)
		if err != nil {
			return nil, err
		}
		s := w.found[p]
		for l := p.start; l <= min(p.end, p.start+300, len(doc.lines)); l++ {
			for _, word := range wordRE.Regexp().FindAllString(doc.line(l), 60) {
				if said[word] && !slices.Contains(s.names, word) {
					s.names = append(s.names, word)
					common[word]++
				}
			}
		}
	}
	var out []*suspect
	for _, p := range w.order {
		s := w.found[p]
		gain := 0.0
		for _, word := range s.names {
			gain += 1 / float64(common[word]+1)
		}
		s.score *= 1 + w.t.Message*math.Min(1, gain)
		parts, shared := terms.Words(p.last()), 0
		for _, x := range parts {
			if tests[x] {
				shared++
			}
		}
		if len(parts) > 0 {
			named := w.t.Named
			if stack {
				named = w.t.NamedRaised
			}
			s.score *= 1 + named*float64(shared)/float64(len(parts))
		}
		if spectrum != nil {
			s.score *= 1 - w.t.Spectrum + w.t.Spectrum*spectrum[p]
		}
		if p.test {
			s.score *= w.t.Test
		}
		if p.name == "" {
			s.score *= w.t.Test
		}
		out = append(out, s)
	}
	order(out)
	return out, nil
}

// order puts the likeliest first.
func order(list []*suspect) {
	slices.SortStableFunc(list, func(a, b *suspect) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.at.path, b.at.path), cmp.Compare(a.at.start, b.at.start))
	})
}
