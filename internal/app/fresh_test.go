package app_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/answers"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/code"
	"github.com/seed-4f2d999b/knowledge/internal/data/lockfile"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/follow"
	"github.com/seed-4f2d999b/knowledge/internal/job/watch"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// Every store of a folder is answered from as its folder is now, whichever way
// it became a store, whichever way it is asked, and whichever process asks.
func TestEveryFolderStoreFollowsItsFolder(t *testing.T) {
	s := producttest.NewSite(t)
	for _, dir := range []string{"named", "defined", "own", "notes", "mine"} {
		s.Write(dir+"/a.md", "# first\n")
	}
	s.Write("defined/.knowledge/stores.json", `{"stores":[{"name":"here","source":".","type":"file"}]}`)
	for _, c := range []struct{ project, store, dir string }{
		{"named", "me", "named"},       // the own folder, by a name
		{"defined", "here", "defined"}, // as the project's definitions name it
		{"own", "own", "own"},          // unnamed
		{"named", "notes", "notes"},    // a folder elsewhere
		{"named", "mine", "mine"},      // and one that is the user's
		{"own", "mine", "mine"},
	} {
		first := s.In(c.project, true)
		switch c.store {
		case "here":
			r, err := follow.Sync(t.Context(), first, follow.SyncRequest{})
			if err != nil || len(r.Jobs) != 1 {
				t.Fatalf("%+v, %v", r, err)
			}
			if _, err := first.WaitJob(t.Context(), r.Jobs[0].Job); err != nil {
				t.Fatal(err)
			}
		case "own":
			s.Search(first, search.Request{Query: "first"}, app.Scope{})
		default:
			if !first.HasStore(t.Context(), c.store) {
				s.Create(first, app.CreateStore{Name: c.store, Source: filepath.Join(s.Root, c.dir), User: c.store == "mine"})
			}
		}
		other := s.In(c.project, true) // another process
		wait := app.Waiting{Wait: time.Minute}
		n := 0
		for way, asks := range map[string]func(a *app.App, word string) (string, error){
			"by default": func(a *app.App, word string) (string, error) {
				r, err := find.Search(t.Context(), a, search.Request{Query: word}, app.Scope{Waiting: app.Waiting{Wait: time.Minute}})
				return fmt.Sprint(r.Hits, r.Notes), err
			},
			"by name": func(a *app.App, word string) (string, error) {
				r, err := find.Search(t.Context(), a, search.Request{Query: word}, app.Scope{Stores: []string{c.store}, Waiting: app.Waiting{Wait: time.Minute}})
				return fmt.Sprint(r.Hits, r.Notes), err
			},
			"among all": func(a *app.App, word string) (string, error) {
				r, err := find.Search(t.Context(), a, search.Request{Query: word}, app.Scope{Stores: []string{"*"}, Waiting: app.Waiting{Wait: time.Minute}})
				return fmt.Sprint(r.Hits, r.Notes), err
			},
			"grep": func(a *app.App, word string) (string, error) {
				r, err := find.Grep(t.Context(), a, c.store, word, "", false, 0, wait)
				return fmt.Sprint(r.Matches, r.Note), err
			},
			"read": func(a *app.App, word string) (string, error) {
				r, err := find.Read(t.Context(), a, c.store, word+".md", "", wait)
				return r.Text + r.Note, err
			},
			"files": func(a *app.App, word string) (string, error) {
				r, err := find.Files(t.Context(), a, c.store, "*.md", 0, wait)
				return fmt.Sprint(r.Files, r.Note), err
			},
			"symbols": func(a *app.App, word string) (string, error) {
				r, err := code.Symbols(t.Context(), a, code.SymbolsRequest{SymbolsRequest: search.SymbolsRequest{Name: word}, Stores: []string{c.store}, Waiting: wait})
				return fmt.Sprint(r), err
			},
			"ask": func(a *app.App, word string) (string, error) {
				r, err := answers.Ask(t.Context(), a, answers.AskRequest{Question: "what is " + word, Stores: []string{c.store}, Waiting: wait})
				return fmt.Sprint(r.Parts, r.Sources, r.Near, r.Notes), err
			},
		} {
			n++
			word := fmt.Sprintf("walrus%c%s", 'a'+n, c.store)
			s.Write(c.dir+"/"+word+".md", "# "+word+"\n\nA "+word+" is an animal.\n")
			s.Write(c.dir+"/"+word+".go", "package animals\n\nfunc "+word+"() {}\n")
			for _, a := range []*app.App{other, first} {
				got, err := asks(a, word)
				if err != nil || !strings.Contains(got, word) {
					t.Errorf("%s in %s, %s: the edit is missed: %s, %v", c.store, c.project, way, got, err)
				}
				if strings.Contains(got, "up to date") || strings.Contains(got, "changed since") {
					t.Errorf("%s in %s, %s: something is said of what is as it should be: %s", c.store, c.project, way, got)
				}
			}
		}
	}
}

// A store of a part of the folder is not the folder: what lies beside the part
// is found too.
func TestAPartOfTheFolderIsNotTheFolder(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/docs/a.md", "# alpaca\n")
	s.Write("p/b.md", "# bison\n")
	a := s.In("p", true)
	s.Create(a, app.CreateStore{Name: "docs", Source: filepath.Join(s.Root, "p"), Paths: []string{"docs"}})
	if r := s.Search(a, search.Request{Query: "bison"}, app.Scope{}); len(r.Hits) == 0 || r.Hits[0].At != "b.md:L1" {
		t.Errorf("got %+v", r)
	}
}

// What cannot be brought up to date in time is said: which store, how many
// files, and what brings it up to date. To a stranger nothing is said to do.
func TestWhatIsBehindIsSaid(t *testing.T) {
	s := producttest.NewSite(t)
	for i := range 4 {
		s.Write(fmt.Sprintf("notes/%d.md", i), "# first\n")
	}
	s.Write("p/a.md", "# first\n")
	a := s.In("p", true)
	s.Create(a, app.CreateStore{Name: "notes", Source: filepath.Join(s.Root, "notes")})
	s.Search(a, search.Request{Query: "first"}, app.Scope{})
	id := kb.StoreID(producttest.MustInfo(t, a, "notes").ID)
	if err := producttest.MustOpen(t, a).Catalog.SetPublic(t.Context(), id, true); err != nil {
		t.Fatal(err)
	}
	busy, err := lockfile.TryLock(filepath.Join(s.Data, "jobs", "store-"+string(id)+".lock")) // somebody else is at it
	if err != nil {
		t.Fatal(err)
	}
	s.Write("notes/new.md", "# new\n")
	s.Write("notes/1.md", "# second\n")
	if err := os.Remove(filepath.Join(s.Root, "notes", "2.md")); err != nil {
		t.Fatal(err)
	}
	r, err := find.Search(t.Context(), a, search.Request{Query: "first"}, app.Scope{Waiting: app.Waiting{Wait: 50 * time.Millisecond}})
	if err != nil || len(r.Notes) != 1 {
		t.Fatalf("%q, %v", r.Notes, err)
	}
	j, running, err := producttest.MustOpen(t, a).Jobs.Active(t.Context(), id)
	if err != nil || !running {
		t.Fatalf("no job brings it up to date: %v", err)
	}
	want := fmt.Sprintf(`store notes is still being brought up to date (job %s, begun): 3 files have changed since it was indexed, so hits may be missing; wait for the rest with: job:status {"jobId":%q,"wait":true}`, j.ID, j.ID)
	if r.Notes[0] != want {
		t.Errorf("got  %s\nwant %s", r.Notes[0], want)
	}
	g, err := find.Grep(t.Context(), a, "notes", "first", "", false, 0, app.Waiting{})
	if err != nil || !strings.Contains(g.Note, "3 files have changed") {
		t.Errorf("grep: %+v, %v", g, err)
	}
	public, err := answers.SearchPublic(t.Context(), a, "first", 5, "")
	if err != nil || len(public.Notes) == 0 || !strings.Contains(public.Notes[0], "3 files have changed") || strings.Contains(public.Notes[0], "job:status") {
		t.Errorf("public: %+v, %v", public, err)
	}
	if err := busy.Unlock(); err != nil {
		t.Fatal(err)
	}
	if r := s.Search(a, search.Request{Query: "first"}, app.Scope{}); len(r.Notes) > 0 {
		t.Errorf("it is said of what is up to date: %q", r.Notes)
	}
}

// A search through everything is told of other projects' folders; that they are
// brought up to date is for those to ask who work in them.
func TestOtherProjectsFoldersAreTold(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("one/a.md", "# first\n")
	s.Write("two/a.md", "# first\n")
	one, two := s.In("one", true), s.In("two", true)
	s.Search(one, search.Request{Query: "first"}, app.Scope{})
	s.Search(two, search.Request{Query: "first"}, app.Scope{})
	s.Write("one/b.md", "# okapi\n")
	id := producttest.MustInfo(t, one, ".").ID
	r := s.Search(two, search.Request{Query: "okapi"}, app.Scope{Stores: []string{"*"}})
	want := fmt.Sprintf(`store one is behind its folder: 1 file has changed since it was indexed, so hits may be missing; bring it up to date with: store:index {"store":%q}`, id)
	if !slices.Contains(r.Notes, want) {
		t.Errorf("got %q, want %s", r.Notes, want)
	}
	st, err := two.IndexStore(t.Context(), id, false) // what is said is true
	if err != nil {
		t.Fatal(err)
	}
	if _, err := two.WaitJob(t.Context(), st.Job); err != nil {
		t.Fatal(err)
	}
	if r := s.Search(two, search.Request{Query: "okapi"}, app.Scope{Stores: []string{"*"}}); len(r.Hits) == 0 || len(r.Notes) > 0 {
		t.Errorf("got %+v", r)
	}
}

// A folder that is not there, or holds nothing any more, as when its file
// system is unmounted, takes nothing from the index, and that is said.
func TestAFolderThatIsGoneIsSaid(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("notes/a.md", "# walrus\n")
	s.Write("p/a.md", "# first\n")
	a := s.In("p", true)
	notes := filepath.Join(s.Root, "notes")
	s.Create(a, app.CreateStore{Name: "notes", Source: notes})
	asks := func(says string) {
		t.Helper()
		r := s.Search(a, search.Request{Query: "walrus"}, app.Scope{Stores: []string{"notes"}})
		if len(r.Hits) != 1 || (says == "") != (len(r.Notes) == 0) || says != "" && !strings.Contains(r.Notes[0], says) {
			t.Errorf("got %d hits, %q, want %q", len(r.Hits), r.Notes, says)
		}
	}
	asks("")
	if err := os.Rename(notes, notes+"-moved"); err != nil {
		t.Fatal(err)
	}
	asks("its folder " + notes + " is gone")
	// A stranger is not told where it was.
	if err := producttest.MustOpen(t, a).Catalog.SetPublic(t.Context(), kb.StoreID(producttest.MustInfo(t, a, "notes").ID), true); err != nil {
		t.Fatal(err)
	}
	public, err := answers.SearchPublic(t.Context(), a, "walrus", 5, "")
	if err != nil || len(public.Notes) != 1 || !strings.Contains(public.Notes[0], "its folder is gone, hits are of") {
		t.Errorf("public: %q, %v", public.Notes, err)
	}
	if err := os.Mkdir(notes, 0o755); err != nil {
		t.Fatal(err)
	}
	asks("1 file was in its folder " + notes + ", and nothing is now")
	if err := os.Remove(notes); err != nil {
		t.Fatal(err)
	}
	if os.Symlink(notes+"-moved", notes) == nil { // where links may be made
		asks("is reached through a link")
		if err := os.Remove(notes); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(notes+"-moved", notes); err != nil {
		t.Fatal(err)
	}
	asks("")
}

// A server follows every folder that is searched here, and who asks is answered
// by it, without a look of their own, with what was written the moment before.
func TestServersFollowWhatIsSearched(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("notes/a.md", "# first\n")
	s.Write("p/a.md", "# first\n")
	server, other := s.In("p", true), s.In("p", true)
	s.Create(server, app.CreateStore{Name: "notes", Source: filepath.Join(s.Root, "notes")})
	s.Search(server, search.Request{Query: "first"}, app.Scope{})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); follow.Background(ctx, server) }()
	defer func() { stop(); <-done }()
	if _, err := other.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, store := range []string{"notes", "."} {
		id := kb.StoreID(producttest.MustInfo(t, other, store).ID)
		producttest.Eventually(t, store+" is followed", func() bool { return follow.Probe(other.Core, id) == app.Current })
	}
	for i := range 10 {
		word := fmt.Sprintf("walrus%c", 'a'+i)
		s.Write("notes/"+word+".md", "# "+word+"\n")
		if r := s.Search(other, search.Request{Query: word}, app.Scope{}); len(r.Hits) == 0 || !strings.Contains(r.Hits[0].Code, word) || len(r.Notes) > 0 {
			t.Fatalf("it is missed: %+v", r)
		}
	}
	if err := os.RemoveAll(filepath.Join(s.Root, "notes")); err != nil {
		t.Fatal(err)
	}
	if r := s.Search(other, search.Request{Query: "walrusa"}, app.Scope{}); len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "is gone") {
		t.Errorf("got %q", r.Notes)
	}
}

// A large folder that is edited all the time is not looked at by who asks: what was
// written the moment before is found as soon as a run has seen it, whatever is
// written meanwhile.
func TestALargeFolderThatIsEditedAllTheTime(t *testing.T) {
	s := producttest.NewSite(t)
	for i := range 2100 { // more than are looked at each time
		s.Write(fmt.Sprintf("p/d%d/f%d.md", i%30, i), fmt.Sprintf("# page %d\n", i))
	}
	server, other := s.In("p", true), s.In("p", true)
	s.Search(server, search.Request{Query: "page"}, app.Scope{})
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer func() { stop(); all.Wait() }()
	all.Go(func() { follow.Background(ctx, server) })
	id := kb.StoreID(producttest.MustInfo(t, other, ".").ID)
	producttest.Eventually(t, "it is followed", func() bool { return follow.Probe(producttest.MustOpen(t, other), id) == app.Current })
	all.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			s.Write(fmt.Sprintf("p/d%d/f%d.md", i%30, i%2100), fmt.Sprintf("# page %d, edited\n", i))
			time.Sleep(5 * time.Millisecond)
		}
	})
	for i := range 5 {
		word := fmt.Sprintf("walrus%c", 'a'+i)
		s.Write("p/d7/"+word+".md", "# "+word+"\n")
		r := s.Search(other, search.Request{Query: word}, app.Scope{})
		if len(r.Hits) == 0 || !strings.Contains(r.Hits[0].Code, word) || len(r.Notes) > 0 {
			t.Fatalf("it is missed: %+v", r)
		}
	}
	// Who does not wait long enough is told.
	var busy *lockfile.Lock
	producttest.Eventually(t, "nothing is indexed", func() (ok bool) {
		var err error
		busy, err = lockfile.TryLock(filepath.Join(s.Data, "jobs", "store-"+string(id)+".lock"))
		return err == nil
	})
	s.Write("p/d7/okapi.md", "# okapi\n")
	r, err := find.Search(t.Context(), other, search.Request{Query: "okapi"}, app.Scope{Waiting: app.Waiting{Wait: time.Millisecond}})
	busy.Unlock()
	if err != nil || len(r.Notes) == 0 || !strings.Contains(r.Notes[0], "is still being brought up to date") {
		t.Errorf("got %q, %v", r.Notes, err)
	}
}

// What followed a folder and was cancelled has not brought it up to date.
func TestACancelledUpdateIsNone(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/a.md", "# first\n")
	a := s.In("p", true)
	s.Search(a, search.Request{Query: "first"}, app.Scope{})
	id := kb.StoreID(producttest.MustInfo(t, a, ".").ID)
	busy, err := lockfile.TryLock(filepath.Join(s.Data, "jobs", "store-"+string(id)+".lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Unlock()
	s.Write("p/a.md", "# second\n")
	failed := make(chan error, 1)
	go func() {
		_, err := follow.CatchUp(t.Context(), producttest.MustOpen(t, a), id, watch.Due{})
		failed <- err
	}()
	var j kb.Job
	producttest.Eventually(t, "a job is at it", func() (ok bool) { j, ok, _ = producttest.MustOpen(t, a).Jobs.Active(t.Context(), id); return ok })
	if _, err := a.CancelJob(t.Context(), j.ID); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err == nil {
		t.Error("it is taken for up to date")
	}
	// Nor does it begin again by itself: not by what follows the folder, not by a
	// search, whose reply says so. store:index does it.
	if _, err := follow.CatchUp(t.Context(), producttest.MustOpen(t, a), id, watch.Due{}); kb.CodeOf(err) != kb.Canceled || !strings.Contains(kb.HintOf(err), "store:index") {
		t.Errorf("what follows the folder begins again: %v", err)
	}
	busy.Unlock()
	r := s.Search(a, search.Request{Query: "second"}, app.Scope{})
	if len(r.Notes) == 0 || !strings.Contains(r.Notes[0], "it was cancelled, and begins by itself at ") || !strings.Contains(r.Notes[0], "store:index") {
		t.Errorf("the notes are %q", r.Notes)
	}
	if _, ok, err := producttest.MustOpen(t, a).Jobs.Active(t.Context(), id); ok || err != nil {
		t.Errorf("a search begins again: %v", err)
	}
	started, err := a.IndexStore(t.Context(), ".", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.WaitJob(t.Context(), started.Job); err != nil {
		t.Fatal(err)
	}
	if r := s.Search(a, search.Request{Query: "second"}, app.Scope{}); len(r.Hits) == 0 || len(r.Notes) != 0 {
		t.Errorf("after store:index: %+v", r)
	}
}

// A store that fails each time that it is brought up to date is not tried by
// every question: it rests, longer each time, and the replies say what failed,
// until when, and what to do.
func TestWhatFailsIsTriedAtLongerAndLongerIntervals(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/a.md", "# first\n")
	a := s.In("p", true)
	s.Search(a, search.Request{Query: "first"}, app.Scope{})
	write := func(query string, args ...any) {
		t.Helper()
		err := producttest.MustOpen(t, a).Db.Write(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), query, args...)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	write("UPDATE jobs SET state = 'failed', message = 'the disk is on fire', hint = 'put it out', updated = ?", time.Now().UnixMicro())
	s.Write("p/a.md", "# zebra\n")
	for range 2 {
		r := s.Search(a, search.Request{Query: "zebra"}, app.Scope{})
		jobs, err := producttest.MustOpen(t, a).Jobs.List(t.Context(), "", false)
		if err != nil || len(jobs) != 1 {
			t.Fatalf("%d jobs, %v: a question tried again", len(jobs), err)
		}
		for _, says := range []string{"(the disk is on fire; failed once, tried again at ", ", or at once by store:index): 1 file has changed", "; put it out"} {
			if len(r.Notes) == 0 || !strings.Contains(r.Notes[0], says) {
				t.Errorf("the notes do not say %q: %q", says, r.Notes)
			}
		}
	}
	write("UPDATE jobs SET updated = updated - 6000000")
	if r := s.Search(a, search.Request{Query: "zebra"}, app.Scope{}); len(r.Hits) == 0 || len(r.Notes) != 0 {
		t.Errorf("after the rest: %+v", r)
	}
	if n, _, err := producttest.MustOpen(t, a).Jobs.Failures(t.Context(), "index", kb.StoreID(producttest.MustInfo(t, a, ".").ID)); n != 0 || err != nil {
		t.Errorf("%d failures since it succeeded, %v", n, err)
	}
}
