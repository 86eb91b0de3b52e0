package install

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// onlyOurs takes from what is to go whatever in the data directory is someone
// else's: a person may have named a folder in use. In one without a database of
// ours, nothing is ours.
func (p *Purge) onlyOurs(dir string) {
	p.made = project.IsDatabase(filepath.Join(dir, project.Database)) || project.OwnIgnore(filepath.Join(dir, ".gitignore"))
	p.Items = slices.DeleteFunc(p.Items, func(i PurgeItem) bool {
		if !project.Within(dir, i.Path) {
			return false
		}
		if _, _, foreign := project.OursBelow(dir, i.Path); foreign || !p.made {
			p.Kept = append(p.Kept, i.Path)
		}
		return !p.made
	})
	for n := range p.Items {
		i := &p.Items[n]
		if !project.Within(dir, i.Path) {
			continue
		}
		files, _, _ := project.OursBelow(dir, i.Path)
		i.Files, i.Bytes = len(files), project.Weigh(files)
	}
	p.Items = slices.DeleteFunc(p.Items, func(i PurgeItem) bool { return i.Files == 0 && slices.Contains(p.Kept, i.Path) })
	slices.Sort(p.Kept)
	p.Kept = slices.Compact(p.Kept)
	if info, err := os.Lstat(dir); err == nil && info.Mode()&os.ModeSymlink != 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%s is a link; it stays, and the folder that it leads to, without what was ours in it", dir))
	}
}

// removeItem deletes an item of a purge, of a data directory what is ours of it.
func removeItem(dir, path string) error {
	if project.Within(dir, path) {
		return project.Remove(dir, path)
	}
	return os.RemoveAll(path)
}

// removeEmpty removes a folder that has nothing in it any more. A link, the
// home folder and the working directory stay.
func removeEmpty(a *app.App, dir string) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return
	}
	for _, stays := range []string{a.Config.Env("HOME"), a.Config.Env("USERPROFILE"), a.Config.Dir} {
		if other, err := os.Stat(stays); err == nil && os.SameFile(info, other) {
			return
		}
	}
	_ = os.Remove(dir) // when it is empty
}
