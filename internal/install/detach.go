package install

import (
	"context"
	"os"
	"path/filepath"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Detached is what became of a project's stores.
type Detached struct {
	Removed     []string `json:"removed"`        // stores whose index went
	Kept        []string `json:"kept,omitempty"` // that others use as well
	Definitions string   `json:"definitions,omitempty"`
	Note        string   `json:"note"`
}

// DetachProject takes every store away from this project, its own folder's
// index too; an index goes when nothing else uses it. The project's file of
// definitions stays when keep is set, so that stores:sync brings all back.
func DetachProject(ctx context.Context, a *app.App, keep bool) (Detached, error) {
	d := Detached{Removed: []string{}}
	p, err := a.Where()
	if err != nil {
		return d, err
	}
	c, err := a.Open(ctx)
	if err != nil {
		return d, err
	}
	entries, err := a.Scope(ctx, c, false)
	if err != nil {
		return d, err
	}
	for _, e := range entries {
		if e.Scope == catalog.ScopeUser {
			continue // not this project's
		}
		name := e.Name
		if name == "" || e.Scope == catalog.ScopeOwn {
			name = string(e.ID)
		}
		gone, err := a.DeleteStore(ctx, name, false)
		if err != nil {
			return d, err
		}
		if gone.Removed {
			d.Removed = append(d.Removed, gone.Store)
		} else {
			d.Kept = append(d.Kept, gone.Store)
		}
	}
	d.Note = "this project has no stores now; what is indexed of sources that others use stays"
	file := definitionsOf(a, p.Root)
	if file == "" {
		return d, nil
	}
	if keep {
		d.Definitions = "kept: " + a.Definitions().File
		d.Note += `; stores:sync makes those of the definitions again`
		return d, nil
	}
	if err := os.Remove(file); err != nil {
		return d, kb.Errorf(kb.Denied, "%q cannot be removed: %w", file, err).WithHint("check its permissions")
	}
	_ = os.Remove(filepath.Dir(file)) // when nothing else is in it
	d.Definitions = "removed: " + a.Definitions().File
	return d, nil
}

// definitionsOf returns the file of definitions of the project at root, "" where
// there is none.
func definitionsOf(a *app.App, root string) string {
	name := a.Definitions().File
	if root == "" || name == "" {
		return ""
	}
	file := filepath.Join(root, filepath.FromSlash(name))
	if _, err := os.Lstat(file); err != nil {
		return ""
	}
	return file
}
