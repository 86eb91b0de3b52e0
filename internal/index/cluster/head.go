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
const (
	lease     = 5 * time.Second
	abandoned = 3 * lease
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
}

type register struct {
	Name string `json:"name"`
	Data string `json:"data"`
}

// write and read are those of one register.
func (x *Indexes) write(ctx context.Context, name, data string) error {
	no := false
	plain := weaviate.Property{Name: "data", DataType: []string{"text"}, Tokenization: "field", Filterable: &no, Searchable: &no}
	if err := x.define(ctx, headClass, false, text("name", false), plain); err != nil {
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
	data, err := x.read(ctx, "head "+string(id))
	if err != nil || data == "" {
		return nil, err
	}
	var h Head
	if err := json.Unmarshal([]byte(data), &h); err != nil || h.Store != id || h.Spec.ID() != id {
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
// otherwise. Its Round is set.
func (x *Indexes) Publish(ctx context.Context, h *Head, expect int64) error {
	ctx = weaviate.Patient(ctx)
	h.Round, h.Writer = expect+1, rand.Text()
	data, err := json.Marshal(h)
	if err != nil {
		return kb.Errorf(kb.Internal, "encode a head: %w", err)
	}
	for try := 0; ; try++ {
		now, err := x.Head(ctx, h.Store)
		if err != nil {
			return err
		}
		if now != nil && now.Round != expect || now == nil && expect != 0 {
			return overtaken(h)
		}
		won, err := x.publish(ctx, h, fmt.Sprintf("%s %d %d", h.Store, h.Round, try), string(data))
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

// publish goes through the registers of one try, and writes the head when it wins.
func (x *Indexes) publish(ctx context.Context, h *Head, try, data string) (won bool, err error) {
	began := time.Now()
	if err := x.write(ctx, "x "+try, h.Writer); err != nil {
		return false, err
	}
	if y, err := x.read(ctx, "y "+try); err != nil || y != "" {
		return false, err
	}
	if err := x.write(ctx, "y "+try, h.Writer); err != nil {
		return false, err
	}
	first, err := x.read(ctx, "x "+try)
	if err != nil || first != h.Writer {
		return false, err
	}
	if known, err := x.read(ctx, "name "+h.Name); err != nil {
		return false, err
	} else if known == "" {
		if err := x.write(ctx, "name "+h.Name, string(h.Store)); err != nil {
			return false, err
		}
	}
	left := lease - time.Since(began)
	if left <= 0 {
		return false, nil
	}
	brief, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	if err := x.write(brief, "head "+string(h.Store), data); err != nil {
		return false, err
	}
	now, err := x.Head(ctx, h.Store)
	if err == nil && (now == nil || now.Writer != h.Writer) {
		err = overtaken(h)
	}
	return err == nil, err
}

// await waits until somebody else has published, Busy then, or may be taken for dead.
func (x *Indexes) await(ctx context.Context, h *Head, expect int64) error {
	end := time.Now().Add(abandoned + time.Duration(mrand.Int64N(int64(lease))))
	for time.Now().Before(end) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200*time.Millisecond + time.Duration(mrand.Int64N(int64(300*time.Millisecond)))):
		}
		if now, err := x.Head(ctx, h.Store); err != nil {
			return err
		} else if now != nil && now.Round != expect {
			return overtaken(h)
		}
	}
	return nil
}
