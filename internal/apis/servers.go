package apis

import (
	"context"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/apis/mcpsource"
	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// serverLists is the file of what servers listed, in the data directory.
const serverLists = "api-servers.json"

// learnTimeout is how long a question about tools waits for servers that were never
// asked.
const learnTimeout = 30 * time.Second

// listedServer is the API of a server with the tools that it listed.
type listedServer struct {
	of       *mcpsource.Listing
	declared *restapi.Provider
	p        *restapi.Provider
}

// serversOf returns what speaks with other servers.
func (s *apis) serversOf(ctx context.Context, a *app.App) (*mcpsource.Pool, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.servers == nil {
		home := a.Config.Env("HOME")
		if home == "" {
			home = c.Dir
		}
		s.servers = &mcpsource.Pool{Version: a.Config.Version, File: filepath.Join(c.Dir, serverLists), Env: a.Config.Env, Dir: home}
	}
	return s.servers, nil
}

// withLists gives the APIs that are servers the tools that these have listed.
func (d *declared) withLists(ctx context.Context, a *app.App) error {
	if !slices.ContainsFunc(d.all, func(p *restapi.Provider) bool { return p.Server != nil }) {
		return nil
	}
	pool, err := apisOf(a).serversOf(ctx, a)
	if err != nil {
		return err
	}
	for i, p := range d.all {
		if p.Server == nil {
			continue
		}
		if p.Server.Dir == "" && !slices.Contains(d.user, p) { // a project's runs in its project
			q, s := *p, *p.Server
			if where, err := a.Where(); err == nil {
				s.Dir = where.Root
			}
			q.Server, p = &s, &q
		}
		listed := apisOf(a).listed(p, pool.Known(p))
		if j := slices.Index(d.user, d.all[i]); j >= 0 {
			d.user = slices.Clone(d.user)
			d.user[j] = listed
		}
		d.all[i] = listed
	}
	return nil
}

// listed returns an API with what its server listed; the same one as long as that
// list is the last, since the finder is made for it.
func (s *apis) listed(p *restapi.Provider, l *mcpsource.Listing) *restapi.Provider {
	if l == nil {
		return p
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	name := p.File + "\x00" + p.Code
	if old, ok := s.listings[name]; ok && old.of == l && reflect.DeepEqual(old.declared, p) {
		return old.p
	}
	if s.listings == nil {
		s.listings = map[string]listedServer{}
	}
	q := *p
	q.Tools = l.Tools
	s.listings[name] = listedServer{l, p, &q}
	return &q
}

// learn asks the servers that were never asked what they have, all when again is
// set, and returns what is declared with it. only is the code of one API, "" all.
func learn(ctx context.Context, a *app.App, d *declared, only string, again bool) (*declared, error) {
	var ask []*restapi.Provider
	pool, err := apisOf(a).serversOf(ctx, a)
	if err != nil {
		return nil, err
	}
	for _, p := range d.all {
		if p.Server != nil && p.Enabled && (only == "" || p.Code == only) && (again || pool.Known(p) == nil) && d.secrets.Ready(p, d.lender()) == nil {
			ask = append(ask, p)
		}
	}
	if len(ask) == 0 {
		return d, nil
	}
	caller, err := apiCaller(ctx, a, d)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, learnTimeout)
	defer cancel()
	var wg sync.WaitGroup
	for _, p := range ask {
		wg.Go(func() {
			if err := pool.Learn(limited, caller.Link(p)); err != nil && ctx.Err() == nil {
				apisOf(a).outcome(p.Code, err)
			} else {
				apisOf(a).outcome(p.Code, nil)
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	apisOf(a).current.Store(nil)
	return declaredAPIs(ctx, a)
}

// findOrLearn is find, after servers that were never asked have been asked.
func (d *declared) findOrLearn(ctx context.Context, a *app.App, name string) (*declared, *restapi.Provider, *restapi.Tool, error) {
	p, t, err := d.find(name)
	if err == nil || kb.CodeOf(err) != kb.NotFound {
		return d, p, t, err
	}
	more, failed := learn(ctx, a, d, "", false)
	if failed != nil || more == d {
		return d, nil, nil, err
	}
	p, t, err = more.find(name)
	return more, p, t, err
}

// unlisted says why the tools of a server are not known, nil when they are.
func unlisted(a *app.App, p *restapi.Provider) error {
	s := apisOf(a)
	s.mu.Lock()
	pool := s.servers
	s.mu.Unlock()
	if p.Server == nil || pool == nil || pool.Known(p) != nil {
		return nil
	}
	if err := pool.Why(p); err != nil {
		return err
	}
	return kb.Errorf(kb.Away, "its server has not been asked yet").WithHint("list it: apis {\"api\":%q}", p.Code)
}
