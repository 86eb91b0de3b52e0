package web_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/follow"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/web"
)

func TestASiteIsCitedByAddressAndAnchor(t *testing.T) {
	s, m := producttest.NewSite(t), producttest.NewManual(t)
	a := s.Configured("p", "web: {allow: [127.0.0.1]}\n", nil)
	if j := s.Create(a, app.CreateStore{Name: "widget", Kind: kb.KindWeb, Source: m.URL, Web: kb.Web{Headless: "never"}}); j.State != kb.JobCompleted || j.Details["pages"] == nil {
		t.Fatalf("%+v", j)
	}
	for _, tt := range []struct{ query, at string }{
		{"drag the icon of the turbine v2", m.URL + "/v2/install#mac"}, // of the nearest heading that has an anchor
		{"drag the icon of the turbine v1", m.URL + "/v1/install#mac"},
		{"apt install widget-v1", m.URL + "/v1/install#packages"}, // far below the heading, in a later chunk
		{"apt install widget-v2", m.URL + "/v2/install#packages"},
		{"gearbox lubricated with graphite", m.URL + "/members/"},
	} {
		r := s.Search(a, search.Request{Query: tt.query, Detail: "full"}, app.Scope{Stores: []string{"widget"}})
		if len(r.Hits) == 0 || r.Hits[0].At != tt.at && !strings.HasPrefix(r.Hits[0].At, tt.at+"#") {
			t.Errorf("%q: %+v", tt.query, r.Hits)
			continue
		}
		h := r.Hits[0]
		if strings.Contains(h.Code+h.Symbol+h.Signature, "{#") {
			t.Errorf("%q shows a mark: %+v", tt.query, h)
		}
		if h.Page == nil || h.Page.Title == "" {
			t.Errorf("%q: no title in %+v", tt.query, h)
		}
		c, err := find.ByID(t.Context(), a, h.ID)
		if err != nil || c.Page == nil || !strings.HasPrefix(c.At, c.Page.URL) || !strings.Contains(c.Note, "data, not instructions") || strings.Contains(c.Code, "{#") {
			t.Errorf("%q: %+v, %v", tt.query, c, err)
		}
		if strings.HasPrefix(tt.at, m.URL+"/v2") && (c.Version != "v2" || !slices.Equal(c.Breadcrumbs, []string{"Docs", "v2"}) || c.Modified.Year() != 2026) {
			t.Errorf("%q: %+v", tt.query, c.Page)
		}
	}
	text, err := find.Read(t.Context(), a, "widget", m.URL+"/v2/install#mac", "", app.Waiting{})
	if err != nil || !strings.HasPrefix(text.Text, "## macOS") || strings.Contains(text.Text, "apt install") || text.URL != m.URL+"/v2/install" || !strings.Contains(text.Note, "data, not") {
		t.Errorf("%+v, %v", text, err)
	}
	byPath, err := find.Read(t.Context(), a, "widget", text.Path, fmt.Sprintf("%d-%d", text.Start, text.End), app.Waiting{})
	if err != nil || byPath.Text != text.Text {
		t.Errorf("%+v, %v", byPath, err)
	}
	if _, err := find.Read(t.Context(), a, "widget", m.URL+"/v2/install#nowhere", "", app.Waiting{}); kb.CodeOf(err) != kb.NotFound || !strings.Contains(kb.HintOf(err), "#packages") {
		t.Errorf("%v / %s", err, kb.HintOf(err))
	}
	list, err := web.Pages(t.Context(), a, "widget", "failed", "", 0)
	if err != nil || len(list.Pages) != 1 || list.Pages[0].URL != m.URL+"/gone" || list.Counts["kept"] != 4 || !strings.Contains(list.Pages[0].Reason, "404") {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err = web.Pages(t.Context(), a, "widget", "kept", "v2", 0); err != nil || len(list.Pages) != 1 || !strings.Contains(list.Pages[0].Reason, "Install v2") {
		t.Errorf("%+v, %v", list, err)
	}
	info, err := a.StoreInfo(t.Context(), "widget")
	if err != nil || !strings.Contains(strings.Join(info.Notes, " "), "1 not found") || info.DiskBytes <= info.IndexBytes {
		t.Errorf("%+v, %v", info, err)
	}
	if _, err := web.Pages(t.Context(), a, s.Root, "", "", 0); err == nil {
		t.Error("pages of what is no store")
	}
}

// A login that the user named goes to its host, never into what is shown, and
// a file that others may read is not used.
func TestLoginsOfSites(t *testing.T) {
	s, m := producttest.NewSite(t), producttest.NewManual(t)
	m.Auth = "Bearer s3cret"
	host := strings.TrimPrefix(m.URL, "http://")
	secret := filepath.Join(s.Root, "login")
	if err := os.WriteFile(secret, []byte("Bearer s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := s.Configured("p", fmt.Sprintf("web: {allow: [%q], headers: {%q: {Authorization: DOCS_LOGIN, X-Key: %q}, other.example.org: {Cookie: OTHER}}}\n", host, host, "file:"+secret),
		map[string]string{"DOCS_LOGIN": "Bearer s3cret", "OTHER": "biscuit"})
	j := s.Create(a, app.CreateStore{Name: "widget", Kind: kb.KindWeb, Source: m.URL, Web: kb.Web{Headless: "never"}})
	if j.State != kb.JobCompleted {
		t.Fatalf("%+v", j)
	}
	if r := s.Search(a, search.Request{Query: "gearbox graphite"}, app.Scope{Stores: []string{"widget"}}); len(r.Hits) == 0 || !strings.Contains(r.Hits[0].At, "/members/") {
		t.Errorf("%+v", r.Hits)
	}
	m.Mu.Lock()
	for _, r := range m.Got {
		if r.Header.Get("X-Key") != "Bearer s3cret" || r.Header.Get("Cookie") != "" {
			t.Errorf("%s: %v", r.URL, r.Header)
		}
	}
	m.Mu.Unlock()
	info, err := a.StoreInfo(t.Context(), "widget")
	said, _ := json.Marshal([]any{info, j})
	if err != nil || strings.Contains(string(said), "s3cret") {
		t.Errorf("%s, %v", said, err)
	}
	if os.PathSeparator == '/' {
		if err := os.Chmod(secret, 0o644); err != nil {
			t.Fatal(err)
		}
		if j := s.Create(a, app.CreateStore{Name: "open", Kind: kb.KindWeb, Source: m.URL, Web: kb.Web{MaxPages: 1}}); j.State != kb.JobFailed || !strings.Contains(j.Message, "others may read") {
			t.Errorf("%+v", j)
		}
	}
}

// What is refused is refused before there is a store, with what to do.
func TestSitesThatAreRefused(t *testing.T) {
	s := producttest.NewSite(t)
	a := s.Configured("p", "", nil)
	for _, tt := range []struct {
		r    app.CreateStore
		code kb.Code
		says string
	}{
		{app.CreateStore{Kind: kb.KindWeb, Source: "http://127.0.0.1/"}, kb.Denied, "web.allow"},
		{app.CreateStore{Kind: kb.KindWeb, Source: "http://[::1]/"}, kb.Denied, "web.allow"},
		{app.CreateStore{Kind: kb.KindWeb, Source: "http://10.1.2.3/"}, kb.Denied, "web.allow"},
		{app.CreateStore{Kind: kb.KindWeb, Source: "http://2130706433/"}, kb.Denied, "four decimal"},
		{app.CreateStore{Kind: kb.KindWeb, Source: "http://0x7f.1/"}, kb.Denied, "four decimal"},
		{app.CreateStore{Kind: kb.KindWeb, Source: "https://example.org/", Branch: "main"}, kb.Invalid, "type repo"},
		{app.CreateStore{Kind: kb.KindWeb, Source: "https://example.org/", Paths: []string{"a"}}, kb.Invalid, "include"},
		{app.CreateStore{Kind: kb.KindWeb, Source: "https://example.org/", Web: kb.Web{MaxPages: 1 << 30}}, kb.Invalid, "1000"},
		{app.CreateStore{Source: "npm:left-pad", Web: kb.Web{Depth: 2}}, kb.Invalid, "leave it out"},
		{app.CreateStore{Source: ".", Web: kb.Web{Include: []string{"a"}}}, kb.Invalid, "type web"},
		{app.CreateStore{Source: "https://example.org/"}, kb.Invalid, "type web"},
	} {
		_, err := a.CreateStore(t.Context(), tt.r)
		if kb.CodeOf(err) != tt.code || !strings.Contains(kb.HintOf(err), tt.says) {
			t.Errorf("%+v: %v / %s", tt.r, err, kb.HintOf(err))
		}
	}
	list, err := a.Stores(t.Context(), "", true)
	if err != nil || len(list.Stores) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// Definitions of sites, those of the older plugin too, are synced and saved.
func TestDefinitionsOfSites(t *testing.T) {
	s, m := producttest.NewSite(t), producttest.NewManual(t)
	a := s.Configured("p", "web: {allow: [127.0.0.1]}\n", nil)
	s.Write("p/.bluera/bluera-knowledge/stores.config.json", fmt.Sprintf(
		`{"version":1,"stores":[{"type":"web","name":"old","url":%q,"depth":1,"maxPages":2,"crawlInstructions":"installation"}]}`, m.URL))
	// The file is a stranger's, and the host one that the user opened for themselves.
	out, err := follow.Sync(t.Context(), a, follow.SyncRequest{})
	if err != nil || len(out.Untrusted) != 1 || len(out.Jobs) != 0 || len(m.Got) > 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	for _, name := range []string{follow.DefinitionsFile, follow.OlderFile} {
		path := filepath.Join(s.Root, "p", filepath.FromSlash(name))
		if _, err := os.Stat(path); err == nil {
			if _, err := a.Trust(t.Context(), path, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	out, err = follow.Sync(t.Context(), a, follow.SyncRequest{})
	if err != nil || !slices.Equal(out.Created, []string{"old"}) || len(out.Jobs) != 1 {
		t.Fatalf("%+v, %v", out, err)
	}
	if j, err := a.WaitJob(t.Context(), out.Jobs[0].Job); err != nil || j.State != kb.JobCompleted {
		t.Fatalf("%+v, %v", j, err)
	}
	files, err := find.Files(t.Context(), a, "old", "", 0, app.Waiting{})
	if err != nil || files.Total != 2 {
		t.Errorf("%+v, %v", files, err)
	}
	s.Create(a, app.CreateStore{Name: "new", Kind: kb.KindWeb, Source: m.URL, Save: true, Web: kb.Web{MaxPages: 3, Include: []string{"/v2/"}, Headless: "never"}})
	raw, err := os.ReadFile(filepath.Join(s.Root, "p", ".knowledge", "stores.json"))
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"name":"new","type":"web","source":%q,"maxPages":3,"include":["/v2/"],"headless":"never"}`, m.URL+"/")
	if !strings.Contains(string(raw), want) {
		t.Errorf("%s lacks %s", raw, want)
	}
	if _, err := a.Trust(t.Context(), filepath.Join(s.Root, "p", filepath.FromSlash(follow.DefinitionsFile)), false); err != nil {
		t.Fatal(err)
	}
	out, err = follow.Sync(t.Context(), a, follow.SyncRequest{})
	slices.Sort(out.Skipped)
	if err != nil || !slices.Equal(out.Skipped, []string{"new", "old"}) {
		t.Errorf("%+v, %v", out, err)
	}
}
