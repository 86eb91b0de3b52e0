package follow

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/data/lockfile"
	"github.com/seed-4f2d999b/knowledge/internal/job/schedule"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source/deps"
)

// ScheduleRow is the schedule of one store.
type ScheduleRow struct {
	Store  string    `json:"store"`
	ID     string    `json:"id"`
	Cron   string    `json:"cron"`
	Next   time.Time `json:"next,omitzero"` // local time; overdue runs start as soon as a process keeps the clock
	Last   time.Time `json:"last,omitzero"`
	Job    string    `json:"jobId,omitempty"`  // of the last run
	Status string    `json:"status,omitempty"` // of that job
	Note   string    `json:"note,omitempty"`
}

// ScheduleList is the reply of schedules.
type ScheduleList struct {
	Schedules []ScheduleRow `json:"schedules"`
	// Keeper is the process that keeps the clock, 0 for none: nothing runs then
	// until a server or knowledge watch is started.
	Keeper int    `json:"keeper,omitempty"`
	Note   string `json:"note,omitempty"`
}

// ListSchedules lists the schedules of the stores in scope, or of all.
func ListSchedules(ctx context.Context, a *app.App, all bool) (ScheduleList, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return ScheduleList{}, err
	}
	out := ScheduleList{Schedules: []ScheduleRow{}}
	list, err := SchedulesOf(c).List(ctx)
	if err != nil {
		return out, err
	}
	scope, err := a.Scope(ctx, c, all)
	if err != nil {
		return out, err
	}
	elsewhere := 0
	for _, e := range list {
		st, err := c.Catalog.Get(ctx, e.Store)
		if err != nil {
			continue // deleted; its schedule goes at the next tick
		}
		if !all && !slices.ContainsFunc(scope, func(x catalog.Entry) bool { return x.ID == e.Store }) {
			elsewhere++
			continue
		}
		row := ScheduleRow{Store: nameOf(ctx, c, st), ID: string(st.ID), Cron: e.Cron, Next: e.Next(), Last: e.Ran, Job: e.Job, Note: e.Note}
		if e.Job != "" {
			if j, err := c.Jobs.Get(ctx, e.Job); err == nil {
				row.Status = string(j.State)
			}
		}
		out.Schedules = append(out.Schedules, row)
	}
	kb.SortStableFunc(out.Schedules, func(a, b ScheduleRow) int { return strings.Compare(a.Store, b.Store) })
	if who, held := lockfile.Held(filepath.Join(c.Dir, "jobs", "clock.lock")); held {
		out.Keeper = who.PID
	} else if len(out.Schedules) > 0 {
		out.Note = "no process keeps the clock now: runs start with the next session, knowledge serve or knowledge watch"
	}
	if elsewhere > 0 && len(out.Schedules) == 0 {
		out.Note = fmt.Sprintf("no schedules here, %d of other projects; list them with: schedules {\"all\":true}", elsewhere)
	}
	return out, nil
}

// nameOf is what a store is called wherever it has a name.
func nameOf(ctx context.Context, c *app.Core, st kb.Store) string {
	if st.Name == "" {
		if all, err := c.Catalog.All(ctx); err == nil {
			for _, e := range all {
				if e.ID == st.ID && e.Name != "" {
					return e.Name
				}
			}
		}
	}
	return st.Label()
}

// SetSchedule lets a store be brought up to date at the times of a cron
// expression; "off" ends that.
func SetSchedule(ctx context.Context, a *app.App, store, expr string) (ScheduleRow, error) {
	c, st, err := a.Lookup(ctx, store)
	if err != nil {
		return ScheduleRow{}, err
	}
	row := ScheduleRow{Store: nameOf(ctx, c, st), ID: string(st.ID), Cron: strings.TrimSpace(expr)}
	if strings.EqualFold(row.Cron, "off") {
		had, err := SchedulesOf(c).Unset(ctx, st.ID)
		if err != nil {
			return ScheduleRow{}, err
		}
		row.Cron, row.Note = "off", "it is brought up to date when asked"
		if !had {
			row.Note = "it had no schedule"
		}
		return row, nil
	}
	if err := SchedulesOf(c).Set(ctx, st.ID, row.Cron, "", time.Now()); err != nil {
		return ScheduleRow{}, err
	}
	list, err := ListSchedules(ctx, a, true)
	if err != nil {
		return ScheduleRow{}, err
	}
	for _, r := range list.Schedules {
		if r.ID == row.ID {
			row = r
		}
	}
	row.Note = list.Note
	return row, nil
}

func SchedulesOf(c *app.Core) schedule.Table { return schedule.Table{DB: c.Db} }

func hooks() app.Room {
	return app.Room{
		Followed: Probe,
		Caches:   deps.Caches,
		Examine:  examine,
		Sweep:    app.SweepTrails,
		Leftovers: func(ctx context.Context, c *app.Core) (string, []string, error) {
			paths, err := c.UnneededTrails(ctx)
			return "what a look at the folder of a store saw that is no more", paths, err
		},
		Removed: func(ctx context.Context, c *app.Core, id kb.StoreID) error {
			_, err := SchedulesOf(c).Unset(ctx, id)
			return err
		},
		Definitions: &app.Definitions{
			Check:    checkDefinitions,
			Remember: remember, Forget: undefine, Rename: rename, Still: stillDefined, File: DefinitionsFile,
		},
	}
}
