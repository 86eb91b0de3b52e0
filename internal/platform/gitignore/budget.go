package gitignore

import "sync/atomic"

// Budget bounds what the rules of one listing may cost, whoever wrote them. It
// is counted in steps of automata; a pattern that is tried is one more, and one
// that goes on into a directory is heldCost, for the memory that it takes while
// the walk is in there. Some 10 ns each.
type Budget struct {
	left  atomic.Int64
	worst atomic.Pointer[file]
}

const heldCost = 40

// NewBudget returns a budget of so many steps.
func NewBudget(steps int64) *Budget {
	b := &Budget{}
	b.left.Store(steps)
	return b
}

// Level returns a level without rules, below which the rules of files count.
func (b *Budget) Level() *Level { return &Level{file: &file{budget: b}} }

// Earn adds to what may be spent.
func (b *Budget) Earn(steps int64) { b.left.Add(steps) }

// Spent reports that nothing is left, and of the file whose rules have cost
// most its name and how many there are. What rules said since may be wrong.
func (b *Budget) Spent() (file string, rules int, ok bool) {
	if b == nil || b.left.Load() > 0 {
		return "", 0, false
	}
	if w := b.worst.Load(); w != nil {
		return w.name, len(w.rules), true
	}
	return "", 0, true
}

// may returns how many steps may be spent yet.
func (f *file) may() int {
	if f.budget == nil {
		return int(^uint(0) >> 1)
	}
	return int(f.budget.left.Load())
}

// count takes note of what the rules of a file have cost.
func (f *file) count(steps, more int) {
	if f.steps != nil {
		*f.steps += steps
	}
	if f.budget == nil || steps+more == 0 {
		return
	}
	f.budget.left.Add(-int64(steps + more))
	cost := f.cost.Add(int64(steps + more))
	if w := f.budget.worst.Load(); w == nil || w != f && w.cost.Load() < cost {
		f.budget.worst.Store(f)
	}
}
