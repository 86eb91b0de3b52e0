// Package app is the product without a face: the only place that knows how
// the parts and flows make up what a user asks for.
package app

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/ingest"
	"github.com/seed-4f2d999b/knowledge/internal/job"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// Config says where an App works. What is empty is filled from the environment,
// and what that leaves empty from the user's configuration file.
type Config struct {
	Version string // of the program, "dev" outside releases
	DataDir string // --data-dir
	Project string // --project
	Dir     string // working directory
	Engine  string // vectors.engine, else $KNOWLEDGE_VECTORS_ENGINE: "flat" (default) or "chromem"
	// Worker is the program that runs jobs; the arguments "--data-dir DIR work
	// JOB" are added. Empty: jobs run in this process and end with it.
	Worker []string
	// Program is the file of this program, which clients start;
	// "" is that of the process.
	Program string
	Env     func(string) string
	// Embedder replaces the configured one where faults are rehearsed;
	// nil otherwise.
	Embedder kb.Embedder
	// EmbedAtOnce is ingest.Indexer.EmbedAtOnce.
	EmbedAtOnce time.Duration
	// LinkAtOnce replaces the size, in bytes of text, up to which a store
	// is linked by the job that indexed it; 0 for the usual one.
	LinkAtOnce int64
	// GrepTime replaces how long grep looks; 0 is the usual time.
	GrepTime time.Duration
	// Rooms are what features add.
	Rooms []Room
}

// App serves every face of one process. Its methods are safe for concurrent use.
type App struct {
	Config Config

	mu   sync.Mutex
	Core *Core
	err  error // why the app is closed
	// What was deleted or replaced meanwhile, see gone.go.
	retired *Core
	loss    *loss

	projectOnce sync.Once
	project     project.Project
	projectErr  error

	shown sync.Map // path → hash of what a person was shown, see TrustSubject

	kept states

	base   *App    // of a member's App, that of the machine
	member *Member // on whose behalf it acts; nil is the machine's own user
}

// Core is what needs the data directory.
type Core struct {
	Dir      string
	Db       *db.DB
	file     fs.FileInfo   // of the database as it was opened, nil where it is unknown
	Gone     chan struct{} // closed when that file is there no more
	Catalog  *catalog.Catalog
	Jobs     *job.Manager
	Pool     *index.Pool // the indexes of this machine, as files
	Indexes  kb.Indexes  // what is searched and written: the pool
	Indexer  *ingest.Indexer
	Opener   *source.Opener
	Embedder kb.Embedder // of indexes
	Words    kb.Embedder // compares words and sentences, many at a time
	Web      config.Web
	vouched  []string // paths that the user's configuration and environment name
	Env      func(string) string
	Library  *library
	Settings config.Config
	rooms    []Room
	kept     states
	AtOnce   int64 // Config.LinkAtOnce
	base     *Core // of a member's core, that with which it shares all but Catalog and what is kept
}

// New returns an App. It opens nothing: files are touched when a method needs them.
func New(cfg Config) (*App, error) {
	if cfg.Env == nil {
		cfg.Env = os.Getenv
	}
	if cfg.Dir == "" {
		dir, err := os.Getwd()
		if err != nil {
			return nil, kb.Errorf(kb.Denied, "the working directory cannot be told: %w", err).WithHint("change to a directory that exists")
		}
		cfg.Dir = dir
	}
	if cfg.Engine == "" {
		cfg.Engine = cfg.Env("KNOWLEDGE_VECTORS_ENGINE")
	}
	if err := CheckEngine(cfg.Engine); err != nil {
		return nil, err
	}
	return &App{Config: cfg}, nil
}

// CheckEngine refuses what names no vector engine.
func CheckEngine(name string) error { return index.CheckEngine(name) }

// Version returns the version of the program.
func (a *App) Version() string { return a.Config.Version }

// Close stops what runs in this process and releases files. Jobs that run
// here are marked interrupted; the next process resumes them.
func (a *App) Close() error {
	a.mu.Lock()
	list := []*Core{a.Core, a.retired}
	a.Core, a.retired = nil, nil
	a.err = kb.Errorf(kb.Canceled, "the program is closing")
	a.mu.Unlock()
	err := a.kept.close()
	for _, c := range list {
		if c != nil {
			err = errors.Join(err, c.close())
		}
	}
	return err
}

// Open returns the core, opening the data directory the first time, and again
// when it was deleted or replaced: it is made anew then.
func (a *App) Open(ctx context.Context) (*Core, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err != nil {
		return nil, a.err
	}
	if a.base != nil {
		return a.openFor(ctx)
	}
	var lost *loss
	if a.Core != nil {
		if a.Core.There() {
			return a.Core, nil
		}
		lost = a.retire(ctx, a.Core)
		a.Core = nil
	}
	file, err := a.Settings()
	if err != nil {
		return nil, err
	}
	engine := cmp.Or(a.Config.Engine, file.Engine)
	if err := CheckEngine(engine); err != nil {
		return nil, err
	}
	dir, err := a.DataDirOf(file)
	if err != nil {
		return nil, err
	}
	project.MakeDataDir(dir)
	if lost == nil {
		lost = databaseLost(dir)
	}
	c, err := a.newCore(ctx, dir, engine, file)
	if err != nil {
		return nil, err
	}
	a.Core = c
	if lost != nil {
		a.missed(ctx, c, lost)
	}
	return c, nil
}

// newCore opens a data directory.
func (a *App) newCore(ctx context.Context, dir, engine string, file config.Config) (*Core, error) {
	d, err := db.Open(ctx, filepath.Join(dir, project.Database))
	if err != nil {
		return nil, err
	}
	emb, words, err := a.embedders(dir, file)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	c := &Core{
		Dir: dir, Db: d, Gone: make(chan struct{}), Embedder: emb, Words: words, AtOnce: a.Config.LinkAtOnce,
		Catalog: catalog.New(d, nil), Pool: index.NewPool(dir, emb.ID(), engine),
		Settings: file, Web: file.Web, Env: a.Config.Env, vouched: file.TrustPaths(a.Config.Env, a.Config.Dir), rooms: a.Config.Rooms,
	}
	c.Indexes = c.Pool
	if s := c.sharing(); s != nil {
		c.Indexes = s.Indexes(c, c.Pool)
	}
	c.Indexer = ingest.New(c.Catalog, c.Indexes, emb, filepath.Join(dir, "grammars"))
	c.Indexer.EmbedAtOnce = a.Config.EmbedAtOnce
	c.Library = &library{core: c}
	// Windows reads what identifies a file when it is first asked.
	if c.file, err = os.Stat(d.Path()); err != nil || !os.SameFile(c.file, c.file) {
		c.file = nil
	}
	c.Opener = c.opener()
	c.Jobs = c.manager(a.Config.Worker)
	return c, nil
}

// opener returns what opens sources, as the user's configuration allows.
func (c *Core) opener() *source.Opener {
	o := &source.Opener{
		ReposDir: filepath.Join(c.Dir, "repos"), WebDir: filepath.Join(c.Dir, "web"), MaxFileBytes: c.Settings.MaxFileBytes,
		Network: outbound.Policy{Allow: c.Web.Allow, AllowHint: allowHint},
		Trusts: func(ctx context.Context, file, text string) bool {
			ok, err := c.Trusts(ctx, file, []byte(text))
			return ok && err == nil
		},
	}
	for _, t := range c.Settings.Tokens {
		o.Tokens = append(o.Tokens, source.Token(t))
	}
	return o
}

// manager returns what runs jobs: in processes of their own when there is a
// worker.
func (c *Core) manager(worker []string) *job.Manager {
	jobs := job.Config{
		DB: c.Db, Dir: filepath.Join(c.Dir, "jobs"), Env: c.Env,
		Handlers: map[string]job.Handler{"index": c.runIndex},
	}
	for _, r := range c.rooms {
		if r.Jobs != nil {
			maps.Copy(jobs.Handlers, r.Jobs(c))
		}
	}
	if len(worker) > 0 {
		args := append(slices.Clone(worker), "--data-dir", c.Dir, "work")
		jobs.Runner = job.Processes(args, filepath.Join(c.Dir, "worker.log"))
	}
	return job.New(jobs)
}

// DataDirOf returns where data lies: as the caller of New says, else the
// environment, else the user's configuration, else the platform.
func (a *App) DataDirOf(file config.Config) (string, error) {
	flag := a.Config.DataDir
	if flag == "" && a.Config.Env(project.DataVariable) == "" {
		flag = file.DataDir
	}
	return project.DataDir(flag, a.Config.Env)
}

// Engine names what searches the vectors.
func (c *Core) Engine() string { return c.Pool.Engine }

// Where returns the project on whose behalf this process asks.
func (a *App) Where() (project.Project, error) {
	a.projectOnce.Do(func() {
		a.project, a.projectErr = project.Resolve(a.Config.Dir, a.Config.Project, a.Config.Env)
	})
	return a.project, a.projectErr
}

func (a *App) states() *states  { return &a.kept }
func (c *Core) states() *states { return &c.kept }
