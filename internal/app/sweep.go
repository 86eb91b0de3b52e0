package app

import (
	"context"
	"errors"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// sweep deletes what no store and no job that may still run needs. done is a
// job that is ending.
func (c *Core) sweep(ctx context.Context, done string) error {
	if err := c.ReleaseEnded(ctx, done); err != nil {
		return err
	}
	err := c.Indexer.Sweep(ctx)
	for _, r := range c.rooms {
		if r.Sweep != nil {
			err = errors.Join(err, r.Sweep(ctx, c))
		}
	}
	return err
}

// ReleaseEnded gives up what jobs and transfers that have ended used. done is a
// job that is ending.
func (c *Core) ReleaseEnded(ctx context.Context, done string) error {
	users, err := c.Catalog.Users(ctx)
	if err != nil {
		return err
	}
	for _, id := range users {
		if slices.ContainsFunc(c.rooms, func(r Room) bool { return r.Uses != nil && r.Uses(c, id) }) {
			continue
		}
		j, err := c.Jobs.Get(ctx, id)
		if id == done || kb.CodeOf(err) == kb.NotFound && err != nil || err == nil && j.State.Ended() {
			err = c.Catalog.ReleaseUses(ctx, id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
