package app_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// pack writes an archive of name and text, name and text.
func pack(s *producttest.Site, at string, docs ...string) {
	s.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(docs); i += 2 {
		out, err := w.Create(docs[i])
		if err == nil {
			_, err = io.WriteString(out, docs[i+1])
		}
		if err != nil {
			s.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		s.Fatal(err)
	}
	s.Write(at, b.String())
}

// TestArchive: an archive is listed, read, searched and shown as a folder is,
// and answered from as it is now.
func TestArchive(t *testing.T) {
	s := producttest.NewSite(t)
	pack(s, "p/docs.zip", "z.md", "# Crank\n\nturn the crank twice\n", "guide/a.md", "# Lever\n\npull the lever, token=ghp_"+"x7Kd92LmQpRt4VwYz1AbC8eFgH3jN5sUoT6q\n")
	a := s.In("p", true)
	if j := s.Create(a, app.CreateStore{Source: "docs.zip", Agent: true}); j.State != kb.JobCompleted {
		t.Fatalf("%+v", j)
	}
	info := producttest.MustInfo(t, a, "docs")
	if info.Kind != kb.KindZip || info.Documents != 2 || info.Masked != 1 {
		t.Errorf("%+v", info)
	}
	look := func(query string) find.SearchReply {
		return s.Search(a, search.Request{Query: query, Detail: "full"}, app.Scope{Stores: []string{"docs"}, Waiting: app.Waiting{Wait: time.Minute}})
	}
	if r := look("crank"); len(r.Hits) == 0 || !strings.Contains(r.Hits[0].At, "z.md") {
		t.Errorf("%+v", r)
	}
	w := app.Waiting{Wait: time.Minute}
	if l, err := find.Files(t.Context(), a, "docs", "", 0, w); err != nil || l.Total != 2 || l.Files[0] != "guide/a.md" {
		t.Errorf("%+v, %v", l, err)
	}
	if f, err := find.Read(t.Context(), a, "docs", "z.md", "3", w); err != nil || f.Text != "turn the crank twice" {
		t.Errorf("%+v, %v", f, err)
	}
	if g, err := find.Grep(t.Context(), a, "docs", "lever,", "", false, 0, w); err != nil || g.Total != 1 || strings.Contains(fmt.Sprint(g), "ghp_") {
		t.Errorf("%+v, %v", g, err)
	}
	if c, err := find.ByID(t.Context(), a, look("crank").Hits[0].ID); err != nil || !strings.Contains(fmt.Sprint(c), "crank twice") {
		t.Errorf("%+v, %v", c, err)
	}
	pack(s, "p/docs.zip", "z.md", "# Crank\n\nturn the crank thrice\n", "new.md", "# Pedal\n\npush the pedal\n")
	if r := look("pedal"); len(r.Hits) == 0 || !strings.Contains(r.Hits[0].At, "new.md") {
		t.Errorf("after it was packed anew: %+v", r)
	}
	if err := os.Remove(filepath.Join(s.Root, "p/docs.zip")); err != nil {
		t.Fatal(err)
	}
	if r := look("pedal"); len(r.Hits) == 0 || !strings.Contains(strings.Join(r.Notes, " "), "its archive") {
		t.Errorf("after it was deleted: %+v", r)
	}
}

// TestReachOfArchives: an agent may have an archive below the project indexed,
// and no other, however it is written.
func TestReachOfArchives(t *testing.T) {
	s, _, ask := reaching(t, "", nil)
	for _, at := range []string{"p/docs.zip", "p/bundle.jar", "secret/all.zip"} {
		pack(s, at, "a.md", "# A\n")
	}
	for _, src := range []string{"docs.zip", "zip:./docs.zip", "zip:bundle.jar", filepath.Join(s.Root, "p/docs.zip")} {
		if err := ask(src, ""); err != nil {
			t.Errorf("%s: %v", src, err)
		}
	}
	if err := os.Symlink(filepath.Join(s.Root, "secret/all.zip"), filepath.Join(s.Root, "p/out.zip")); err != nil {
		t.Skip(err)
	}
	for _, src := range []string{"../secret/all.zip", "zip:../secret/all.zip", "zip:" + filepath.Join(s.Root, "secret/all.zip"), "out.zip", "zip:out.zip",
		"zip:none/../../secret/all.zip", "zip:../secret/none.zip", "zip:ab:/../../secret/all.zip"} {
		for _, kind := range []kb.Kind{"", kb.KindZip} {
			if err := ask(src, kind); kb.CodeOf(err) != kb.Denied || !strings.Contains(kb.HintOf(err), "ask your user") {
				t.Errorf("%s as %q: %v", src, kind, err)
			}
		}
	}
}
