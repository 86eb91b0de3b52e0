package restapi_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
)

// TestSparing: what a service says of its limits is kept to, in whichever way it
// says it, and a request with a key of its own may be sent again.
func TestSparing(t *testing.T) {
	var answer func(w http.ResponseWriter, r *http.Request)
	var keys []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		answer(w, r)
	}))
	defer s.Close()
	b := newBench(t, "apis:\n  - code: p\n    baseUrl: "+s.URL+"\n    allowHosts: ['"+strings.TrimPrefix(s.URL, "http://")+"']\n    tools:\n"+
		"      - {code: get, endpointPath: /g}\n      - {code: post, httpMethod: POST, endpointPath: /p}\n"+
		"      - {code: pay, httpMethod: POST, endpointPath: /p, parameters: [{name: Idempotency-Key, in: header, required: true}]}\n")
	for _, tc := range []struct {
		tool   string
		status int
		head   map[string]string
		sent   int
		hint   string
	}{
		{"get", 429, map[string]string{"Retry-After": "3"}, 4, "try again in 3s"},
		{"get", 429, map[string]string{"Retry-After": "3600"}, 1, "try again in 1h0m0s"},
		{"get", 429, map[string]string{"Retry-After": time.Now().Add(2 * time.Hour).UTC().Format(http.TimeFormat)}, 1, "try again in "},
		{"get", 403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": fmt.Sprint(time.Now().Unix() + 600)}, 1, "try again in "},
		{"get", 403, nil, 1, "does not allow this"},
		{"get", 503, nil, 4, "try again later"},
		{"post", 503, nil, 1, "try again later"},
		{"pay", 503, nil, 4, "try again later"},
		{"pay", 400, nil, 1, "check the arguments"},
	} {
		keys = nil
		answer = func(w http.ResponseWriter, r *http.Request) {
			for k, v := range tc.head {
				w.Header().Set(k, v)
			}
			w.WriteHeader(tc.status)
		}
		_, err := b.call(tc.tool, "")
		if err == nil || len(keys) != tc.sent || !strings.Contains(kb.HintOf(err), tc.hint) {
			t.Errorf("%s %d %v: sent %d, %v (%s)", tc.tool, tc.status, tc.head, len(keys), err, kb.HintOf(err))
		}
		for _, k := range keys {
			if (k == "") == (tc.tool == "pay") || k != keys[0] {
				t.Errorf("%s: keys %q", tc.tool, keys)
			}
		}
	}
}

// TestClientCertificate: a service that asks for the client's certificate is shown
// it, and one that is missing is said before anything is sent.
func TestClientCertificate(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"certificates":%d}`, len(r.TLS.PeerCertificates))
	}))
	s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12}
	s.Config.ErrorLog = nil
	s.StartTLS()
	defer s.Close()
	own := s.TLS.Certificates[0] // one is as good as another
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, keyFile := write("c.pem", "CERTIFICATE", own.Certificate[0]), write("k.pem", "PRIVATE KEY", key)
	host := strings.TrimPrefix(s.URL, "https://")
	define := func(more string) *bench {
		return newBench(t, "apis:\n  - code: m\n    baseUrl: "+s.URL+"\n    allowHosts: ['"+host+"']\n    authenticationType: MUTUAL_TLS\n"+more+"    tools: [{code: get, endpointPath: /g}]\n")
	}
	if _, err := define("").call("get", ""); kb.CodeOf(err) != kb.Denied || !strings.Contains(kb.HintOf(err), "clientCertificate") {
		t.Error(err)
	}
	b := define("    clientCertificate: " + cert + "\n    clientKey: " + keyFile + "\n")
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	p := b.file.Providers[0]
	pair, err := tls.LoadX509KeyPair(p.CertFile, p.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	c, err := outbound.New(outbound.Policy{Allow: p.AllowHosts, RootCAs: roots, Certificates: []tls.Certificate{pair}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	b.caller.Client = func(*restapi.Provider) (restapi.Client, error) { return c, nil }
	if r, err := b.call("get", ""); err != nil || string(r.JSON) != `{"certificates":1}` {
		t.Errorf("%+v %v", r, err)
	}
}

// TestFilesStayInTheirFolder: a file is sent from the folders that the user allows,
// whatever way leads out of them.
func TestFilesStayInTheirFolder(t *testing.T) {
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got = append(got, string(b))
	}))
	defer s.Close()
	dir := t.TempDir()
	for name, text := range map[string]string{"open/a.txt": "mine", "open/sub/b.txt": "below", "secret.txt": "no"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	links := os.Symlink("../secret.txt", filepath.Join(dir, "open", "link")) == nil
	b := newBench(t, "apis:\n  - code: f\n    baseUrl: "+s.URL+"\n    allowHosts: ['"+strings.TrimPrefix(s.URL, "http://")+"']\n    allowFiles: ['"+filepath.Join(dir, "open")+"']\n"+
		"    tools: [{code: put, httpMethod: PUT, endpointPath: /f, bodyMedia: application/octet-stream, parameters: [{name: body, type: FILE, in: payload}]}]\n")
	send := func(path string) error {
		arg, err := json.Marshal(map[string]any{"body": map[string]string{"path": path}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.call("put", string(arg))
		return err
	}
	for _, ok := range []string{"a.txt", "sub/b.txt", filepath.Join(dir, "open", "a.txt")} {
		if err := send(ok); err != nil {
			t.Errorf("%s: %v", ok, err)
		}
	}
	bad := []string{"../secret.txt", "sub/../../secret.txt", filepath.Join(dir, "secret.txt"), "/etc/passwd", "sub", "none", "", "."}
	if links {
		bad = append(bad, "link")
	}
	for _, path := range bad {
		if err := send(path); kb.CodeOf(err) != kb.Denied || strings.Contains(fmt.Sprint(err), "no such") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if fmt.Sprint(got) != "[mine below mine]" {
		t.Error(got)
	}
}
