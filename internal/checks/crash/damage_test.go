package crash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// TestFlippedBytes flips one byte at a time, of files of every kind, and asks:
// what is answered is what the undamaged index answers, or it is left out and
// said so; a store that is whole is served beside a damaged one; and indexing
// with force brings everything back.
func TestFlippedBytes(t *testing.T) {
	flips, repairEvery := 21, 7
	if full {
		flips, repairEvery = 1000, 10
	}
	rng := rand.New(rand.NewPCG(6, 6))
	w := newWorld(t)
	var trees []*tree
	for i, name := range []string{"first", "second"} {
		tr := newTree(t, uint64(60+i))
		tr.grow(25)
		trees = append(trees, tr)
		a, end := w.open(true)
		w.create(a, name, tr.dir)
		tr.edit(2) // a second generation, with places that are gone
		s, err := a.IndexStore(t.Context(), name, false)
		must(t, err)
		w.finish(a, s.Job)
		end()
	}
	third := newTree(t, 62)
	third.grow(10)
	a, end := w.open(true)
	st, err := a.CreateStore(t.Context(), app.CreateStore{Name: "third", Kind: kb.KindRepo, Source: served(t, third.dir)})
	must(t, err)
	w.finish(a, st.Job)
	end()
	must(t, os.WriteFile(filepath.Join(w.dir, "worker.log"), []byte("said by a worker\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(w.dir, "jobs", "slot-local-0.lock"), []byte(` {"pid":1,"since":"2026-01-02T03:04:05Z"}`+strings.Repeat(" ", 40)+"\n"), 0o600))

	pristine := w.dir + ".pristine"
	must(t, os.CopyFS(pristine, os.DirFS(w.dir)))
	kinds := kindsOf(t, pristine)
	d := &damage{t: t, w: w, trees: trees, outcomes: map[string]int{}}
	a, end = w.open(true)
	d.queries = append(trees[0].queries(2), trees[1].queries(2)...)
	d.want = d.look(a)
	end()
	for _, s := range d.want {
		if s.err != nil {
			t.Fatalf("undamaged: %v", s.err)
		}
	}
	for i := range flips {
		kind := kinds.names[i%len(kinds.names)]
		file := kinds.files[kind][rng.IntN(len(kinds.files[kind]))]
		must(t, os.RemoveAll(w.dir))
		must(t, os.CopyFS(w.dir, os.DirFS(pristine)))
		path := filepath.Join(w.dir, file)
		b, err := os.ReadFile(path)
		must(t, err)
		at, bit := rng.IntN(len(b)), byte(1)<<rng.IntN(8)
		b[at] ^= bit
		must(t, os.WriteFile(path, b, 0o600))
		d.at = fmt.Sprintf("bit %d of byte %d of %d of %s", bit, at, len(b), file)
		d.kind = kind
		d.suffer(i%repairEvery == 0)
	}
	var told []string
	for k, n := range d.outcomes {
		told = append(told, fmt.Sprintf("%s %d", k, n))
	}
	slices.Sort(told)
	t.Logf("%d flips: %s", flips, strings.Join(told, ", "))
}

// kinds are the files of a data directory by kind.
type kinds struct {
	names []string
	files map[string][]string
}

func kindsOf(t *testing.T, dir string) kinds {
	k := kinds{files: map[string][]string{}}
	must(t, filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		if info, err := e.Info(); err != nil || info.Size() == 0 {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		kind := filepath.Ext(rel)
		if top, _, deep := strings.Cut(filepath.ToSlash(rel), "/"); deep && top == "repos" {
			kind = top
		}
		if k.files[kind] == nil {
			k.names = append(k.names, kind)
		}
		k.files[kind] = append(k.files[kind], rel)
		return err
	}))
	slices.Sort(k.names)
	return k
}

// damage looks at a damaged data directory.
type damage struct {
	t        *testing.T
	w        *world
	trees    []*tree
	queries  []string
	want     []sight
	at, kind string
	outcomes map[string]int
}

// sight is what one call shows.
type sight struct {
	call  string
	hits  map[string]string // what is shown by the place's id
	notes string
	err   error
}

// look asks for everything: each store by itself, both, each hit's context,
// and what is known of the stores.
func (d *damage) look(a *app.App) []sight {
	var out []sight
	ctx := d.t.Context()
	var ids []string
	for _, stores := range [][]string{{"first"}, {"second"}, {"third"}, {"*"}} {
		for _, q := range d.queries {
			got, err := ask(ctx, a, q, stores...)
			s := sight{"search " + stores[0] + " " + q, map[string]string{}, strings.Join(got.Notes, "; "), err}
			for _, h := range got.Hits {
				// Beside a store that is left out words weigh otherwise, so scores
				// and the lines that are shown may differ; where each hit is may not.
				s.hits[h.ID] = fmt.Sprint(h.Store, h.At, h.Kind, h.Language)
				if stores[0] != "*" {
					s.hits[h.ID] += fmt.Sprint(h.Symbol, h.Signature, h.Doc, h.Score, h.Line, h.Code, h.Why, h.Related)
				}
				if len(ids) < 8 {
					ids = append(ids, h.ID)
				}
			}
			out = append(out, s)
		}
	}
	if d.want != nil { // the same ids each time
		ids = nil
		for _, s := range d.want {
			if id, ok := strings.CutPrefix(s.call, "context "); ok {
				ids = append(ids, id)
			}
		}
	}
	for _, id := range ids {
		c, err := find.ByID(ctx, a, id)
		out = append(out, sight{"context " + id, map[string]string{id: fmt.Sprint(c.At, c.Symbol, c.Code, c.Doc, c.Kind)}, "", err})
	}
	for _, name := range []string{"first", "second", "third"} {
		i, err := a.StoreInfo(ctx, name)
		out = append(out, sight{"info " + name, map[string]string{name: fmt.Sprint(i.Documents, i.Chunks, i.Source)}, "", err})
	}
	return out
}

// suffer looks at the damage and compares; then it repairs.
func (d *damage) suffer(repair bool) {
	t := d.t
	// Looking may start a rebuild: what is asked while it runs counts as well.
	a, end := d.w.open(true)
	defer end()
	got := d.look(a)
	outcome := "unnoticed"
	for i, s := range got {
		want := d.want[i]
		switch {
		case s.err != nil:
			outcome = "refused"
			if d.kind == ".view" || d.kind == ".now" { // they are given up alone
				t.Errorf("%s: %s: %v", d.at, s.call, s.err)
			}
			if code := kb.CodeOf(s.err); code == kb.Internal && kb.HintOf(s.err) == "" || s.err.Error() == "" {
				t.Errorf("%s: %s: no clear message: %v", d.at, s.call, s.err)
			}
			continue
		case s.notes != want.notes && outcome == "unnoticed":
			outcome = "left out and said"
		}
		for id, h := range s.hits {
			if was, ok := want.hits[id]; ok && was != h {
				t.Errorf("%s: %s: %s is\n%s instead of\n%s", d.at, s.call, id, h, was)
			} else if !ok && s.notes == want.notes {
				t.Errorf("%s: %s: %s was not found before:\n%s\nof %v\ninstead of %v", d.at, s.call, id, h, s.hits, want.hits)
			}
		}
		if len(s.hits) < len(want.hits) && s.notes == want.notes {
			t.Errorf("%s: %s: hits are missing and nothing is said", d.at, s.call)
		}
	}
	if !strings.HasPrefix(d.kind, ".db") { // the catalog knows the stores, so two of them are whole
		whole := 0
		for i, s := range got[:3*len(d.queries)] {
			if i%len(d.queries) == 0 && reflect.DeepEqual(s.hits, d.want[i].hits) && s.err == nil {
				whole++
			}
		}
		if whole < 2 {
			t.Errorf("%s: the other stores are not served: %v %v", d.at, got[0], got[len(d.queries)])
		}
	}
	d.outcomes[d.kind+" "+outcome]++
	if repair {
		d.repair(a, outcome)
	}
}

// repair indexes the stores with force and expects everything back. A
// database that is damaged itself says what to do instead.
func (d *damage) repair(a *app.App, outcome string) {
	t := d.t
	for _, name := range []string{"first", "second", "third"} {
		s, err := a.IndexStore(t.Context(), name, true)
		if err == nil {
			var j kb.Job
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			j, err = a.WaitJob(ctx, s.Job)
			cancel()
			if err == nil && j.State != kb.JobCompleted {
				err = errors.New(string(j.State) + ": " + j.Message)
			}
		}
		if err != nil {
			if d.kind != ".db" || outcome == "unnoticed" {
				t.Errorf("%s: %s is not repaired: %v", d.at, name, err)
			}
			d.outcomes[d.kind+" not repairable by force"]++
			return
		}
	}
	for i, s := range d.look(a) {
		if s.err != nil || !reflect.DeepEqual(s.hits, d.want[i].hits) || s.notes != d.want[i].notes {
			t.Errorf("%s: after the repair %s:\n%v\ninstead of\n%v", d.at, s.call, s, d.want[i])
			return
		}
	}
	d.outcomes[d.kind+" repaired"]++
}

// served makes a repository of a folder and serves it over HTTP, from a
// branch; where git or its server is missing it returns the folder itself.
func served(t *testing.T, dir string) string {
	t.Helper()
	repo, err := git.PlainInitWithOptions(dir, &git.PlainInitOptions{})
	must(t, err)
	tree, err := repo.Worktree()
	must(t, err)
	must(t, tree.AddWithOptions(&git.AddOptions{All: true}))
	who := &object.Signature{Name: "t", Email: "t@example.org", When: time.Unix(1e9, 0)}
	_, err = tree.Commit("all", &git.CommitOptions{Author: who, Committer: who})
	must(t, err)
	out, err := exec.Command("git", "--exec-path").Output()
	backend := filepath.Join(strings.TrimSpace(string(out)), "git-http-backend")
	if _, serr := os.Stat(backend); err != nil || serr != nil {
		t.Log("no git-http-backend here: nothing lies in repos")
		return dir
	}
	srv := httptest.NewServer(&cgi.Handler{Path: backend, Env: []string{
		"GIT_PROJECT_ROOT=" + filepath.Dir(dir), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}})
	t.Cleanup(srv.Close)
	opens(t, srv.URL)
	return srv.URL + "/" + filepath.Base(dir) + "/.git"
}
