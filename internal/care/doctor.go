package care

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Diagnosis is the reply of doctor.
type Diagnosis struct {
	Findings []app.Finding `json:"findings"`
	Wrong    int           `json:"wrong"`
}

// Doctor looks at everything that may keep the program from working, and
// changes nothing.
func Doctor(ctx context.Context, a *app.App) (Diagnosis, error) {
	var d Diagnosis
	add := func(f app.Finding) {
		d.Findings = append(d.Findings, f)
		if f.Status == "wrong" {
			d.Wrong++
		}
	}
	say := func(what, status, text, hint string) {
		add(app.Finding{What: what, Status: status, Text: text, Hint: hint})
	}
	examine := func(c *app.Core) {
		for _, r := range a.Config.Rooms {
			if r.Examine != nil {
				r.Examine(ctx, a, c, add)
			}
		}
	}
	say("program", "ok", fmt.Sprintf("version %s on %s/%s", a.Version(), runtime.GOOS, runtime.GOARCH), "")
	if _, err := a.Settings(); err != nil {
		add(app.Wrong("configuration", err))
	}
	if path, err := exec.LookPath("git"); err != nil {
		say("git", "note", "no git program is installed", "repositories are cloned without it; where that fails, or needs git's credentials, install it")
	} else {
		say("git", "ok", path, "")
	}
	examine(nil)
	c, err := a.Open(ctx)
	if err != nil {
		add(app.Wrong("data directory", err))
		return d, nil
	}
	if err := writable(c.Dir); err != nil {
		say("data directory", "wrong", fmt.Sprintf("%s cannot be written to: %v", c.Dir, err), "free space on its disk and check its permissions; until then stores can be searched and not changed")
	} else {
		say("data directory", "ok", c.Dir, "")
	}
	if status, text, hint := reachable(runtime.GOOS, c.Dir); status != "" {
		say("data directory", status, text, hint)
	}
	say("vectors", "ok", fmt.Sprintf("searched with the engine %s", c.Engine()), "")
	if err := doctorStores(ctx, a, c, say); err != nil {
		add(app.Wrong("stores", err))
	}
	examine(c)
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

func doctorStores(ctx context.Context, a *app.App, c *app.Core, say func(what, status, text, hint string)) error {
	all, err := c.Catalog.All(ctx)
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
		_, active, err := c.Jobs.Active(ctx, e.ID)
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
		if e.Head != nil && !e.Head.Afar() {
			if missing := c.Pool.MissingFiles(e.Head); len(missing) > 0 {
				say("store "+e.Label(), "wrong", fmt.Sprintf("%d of its files are missing, such as %s", len(missing), missing[0]),
					"what can be made anew is, with: knowledge verify --repair")
			}
		}
	}
	lost, err := c.Catalog.Damaged(ctx)
	for _, name := range lost {
		say("store "+name, "wrong", "what the catalog says of it is damaged", "create it again from the same source, or delete it")
	}
	say("stores", "ok", fmt.Sprintf("%d of %d can be searched", ready, len(seen)), "")
	return err
}
