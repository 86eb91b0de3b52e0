package app_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/care"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// Folders that were found unchanged before, a small one in this process and a large
// one by another, are answered from as they are all the same.
func TestTrailsHideNoChange(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("this system does not tell when a file or directory changed")
	}
	s := producttest.NewSite(t)
	s.Write("small/a.md", "# first\n")
	s.Write("small/sub/b.md", "# second\n")
	for i := range 2100 {
		s.Write(fmt.Sprintf("large/%02d/%d.md", i%40, i), fmt.Sprintf("# number%d\n", i))
	}
	a := s.In("small", true)
	s.Create(a, app.CreateStore{Name: "large", Source: filepath.Join(s.Root, "large")})
	time.Sleep(2100 * time.Millisecond) // what changed a moment ago leaves no trail
	c := producttest.MustOpen(t, a)
	id := producttest.MustInfo(t, a, "large").ID
	trail := filepath.Join(c.Dir, "looks", id+".trail")
	finds := func(a *app.App, word string, want bool) {
		t.Helper()
		producttest.MustOpen(t, a).Library.Saw(kb.StoreID(id), time.Time{}, 0) // else it rests where a look takes long
		r := s.Search(a, search.Request{Query: word, Mode: "fts"}, app.Scope{})
		if got := strings.Contains(fmt.Sprint(r.Hits), word); got != want || len(r.Notes) > 0 && want {
			t.Errorf("%s is found: %v, want %v; notes %q", word, got, want, r.Notes)
		}
	}
	finds(a, "number7", true)
	b, err := os.ReadFile(trail)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(){
		func() {},
		func() { must(t, os.WriteFile(trail, b[:len(b)/2], 0o600)) },
		func() { must(t, os.WriteFile(trail, bytes.Replace(b, []byte("\n"), []byte("0\n"), 1), 0o600)) },
	} {
		change()
		other := s.In("small", true) // another process
		for range 3 {
			finds(other, "number8", true)
			finds(other, "second", true)
		}
	}
	for n, a := range []*app.App{a, s.In("small", true)} {
		for k, path := range []string{"large/07/7.md", "large/new/7.md", "small/sub/b.md", "small/c.md"} {
			word := fmt.Sprintf("okapi%d%d", n, k)
			s.Write(path, "# "+word+"\n")
			finds(a, word, true)
		}
		must(t, os.Remove(filepath.Join(s.Root, "large", "new", "7.md")))
		must(t, os.RemoveAll(filepath.Join(s.Root, "small", "c.md")))
		finds(a, fmt.Sprintf("okapi%d1", n), false)
		finds(a, fmt.Sprintf("okapi%d3", n), false)
	}
	if _, err := a.DeleteStore(t.Context(), "large", true); err != nil {
		t.Fatal(err)
	}
	if _, err := care.Collect(t.Context(), a, false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(trail); err == nil {
		t.Error("the trail of a deleted store is still there")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
