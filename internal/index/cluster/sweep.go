package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate"
)

// What no head names any more is deleted by Collect, on any machine, beside others that
// index, search and collect. It cannot lock, and a machine may stop for as long as it likes
// between any two requests and then go on. So:
//
//   - What has no use is condemned first, in the plan, one state that is swapped as
//     heads are. It is deleted an hour later by a run that condemns nothing it deletes.
//   - The round of the plan is the epoch. Every object carries the epoch in which it was written,
//     and a run deletes objects of earlier epochs than its own only. So a run that wakes up
//     late takes nothing that was written since.
//   - A writer first says in a slot what it needs, then reads the plan, then
//     looks at what is there. What the plan condemns it writes again. A run swaps the plan
//     first and then reads the slots and the heads. So either the run sees the slot and
//     spares what it names, or the writer sees the plan.
//   - What is condemned is spared by a slot and pardoned by a head only: a writer that
//     had a slot and died may have left it half written.
//   - Objects go before the first piece of their file, and the name leaves the plan when
//     all are gone: a run that died is resumed by the next.
//
// A list is read from one copy of the cluster, which may lack something. What is missing
// in one is deleted later, and nothing is deleted because it is missing: heads and slots
// are read by their ids at QUORUM.
//
// A reader holds no slot. One that searches asks for the head every 2 seconds, or 10 when the
// cluster was away, and each retrieval ends after 4 (index.within): a minute is more
// than it can be behind, an index that stays open over that included, since it is asked for by its
// head anew. What takes longer, fetching a generation whole, has a slot.

// grace is the least time between the moment in which nothing needs something any more
// and the one in which it is deleted.
const grace = time.Hour

// plan says what is going to be deleted.
type plan struct {
	stamp
	Condemned []condemned `json:"condemned,omitempty"`
}

// condemned is a file, or with the prefix "register " a register.
type condemned struct {
	Name  string `json:"name"`
	Since int64  `json:"since"` // Unix milliseconds by the cluster's clock
}

const (
	planKey    = "plan"
	inRegister = "register "
	// mostCondemned bounds the plan; what is left is condemned by the next run.
	mostCondemned = 5000
)

func (x *Indexes) plan(ctx context.Context) (p plan, err error) {
	_, err = x.state(ctx, planKey, &p)
	return p, err
}

func (p *plan) names() map[string]bool {
	m := map[string]bool{}
	for _, c := range p.Condemned {
		m[c.Name] = true
	}
	return m
}

// Collected is what a run of Collect has deleted, or would delete.
type Collected struct {
	Files     []kb.Deleted // registers are not counted
	Documents int64        // of segments that are deleted
	Chunks    int64
	Waiting   int       // files that nothing needs and whose time has not come
	Next      time.Time // when the first of those may go
}

// Collect deletes what no head has named for an hour at least, and condemns what none names
// any more; with dry it only says what it would delete. Busy when another machine
// collects at this moment.
func (x *Indexes) Collect(ctx context.Context, dry bool, age time.Duration) (Collected, error) {
	age = max(age, grace)
	if err := x.defineFiles(ctx); err != nil {
		return Collected{}, err
	}
	p, err := x.plan(ctx)
	if err != nil {
		return Collected{}, err
	}
	u, err := x.used(ctx)
	if err != nil {
		return Collected{}, err
	}
	now := x.now()
	next, sizes, err := x.condemn(ctx, &p, u, now)
	if err != nil {
		return Collected{}, err
	}
	var out Collected
	var due []condemned
	for _, c := range next.Condemned {
		at := time.UnixMilli(c.Since).Add(age)
		switch {
		case !at.After(now) && !u.held[c.Name]:
			due = append(due, c)
		case strings.HasPrefix(c.Name, inRegister):
		default:
			out.Waiting++
			if out.Next.IsZero() || at.Before(out.Next) {
				out.Next = at
			}
		}
	}
	if dry {
		return x.weighed(ctx, out, due, sizes)
	}
	if len(next.Condemned) == 0 && len(p.Condemned) == 0 && len(u.ended) == 0 {
		return out, nil
	}
	if err := x.replace(ctx, &p, &next); err != nil {
		return out, err
	}
	if err := x.free(ctx, u, next.names()); err != nil {
		return out, err
	}
	if due, err = x.useless(ctx, due); err != nil {
		return out, err
	}
	if out, err = x.weighed(ctx, out, due, sizes); err != nil || len(due) == 0 {
		return out, err
	}
	// A node that misses a deletion gives what was deleted back to the others: nothing counts
	// as deleted unless all were there before and after.
	if err := x.everyNode(ctx); err != nil {
		return out, err
	}
	if err := x.deleteAll(ctx, due, next.Round); err != nil {
		return out, err
	}
	if err := x.everyNode(ctx); err != nil {
		return out, err
	}
	last := next
	last.Condemned = slices.DeleteFunc(slices.Clone(next.Condemned), func(c condemned) bool { return slices.Contains(due, c) })
	if err := x.replace(ctx, &next, &last); kb.CodeOf(err) != kb.Busy { // who was faster deletes it once more
		return out, err
	}
	return out, nil
}

// everyNode fails, Away, when a node of the cluster is.
func (x *Indexes) everyNode(ctx context.Context) error {
	all, healthy, err := x.Client.Nodes(ctx)
	if err != nil || healthy == all {
		return err
	}
	return kb.Errorf(kb.Away, "%d of the %d nodes of the cluster are away, and would bring back what is deleted meanwhile", all-healthy, all).
		WithHint("nothing is lost by waiting; when all are healthy: knowledge gc")
}

// useless returns what of due nothing needs now, after the plan shows.
func (x *Indexes) useless(ctx context.Context, due []condemned) (out []condemned, err error) {
	u, err := x.used(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range due {
		needed, err := x.needs(ctx, u, c.Name)
		if err != nil {
			return nil, err
		}
		if !needed && !u.held[c.Name] {
			out = append(out, c)
		}
	}
	return out, nil
}

// deleteAll deletes what is due in an epoch.
func (x *Indexes) deleteAll(ctx context.Context, due []condemned, epoch int64) error {
	var registers []string
	for _, c := range due {
		if reg, ok := strings.CutPrefix(c.Name, inRegister); ok {
			registers = append(registers, reg)
		} else if err := x.delete(ctx, c.Name, epoch); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(registers, 500) {
		if err := x.Client.Delete(ctx, headClass, weaviate.Any("name", some)); err != nil {
			return err
		}
	}
	return nil
}

// replace swaps the plan.
func (x *Indexes) replace(ctx context.Context, from, to *plan) error {
	to.Round, to.Writer = from.Round+1, rand.Text()
	won, err := x.settle(ctx, planKey, to.stamp, to)
	if err == nil && !won {
		err = busy()
	}
	return err
}

// free gives back the slots that have ended, as far as all that they named is in the plan
// or needed otherwise.
func (x *Indexes) free(ctx context.Context, u *use, condemned map[string]bool) error {
	for i := range u.ended {
		s := &u.ended[i]
		if slices.ContainsFunc(s.Needs, func(name string) bool { return !condemned[name] && !u.named[name] && !u.held[name] }) {
			continue
		}
		if _, err := x.change(ctx, s, slot{}); err != nil {
			return err
		}
	}
	return nil
}

func busy() *kb.Error {
	return kb.Errorf(kb.Busy, "another machine deletes from the cluster at this moment").WithHint("nothing is lost by waiting: knowledge gc")
}

// condemn returns the plan that follows on p, and the sizes of files in it.
func (x *Indexes) condemn(ctx context.Context, p *plan, u *use, now time.Time) (next plan, sizes map[string]int64, err error) {
	since, sizes := map[string]int64{}, map[string]int64{}
	for _, c := range p.Condemned {
		if needed, err := x.needs(ctx, u, c.Name); err != nil {
			return next, nil, err
		} else if !needed {
			since[c.Name] = c.Since
		}
	}
	found := slices.Clone(u.left)
	pieces, err := x.pieces(ctx)
	if err != nil {
		return next, nil, err
	}
	for _, f := range pieces {
		found, sizes[f.Name] = append(found, f.Name), int64(f.Size)
	}
	registers, err := x.registers(ctx)
	if err != nil {
		return next, nil, err
	}
	for _, name := range append(found, registers...) {
		if _, ok := since[name]; ok || u.held[name] || len(since) >= mostCondemned {
			continue
		}
		if needed, err := x.needs(ctx, u, name); err != nil {
			return next, nil, err
		} else if !needed {
			since[name] = now.UnixMilli()
		}
	}
	for name, t := range since {
		next.Condemned = append(next.Condemned, condemned{name, t})
	}
	slices.SortFunc(next.Condemned, func(a, b condemned) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.Name, b.Name))
	})
	return next, sizes, nil
}

// registers lists the registers, with the prefix of their names in a plan.
func (x *Indexes) registers(ctx context.Context) (out []string, err error) {
	if err := x.defineRegisters(ctx); err != nil {
		return nil, err
	}
	type row struct {
		Name string
		At   at `json:"_additional"`
	}
	err = each(ctx, x.Client, headClass, []string{"name"}, func(r *row) string {
		out = append(out, inRegister+r.Name)
		return r.At.ID
	})
	return out, err
}

// stored returns the classes of chunks and documents that there are.
func (x *Indexes) stored(ctx context.Context) (chunks, documents []string, err error) {
	all, err := x.Client.Classes(ctx)
	for _, name := range all {
		switch {
		case strings.HasPrefix(name, chunkClass):
			chunks = append(chunks, name)
		case strings.HasPrefix(name, documentClass):
			documents = append(documents, name)
		}
	}
	return chunks, documents, err
}

// weighed adds to out what goes with due.
func (x *Indexes) weighed(ctx context.Context, out Collected, due []condemned, sizes map[string]int64) (Collected, error) {
	var segments []string
	for _, c := range due {
		segment, ok := segmentOf(c.Name)
		if _, there := sizes[c.Name]; !there && !ok { // a register, or what nobody came to write
			continue
		}
		out.Files = append(out.Files, kb.Deleted{Path: c.Name, Bytes: sizes[c.Name]})
		if ok {
			segments = append(segments, segment)
		}
	}
	chunks, documents, err := x.stored(ctx)
	if err != nil || len(segments) == 0 {
		return out, err
	}
	for n, in := range map[*int64][]string{&out.Chunks: chunks, &out.Documents: documents} {
		for _, class := range in {
			for some := range slices.Chunk(segments, 100) {
				where := weaviate.Any("seg", some)
				count, err := x.Client.Count(ctx, class, &where)
				if err != nil {
					return out, err
				}
				*n += count
			}
		}
	}
	return out, nil
}

// delete deletes a file, and the objects of a segment, that were written before an epoch.
func (x *Indexes) delete(ctx context.Context, name string, epoch int64) error {
	if segment, ok := segmentOf(name); ok {
		chunks, documents, err := x.stored(ctx)
		if err != nil {
			return err
		}
		for _, class := range append(chunks, documents...) {
			err := x.Client.Delete(ctx, class, weaviate.And(weaviate.Any("seg", []string{segment}), weaviate.Less("epoch", epoch)))
			if err != nil {
				return err
			}
		}
	}
	return x.Client.Delete(ctx, fileClass, weaviate.And(weaviate.Any("name", []string{name}), weaviate.Less("epoch", epoch)))
}

// Remove deletes a store from the cluster: nobody has it from then on, and what
// it consisted of goes an hour later. NotFound when it is not there.
func (x *Indexes) Remove(ctx context.Context, id kb.StoreID) error {
	h, err := x.Head(ctx, id)
	if err != nil {
		return err
	}
	if h == nil {
		return kb.Errorf(kb.NotFound, "store %s is not on the cluster", id).WithHint("list what is here: stores")
	}
	return x.Publish(ctx, &Head{Store: id, Name: h.Name, Gone: true}, h.Round)
}
