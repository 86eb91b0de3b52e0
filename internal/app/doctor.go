package app

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/data/lockfile"
	"github.com/seed-4f2d999b/knowledge/internal/job/watch"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
)

// Finding is one thing that was looked at.
type Finding struct {
	What   string `json:"what"`
	Status string `json:"status"` // ok, note (works, and worth knowing), wrong
	Text   string `json:"text"`   // one sentence
	Hint   string `json:"hint,omitempty"`
}

// Diagnosis is the reply of doctor.
type Diagnosis struct {
	Findings []Finding `json:"findings"`
	Wrong    int       `json:"wrong"`
}

// Doctor looks at everything that may keep the program from working, and
// changes nothing.
func (a *App) Doctor(ctx context.Context) (Diagnosis, error) {
	var d Diagnosis
	say := func(what, status, text, hint string) {
		d.Findings = append(d.Findings, Finding{what, status, text, hint})
		if status == "wrong" {
			d.Wrong++
		}
	}
	wrong := func(what string, err error) { say(what, "wrong", err.Error(), kb.HintOf(err)) }

	say("program", "ok", fmt.Sprintf("version %s on %s/%s", a.Version(), runtime.GOOS, runtime.GOARCH), "")
	if _, err := config.Load(a.cfg.Env); err != nil {
		wrong("configuration", err)
	}
	if path, err := exec.LookPath("git"); err != nil {
		say("git", "note", "no git program is installed", "repositories are cloned without it; where that fails, or needs git's credentials, install it")
	} else {
		say("git", "ok", path, "")
	}
	if o, err := a.setup(SetupRequest{}); err == nil { // what is wrong with it is said elsewhere
		d.Findings = append(d.Findings, twice(o)...)
	}
	c, err := a.open(ctx)
	if err != nil {
		wrong("data directory", err)
		return d, nil
	}
	if err := writable(c.dir); err != nil {
		say("data directory", "wrong", fmt.Sprintf("%s cannot be written to: %v", c.dir, err), "free space on its disk and check its permissions; until then stores can be searched and not changed")
	} else {
		say("data directory", "ok", c.dir, "")
	}
	if status, text, hint := reachable(runtime.GOOS, c.dir); status != "" {
		say("data directory", status, text, hint)
	}
	say("vectors", "ok", fmt.Sprintf("searched with the engine %s", c.engine()), "")
	if err := a.doctorStores(ctx, c, say); err != nil {
		wrong("stores", err)
	}
	a.doctorFolder(ctx, c, say)
	if list, err := a.Schedules(ctx); err != nil {
		wrong("schedules", err)
	} else if n := len(list.Schedules); n > 0 {
		if list.Keeper != 0 {
			say("schedules", "ok", fmt.Sprintf("%d, kept by process %d", n, list.Keeper), "")
		} else {
			say("schedules", "note", fmt.Sprintf("%d, and no process keeps the clock", n), "they run while a session, knowledge serve or knowledge watch is open")
		}
	}
	return d, nil
}

func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString("x")
	f.Close()
	os.Remove(f.Name())
	return err
}

// reachable says what others of the machine may do in the data directory,
// which holds the text of everything that was indexed; status is "" for nothing.
func reachable(goos, dir string) (status, text, hint string) {
	info, err := os.Stat(dir)
	if err != nil || goos == "windows" { // which has no such bits
		return "", "", ""
	}
	mode := info.Mode().Perm()
	hint = "make it yours alone: chmod 700 '" + strings.ReplaceAll(dir, "'", `'\''`) + "'"
	switch {
	case mode&0o022 != 0:
		return "wrong", fmt.Sprintf("others on this machine may change what is in %s (its mode is %o): stores, and which files are trusted", dir, mode), hint
	case mode&0o055 != 0:
		return "note", fmt.Sprintf("others on this machine may read what is in %s (its mode is %o): the text of every document", dir, mode), hint
	}
	return "", "", ""
}

func (a *App) doctorStores(ctx context.Context, c *core, say func(what, status, text, hint string)) error {
	all, err := c.catalog.All(ctx)
	if err != nil {
		return err
	}
	seen := map[kb.StoreID]bool{}
	ready := 0
	for _, e := range all {
		if seen[e.ID] {
			continue
		}
		seen[e.ID] = true
		_, active, err := c.jobs.Active(ctx, e.ID)
		switch {
		case err != nil:
			return err
		case e.LastError != "":
			say("store "+e.Label(), "wrong", "its last job failed: "+e.LastError, "when the cause is gone: store:index "+e.Label())
		case e.Head == nil && !active:
			say("store "+e.Label(), "note", "is empty", "fill it with: store:index "+e.Label())
		case e.Head != nil:
			ready++
		}
		if e.Head != nil {
			if missing := c.pool.MissingFiles(e.Head); len(missing) > 0 {
				say("store "+e.Label(), "wrong", fmt.Sprintf("%d of its files are missing, such as %s", len(missing), missing[0]),
					"what can be made anew is, with: knowledge verify --repair")
			}
		}
	}
	lost, err := c.catalog.Damaged(ctx)
	for _, name := range lost {
		say("store "+name, "wrong", "what the catalog says of it is damaged", "create it again from the same source, or delete it")
	}
	say("stores", "ok", fmt.Sprintf("%d of %d can be searched", ready, len(seen)), "")
	return err
}

// doctorFolder says how the folder of this project is followed.
func (a *App) doctorFolder(ctx context.Context, c *core, say func(what, status, text, hint string)) {
	p, err := a.where()
	if err != nil {
		say("project", "wrong", err.Error(), kb.HintOf(err))
		return
	}
	if p.Root == "" || p.None {
		say("project", "note", "this is no project: only your own stores are searched here", "change to a repository, or name a folder with --project")
		return
	}
	say("project", "ok", p.Root, "")
	if kind := watch.Network(p.Root); kind != "" {
		say("watching", "note", fmt.Sprintf("%s is on a network file system (%s): it is looked at from time to time instead of being watched", p.Root, kind), "")
	}
	st, ok := c.folderAt(ctx, p.ID, p.Root)
	switch who, held := lockfile.Held(c.watchLock(st.ID)); {
	case !ok:
		say("watching", "note", "the folder is not indexed yet", "the first search here indexes it")
	case held:
		status, text, hint := "ok", fmt.Sprintf("process %d follows the folder", who.PID), ""
		if e, ok := c.watchNote(st.ID); ok && e.Kind != "watching" && e.Kind != "back" {
			status, text, hint = "note", text+": "+e.Text, e.Hint
		}
		say("watching", status, text, hint)
	default:
		say("watching", "note", "no process follows the folder: it is looked at when somebody searches", "a session follows it by itself; so does: knowledge watch")
	}
	if watches, watchers := watch.Limits(); watches > 0 {
		status, hint := "ok", ""
		if watches < 65536 || watchers < 64 {
			status, hint = "note", "a large work tree may need more: sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512"
		}
		say("inotify", status, fmt.Sprintf("%d directories and %d watchers at most", watches, watchers), hint)
	}
}
