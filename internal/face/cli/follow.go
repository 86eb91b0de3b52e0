package cli

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/app"
)

// starter is a result of a command that starts several jobs.
type starter interface{ Started() []app.Started }

// waitAll waits for jobs to end. What fails is printed as it is known; the
// first failure is the outcome.
func (s *session) waitAll(ctx context.Context, a *app.App, jobs []app.Started) (first error) {
	for i := range jobs {
		done, err := wait(ctx, a, jobs[i])
		if ctx.Err() != nil {
			return err
		}
		jobs[i] = done // the reply shares the slice: it says how the jobs ended
		if err == nil {
			continue
		}
		if first == nil {
			first = err
		}
		s.Remark(jobs[i].Store + ": " + err.Error())
	}
	return first
}
