package command

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/app"
)

// Only leaves the table these commands, by name, and no resource: whatever
// dispatches, lists or explains commands knows no other. The table must be in use
// nowhere yet.
func (t *Table) Only(names ...string) *Table {
	t.all = slices.DeleteFunc(t.all, func(c Command) bool { return !slices.Contains(names, c.Name) })
	for i := range t.rooms {
		t.rooms[i].Resources = nil
	}
	return t
}

// Watch has every run of a command go through around, which calls run once, or
// answers itself. The table must be in use nowhere yet.
func (t *Table) Watch(around func(ctx context.Context, c Command, a *app.App, args json.RawMessage, run func() (any, error)) (any, error)) *Table {
	t.around = around
	return t
}
