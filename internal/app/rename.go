package app

import (
	"context"
	"errors"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// RenameStore gives the store that a name or id means another name in this
// project, and in its definitions where they name it. Nothing else of it changes.
func (a *App) RenameStore(ctx context.Context, store, name string) (Renamed, error) {
	if err := catalog.CheckName(name); err != nil {
		return Renamed{}, err
	}
	c, st, err := a.Lookup(ctx, store)
	if err != nil {
		return Renamed{}, err
	}
	if err := a.mayRemove(st); err != nil {
		return Renamed{}, err
	}
	p, err := a.Where()
	if err != nil {
		return Renamed{}, err
	}
	entries, err := c.Catalog.List(ctx, p.ID)
	if err != nil {
		return Renamed{}, err
	}
	switch i := slices.IndexFunc(entries, func(e catalog.Entry) bool { return e.ID == st.ID && e.Name == st.Name }); {
	case st.Name == "" || i < 0:
		return Renamed{}, kb.Errorf(kb.NotFound, "store %q has no name in this project that could be changed", store).
			WithHint("give it one with: store:create %s", Args{"name": name, "source": st.Spec.Source})
	case entries[i].Scope != catalog.ScopeProject:
		return Renamed{}, kb.Errorf(kb.Denied, "store %q is yours in every project, and a project does not rename it", store).
			WithHint("give it a name here with: store:create %s", Args{"name": name, "source": st.Spec.Source})
	case st.Name == name:
		return Renamed{Store: name, Was: name, ID: string(st.ID), Note: "it is called so already"}, nil
	}
	if _, err := c.Catalog.Rename(ctx, p.ID, st.Name, name); err != nil {
		return Renamed{}, err
	}
	r := Renamed{Store: name, Was: st.Name, ID: string(st.ID)}
	if !a.hasDefinitions(p.ID) {
		return r, nil
	}
	if r.Defined, err = a.Definitions().Rename(ctx, a, c, p, st.Name, name); err != nil {
		// Otherwise the next sync would make a store of the old name.
		_, undo := c.Catalog.Rename(context.WithoutCancel(ctx), p.ID, name, st.Name)
		return Renamed{}, errors.Join(err, undo)
	}
	return r, nil
}
