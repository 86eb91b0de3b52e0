package traces

import (
	"cmp"
	"maps"
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
	at      *place
	score   float64
	from    *place // whose blame it took most of; nil of a frame
	line    int    // of the frame, or of the call in from
	most    float64
	frame   int      // the number of the innermost frame that it is, -1 for none
	steps   int      // calls below a frame
	names   []string // of the message
	literal bool     // it has a text of the message
	why     []string // what else speaks for it
}

// walker hands blame from frames to what they called.
type walker struct {
	*sources
	found map[*place]*suspect
	order []*place
}

const (
	mostWalked = 1500 // declarations that one failure is followed to
	deepest    = 8
	leastBlame = 0.0005
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

// blamed is a declaration that blame has come to.
type blamed struct {
	at    *place
	blame float64
	from  *place // that called it; nil of a frame
	line  int    // of the call
	steps int
}

// failure hands out the blame of one failure: each declaration has the most that
// comes to it on any way, and counts for share of that.
func (w *walker) failure(f *failure, steps []step, share float64) error {
	best := map[*place]blamed{}
	var open []blamed
	add := func(b blamed) {
		if have, ok := best[b.at]; ok && have.blame >= b.blame || b.blame < leastBlame {
			return
		}
		best[b.at] = b
		open = append(open, b)
	}
	mass := 1.0
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
		case i > 0:
		case f.null:
			keep *= w.t.Null
		case raises.MatchString(doc.line(st.line)):
			keep *= w.t.Raise
		}
		s := w.at(st.at)
		blame := mass * keep * w.size(st.at, w.t.HalfFrame)
		if s.score += share * blame; blame > s.most {
			s.most, s.from, s.line, s.steps, s.frame = blame, nil, st.line, 0, st.frame
		}
		if err := w.hand(blamed{at: st.at, blame: mass}, st.line, callee, add); err != nil {
			return err
		}
		mass *= w.t.Fade
	}
	for n := 0; len(open) > 0 && n < mostWalked; n++ {
		k := 0
		for i := range open {
			if before(&open[i], &open[k]) {
				k = i
			}
		}
		b := open[k]
		open = slices.Delete(open, k, k+1)
		if best[b.at].blame > b.blame {
			continue // came another way
		}
		if b.steps < deepest {
			if err := w.hand(b, 0, nil, add); err != nil {
				return err
			}
		}
	}
	for _, p := range sortedPlaces(best) {
		b, s := best[p], w.at(p)
		blame := b.blame * w.size(p, w.t.Half)
		if s.score += share * blame; blame > s.most {
			s.most, s.from, s.line, s.steps, s.frame = blame, b.from, b.line, b.steps, -1
		}
	}
	return nil
}

func before(a, b *blamed) bool {
	return cmp.Or(cmp.Compare(b.blame, a.blame), comparePlaces(a.at, b.at)) < 0
}

func comparePlaces(a, b *place) int {
	return cmp.Or(cmp.Compare(a.target, b.target), cmp.Compare(a.path, b.path), cmp.Compare(a.start, b.start), cmp.Compare(a.name, b.name))
}

func sortedPlaces(of map[*place]blamed) []*place {
	return slices.SortedFunc(maps.Keys(of), comparePlaces)
}

// size is what a declaration counts by its lines, half being as many as count
// one half: what does more has more that can be wrong.
func (w *walker) size(p *place, half float64) float64 {
	n := float64(max(1, p.end-p.line))
	return n / (n + half)
}

// hand passes blame from a declaration to what it calls, as the lines of the calls
// have to do with the one that ran, 0 for none. What was called last has blame
// of its own.
func (w *walker) hand(from blamed, line int, called *place, add func(blamed)) error {
	p := from.at
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
	var shares []call
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
		shares = append(shares, call{c.line, c.to, weight})
		sum += weight
	}
	for _, c := range list {
		if c.to != called && c.to != p && !(c.to.test && !p.test) {
			give(c, c.weight*of(c.line))
		}
	}
	if w.t.Writer > 0 && from.steps < 2 {
		if err := w.writes(doc, p, of, func(c call, weight float64) { give(c, weight*w.t.Writer) }); err != nil {
			return err
		}
	}
	for _, x := range shares {
		b := from.blame * w.t.Down * min(1, x.weight/math.Pow(max(sum, 1), w.t.Split))
		if x.to.test {
			b = max(b, from.blame*0.9) // a helper of tests is no step
		}
		add(blamed{x.to, b, p, x.line, from.steps + 1})
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

// placeholder is where a text of the code has a value.
var placeholder = lazyregexp.New(`%[-+#0]?[\d.]*[a-zA-Z]|\{[^{}]*\}|\$\{[^}]*\}|\\[nt]`)

// literally reports whether a line has a text in quotes that a message has too:
// ten bytes of it between values.
func literally(line, message string) bool {
	if len(line) > 1000 {
		return false
	}
	for _, q := range quoted.Regexp().FindAllString(line, 10) {
		for _, part := range placeholder.Regexp().Split(q[1:len(q)-1], 10) {
			if len(part) >= 10 && strings.Contains(part, " ") && strings.Contains(message, part) {
				return true
			}
		}
	}
	return false
}

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
	var all strings.Builder
	for i := range failures {
		for _, line := range failures[i].says {
			all.WriteString(line + "\n")
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
			s.literal = s.literal || !p.test && literally(doc.line(l), all.String())
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
		if s.literal {
			s.score *= 1 + w.t.Literal
		}
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
