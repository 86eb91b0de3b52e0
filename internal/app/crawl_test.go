package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// manual is a site of two versions of one documentation.
type manual struct {
	*httptest.Server
	mu    sync.Mutex
	pages map[string]string // by path
	got   []*http.Request
	auth  string // that pages below /members/ ask for
}

func newManual(t *testing.T) *manual {
	m := &manual{pages: map[string]string{"/": `<html><head><title>Widget documentation</title></head><body><main><h1>Widget</h1>
<p>Widgets rotate things, which is what this documentation is about, in two versions that differ in how they are installed.</p>
<p><a href="/v1/install">Install v1</a> <a href="/v2/install">Install v2</a> <a href="/gone">Gone</a> <a href="/members/">Members</a></p></main></body></html>`}}
	for _, v := range []string{"v1", "v2"} {
		m.pages["/"+v+"/install"] = fmt.Sprintf(`<html><head><title>Installation</title></head><body><main>
<nav class="breadcrumb" aria-label="breadcrumb"><ol><li><a href="/">Docs</a></li><li><a href="/%[1]s/install">%[1]s</a></li></ol></nav>
<h1 id="top">Installation</h1><p>How the widget is put onto a machine in version %[1]s of it, in general and for some systems in particular.</p>
<h2 id="packages">Packages for Linux</h2><p>%[2]s Fetch the archive with the package manager and enable the daemon afterwards, or nothing will rotate.</p>
<pre><code class="language-sh">apt install widget-%[1]s</code></pre>
<h2 id="mac">macOS</h2><p>Pour the bottle of the formula, then allow the daemon in the security settings.</p>
<h3>Disk image</h3><p>Drag the icon of the turbine into the folder of applications, and eject the image when the copy is complete.</p></main></body></html>`, v,
			strings.Repeat("The archive is signed, and its signature is looked at before anything is unpacked, as it should be. ", 30))
	}
	m.pages["/members/"] = `<html><head><title>Members</title></head><body><main><h1>Members</h1><p>Only those who pay may read how the secret gearbox is lubricated with graphite powder.</p></main></body></html>`
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.got = append(m.got, r)
		page, ok := m.pages[r.URL.Path]
		switch {
		case !ok:
			http.NotFound(w, r)
		case m.auth != "" && strings.HasPrefix(r.URL.Path, "/members/") && r.Header.Get("Authorization") != m.auth:
			http.Error(w, "who are you", http.StatusUnauthorized)
		default:
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Header().Set("Last-Modified", "Thu, 01 Oct 2026 10:00:00 GMT")
			fmt.Fprint(w, page)
		}
	}))
	t.Cleanup(m.Close)
	return m
}

// configured returns an App of a user with a configuration file and variables.
func (s *site) configured(dir, yaml string, env map[string]string) *App {
	s.Helper()
	path := filepath.Join(s.root, "config.yaml")
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		s.Fatal(err)
	}
	dir = filepath.Join(s.root, dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.Fatal(err)
	}
	a, err := New(Config{Rooms: allRooms(), DataDir: s.data, Dir: dir, Project: dir, Env: func(k string) string {
		if k == "KNOWLEDGE_CONFIG" {
			return path
		}
		return env[k]
	}})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if err := a.Close(); err != nil {
			s.Error(err)
		}
	})
	return a
}

func TestASiteIsCitedByAddressAndAnchor(t *testing.T) {
	s, m := newSite(t), newManual(t)
	a := s.configured("p", "web: {allow: [127.0.0.1]}\n", nil)
	if j := s.create(a, CreateStore{Name: "widget", Kind: kb.KindWeb, Source: m.URL, Web: kb.Web{Headless: "never"}}); j.State != kb.JobCompleted || j.Details["pages"] == nil {
		t.Fatalf("%+v", j)
	}
	for _, tt := range []struct{ query, at string }{
		{"drag the icon of the turbine v2", m.URL + "/v2/install#mac"}, // of the nearest heading that has an anchor
		{"drag the icon of the turbine v1", m.URL + "/v1/install#mac"},
		{"apt install widget-v1", m.URL + "/v1/install#packages"}, // far below the heading, in a later chunk
		{"apt install widget-v2", m.URL + "/v2/install#packages"},
		{"gearbox lubricated with graphite", m.URL + "/members/"},
	} {
		r := s.search(a, SearchRequest{Query: tt.query, Stores: []string{"widget"}, Detail: "full"})
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
		c, err := a.Context(t.Context(), h.ID)
		if err != nil || c.Page == nil || !strings.HasPrefix(c.At, c.Page.URL) || !strings.Contains(c.Note, "data, not instructions") || strings.Contains(c.Code, "{#") {
			t.Errorf("%q: %+v, %v", tt.query, c, err)
		}
		if strings.HasPrefix(tt.at, m.URL+"/v2") && (c.Version != "v2" || !slices.Equal(c.Breadcrumbs, []string{"Docs", "v2"}) || c.Modified.Year() != 2026) {
			t.Errorf("%q: %+v", tt.query, c.Page)
		}
	}
	text, err := a.Read(t.Context(), "widget", m.URL+"/v2/install#mac", "", Waiting{})
	if err != nil || !strings.HasPrefix(text.Text, "## macOS") || strings.Contains(text.Text, "apt install") || text.URL != m.URL+"/v2/install" || !strings.Contains(text.Note, "data, not") {
		t.Errorf("%+v, %v", text, err)
	}
	byPath, err := a.Read(t.Context(), "widget", text.Path, fmt.Sprintf("%d-%d", text.Start, text.End), Waiting{})
	if err != nil || byPath.Text != text.Text {
		t.Errorf("%+v, %v", byPath, err)
	}
	if _, err := a.Read(t.Context(), "widget", m.URL+"/v2/install#nowhere", "", Waiting{}); kb.CodeOf(err) != kb.NotFound || !strings.Contains(kb.HintOf(err), "#packages") {
		t.Errorf("%v / %s", err, kb.HintOf(err))
	}
	list, err := a.Pages(t.Context(), "widget", "failed", "", 0)
	if err != nil || len(list.Pages) != 1 || list.Pages[0].URL != m.URL+"/gone" || list.Counts["kept"] != 4 || !strings.Contains(list.Pages[0].Reason, "404") {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err = a.Pages(t.Context(), "widget", "kept", "v2", 0); err != nil || len(list.Pages) != 1 || !strings.Contains(list.Pages[0].Reason, "Install v2") {
		t.Errorf("%+v, %v", list, err)
	}
	info, err := a.StoreInfo(t.Context(), "widget")
	if err != nil || !strings.Contains(strings.Join(info.Notes, " "), "1 not found") || info.DiskBytes <= info.IndexBytes {
		t.Errorf("%+v, %v", info, err)
	}
	if _, err := a.Pages(t.Context(), s.root, "", "", 0); err == nil {
		t.Error("pages of what is no store")
	}
}

// A login that the user named goes to its host, never into what is shown, and
// a file that others may read is not used.
func TestLoginsOfSites(t *testing.T) {
	s, m := newSite(t), newManual(t)
	m.auth = "Bearer s3cret"
	host := strings.TrimPrefix(m.URL, "http://")
	secret := filepath.Join(s.root, "login")
	if err := os.WriteFile(secret, []byte("Bearer s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := s.configured("p", fmt.Sprintf("web: {allow: [%q], headers: {%q: {Authorization: DOCS_LOGIN, X-Key: %q}, other.example.org: {Cookie: OTHER}}}\n", host, host, "file:"+secret),
		map[string]string{"DOCS_LOGIN": "Bearer s3cret", "OTHER": "biscuit"})
	j := s.create(a, CreateStore{Name: "widget", Kind: kb.KindWeb, Source: m.URL, Web: kb.Web{Headless: "never"}})
	if j.State != kb.JobCompleted {
		t.Fatalf("%+v", j)
	}
	if r := s.search(a, SearchRequest{Query: "gearbox graphite", Stores: []string{"widget"}}); len(r.Hits) == 0 || !strings.Contains(r.Hits[0].At, "/members/") {
		t.Errorf("%+v", r.Hits)
	}
	m.mu.Lock()
	for _, r := range m.got {
		if r.Header.Get("X-Key") != "Bearer s3cret" || r.Header.Get("Cookie") != "" {
			t.Errorf("%s: %v", r.URL, r.Header)
		}
	}
	m.mu.Unlock()
	info, err := a.StoreInfo(t.Context(), "widget")
	said, _ := json.Marshal([]any{info, j})
	if err != nil || strings.Contains(string(said), "s3cret") {
		t.Errorf("%s, %v", said, err)
	}
	if os.PathSeparator == '/' {
		if err := os.Chmod(secret, 0o644); err != nil {
			t.Fatal(err)
		}
		if j := s.create(a, CreateStore{Name: "open", Kind: kb.KindWeb, Source: m.URL, Web: kb.Web{MaxPages: 1}}); j.State != kb.JobFailed || !strings.Contains(j.Message, "others may read") {
			t.Errorf("%+v", j)
		}
	}
}

// What is refused is refused before there is a store, with what to do.
func TestSitesThatAreRefused(t *testing.T) {
	s := newSite(t)
	a := s.configured("p", "", nil)
	for _, tt := range []struct {
		r    CreateStore
		code kb.Code
		says string
	}{
		{CreateStore{Kind: kb.KindWeb, Source: "http://127.0.0.1/"}, kb.Denied, "web.allow"},
		{CreateStore{Kind: kb.KindWeb, Source: "http://[::1]/"}, kb.Denied, "web.allow"},
		{CreateStore{Kind: kb.KindWeb, Source: "http://10.1.2.3/"}, kb.Denied, "web.allow"},
		{CreateStore{Kind: kb.KindWeb, Source: "http://2130706433/"}, kb.Denied, "four decimal"},
		{CreateStore{Kind: kb.KindWeb, Source: "http://0x7f.1/"}, kb.Denied, "four decimal"},
		{CreateStore{Kind: kb.KindWeb, Source: "https://example.org/", Branch: "main"}, kb.Invalid, "type repo"},
		{CreateStore{Kind: kb.KindWeb, Source: "https://example.org/", Paths: []string{"a"}}, kb.Invalid, "include"},
		{CreateStore{Kind: kb.KindWeb, Source: "https://example.org/", Web: kb.Web{MaxPages: 1 << 30}}, kb.Invalid, "1000"},
		{CreateStore{Source: "npm:left-pad", Web: kb.Web{Depth: 2}}, kb.Invalid, "leave it out"},
		{CreateStore{Source: ".", Web: kb.Web{Include: []string{"a"}}}, kb.Invalid, "type web"},
		{CreateStore{Source: "https://example.org/"}, kb.Invalid, "type web"},
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
	s, m := newSite(t), newManual(t)
	a := s.configured("p", "web: {allow: [127.0.0.1]}\n", nil)
	s.write("p/.bluera/bluera-knowledge/stores.config.json", fmt.Sprintf(
		`{"version":1,"stores":[{"type":"web","name":"old","url":%q,"depth":1,"maxPages":2,"crawlInstructions":"installation"}]}`, m.URL))
	// The file is a stranger's, and the host one that the user opened for themselves.
	out, err := a.Sync(t.Context(), SyncRequest{})
	if err != nil || len(out.Untrusted) != 1 || len(out.Jobs) != 0 || len(m.got) > 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	for _, name := range []string{definitionsFile, olderFile} {
		path := filepath.Join(s.root, "p", filepath.FromSlash(name))
		if _, err := os.Stat(path); err == nil {
			if _, err := a.Trust(t.Context(), path, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	out, err = a.Sync(t.Context(), SyncRequest{})
	if err != nil || !slices.Equal(out.Created, []string{"old"}) || len(out.Jobs) != 1 {
		t.Fatalf("%+v, %v", out, err)
	}
	if j, err := a.WaitJob(t.Context(), out.Jobs[0].Job); err != nil || j.State != kb.JobCompleted {
		t.Fatalf("%+v, %v", j, err)
	}
	files, err := a.Files(t.Context(), "old", "", 0, Waiting{})
	if err != nil || files.Total != 2 {
		t.Errorf("%+v, %v", files, err)
	}
	s.create(a, CreateStore{Name: "new", Kind: kb.KindWeb, Source: m.URL, Save: true, Web: kb.Web{MaxPages: 3, Include: []string{"/v2/"}, Headless: "never"}})
	raw, err := os.ReadFile(filepath.Join(s.root, "p", ".knowledge", "stores.json"))
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"name":"new","type":"web","source":%q,"maxPages":3,"include":["/v2/"],"headless":"never"}`, m.URL+"/")
	if !strings.Contains(string(raw), want) {
		t.Errorf("%s lacks %s", raw, want)
	}
	if _, err := a.Trust(t.Context(), filepath.Join(s.root, "p", filepath.FromSlash(definitionsFile)), false); err != nil {
		t.Fatal(err)
	}
	out, err = a.Sync(t.Context(), SyncRequest{})
	slices.Sort(out.Skipped)
	if err != nil || !slices.Equal(out.Skipped, []string{"new", "old"}) {
		t.Errorf("%+v, %v", out, err)
	}
}
