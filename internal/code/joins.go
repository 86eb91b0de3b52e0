package code

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/code/graph"
	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/job"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// A join lies at views/STORE-SETSTAMP.join: what the documents of a store use of
// some others. SET is a hash of which others, STAMP one of the contents of them
// all, so a join is never wrong about what it was made of, and another content has
// another name. It can be made anew at any time.
const (
	joinExt  = ".join"
	joinPart = 8 // bytes of each hash, which are written in hexadecimal
	// keepJoins is how many joins of one store are kept: of projects and work
	// trees that have different versions of what they use.
	keepJoins = 4
	// joinVersion is of what a join holds; another one has other names.
	joinVersion = 2
)

type joinArgs struct {
	Own    kb.StoreID   `json:"own"`
	Others []kb.StoreID `json:"others"`
}

// set is the part of a join's name that says which stores it is of.
func (a joinArgs) set() string {
	h := sha256.New()
	h.Write([]byte{joinVersion})
	for _, id := range a.Others {
		h.Write([]byte(id))
	}
	return hex.EncodeToString(h.Sum(nil)[:joinPart])
}

// path returns where the join of the stores' contents lies.
func (a joinArgs) path(c *app.Core) string {
	h := sha256.New()
	for _, id := range append([]kb.StoreID{a.Own}, a.Others...) {
		h.Write([]byte(filepath.Base(ViewOf(c, id))))
		h.Write([]byte{0})
	}
	return filepath.Join(c.Dir, "views", string(a.Own)+"-"+a.set()+hex.EncodeToString(h.Sum(nil)[:joinPart])+joinExt)
}

// newest returns the join of the same stores that was made last, "" for none.
func (a joinArgs) newest(c *app.Core) string {
	found, err := filepath.Glob(filepath.Join(c.Dir, "views", string(a.Own)+"-"+a.set()+"*"+joinExt))
	if err != nil || len(found) == 0 {
		return ""
	}
	return slices.MaxFunc(found, func(x, y string) int { return made(x).Compare(made(y)) })
}

func made(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// submitJoin has a job make a join.
func submitJoin(ctx context.Context, c *app.Core, a joinArgs) (kb.Job, error) {
	return c.Jobs.Submit(ctx, job.Request{Type: "join", Store: a.Own + app.Beside, Class: job.Linking, Args: a})
}

// runJoin is the handler of join jobs.
func runJoin(ctx context.Context, c *app.Core, j kb.Job, raw json.RawMessage) (string, map[string]any, error) {
	if j.Deaths >= job.MaxDeaths {
		return "", nil, kb.Errorf(kb.Internal, "%d worker processes died while they joined stores", j.Deaths).
			WithHint("see what they said in %s; everything but uses between stores is served; free memory, then ask for them again", filepath.Join(c.Dir, "worker.log"))
	}
	var args joinArgs
	if err := json.Unmarshal(raw, &args); err != nil {
		return "", nil, kb.Errorf(kb.Invalid, "the job's arguments do not parse: %w", err)
	}
	s, err := makeJoin(ctx, c, args)
	if err != nil && kb.CodeOf(err) == kb.NotFound {
		return "a store was deleted meanwhile", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	return "uses between stores resolved", map[string]any{"edges": s.Edges, "packages": s.Packages, "checked": s.Checked, "failed": s.Failed}, nil
}

// makeJoin links the stores, each by itself, and then joins them.
func makeJoin(ctx context.Context, c *app.Core, a joinArgs) (graph.Stats, error) {
	src := &joinSource{indexes: map[string]kb.Index{}}
	defer src.release()
	members := make([]graph.Member, 0, len(a.Others)+1)
	for _, id := range append([]kb.StoreID{a.Own}, a.Others...) {
		if _, err := Link(ctx, c, id); err != nil {
			return graph.Stats{}, err
		}
		m, err := src.add(ctx, c, id)
		if m.View != nil {
			defer m.View.Close()
		}
		if err != nil {
			return graph.Stats{}, err
		}
		members = append(members, m)
	}
	path := a.path(c)
	if whole(path) == nil {
		return graph.Stats{}, nil // somebody else made it
	}
	var prev *graph.View
	if before := a.newest(c); before != "" {
		if v, err := graph.Open(before); err == nil {
			defer v.Close()
			prev = v
		}
	}
	last := time.Time{}
	stats, err := graph.Join(ctx, src, members, prev, path, filepath.Join(c.Dir, "grammars"), func(done, total int) {
		if now := time.Now(); now.Sub(last) > 200*time.Millisecond {
			last = now
			kb.Report(ctx, kb.Progress{Phase: linkPhase, Done: int64(done), Total: int64(total)})
		}
	})
	if err == nil {
		dropJoins(c, a.Own)
	}
	return stats, err
}

// dropJoins deletes the oldest joins of a store.
func dropJoins(c *app.Core, own kb.StoreID) {
	for _, p := range joinsOf(c, own)[:max(0, len(joinsOf(c, own))-keepJoins)] {
		_ = os.Remove(p) // who has it open keeps it; where that forbids deleting, the sweep does it
	}
}

// joinsOf returns the joins of a store, the newest last.
func joinsOf(c *app.Core, own kb.StoreID) []string {
	found, _ := filepath.Glob(filepath.Join(c.Dir, "views", string(own)+"-*"+joinExt)) // the pattern is whole
	slices.SortFunc(found, func(x, y string) int { return cmp.Or(made(x).Compare(made(y)), cmp.Compare(x, y)) })
	return found
}

// keptJoins returns the names of the joins of stores that there are.
func keptJoins(c *app.Core, all []catalog.Entry) map[string]bool {
	kept := map[string]bool{}
	for _, e := range all {
		list := joinsOf(c, e.ID)
		for _, p := range list[max(0, len(list)-keepJoins):] {
			kept[filepath.Base(p)] = true
		}
	}
	return kept
}

// joinSource gives the documents of several stores to the linker, those of each
// below a folder that is called like its id.
type joinSource struct {
	entries []graph.Entry
	indexes map[string]kb.Index
}

// add makes a store a member.
func (s *joinSource) add(ctx context.Context, c *app.Core, id kb.StoreID) (graph.Member, error) {
	m := graph.Member{Name: string(id)}
	st, err := c.Catalog.Get(ctx, id)
	if err != nil {
		return m, err
	}
	idx, _, err := c.Library.Get(ctx, st)
	if err != nil {
		return m, err
	}
	if idx == nil {
		return m, kb.Errorf(kb.NotFound, "store %s is not indexed", st.Label())
	}
	s.indexes[m.Name] = idx
	one, err := newLinkSource(ctx, idx)
	if err != nil {
		return m, err
	}
	for _, e := range one.entries {
		e.Path = m.Name + "/" + e.Path
		s.entries = append(s.entries, e)
	}
	slices.SortFunc(s.entries, func(a, b graph.Entry) int { return strings.Compare(a.Path, b.Path) })
	m.Module = strings.TrimSuffix(strings.TrimPrefix(st.Spec.Source, "https://"), ".git")
	m.View, err = graph.Open(ViewOf(c, id))
	return m, err
}

func (s *joinSource) release() {
	for _, idx := range s.indexes {
		idx.Release()
	}
}

// Entries implements graph.Source.
func (s *joinSource) Entries() []graph.Entry { return s.entries }

// Load implements graph.Source.
func (s *joinSource) Load(ctx context.Context, paths []string) ([]graph.Document, error) {
	by := map[string][]string{}
	var names []string
	for _, p := range paths {
		name, rest := graph.CutMember(p)
		if by[name] == nil {
			names = append(names, name)
		}
		by[name] = append(by[name], rest)
	}
	var out []graph.Document
	for _, name := range names {
		idx := s.indexes[name]
		if idx == nil {
			continue
		}
		docs, err := (&linkSource{index: idx}).Load(ctx, by[name])
		if err != nil {
			return nil, err
		}
		for i := range docs {
			docs[i].Path = name + "/" + docs[i].Path
		}
		out = append(out, docs...)
	}
	return out, nil
}

// joinShelf keeps joins open between questions.
type joinShelf struct {
	mu   sync.Mutex
	open map[string]*viewShelf // by path
}

// get returns the join at a path, nil when there is none, and what gives it back.
func (s *joinShelf) get(path string) (*graph.View, func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stat, err := os.Stat(path)
	have := s.open[path]
	if have != nil && (err != nil || !os.SameFile(stat, have.stat) || stat.ModTime() != have.stat.ModTime()) {
		delete(s.open, path)
		s.drop(have)
		have = nil
	}
	if err != nil {
		return nil, func() {}
	}
	if have == nil {
		view, err := graph.Open(path)
		if err != nil {
			if kb.CodeOf(err) == kb.Corrupt {
				_ = os.Remove(path) // it is made anew when it is asked for
			}
			return nil, func() {}
		}
		for p, other := range s.open { // of other contents of the same store
			if len(s.open) >= 16 {
				delete(s.open, p)
				s.drop(other)
			}
		}
		if s.open == nil {
			s.open = map[string]*viewShelf{}
		}
		have = &viewShelf{view: view, stat: stat, refs: 1}
		s.open[path] = have
	}
	have.refs++
	var once sync.Once
	return have.view, func() {
		once.Do(func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.drop(have)
		})
	}
}

// drop gives up one hold; s.mu is held.
func (s *joinShelf) drop(v *viewShelf) {
	if v.refs--; v.refs == 0 {
		v.view.Close()
	}
}

// lose gives up a join whose file is damaged.
func (s *joinShelf) lose(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.open[path]; v != nil {
		delete(s.open, path)
		s.drop(v)
	}
	_ = os.Remove(path)
}

// Close gives up the joins.
func (s *joinShelf) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p, v := range s.open {
		delete(s.open, p)
		s.drop(v)
	}
	return nil
}

var _ graph.Source = (*joinSource)(nil)

func joinsIn(c *app.Core) *joinShelf { return app.State(c, func() *joinShelf { return &joinShelf{} }) }
