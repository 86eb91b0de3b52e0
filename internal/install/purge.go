package install

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
	"github.com/seed-4f2d999b/knowledge/internal/data/lockfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// PurgeItem is one file or folder that goes.
type PurgeItem struct {
	Path  string `json:"path"`
	Files int    `json:"files"` // 1 for a file
	Bytes int64  `json:"bytes"`
}

// Purge is what a purge removes, or would.
type Purge struct {
	DryRun bool        `json:"dryRun,omitempty"`
	Steps  []Step      `json:"steps"` // files of clients
	Items  []PurgeItem `json:"items"`
	Kept   []string    `json:"kept,omitempty"` // what lies there and is not ours
	// Projects are the files of definitions, which stay with their projects.
	Projects []string `json:"projects,omitempty"`
	Notes    []string `json:"notes,omitempty"`

	made bool // the data directory is one of ours
}

// Text lists what goes, a line each.
func (p Purge) Text() string {
	var b strings.Builder
	b.WriteString(Report{DryRun: p.DryRun, Steps: p.Steps}.Text())
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
	dir, err := a.DataDir()
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
	report, err := Uninstall(ctx, a, Request{DryRun: dry})
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
	empty, err := p.list(a, dir)
	if err != nil {
		return p, err
	}
	p.onlyOurs(dir)
	if !dry {
		err = p.remove(a, dir, empty)
	}
	return p, err
}

// list fills in what goes and what stays of the data directory, the launcher's
// programs and the configuration. It returns the folders that go when they are
// empty.
func (p *Purge) list(a *app.App, dir string) (empty []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, kb.Errorf(kb.Denied, "%q cannot be read: %w", dir, err).WithHint("check its permissions")
	}
	exe, err := programFile(a)
	if err != nil {
		return nil, err
	}
	programs := project.Programs(runtime.GOOS, a.Config.Env)
	launched := programs != "" && project.Within(project.RealPath(programs), project.RealPath(exe))
	traces, err := project.Footprint(dir, a.Config.Env)
	if err != nil {
		return nil, kb.Errorf(kb.Denied, "what is kept cannot be listed: %w", err).WithHint("check its permissions")
	}
	conf, named := config.Path(a.Config.Env)
	ours := []string{filepath.Join(dir, ReceiptsFile)}
	if !named {
		ours = append(ours, conf) // listed below
		empty = append(empty, filepath.Dir(conf))
	}
	for _, t := range traces {
		ours = append(ours, t.Path)
		switch {
		case t.Empty:
			empty = append(empty, t.Path)
		case filepath.Base(t.Path) == ReceiptsFile && !p.DryRun: // the last removal took it
		case launched && t.Path == programs && runtime.GOOS == "windows": // which deletes no program that runs
			p.Notes = append(p.Notes, fmt.Sprintf("the program itself runs from where the plugin's launcher keeps it; "+
				"delete it afterwards with: rmdir /s /q \"%s\"", t.Path))
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
	if o, err := optionsOf(a, Request{}); err == nil && !launched {
		ch, from := ChannelOf(exe, o.Place, Released), ""
		if ch.Name != "" {
			from = ", which came by " + ch.Name + ","
		}
		p.Notes = append(p.Notes, fmt.Sprintf("the program itself%s goes with: %s", from, ch.Remove))
	}
	return empty, nil
}

// remove deletes what is listed, and of the folders those that are empty then.
func (p *Purge) remove(a *app.App, dir string, empty []string) error {
	for _, i := range p.Items {
		if err := removeItem(dir, i.Path); err != nil {
			return kb.Errorf(kb.Denied, "%q cannot be removed: %w", i.Path, err).
				WithHint("end the programs that use it, then: knowledge uninstall --purge")
		}
	}
	for _, d := range empty {
		if p.made || !project.Within(dir, d) {
			removeEmpty(a, d)
		}
	}
	return nil
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
	if more, err := Roots(dir); err == nil {
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
		if file := definitionsOf(a, root); file != "" {
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
