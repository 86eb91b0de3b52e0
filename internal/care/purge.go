package care

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/data/lockfile"
	"github.com/seed-4f2d999b/knowledge/internal/follow"
	"github.com/seed-4f2d999b/knowledge/internal/install"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// Detached is what became of a project's stores.
type Detached struct {
	Removed     []string `json:"removed"`        // stores whose index went
	Kept        []string `json:"kept,omitempty"` // that others use as well
	Definitions string   `json:"definitions,omitempty"`
	Note        string   `json:"note"`
}

// DetachProject takes every store away from this project, its own folder's
// index too; an index goes when nobody else holds it. The project's file of
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
	file := filepath.Join(p.Root, filepath.FromSlash(follow.DefinitionsFile))
	if _, err := os.Lstat(file); err != nil {
		return d, nil
	}
	if keep {
		d.Definitions = "kept: " + follow.DefinitionsFile
		d.Note += `; stores:sync makes those of the definitions again`
		return d, nil
	}
	if err := os.Remove(file); err != nil {
		return d, kb.Errorf(kb.Denied, "%q cannot be removed: %w", file, err).WithHint("check its permissions")
	}
	_ = os.Remove(filepath.Dir(file)) // when nothing else is in it
	d.Definitions = "removed: " + follow.DefinitionsFile
	return d, nil
}

// PurgeItem is one file or folder that goes.
type PurgeItem struct {
	Path  string `json:"path"`
	Files int    `json:"files"` // 1 for a file
	Bytes int64  `json:"bytes"`
}

// Purge is what a purge removes, or would.
type Purge struct {
	DryRun bool           `json:"dryRun,omitempty"`
	Steps  []install.Step `json:"steps"` // files of clients
	Items  []PurgeItem    `json:"items"`
	Kept   []string       `json:"kept,omitempty"` // what lies there and is not ours
	// Projects are the files of definitions, which stay with their projects.
	Projects []string `json:"projects,omitempty"`
	Notes    []string `json:"notes,omitempty"`

	made bool // the data directory is one of ours
}

// Text lists what goes, a line each.
func (p Purge) Text() string {
	var b strings.Builder
	b.WriteString(SetupReport{DryRun: p.DryRun, Steps: p.Steps}.Text())
	word := "deleted"
	if p.DryRun {
		word = "would be deleted"
	}
	for _, i := range p.Items {
		what := fmt.Sprintf("%d bytes", i.Bytes)
		if i.Bytes >= 1<<20 {
			what = fmt.Sprintf("%.1f MB", float64(i.Bytes)/(1<<20))
		}
		if i.Files > 1 {
			what = fmt.Sprintf("%d files, %s", i.Files, what)
		}
		fmt.Fprintf(&b, "%s %s (%s)\n", i.Path, word, what)
	}
	for _, k := range p.Kept {
		fmt.Fprintf(&b, "%s kept: this program did not make it\n", k)
	}
	for _, f := range p.Projects {
		fmt.Fprintf(&b, "%s kept: it belongs to its project\n", f)
	}
	for _, n := range p.Notes {
		b.WriteString(n + "\n")
	}
	return b.String()
}

// PurgeAll removes everything that the program keeps on this machine: its entries
// in clients, its data directory with stores, schedules and caches, the programs
// that the plugin's launcher keeps, and its configuration. Projects keep their
// definitions, and a program that came another way stays.
func PurgeAll(ctx context.Context, a *app.App, dry bool) (Purge, error) {
	p := Purge{DryRun: dry, Items: []PurgeItem{}}
	file, err := config.Load(a.Config.Env)
	if err != nil {
		return p, err
	}
	dir, err := a.DataDirOf(file)
	if err != nil {
		return p, err
	}
	if who := Servers(dir); len(who) > 0 && !dry {
		text := "a server of knowledge runs, process " + who[0]
		if len(who) > 1 {
			text = "servers of knowledge run, processes " + strings.Join(who, ", ")
		}
		return p, kb.Errorf(kb.Busy, "%s", text).WithHint("end the programs that use them, then: knowledge uninstall --purge")
	}
	p.Projects = definitionFiles(ctx, a, dir)
	report, err := RemoveClients(ctx, a, SetupRequest{DryRun: dry})
	if err != nil {
		return p, err
	}
	p.Steps = report.Steps
	for _, n := range report.Notes {
		if strings.Contains(n, "plugin") {
			p.Notes = append(p.Notes, n)
		}
	}
	if !dry {
		stopJobs(ctx, a, dir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return p, kb.Errorf(kb.Denied, "%q cannot be read: %w", dir, err).WithHint("check its permissions")
	}
	exe, err := Exe(a)
	if err != nil {
		return p, err
	}
	kept := project.Programs(runtime.GOOS, a.Config.Env)
	launched := kept != "" && project.Within(project.RealPath(kept), project.RealPath(exe))
	traces, err := Footprint(a)
	if err != nil {
		return p, kb.Errorf(kb.Denied, "what is kept cannot be listed: %w", err).WithHint("check its permissions")
	}
	conf, named := config.Path(a.Config.Env)
	var empty []string // removed when they are
	ours := []string{filepath.Join(dir, install.ReceiptsFile)}
	if !named {
		ours = append(ours, conf) // listed below
		empty = append(empty, filepath.Dir(conf))
	}
	for _, t := range traces {
		ours = append(ours, t.Path)
		switch {
		case t.Empty:
			empty = append(empty, t.Path)
		case filepath.Base(t.Path) == install.ReceiptsFile && !dry: // the last removal took it
		case launched && t.Path == kept && runtime.GOOS == "windows": // which deletes no program that runs
			p.Notes = append(p.Notes, fmt.Sprintf("the program itself runs from where the plugin's launcher keeps it; delete it afterwards with: rmdir /s /q \"%s\"", t.Path))
		default:
			p.Items = append(p.Items, PurgeItem{t.Path, t.Files, t.Bytes})
		}
	}
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); !slices.Contains(ours, path) {
			p.Kept = append(p.Kept, path)
		}
	}
	switch info, err := os.Lstat(conf); {
	case err != nil || !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
	case named: // a file of the user's choice, which others may read too
		p.Kept = append(p.Kept, conf)
	default:
		p.Items = append(p.Items, sizeOf(conf))
	}
	if o, err := SetupOf(a, SetupRequest{}); err == nil && !launched {
		ch, from := install.ChannelOf(exe, o.Place, install.Released), ""
		if ch.Name != "" {
			from = ", which came by " + ch.Name + ","
		}
		p.Notes = append(p.Notes, fmt.Sprintf("the program itself%s goes with: %s", from, ch.Remove))
	}
	p.onlyOurs(dir)
	if dry {
		return p, nil
	}
	for _, i := range p.Items {
		if err := remove(dir, i.Path); err != nil {
			return p, kb.Errorf(kb.Denied, "%q cannot be removed: %w", i.Path, err).WithHint("end the programs that use it, then: knowledge uninstall --purge")
		}
	}
	for _, d := range empty {
		if p.made || !project.Within(dir, d) {
			removeEmpty(a, d)
		}
	}
	return p, nil
}

// Servers returns the processes that serve from a data directory, keep its
// clock or follow a folder for it. One that has just started does none yet.
func Servers(dir string) []string {
	var pids []int
	for _, pattern := range []string{"server-*.lock", "watch-*.lock", "clock.lock"} {
		locks, _ := filepath.Glob(filepath.Join(dir, "jobs", pattern))
		for _, l := range locks {
			if who, held := lockfile.Held(l); held {
				pids = append(pids, who.PID)
			}
		}
	}
	slices.Sort(pids)
	var out []string
	for _, pid := range slices.Compact(pids) {
		out = append(out, strconv.Itoa(pid))
	}
	return out
}

// definitionFiles are the files of definitions in the projects that are known.
func definitionFiles(ctx context.Context, a *app.App, dir string) []string {
	var roots []string
	if p, err := a.Where(); err == nil {
		roots = append(roots, p.Root)
	}
	if more, err := install.Roots(dir); err == nil {
		roots = append(roots, more...)
	}
	if _, err := os.Stat(filepath.Join(dir, "knowledge.db")); err == nil {
		if c, err := a.Open(ctx); err == nil {
			if more, err := c.Catalog.Projects(ctx); err == nil { // a damaged database goes all the same
				roots = append(roots, more...)
			}
		}
	}
	slices.Sort(roots)
	var files []string
	for _, root := range slices.Compact(roots) {
		file := filepath.Join(root, filepath.FromSlash(follow.DefinitionsFile))
		if _, err := os.Lstat(file); root != "" && err == nil {
			files = append(files, file)
		}
	}
	return files
}

// stopJobs ends what runs in the background and closes the database, which
// must exist.
func stopJobs(ctx context.Context, a *app.App, dir string) {
	if project.IsDatabase(filepath.Join(dir, project.Database)) {
		if c, err := a.Open(ctx); err == nil {
			if jobs, err := c.Jobs.List(ctx, "", true); err == nil {
				for _, j := range jobs {
					_, _ = c.Jobs.Cancel(ctx, j.ID) // one that will not end finds its store gone
				}
				until, done := context.WithTimeout(ctx, 10*time.Second)
				for _, j := range jobs {
					_, _ = c.Jobs.Wait(until, j.ID, nil)
				}
				done()
			}
		}
	}
	_ = a.Close()
}

func sizeOf(path string) PurgeItem {
	i := PurgeItem{Path: path}
	_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			i.Files++
			if info, err := e.Info(); err == nil {
				i.Bytes += info.Size()
			}
		}
		return nil
	})
	return i
}
