package install_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/lockfile"
	"github.com/seed-4f2d999b/knowledge/internal/follow"
	"github.com/seed-4f2d999b/knowledge/internal/install"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
)

// TestPurgeNamesWhatStays: files of definitions stay with their projects, and
// are named, of this project and of others.
func TestPurgeNamesWhatStays(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("one/a.md", "# One\n")
	s.Write("two/b.md", "# Two\n")
	a := s.In("one", true)
	s.Create(a, app.CreateStore{Name: "one", Source: filepath.Join(s.Root, "one"), Save: true})
	b := s.In("two", true)
	home := filepath.Join(s.Root, "home")
	b.Config.Env = func(name string) string { return map[string]string{"HOME": home, "USERPROFILE": home}[name] }
	p, err := install.PurgeAll(t.Context(), b, true)
	if err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(s.Root, "one", ".knowledge", "stores.json")
	if !slices.Equal(p.Projects, []string{kept}) || !strings.Contains(p.Text(), kept+" kept: it belongs to its project\n") {
		t.Errorf("%v\n%s", p.Projects, p.Text())
	}
}

// TestPurgeNamesEveryServer: each process that serves from the data directory
// is named, also one that neither keeps the clock nor follows a folder.
func TestPurgeNamesEveryServer(t *testing.T) {
	s := producttest.NewSite(t)
	a := s.In("one", true)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); follow.Background(ctx, a) }()
	mine := filepath.Join(s.Data, "jobs", fmt.Sprintf("server-%d.lock", os.Getpid()))
	producttest.Eventually(t, "a server says that it is there", func() bool { _, held := lockfile.Held(mine); return held })
	// Another process, by the lock that it would hold and what it writes there.
	other := filepath.Join(s.Data, "jobs", "watch-x.lock")
	lock, err := lockfile.TryLock(other)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, []byte(` {"pid":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = install.PurgeAll(t.Context(), a, false)
	if want := fmt.Sprintf("processes 1, %d", os.Getpid()); kb.CodeOf(err) != kb.Busy || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if err := lock.Unlock(); err != nil {
		t.Error(err)
	}
	stop()
	<-done
	if _, err := os.Stat(mine); err == nil {
		t.Error("the file of the lock stays")
	}
	if who := install.Servers(s.Data); len(who) > 0 {
		t.Errorf("%v are named, and nobody serves", who)
	}
}
