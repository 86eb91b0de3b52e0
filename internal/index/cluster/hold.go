package cluster

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate"
)

// A slot says what somebody needs who does not say it by a head: a machine that is about
// to publish, or to fetch a generation whole, has one with the names of the
// files. Stores have one each, since a list that one copy of the cluster gives need not be
// whole, and what is asked for by its id is. Slots are numbered from 0, without a
// gap: who wants a new one tries the first that nobody has tried.
type slot struct {
	stamp
	Store kb.StoreID `json:"store,omitempty"` // that has a head, or is about to
	Needs []string   `json:"needs,omitempty"` // the files of a hold
	Since int64      `json:"since"`           // Unix milliseconds by the cluster's clock

	n int // its number
}

func (s *slot) key() string { return fmt.Sprintf("slot %d", s.n) }

func (s *slot) free() bool { return s.Store == "" && s.Needs == nil }

const (
	// holds is how long a hold lasts that is not renewed: its machine has died.
	holds = 24 * time.Hour
	// renews is after how long the machine renews it.
	renews = time.Hour
	// mostSlots bounds how many slots are looked through.
	mostSlots = 20_000
)

// slots returns all slots. One that nobody has won, since who tried it died, has round 0.
func (x *Indexes) slots(ctx context.Context) (out []slot, err error) {
	for n := range mostSlots {
		s := slot{n: n}
		ok, err := x.state(ctx, s.key(), &s)
		if err != nil {
			return nil, err
		}
		if !ok {
			tried, err := x.read(ctx, "x "+s.key()+" 1 0")
			if err != nil {
				return nil, err
			}
			if tried == "" {
				return out, nil
			}
		}
		out = append(out, s)
	}
	return nil, kb.Errorf(kb.Unsupported, "the cluster has more than %d shared stores and holds of machines", mostSlots)
}

// take makes s a slot: one that is free, else a new one.
func (x *Indexes) take(ctx context.Context, s *slot) error {
	all, err := x.slots(ctx)
	if err != nil {
		return err
	}
	for n := range len(all) + 100 {
		s.n, s.Round, s.Writer, s.Since = n, 1, rand.Text(), x.now().UnixMilli()
		if n < len(all) {
			if !all[n].free() || all[n].Round == 0 {
				continue
			}
			s.Round = all[n].Round + 1
		}
		if won, err := x.swap(ctx, s.key(), s.Round, 0, s.Writer, s, nil); err != nil || won {
			return err
		}
	}
	return kb.Errorf(kb.Busy, "too many machines write to the shared stores at once").WithHint("try again in a moment")
}

// settle makes v the state of a key, unless the key has come to another round, and reports
// whether it has. Of machines that died between the registers tries stay taken: they are
// passed over when the lease of the last is over.
func (x *Indexes) settle(ctx context.Context, key string, s stamp, v any) (bool, error) {
	for try, waits := 0, 0; waits < 5; waits++ {
		passed := false
		for ; ; try++ {
			y, err := x.read(ctx, fmt.Sprintf("y %s %d %d", key, s.Round, try))
			if err != nil {
				return false, err
			}
			if y == "" {
				break
			}
			passed = true
		}
		if !passed {
			won, err := x.swap(ctx, key, s.Round, try, s.Writer, v, nil)
			if err != nil || won {
				return won, err
			}
		}
		var now stamp
		if _, err := x.state(ctx, key, &now); err != nil || now.Round != s.Round-1 {
			return false, err
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(x.lease):
		}
	}
	return false, nil
}

// change makes next the state of a slot that s still is, and reports whether it has.
func (x *Indexes) change(ctx context.Context, s *slot, next slot) (bool, error) {
	next.n, next.Round, next.Writer = s.n, s.Round+1, rand.Text()
	won, err := x.settle(ctx, s.key(), next.stamp, &next)
	if won {
		*s = next
	}
	return won, err
}

// enter sees to it that a store has a slot that is not given back soon: before it has a
// head for the first time, or again.
func (x *Indexes) enter(ctx context.Context, id kb.StoreID) error {
	all, err := x.slots(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		s := &all[i]
		if s.Store != id {
			continue
		}
		if won, err := x.change(ctx, s, slot{Store: id, Since: x.now().UnixMilli()}); err != nil || won {
			return err
		}
	}
	return x.take(ctx, &slot{Store: id})
}

// hold keeps files from being deleted which no head names yet.
type hold struct {
	x         *Indexes
	slot      slot
	epoch     int64
	condemned map[string]bool
}

// holding calls f while files are held.
func (x *Indexes) holding(ctx context.Context, needs []string, f func(*hold) error) error {
	ctx = weaviate.Patient(ctx)
	if err := x.defineFiles(ctx); err != nil {
		return err
	}
	h := &hold{x: x, slot: slot{Needs: needs}}
	if err := x.take(ctx, &h.slot); err != nil {
		return err
	}
	// What is condemned is looked at when the hold shows: a collection that looked
	// for holds before has condemned by then what it is going to delete.
	p, err := x.plan(ctx)
	if err != nil {
		return err
	}
	h.epoch, h.condemned = p.Round, p.names()
	if err := f(h); err != nil {
		return err // what it has begun stays for who tries again, until the hold ends by itself
	}
	done, cancel := context.WithTimeout(context.WithoutCancel(ctx), x.lease)
	defer cancel()
	_, _ = x.change(done, &h.slot, slot{}) // one that is not given back ends by itself
	return nil
}

// has reports whether a file is on the cluster and is going to stay.
func (h *hold) has(ctx context.Context, name string) (bool, error) {
	if h.condemned[name] {
		return false, nil // some of it may be gone already
	}
	p, err := h.x.head(ctx, name)
	return p != nil, err
}

// keep renews the hold when it is time. It is to be called more often than that.
func (h *hold) keep(ctx context.Context) error {
	if h.x.now().UnixMilli()-h.slot.Since < renews.Milliseconds() {
		return nil
	}
	if err := h.check(ctx); err != nil {
		return err
	}
	next := h.slot
	next.Since = h.x.now().UnixMilli()
	if won, err := h.x.change(ctx, &h.slot, next); err != nil || !won {
		return lost(err)
	}
	return nil
}

// check refuses to go on when the hold has ended or is about to.
func (h *hold) check(ctx context.Context) error {
	var now stamp
	_, err := h.x.state(ctx, h.slot.key(), &now)
	if err != nil || now.Writer != h.slot.Writer || h.x.now().UnixMilli()-h.slot.Since > holds.Milliseconds()/2 {
		return lost(err)
	}
	return nil
}

func lost(err error) error {
	if err != nil {
		return err
	}
	return kb.Errorf(kb.Busy, "what this machine had begun to put on the cluster was given up meanwhile: it took more than half a day").
		WithHint("do it again; what is there is not sent again")
}
