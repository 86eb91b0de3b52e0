package app

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Sharing keeps stores on a cluster, where several machines use them.
type Sharing struct {
	// Indexes opens what is on the cluster as well as what local has. It asks no
	// cluster before something of one is wanted.
	Indexes func(c *Core, local kb.Indexes) kb.Indexes
	// Check refuses where no cluster is set.
	Check func(*Core) error
	// Adopt makes the store known here, as name, that was shared under a name; it
	// reports whether there is one.
	Adopt func(ctx context.Context, c *Core, project, name, shared string) (kb.Store, bool, error)
	// Renew returns the store with the head that is live on the cluster, and what a
	// reader should know.
	Renew func(ctx context.Context, c *Core, st kb.Store, now bool) (kb.Store, string, error)
	// Stage brings the files of a store here whole.
	Stage func(ctx context.Context, c *Core, st kb.Store) error
	// Publish puts the live generation on the cluster; Busy when another machine
	// has published one meanwhile.
	Publish func(ctx context.Context, c *Core, st kb.Store) error
	// Remove deletes a store from the cluster, for every machine.
	Remove func(ctx context.Context, c *Core, id kb.StoreID) error
	// Collect deletes what of the stores of this and other machines nothing needs any
	// more, or with dry says what it would delete, and what else there is to say. It
	// does nothing on a machine that has put nothing on the cluster.
	Collect func(ctx context.Context, c *Core, dry bool) (files []kb.Deleted, note string, err error)
	// Lend puts what a room has derived from a shared store beside it, under a name
	// that says what it was derived from. Borrow hands save what lies there of a kind,
	// and its name, unless there is nothing or that of the name have; it reports whether there is.
	Lend   func(ctx context.Context, c *Core, id kb.StoreID, kind, name string, raw []byte) error
	Borrow func(ctx context.Context, c *Core, id kb.StoreID, kind, have string, save func(name string, raw []byte) error) (bool, error)
}

// sharing returns who shares stores, nil where no room does.
func (c *Core) sharing() *Sharing {
	for _, r := range c.rooms {
		if r.Sharing != nil {
			return r.Sharing
		}
	}
	return nil
}

// Shares returns who shares stores; it refuses where none can.
func (c *Core) Shares() (*Sharing, error) {
	s := c.sharing()
	if s == nil {
		return nil, kb.Errorf(kb.Unsupported, "this program shares no stores")
	}
	return s, s.Check(c)
}

// published tells the rooms that a store is on the cluster as it is now. What fails
// there takes nothing from it, and stands in the details of the job.
func (c *Core) published(ctx context.Context, id kb.StoreID, details map[string]any) {
	st, err := c.Catalog.Get(ctx, id)
	for _, r := range c.rooms {
		if r.Shared != nil && err == nil {
			err = r.Shared(ctx, c, st)
		}
	}
	if err != nil && details != nil {
		details["beside"] = err.Error()
	}
}

// renewed returns the stores with the heads that are live on the cluster, and what
// is to be said of those that it was not asked about.
func (c *Core) renewed(ctx context.Context, stores []kb.Store) ([]kb.Store, []string) {
	var notes []string
	s := c.sharing()
	copied := false
	for i, st := range stores {
		if st.Head == nil || st.Head.Shared == nil || s == nil {
			continue
		}
		if !copied {
			stores, copied = slices.Clone(stores), true
		}
		now, note, err := s.Renew(ctx, c, st, false)
		if err != nil {
			note = err.Error()
		} else {
			stores[i] = now
		}
		if note != "" && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	return stores, notes
}

// sharedScheme begins the source of a store that another machine has shared.
const sharedScheme = "shared:"

// mayShare refuses where no cluster is set. What goes to other machines a person
// says: who can make an agent share a store has its texts.
func (a *App) mayShare(ctx context.Context, agent bool) error {
	if agent {
		return kb.Errorf(kb.Denied, "only a person at a terminal can share a store with other machines").
			WithHint("ask your user to run: knowledge store:create NAME SOURCE --shared").About("shared")
	}
	c, err := a.Open(ctx)
	if err == nil {
		_, err = c.Shares()
	}
	return err
}

// adoptShared makes the store of the cluster known here that was shared under name.
func (a *App) adoptShared(ctx context.Context, r CreateStore, name string) (Started, error) {
	if a.member != nil {
		return Started{}, kb.Errorf(kb.Denied, "members of a team's server take no store from the cluster").
			WithHint("ask who runs the server to run there: knowledge store:create shared:%s", name)
	}
	c, err := a.Open(ctx)
	if err != nil {
		return Started{}, err
	}
	s, err := c.Shares()
	if err != nil {
		return Started{}, err
	}
	p, err := a.Where()
	if err != nil {
		return Started{}, err
	}
	project := p.ID
	if r.User {
		project = ""
	}
	if project != "" {
		if err := c.Catalog.NoteProject(ctx, project, p.Root); err != nil {
			return Started{}, err
		}
	}
	as := cmp.Or(r.Name, name)
	st, found, err := s.Adopt(ctx, c, project, as, name)
	if err != nil {
		return Started{}, err
	}
	if !found {
		return Started{}, kb.Errorf(kb.NotFound, "no machine has shared a store named %q", name).
			WithHint("on the machine that has its source, share it with: knowledge store:create %s SOURCE --shared", name).About("source")
	}
	out := Started{Store: as, ID: string(st.ID), Status: string(kb.JobCompleted),
		Note: "another machine has indexed it: it can be searched at once"}
	for _, room := range c.rooms {
		if room.Adopted == nil {
			continue
		}
		if err := room.Adopted(ctx, c, st); err != nil {
			out.Note += "; " + err.Error()
		}
	}
	return out, nil
}

// indexShared is indexStore, and puts on the cluster what belongs there. Where
// another machine was faster, the run is made again on top of what that has
// published.
func (c *Core) indexShared(ctx context.Context, j kb.Job, args IndexArgs) (msg string, details map[string]any, err error) {
	s := c.sharing()
	for range maxPasses {
		st, e := c.Catalog.Get(ctx, j.Store)
		if e != nil {
			return "", nil, e
		}
		if st.Head != nil && st.Head.Shared != nil && s != nil {
			if st, _, e = s.Renew(ctx, c, st, true); e == nil && st.Head.Afar() {
				e = s.Stage(ctx, c, st)
			}
			if e != nil {
				return "", nil, e
			}
		}
		msg, details, err = c.indexStore(ctx, j, args)
		if err != nil || s == nil {
			return msg, details, err
		}
		if st, err = c.Catalog.Get(ctx, j.Store); err != nil || st.Head == nil || st.Head.Shared == nil && !args.Shared {
			return msg, details, err
		}
		if err = s.Publish(ctx, c, st); err == nil {
			c.published(ctx, st.ID, details)
		}
		if kb.CodeOf(err) != kb.Busy {
			break
		}
		args.Shared, args.Force = true, false
	}
	return msg, details, err
}

// MoveArgs are the arguments of a job that moves a store.
type MoveArgs struct {
	Shared bool `json:"shared"`
}

// RunMove is the handler of jobs that move a store to the cluster or back. What
// was moved before it died is not moved again.
func (c *Core) RunMove(ctx context.Context, j kb.Job, raw json.RawMessage) (string, map[string]any, error) {
	var args MoveArgs
	if err := json.Unmarshal(raw, &args); err != nil {
		return "", nil, kb.Errorf(kb.Invalid, "the job's arguments do not parse: %w", err)
	}
	s, err := c.Shares()
	if err != nil {
		return "", nil, err
	}
	st, err := c.Catalog.Get(ctx, j.Store)
	if err != nil {
		return "", nil, err
	}
	if st.Head == nil || st.Head.Partial {
		return "", nil, kb.Errorf(kb.Busy, "store %s is not indexed yet", st.Label()).WithHint("index it first: store:index %s", Args{"store": string(st.ID)})
	}
	if args.Shared {
		details := map[string]any{}
		if err = s.Publish(ctx, c, st); err == nil {
			c.published(ctx, st.ID, details)
		}
		return "it is on the cluster", details, err
	}
	if st.Head.Shared == nil {
		return "it is on this machine", nil, nil
	}
	if st, _, err = s.Renew(ctx, c, st, true); err != nil {
		return "", nil, err
	}
	if st.Head.Afar() {
		if err := s.Stage(ctx, c, st); err != nil {
			return "", nil, err
		}
	}
	head := *st.Head
	head.Shared = nil
	c.Library.Forget(st.ID)
	return "it is on this machine alone; other machines keep what is on the cluster", nil, c.Catalog.Rehead(ctx, st.ID, head)
}
