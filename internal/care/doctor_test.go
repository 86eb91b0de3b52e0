package care_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/care"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/follow"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// What was indexed is private: a data directory that others may write or read
// is told, with the command that mends it.
func TestDoctorSeesWhoReachesTheData(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("has no modes")
	}
	s := producttest.NewSite(t)
	a := s.In("p", true)
	for mode, want := range map[os.FileMode]string{0o777: "wrong", 0o720: "wrong", 0o755: "note", 0o700: ""} {
		if _, err := a.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(s.Data, mode); err != nil {
			t.Fatal(err)
		}
		d, err := care.Doctor(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range d.Findings {
			if f.What == "data directory" && f.Status != "ok" {
				got = f.Status
				if !strings.HasSuffix(f.Hint, ": chmod 700 '"+s.Data+"'") {
					t.Errorf("mode %o: hint %q", mode, f.Hint)
				}
			}
		}
		if got != want {
			t.Errorf("mode %o: %q, want %q", mode, got, want)
		}
	}
}

// A data directory inside a project is not indexed with it, nor offered to its
// repository, also when it is named by a link from elsewhere.
func TestDataDirectoryInsideTheProject(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/doc.md", "# Zebra\n\nzebra canary\n")
	s.Write("p/.kd/empty/x", "")
	if err := os.RemoveAll(filepath.Join(s.Root, "p/.kd/empty")); err != nil {
		t.Fatal(err)
	}
	s.Data = filepath.Join(s.Root, "link")
	if err := os.Symlink(filepath.Join(s.Root, "p", ".kd"), s.Data); err != nil {
		t.Skip(err)
	}
	a := s.In("p", true)
	for range 2 { // the second finds what the first has written
		s.Search(a, search.Request{Query: "zebra canary"}, app.Scope{})
		s.Write("p/more.md", "# More\n")
	}
	files, err := find.Files(t.Context(), a, "p", "", 0, app.Waiting{})
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(files.Files, func(p string) bool { return strings.HasPrefix(p, ".kd") }) {
		t.Error(files.Files)
	}
	if raw, err := os.ReadFile(filepath.Join(s.Root, "p/.kd/.gitignore")); err != nil || !strings.Contains(string(raw), "\n*\n") {
		t.Errorf("%q %v", raw, err)
	}
}

// A session whose data directory is taken away makes it anew: the folder is
// indexed again, what is gone is said, once by a search and whenever somebody
// names it, and nothing goes into files that nobody will find again.
func TestTheDataDirectoryIsTakenAway(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files in use cannot be removed")
	}
	for what, take := range map[string]func(dir string) error{
		"directory": os.RemoveAll,
		"database":  func(dir string) error { return os.Remove(filepath.Join(dir, "knowledge.db")) },
		"replaced": func(dir string) error {
			if err := os.Rename(dir, dir+"-old"); err != nil {
				return err
			}
			if err := os.Mkdir(dir, 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "knowledge.db"), nil, 0o600)
		},
	} {
		t.Run(what, func(t *testing.T) {
			s := producttest.NewSite(t)
			s.Write("p/a.md", "# Zebra\n")
			s.Write("docs/b.md", "# Quagga\n")
			a := s.In("p", true)
			s.Search(a, search.Request{Query: "zebra"}, app.Scope{})
			s.Create(a, app.CreateStore{Name: "docs", Source: filepath.Join(s.Root, "docs")})
			if err := take(s.Data); err != nil {
				t.Fatal(err)
			}
			told := func(r find.SearchReply) bool {
				return strings.Contains(fmt.Sprint(r.Notes), "removed or replaced while this process worked with it, and was made anew; these stores are gone: docs;")
			}
			if r := s.Search(a, search.Request{Query: "zebra"}, app.Scope{}); len(r.Hits) != 1 || !told(r) {
				t.Errorf("search: %+v", r)
			}
			if r := s.Search(a, search.Request{Query: "zebra"}, app.Scope{}); len(r.Hits) != 1 || told(r) {
				t.Errorf("the next one: %+v", r)
			}
			_, err := find.Search(t.Context(), a, search.Request{Query: "quagga"}, app.Scope{Stores: []string{"docs"}})
			if kb.CodeOf(err) != kb.NotFound || !strings.Contains(err.Error(), "docs") || !strings.Contains(err.Error(), "is gone") || !strings.Contains(kb.HintOf(err), "store:create {") {
				t.Errorf("what is gone: %v (%s)", err, kb.HintOf(err))
			}
			s.Create(a, app.CreateStore{Name: "docs", Source: filepath.Join(s.Root, "docs")})
			b := s.In("p", true) // another process finds what the first has made
			if r := s.Search(b, search.Request{Query: "quagga"}, app.Scope{Stores: []string{"docs"}}); len(r.Hits) != 1 || len(r.Notes) > 0 {
				t.Errorf("another process: %+v", r)
			}
			s.Write("p/later.md", "# Okapi\n")
			producttest.MustOpen(t, a).Library.Seen = nil
			if r := s.Search(a, search.Request{Query: "okapi"}, app.Scope{}); len(r.Hits) == 0 {
				t.Errorf("an edit afterwards: %+v", r)
			}
		})
	}
}

// A database that was gone before a process began is told once, by a search or
// by the list of stores; the index of the folder is made from what lies there.
func TestADatabaseThatWasGoneIsTold(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/a.md", "# Zebra\n")
	s.Write("docs/b.md", "# Quagga\n")
	a := s.In("p", true)
	s.Search(a, search.Request{Query: "zebra"}, app.Scope{})
	s.Create(a, app.CreateStore{Name: "docs", Source: filepath.Join(s.Root, "docs")})
	for i := range 2 {
		a.Close()
		if err := os.Remove(filepath.Join(s.Data, "knowledge.db")); err != nil {
			t.Fatal(err)
		}
		a = s.In("p", true)
		told := func() string {
			if i == 1 {
				list, err := a.Stores(t.Context(), "", true)
				if err != nil {
					t.Fatal(err)
				}
				return list.Note
			}
			r := s.Search(a, search.Request{Query: "zebra"}, app.Scope{})
			if len(r.Hits) != 1 {
				t.Errorf("it finds %+v", r)
			}
			return fmt.Sprint(r.Notes)
		}
		if note := told(); !strings.Contains(note, "was gone, and with it which stores there were") {
			t.Errorf("it says %q", note)
		}
		if note := told(); strings.Contains(note, "was gone") {
			t.Errorf("it says it again: %q", note)
		}
		s.Search(a, search.Request{Query: "zebra"}, app.Scope{}) // leaves a generation
	}
}

// TestALostDatabaseIsRemembered: the process that finds it gone may fail before
// it can say so, and then there is a database again. Who asks which stores there
// are, or for one of them, is told until somebody makes one.
func TestALostDatabaseIsRemembered(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/a.md", "# Zebra\n")
	s.Write("docs/b.md", "# Quagga\n")
	a := s.In("p", true)
	s.Search(a, search.Request{Query: "zebra"}, app.Scope{})
	s.Create(a, app.CreateStore{Name: "docs", Source: filepath.Join(s.Root, "docs")})
	a.Close()
	if err := os.Remove(filepath.Join(s.Data, "knowledge.db")); err != nil {
		t.Fatal(err)
	}
	next := func() *app.App {
		a.Close()
		a = s.In("p", true)
		return a
	}
	const gone = "was gone"
	if _, err := find.Search(t.Context(), next(), search.Request{Query: "quagga"}, app.Scope{Stores: []string{"*"}}); err == nil || !strings.Contains(err.Error(), gone) {
		t.Errorf("the first process says %v", err)
	}
	if _, err := find.Search(t.Context(), next(), search.Request{Query: "quagga"}, app.Scope{Stores: []string{"docs"}}); kb.CodeOf(err) != kb.NotFound || !strings.Contains(err.Error(), gone) {
		t.Errorf("of a store of that database is said: %v", err)
	}
	note := func() string {
		list, err := next().Stores(t.Context(), "", true)
		if err != nil {
			t.Fatal(err)
		}
		return list.Note
	}
	for range 2 {
		if got := note(); !strings.Contains(got, gone) {
			t.Errorf("the list of stores says %q", got)
		}
	}
	if r := s.Search(next(), search.Request{Query: "zebra"}, app.Scope{}); strings.Contains(fmt.Sprint(r.Notes), gone) {
		t.Errorf("every search says it: %q", r.Notes)
	}
	s.Create(next(), app.CreateStore{Name: "docs", Source: filepath.Join(s.Root, "docs")})
	if got := note(); strings.Contains(got, gone) {
		t.Errorf("after a store was made: %q", got)
	}
}

// A server goes on where its data directory was: it follows its folder and
// keeps the clock from there.
func TestTheBackgroundFollowsTheDataDirectory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files in use cannot be removed")
	}
	s := producttest.NewSite(t)
	s.Write("p/a.md", "# Zebra\n")
	a := s.In("p", true)
	s.Search(a, search.Request{Query: "zebra"}, app.Scope{})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); follow.Background(ctx, a) }()
	serves := func() bool {
		list, _ := filepath.Glob(filepath.Join(s.Data, "jobs", "server-*.lock"))
		return len(list) == 1
	}
	wait := func(what string) {
		t.Helper()
		for range 600 {
			if serves() {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Errorf("%s: no server is here", what)
	}
	wait("at first")
	for deadline := time.Now().Add(time.Minute); ; { // the background makes files meanwhile
		err := os.RemoveAll(s.Data)
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	s.Search(a, search.Request{Query: "zebra"}, app.Scope{})
	wait("when the directory was made anew")
	stop()
	<-done
}
