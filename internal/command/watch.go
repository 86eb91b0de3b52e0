package command

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
)

type scheduleIn struct {
	Store string `json:"store" arg:"1" help:"name or id of a store"`
	Cron  string `json:"cron" arg:"2..." also:"schedule|at" help:"minute hour day month weekday, @daily, @weekly, \"@every 6h\", or off"`
}

// addSchedules adds the commands about schedules.
func addSchedules(t *Table) {
	c := t.Add("store", New("store:schedule", "Bring a store up to date at fixed times", Writes,
		func(ctx context.Context, a *app.App, in scheduleIn) (app.ScheduleRow, error) {
			return a.SetSchedule(ctx, in.Store, in.Cron)
		}).Prints(printer.Of(printSchedule)).Agent(), `{"store":"react","cron":"0 3 * * *"}`, `{"store":"react","cron":"off"}`)
	c.Help = "Times are local. They are kept while a session, knowledge serve or knowledge watch is open; however many were missed, one run makes up for them. A run that is still going is not started again."
	t.Add("store", New("schedules", "Which stores are brought up to date when", Reads,
		func(ctx context.Context, a *app.App, _ struct{}) (app.ScheduleList, error) { return a.Schedules(ctx) }).Prints(printer.Of(printSchedules)).Agent(), `{}`)
}

// addFollow adds the commands that keep stores up to date.
func addFollow(t *Table) {
	addSync(t)
	addSchedules(t)
}
