// Package app is the product without a face: the only place that knows how
// the parts and flows make up what a user asks for.
package app

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Config says where an App works. New fills what is empty from the
// environment.
type Config struct {
	Version string // of the program, "dev" outside releases
	DataDir string // --data-dir
	Project string // --project
	Dir     string // working directory
	Engine  string // vectors.engine: "flat" (default) or "chromem"
}

// App serves every face of one process. Its methods are safe for concurrent use.
type App struct{ cfg Config }

// New returns an App. It opens nothing: files are touched when a method needs them.
func New(cfg Config) (*App, error) { return &App{cfg: cfg}, nil }

// Close stops what runs in this process and releases files. Jobs that run
// here are marked interrupted; the next process resumes them.
func (a *App) Close() error { return nil }

// Version returns the version of the program.
func (a *App) Version() string { return a.cfg.Version }

var errStub = kb.Errorf(kb.Unsupported, "not built yet")

// Search answers a query over the stores in scope.
func (a *App) Search(ctx context.Context, r SearchRequest) (SearchReply, error) {
	return SearchReply{}, errStub
}

// Context returns everything about the place that an id from Search names.
func (a *App) Context(ctx context.Context, id string) (Context, error) { return Context{}, errStub }

// Stores lists the stores in scope, of every kind or one; all lists every store of every project.
func (a *App) Stores(ctx context.Context, kind kb.Kind, all bool) (StoreList, error) {
	return StoreList{}, errStub
}

// StoreInfo tells everything about the store that a name or id means here.
func (a *App) StoreInfo(ctx context.Context, store string) (StoreInfo, error) {
	return StoreInfo{}, errStub
}

// CreateStore names a store and starts indexing it.
func (a *App) CreateStore(ctx context.Context, r CreateStore) (Started, error) {
	return Started{}, errStub
}

// IndexStore starts bringing the store up to date; force reads every document again.
func (a *App) IndexStore(ctx context.Context, store string, force bool) (Started, error) {
	return Started{}, errStub
}

// DeleteStore detaches a name; the index goes when nobody else holds it, or everywhere is set.
func (a *App) DeleteStore(ctx context.Context, store string, everywhere bool) (Deleted, error) {
	return Deleted{}, errStub
}

// Jobs lists jobs, newest first: of one state when state is not empty, only those not ended when active.
func (a *App) Jobs(ctx context.Context, state kb.JobState, active bool) (JobList, error) {
	return JobList{}, errStub
}

// Job returns one job.
func (a *App) Job(ctx context.Context, id string) (kb.Job, error) { return kb.Job{}, errStub }

// CancelJob stops a job; what it wrote stays out of the store's live generation.
func (a *App) CancelJob(ctx context.Context, id string) (kb.Job, error) { return kb.Job{}, errStub }

// WaitJob returns when the job has ended, telling progress on the way through kb.Report.
func (a *App) WaitJob(ctx context.Context, id string) (kb.Job, error) { return kb.Job{}, errStub }

// Read returns lines of one document; lines is "", "12", "12-40", "12-" or "-40".
func (a *App) Read(ctx context.Context, store, path, lines string) (FileText, error) {
	return FileText{}, errStub
}

// Files lists document paths; glob understands * ? [] and **.
func (a *App) Files(ctx context.Context, store, glob string, limit int) (FileList, error) {
	return FileList{}, errStub
}

// Grep finds lines that match an RE2 expression.
func (a *App) Grep(ctx context.Context, store, pattern, glob string, ignoreCase bool, limit int) (GrepReply, error) {
	return GrepReply{}, errStub
}

// Trust records that a person vouches for the project file at path as it is now.
func (a *App) Trust(ctx context.Context, path string) (string, error) { return "", errStub }
