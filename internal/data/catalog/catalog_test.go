package catalog

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var epoch = time.Date(2024, 2, 29, 12, 0, 0, 0, time.FixedZone("away", 3600))

func open(t *testing.T, path string) *Catalog {
	t.Helper()
	d, err := db.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return New(d, func() time.Time { return epoch })
}

func fresh(t *testing.T) *Catalog {
	return open(t, filepath.Join(t.TempDir(), "knowledge.db"))
}

func folder(path string) kb.Spec { return kb.Spec{Kind: kb.KindFolder, Source: path} }

func add(t *testing.T, c *Catalog, project, name string, spec kb.Spec) kb.Store {
	t.Helper()
	st, _, err := c.Add(t.Context(), project, name, spec, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func wantCode(t *testing.T, err error, want kb.Code, parts ...string) {
	t.Helper()
	if kb.CodeOf(err) != want || err == nil || kb.HintOf(err) == "" {
		t.Errorf("got %v (code %q, hint %q), want %q", err, kb.CodeOf(err), kb.HintOf(err), want)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error()+" / "+kb.HintOf(err), p) {
			t.Errorf("%q / %q lacks %q", err, kb.HintOf(err), p)
		}
	}
}

func TestPutIsIdempotent(t *testing.T) {
	c := fresh(t)
	spec := kb.Spec{Kind: kb.KindRepo, Source: "https://example.org/r", Ref: kb.Ref{Type: kb.RefTag, Name: "v1"},
		Selection: kb.Selection{Paths: []string{"src"}, MaxFileBytes: 7}}
	want := kb.Store{ID: spec.ID(), Spec: spec, Created: epoch.UTC(), Tags: []string{}}
	for range 2 {
		st, err := c.Put(t.Context(), spec)
		if diff := cmp.Diff(want, st); diff != "" || err != nil {
			t.Error(diff, err)
		}
	}
	a, _ := c.Put(t.Context(), kb.Spec{Kind: kb.KindRepo, Source: "s", Ref: kb.Ref{Type: kb.RefDefault}})
	b, err := c.Put(t.Context(), kb.Spec{Kind: kb.KindRepo, Source: "s"})
	if diff := cmp.Diff(a, b); diff != "" || err != nil {
		t.Error("the two ways to say default differ: ", diff, err)
	}
	_, err = c.Get(t.Context(), "nosuchstorenosuc")
	wantCode(t, err, kb.NotFound)
}

func TestNamesBelongToTheirScope(t *testing.T) {
	c := fresh(t)
	ctx := t.Context()
	r17, r18, users := folder("/react17"), folder("/react18"), folder("/notes")
	add(t, c, "p1", "react", r17)
	add(t, c, "p2", "react", r18)
	add(t, c, "", "notes", users)
	add(t, c, "", "react", r18)
	for project, want := range map[string]kb.StoreID{"p1": r17.ID(), "p2": r18.ID(), "p3": r18.ID(), "": r18.ID()} {
		if st, err := c.Lookup(ctx, project, "react"); err != nil || st.ID != want || st.Name != "react" {
			t.Errorf("%q: got %+v, %v", project, st, err)
		}
	}
	if st, err := c.Lookup(ctx, "p1", "notes"); err != nil || st.ID != users.ID() {
		t.Errorf("the user's name in a project: %+v, %v", st, err)
	}
	_, _, err := c.Add(ctx, "p1", "react", r18, "", nil)
	wantCode(t, err, kb.Exists, "/react17", "store:delete react")
	if st, err := c.Get(ctx, r17.ID()); err != nil || st.ID == "" {
		t.Error(err)
	}
	_, err = c.Attach(ctx, "p1", "other", "nosuchstorenosuc", "", nil)
	wantCode(t, err, kb.NotFound)

	st, created, err := c.Add(ctx, "p1", "react", r17, "the old one", []string{"ui"})
	if err != nil || created || st.Description != "the old one" {
		t.Errorf("again: %+v, %v, %v", st, created, err)
	}
	if st = add(t, c, "p1", "react", r17); st.Description != "the old one" || len(st.Tags) != 1 {
		t.Errorf("an empty description erased: %+v", st)
	}

	names := func(entries []Entry, err error) (out []string) {
		if err != nil {
			t.Error(err)
		}
		for _, e := range entries {
			out = append(out, strings.TrimSpace(string(e.Scope)+" "+e.Name))
		}
		return out
	}
	if diff := cmp.Diff([]string{"project react", "user notes", "user react"}, names(c.List(ctx, "p1"))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"project react", "user notes"}, names(c.List(ctx, "p2"))); diff != "" {
		t.Error("a store both name is listed once: ", diff)
	}
	if diff := cmp.Diff([]string{"user notes", "user react"}, names(c.List(ctx, ""))); diff != "" {
		t.Error(diff)
	}
	if _, err := c.Put(ctx, folder("/unheld")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.SetOwn(ctx, "p1", "/work", folder("/work")); err != nil {
		t.Fatal(err)
	}
	all, err := c.All(ctx)
	if err != nil || len(all) != 5 {
		t.Errorf("all: %+v, %v", all, err)
	}
}

func TestLookupByIDAndHints(t *testing.T) {
	c := fresh(t)
	ctx := t.Context()
	_, err := c.Lookup(ctx, "p", "react")
	wantCode(t, err, kb.NotFound, "stores")
	st := add(t, c, "p", "react-router", folder("/rr"))
	add(t, c, "", "golang", folder("/go"))
	for n := minPrefix; n <= fullID; n++ {
		for _, project := range []string{"p", "q"} {
			got, err := c.Lookup(ctx, project, string(st.ID[:n]))
			if err != nil || got.ID != st.ID || got.Name != "react-router" {
				t.Errorf("prefix of %d: %+v, %v", n, got, err)
			}
		}
	}
	for name, want := range map[string]string{"react": `"react-router"`, "GoLang": `"golang"`, "goland": `"golang"`, "zzzzzzzzzz": "with: stores"} {
		_, err := c.Lookup(ctx, "p", name)
		wantCode(t, err, kb.NotFound, want)
	}
	_, err = c.Lookup(ctx, "p", strings.Repeat("x", 1<<20))
	wantCode(t, err, kb.NotFound)
	if len(err.Error()) > 300 {
		t.Errorf("a message of %d bytes", len(err.Error()))
	}
	_, err = c.Lookup(ctx, "p", string(st.ID[:3]))
	wantCode(t, err, kb.NotFound)
	other := kb.StoreID(st.ID[:6] + "zzzzzzzzzz")
	if err := c.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec("INSERT INTO stores (id, spec, created, sum) VALUES (?, '{}', 0, ?)", other, sum("{}", ""))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	_, err = c.Lookup(ctx, "p", string(st.ID[:5]))
	wantCode(t, err, kb.Invalid, string(other), string(st.ID))
}

func TestCheckName(t *testing.T) {
	for _, ok := range []string{"a", "React.js-18_x", "_", "9", strings.Repeat("x", 64)} {
		if err := CheckName(ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for _, bad := range []string{"", "*", "***", "a b", "a/b", "-x", ".", "..", "ü", "a\x00", "a\xff", strings.Repeat("x", 65), strings.Repeat("ü", 1<<20)} {
		err := CheckName(bad)
		wantCode(t, err, kb.Invalid, "letters")
		if err != nil && len(err.Error()) > 300 {
			t.Errorf("a message of %d bytes", len(err.Error()))
		}
	}
}

func TestAStoreGoesWithItsLastHolder(t *testing.T) {
	c := fresh(t)
	ctx := t.Context()
	spec := folder("/src")
	add(t, c, "p1", "a", spec)
	add(t, c, "", "b", spec)
	if _, err := c.SetOwn(ctx, "p1", "/src", spec); err != nil {
		t.Fatal(err)
	}
	if err := c.NoteProject(ctx, "p1", "/home/u/app"); err != nil {
		t.Fatal(err)
	}
	got, err := c.Holders(ctx, spec.ID())
	if diff := cmp.Diff([]string{`user as "b"`, `project /home/u/app as "a"`, "own folder of /src"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	_, _, err = c.Detach(ctx, "p1", "b")
	wantCode(t, err, kb.NotFound)
	id, rest, err := c.Detach(ctx, "p1", "a")
	if id != spec.ID() || len(rest) != 2 || err != nil {
		t.Errorf("detached %s, left %q, %v", id, rest, err)
	}
	if _, rest, err = c.Detach(ctx, "", "b"); len(rest) != 1 || err != nil {
		t.Errorf("left %q, %v", rest, err)
	}
	if gone, err := c.Drop(ctx, id); gone || err != nil {
		t.Errorf("dropped a held store: %v, %v", gone, err)
	}
	if own, err := c.Own(ctx, "/src"); err != nil || own.ID != id || own.Name != "" {
		t.Errorf("own: %+v, %v", own, err)
	}
	if err := c.UnsetOwn(ctx, "/src"); err != nil {
		t.Fatal(err)
	}
	_, err = c.Own(ctx, "/src")
	wantCode(t, err, kb.NotFound)
	if gone, err := c.Drop(ctx, id); !gone || err != nil {
		t.Errorf("not dropped: %v, %v", gone, err)
	}
	if gone, err := c.Drop(ctx, id); gone || err != nil {
		t.Errorf("dropped twice: %v, %v", gone, err)
	}
	add(t, c, "p1", "a", spec)
	if err := c.Delete(ctx, id); err != nil {
		t.Fatal(err)
	}
	_, err = c.Lookup(ctx, "p1", "a")
	wantCode(t, err, kb.NotFound)
	wantCode(t, c.Delete(ctx, id), kb.NotFound)
}

func head(n int64, segments ...string) kb.Head {
	return kb.Head{Generation: n, Manifest: "m" + string(rune('0'+n)), Segments: segments, Documents: int(n)}
}

func TestPublish(t *testing.T) {
	c := fresh(t)
	ctx := t.Context()
	st := add(t, c, "", "a", folder("/a"))
	if h, err := c.Head(ctx, st.ID); h != nil || err != nil {
		t.Errorf("got %+v, %v", h, err)
	}
	if err := c.SetError(ctx, st.ID, "failed"); err != nil {
		t.Fatal(err)
	}
	if err := c.Publish(ctx, st.ID, 0, head(1, "s1", "s2")); err != nil {
		t.Fatal(err)
	}
	st, err := c.Lookup(ctx, "", "a")
	if err != nil || st.Head == nil || st.LastError != "" {
		t.Fatalf("%+v, %v", st, err)
	}
	if diff := cmp.Diff(head(1, "s1", "s2"), *st.Head); diff != "" {
		t.Error(diff)
	}
	at := time.Date(2001, 2, 3, 4, 5, 6, 7000, time.UTC)
	for _, generation := range []int64{1, 2} { // of the second there is nothing
		if err := c.Walked(ctx, st.ID, generation, at.Add(time.Duration(generation)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	want := head(1, "s1", "s2")
	want.Walked = at.Add(time.Hour)
	if got, err := c.Head(ctx, st.ID); err != nil || cmp.Diff(&want, got) != "" {
		t.Errorf("after a walk that found nothing new: %s, %v", cmp.Diff(&want, got), err)
	}
	wantCode(t, c.Publish(ctx, st.ID, 0, head(1, "s3")), kb.Busy)
	wantCode(t, c.Publish(ctx, "nosuchstorenosuc", 0, head(1)), kb.NotFound)
	if err := c.Publish(ctx, st.ID, 1, head(3)); kb.CodeOf(err) != kb.Internal {
		t.Errorf("skipped a generation: %v", err)
	}
	if err := c.SetError(ctx, st.ID, "later"); err != nil {
		t.Fatal(err)
	}
	if st, err := c.Get(ctx, st.ID); err != nil || st.Head.Generation != 1 || st.LastError != "later" {
		t.Errorf("%+v, %v", st, err)
	}
}

// Heads says of many stores what Head says of each.
func TestHeads(t *testing.T) {
	c := fresh(t)
	ctx := t.Context()
	var ids []kb.StoreID
	for i := range 1203 {
		st := add(t, c, "", fmt.Sprintf("s%d", i), folder(fmt.Sprintf("/s%d", i)))
		if i%7 == 0 {
			if err := c.Publish(ctx, st.ID, 0, head(1, fmt.Sprintf("seg%d", i))); err != nil {
				t.Fatal(err)
			}
		}
		ids = append(ids, st.ID)
	}
	heads, err := c.Heads(ctx, append(ids, "absentabsentabse"))
	if err != nil || len(heads) != 172 {
		t.Fatalf("%d heads, %v", len(heads), err)
	}
	for _, id := range ids {
		want, err := c.Head(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, heads[id]); d != "" {
			t.Errorf("store %s (-want +got):\n%s", id, d)
		}
	}
	if heads, err := c.Heads(ctx, nil); err != nil || len(heads) != 0 {
		t.Errorf("of none: %v, %v", heads, err)
	}
}

func TestOnlyOneOfManyPublishes(t *testing.T) {
	c := fresh(t)
	other := open(t, c.db.Path())
	st := add(t, c, "", "a", folder("/a"))
	for n := int64(0); n < 3; n++ {
		var won atomic.Int32
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				err := []*Catalog{c, other}[i%2].Publish(t.Context(), st.ID, n, head(n+1))
				switch {
				case err == nil:
					won.Add(1)
				case kb.CodeOf(err) != kb.Busy:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Errorf("%d published generation %d", won.Load(), n+1)
		}
	}
}

func TestGarbage(t *testing.T) {
	c := fresh(t)
	ctx := t.Context()
	a, b := add(t, c, "", "a", folder("/a")), add(t, c, "", "b", folder("/b"))
	for id, h := range map[kb.StoreID]kb.Head{a.ID: head(1, "shared", "onlya"), b.ID: {Generation: 1, Manifest: "mb", Segments: []string{"shared"}}} {
		if err := c.Publish(ctx, id, 0, h); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.UseSegments(ctx, "job1", "used", "onlya"); err != nil {
		t.Fatal(err)
	}
	old := epoch.Add(-2 * time.Hour)
	disk := []File{{"shared", old}, {"onlya", old}, {"m1", old}, {"mb", old}, {"used", old}, {"orphan", old},
		{"young", epoch.Add(-time.Minute)}, {"future", epoch.Add(24 * time.Hour)}}
	collect := func(want ...string) {
		t.Helper()
		var gone []string
		n, err := c.Garbage(ctx, disk, time.Hour, func(name string) error { gone = append(gone, name); return nil })
		if diff := cmp.Diff(want, gone); diff != "" || err != nil || n != len(want) {
			t.Errorf("removed %d, %v: %s", n, err, diff)
		}
	}
	collect("orphan")
	if err := c.Publish(ctx, a.ID, 1, head(2, "shared")); err != nil {
		t.Fatal(err)
	}
	collect("m1", "orphan")
	if users, err := c.Users(ctx); err != nil || len(users) != 1 || users[0] != "job1" {
		t.Errorf("users %q, %v", users, err)
	}
	if err := c.ReleaseUses(ctx, "job1"); err != nil {
		t.Fatal(err)
	}
	collect("onlya", "m1", "used", "orphan")
	if err := c.Delete(ctx, b.ID); err != nil {
		t.Fatal(err)
	}
	collect("onlya", "m1", "mb", "used", "orphan")
	boom := errors.New("busy file")
	n, err := c.Garbage(ctx, disk, time.Hour, func(name string) error {
		if name == "m1" {
			return boom
		}
		return nil
	})
	if n != 4 || !errors.Is(err, boom) {
		t.Errorf("removed %d, %v", n, err)
	}
}

// What a job finds after UseSegments stays until it releases.
func TestAUsedFileStays(t *testing.T) {
	c := fresh(t)
	other := open(t, c.db.Path())
	dir := t.TempDir()
	names := []string{"s1", "s2", "s3"}
	stop := make(chan struct{})
	var collector, wg sync.WaitGroup
	collector.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			var files []File
			for _, n := range names {
				files = append(files, File{Name: n, ModTime: epoch.Add(-time.Hour)})
			}
			if _, err := other.Garbage(t.Context(), files, 0, func(n string) error {
				os.Remove(filepath.Join(dir, n))
				return nil
			}); err != nil {
				t.Error(err)
			}
		}
	})
	for _, job := range []string{"j1", "j2", "j3"} {
		wg.Go(func() {
			for i := range 30 {
				name := names[i%len(names)]
				path := filepath.Join(dir, name)
				if err := c.UseSegments(t.Context(), job, name); err != nil {
					t.Error(err)
				}
				if _, err := os.Stat(path); err != nil {
					if err := os.WriteFile(path, nil, 0o600); err != nil {
						t.Error(err)
					}
				}
				for range 5 {
					if _, err := os.Stat(path); err != nil {
						t.Errorf("%s lost a file it uses: %v", job, err)
					}
					time.Sleep(50 * time.Microsecond)
				}
				if err := c.ReleaseUses(t.Context(), job); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	collector.Wait()
}

func TestADamagedRowIsNamedAndTheRestServed(t *testing.T) {
	c := fresh(t)
	ctx := t.Context()
	spec := folder("/bad")
	bad := add(t, c, "", "bad", spec)
	add(t, c, "", "good", folder("/good"))
	if err := c.Publish(ctx, bad.ID, 0, head(1, "s1")); err != nil {
		t.Fatal(err)
	}
	if err := c.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec("UPDATE stores SET head = replace(head, 's1', 's7') WHERE id = ?", bad.ID)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	st, err := c.Lookup(ctx, "", "bad")
	wantCode(t, err, kb.Corrupt)
	if st.ID != bad.ID {
		t.Errorf("got %+v", st)
	}
	if list, err := c.List(ctx, ""); err != nil || len(list) != 1 || list[0].Name != "good" {
		t.Errorf("%+v, %v", list, err)
	}
	st, err = c.Put(ctx, spec)
	if err != nil || st.Head != nil || st.ID != bad.ID {
		t.Errorf("not repaired: %+v, %v", st, err)
	}
	if st, err := c.Lookup(ctx, "", "bad"); err != nil || st.ID != bad.ID {
		t.Errorf("%+v, %v", st, err)
	}
}

func TestTrustIsPinnedToTheHash(t *testing.T) {
	c := fresh(t)
	ctx := t.Context()
	check := func(path, hash string, want bool) {
		t.Helper()
		if got, err := c.Trusted(ctx, path, hash); got != want || err != nil {
			t.Errorf("%s %s: %v, %v", path, hash, got, err)
		}
	}
	check("/f", "h1", false)
	for _, h := range []string{"h1", "h2"} {
		if err := c.Trust(ctx, "/f", h); err != nil {
			t.Fatal(err)
		}
	}
	check("/f", "h1", false)
	check("/f", "h2", true)
	check("/g", "h2", false)
	check("/f", "", false)
}
