package command

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/app"
)

type scheduleIn struct {
	Store string `json:"store" arg:"1" help:"name or id of a store"`
	Cron  string `json:"cron" arg:"2..." also:"schedule|at" help:"minute hour day month weekday, @daily, @weekly, \"@every 6h\", or off"`
}

type noIn struct{}

// addWatch adds the commands about watching and schedules.
func addWatch(add adder) {
	c := add("store", New("store:schedule", "Bring a store up to date at fixed times", Writes,
		func(ctx context.Context, a *app.App, in scheduleIn) (app.ScheduleRow, error) {
			return a.SetSchedule(ctx, in.Store, in.Cron)
		}).agent(), `{"store":"react","cron":"0 3 * * *"}`, `{"store":"react","cron":"off"}`)
	c.Help = "Times are local. They are kept while a session, knowledge serve or knowledge watch is open; however many were missed, one run makes up for them. A run that is still going is not started again."
	add("store", New("schedules", "Which stores are brought up to date when", Reads,
		func(ctx context.Context, a *app.App, _ noIn) (app.ScheduleList, error) { return a.Schedules(ctx) }).agent(), `{}`)
	c = add("help", New("doctor", "Look for what keeps things from working, and say what to do", Reads,
		func(ctx context.Context, a *app.App, _ noIn) (app.Diagnosis, error) { return a.Doctor(ctx) }).agent(), `{}`)
	c.Help = "Looks at the configuration, git, the data directory, the stores, and how this project's folder is followed. Changes nothing."
}

func watchResources() []Resource { return nil }
