package cluster

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	mrand "math/rand/v2"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate"
)

// The head of a store says which manifest is live. Several machines may want to
// move it at once, and the cluster cannot compare and set. What it can is read and
// write one object at QUORUM, so that who reads after a write has ended sees it.
// That is enough to let at most one through: each round of a store has two
// registers x and y, and who wants to publish
//
//	writes x, finds y empty, writes y, and reads x again.
//
// Who reads its own name in x has won, all others go back (Moir and Anderson, "Wait-free
// algorithms for fast, long-lived renaming", 1995). Two cannot win: the one that
// wrote x first would have to read it before the other wrote it, and has written y by
// then. Clocks play no part in that, and a write that the cluster orders wrongly makes
// somebody lose, never win.
//
// A winner may die before it publishes. The round is then tried again, with fresh
// registers, after abandoned; a winner that is slower than lease gives up by
// itself. So the one thing that is trusted to time is that a request which a
// winner has sent within its lease arrives before the others' patience ends. If not,
// the later of two complete generations is live, and the next index run of
// the other machine brings in what it lacks: nothing is torn.
//
// The same registers order all else that several machines may change: a key has a
// state, which counts its rounds. Keys are the ids of stores, whose states are heads,
// and those of sweep.go.
const (
	lease     = 5 * time.Second
	abandoned = 3 // leases
)

// Head is what is live of a store, as the cluster keeps it.
type Head struct {
	Store       kb.StoreID `json:"store"`
	Name        string     `json:"name"`
	Description string     `json:"description,omitempty"`
	Spec        kb.Spec    `json:"spec"`
	Head        kb.Head    `json:"head"`
	Round       int64      `json:"round"` // counts publications from 1
	Writer      string     `json:"writer"`
	Gone        bool       `json:"gone,omitempty"` // the store was deleted: it has nothing else
}

type register struct {
	Name string `json:"name"`
	Data string `json:"data"`
}

func (x *Indexes) defineRegisters(ctx context.Context) error {
	no := false
	plain := weaviate.Property{Name: "data", DataType: []string{"text"}, Tokenization: "field", Filterable: &no, Searchable: &no}
	return x.define(ctx, headClass, false, text("name", false), plain)
}

// write and read are those of one register.
func (x *Indexes) write(ctx context.Context, name, data string) error {
	if err := x.defineRegisters(ctx); err != nil {
		return err
	}
	o, err := objectOf(headClass, weaviate.ID("register "+name), register{name, data})
	if err != nil {
		return err
	}
	return x.Client.PutOne(ctx, o)
}

func (x *Indexes) read(ctx context.Context, name string) (string, error) {
	var r register
	_, err := x.Client.Object(ctx, headClass, weaviate.ID("register "+name), &r)
	if kb.CodeOf(err) == kb.NotFound && err != nil {
		err = nil // there is no class yet
	}
	return r.Data, err
}

// Head returns the live head of a store, nil when the cluster has none.
func (x *Indexes) Head(ctx context.Context, id kb.StoreID) (*Head, error) {
	h, err := x.anyHead(ctx, id)
	if err != nil || h == nil || h.Gone {
		return nil, err
	}
	return h, nil
}

// Deleted reports whether a store was on the cluster and was deleted there.
func (x *Indexes) Deleted(ctx context.Context, id kb.StoreID) (bool, error) {
	h, err := x.anyHead(ctx, id)
	return err == nil && h != nil && h.Gone, err
}

// anyHead is Head, with what a deleted store has.
func (x *Indexes) anyHead(ctx context.Context, id kb.StoreID) (*Head, error) {
	var h Head
	ok, err := x.state(ctx, string(id), &h)
	if kb.CodeOf(err) != kb.Corrupt && (err != nil || !ok) {
		return nil, err
	}
	if err != nil || h.Store != id || !h.Gone && h.Spec.ID() != id {
		return nil, kb.Errorf(kb.Corrupt, "the head of shared store %s is damaged", id).WithHint("publish it again from a machine that has it")
	}
	return &h, nil
}

// Named returns the live head of the store that was first shared under a name.
func (x *Indexes) Named(ctx context.Context, name string) (*Head, error) {
	id, err := x.read(ctx, "name "+name)
	if err != nil || id == "" {
		return nil, err
	}
	return x.Head(ctx, kb.StoreID(id))
}

// Publish makes h live if the store's round is still expect, 0 for none yet; Busy
// otherwise. Its Round is set. A store that was deleted begins after the round in
// which it was.
func (x *Indexes) Publish(ctx context.Context, h *Head, expect int64) error {
	ctx = weaviate.Patient(ctx)
	h.Writer = rand.Text()
	for try := 0; ; try++ {
		now, err := x.anyHead(ctx, h.Store)
		if err != nil {
			return err
		}
		if now != nil && now.Gone && expect == 0 {
			expect = now.Round
		}
		if now != nil && now.Round != expect || now == nil && expect != 0 {
			return overtaken(h)
		}
		if now == nil || now.Gone && !h.Gone {
			if err := x.enter(ctx, h.Store); err != nil {
				return err
			}
		}
		h.Round = expect + 1
		won, err := x.swap(ctx, string(h.Store), h.Round, try, h.Writer, h, func() error { return x.called(ctx, h) })
		if err != nil || won {
			return err
		}
		if err := x.await(ctx, h, expect); err != nil {
			return err
		}
	}
}

func overtaken(h *Head) error {
	return kb.Errorf(kb.Busy, "another machine has published shared store %s meanwhile", h.Name).
		WithHint("index it again, on top of what is there now: store:index %s", fmt.Sprintf(`{"store":%q}`, h.Name))
}

// called sees to it that a store has its name, unless another has it.
func (x *Indexes) called(ctx context.Context, h *Head) error {
	id, err := x.read(ctx, "name "+h.Name)
	if err != nil {
		return err
	}
	if h.Gone {
		if id != string(h.Store) {
			return nil
		}
		return x.write(ctx, "name "+h.Name, "")
	}
	if id != "" {
		if has, err := x.Head(ctx, kb.StoreID(id)); err != nil || has != nil || id == string(h.Store) {
			return err
		}
	}
	return x.write(ctx, "name "+h.Name, string(h.Store))
}

// stamp is what every state of a key says of itself.
type stamp struct {
	Round  int64  `json:"round"` // counts its states from 1
	Writer string `json:"writer"`
}

// state decodes the state of a key, and reports whether it has one.
func (x *Indexes) state(ctx context.Context, key string, into any) (bool, error) {
	data, err := x.read(ctx, "head "+key)
	if err != nil || data == "" {
		return false, err
	}
	if err := json.Unmarshal([]byte(data), into); err != nil {
		return false, kb.Errorf(kb.Corrupt, "the register %q of the shared stores does not parse", key).WithHint("publish what it belongs to again")
	}
	return true, nil
}

// swap makes v, whose stamp is round and writer, the state of a key in place of that of
// the round before, and reports whether it has: of several that try so at once at
// most one has. before is called when it has won and before that shows.
func (x *Indexes) swap(ctx context.Context, key string, round int64, try int, writer string, v any, before func() error) (bool, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return false, kb.Errorf(kb.Internal, "encode a register: %w", err)
	}
	began := x.wall()
	if won, err := x.claim(ctx, fmt.Sprintf("%s %d %d", key, round, try), writer); err != nil || !won {
		return false, err
	}
	if before != nil {
		if err := before(); err != nil {
			return false, err
		}
	}
	// The registers of rounds that are long over are deleted, so that who comes
	// very late wins one again: what is there by now tells.
	var now stamp
	if _, err := x.state(ctx, key, &now); err != nil || now.Round != round-1 {
		return false, err
	}
	left := x.lease - x.wall().Sub(began)
	if left <= 0 {
		return false, nil
	}
	brief, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	if err := x.write(brief, "head "+key, string(data)); err != nil {
		return false, err
	}
	_, err = x.state(ctx, key, &now)
	return err == nil && now.Writer == writer, err
}

// claim goes through the registers of one try, and reports whether it has won.
func (x *Indexes) claim(ctx context.Context, try, writer string) (bool, error) {
	if err := x.write(ctx, "x "+try, writer); err != nil {
		return false, err
	}
	if y, err := x.read(ctx, "y "+try); err != nil || y != "" {
		return false, err
	}
	if err := x.write(ctx, "y "+try, writer); err != nil {
		return false, err
	}
	first, err := x.read(ctx, "x "+try)
	return err == nil && first == writer, err
}

// await waits until somebody else has published, Busy then, or may be taken for dead.
func (x *Indexes) await(ctx context.Context, h *Head, expect int64) error {
	end := time.Now().Add(abandoned*x.lease + time.Duration(mrand.Int64N(int64(x.lease))))
	for time.Now().Before(end) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200*time.Millisecond + time.Duration(mrand.Int64N(int64(300*time.Millisecond)))):
		}
		if now, err := x.anyHead(ctx, h.Store); err != nil {
			return err
		} else if now != nil && now.Round != expect {
			return overtaken(h)
		}
	}
	return nil
}
