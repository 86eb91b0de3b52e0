package care_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/care"
	"github.com/seed-4f2d999b/knowledge/internal/code"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/web"
)

// sameAnswers compares two machines that have the same stores under the same
// name: everything but how long it took.
func sameAnswers(t *testing.T, a, b *app.App, store string, queries []string) {
	t.Helper()
	for _, q := range queries {
		var got []find.SearchReply
		for _, x := range []*app.App{a, b} {
			r, err := find.Search(t.Context(), x, search.Request{Query: q}, app.Scope{Stores: []string{store}})
			if err != nil {
				t.Fatal(err)
			}
			r.Ms = 0
			// That the folder was taken away is told where it was.
			r.Notes = slices.DeleteFunc(r.Notes, func(n string) bool { return strings.Contains(n, "is gone, hits are of") })
			if len(r.Notes) == 0 {
				r.Notes = nil
			}
			got = append(got, r)
		}
		if d := cmp.Diff(got[0], got[1]); d != "" {
			t.Errorf("%q is answered otherwise:\n%s", q, d)
		}
	}
}

// What a store was asked, shown, read and grepped on one machine it answers on
// another, which never saw its source.
func TestAnExportAnswersElsewhere(t *testing.T) {
	here := producttest.NewSite(t)
	here.Write("src/conf/duration.go", producttest.Parser)
	here.Write("src/conf/use.go", "package conf\n\nfunc Wait() { ParseDuration(\"9s\") }\n")
	here.Write("src/README.md", "# Durations\n\nA length of time is written as 90s.\n")
	here.Write("src/gone.go", "package conf\n\n// Secret is deleted before the export.\nfunc Secret() {}\n")
	a := here.In("p", true)
	here.Create(a, app.CreateStore{Name: "conf", Source: filepath.Join(here.Root, "src"), Description: "how time is written", Tags: []string{"time"}})
	secret := here.Search(a, search.Request{Query: "Secret"}, app.Scope{Stores: []string{"conf"}}).Hits[0]
	if err := os.Remove(filepath.Join(here.Root, "src", "gone.go")); err != nil {
		t.Fatal(err)
	}
	st, err := a.IndexStore(t.Context(), "conf", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.WaitJob(t.Context(), st.Job); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(here.Root, "conf.kbx")
	e, err := care.Export(t.Context(), a, "conf", file, false)
	if err != nil {
		t.Fatal(err)
	}
	if e.Documents != 3 || !strings.Contains(e.Note, "text of all these documents") {
		t.Errorf("got %+v", e)
	}
	if _, err := care.Export(t.Context(), a, "conf", file, false); kb.CodeOf(err) != kb.Exists {
		t.Errorf("a file was replaced: %v", err)
	}
	again, err := care.Export(t.Context(), a, "conf", filepath.Join(here.Root, "again.kbx"), false)
	if err != nil || again.SHA256 != e.SHA256 {
		t.Errorf("two exports differ: %v", err)
	}

	there := producttest.NewSite(t)
	b := there.In("q", true)
	in, err := care.Import(t.Context(), b, care.ImportRequest{File: file})
	if err != nil {
		t.Fatal(err)
	}
	if in.Store != "conf" || in.Documents != 3 || in.Shared != 0 {
		t.Errorf("got %+v", in)
	}
	// Its source goes too: nothing may be read from there.
	if err := os.Rename(filepath.Join(here.Root, "src"), filepath.Join(here.Root, "moved")); err != nil {
		t.Fatal(err)
	}
	sameAnswers(t, a, b, "conf", []string{"how is a duration parsed", "ParseDuration", "length of time", "Wait", "Secret"})
	for _, x := range []*app.App{a, b} {
		hit := there.Search(x, search.Request{Query: "ParseDuration"}, app.Scope{Stores: []string{"conf"}}).Hits[0]
		c, err := find.ByID(t.Context(), x, hit.ID)
		if err != nil || !strings.Contains(c.Code, "func ParseDuration") {
			t.Errorf("show: %+v, %v", c, err)
		}
		if d, err := find.Read(t.Context(), x, "conf", "README.md", "3", app.Waiting{}); err != nil || d.Text != "A length of time is written as 90s." {
			t.Errorf("read: %+v, %v", d, err)
		}
		if g, err := find.Grep(t.Context(), x, "conf", `func \w+\(`, "", false, 0, app.Waiting{}); err != nil || g.Total != 2 {
			t.Errorf("grep: %+v, %v", g, err)
		}
		if f, err := find.Files(t.Context(), x, "conf", "**/*.go", 0, app.Waiting{}); err != nil || f.Total != 2 {
			t.Errorf("files: %+v, %v", f, err)
		}
		callers, err := code.Ask(t.Context(), x, code.CodeRequest{CodeRequest: search.CodeRequest{What: search.Callers, Depth: 1, Limit: 9, Symbol: "ParseDuration"}, Stores: []string{"conf"}, Waiting: app.Waiting{Wait: time.Minute}})
		if err != nil || !strings.Contains(fmt.Sprintf("%+v", callers), "conf/use.go") {
			t.Errorf("callers: %+v, %v", callers, err)
		}
		// An id of what is gone is remembered with its lines.
		gone, err := find.ByID(t.Context(), x, secret.ID)
		if !strings.Contains(fmt.Sprint(gone, err), "gone.go") {
			t.Errorf("a deleted place: %+v, %v", gone, err)
		}
	}
	info := producttest.MustInfo(t, b, "conf")
	if info.Description != "how time is written" || len(info.Tags) != 1 {
		t.Errorf("got %+v", info)
	}
	// What was deleted before the export is in no file of the importer.
	if text := everything(t, there.Data); strings.Contains(text, "is deleted before the export") {
		t.Error("a deleted document was exported")
	}
	if v, err := care.Verify(t.Context(), b, "", false); err != nil || v.ExitStatus() != 0 {
		t.Errorf("got %v, %v", v.Text(), err)
	}
	// It stays when it is told to follow a source that is not there.
	st, err = b.IndexStore(t.Context(), "conf", false)
	if err != nil {
		t.Fatal(err)
	}
	if j, err := b.WaitJob(t.Context(), st.Job); err != nil || j.State != kb.JobFailed || !strings.Contains(j.Message, "src") {
		t.Errorf("got %+v, %v", j, err)
	}
	if r := there.Search(b, search.Request{Query: "ParseDuration"}, app.Scope{Stores: []string{"conf"}}); len(r.Hits) == 0 {
		t.Error("a failed update took the store away")
	}
}

// everything returns what the segments of a data directory say.
func everything(t *testing.T, data string) string {
	t.Helper()
	s := &producttest.Site{T: t, Data: data, Root: filepath.Dir(data)}
	a := s.In("x", true)
	list, err := a.Stores(t.Context(), "", true)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	files, err := filepath.Glob(filepath.Join(data, "segments", "*"+index.Ext))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), index.Ext)
		seg, err := producttest.MustOpen(t, a).Pool.Segment(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		for d := range seg.Keys {
			docs, err := producttest.MustOpen(t, a).Pool.Stored(t.Context(), name, []int{d})
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString(docs[0].Text.Body)
		}
	}
	raw, _ := json.Marshal(list)
	return b.String() + string(raw)
}

// The name and the generation that are here are kept unless a person says otherwise.
func TestAnImportKeepsWhatIsHere(t *testing.T) {
	here := producttest.NewSite(t)
	here.Write("src/a.go", producttest.Parser)
	here.Write("other/b.md", "# Other\n")
	a := here.In("p", true)
	here.Create(a, app.CreateStore{Name: "conf", Source: filepath.Join(here.Root, "src")})
	file := filepath.Join(here.Root, "conf.kbx")
	if _, err := care.Export(t.Context(), a, "conf", file, false); err != nil {
		t.Fatal(err)
	}
	if in, err := care.Import(t.Context(), a, care.ImportRequest{File: file}); err != nil || !strings.Contains(in.Note, "here already") {
		t.Errorf("the same again: %+v, %v", in, err)
	}
	if in, err := care.Import(t.Context(), a, care.ImportRequest{File: file, Name: "second"}); err != nil || in.Store != "second" {
		t.Errorf("a second name: %+v, %v", in, err)
	}
	// Indexed later here than in the file.
	here.Write("src/a.go", producttest.Parser+"\nfunc Newer() {}\n")
	st, err := a.IndexStore(t.Context(), "conf", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.WaitJob(t.Context(), st.Job); err != nil {
		t.Fatal(err)
	}
	_, err = care.Import(t.Context(), a, care.ImportRequest{File: file})
	if kb.CodeOf(err) != kb.Exists || !strings.Contains(kb.HintOf(err), "knowledge import "+file+" --force") {
		t.Errorf("a newer generation was replaced: %v, %s", err, kb.HintOf(err))
	}
	if r := here.Search(a, search.Request{Query: "Newer"}, app.Scope{Stores: []string{"conf"}}); len(r.Hits) == 0 {
		t.Error("the newer generation is gone")
	}
	if in, err := care.Import(t.Context(), a, care.ImportRequest{File: file, Force: true}); err != nil || !strings.Contains(in.Note, "replaces") {
		t.Errorf("by force: %+v, %v", in, err)
	}
	if g, err := find.Grep(t.Context(), a, "conf", "Newer", "", false, 0, app.Waiting{}); err != nil || g.Total != 0 {
		t.Errorf("the file's state is not back: %+v, %v", g, err)
	}
	// The name means something else on another machine.
	there := producttest.NewSite(t)
	there.Write("other/b.md", "# Other\n")
	b := there.In("q", true)
	there.Create(b, app.CreateStore{Name: "conf", Source: filepath.Join(there.Root, "other")})
	_, err = care.Import(t.Context(), b, care.ImportRequest{File: file})
	if kb.CodeOf(err) != kb.Exists || !strings.Contains(kb.HintOf(err), "--name conf-2") {
		t.Errorf("a name was taken away: %v, %s", err, kb.HintOf(err))
	}
	if in, err := care.Import(t.Context(), b, care.ImportRequest{File: file, Name: "conf-2", User: true}); err != nil || in.Scope != "user" {
		t.Errorf("another name: %+v, %v", in, err)
	}
	if _, err := care.Import(t.Context(), b, care.ImportRequest{File: filepath.Join(there.Root, "no.kbx")}); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(there.Data, "transfer")); len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// Vectors that are gone are said, and made anew by the next index run, also of
// the own folder by its next search.
func TestMissingVectorsAreSaidAndMended(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("src/a.go", producttest.Parser)
	a := s.In("p", true)
	s.Create(a, app.CreateStore{Name: "conf", Source: filepath.Join(s.Root, "src")})
	want := s.Search(a, search.Request{Query: "how is a duration parsed"}, app.Scope{Stores: []string{"conf"}})
	vecs, err := filepath.Glob(filepath.Join(s.Data, "segments", "*"+index.VecExt))
	if err != nil || len(vecs) == 0 {
		t.Fatal(err)
	}
	for _, f := range vecs {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	b := s.In("p", true)
	r := s.Search(b, search.Request{Query: "how is a duration parsed"}, app.Scope{Stores: []string{"conf"}})
	if len(r.Hits) == 0 || !strings.Contains(fmt.Sprint(r.Notes), "vectors of 1 of 1 segments of store conf are missing") {
		t.Errorf("it is silent: %+v", r)
	}
	list, err := b.Jobs(t.Context(), app.JobFilter{All: true})
	if err != nil {
		t.Fatal(err)
	}
	if j, err := b.WaitJob(t.Context(), list.Jobs[0].ID); err != nil || !strings.Contains(j.Message, "made anew") || !strings.Contains(fmt.Sprint(r.Notes), j.ID) {
		t.Errorf("got %+v, %v", j, err)
	}
	for _, x := range []*app.App{a, b} { // also who has the old one open
		r = s.Search(x, search.Request{Query: "how is a duration parsed"}, app.Scope{Stores: []string{"conf"}})
		r.Ms = want.Ms
		if d := cmp.Diff(want, r); d != "" {
			t.Errorf("answered otherwise:\n%s", d)
		}
	}
}

// gc lists what it would delete, deletes that and nothing else, and leaves what
// a job or an import that runs relies on.
func TestCollect(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("src/a.go", producttest.Parser)
	a := s.In("p", true)
	s.Create(a, app.CreateStore{Name: "conf", Source: filepath.Join(s.Root, "src")})
	if g, err := care.Collect(t.Context(), a, false); err != nil || len(g.Files) != 0 {
		t.Errorf("a sound directory has leftovers: %v, %v", g.Text(), err)
	}
	long := time.Now().Add(-48 * time.Hour)
	stale := []string{
		"segments/aaaaaaaaaaaaaaaaaaaaaaaa.seg", "segments/aaaaaaaaaaaaaaaaaaaaaaaa.model.vec", "segments/bbbbbbbbbbbbbbbbbbbbbbbb.lay",
		"segments/.tmp-1", "generations/aaaaaaaaaaaaaaaa-1-bbbbbbbb.gen", "views/00112233445566778899aabbccddeeff.view", "web/aaaaaaaaaaaaaaaa/pages.000001",
		"repos/aaaaaaaaaaaaaaaa/HEAD", "replies/user/old/now-20260101T000000Z-abcdef.md", "transfer/transfer-aaaaaaaaaaaa/segments/x.seg", "jobs/abcdefgh.at", ".tmp-2",
	}
	for _, f := range stale {
		s.Write("data/"+f, "12345")
		p := filepath.Join(s.Data, filepath.FromSlash(f))
		for _, p := range []string{p, filepath.Dir(p)} {
			if f[0] == '.' && p != filepath.Join(s.Data, f) {
				continue
			}
			if err := os.Chtimes(p, long, long); err != nil {
				t.Fatal(err)
			}
		}
	}
	young := filepath.Join(s.Data, "segments", ".tmp-alive")
	s.Write("data/segments/.tmp-alive", "x")
	s.Write("data/thesis.doc", "somebody else's")
	if err := producttest.MustOpen(t, a).Catalog.UseSegments(t.Context(), "transfer-dead", "aaaaaaaaaaaaaaaaaaaaaaaa"); err != nil {
		t.Fatal(err)
	}
	dry, err := care.Collect(t.Context(), a, true)
	if err != nil {
		t.Fatal(err)
	}
	if len(dry.Files) != len(stale) || !dry.DryRun || dry.Bytes != int64(5*len(stale)) {
		t.Errorf("got %s", dry.Text())
	}
	for _, f := range stale {
		if _, err := os.Stat(filepath.Join(s.Data, filepath.FromSlash(f))); err != nil {
			t.Errorf("a dry run deletes: %v", err)
		}
	}
	done, err := care.Collect(t.Context(), a, false)
	if err != nil || len(done.Files) != len(stale) {
		t.Errorf("got %v, %v", done.Text(), err)
	}
	for _, f := range stale {
		if _, err := os.Stat(filepath.Join(s.Data, filepath.FromSlash(f))); err == nil {
			t.Errorf("%s is still there", f)
		}
	}
	for _, f := range []string{young, filepath.Join(s.Data, "thesis.doc")} {
		if _, err := os.Stat(f); err != nil {
			t.Errorf("gc deletes too much: %v", err)
		}
	}
	if r := s.Search(a, search.Request{Query: "ParseDuration"}, app.Scope{Stores: []string{"conf"}}); len(r.Hits) == 0 {
		t.Error("a store is gone")
	}
	if v, err := care.Verify(t.Context(), a, "conf", false); err != nil || v.ExitStatus() != 0 {
		t.Errorf("got %v, %v", v.Text(), err)
	}
}

// What an imported store's source is not there for is said with the way back;
// what can be had from its own files is made anew.
func TestRepairWithoutTheSource(t *testing.T) {
	here := producttest.NewSite(t)
	here.Write("src/a.go", producttest.Parser)
	here.Write("src/b.md", "# Durations\n\nMore about time.\n")
	a := here.In("p", true)
	here.Create(a, app.CreateStore{Name: "conf", Source: filepath.Join(here.Root, "src")})
	file := filepath.Join(here.Root, "conf.kbx")
	if _, err := care.Export(t.Context(), a, "conf", file, false); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(here.Root, "src")); err != nil {
		t.Fatal(err)
	}
	there := producttest.NewSite(t)
	b := there.In("q", true)
	if _, err := care.Import(t.Context(), b, care.ImportRequest{File: file}); err != nil {
		t.Fatal(err)
	}
	want := there.Search(b, search.Request{Query: "how is a duration parsed"}, app.Scope{Stores: []string{"conf"}})
	damage := func(pattern string) {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(there.Data, filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			t.Fatal(err)
		}
		for _, f := range files {
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
		}
		b = there.In("q", true)
	}
	for _, pattern := range []string{"generations/*.gen", "segments/*.vec", "views/*.view"} {
		damage(pattern)
		v, err := care.Verify(t.Context(), b, "", true)
		if err != nil || len(v.Findings) == 0 || v.ExitStatus() != 0 {
			t.Errorf("%s: %v, %v", pattern, v.Text(), err)
		}
		r := there.Search(b, search.Request{Query: "how is a duration parsed"}, app.Scope{Stores: []string{"conf"}})
		r.Ms = want.Ms
		if d := cmp.Diff(want, r); d != "" {
			t.Errorf("%s: answered otherwise:\n%s", pattern, d)
		}
	}
	damage("segments/*.seg")
	v, err := care.Verify(t.Context(), b, "", true)
	if err != nil || v.ExitStatus() != 7 || !strings.Contains(v.Text(), "knowledge import FILE --force") {
		t.Errorf("got %v, %v", v.Text(), err)
	}
	if _, err := care.Import(t.Context(), b, care.ImportRequest{File: file, Force: true}); err != nil {
		t.Fatal(err)
	}
	if v, err := care.Verify(t.Context(), b, "", true); err != nil || v.ExitStatus() != 0 {
		t.Errorf("after restoring: %v, %v", v.Text(), err)
	}
}

// The self-test works where the program does, and says what does not.
func TestSelfTest(t *testing.T) {
	s := producttest.NewSite(t)
	a := s.In("p", true)
	r, err := care.RunSelfTest(t.Context(), a)
	if err != nil || r.Failed != 0 || r.ExitStatus() != 0 || len(r.Checks) != 14 {
		t.Errorf("got\n%s\n%v", r.Text(), err)
	}
	if _, err := os.Stat(s.Data); err == nil {
		t.Error("it made the user's data directory")
	}
	// A data directory that cannot be written: its place is taken by a file.
	s.Write("data/knowledge.db", "")
	if err := os.RemoveAll(s.Data); err != nil {
		t.Fatal(err)
	}
	s.Write("data", "a file")
	r, err = care.RunSelfTest(t.Context(), s.In("p", true))
	if err != nil || r.Failed != 1 || r.ExitStatus() != 1 || r.Checks[1].OK || !strings.Contains(r.Text(), "failed  data directory") {
		t.Errorf("got\n%s\n%v", r.Text(), err)
	}
}

// A web store takes its kept pages along: what it read offline before it reads
// offline elsewhere, and a refresh asks only for what changed.
func TestAWebStoreTakesItsPagesAlong(t *testing.T) {
	m := producttest.NewManual(t)
	host := strings.TrimPrefix(m.URL, "http://")
	here := producttest.NewSite(t)
	a := here.Configured("p", "web:\n  allow: [\""+host+"\"]\n", nil)
	if j := here.Create(a, app.CreateStore{Name: "guide", Kind: kb.KindWeb, Source: m.URL + "/"}); j.State != kb.JobCompleted {
		t.Fatalf("%+v", j)
	}
	file := filepath.Join(here.Root, "guide.kbx")
	if _, err := care.Export(t.Context(), a, "guide", file, false); err != nil {
		t.Fatal(err)
	}
	m.Close()
	there := producttest.NewSite(t)
	b := there.Configured("q", "web:\n  allow: [\""+host+"\"]\n", nil)
	if _, err := care.Import(t.Context(), b, care.ImportRequest{File: file}); err != nil {
		t.Fatal(err)
	}
	sameAnswers(t, a, b, "guide", []string{"install the widget on macOS", "signature of the archive"})
	for _, x := range []*app.App{a, b} {
		d, err := find.Read(t.Context(), x, "guide", m.URL+"/v1/install#mac", "", app.Waiting{})
		if err != nil || !strings.Contains(d.Text, "macOS") || d.URL == "" {
			t.Errorf("read by URL: %+v, %v", d, err)
		}
		p, err := web.Pages(t.Context(), x, "guide", "", "", 0)
		if err != nil || len(p.Pages) < 3 {
			t.Errorf("pages: %+v, %v", p, err)
		}
	}
	if v, err := care.Verify(t.Context(), b, "", false); err != nil || v.ExitStatus() != 0 {
		t.Errorf("got %v, %v", v.Text(), err)
	}
	logs, err := filepath.Glob(filepath.Join(there.Data, "web", "*", "pages.*"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	raw, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)/2] ^= 1
	if err := os.WriteFile(logs[0], raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if v, err := care.Verify(t.Context(), b, "guide", false); err != nil || v.ExitStatus() != 7 || !strings.Contains(v.Text(), "kept pages") {
		t.Errorf("a damaged page is not found: %v, %v", v.Text(), err)
	}
}
