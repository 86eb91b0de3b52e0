// Package shared is the room of stores that several machines use: on a cluster of
// Weaviate, which index.url names. A store is indexed on any of them, put on the
// cluster, and searched on all; see package internal/index/cluster.
package shared

import (
	"cmp"
	"context"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/index/cluster"
	"github.com/seed-4f2d999b/knowledge/internal/job"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate"
)

// The variables that go before the keys of the configuration.
const (
	urlVariable = "KNOWLEDGE_INDEX_URL"
	keyVariable = "KNOWLEDGE_INDEX_KEY"
)

// Room is the room.
func Room() command.Room {
	return command.Room{
		Name: "shared", Commands: addShared,
		App: app.Room{
			Jobs: func(c *app.Core) map[string]job.Handler { return map[string]job.Handler{"move": c.RunMove} },
			Needs: func(c *app.Core, _ kb.Spec) []string {
				return slices.DeleteFunc([]string{urlVariable, keyVariable}, func(v string) bool { return c.Env(v) == "" })
			},
			Sharing: &app.Sharing{
				Indexes: func(c *app.Core, local kb.Indexes) kb.Indexes { return &indexes{local, c} },
				Check:   func(c *app.Core) error { _, err := indexesOf(c); return err },
				Adopt:   adopt, Renew: renew, Stage: stage, Publish: publish, Lend: lend, Borrow: borrow,
				Remove: remove, Collect: collect,
			},
			Examine: examine, Leftovers: tables,
		},
	}
}

// state is what the room keeps of a data directory.
type state struct {
	mu      sync.Mutex
	indexes *cluster.Indexes
	asked   map[kb.StoreID]time.Time // when the head was asked for last
	down    time.Time                // when the cluster was found away
	why     error
}

func stateOf(c *app.Core) *state {
	return app.State(c, func() *state { return &state{asked: map[kb.StoreID]time.Time{}} })
}

// indexesOf returns the indexes on the cluster that the user has set.
func indexesOf(c *app.Core) (*cluster.Indexes, error) {
	s := stateOf(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.indexes != nil {
		return s.indexes, nil
	}
	addresses := c.Env(urlVariable)
	if addresses == "" {
		addresses = c.Settings.Index.URL
	}
	if addresses == "" {
		return nil, kb.Errorf(kb.Invalid, "no cluster is set for shared stores").
			WithHint("set index.url in the configuration, or %s, to its nodes: docs/configuration.md", urlVariable)
	}
	key, err := keyOf(c)
	if err != nil {
		return nil, err
	}
	client, err := weaviate.New(addresses, key)
	if err != nil {
		return nil, err
	}
	s.indexes = cluster.New(c.Dir, c.Pool, client)
	return s.indexes, nil
}

// keyOf returns the key of the cluster, "" for none.
func keyOf(c *app.Core) (string, error) {
	path := c.Settings.Index.KeyFile
	if key := c.Env(keyVariable); key != "" || path == "" {
		return key, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", kb.Errorf(kb.Denied, "the file %q that index.keyFile names cannot be read: %w", path, err).WithHint("make it, or take the line out of the configuration")
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", kb.Errorf(kb.Denied, "others may read the file %q, which holds a secret", path).WithHint("run: chmod 600 %s", path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", kb.Errorf(kb.Denied, "the file %q that index.keyFile names cannot be read: %w", path, err).WithHint("check its permissions")
	}
	return strings.TrimSpace(string(b)), nil
}

// indexes opens what this machine lacks from the cluster.
type indexes struct {
	kb.Indexes
	core *app.Core
}

// Open opens a generation: from the files of this machine when they are here.
func (x *indexes) Open(ctx context.Context, manifest string) (kb.Index, error) {
	local, err := x.Indexes.Open(ctx, manifest)
	if err == nil || kb.CodeOf(err) != kb.NotFound && kb.CodeOf(err) != kb.Corrupt || !x.afar(ctx, manifest) {
		return local, err
	}
	far, e := indexesOf(x.core)
	if e != nil {
		return nil, e
	}
	return far.Open(ctx, manifest)
}

// afar reports whether a manifest is of a store that is on the cluster alone.
func (x *indexes) afar(ctx context.Context, manifest string) bool {
	id, _, ok := strings.Cut(manifest, "-")
	if !ok {
		return false
	}
	head, err := x.core.Catalog.Head(ctx, kb.StoreID(id))
	return err == nil && head != nil && head.Shared != nil
}

// Forget implements kb.Indexes.
func (x *indexes) Forget(segments []string) {
	x.Indexes.Forget(segments)
	s := stateOf(x.core)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.indexes != nil {
		s.indexes.Forget(segments)
	}
}

// Missing implements kb.Indexes: what is here as tables is not missing.
func (x *indexes) Missing(ctx context.Context, segments []string) ([]string, error) {
	list, err := x.Indexes.Missing(ctx, segments)
	if err != nil || len(list) == 0 {
		return list, err
	}
	return slices.DeleteFunc(list, func(name string) bool { return cluster.Here(x.core.Dir, name) }), nil
}

// adopt makes a store of the cluster known here.
func adopt(ctx context.Context, c *app.Core, project, name, under string) (st kb.Store, found bool, err error) {
	x, err := indexesOf(c)
	if err != nil {
		return st, false, err
	}
	h, err := x.Named(ctx, under)
	if err != nil || h == nil {
		return st, false, err
	}
	live, err := c.Catalog.Head(ctx, h.Store)
	if err != nil && kb.CodeOf(err) != kb.NotFound {
		return st, false, err
	}
	expect := int64(0)
	if live != nil {
		expect = live.Generation
	}
	head := headOf(h, expect)
	st, err = c.Catalog.Adopt(ctx, project, name, h.Spec, h.Description, nil, expect, head)
	st.Head = &head
	return st, err == nil, err
}

// headOf returns the head of a store as a machine has it that did not index it.
func headOf(h *cluster.Head, after int64) kb.Head {
	head := h.Head
	head.Generation = after + 1
	head.Shared = &kb.Shared{Round: h.Round, Manifest: head.Manifest, Afar: true}
	return head
}

const (
	// often is how long a head is taken for live that was asked for.
	often = 2 * time.Second
	// rest is how long a cluster that was away is not asked for heads.
	rest = 10 * time.Second
)

// renew follows the head of a store. While the cluster is away what is here
// serves.
func renew(ctx context.Context, c *app.Core, st kb.Store, now bool) (kb.Store, string, error) {
	x, err := indexesOf(c)
	if err != nil {
		return st, "", err
	}
	s := stateOf(c)
	s.mu.Lock()
	recent, down, why := time.Since(s.asked[st.ID]) < often, time.Since(s.down) < rest, s.why
	s.mu.Unlock()
	switch {
	case recent && !now:
		return st, "", nil
	case down && !now:
		return st, behind(why), nil
	}
	h, err := x.Head(ctx, st.ID)
	if kb.CodeOf(err) == kb.Away && err != nil && !now {
		s.mu.Lock()
		s.down, s.why = time.Now(), err
		s.mu.Unlock()
		return st, behind(err), nil
	}
	if err != nil {
		return st, "", err
	}
	s.mu.Lock()
	s.asked[st.ID] = time.Now()
	s.mu.Unlock()
	if h == nil {
		note, err := removed(ctx, x, st, now)
		return st, note, err
	}
	if h.Round <= st.Head.Shared.Round {
		return st, "", nil
	}
	head := headOf(h, st.Head.Generation)
	if err := c.Catalog.Publish(ctx, st.ID, st.Head.Generation, head); err != nil {
		if kb.CodeOf(err) == kb.Busy { // another process was faster
			live, e := c.Catalog.Head(ctx, st.ID)
			if e == nil && live != nil {
				st.Head = live
			}
			return st, "", e
		}
		return st, "", err
	}
	st.Head = &head
	return st, "", nil
}

// behind says that a store may have moved on.
func behind(why error) string {
	return "shared stores may be behind, what this machine has of them answers: " + why.Error()
}

// stage brings the files of a store here whole.
func stage(ctx context.Context, c *app.Core, st kb.Store) error {
	x, err := indexesOf(c)
	if err != nil {
		return err
	}
	if err := x.Stage(ctx, st.Head.Manifest); err != nil {
		return err
	}
	c.Library.Forget(st.ID)
	return nil
}

// publish puts the live generation on the cluster.
func publish(ctx context.Context, c *app.Core, st kb.Store) error {
	x, err := indexesOf(c)
	if err != nil {
		return err
	}
	live := st.Head.Shared
	if live == nil {
		live = &kb.Shared{}
	}
	if live.Manifest == st.Head.Manifest {
		return nil
	}
	now, err := x.Head(ctx, st.ID)
	if err != nil {
		return err
	}
	if now != nil && now.Round != live.Round {
		if st.Head.Shared == nil { // it was shared by another machine before
			st.Head.Shared = live
		}
		if _, _, err := renew(ctx, c, st, true); err != nil {
			return err
		}
		return kb.Errorf(kb.Busy, "another machine has published store %s meanwhile", st.Label()).
			WithHint("index it again, on top of what is there now: store:index %s", app.Args{"store": string(st.ID)})
	}
	if err := writes(c); err != nil {
		return err
	}
	head := *st.Head
	head.Shared = nil
	name, err := nameOf(ctx, c, st)
	if err != nil {
		return err
	}
	h := &cluster.Head{Store: st.ID, Name: name, Description: st.Description, Spec: st.Spec, Head: head}
	if now == nil && live.Round > 0 {
		if note, err := removed(ctx, x, st, true); err != nil || note != "" {
			return cmp.Or(err, error(kb.Errorf(kb.NotFound, "%s", note).
				WithHint("keep it: store:move %s", app.Args{"store": string(st.ID), "to": "local"})))
		}
	}
	if err := x.Share(ctx, h, live.Round); err != nil {
		return err
	}
	head.Shared = &kb.Shared{Round: h.Round, Manifest: head.Manifest}
	return c.Catalog.Rehead(ctx, st.ID, head)
}

// nameOf returns what a store is called here; jobs know only its id.
func nameOf(ctx context.Context, c *app.Core, st kb.Store) (string, error) {
	all, err := c.Catalog.All(ctx)
	if err != nil && kb.CodeOf(err) != kb.Corrupt {
		return "", err
	}
	for _, e := range all {
		if e.ID == st.ID && e.Name != "" {
			return e.Name, nil
		}
	}
	return app.NameFrom(st.Spec.Source), nil
}

// examine says whether the cluster answers.
func examine(ctx context.Context, _ *app.App, c *app.Core, say func(app.Finding)) {
	if c == nil || c.Env(urlVariable) == "" && c.Settings.Index.URL == "" {
		return
	}
	x, err := indexesOf(c)
	if err == nil {
		var all, healthy int
		if all, healthy, err = x.Client.Nodes(ctx); err == nil {
			text := "the cluster at " + x.Client.Addresses() + " answers"
			if healthy < all {
				say(app.Finding{What: "shared stores", Status: "note", Text: text + ", but not all of its nodes are healthy", Hint: "look at its nodes"})
				return
			}
			say(app.Finding{What: "shared stores", Status: "ok", Text: text})
			return
		}
	}
	say(app.Wrong("shared stores", err))
}

type moveIn struct {
	Store string `json:"store" arg:"1" help:"name or id of a store"`
	To    string `json:"to" arg:"2" enum:"shared|local" help:"shared: onto the cluster of index.url; local: to this machine alone"`
}

func addShared(t *command.Table) {
	c := t.Add("store", command.New("store:move", "Put a store on the cluster that machines share, or take it back", command.Writes,
		func(ctx context.Context, a *app.App, in moveIn) (app.Started, error) {
			return Move(ctx, a, in.Store, in.To)
		}),
		`{"store":"react","to":"shared"}`, `{"store":"react","to":"local"}`)
	c.Help = "A job does it; one that is interrupted goes on where it was. Machines that index.url of the same cluster is set on then have the store with store:create and the source shared:NAME. " +
		"Taking it back leaves what is on the cluster to the others."
	c.Network = command.AnyHost
}

// Move starts a job that puts a store on the cluster, to "shared", or takes it
// back, to "local".
func Move(ctx context.Context, a *app.App, store, to string) (app.Started, error) {
	c, st, err := a.Lookup(ctx, store)
	if err != nil {
		return app.Started{}, err
	}
	if _, err := c.Shares(); err != nil {
		return app.Started{}, err
	}
	needs := slices.DeleteFunc([]string{urlVariable, keyVariable}, func(v string) bool { return c.Env(v) == "" })
	j, err := c.Jobs.Submit(ctx, job.Request{Type: "move", Store: st.ID, Class: job.Network, Needs: needs, Args: app.MoveArgs{Shared: to == "shared"}})
	if err != nil {
		return app.Started{}, err
	}
	return app.Started{Store: st.Label(), ID: string(st.ID), Job: j.ID, Status: string(j.State)}, nil
}
