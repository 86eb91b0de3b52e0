package cluster

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// use is what is needed on the cluster.
type use struct {
	heads  map[kb.StoreID]*Head
	rounds map[string]int64 // of keys that have a state
	named  map[string]bool  // files that heads name, or lie beside stores
	held   map[string]bool  // files of slots
	ended  []slot           // that can be given back
	left   []string         // the files of these
	open   map[kb.StoreID]bool
}

// used returns what is needed. Slots are read twice, and heads after them: who
// publishes enters the store, then holds no slot any more when its head shows.
func (x *Indexes) used(ctx context.Context) (*use, error) {
	u := &use{heads: map[kb.StoreID]*Head{}, rounds: map[string]int64{}, named: map[string]bool{}, held: map[string]bool{}, open: map[kb.StoreID]bool{}}
	slots, err := x.slots(ctx)
	if err != nil {
		return nil, err
	}
	ended := x.now().Add(-holds).UnixMilli()
	for _, s := range slots {
		switch {
		case s.Needs != nil && s.Since < ended:
			u.ended, u.left = append(u.ended, s), append(u.left, s.Needs...)
		case s.Needs != nil:
			for _, name := range s.Needs {
				u.held[name] = true
			}
		}
	}
	if slots, err = x.slots(ctx); err != nil {
		return nil, err
	}
	for _, s := range slots {
		u.rounds[s.key()] = s.Round
		if s.Store == "" {
			continue
		}
		u.open[s.Store] = true
		if err := x.usedBy(ctx, u, s, ended); err != nil {
			return nil, err
		}
	}
	p, err := x.plan(ctx)
	u.rounds[planKey] = p.Round
	return u, err
}

// usedBy adds what the head of a store names.
func (x *Indexes) usedBy(ctx context.Context, u *use, s slot, ended int64) error {
	if _, ok := u.heads[s.Store]; ok {
		return nil
	}
	h, err := x.anyHead(ctx, s.Store)
	if err != nil {
		return err
	}
	if h == nil || h.Gone {
		if s.Since < ended {
			u.ended = append(u.ended, s)
		}
		if h != nil {
			u.rounds[string(s.Store)] = h.Round
		}
		return nil
	}
	u.heads[s.Store], u.rounds[string(s.Store)] = h, h.Round
	p, err := x.head(ctx, h.Head.Manifest)
	if err != nil {
		return err
	}
	var needs []string
	if p == nil || json.Unmarshal([]byte(p.Needs), &needs) != nil || len(needs) == 0 {
		return kb.Errorf(kb.Corrupt, "what shared store %s needs cannot be told, so nothing is deleted on the cluster", h.Name).
			WithHint("publish it again from a machine that has it: store:index %s with force", s.Store)
	}
	u.named[h.Head.Manifest] = true
	for _, name := range needs {
		u.named[name] = true
	}
	return nil
}

// needs reports whether something is needed for good, or is not ours to judge.
func (x *Indexes) needs(ctx context.Context, u *use, name string) (bool, error) {
	reg, isRegister := strings.CutPrefix(name, inRegister)
	if !isRegister && !strings.HasPrefix(name, "lent ") {
		return u.named[name], nil
	}
	if id, kind, last, ok := lentOf(strings.TrimPrefix(name, inRegister)); ok {
		if u.heads[id] == nil {
			return false, nil
		}
		if isRegister || u.named[name] {
			return true, nil
		}
		now, err := x.Lent(ctx, id, kind)
		u.named[name] = now == last
		return now == last, err
	}
	// "x KEY ROUND TRY": of a round that is over it orders nothing any more.
	parts := strings.Split(reg, " ")
	if len(parts) < 4 || parts[0] != "x" && parts[0] != "y" {
		return true, nil
	}
	key := strings.Join(parts[1:len(parts)-2], " ")
	round, err := strconv.ParseInt(parts[len(parts)-2], 10, 64)
	if err != nil {
		return true, nil
	}
	state, known := u.rounds[key]
	if !known && strings.HasPrefix(key, "slot ") || key == planKey || u.open[kb.StoreID(key)] {
		known = true // before the first round
	}
	return known && round > state, nil
}
