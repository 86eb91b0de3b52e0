package apis

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/apis/finder"
	"github.com/seed-4f2d999b/knowledge/internal/apis/mcpsource"
	"github.com/seed-4f2d999b/knowledge/internal/apis/oauth"
	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
)

// projectAPIs is the file of a project's APIs, below its root. It is inert
// until a person trusts it.
const projectAPIs = ".knowledge/apis.yaml"

// callLog is the file of the log of calls, in the data directory.
const callLog = "api-calls.jsonl"

// apis is what a process keeps of declared APIs between calls.
type apis struct {
	mu      sync.Mutex
	parsed  map[string]parsedAPIs // by path
	trusted map[[sha256.Size]byte]bool
	clients map[string]*outbound.Client // by what they allow
	log     *restapi.Log
	failed  map[string]int // calls in a row without an answer
	illTill map[string]time.Time
	entries map[string]entry // of the keyring

	servers  *mcpsource.Pool
	listings map[string]listedServer // by file and code

	tokens *oauth.Tokens
	rights atomic.Pointer[declared] // whose clients tokens are asked with

	cache    restapi.Cache
	kept     []keptReply // oldest first
	nextKept int

	finds   *finder.Finder // of the providers below
	findsOf []*restapi.Provider

	read    sync.Mutex               // held by whoever reads the files
	current atomic.Pointer[snapshot] // what they said
}

// snapshot is what the files said at a time.
type snapshot struct {
	declared *declared
	at       time.Time
}

// Files are looked at again after freshFor; while one call does, others take
// what is at most staleFor old. Under many calls at once, three looks at
// files for each of them would be what they wait for.
const (
	freshFor = 200 * time.Millisecond
	staleFor = 2 * time.Second
)

type parsedAPIs struct {
	sum  [sha256.Size]byte
	file *restapi.File
	err  error
}

type entry struct {
	value string
	read  time.Time
}

// declared is what is declared for one question: the user's APIs and, when
// trusted, the project's.
type declared struct {
	cfg      config.APIs
	all      []*restapi.Provider // enabled or not
	user     []*restapi.Provider
	problems []restapi.Problem
	notes    []string
	updated  time.Time
	path     string // of the user's file
	secrets  *restapi.Resolver
	tokens   *oauth.Tokens
}

// Close gives up what calls have opened.
func (s *apis) Close() error {
	s.mu.Lock()
	servers := s.servers
	s.mu.Unlock()
	if servers != nil {
		servers.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.clients {
		c.Close()
	}
	s.clients = nil
	return s.log.Close()
}

// parse parses a file unless it has done so.
func (s *apis) parse(path, name string, raw []byte) (*restapi.File, error) {
	sum := sha256.Sum256(raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.parsed[path]; ok && p.sum == sum {
		return p.file, p.err
	}
	f, err := restapi.Parse(name, raw)
	if s.parsed == nil {
		s.parsed = map[string]parsedAPIs{}
	}
	s.parsed[path] = parsedAPIs{sum, f, err}
	return f, err
}

// declaredAPIs returns what is declared here and now. Its notes are the
// caller's to change, and nothing else is.
func declaredAPIs(ctx context.Context, a *app.App) (*declared, error) {
	s := apisOf(a).current.Load()
	if s == nil || time.Since(s.at) > freshFor {
		if s == nil || time.Since(s.at) > staleFor {
			apisOf(a).read.Lock()
		} else if !apisOf(a).read.TryLock() {
			return s.copy(), nil
		}
		defer apisOf(a).read.Unlock()
		if s = apisOf(a).current.Load(); s == nil || time.Since(s.at) > freshFor {
			d, err := readAPIs(ctx, a)
			if err != nil {
				apisOf(a).current.Store(nil)
				return nil, err
			}
			s = &snapshot{d, time.Now()}
			apisOf(a).current.Store(s)
		}
	}
	return s.copy(), nil
}

func (s *snapshot) copy() *declared {
	d := *s.declared
	d.notes = slices.Clone(d.notes)
	return &d
}

// readAPIs reads the files.
func readAPIs(ctx context.Context, a *app.App) (*declared, error) {
	file, err := config.Load(a.Config.Env)
	if err != nil {
		return nil, err
	}
	d := &declared{cfg: file.APIs, path: config.APIsPath(a.Config.Env)}
	if d.path != "" {
		f, at, err := apiFile(a, d.path, d.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		default:
			d.user, d.problems, d.updated = f.Providers, f.Problems, at
			d.all = slices.Clone(f.Providers)
		}
	}
	if err := addProjectAPIs(ctx, a, d); err != nil {
		return nil, err
	}
	if err := d.withLists(ctx, a); err != nil {
		return nil, err
	}
	if len(d.problems) > 0 {
		d.notes = append(d.notes, "some definitions are wrong and left out; a person sees them with: knowledge api check")
	}
	if d.tokens, err = tokensOf(ctx, a, d); err != nil {
		return nil, err
	}
	d.secrets = &restapi.Resolver{Env: a.Config.Env, Entry: apisOf(a).entry, Allowed: d.allowed}
	return d, nil
}

// apiFile reads a file of definitions and says when it was changed.
func apiFile(a *app.App, path, name string) (*restapi.File, time.Time, error) {
	raw, at, err := readAPIFile(path)
	if err != nil {
		return nil, at, err
	}
	f, err := apisOf(a).parse(path, name, raw)
	return f, at, err
}

func readAPIFile(path string) ([]byte, time.Time, error) {
	info, err := os.Stat(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, time.Time{}, err
		}
		return nil, time.Time{}, kb.Errorf(kb.Denied, "%q cannot be read: %w", path, err).WithHint("check its permissions")
	}
	if !info.Mode().IsRegular() || info.Size() > restapi.MaxFile {
		return nil, time.Time{}, kb.Errorf(kb.Invalid, "%q is no file of definitions", path).WithHint("make it a file of at most %d MiB, or remove it", restapi.MaxFile>>20)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, time.Time{}, kb.Errorf(kb.Denied, "%q cannot be read: %w", path, err).WithHint("check its permissions")
	}
	return raw, info.ModTime(), nil
}

// addProjectAPIs adds the project's APIs when a person vouched for their
// file as it is. Of another file nothing is said but that it is
// there; one that cannot be read hides no API of the user's.
func addProjectAPIs(ctx context.Context, a *app.App, d *declared) error {
	p, err := a.Where()
	if err != nil || p.Root == "" {
		return err
	}
	path := filepath.Join(p.Root, filepath.FromSlash(projectAPIs))
	raw, err := app.ReadProjectFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		d.notes = append(d.notes, err.Error())
		return nil
	}
	ok, err := trustsAPIs(ctx, a, path, raw)
	if err != nil {
		return err
	}
	if !ok {
		d.notes = append(d.notes, "this project declares APIs in "+projectAPIs+", which nobody has vouched for as it is now; nothing of it is used until your user, who has read it, does")
		return nil
	}
	f, err := apisOf(a).parse(path, projectAPIs, raw)
	if err != nil {
		d.notes = append(d.notes, err.Error())
		return nil
	}
	d.problems = append(slices.Clone(d.problems), f.Problems...)
	if info, err := os.Stat(path); err == nil && info.ModTime().After(d.updated) {
		d.updated = info.ModTime()
	}
	for _, theirs := range f.Providers {
		d.addProject(theirs)
	}
	return nil
}

// addProject adds one API of a trusted project, less what is the user's to give.
func (d *declared) addProject(theirs *restapi.Provider) {
	wrong := func(line int, text string) {
		d.problems = append(d.problems, restapi.Problem{File: theirs.File, Line: line, API: theirs.Code, Text: text})
	}
	p := *theirs
	if slices.ContainsFunc(d.user, func(u *restapi.Provider) bool { return u.Code == p.Code }) {
		wrong(p.Line, "your own definitions have an API of that code, which goes before it")
		return
	}
	p.AllowHosts = slices.DeleteFunc(slices.Clone(p.AllowHosts), func(h string) bool {
		return !slices.ContainsFunc(d.cfg.Hosts, func(mine string) bool { return strings.EqualFold(h, mine) })
	})
	// Files of the user's are the user's to send, and so is the user's certificate.
	p.FileDirs, p.CertFile, p.KeyFile = nil, "", ""
	p.Tools = nil
	for _, t := range theirs.Tools {
		if t.BaseURL != "" && !p.SameHost(t.BaseURL) {
			wrong(t.Line, "the tool "+t.Code+" is at another host than its API, which only your own definitions may have")
			continue
		}
		if _, _, err := restapi.Find(d.user, t.Code); err == nil {
			wrong(t.Line, "your own definitions have a tool "+t.Code+", which goes before it")
			continue
		}
		t.Open = false // who may call without the token is the user's to say
		p.Tools = append(p.Tools, t)
	}
	d.all = append(d.all, &p)
}

// trustsAPIs is core.trusts, remembered: trust in a content does not end.
func trustsAPIs(ctx context.Context, a *app.App, path string, raw []byte) (bool, error) {
	sum := sha256.Sum256(append([]byte(path+"\x00"), raw...))
	apisOf(a).mu.Lock()
	known := apisOf(a).trusted[sum]
	apisOf(a).mu.Unlock()
	if known {
		return true, nil
	}
	c, err := a.Open(ctx)
	if err != nil {
		return false, err
	}
	ok, err := c.Trusts(ctx, path, raw)
	if ok {
		apisOf(a).mu.Lock()
		if apisOf(a).trusted == nil {
			apisOf(a).trusted = map[[sha256.Size]byte]bool{}
		}
		apisOf(a).trusted[sum] = true
		apisOf(a).mu.Unlock()
	}
	return ok, err
}

func apisOf(a *app.App) *apis { return app.State(a, func() *apis { return &apis{} }) }

// finder returns what finds the tools of what is declared.
func (s *apis) finder(d *declared) *finder.Finder {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.finds == nil || !slices.Equal(s.findsOf, d.all) {
		s.finds, s.findsOf = finder.New(d.all), d.all
	}
	return s.finds
}
