package kb

import (
	"context"
	"time"
)

// JobState says how far a job is.
type JobState string

// The states of a job. Queued is what seed 004 calls pending.
const (
	JobQueued      JobState = "queued"
	JobRunning     JobState = "running"
	JobCompleted   JobState = "completed"
	JobFailed      JobState = "failed"
	JobCancelled   JobState = "cancelled"
	JobInterrupted JobState = "interrupted"
)

// Ended reports whether the state is final. An interrupted job is not: the
// next process that looks resumes it.
func (s JobState) Ended() bool {
	return s == JobCompleted || s == JobFailed || s == JobCancelled
}

// Now says how a job is: its state, or that it is being cancelled.
func (j *Job) Now() string {
	if j.Stopping {
		return "cancelling"
	}
	return string(j.State)
}

// Job is one background run.
type Job struct {
	ID       string         `json:"id"`
	Type     string         `json:"type"` // "index", later "crawl", …
	Store    StoreID        `json:"store,omitempty"`
	Name     string         `json:"storeName,omitempty"` // what the store is called here, or was
	State    JobState       `json:"status"`
	Stopping bool           `json:"cancelling,omitempty"` // it was asked to stop, and has not yet
	Progress Progress       `json:"progress"`
	Code     Code           `json:"code,omitempty"`    // of the failure
	Message  string         `json:"message,omitempty"` // the cause of a failure, or what was done
	Hint     string         `json:"hint,omitempty"`
	Details  map[string]any `json:"details,omitempty"`
	Deaths   int            `json:"deaths,omitempty"` // how many worker processes died running it
	Created  time.Time      `json:"createdAt"`
	Updated  time.Time      `json:"updatedAt"`
}

// Progress is how far a job has come. Done and Total count the unit of the
// phase (objects of a clone, documents of an index); Total is 0 when unknown.
type Progress struct {
	Phase   string  `json:"phase,omitempty"`
	Done    int64   `json:"done"`
	Total   int64   `json:"total,omitempty"`
	Percent int     `json:"percent,omitempty"`
	Rate    float64 `json:"rate,omitempty"` // units per second
	ETA     float64 `json:"eta,omitempty"`  // seconds
}

type progressKey struct{}

// WithProgress returns a context whose Report calls reach f. f must be safe
// for concurrent use and return at once.
func WithProgress(ctx context.Context, f func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, f)
}

// Report passes on how far the work has come to the listener in ctx.
func Report(ctx context.Context, p Progress) {
	if f, ok := ctx.Value(progressKey{}).(func(Progress)); ok && f != nil {
		if p.Total > 0 && p.Percent == 0 {
			p.Percent = int(100 * p.Done / p.Total)
		}
		f(p)
	}
}
