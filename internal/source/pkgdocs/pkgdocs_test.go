package pkgdocs

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/module"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
)

// registry is an npm registry and module proxy on the loopback interface.
type registry struct {
	*httptest.Server
	tarballs map[string][]byte            // "name@version"
	tags     map[string]map[string]string // by name
	zips     map[string][]byte            // "module@version"
	token    string                       // asked for, where not empty
	asked    []string
	sum      func(name string, raw []byte) string
}

func newRegistry(t *testing.T) *registry {
	r := &registry{tarballs: map[string][]byte{}, tags: map[string]map[string]string{}, zips: map[string][]byte{}}
	r.sum = func(_ string, raw []byte) string {
		s := sha512.Sum512(raw)
		return "sha512-" + base64.StdEncoding.EncodeToString(s[:])
	}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	p := strings.TrimPrefix(req.URL.Path, "/")
	r.asked = append(r.asked, p)
	if r.token != "" && req.Header.Get("Authorization") != r.token {
		http.Error(w, "who are you", http.StatusUnauthorized)
		return
	}
	if raw, ok := r.tarballs[strings.TrimSuffix(p, ".tgz")]; ok && strings.HasSuffix(p, ".tgz") {
		w.Write(raw)
		return
	}
	if m, rest, ok := strings.Cut(p, "/@"); ok {
		r.module(w, req, m, rest)
		return
	}
	versions := map[string]any{}
	for id, raw := range r.tarballs {
		i := strings.LastIndexByte(id, '@')
		if name, version := id[:i], id[i+1:]; name == p {
			versions[version] = map[string]any{"dist": map[string]any{"tarball": r.URL + "/" + id + ".tgz", "integrity": r.sum(id, raw)}}
		}
	}
	if len(versions) == 0 {
		http.NotFound(w, req)
		return
	}
	json.NewEncoder(w).Encode(map[string]any{"dist-tags": r.tags[p], "versions": versions})
}

func (r *registry) module(w http.ResponseWriter, req *http.Request, m, rest string) {
	m = strings.ReplaceAll(m, "!b", "B") // the only capital here
	switch {
	case rest == "v/list":
		for _, id := range slices.Sorted(maps.Keys(r.zips)) {
			if name, v, _ := strings.Cut(id, "@"); name == m {
				fmt.Fprintln(w, v)
			}
		}
		return
	case strings.HasSuffix(rest, ".info"):
		v := strings.TrimSuffix(strings.TrimPrefix(rest, "v/"), ".info")
		if v == "main" {
			v = "v0.3.0"
		}
		if r.zips[m+"@"+v] != nil {
			fmt.Fprintf(w, `{"Version":%q}`, v)
			return
		}
	case strings.HasSuffix(rest, ".zip"):
		if raw := r.zips[m+"@"+strings.TrimSuffix(strings.TrimPrefix(rest, "v/"), ".zip")]; raw != nil {
			w.Write(raw)
			return
		}
	}
	http.NotFound(w, req)
}

func tgz(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(files[name]))}); err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(files[name]))
	}
	w.Close()
	z.Close()
	return b.Bytes()
}

func modZip(t *testing.T, prefix string, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := w.Create(prefix + name)
		if err != nil {
			t.Fatal(err)
		}
		f.Write([]byte(files[name]))
	}
	w.Close()
	return b.Bytes()
}

// fetch gets a package into a new folder and returns its documents.
func fetch(t *testing.T, c Config) (Result, map[string]string, error) {
	t.Helper()
	kept, err := pages.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	res, err := Fetch(t.Context(), c, kept)
	return res, documents(t, kept), err
}

func documents(t *testing.T, kept *pages.Store) map[string]string {
	t.Helper()
	out := map[string]string{}
	for v := range kept.All() {
		body, err := kept.Body(v)
		if err != nil {
			t.Fatal(err)
		}
		out[v.Path] = string(body)
	}
	return out
}

func env(t *testing.T, pairs ...string) (func(string) string, string) {
	m := map[string]string{"HOME": t.TempDir()}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(k string) string { return m[k] }, m["HOME"]
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestNPM(t *testing.T) {
	r := newRegistry(t)
	r.tarballs["thing@1.2.3"] = tgz(t, map[string]string{
		"package/README.md": "# thing", "package/index.d.ts": "export declare const a: 1;", "package/index.d.mts": "export declare const a: 1",
		"package/index.js": "x", "package/package.json": "{}", "package/docs/use.md": "# Use", "package/CHANGELOG.md": "# 1", "package/LICENSE.md": "MIT",
		"package/node_modules/x/README.md": "# x", "package/../../evil.md": "# evil", "package/test/../up.md": "# up",
	})
	r.tarballs["thing@2.0.0-beta.1"] = tgz(t, map[string]string{"package/README.md": "# beta"})
	r.tags["thing"] = map[string]string{"latest": "1.2.3", "next": "2.0.0-beta.1"}
	r.tarballs["bare@4.5.0"] = tgz(t, map[string]string{"bare/readme": "bare", "bare/index.js": "x"})
	r.tags["bare"] = map[string]string{"latest": "4.5.0"}
	r.tarballs["@types/bare@4.1.0"] = tgz(t, map[string]string{"bare/index.d.ts": "declare function bare(): void;"})
	r.tarballs["@types/bare@5.0.0"] = tgz(t, map[string]string{"bare/index.d.ts": "declare function later(): void;"})
	r.tags["@types/bare"] = map[string]string{"latest": "5.0.0"}
	get, _ := env(t, "npm_config_registry", r.URL+"/")
	for _, tt := range []struct {
		name, version, want string
		docs                map[string]string
	}{
		{"thing", "", "1.2.3", map[string]string{"README.md": "# thing", "index.d.ts": "export declare const a: 1;", "package.json": "{}", "docs/use.md": "# Use"}},
		{"thing", "next", "2.0.0-beta.1", map[string]string{"README.md": "# beta"}},
		{"bare", "4", "4.5.0", map[string]string{"readme": "bare", "@types/bare/index.d.ts": "declare function bare(): void;"}},
	} {
		res, docs, err := fetch(t, Config{Registry: "npm", Name: tt.name, Version: tt.version, Env: get})
		if err != nil || res.Version != tt.want || res.Documents != len(tt.docs) {
			t.Errorf("%s@%s: %+v, %v", tt.name, tt.version, res, err)
		}
		if diff := cmp.Diff(tt.docs, docs); diff != "" {
			t.Errorf("%s@%s: %s", tt.name, tt.version, diff)
		}
	}
	for _, tt := range []struct {
		name, version string
		code          kb.Code
		says          string
	}{
		{"thing", "9", kb.NotFound, "the latest is 1.2.3"},
		{"nothing", "", kb.NotFound, "check the name"},
	} {
		_, docs, err := fetch(t, Config{Registry: "npm", Name: tt.name, Version: tt.version, Env: get})
		if kb.CodeOf(err) != tt.code || !strings.Contains(kb.HintOf(err), tt.says) || len(docs) > 0 {
			t.Errorf("%s@%s: %v / %s", tt.name, tt.version, err, kb.HintOf(err))
		}
	}
}

// A second look at an unchanged version fetches no archive; another version
// takes the place of the first, whole.
func TestSameVersion(t *testing.T) {
	r := newRegistry(t)
	r.tarballs["thing@1.0.0"] = tgz(t, map[string]string{"package/README.md": "one", "package/a.d.ts": "declare const a: 1;"})
	r.tags["thing"] = map[string]string{"latest": "1.0.0"}
	get, _ := env(t, "npm_config_registry", r.URL)
	kept, err := pages.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	c := Config{Registry: "npm", Name: "thing", Env: get}
	look := func(unchanged bool, archives int, want map[string]string) {
		t.Helper()
		r.asked = nil
		res, err := Fetch(t.Context(), c, kept)
		n := 0
		for _, p := range r.asked {
			if strings.HasSuffix(p, ".tgz") {
				n++
			}
		}
		if err != nil || res.Unchanged != unchanged || n != archives || res.Documents != len(want) {
			t.Errorf("%+v, %v; asked for %q", res, err, r.asked)
		}
		if diff := cmp.Diff(want, documents(t, kept)); diff != "" {
			t.Error(diff)
		}
	}
	first := map[string]string{"README.md": "one", "a.d.ts": "declare const a: 1;"}
	look(false, 1, first)
	look(true, 0, first)
	c.Force = true
	look(false, 1, first)
	c.Force = false
	r.tarballs["thing@1.1.0"] = tgz(t, map[string]string{"package/README.md": "two", "package/b.d.ts": "declare const b: 2;"})
	r.tags["thing"]["latest"] = "1.1.0"
	look(false, 1, map[string]string{"README.md": "two", "b.d.ts": "declare const b: 2;"})
}

// What is not what the registry promised is not taken.
func TestBrokenArchives(t *testing.T) {
	r := newRegistry(t)
	r.tags["thing"] = map[string]string{"latest": "1.0.0"}
	get, _ := env(t, "npm_config_registry", r.URL)
	whole := tgz(t, map[string]string{"package/README.md": strings.Repeat("text ", 1000)})
	honest := r.sum
	for name, set := range map[string]func(){
		"another checksum": func() { r.sum = func(string, []byte) string { return "sha512-AAAA" } },
		"cut off":          func() { r.tarballs["thing@1.0.0"] = whole[:len(whole)/2] },
		"no archive":       func() { r.tarballs["thing@1.0.0"] = []byte("hello") },
	} {
		r.sum, r.tarballs["thing@1.0.0"] = honest, whole
		set()
		_, docs, err := fetch(t, Config{Registry: "npm", Name: "thing", Env: get})
		if kb.CodeOf(err) != kb.Corrupt || kb.HintOf(err) == "" || len(docs) > 0 {
			t.Errorf("%s: %v, %v", name, err, docs)
		}
	}
}

// A scope's own registry, its token and a variable in ~/.npmrc are used, and
// the token goes nowhere else.
func TestSettingsOfNPM(t *testing.T) {
	public, private := newRegistry(t), newRegistry(t)
	public.tarballs["thing@1.0.0"] = tgz(t, map[string]string{"package/README.md": "public"})
	public.tags["thing"] = map[string]string{"latest": "1.0.0"}
	private.tarballs["@corp/thing@1.0.0"] = tgz(t, map[string]string{"package/README.md": "private"})
	private.tags["@corp/thing"] = map[string]string{"latest": "1.0.0"}
	private.token = "Bearer s3cret"
	get, home := env(t, "CORP_TOKEN", "s3cret")
	host := strings.TrimPrefix(private.URL, "http:")
	write(t, filepath.Join(home, ".npmrc"), "; mine\nregistry="+public.URL+"\n@corp:registry="+private.URL+"/\n"+host+"/:_authToken=${CORP_TOKEN}\n")
	_, docs, err := fetch(t, Config{Registry: "npm", Name: "@corp/thing", Env: get})
	if err != nil || docs["README.md"] != "private" {
		t.Error(docs, err)
	}
	if _, docs, err = fetch(t, Config{Registry: "npm", Name: "thing", Env: get}); err != nil || docs["README.md"] != "public" {
		t.Error(docs, err)
	}
	if n := Needs("npm", get); !slices.Equal(n, []string{"CORP_TOKEN"}) {
		t.Errorf("needs %q", n)
	}
	without, _ := env(t, "NPM_CONFIG_USERCONFIG", filepath.Join(home, ".npmrc"))
	_, _, err = fetch(t, Config{Registry: "npm", Name: "@corp/thing", Env: without})
	if kb.CodeOf(err) != kb.Denied || !strings.Contains(kb.HintOf(err), "npm login") || strings.Contains(fmt.Sprint(err), "s3cret") {
		t.Errorf("%v / %s", err, kb.HintOf(err))
	}
}

// A registry that the user did not name is judged as any other address.
func TestRegistriesAreGuarded(t *testing.T) {
	inside := newRegistry(t)
	inside.tarballs["thing@1.0.0"] = tgz(t, map[string]string{"package/README.md": "inside"})
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		// An archive on another port of this machine, which is not allowed.
		fmt.Fprintf(w, `{"dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"dist":{"tarball":%q}}}}`, inside.URL+"/thing@1.0.0.tgz")
	}))
	defer outside.Close()
	get, _ := env(t, "npm_config_registry", outside.URL)
	_, _, err := fetch(t, Config{Registry: "npm", Name: "thing", Env: get, Policy: outbound.Policy{AllowHint: "name it in web.allow"}})
	if kb.CodeOf(err) != kb.Denied || len(inside.asked) > 0 || !strings.Contains(kb.HintOf(err), "web.allow") {
		t.Errorf("%v; asked %q", err, inside.asked)
	}
}

func TestGo(t *testing.T) {
	r := newRegistry(t)
	for _, v := range []string{"v0.2.0", "v0.3.0", "v1.0.0", "v1.4.0", "v1.10.0", "v1.11.0-rc.1"} {
		r.zips["example.com/Burnt/thing@"+v] = modZip(t, "example.com/Burnt/thing@"+v+"/", map[string]string{
			"go.mod": "module example.com/Burnt/thing\n", "README.md": v, "thing.go": "package thing\n", "thing_test.go": "package thing\n",
			"example_test.go": "package thing_test\n", "internal/x/x.go": "package x\n", "vendor/y/y.go": "package y\n", "sub/sub.go": "package sub\n", "LICENSE": "MIT",
		})
	}
	docs := func(v string) map[string]string {
		return map[string]string{"go.mod": "module example.com/Burnt/thing\n", "README.md": v, "thing.go": "package thing\n",
			"example_test.go": "package thing_test\n", "sub/sub.go": "package sub\n"}
	}
	get, _ := env(t, "GOPROXY", r.URL+"/,direct", "GOENV", "off")
	for asked, want := range map[string]string{"": "v1.10.0", "latest": "v1.10.0", "v1": "v1.10.0", "v1.4": "v1.4.0", "1.4.0": "v1.4.0", "v1.11.0-rc.1": "v1.11.0-rc.1", "v0": "v0.3.0", "main": "v0.3.0", "~v1.3": "", "^v1.2": "v1.10.0"} {
		res, got, err := fetch(t, Config{Registry: "go", Name: "example.com/Burnt/thing", Version: asked, Env: get})
		if want == "" {
			if kb.CodeOf(err) != kb.NotFound || kb.HintOf(err) == "" {
				t.Errorf("%q: %+v, %v", asked, res, err)
			}
			continue
		}
		if err != nil || res.Version != want {
			t.Errorf("%q: %+v, %v; want %s", asked, res, err, want)
			continue
		}
		if diff := cmp.Diff(docs(want), got); diff != "" {
			t.Errorf("%q: %s", asked, diff)
		}
	}
	_, _, err := fetch(t, Config{Registry: "go", Name: "example.com/Burnt/thing", Version: "v5", Env: get})
	if kb.CodeOf(err) != kb.NotFound || !strings.Contains(kb.HintOf(err), "example.com/Burnt/thing/v5") {
		t.Errorf("%v / %s", err, kb.HintOf(err))
	}
}

// GOPROXY is a list: commas go on when a module is not there, bars whatever
// was wrong; direct and off end it.
func TestSettingsOfGo(t *testing.T) {
	empty, full := newRegistry(t), newRegistry(t)
	full.zips["example.com/m@v1.0.0"] = modZip(t, "example.com/m@v1.0.0/", map[string]string{"go.mod": "module example.com/m\n", "m.go": "package m\n"})
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "broken", http.StatusInternalServerError) }))
	defer broken.Close()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "example.com", "m", "@v", "list"), "v1.0.0\n")
	if err := os.WriteFile(filepath.Join(folder, "example.com", "m", "@v", "v1.0.0.zip"), full.zips["example.com/m@v1.0.0"], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		proxy, private string
		code           kb.Code
		says           string
	}{
		{empty.URL + "," + full.URL, "", "", ""},
		{broken.URL + "|" + full.URL, "", "", ""},
		{broken.URL + "," + full.URL, "", kb.Away, ""},
		{"file://" + filepath.ToSlash(folder), "", "", ""},
		{strings.Replace(full.URL, "http://", "http://me:pass@", 1), "", "", ""},
		{"off", "", kb.Denied, "go env -w"},
		{"direct", "", kb.Unsupported, "https://example.com/m"},
		{full.URL, "example.com", kb.Unsupported, "https://example.com/m"},
		{",", "", kb.Denied, "GOPROXY"},
	} {
		get, home := env(t)
		write(t, filepath.Join(home, "goenv"), "GOPROXY="+tt.proxy+"\nGOPRIVATE="+tt.private+"\n")
		inner := get
		get = func(k string) string {
			if k == "GOENV" {
				return filepath.Join(home, "goenv")
			}
			return inner(k)
		}
		_, docs, err := fetch(t, Config{Registry: "go", Name: "example.com/m", Env: get})
		if tt.code == "" && (err != nil || len(docs) != 2) || tt.code != "" && (kb.CodeOf(err) != tt.code || !strings.Contains(kb.HintOf(err), tt.says)) {
			t.Errorf("%q: %v, %v (%s)", tt.proxy, docs, err, kb.HintOf(err))
		}
	}
}

func TestGoZipRules(t *testing.T) {
	r := newRegistry(t)
	get, _ := env(t, "GOPROXY", r.URL, "GOENV", "off")
	for name, files := range map[string]map[string]string{
		"another prefix": {"../other/go.mod": "module x\n"},
		"twice by case":  {"A.go": "package a\n", "a.go": "package a\n"},
		"a way out":      {"../../evil.go": "package evil\n"},
	} {
		r.zips["example.com/m@v1.0.0"] = modZip(t, "example.com/m@v1.0.0/", files)
		_, docs, err := fetch(t, Config{Registry: "go", Name: "example.com/m", Version: "v1.0.0", Env: get})
		if kb.CodeOf(err) != kb.Corrupt || len(docs) > 0 {
			t.Errorf("%s: %v, %v", name, docs, err)
		}
	}
}

func TestNetrc(t *testing.T) {
	r := newRegistry(t)
	r.token = basic("me", "pa55")
	r.zips["example.com/m@v1.0.0"] = modZip(t, "example.com/m@v1.0.0/", map[string]string{"go.mod": "module example.com/m\n"})
	get, home := env(t, "GOPROXY", r.URL, "GOENV", "off")
	write(t, filepath.Join(home, ".netrc"), "machine other login you password x\nmachine 127.0.0.1\n  login me\n  password pa55\n")
	if _, docs, err := fetch(t, Config{Registry: "go", Name: "example.com/m", Env: get, home: home}); err != nil || len(docs) != 1 {
		t.Error(docs, err)
	}
}

func TestChoose(t *testing.T) {
	versions := []string{"0.1.0", "0.1.9", "0.2.0", "1.0.0", "1.2.0", "1.2.9", "1.10.0", "2.0.0-rc.1", "2.0.0", "3.0.0-beta.2"}
	tags := map[string]string{"latest": "2.0.0", "legacy": "1.2.9"}
	for asked, want := range map[string]string{
		"": "2.0.0", "latest": "2.0.0", "legacy": "1.2.9", "1": "1.10.0", "1.2": "1.2.9", "1.x": "1.10.0", "v1": "1.10.0", "^1.2.1": "1.10.0", "~1.2.1": "1.2.9", "~1": "1.10.0",
		"1.2.0": "1.2.0", "3.0.0-beta.2": "3.0.0-beta.2", "3": "", "2": "2.0.0", "^0.1.1": "0.1.9", "0": "0.2.0", "9": "", "nonsense": "", "1.2.3": "",
	} {
		if got := choose(asked, tags, slices.Values(versions)); got != want {
			t.Errorf("%q: %q, want %q", asked, got, want)
		}
	}
}

func FuzzUnpackGo(f *testing.F) {
	f.Add([]byte("PK"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var b bundle
		_ = unpackGo(t.Context(), moduleM, raw, &b)
		for _, d := range b.docs {
			if safePath(d.path) != d.path {
				t.Errorf("took %q", d.path)
			}
		}
	})
}

// Names in the guard are those of the settings alone.
func TestHosts(t *testing.T) {
	get, _ := env(t, "GOPROXY", "https://proxy.example.org:8443,direct", "GOENV", "off")
	s := goSettings(&Config{Env: get})
	if !slices.Equal(s.hosts, []string{"proxy.example.org:8443"}) {
		t.Errorf("%q", s.hosts)
	}
	c, err := outbound.New(outbound.Policy{Allow: s.hosts})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

var moduleM = module.Version{Path: "example.com/m", Version: "v1.0.0"}
