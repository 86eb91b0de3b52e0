package shared_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/care"
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
	cluster.Away(2)
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
	cluster.Away(2)
	list := hits(s2.Search(two, search.Request{Query: "bravo"}, app.Scope{Stores: []string{"team"}}))
	if len(list) == 0 || list[0] != "team:b.md" {
		t.Errorf("taken back: %v", list)
	}
}

// TestCollected: what was replaced goes from the cluster by gc, an hour later, and a store
// that is deleted there is gone for every machine.
func TestCollected(t *testing.T) {
	cluster := weaviatetest.New(t)
	s1, one := machine(t, cluster)
	s1.Write("src/a.md", "# A\n\nalpha text\n")
	s1.Create(one, app.CreateStore{Name: "team", Source: s1.Root + "/src", Shared: true})
	s2, two := machine(t, cluster)
	if _, err := two.CreateStore(t.Context(), app.CreateStore{Source: "shared:team"}); err != nil {
		t.Fatal(err)
	}
	s1.Write("src/a.md", "# A\n\nbravo text\n")
	started, err := one.IndexStore(t.Context(), "team", false)
	if err != nil {
		t.Fatal(err)
	}
	done(t, one, started.Job)
	collect := func(a *app.App, dry bool) care.Collected {
		t.Helper()
		got, err := care.Collect(t.Context(), a, dry)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := collect(two, true); len(got.Notes) > 0 {
		t.Errorf("a machine that put nothing there says %q", got.Notes)
	}
	objects := func() int { return len(cluster.All("KnowledgePiece")) + len(cluster.All("KnowledgeChunk_")) }
	before := objects()
	for _, dry := range []bool{true, false} {
		if got := collect(one, dry); len(got.Files) > 0 || !strings.Contains(strings.Join(got.Notes, " "), "an hour to finish") {
			t.Errorf("at once, dry %v: %+v", dry, got)
		}
	}
	cluster.Later(61 * time.Minute)
	dry := collect(one, true)
	if len(dry.Files) == 0 || !strings.HasPrefix(dry.Files[0].Path, "cluster/") || objects() != before {
		t.Errorf("dry: %+v, %d objects of %d", dry, objects(), before)
	}
	if got := collect(one, false); len(got.Files) != len(dry.Files) || objects() >= before {
		t.Errorf("said %+v, deleted %+v, %d objects of %d are left", dry.Files, got.Files, objects(), before)
	}
	if list := hits(s2.Search(two, search.Request{Query: "bravo"}, app.Scope{Stores: []string{"team"}})); len(list) == 0 || list[0] != "team:a.md" {
		t.Errorf("afterwards: %v", list)
	}

	if _, err := two.DeleteShared(t.Context(), "team"); err != nil { // who may write to the cluster may
		t.Fatal(err)
	}
	_, three := machine(t, cluster)
	if _, err := three.CreateStore(t.Context(), app.CreateStore{Source: "shared:team"}); kb.CodeOf(err) != kb.NotFound || err == nil {
		t.Errorf("what was deleted is there: %v", err)
	}
	reply := s1.Search(one, search.Request{Query: "bravo"}, app.Scope{Stores: []string{"team"}})
	if len(reply.Hits) == 0 {
		t.Errorf("the machine that indexed it: %v, %q", hits(reply), reply.Notes)
	}
	collect(two, false)
	cluster.Later(2 * time.Hour)
	collect(two, false)
	collect(two, false)
	if n := objects(); n > 0 {
		t.Errorf("%d objects are left of a store that was deleted", n)
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
