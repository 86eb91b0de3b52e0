package producttest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// Site is a machine: a data directory and folders on it.
type Site struct {
	*testing.T
	Data, Root string
}

func NewSite(t *testing.T) *Site {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &Site{T: t, Data: filepath.Join(root, "data"), Root: root}
}

func (s *Site) Write(path, body string) {
	s.Helper()
	p := filepath.Join(s.Root, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(body), 0o644); err != nil {
		s.Fatal(err)
	}
}

// In returns an App as a process started in dir has it; project makes dir one.
func (s *Site) In(dir string, project bool) *app.App {
	s.Helper()
	dir = filepath.Join(s.Root, dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.Fatal(err)
	}
	cfg := app.Config{DataDir: s.Data, Dir: dir, Env: func(string) string { return "" }}
	if project {
		cfg.Project = dir
	}
	a, err := product.New(cfg)
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

func (s *Site) Create(a *app.App, r app.CreateStore) kb.Job {
	s.Helper()
	st, err := a.CreateStore(s.Context(), r)
	if err != nil {
		s.Fatal(err)
	}
	j, err := a.WaitJob(s.Context(), st.Job)
	if err != nil {
		s.Fatal(err)
	}
	return j
}

func (s *Site) Search(a *app.App, r search.Request, scope app.Scope) find.SearchReply {
	s.Helper()
	scope.Wait = time.Minute
	reply, err := find.Search(s.Context(), a, r, scope)
	if err != nil {
		s.Fatal(err)
	}
	return reply
}

const Parser = `package conf

// ParseDuration reads a length of time such as 90s.
func ParseDuration(s string) (int, error) {
	if s == "" {
		return 0, errEmpty
	}
	return atoi(s)
}
`

func MustInfo(t *testing.T, a *app.App, store string) app.StoreInfo {
	t.Helper()
	i, err := a.StoreInfo(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// Configured returns an App of a user with a configuration file and variables.
func (s *Site) Configured(dir, yaml string, env map[string]string) *app.App {
	s.Helper()
	path := filepath.Join(s.Root, "config.yaml")
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		s.Fatal(err)
	}
	dir = filepath.Join(s.Root, dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.Fatal(err)
	}
	a, err := product.New(app.Config{DataDir: s.Data, Dir: dir, Project: dir, Env: func(k string) string {
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

// Eventually waits for what takes other processes or goroutines a while.
func Eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatal("it never happened that " + what)
}

// Handbook makes a store of a few documents.
func Handbook(t *testing.T) (*Site, *app.App) {
	s := NewSite(t)
	s.Write("docs/limits.md", "# Limits\n\nFiles over one mebibyte are left out of the index. The limit is set with the key maxFileBytes in the configuration.\n\n## maxFileBytes\n\n- default: 1048576\n")
	s.Write("docs/stores.md", "# Stores\n\nA store is deleted with the command drop. Its index goes when nobody holds the store any more.\n\nA store is created with the command make.\n")
	s.Write("docs/removal.md", "# Removal\n\nTo delete a store, open the panel and press the red button.\n")
	s.Write("docs/evil.md", "# Colours\n\nThe colour of the <script>alert(1)</script> banner is [blue](javascript:alert(2)) by <img src=x onerror=alert(3)> default.\n")
	a := s.In("p", false)
	if j := s.Create(a, app.CreateStore{Name: "handbook", Kind: kb.KindFolder, Source: filepath.Join(s.Root, "docs"), User: true}); j.State != kb.JobCompleted {
		t.Fatal(j)
	}
	return s, a
}

// manual is a site of two versions of one documentation.
type manual struct {
	*httptest.Server
	Mu    sync.Mutex
	pages map[string]string // by path
	Got   []*http.Request
	Auth  string // that pages below /members/ ask for
}

func NewManual(t *testing.T) *manual {
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
		m.Mu.Lock()
		defer m.Mu.Unlock()
		m.Got = append(m.Got, r)
		page, ok := m.pages[r.URL.Path]
		switch {
		case !ok:
			http.NotFound(w, r)
		case m.Auth != "" && strings.HasPrefix(r.URL.Path, "/members/") && r.Header.Get("Authorization") != m.Auth:
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

// MustOpen returns what an App works with.
func MustOpen(t *testing.T, a *app.App) *app.Core {
	t.Helper()
	c, err := a.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}
