package shared_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate/weaviatetest"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/shared"
)

// machine is a data directory of its own, with the cluster set.
func machine(t *testing.T, cluster *weaviatetest.Double) (*producttest.Site, *app.App) {
	s := producttest.NewSite(t)
	return s, s.Configured("p", "index:\n  url: "+cluster.URL+"\n", nil)
}

// done waits for a job that has to succeed.
func done(t *testing.T, a *app.App, job string) {
	t.Helper()
	j, err := a.WaitJob(t.Context(), job)
	if err != nil || j.State != kb.JobCompleted {
		t.Fatalf("%s: %s, %v", job, j.Message, err)
	}
}

func hits(r find.SearchReply) (out []string) {
	for _, h := range r.Hits {
		out = append(out, h.Store+":"+h.Where.Path)
	}
	return out
}

// TestShared: what one machine shares, another has at once, follows, and answers
// without when the cluster is away.
func TestShared(t *testing.T) {
	cluster := weaviatetest.New(t)
	s1, one := machine(t, cluster)
	s1.Write("src/conf.go", producttest.Parser)
	s1.Write("src/notes.md", "# Notes\n\nThe harbour opens at dawn.\n")
	if j := s1.Create(one, app.CreateStore{Name: "team", Source: s1.Root + "/src", Shared: true}); j.State != kb.JobCompleted {
		t.Fatalf("%+v", j)
	}

	s2, two := machine(t, cluster)
	s2.Write("mine/boats.md", "# Boats\n\nBoats leave the harbour at noon.\n")
	s2.Create(two, app.CreateStore{Name: "mine", Source: s2.Root + "/mine"})
	got, err := two.CreateStore(t.Context(), app.CreateStore{Name: "ours", Source: "shared:team"})
	if err != nil || got.Store != "ours" || got.Job != "" {
		t.Fatalf("%+v, %v", got, err)
	}
	both := app.Scope{Stores: []string{"ours", "mine"}}
	list := hits(s2.Search(two, search.Request{Query: "when does the harbour open"}, both))
	if len(list) < 2 || !strings.Contains(strings.Join(list, " "), "ours:notes.md") || !strings.Contains(strings.Join(list, " "), "mine:boats.md") {
		t.Errorf("one list over both: %v", list)
	}

	s1.Write("src/tides.md", "# Tides\n\nSpringtide comes with the new moon.\n")
	started, err := one.IndexStore(t.Context(), "team", false)
	if err != nil {
		t.Fatal(err)
	}
	done(t, one, started.Job)
	producttest.Eventually(t, "the second machine follows", func() bool {
		found := s2.Search(two, search.Request{Query: "springtide"}, app.Scope{Stores: []string{"ours"}})
		return len(found.Hits) > 0 && found.Hits[0].Where.Path == "tides.md"
	})

	_, three := machine(t, cluster)
	if _, err := three.CreateStore(t.Context(), app.CreateStore{Source: "shared:nothing"}); kb.CodeOf(err) != kb.NotFound || err == nil {
		t.Errorf("a name that nobody has shared: %v", err)
	}
	if _, err := three.CreateStore(t.Context(), app.CreateStore{Source: "shared:team"}); err != nil {
		t.Fatal(err)
	}
	cluster.Away(true)
	began := time.Now()
	_, err = find.Search(t.Context(), three, search.Request{Query: "harbour"}, app.Scope{Stores: []string{"team"}, Waiting: app.Waiting{Wait: time.Minute}})
	if kb.CodeOf(err) != kb.Away || !strings.Contains(kb.HintOf(err), "local stores still answer") {
		t.Errorf("without the cluster: %v (%s) after %v", err, kb.HintOf(err), time.Since(began))
	}
	reply := s2.Search(two, search.Request{Query: "when do boats leave the harbour"}, both)
	if !strings.Contains(strings.Join(hits(reply), " "), "mine:boats.md") || !strings.Contains(strings.Join(reply.Notes, " "), "are away") {
		t.Errorf("without the cluster: %v, %q", hits(reply), reply.Notes)
	}
	here := hits(s1.Search(one, search.Request{Query: "springtide"}, app.Scope{Stores: []string{"team"}}))
	if len(here) == 0 || here[0] != "team:tides.md" {
		t.Errorf("the machine that indexed it, without the cluster: %v", here)
	}
}

// TestMove: a store goes to the cluster and comes back; two machines index it in
// turn, each on top of the other.
func TestMove(t *testing.T) {
	cluster := weaviatetest.New(t)
	s1, one := machine(t, cluster)
	s1.Write("src/a.md", "# A\n\nalpha text\n")
	s1.Create(one, app.CreateStore{Name: "team", Source: s1.Root + "/src"})
	move := func(a *app.App, to string) {
		t.Helper()
		got, err := shared.Move(t.Context(), a, "team", to)
		if err != nil {
			t.Fatal(err)
		}
		done(t, a, got.Job)
	}
	move(one, "shared")
	move(one, "shared") // which changes nothing

	s2, two := machine(t, cluster)
	if _, err := two.CreateStore(t.Context(), app.CreateStore{Source: "shared:team"}); err != nil {
		t.Fatal(err)
	}
	s1.Write("src/b.md", "# B\n\nbravo text\n")
	for _, a := range []*app.App{two, one, two} { // the folder is on both
		started, err := a.IndexStore(t.Context(), "team", false)
		if err != nil {
			t.Fatal(err)
		}
		done(t, a, started.Job)
	}
	if got := producttest.MustInfo(t, one, "team"); got.Documents != 2 {
		t.Errorf("the first machine has %d documents", got.Documents)
	}
	move(two, "local")
	cluster.Away(true)
	list := hits(s2.Search(two, search.Request{Query: "bravo"}, app.Scope{Stores: []string{"team"}}))
	if len(list) == 0 || list[0] != "team:b.md" {
		t.Errorf("taken back: %v", list)
	}
}

// TestUnset: without a cluster sharing is refused with what to set, and agents share nothing.
func TestUnset(t *testing.T) {
	s := producttest.NewSite(t)
	a := s.In("p", true)
	s.Write("p/a.md", "# A\n\ntext\n")
	for _, r := range []app.CreateStore{{Source: ".", Shared: true}, {Source: "shared:team"}} {
		_, err := a.CreateStore(t.Context(), r)
		if kb.CodeOf(err) != kb.Invalid || !strings.Contains(kb.HintOf(err), "index.url") {
			t.Errorf("%+v: %v (%s)", r, err, kb.HintOf(err))
		}
	}
	_, err := a.CreateStore(t.Context(), app.CreateStore{Source: ".", Shared: true, Agent: true})
	if kb.CodeOf(err) != kb.Denied || err == nil {
		t.Errorf("an agent: %v", err)
	}
}
