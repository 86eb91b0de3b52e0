package code

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/code/graph"
	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/source"
	"github.com/seed-4f2d999b/knowledge/internal/source/deps"
)

const (
	// joinWait is how long a place that is shown waits for a join that is not made yet.
	joinWait = 3 * time.Second
	// maxScope is how many stores of a scope are looked at for uses of each other.
	maxScope = 200
	maxNotes = 3
)

// across finds uses between the stores that are in scope where a question is
// asked. Which store has what another needs is read from their manifests; the
// uses come from joins, which are made by jobs. Nothing is looked at before it is asked for.
type across struct {
	s       *app.Shelves
	stores  map[kb.StoreID]*member // in scope; nil before they are looked at
	order   []kb.StoreID
	targets map[kb.StoreID]*search.Target // that are open
	until   time.Time                     // for how long joins are waited for
	notes   []string
	root    *member // the work tree that asks; nil where it is no store
}

// member is a store in scope.
type member struct {
	store kb.Store
	table manifests
	args  joinArgs // the join of what it uses
	// direct are the stores that its own manifests ask for; nil before they are completed.
	direct []kb.StoreID
	asked  bool   // the join was looked for
	path   string // of it
	view   *graph.View
	unfit  map[kb.StoreID]string // stores that hold what it needs in another version
}

// openAcross lets the targets find uses between stores.
func openAcross(s *app.Shelves) {
	if s.Asks == nil || len(s.Targets) == 0 || s.Targets[0].Across != nil {
		return
	}
	a := &across{s: s}
	for i := range s.Targets {
		s.Targets[i].Across = a
	}
}

// acrossNotes returns what there is to say of uses between the stores of s.
func acrossNotes(s *app.Shelves) []string {
	for i := range s.Targets {
		if a, ok := s.Targets[i].Across.(*across); ok {
			return a.notes
		}
	}
	return nil
}

// look finds the stores in scope and which of them has what another needs.
func (a *across) look(ctx context.Context) error {
	if a.stores != nil {
		return nil
	}
	a.stores = map[kb.StoreID]*member{}
	a.until = time.Now().Add(max(a.s.Wait, joinWait))
	entries, err := a.s.Asks.Scope(ctx, a.s.Core, false)
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e catalog.Entry) bool { return e.Head == nil || e.Head.Partial })
	if len(entries) < 2 {
		return nil // there is no other to use anything of
	}
	for _, e := range entries {
		if a.stores[e.ID] != nil || len(a.order) == maxScope {
			continue
		}
		t, err := manifestsIn(a.s.Core).of(ctx, a.s.Core, e.Store)
		if err != nil {
			continue // it is damaged or away, which is said where it is asked itself
		}
		a.stores[e.ID] = &member{store: e.Store, table: t}
		a.order = append(a.order, e.ID)
		if p, err := a.s.Asks.Where(); err == nil && e.Spec.Source == p.Root {
			a.root = a.stores[e.ID]
		}
	}
	slices.Sort(a.order)
	for _, id := range a.order {
		a.choose(a.stores[id])
	}
	for _, id := range a.order {
		a.complete(a.stores[id])
	}
	return nil
}

// choose finds the stores that have what a member needs, in the versions that it uses.
func (a *across) choose(m *member) {
	m.args.Own = m.store.ID
	asked := map[string]deps.Requirement{}
	for _, r := range m.table.requires {
		asked[r.Ecosystem+":"+r.Name] = r
		if r.From != "" {
			asked[r.Ecosystem+":"+r.From] = r
		}
	}
	if a.root != nil && a.root != m {
		// Of a module there is one version in a build, which the work tree decides.
		for _, r := range a.root.table.requires {
			if name := r.Ecosystem + ":" + r.Name; r.One() && asked[name].Name != "" {
				asked[name] = r
			}
		}
	}
	taken := map[string]bool{}
	for _, id := range a.order {
		o := a.stores[id]
		if o == m {
			continue
		}
		for _, p := range o.table.packages {
			name := p.Ecosystem + ":" + p.Name
			r, ok := asked[name]
			if !ok || taken[name] || m.table.has(p) {
				continue
			}
			fits, instead := r.Fits(p, heldBy(o.store))
			if fits {
				taken[name] = true
				if !slices.Contains(m.args.Others, id) {
					m.args.Others = append(m.args.Others, id)
				}
			} else if instead != "" {
				if m.unfit == nil {
					m.unfit = map[kb.StoreID]string{}
				}
				m.unfit[id] = fmt.Sprintf("store %s holds %s at %s, %s uses %s: uses between them are not resolved",
					o.store.Label(), p.Name, instead, m.store.Label(), cmp.Or(r.Version, r.Range))
			}
		}
	}
}

// complete adds to what a member uses what that uses in turn: types and what is
// exported again lead there. The members' own choices stand before, in args.
func (a *across) complete(m *member) {
	direct := len(m.args.Others)
	m.direct = slices.Clone(m.args.Others)
	for i := 0; i < len(m.args.Others) && i < maxScope; i++ {
		o := a.stores[m.args.Others[i]]
		uses := o.direct
		if uses == nil {
			uses = o.args.Others
		}
		for _, id := range uses {
			if id != m.store.ID && !slices.Contains(m.args.Others, id) {
				m.args.Others = append(m.args.Others, id)
			}
		}
	}
	slices.Sort(m.args.Others[direct:])
}

// heldBy says where the text of a store comes from.
func heldBy(st kb.Store) deps.Held {
	h := deps.Held{Ref: st.Spec.Ref}
	if st.Head != nil {
		h.Commit = st.Head.Commit
	}
	if source.Watchable(st.Spec.Kind) {
		h.Folder = st.Spec.Source
	}
	return h
}

// say notes once which stores are of other versions than the work tree needs:
// of all of them, or of one that is asked about.
func (a *across) say(about kb.StoreID) {
	if a.root == nil {
		return
	}
	for _, id := range a.order {
		note := a.root.unfit[id]
		if note != "" && (about == a.root.store.ID || about == id) && len(a.notes) < maxNotes && !slices.Contains(a.notes, note) {
			a.notes = append(a.notes, note)
		}
	}
}

// join opens the join of a store, nil when there is none; what is not made yet is
// waited for a while.
func (a *across) join(ctx context.Context, m *member) (*graph.View, error) {
	if m.asked || len(m.args.Others) == 0 {
		return m.view, nil
	}
	m.asked = true
	if a.open(m, m.args.path(a.s.Core)) {
		return m.view, nil
	}
	j, err := submitJoin(ctx, a.s.Core, m.args)
	if err == nil {
		var wait context.Context
		var cancel func()
		wait, cancel = context.WithDeadline(ctx, a.until)
		j, err = a.s.Core.Jobs.Wait(wait, j.ID, func(j kb.Job) { kb.Report(ctx, j.Progress) })
		cancel()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if a.open(m, m.args.path(a.s.Core)) || a.open(m, m.args.newest(a.s.Core)) {
		return m.view, nil
	}
	switch {
	case err == nil && j.State == kb.JobFailed:
		a.notes = append(a.notes, fmt.Sprintf("what %s uses of other stores cannot be resolved: %s; %s", m.store.Label(), j.Message, j.Hint))
	case err != nil && j.ID == "":
		a.notes = append(a.notes, fmt.Sprintf("what %s uses of other stores cannot be resolved: %v", m.store.Label(), err))
	default:
		a.notes = append(a.notes, fmt.Sprintf("what %s uses of other stores is being resolved; ask again soon", m.store.Label()))
	}
	return nil, nil
}

// open opens a join as it holds for the documents of now.
func (a *across) open(m *member, path string) bool {
	if path == "" {
		return false
	}
	v, done := joinsIn(a.s.Core).get(path)
	if v == nil {
		return false
	}
	a.s.Done = append(a.s.Done, done)
	now := func(p string) (kb.Index, string) {
		id, rest := graph.CutMember(p)
		if t, err := a.Target(context.Background(), kb.StoreID(id)); err == nil && t != nil {
			return t.Index, rest
		}
		return nil, rest
	}
	m.path = path
	m.view = v.At(graph.Now{
		Hash: func(p string) (h kb.DocHash, ok bool) {
			idx, rest := now(p)
			if idx == nil {
				return h, false
			}
			return nowOf(idx).Hash(rest)
		},
		Symbols: func(p string) []kb.Symbol {
			idx, rest := now(p)
			if idx == nil {
				return nil
			}
			return nowOf(idx).Symbols(rest)
		},
	})
	return true
}

// damaged gives up a join that turned out damaged, which is made anew when it is asked for next.
func (a *across) damaged(m *member, err error) error {
	if kb.CodeOf(err) != kb.Corrupt {
		return err
	}
	joinsIn(a.s.Core).lose(m.path)
	m.view = nil
	return nil
}

// Leaving implements search.Across.
func (a *across) Leaving(ctx context.Context, from kb.StoreID, s kb.Spot) ([]graph.Crossing, error) {
	if err := a.look(ctx); err != nil || a.stores[from] == nil {
		return nil, err
	}
	a.say(from)
	m := a.stores[from]
	v, err := a.join(ctx, m)
	if err != nil || v == nil {
		return nil, err
	}
	out, err := v.Leaving(string(from), s)
	if err != nil {
		return nil, a.damaged(m, err)
	}
	return out, nil
}

// Arriving implements search.Across.
func (a *across) Arriving(ctx context.Context, to kb.StoreID, s kb.Spot) ([]graph.Crossing, error) {
	if err := a.look(ctx); err != nil || a.stores[to] == nil {
		return nil, err
	}
	a.say(to)
	var out []graph.Crossing
	for _, id := range a.order {
		m := a.stores[id]
		if !slices.Contains(m.args.Others, to) {
			continue
		}
		v, err := a.join(ctx, m)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		found, err := v.Arriving(string(to), s)
		if err != nil {
			if err = a.damaged(m, err); err != nil {
				return nil, err
			}
			continue
		}
		out = append(out, found...)
	}
	return out, nil
}

// Target implements search.Across.
func (a *across) Target(ctx context.Context, id kb.StoreID) (*search.Target, error) {
	for i := range a.s.Targets {
		if a.s.Targets[i].Store.ID == id {
			return &a.s.Targets[i], nil
		}
	}
	if t, ok := a.targets[id]; ok {
		return t, nil
	}
	m := a.stores[id]
	if m == nil {
		return nil, nil
	}
	more, err := a.s.Core.Targets(ctx, []kb.Store{m.store})
	if err != nil {
		return nil, err
	}
	a.s.Done = append(a.s.Done, more.Release)
	if a.targets == nil {
		a.targets = map[kb.StoreID]*search.Target{}
	}
	if len(more.Targets) == 0 {
		a.targets[id] = nil
		return nil, nil
	}
	openLinked(more)
	more.Targets[0].Across = a
	a.targets[id] = &more.Targets[0]
	return a.targets[id], nil
}
