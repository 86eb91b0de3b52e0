package app

import (
	"context"
	"errors"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// DeleteStore detaches a name; the index goes when no other name has it, or everywhere is set.
func (a *App) DeleteStore(ctx context.Context, store string, everywhere bool) (Deleted, error) {
	c, st, err := a.Lookup(ctx, store)
	if err != nil {
		return Deleted{}, err
	}
	if err := a.mayRemove(st); err != nil {
		return Deleted{}, err
	}
	p, err := a.Where()
	if err != nil {
		return Deleted{}, err
	}
	d := Deleted{Store: st.Label(), Note: a.Definitions().Still(a, st.Name)}
	everywhere = everywhere && a.member == nil
	holders, err := c.Catalog.Holders(ctx, st.ID)
	if err != nil {
		return d, err
	}
	if own, err := c.Catalog.Own(ctx, p.Root); err == nil && own.ID == st.ID && len(holders) == 1 {
		everywhere = true // the own folder: no name has it
	}
	// Its job is cancelled before: a store of the same source that is made
	// right after has a job of its own.
	var cancelled bool
	if everywhere || len(holders) <= 1 {
		j, ok, err := c.Jobs.Active(ctx, st.ID)
		if err == nil && ok {
			_, err = c.Jobs.Cancel(ctx, j.ID)
			cancelled = err == nil
		}
		if err == nil || kb.CodeOf(err) == kb.Invalid { // it has just ended
			err = c.Leaving(ctx, st.ID)
		}
		if err != nil {
			return d, err
		}
	}
	if everywhere {
		d.UsedBy = holders
		err = c.Catalog.Delete(ctx, st.ID)
	} else {
		d.UsedBy, err = a.detach(ctx, c, p.ID, store, st)
	}
	if err != nil {
		return d, err
	}
	if d.Removed = everywhere || len(d.UsedBy) == 0; !d.Removed {
		if cancelled { // it got a name meanwhile
			_, err = c.Submit(ctx, st, IndexArgs{})
		}
		return d, err
	}
	err = c.forget(ctx, st.ID)
	if kb.CodeOf(err) == kb.Busy { // the store is gone all the same, and cannot be deleted again
		d.Note = strings.TrimPrefix(d.Note+"; what it took is freed by the next command that writes, or now: knowledge gc", "; ")
		err = nil
	}
	return d, err
}

// forget drops what is kept beside the catalog of a store that is gone.
func (c *Core) forget(ctx context.Context, id kb.StoreID) (err error) {
	// One that is made again from the same source begins without a schedule.
	for _, r := range c.rooms {
		if r.Removed != nil {
			err = errors.Join(err, r.Removed(ctx, c, id))
		}
	}
	c.Library.Forget(id)
	return errors.Join(err, c.sweep(ctx, ""))
}

// DeleteShared deletes a store from the cluster, for every machine, and then everywhere on
// this one. Who may is who may write to the cluster; no member of a server does.
func (a *App) DeleteShared(ctx context.Context, store string) (Deleted, error) {
	if a.member != nil {
		return Deleted{}, kb.Errorf(kb.Denied, "members of a team's server delete no store from the cluster").WithHint("ask who runs the server")
	}
	c, st, err := a.Lookup(ctx, store)
	if err != nil {
		return Deleted{}, err
	}
	s, err := c.Shares()
	if err != nil {
		return Deleted{}, err
	}
	if st.Head == nil || st.Head.Shared == nil {
		return Deleted{}, kb.Errorf(kb.Invalid, "store %q is on this machine alone", st.Label()).WithHint("delete it without shared: knowledge store:delete %s", st.Label()).About("shared")
	}
	if err := s.Remove(ctx, c, st.ID); err != nil && kb.CodeOf(err) != kb.NotFound { // deleted there, not yet here
		return Deleted{}, err
	}
	d, err := a.DeleteStore(ctx, store, true)
	d.Note = strings.TrimPrefix(d.Note+"; it is gone from the cluster for every machine, and what it took there goes an hour from now at the earliest, with: knowledge gc", "; ")
	return d, err
}

// detach takes the store's name away from the project, else from the user,
// and returns who still holds it.
func (a *App) detach(ctx context.Context, c *Core, projectID, asked string, st kb.Store) (usedBy []string, err error) {
	for _, scope := range []string{projectID, ""} {
		if _, usedBy, err = c.Catalog.Detach(ctx, scope, st.Name); err == nil || kb.CodeOf(err) != kb.NotFound {
			return usedBy, err
		}
	}
	holders, e := c.Catalog.Holders(ctx, st.ID)
	if e != nil {
		return nil, e
	}
	if len(holders) == 0 { // another process has deleted it just now
		return nil, err
	}
	return nil, kb.Errorf(kb.Denied, "store %q is held by %s, not by this project", asked, strings.Join(holders, ", ")).
		WithHint("delete it there, or set everywhere to delete it for all of them")
}

// Leaving calls the rooms before a store goes.
func (c *Core) Leaving(ctx context.Context, id kb.StoreID) error {
	for _, r := range c.rooms {
		if r.Leaving != nil {
			if err := r.Leaving(ctx, c, id); err != nil {
				return err
			}
		}
	}
	return nil
}
