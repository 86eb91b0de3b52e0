package publish_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	yaml "github.com/oasdiff/yaml3"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/publish"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// publisher is a machine with a folder that is published at target.
type publisher struct {
	*producttest.Site
	app    *app.App
	target string
	key    publish.Pair
}

func newPublisher(t *testing.T) *publisher {
	p := &publisher{Site: producttest.NewSite(t)}
	p.target = filepath.Join(p.Root, "site")
	for i := range 12 {
		p.Write(fmt.Sprintf("src/conf/f%d.go", i), fmt.Sprintf("package conf\n\n// Func%d waits %d seconds.\nfunc Func%d() {}\n", i, i, i))
	}
	p.app = p.In("p", true)
	p.Create(p.app, app.CreateStore{Name: "conf", Source: filepath.Join(p.Root, "src")})
	var err error
	if p.key, err = publish.MakeKey(command.FromCLI(t.Context()), p.app, filepath.Join(p.Root, "key")); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *publisher) publish(t *testing.T) publish.Published {
	t.Helper()
	out, err := publish.Publish(command.FromCLI(t.Context()), p.app, "conf", p.target, p.key.Secret)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// edit changes one file of the published folder and brings its store up to date.
func (p *publisher) edit(t *testing.T, text string) {
	t.Helper()
	p.Write("src/conf/f1.go", text)
	j, err := p.app.IndexStore(t.Context(), "conf", false)
	if err == nil {
		_, err = p.app.WaitJob(t.Context(), j.Job)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func asked(t *testing.T, a *app.App, store, query string) string {
	t.Helper()
	r, err := find.Search(t.Context(), a, search.Request{Query: query}, app.Scope{Stores: []string{store}})
	if err != nil || len(r.Hits) == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	return r.Hits[0].ID + " " + r.Hits[0].At
}

func TestPublishAndPull(t *testing.T) {
	p := newPublisher(t)
	first := p.publish(t)
	if first.Generation != 1 || first.Files == 0 {
		t.Errorf("%+v", first)
	}
	if again := p.publish(t); !again.Same || again.Files != 0 || again.Generation != 1 {
		t.Errorf("%+v", again)
	}
	want := asked(t, p.app, "conf", "Func7")

	elsewhere := producttest.NewSite(t)
	b := elsewhere.In("q", true)
	// Without a word about the key nothing is taken, and the word is a person's.
	_, err := b.CreateStore(t.Context(), app.CreateStore{Name: "conf", From: p.target})
	if kb.CodeOf(err) != kb.Denied || !strings.Contains(kb.HintOf(err), "--key "+p.key.Public) {
		t.Fatalf("%v\n%s", err, kb.HintOf(err))
	}
	st, err := b.CreateStore(t.Context(), app.CreateStore{Name: "conf", From: p.target, Key: p.key.Public})
	if err != nil || st.Job != "" || !strings.Contains(st.Note, "12 documents") {
		t.Fatalf("%+v %v", st, err)
	}
	if got := asked(t, b, "conf", "Func7"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// The key is remembered; what is here is not fetched again.
	p.edit(t, "package conf\n\n// Changed is new.\nfunc Changed() {}\n")
	if second := p.publish(t); second.Generation != 2 || second.Files != 4 { // a segment with vectors, layout, generation
		t.Errorf("%+v", second)
	}
	st, err = b.CreateStore(t.Context(), app.CreateStore{Name: "conf", From: p.target})
	if err != nil || !strings.Contains(st.Note, "were here already") {
		t.Errorf("%+v %v", st, err)
	}
	if got := asked(t, b, "conf", "Changed"); !strings.Contains(got, "conf/f1.go:") {
		t.Error(got)
	}
	if st, err = b.CreateStore(t.Context(), app.CreateStore{Name: "conf", From: p.target}); err != nil || !strings.Contains(st.Note, "was here already") {
		t.Errorf("%+v %v", st, err)
	}
}

// A clone takes the published index for its own folder, and indexes what differs.
func TestCloneIndexesWhatDiffers(t *testing.T) {
	p := newPublisher(t)
	p.publish(t)
	clone := producttest.NewSite(t)
	if err := os.CopyFS(filepath.Join(clone.Root, "mine"), os.DirFS(filepath.Join(p.Root, "src"))); err != nil {
		t.Fatal(err)
	}
	clone.Write("mine/conf/f3.go", "package conf\n\n// Mine is here alone.\nfunc Mine() {}\n")
	a := clone.In("mine", true)
	j := clone.Create(a, app.CreateStore{Source: ".", From: p.target, Key: p.key.Public})
	if fmt.Sprint(j.Details["indexed"], j.Details["shared"], j.Details["read"]) != "1 11 12" {
		t.Errorf("%+v", j)
	}
	if got := asked(t, a, "mine", "Mine"); !strings.Contains(got, "conf/f3.go:") {
		t.Error(got)
	}
	info, err := a.StoreInfo(t.Context(), "mine")
	if err != nil || info.Source != filepath.Join(clone.Root, "mine") {
		t.Errorf("%+v %v", info, err)
	}
}

func TestGoingBackIsRefused(t *testing.T) {
	p := newPublisher(t)
	p.publish(t)
	old, err := os.ReadFile(filepath.Join(p.target, "head"))
	if err != nil {
		t.Fatal(err)
	}
	p.edit(t, "package conf\n\n// Changed is new.\nfunc Changed() {}\n")
	p.publish(t)
	b := producttest.NewSite(t).In("q", true)
	if _, err := b.CreateStore(t.Context(), app.CreateStore{Name: "conf", From: p.target, Key: p.key.Public}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.target, "head"), old, 0o600); err != nil {
		t.Fatal(err)
	}
	// The key, said once more, does not make it younger.
	for _, key := range []string{"", p.key.Public} {
		_, err := b.CreateStore(t.Context(), app.CreateStore{Name: "conf", From: p.target, Key: key})
		if kb.CodeOf(err) != kb.Denied || !strings.Contains(err.Error(), "went back") {
			t.Errorf("%v", err)
		}
	}
	if got := asked(t, b, "conf", "Changed"); !strings.Contains(got, "conf/f1.go:") {
		t.Error(got)
	}
	if _, err := b.CreateStore(t.Context(), app.CreateStore{Name: "conf", From: p.target, Older: true}); err != nil {
		t.Error(err)
	}
	if got := asked(t, b, "conf", "Func1"); !strings.Contains(got, "conf/f1.go:") {
		t.Error(got)
	}
}

// TestEveryFileCounts: with any file of the target changed or gone nothing is taken.
func TestEveryFileCounts(t *testing.T) {
	p := newPublisher(t)
	p.publish(t)
	site := producttest.NewSite(t)
	b := site.In("q", true)
	err := filepath.WalkDir(p.target, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == "minisign.pub" {
			return err
		}
		good, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		bad := append([]byte(nil), good...)
		bad[len(bad)/2] ^= 4
		for _, text := range [][]byte{bad, good[:len(good)/2], nil} {
			if err := os.Remove(path); err != nil {
				return err
			}
			if text != nil {
				if err := os.WriteFile(path, text, 0o600); err != nil {
					return err
				}
			}
			st, err := b.CreateStore(t.Context(), app.CreateStore{Name: "conf", From: p.target, Key: p.key.Public})
			if err == nil || kb.HintOf(err) == "" {
				t.Errorf("%s: %+v, %v", path, st, err)
			}
			list, err := b.Stores(t.Context(), "", true)
			if err != nil || len(list.Stores) > 0 {
				t.Errorf("%s: %+v, %v", path, list, err)
			}
			if err := os.WriteFile(path, good, 0o600); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A pull that breaks off goes on where it was: nothing is fetched twice.
func TestPullGoesOn(t *testing.T) {
	p := newPublisher(t)
	p.publish(t)
	var left, objects atomic.Int64
	files := http.FileServer(http.Dir(p.target))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/objects/") {
			if left.Add(-1) < 0 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			objects.Add(1)
		}
		files.ServeHTTP(w, r)
	}))
	defer srv.Close()
	site := producttest.NewSite(t)
	config := filepath.Join(site.Root, "config.yaml")
	if err := os.WriteFile(config, []byte("web: {allow: ['"+strings.TrimPrefix(srv.URL, "http://")+"']}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := os.ReadDir(filepath.Join(p.target, "objects"))
	if err != nil {
		t.Fatal(err)
	}
	tries := 0
	for ; tries < 20; tries++ {
		left.Store(1)
		a := site.In("q", true)
		a.Config.Env = func(k string) string { return map[string]string{"KNOWLEDGE_CONFIG": config}[k] }
		_, err := a.CreateStore(t.Context(), app.CreateStore{Name: "conf", From: srv.URL, Key: p.key.Public})
		if err == nil {
			asked(t, a, "conf", "Func7")
		} else if kb.CodeOf(err) != kb.Away {
			t.Fatal(err)
		}
		if err == nil {
			break
		}
	}
	if n := objects.Load(); n != int64(len(all)) || tries == 0 {
		t.Errorf("%d objects were fetched in %d tries, of %d", n, tries+1, len(all))
	}
	if left, _ := filepath.Glob(filepath.Join(site.Data, "transfer", "*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// What agents may not: publish, name a key, read folders nobody vouched for.
func TestAgents(t *testing.T) {
	p := newPublisher(t)
	p.publish(t)
	b := producttest.NewSite(t).In("q", true)
	if _, err := publish.Publish(t.Context(), p.app, "conf", p.target, p.key.Secret); kb.CodeOf(err) != kb.Denied {
		t.Error(err)
	}
	for _, from := range []string{p.target, "s3://indexes/conf"} {
		_, err := b.CreateStore(t.Context(), app.CreateStore{Name: "conf", From: from, Agent: true})
		if kb.CodeOf(err) != kb.Denied {
			t.Errorf("%s: %v", from, err)
		}
	}
}

func TestAnotherStoreIsNotReplaced(t *testing.T) {
	p := newPublisher(t)
	p.publish(t)
	p.Write("other/a.md", "# Another\n\ntext\n")
	p.Create(p.app, app.CreateStore{Name: "other", Source: filepath.Join(p.Root, "other")})
	_, err := publish.Publish(command.FromCLI(t.Context()), p.app, "other", p.target, p.key.Secret)
	if kb.CodeOf(err) != kb.Exists {
		t.Error(err)
	}
	second, err := publish.MakeKey(command.FromCLI(t.Context()), p.app, filepath.Join(p.Root, "second"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = publish.Publish(command.FromCLI(t.Context()), p.app, "conf", p.target, second.Secret); kb.CodeOf(err) != kb.Denied {
		t.Error(err)
	}
	if _, err := publish.MakeKey(command.FromCLI(t.Context()), p.app, filepath.Join(p.Root, "key")); kb.CodeOf(err) != kb.Exists {
		t.Error(err)
	}
}

// The workflow of docs/data.md publishes with an empty target and with a full one.
func TestRecipe(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "data.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "## An index for everybody who clones")
	_, rest, _ = strings.Cut(rest, "```yaml\n")
	workflow, _, _ := strings.Cut(rest, "```")
	var w struct {
		On   map[string]any
		Jobs map[string]struct {
			Env   map[string]string
			Steps []struct{ Uses, Run string }
		}
	}
	if err := yaml.Unmarshal([]byte(workflow), &w); err != nil {
		t.Fatal(err)
	}
	job := w.Jobs["publish"]
	last := job.Steps[len(job.Steps)-1].Run
	if w.On["push"] == nil || job.Env["KNOWLEDGE_PUBLISH_KEY"] == "" || !strings.Contains(last, "knowledge store:create project . --from") ||
		!strings.Contains(last, "knowledge store:publish project") {
		t.Fatalf("%+v", w)
	}
	p := newPublisher(t)
	reader := producttest.NewSite(t).In("reader", true)
	for merge := range 3 {
		ci := producttest.NewSite(t) // as every run of a workflow has it
		if err := os.CopyFS(filepath.Join(ci.Root, "work"), os.DirFS(filepath.Join(p.Root, "src"))); err != nil {
			t.Fatal(err)
		}
		ci.Write("work/merged.md", fmt.Sprintf("# Merge %d\n\ntext\n", merge))
		a := ci.In("work", true)
		st, err := a.CreateStore(t.Context(), app.CreateStore{Name: "project", Source: ".", From: p.target, Key: p.key.Public})
		if merge == 0 {
			if kb.CodeOf(err) != kb.NotFound {
				t.Fatal(err)
			}
			st, err = a.CreateStore(t.Context(), app.CreateStore{Name: "project", Source: "."})
		}
		if err == nil {
			_, err = a.WaitJob(t.Context(), st.Job)
		}
		if err != nil {
			t.Fatal(err)
		}
		out, err := publish.Publish(command.FromCLI(t.Context()), a, "project", p.target, p.key.Secret)
		if err != nil || out.Generation != int64(merge+1) {
			t.Errorf("merge %d: %+v %v", merge, out, err)
		}
		if err := os.RemoveAll(filepath.Join(ci.Root, "work")); err != nil {
			t.Fatal(err)
		}
		// Who takes it without a source has one store, wherever it was published.
		if _, err := reader.CreateStore(t.Context(), app.CreateStore{From: p.target, Key: p.key.Public}); err != nil {
			t.Fatal(err)
		}
		list, err := reader.Stores(t.Context(), "", true)
		if err != nil || len(list.Stores) != 1 || list.Stores[0].Documents != 13 {
			t.Errorf("merge %d: %+v %v", merge, list, err)
		}
		if got := asked(t, reader, "project", fmt.Sprintf("Merge %d", merge)); !strings.Contains(got, "merged.md") {
			t.Error(got)
		}
	}
}
