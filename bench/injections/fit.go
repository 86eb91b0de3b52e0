package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
)

const (
	epochs   = 8
	rate     = 0.1
	pull     = 0.01 // what each weight loses after an epoch, of those that were seen often
	seldom   = 6    // a sign stands in so many injections at least, of two lists
	signs    = 2600 // that are kept
	heaviest = 300  // texts that one list counts for at most
)

// ours is the group of the texts that are made here.
const ours = "made"

// share is how much of the documentation that the threshold is set by may be
// marked: less than what is promised, since the signs made by hand mark some too.
const share = 0.001

// fit trains without each group in turn, tells what of it is marked then, and
// writes the weights of all.
func fit(items []item, table string) (report string, err error) {
	c := read(items)
	hand := make([]bool, len(items))
	for i, it := range items {
		hand[i] = (it.injection || it.group == "" || it.group == parts[2]) && it.group != ours && visible.Odds(it.text) > 0
	}
	var groups []string
	for _, it := range items {
		if it.injection && it.group != "" && !slices.Contains(groups, it.group) {
			groups = append(groups, it.group)
		}
	}
	var b strings.Builder
	b.WriteString("| held out | list | of what | texts | by hand | by words | by either | share |\n|---|---|---|---:|---:|---:|---:|---:|\n")
	for _, out := range append([]string{"nothing"}, groups...) {
		m := train(c, func(s *sample) bool {
			return s.group == parts[0] || slices.Contains(groups, s.group) && s.group != out
		})
		m.level(c, share, func(s *sample) bool { return s.group == parts[1] })
		type count struct {
			key                       string
			all, marked, hand, either int
		}
		var counts []*count
		wrong, all := map[string]int{}, map[string]int{}
		for i := range c.samples {
			s, it := &c.samples[i], items[i]
			if s.group != out && s.group != "" && s.group != parts[2] {
				continue
			}
			if it.group == parts[2] {
				if odds, _, _ := m.best(s); odds > 0 || hand[i] {
					wrong[it.kind]++
				}
				all[it.kind]++
			}
			key := it.list + map[bool]string{true: " | injections", false: " | ordinary"}[it.injection]
			n := slices.IndexFunc(counts, func(c *count) bool { return c.key == key })
			if n < 0 {
				n = len(counts)
				counts = append(counts, &count{key: key})
			}
			counts[n].all++
			odds, _, _ := m.best(s)
			if odds > 0 {
				counts[n].marked++
			}
			if hand[i] {
				counts[n].hand++
			}
			if hand[i] || odds > 0 {
				counts[n].either++
			}
		}
		for _, n := range counts {
			fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | %.2f %% |\n", out, n.key, n.all, n.hand, n.marked, n.either, 100*float64(n.either)/float64(n.all))
		}
		if out == "nothing" {
			for _, name := range slices.Sorted(maps.Keys(all)) {
				fmt.Fprintf(&b, "| nothing | documentation of %s | ordinary | %d | | | %d | %.2f %% |\n", name, all[name], wrong[name], 100*float64(wrong[name])/float64(all[name]))
			}
			err = os.WriteFile(table, []byte(m.table(c)), 0o644)
		}
		fmt.Fprintln(os.Stderr, b.String())
	}
	return b.String() + "\n", err
}

// sample is a text as the numbers of its signs.
type sample struct {
	group  string
	y      float64
	weight float64
	at     []int32
	sign   []int32
	words  int
}

// corpus are samples with what their signs are called.
type corpus struct {
	samples []sample
	names   []visible.Sign
	number  map[uint32]int32
}

// read counts the signs of items.
func read(items []item) *corpus {
	c := &corpus{number: map[uint32]int32{}}
	for _, it := range items {
		s := sample{group: it.group}
		if it.injection {
			s.y = 1
		}
		words := visible.Reading(it.text)
		s.words = len(words)
		visible.Signs(words, func(at int, h uint32, sign visible.Sign) {
			n, ok := c.number[h]
			if !ok {
				n = int32(len(c.names))
				c.number[h] = n
				sign.A, sign.B = strings.Clone(sign.A), strings.Clone(sign.B)
				c.names = append(c.names, sign)
			}
			s.at = append(s.at, int32(at))
			s.sign = append(s.sign, n)
		})
		c.samples = append(c.samples, s)
	}
	return c
}

// model has the weight of each sign of a corpus.
type model struct {
	w    []float64
	none float64
	kept []bool
	seen []uint16 // scratch
}

// best returns the window of s with the highest odds, as a range of its signs.
func (m *model) best(s *sample) (odds float64, from, to int) {
	odds, sum := math.Inf(-1), m.none
	begin := 0
	for i := 0; i < len(s.at); {
		at := s.at[i]
		for ; i < len(s.at) && s.at[i] == at; i++ {
			k := s.sign[i]
			if m.seen[k]++; m.seen[k] == 1 {
				sum += m.w[k]
			}
		}
		for s.at[begin] <= at-visible.Window {
			k := s.sign[begin]
			if m.seen[k]--; m.seen[k] == 0 {
				sum -= m.w[k]
			}
			begin++
		}
		if sum > odds {
			odds, from, to = sum, begin, i
		}
	}
	for ; begin < len(s.at); begin++ {
		m.seen[s.sign[begin]] = 0
	}
	if len(s.at) == 0 {
		odds = m.none
	}
	return odds, from, to
}

// train fits a model to the samples that use takes: logistic regression over
// the best window of each text, by AdaGrad, with weights drawn to zero.
func train(c *corpus, use func(*sample) bool) *model {
	n := len(c.names)
	m := &model{w: make([]float64, n), kept: make([]bool, n), seen: make([]uint16, n), none: -4}
	var all []int
	lists := map[string]int{}
	for i := range c.samples {
		if s := &c.samples[i]; use(s) {
			all = append(all, i)
			if s.y == 1 {
				lists[s.group]++
			}
		}
	}
	pos, neg := make([]float64, n), make([]float64, n)
	first, more := make([]string, n), make([]bool, n)
	last := make([]int32, n)
	np, nn := 0.0, 0.0
	for _, i := range all {
		s := &c.samples[i]
		s.weight = 1
		if s.y == 1 {
			s.weight = min(1, heaviest/float64(lists[s.group]))
			if s.group == ours {
				s.weight = min(1, 5*heaviest/float64(lists[s.group]))
			}
			np += s.weight
		} else {
			nn++
		}
		for _, k := range s.sign {
			if last[k] == int32(i+1) {
				continue
			}
			last[k] = int32(i + 1)
			if s.y == 0 {
				neg[k]++
				continue
			}
			pos[k]++
			if first[k] == "" {
				first[k] = s.group
			} else if first[k] != s.group {
				more[k] = true
			}
		}
	}
	for k := range n {
		if pos[k] >= seldom && (more[k] || first[k] == ours) {
			m.kept[k] = true
			m.w[k] = 0.2 * math.Log((pos[k]+1)/(np+2)/((neg[k]+1)/(nn+2)))
		}
	}
	m.descend(c, all, epochs, pull)
	var order []int
	for k := range n {
		if m.w[k] != 0 {
			order = append(order, k)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(math.Abs(m.w[b]), math.Abs(m.w[a])) })
	for i, k := range order {
		if i >= signs {
			m.w[k], m.kept[k] = 0, false
		}
	}
	for k := range n {
		m.kept[k] = m.w[k] != 0
	}
	m.descend(c, all, epochs/2, 0)
	for k := range n {
		m.w[k] = math.Round(max(-12.7, min(12.7, m.w[k]))*visible.Unit) / visible.Unit
	}
	return m
}

func (m *model) descend(c *corpus, all []int, epochs int, pull float64) {
	g := make([]float64, len(m.w))
	g0 := 1.0
	stamp := make([]int32, len(m.w))
	var now int32
	r := rand.New(rand.NewPCG(5, 6))
	for range epochs {
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, i := range all {
			s := &c.samples[i]
			odds, from, to := m.best(s)
			d := s.weight * (1/(1+math.Exp(-odds)) - s.y)
			if math.Abs(d) < 0.002 {
				continue
			}
			now++
			for _, k := range s.sign[from:to] {
				if !m.kept[k] || stamp[k] == now {
					continue
				}
				stamp[k] = now
				g[k] += d * d
				m.w[k] -= rate * d / math.Sqrt(0.3+g[k])
			}
			g0 += d * d
			m.none -= rate * d / math.Sqrt(g0)
		}
		if pull > 0 {
			for k, w := range m.w {
				m.w[k] = math.Copysign(max(0, math.Abs(w)-pull), w)
			}
		}
	}
}

// level moves the threshold of m so that share of the samples are above it.
func (m *model) level(c *corpus, share float64, use func(*sample) bool) {
	var odds []float64
	for i := range c.samples {
		if s := &c.samples[i]; use(s) {
			o, _, _ := m.best(s)
			odds = append(odds, o)
		}
	}
	slices.Sort(odds)
	at := int(float64(len(odds)) * (1 - share))
	m.none -= math.Max(odds[min(at, len(odds)-1)]+0.01, -100)
	m.none = math.Floor(m.none*visible.Unit) / visible.Unit
}

// table returns the weights as package visible reads them.
func (m *model) table(c *corpus) string {
	var lines []string
	for k, w := range m.w {
		if w == 0 {
			continue
		}
		s := c.names[k]
		name := s.A
		if s.B != "" {
			name += map[bool]string{false: " ", true: " .. "}[s.Far] + s.B
		}
		lines = append(lines, fmt.Sprintf("%.0f %s\n", w*visible.Unit, name))
	}
	slices.SortFunc(lines, func(a, b string) int {
		_, a, _ = strings.Cut(a, " ")
		_, b, _ = strings.Cut(b, " ")
		return cmp.Compare(a, b)
	})
	return fmt.Sprintf("%.0f\n", m.none*visible.Unit) + strings.Join(lines, "")
}
