package follow

import (
	"context"
	"fmt"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/lockfile"
	"github.com/seed-4f2d999b/knowledge/internal/job/watch"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// examine says how the folder of this project is followed, and who keeps the
// clock of the schedules.
func examine(ctx context.Context, a *app.App, c *app.Core, say func(app.Finding)) {
	if c == nil {
		return
	}
	examineFolder(ctx, a, c, say)
	switch list, err := ListSchedules(ctx, a, true); {
	case err != nil:
		say(app.Wrong("schedules", err))
	case len(list.Schedules) == 0:
	case list.Keeper != 0:
		say(app.Finding{What: "schedules", Status: "ok", Text: fmt.Sprintf("%d, kept by process %d", len(list.Schedules), list.Keeper)})
	default:
		say(app.Finding{What: "schedules", Status: "note", Text: fmt.Sprintf("%d, and no process keeps the clock", len(list.Schedules)),
			Hint: "they run while a session, knowledge serve or knowledge watch is open"})
	}
}

func examineFolder(ctx context.Context, a *app.App, c *app.Core, say func(app.Finding)) {
	p, err := a.Where()
	if err != nil {
		say(app.Wrong("project", err))
		return
	}
	if p.Root == "" || p.None {
		say(app.Finding{What: "project", Status: "note", Text: "this is no project: only your own stores are searched here",
			Hint: "change to a repository, or name a folder with --project"})
		return
	}
	say(app.Finding{What: "project", Status: "ok", Text: p.Root})
	if kind := watch.Network(p.Root); kind != "" {
		say(app.Finding{What: "watching", Status: "note",
			Text: fmt.Sprintf("%s is on a network file system (%s): it is looked at from time to time instead of being watched", p.Root, kind)})
	}
	st, ok := c.FolderAt(ctx, p.ID, p.Root)
	if !ok {
		say(app.Finding{What: "watching", Status: "note", Text: "the folder is not indexed yet", Hint: "the first search here indexes it"})
	} else {
		say(follower(c, st.ID))
	}
	if watches, watchers := watch.Limits(); watches > 0 {
		f := app.Finding{What: "inotify", Status: "ok", Text: fmt.Sprintf("%d directories and %d watchers at most", watches, watchers)}
		if watches < 65536 || watchers < 64 {
			f.Status = "note"
			f.Hint = "a large work tree may need more: sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512"
		}
		say(f)
	}
}

// follower says which process follows the folder of a store, and how it goes.
func follower(c *app.Core, id kb.StoreID) app.Finding {
	who, held := lockfile.Held(watchLock(c, id))
	if !held {
		return app.Finding{What: "watching", Status: "note", Text: "no process follows the folder: it is looked at when somebody searches",
			Hint: "a session follows it by itself; so does: knowledge watch"}
	}
	f := app.Finding{What: "watching", Status: "ok", Text: fmt.Sprintf("process %d follows the folder", who.PID)}
	if e, ok := watchNote(c, id); ok && e.Kind != "watching" && e.Kind != "back" {
		f.Status, f.Text, f.Hint = "note", f.Text+": "+e.Text, e.Hint
	}
	return f
}
