// Package app is the product without a face: the only place that knows how
// the parts and flows make up what a user asks for.
package app

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/code/grammar"
	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/index/vector"
	"github.com/seed-4f2d999b/knowledge/internal/ingest"
	"github.com/seed-4f2d999b/knowledge/internal/job"
	"github.com/seed-4f2d999b/knowledge/internal/job/schedule"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
	"github.com/seed-4f2d999b/knowledge/internal/source"
	"github.com/seed-4f2d999b/knowledge/internal/text/chunk"
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
	// Program is the file of this program, which clients are told to start;
	// "" is that of the process.
	Program string
	Env     func(string) string
	// Embedder stands in for the configured one where faults are rehearsed;
	// nil otherwise.
	Embedder kb.Embedder
	// EmbedAtOnce is ingest.Indexer.EmbedAtOnce, likewise.
	EmbedAtOnce time.Duration
	// LinkAtOnce stands in for the size, in bytes of text, up to which a store
	// is linked by the job that indexed it; 0 for the usual one.
	LinkAtOnce int64
	// GrepTime stands in for how long grep looks; 0 is the usual time.
	GrepTime time.Duration
}

// App serves every face of one process. Its methods are safe for concurrent use.
type App struct {
	cfg Config

	mu   sync.Mutex
	core *core
	err  error // why the app is closed
	// What somebody deleted or replaced meanwhile, see gone.go.
	retired *core
	loss    *loss

	projectOnce sync.Once
	project     project.Project
	projectErr  error

	apis apis // what calls of declared APIs share

	shown sync.Map // path → hash of what a person was shown, see TrustSubject

	evidence evidenceCache // of the own folder, for hits
	openspec versions      // of the program that specification driven development asks
}

// core is what needs the data directory.
type core struct {
	dir       string
	db        *db.DB
	file      fs.FileInfo   // of the database as it was opened, nil where it cannot be told
	gone      chan struct{} // closed when that file is there no more
	catalog   *catalog.Catalog
	jobs      *job.Manager
	pool      *index.Pool // the indexes of this machine, as files
	indexes   kb.Indexes  // what is searched and written: the pool
	indexer   *ingest.Indexer
	grammars  *grammar.Set
	views     views
	opener    *source.Opener
	embedder  kb.Embedder
	web       config.Web
	vouched   []string // paths that the user's configuration and environment name
	env       func(string) string
	library   *library
	answers   *answering
	schedules schedule.Table
	atOnce    int64 // linkAtOnce, or Config.LinkAtOnce
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
	if err := checkEngine(cfg.Engine); err != nil {
		return nil, err
	}
	return &App{cfg: cfg}, nil
}

func checkEngine(name string) error {
	if name != "" && !slices.Contains(vector.EngineNames(), name) {
		return kb.Errorf(kb.Invalid, "there is no vector engine %q", name).WithHint("choose one of %s", strings.Join(vector.EngineNames(), ", "))
	}
	return nil
}

// Version returns the version of the program.
func (a *App) Version() string { return a.cfg.Version }

// Close stops what runs in this process and releases files. Jobs that run
// here are marked interrupted; the next process resumes them.
func (a *App) Close() error {
	a.mu.Lock()
	list := []*core{a.core, a.retired}
	a.core, a.retired = nil, nil
	a.err = kb.Errorf(kb.Canceled, "the program is closing")
	a.mu.Unlock()
	err := a.apis.close()
	for _, c := range list {
		if c != nil {
			err = errors.Join(err, c.close())
		}
	}
	return err
}

// open returns the core, opening the data directory the first time, and again
// when it was deleted or replaced: it is made anew then.
func (a *App) open(ctx context.Context) (*core, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err != nil {
		return nil, a.err
	}
	var lost *loss
	if a.core != nil {
		if a.core.there() {
			return a.core, nil
		}
		lost = a.retire(ctx, a.core)
		a.core = nil
	}
	file, err := config.Load(a.cfg.Env)
	if err != nil {
		return nil, err
	}
	engine := cmp.Or(a.cfg.Engine, file.Engine)
	if err := checkEngine(engine); err != nil {
		return nil, err
	}
	dir, err := a.dataDir(file)
	if err != nil {
		return nil, err
	}
	project.MakeDataDir(dir)
	if lost == nil {
		lost = databaseLost(dir)
	}
	d, err := db.Open(ctx, filepath.Join(dir, project.Database))
	if err != nil {
		return nil, err
	}
	emb := a.cfg.Embedder
	if emb == nil {
		if emb, err = embed.New(embed.Config{}); err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	c := &core{dir: dir, db: d, gone: make(chan struct{}), embedder: emb, atOnce: cmp.Or(a.cfg.LinkAtOnce, linkAtOnce)}
	// What compiled grammars take (a few megabytes each) may be deleted at any time.
	c.grammars = &grammar.Set{Folder: filepath.Join(dir, "grammars"), Wanted: chunk.Wanted}
	c.catalog = catalog.New(d, nil)
	c.pool = index.NewPool(dir, emb.ID(), engine)
	c.indexes = c.pool
	c.indexer = &ingest.Indexer{Catalog: c.catalog, Indexes: c.indexes, Embedder: emb, EmbedAtOnce: a.cfg.EmbedAtOnce,
		Cutter: chunk.Cutter{Grammars: c.grammars}}
	c.web, c.env, c.vouched = file.Web, a.cfg.Env, file.TrustPaths(a.cfg.Env, a.cfg.Dir)
	if c.file, err = os.Stat(d.Path()); err != nil || !os.SameFile(c.file, c.file) { // Windows reads what identifies a file when it is first asked
		c.file = nil
	}
	c.opener = &source.Opener{ReposDir: filepath.Join(dir, "repos"), WebDir: filepath.Join(dir, "web"), MaxFileBytes: file.MaxFileBytes,
		Network: outbound.Policy{Allow: file.Web.Allow, AllowHint: allowHint},
		Trusts: func(ctx context.Context, file, text string) bool {
			ok, err := c.trusts(ctx, file, []byte(text))
			return ok && err == nil
		}}
	for _, t := range file.Tokens {
		c.opener.Tokens = append(c.opener.Tokens, source.Token(t))
	}
	c.library = &library{core: c}
	c.answers = newAnswering(file.Answer, d, emb, a.cfg.Env)
	c.schedules = schedule.Table{DB: d}
	jobs := job.Config{
		DB: d, Dir: filepath.Join(dir, "jobs"), Env: a.cfg.Env,
		Handlers: map[string]job.Handler{"index": c.runIndex, "link": c.runLink},
	}
	if len(a.cfg.Worker) > 0 {
		jobs.Runner = job.Processes(append(slices.Clone(a.cfg.Worker), "--data-dir", dir, "work"), filepath.Join(dir, "worker.log"))
	}
	c.jobs = job.New(jobs)
	a.core = c
	if lost != nil {
		a.missed(ctx, c, lost)
	}
	return c, nil
}

// dataDir returns where data lies: as the caller of New says, else the
// environment, else the user's configuration, else the platform.
func (a *App) dataDir(file config.Config) (string, error) {
	flag := a.cfg.DataDir
	if flag == "" && a.cfg.Env(project.DataVariable) == "" {
		flag = file.DataDir
	}
	return project.DataDir(flag, a.cfg.Env)
}

// engine names what searches the vectors.
func (c *core) engine() string { return cmp.Or(c.pool.Engine, vector.DefaultEngine) }

// where returns the project on whose behalf this process asks.
func (a *App) where() (project.Project, error) {
	a.projectOnce.Do(func() {
		a.project, a.projectErr = project.Resolve(a.cfg.Dir, a.cfg.Project, a.cfg.Env)
	})
	return a.project, a.projectErr
}
