package follow

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
)

type scheduleIn struct {
	Store string `json:"store" arg:"1" help:"name or id of a store"`
	Cron  string `json:"cron" arg:"2..." also:"schedule|at" help:"minute hour day month weekday, @daily, @weekly, \"@every 6h\", or off"`
}

// addSchedules adds the commands about schedules.
func addSchedules(t *command.Table) {
	c := t.Add("store", command.New("store:schedule", "Bring a store up to date at fixed times", command.Writes,
		func(ctx context.Context, a *app.App, in scheduleIn) (ScheduleRow, error) {
			return SetSchedule(ctx, a, in.Store, in.Cron)
		}).Prints(printer.Of(printSchedule)).Agent(), `{"store":"react","cron":"0 3 * * *"}`, `{"store":"react","cron":"off"}`)
	c.Help = "Times are local. They are kept while a session, knowledge serve or knowledge watch is open; however many were missed, one run makes up for them. A run that is still going is not started again."
	t.Add("store", command.New("schedules", "Which stores are brought up to date when", command.Reads,
		func(ctx context.Context, a *app.App, in schedulesIn) (ScheduleList, error) {
			return ListSchedules(ctx, a, in.All)
		}).Prints(printer.Of(printSchedules)).Agent(), `{}`)
}

type schedulesIn struct {
	All bool `json:"all,omitempty" help:"also those of other projects"`
}

// addFollow adds the commands that keep stores up to date.
func addFollow(t *command.Table) {
	addSync(t)
	addSchedules(t)
}
