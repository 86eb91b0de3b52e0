package source

import (
	"context"
	"encoding/base64"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
)

// counting is a server on loopback that no request should reach.
func counting(t *testing.T) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	var seen atomic.Int64
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			seen.Add(1)
		}
	}
	srv.Start()
	t.Cleanup(srv.Close)
	return srv, &seen
}

// TestRemoteGuard names this machine and its neighbours in every spelling: none
// is dialled, and errors show neither which ports are open nor which names exist.
func TestRemoteGuard(t *testing.T) {
	needGit(t)
	open, seen := counting(t)
	port := open.Listener.Addr().(*net.TCPAddr).Port
	closedListener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := closedListener.Addr().(*net.TCPAddr).Port
	closedListener.Close()
	answers := map[string][]netip.Addr{
		"inside.test":  {netip.MustParseAddr("10.1.2.3")},
		"loop.test":    {netip.MustParseAddr("127.0.0.1")},
		"both.test":    {netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("192.168.0.9")},
		"nat64.test":   {netip.MustParseAddr("64:ff9b::a9fe:a9fe")},
		"sixtofour.te": {netip.MustParseAddr("2002:7f00:1::1")},
	}
	op := newOpener(t)
	op.Network = outbound.Policy{Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
		if a := answers[host]; a != nil {
			return a, nil
		}
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}}
	ask := func(src string) error {
		_, err := op.Open(t.Context(), repoSpec(src, kb.Ref{}))
		return err
	}
	for _, format := range []string{
		"http://127.0.0.1:PORT/x", "http://localhost:PORT/x", "http://[::ffff:127.0.0.1]:PORT/x", "https://127.0.0.1:PORT/x",
		"https://localhost:PORT/x", "https://localhost.:PORT/x", "https://a.localhost:PORT/x", "https://0.0.0.0:PORT/x",
		"https://[::1]:PORT/x", "https://[::ffff:7f00:1]:PORT/x", "https://[64:ff9b::7f00:1]:PORT/x", "https://2130706433:PORT/x",
		"https://0x7f000001:PORT/x", "https://0177.0.0.1:PORT/x", "https://127.1:PORT/x", "https://169.254.169.254/latest",
		"https://100.100.100.200/latest", "https://10.0.0.1:PORT/x", "https://[fd00::1]:PORT/x", "https://loop.test:PORT/x",
		"https://both.test:PORT/x", "https://nat64.test:PORT/x", "https://sixtofour.te:PORT/x",
		"ssh://git@127.0.0.1:PORT/x", "ssh://git@localhost:PORT/x", "ssh://git@loop.test:PORT/x", "git@127.0.0.1:x", "git@loop.test:x", "git@2130706433:x",
	} {
		one := ask(strings.Replace(format, "PORT", itoa(port), 1))
		if kb.CodeOf(one) != kb.Denied || kb.HintOf(one) == "" {
			t.Errorf("%s: %v (%s; %s)", format, one, kb.CodeOf(one), kb.HintOf(one))
		}
		other := ask(strings.Replace(format, "PORT", itoa(closed), 1))
		if one == nil || other == nil || strings.ReplaceAll(one.Error(), itoa(port), "N") != strings.ReplaceAll(other.Error(), itoa(closed), "N") {
			t.Errorf("%s tells an open port from a closed one:\n%v\n%v", format, one, other)
		}
	}
	here, gone := ask("https://inside.test/x"), ask("https://absent.test/x")
	if here == nil || gone == nil || strings.ReplaceAll(here.Error()+kb.HintOf(here), "inside", "absent") != gone.Error()+kb.HintOf(gone) || kb.CodeOf(here) != kb.CodeOf(gone) {
		t.Errorf("a name of a private network is told from none:\n%v\n%v", here, gone)
	}
	if n := seen.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

// TestRemoteRedirect serves a repository that sends its readers on to another
// port of this machine, once to go-git and once to installed git alone.
func TestRemoteRedirect(t *testing.T) {
	needGit(t)
	inside, seen := counting(t)
	for _, gitOnly := range []bool{false, true} {
		var asked atomic.Int64
		lure := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			if gitOnly && !strings.HasPrefix(r.UserAgent(), "git/2") {
				http.Error(w, "no", http.StatusInternalServerError)
				return
			}
			http.Redirect(w, r, inside.URL+r.URL.RequestURI(), http.StatusFound)
		}))
		defer lure.Close()
		op := newOpener(t)
		op.Network.Allow = []string{strings.TrimPrefix(lure.URL, "http://")}
		_, err := op.Open(t.Context(), repoSpec(lure.URL+"/x", kb.Ref{}))
		if kb.CodeOf(err) != kb.Denied || asked.Load() == 0 || seen.Load() != 0 {
			t.Errorf("git only %v: %v (%s); asked %d times, %d connections went on", gitOnly, err, kb.CodeOf(err), asked.Load(), seen.Load())
		}
	}
}

// TestPasswordsStay: a password goes to the origin that it is for, over TLS,
// and nowhere else: not in the clear, and not where that host sends its readers.
func TestPasswordsStay(t *testing.T) {
	needGit(t)
	var leaked atomic.Value
	look := func(r *http.Request) {
		if a, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Basic "); ok {
			text, _ := base64.StdEncoding.DecodeString(a)
			leaked.Store(string(text))
		}
	}
	challenge := func(w http.ResponseWriter) {
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		http.Error(w, "no", http.StatusUnauthorized)
	}
	other := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { look(r); challenge(w) }))
	defer other.Close()
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { look(r); challenge(w) }))
	defer plain.Close()
	var to string
	first := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			challenge(w)
			return
		}
		http.Redirect(w, r, to+r.URL.RequestURI(), http.StatusFound)
	}))
	defer first.Close()
	for _, c := range []struct{ src, to string }{{plain.URL + "/a", ""}, {first.URL + "/a", other.URL}, {first.URL + "/b", plain.URL}} {
		op := trusting(newOpener(t), first)
		op.Network.RootCAs.AddCert(other.Certificate())
		bundle := filepath.Join(t.TempDir(), "gitconfig")
		os.WriteFile(bundle, []byte("[http]\n\tsslVerify = false\n"), 0o600)
		t.Setenv("GIT_CONFIG_GLOBAL", bundle)
		entry := []byte("machine 127.0.0.1 login u password s3cret\n")
		os.WriteFile(os.Getenv("NETRC"), entry, 0o600)
		os.WriteFile(filepath.Join(os.Getenv("HOME"), ".netrc"), entry, 0o600) // where curl looks
		t.Setenv("TEST_TOKEN", "s3cret")
		u, err := url.Parse(c.src)
		if err != nil {
			t.Fatal(err)
		}
		op.Tokens = []Token{{Host: u.Host, Env: "TEST_TOKEN"}}
		to = c.to
		_, err = op.Open(t.Context(), repoSpec(c.src, kb.Ref{}))
		if err == nil || leaked.Load() != nil {
			t.Errorf("%s, sent on to %q: %v; the other server was told %v", c.src, c.to, err, leaked.Load())
		}
	}
}

// TestGitOfAProject: a program named git that came with a project's
// dependencies is not run, though a package manager put it first on the PATH.
func TestGitOfAProject(t *testing.T) {
	needGit(t)
	dir := t.TempDir()
	bin, mark := filepath.Join(dir, "node_modules", ".bin"), filepath.Join(dir, "mark")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	name := "git"
	if runtime.GOOS == "windows" {
		name = "git.bat"
	}
	if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho run >> "+mark+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		http.Error(w, "no", http.StatusUnauthorized)
	}))
	defer srv.Close()
	op := trusting(newOpener(t), srv)
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	if _, err := op.Open(t.Context(), repoSpec(srv.URL+"/x", kb.Ref{})); err == nil {
		t.Error("it opens")
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("the project's git was run")
	}
}
