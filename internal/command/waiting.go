package command

import (
	"context"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
)

// firstUse is how long a search that starts the first index of a folder waits
// for it: an agent gets what is ready. A person sees it to the end, or, when
// much is left to do after earlyCLI, gets what is ready too.
const (
	firstUse    = 3 * time.Second
	FirstUseCLI = 24 * time.Hour
	earlyCLI    = 10 * time.Second
)

// WaitingOf is how long the reader of ctx waits.
func WaitingOf(ctx context.Context) app.Waiting {
	if IsCLI(ctx) {
		return app.Waiting{Wait: FirstUseCLI, Early: earlyCLI, Person: true}
	}
	return app.Waiting{Wait: firstUse}
}
