package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
)

// TestBuilt: what is served was made of the sources as they are, and every file
// of it is what was made.
func TestBuilt(t *testing.T) {
	const again = "build it again: cd internal/face/page && npm ci && npm run build"
	raw, err := os.ReadFile("built/SOURCES")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		text, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			t.Errorf("%v; %s", err, again)
			continue
		}
		listed[name] = true
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) // git may have checked it out so
		if fmt.Sprintf("%x", sha256.Sum256(text)) != sum {
			t.Errorf("%s is not what built was made of; %s", name, again)
		}
	}
	for _, dir := range []string{"src", "built"} {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			name = filepath.ToSlash(name)
			if err == nil && !d.IsDir() && name != "built/SOURCES" && !listed[name] {
				t.Errorf("%s is not listed in built/SOURCES; %s", name, again)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"build.mjs", "package.json", "package-lock.json", "src/index.html"} {
		if !listed[name] {
			t.Errorf("built/SOURCES does not say of which %s built was made", name)
		}
	}
}

// serve answers one request as the server at 127.0.0.1:7390 does.
func serve(t *testing.T, target string, header ...string) *http.Response {
	t.Helper()
	mux := http.NewServeMux()
	for pattern, h := range Handlers(&httpguard.Guard{Bound: "127.0.0.1:7390", Secret: "secret"}) {
		mux.Handle(pattern, h)
	}
	r := httptest.NewRequest("GET", "http://127.0.0.1:7390"+target, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestDocument: every address of a view gets the one document, without the
// token, and names only files that are there.
func TestDocument(t *testing.T) {
	document := body(t, serve(t, "/"))
	for _, target := range []string{"/search?q=x", "/read/store/dir/file.go", "/read/store/%3Cscript%3E", "/at/k3vq7m2xabc", "/stores", "/jobs/abc"} {
		if r := serve(t, target); r.StatusCode != 200 || body(t, r) != document {
			t.Errorf("%s: %s", target, r.Status)
		}
	}
	named := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(document, -1)
	if len(named) < 3 {
		t.Fatalf("the document names %v", named)
	}
	for _, m := range named {
		r := serve(t, m[1])
		if r.StatusCode != 200 || !strings.HasPrefix(m[1], "/assets/") {
			t.Errorf("%s: %s", m[1], r.Status)
		}
	}
	for _, target := range []string{"/assets/", "/assets/SOURCES", "/assets/index.html", "/built/index.html", "/assets/..%2fpage.go"} {
		if r := serve(t, target); r.StatusCode == 200 {
			t.Errorf("%s is served", target)
		}
	}
	if r := serve(t, "/", "Host", "evil.example"); r.StatusCode != http.StatusForbidden {
		t.Errorf("a name that was rebound: %s", r.Status)
	}
}

// TestPolicy: what is served may load nothing from outside, and makes no HTML
// of strings.
func TestPolicy(t *testing.T) {
	for _, target := range []string{"/", "/read/a/b", asset(t, "main-", ".js"), asset(t, "worker-", ".js")} {
		got := serve(t, target).Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self';", "style-src 'self';", "connect-src 'self';", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: the policy lacks %s: %s", target, want, got)
			}
		}
		if strings.Contains(got, "unsafe") || strings.Contains(got, "http") || strings.Contains(got, "*") || strings.Contains(got, "data:") {
			t.Errorf("%s: the policy is loose: %s", target, got)
		}
	}
	outside := regexp.MustCompile(`(?:https?:)?//[a-z0-9-]+(?:\.[a-z0-9-]+)+`)
	known := []string{"http://www.w3.org", "http://127.0.0.1", "http://localhost", "https://www.w3.org"}
	err := fs.WalkDir(built, "built", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(name, "/worker-") { // grammars name addresses in code
			return err
		}
		text, err := built.ReadFile(name)
		for _, url := range outside.FindAllString(string(text), -1) {
			if !slices.Contains(known, url) {
				t.Errorf("%s names %s", name, url)
			}
		}
		for _, word := range []string{"innerHTML=", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "srcdoc"} {
			if strings.Contains(string(text), word) && !(word == "innerHTML=" && strings.Contains(name, "chunk-")) {
				t.Errorf("%s holds %s", name, word)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestAssets: files whose names change with them are kept by browsers, the
// document is not; what is sent compressed is the same.
func TestAssets(t *testing.T) {
	main := asset(t, "main-", ".js")
	plain := serve(t, main)
	if got := plain.Header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
		t.Errorf("Cache-Control: %q", got)
	}
	if got := plain.Header.Get("Content-Type"); !strings.HasPrefix(got, "text/javascript") {
		t.Errorf("Content-Type: %q", got)
	}
	if got := serve(t, "/").Header.Get("Cache-Control"); strings.Contains(got, "immutable") {
		t.Errorf("the document is kept: %q", got)
	}
	packed := serve(t, main, "Accept-Encoding", "gzip, br")
	z, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := io.ReadAll(z)
	if err != nil || string(unpacked) != body(t, plain) {
		t.Errorf("what is sent compressed is something else: %v", err)
	}
}

// TestWeight: the first view, with code in colours, is at most 120 kB on the wire.
func TestWeight(t *testing.T) {
	document := body(t, serve(t, "/"))
	files := []string{"/", asset(t, "worker-", ".js")}
	for _, m := range regexp.MustCompile(`"(/assets/[^"]*)"`).FindAllStringSubmatch(document, -1) {
		files = append(files, m[1])
	}
	total := 0
	for _, f := range files {
		total += len(body(t, serve(t, f, "Accept-Encoding", "gzip")))
	}
	if total > 120_000 {
		t.Errorf("the first view is %d bytes", total)
	}
}

// asset is the address of the one file whose name begins and ends so.
func asset(t *testing.T, prefix, suffix string) string {
	t.Helper()
	found, err := fs.Glob(built, "built/"+prefix+"*"+suffix)
	if err != nil || len(found) != 1 {
		t.Fatalf("%v %v", found, err)
	}
	return "/assets/" + strings.TrimPrefix(found[0], "built/")
}
