package source

import (
	"context"
	"crypto/x509"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
)

// newOpener keeps the user's credentials out of the test.
func newOpener(t *testing.T) *Opener {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("NETRC", filepath.Join(t.TempDir(), "netrc"))
	return &Opener{ReposDir: filepath.Join(t.TempDir(), "repos"), Network: outbound.Policy{Allow: []string{"127.0.0.1"}}}
}

func repoSpec(src string, ref kb.Ref) kb.Spec {
	return kb.Spec{Kind: kb.KindRepo, Source: src, Ref: ref}
}

// mustRead opens the source, returns the text of a.txt and the version.
func mustRead(t *testing.T, o *Opener, spec kb.Spec) (string, string, []string) {
	t.Helper()
	s, err := o.Open(t.Context(), spec)
	if err != nil {
		t.Fatalf("%s: %v (%s)", spec.Ref, err, kb.HintOf(err))
	}
	defer s.Close()
	b, err := s.Read(t.Context(), kb.Entry{Path: "a.txt"})
	if err != nil {
		t.Fatal(err)
	}
	return string(b), s.Version(), s.Notes()
}

func TestRemoteRefs(t *testing.T) {
	o := newOrigin(t)
	first := o.commit("main", text("one\n"))
	second := o.commit("main", text("two\n"))
	dev := o.commit("Feature/X", text("dev\n"))
	o.head("main")
	if _, err := o.repo.CreateTag("v1", first, nil); err != nil {
		t.Fatal(err)
	}
	who := &object.Signature{Name: "t", Email: "t@example.org", When: time.Unix(1e9, 0)}
	if _, err := o.repo.CreateTag("v2", second, &git.CreateTagOptions{Tagger: who, Message: "m"}); err != nil {
		t.Fatal(err)
	}
	src, packs := o.serve(nil)
	op := newOpener(t)
	for _, c := range []struct {
		ref  kb.Ref
		text string
		hash plumbing.Hash
	}{
		{kb.Ref{}, "two\n", second},
		{kb.Ref{Type: kb.RefBranch, Name: "Feature/X"}, "dev\n", dev},
		{kb.Ref{Type: kb.RefTag, Name: "v1"}, "one\n", first},
		{kb.Ref{Type: kb.RefTag, Name: "v2"}, "two\n", second},
		{kb.Ref{Type: kb.RefCommit, Name: second.String()}, "two\n", second},
		{kb.Ref{Type: kb.RefCommit, Name: dev.String()[:9]}, "dev\n", dev},
		{kb.Ref{Type: kb.RefCommit, Name: first.String()[:7]}, "one\n", first},
	} {
		body, version, _ := mustRead(t, op, repoSpec(src, c.ref))
		if body != c.text || version != c.hash.String() {
			t.Errorf("%s: %q at %s, want %q at %s", c.ref, body, version, c.text, c.hash)
		}
		before := packs.Load()
		if again, _, _ := mustRead(t, op, repoSpec(src, c.ref)); again != c.text || packs.Load() != before {
			t.Errorf("%s: %d more packs for a ref that has not moved", c.ref, packs.Load()-before)
		}
	}
	for _, c := range []struct {
		ref  kb.Ref
		hint string
	}{
		{kb.Ref{Type: kb.RefBranch, Name: "mian"}, "main"},
		{kb.Ref{Type: kb.RefBranch, Name: "v1"}, "tag"},
		{kb.Ref{Type: kb.RefTag, Name: "v3"}, "v2"},
		{kb.Ref{Type: kb.RefCommit, Name: "deadbeef"}, "hash"},
		{kb.Ref{Type: kb.RefCommit, Name: strings.Repeat("ab", 20)}, "hash"},
	} {
		_, err := op.Open(t.Context(), repoSpec(src, c.ref))
		if kb.CodeOf(err) != kb.NotFound || !strings.Contains(kb.HintOf(err), c.hint) {
			t.Errorf("%s: %v (%s; %s)", c.ref, err, kb.CodeOf(err), kb.HintOf(err))
		}
	}
}

// TestRemoteOldCommit asks for a commit that is no tip, of a server that gives none by hash.
func TestRemoteOldCommit(t *testing.T) {
	o := newOrigin(t)
	first := o.commit("main", text("one\n"))
	o.commit("main", text("two\n"))
	o.head("main")
	src, _ := o.serve(nil)
	op := newOpener(t)
	mustRead(t, op, repoSpec(src, kb.Ref{})) // a shallow copy is there already
	body, version, notes := mustRead(t, op, repoSpec(src, kb.Ref{Type: kb.RefCommit, Name: first.String()}))
	if body != "one\n" || version != first.String() || len(notes) != 1 || !strings.Contains(notes[0], "whole history") {
		t.Errorf("%q at %s, notes %q", body, version, notes)
	}
}

// TestRemoteExactCommit is the same with a server that does, as the big hosts do.
func TestRemoteExactCommit(t *testing.T) {
	o := newOrigin(t)
	first := o.commit("main", text("one\n"))
	o.commit("main", text("two\n"))
	o.head("main")
	config := filepath.Join(o.dir, ".git", "config")
	b, _ := os.ReadFile(config)
	os.WriteFile(config, append(b, "[uploadpack]\n\tallowAnySHA1InWant = true\n\tallowReachableSHA1InWant = true\n"...), 0o644)
	src, _ := o.serve(nil)
	op := newOpener(t)
	body, _, notes := mustRead(t, op, repoSpec(src, kb.Ref{Type: kb.RefCommit, Name: first.String()}))
	if body != "one\n" || len(notes) != 0 {
		t.Errorf("%q, notes %q", body, notes)
	}
	if _, err := os.Stat(op.RepoDir(src) + fullSuffix); err == nil {
		t.Error("the whole history was fetched")
	}
}

func TestRemoteMovedRef(t *testing.T) {
	o := newOrigin(t)
	big := map[string]treeEntry{"big.txt": {text: strings.Repeat("some line of text that is the same\n", 100)}, "a.txt": {text: "0\n"}}
	o.commit("main", big)
	o.head("main")
	src, packs := o.serve(nil)
	op := newOpener(t)
	var phases []string
	ctx := kb.WithProgress(t.Context(), func(p kb.Progress) {
		if len(phases) == 0 || phases[len(phases)-1] != p.Phase {
			phases = append(phases, p.Phase)
		}
	})
	for i := range 5 {
		big["a.txt"] = treeEntry{text: strings.Repeat("x", i) + "\n"}
		want := o.commit("main", big)
		s, err := op.Open(ctx, repoSpec(src, kb.Ref{}))
		if err != nil {
			t.Fatalf("move %d: %v", i, err)
		}
		if d := cmp.Diff([]string{"a.txt", "big.txt"}, listing(t, s)); d != "" || s.Version() != want.String() {
			t.Errorf("move %d: %s%s", i, s.Version(), d)
		}
		s.Close()
	}
	if packs.Load() != 5 {
		t.Errorf("%d packs for 5 moves", packs.Load())
	}
	// A rewritten history, as by a forced push.
	o.repo.Storer.RemoveReference("refs/heads/main")
	want := o.commit("main", text("rewritten\n"))
	if body, version, _ := mustRead(t, op, repoSpec(src, kb.Ref{})); body != "rewritten\n" || version != want.String() {
		t.Errorf("after a forced push: %q at %s", body, version)
	}
	if d := cmp.Diff([]string{"clone", "fetch"}, phases); d != "" {
		t.Error(d)
	}
}

// TestRemoteFallback hides go-git's way from the server, so that only installed git gets through.
func TestRemoteFallback(t *testing.T) {
	o := newOrigin(t)
	o.commit("main", text("one\n"))
	o.head("main")
	src, _ := o.serve(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.UserAgent(), "git/2") {
				http.Error(w, "no", http.StatusForbidden)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	op := newOpener(t)
	for i := range 3 {
		want := strings.Repeat("n", i+1) + "\n"
		o.commit("main", text(want))
		body, _, notes := mustRead(t, op, repoSpec(src, kb.Ref{}))
		if body != want || len(notes) != 1 || !strings.Contains(notes[0], "installed git") {
			t.Errorf("%q, notes %q", body, notes)
		}
	}
	_, err := op.Open(t.Context(), repoSpec(src, kb.Ref{Type: kb.RefBranch, Name: "none"}))
	if kb.CodeOf(err) != kb.NotFound {
		t.Errorf("missing branch: %v", err)
	}
	op.NoGit = true
	if _, err := op.Open(t.Context(), repoSpec(src, kb.Ref{})); kb.CodeOf(err) != kb.Denied {
		t.Errorf("without git: %v", err)
	}
}

func TestRemoteCredentials(t *testing.T) {
	o := newOrigin(t)
	o.commit("main", text("private\n"))
	o.head("main")
	src, _, srv := o.serveAs(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, p, _ := r.BasicAuth(); p != "s3cret" {
				w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
				http.Error(w, "no", http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
	}, httptest.NewTLSServer)
	host := strings.TrimPrefix(src, "https://")
	host, _, _ = strings.Cut(host, "/")
	name, _, _ := strings.Cut(host, ":")

	newOpener := func(t *testing.T) *Opener { return trusting(newOpener(t), srv) }
	op := newOpener(t)
	_, err := op.Open(t.Context(), repoSpec(src, kb.Ref{}))
	if kb.CodeOf(err) != kb.Denied || kb.HintOf(err) == "" || strings.Contains(err.Error()+kb.HintOf(err), "s3cret") {
		t.Errorf("without credentials: %v (%s)", err, kb.HintOf(err))
	}
	t.Setenv("TEST_TOKEN", "s3cret")
	op.Tokens = []Token{{Host: "elsewhere.example", Env: "TEST_TOKEN"}}
	if _, err := op.Open(t.Context(), repoSpec(src, kb.Ref{})); kb.CodeOf(err) != kb.Denied {
		t.Errorf("the token of another host was used: %v", err)
	}
	op.Tokens = []Token{{Host: host, Env: "TEST_TOKEN"}}
	if body, _, _ := mustRead(t, op, repoSpec(src, kb.Ref{})); body != "private\n" {
		t.Errorf("token: %q", body)
	}
	op = newOpener(t)
	os.WriteFile(os.Getenv("NETRC"), []byte("machine "+name+" login u password s3cret\n"), 0o600)
	if body, _, _ := mustRead(t, op, repoSpec(src, kb.Ref{})); body != "private\n" {
		t.Errorf("netrc: %q", body)
	}
	op = newOpener(t)
	helper := filepath.Join(t.TempDir(), "gitconfig")
	os.WriteFile(helper, []byte("[credential]\n\thelper = \"!f() { echo username=u; echo password=s3cret; }; f\"\n"), 0o600)
	t.Setenv("GIT_CONFIG_GLOBAL", helper)
	if body, _, notes := mustRead(t, op, repoSpec(src, kb.Ref{})); body != "private\n" || len(notes) != 0 {
		t.Errorf("helper: %q, notes %q", body, notes)
	}
}

// trusting lets an opener trust the certificate of a test's server.
func trusting(o *Opener, srv *httptest.Server) *Opener {
	o.Network.RootCAs = x509.NewCertPool()
	o.Network.RootCAs.AddCert(srv.Certificate())
	return o
}

func TestRemoteErrors(t *testing.T) {
	needGit(t)
	op := newOpener(t)
	empty := newOrigin(t)
	emptySrc, _ := empty.serve(nil)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := closed.Addr().String()
	closed.Close()
	html := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("<html>hello")) }))
	defer html.Close()
	for src, code := range map[string]kb.Code{
		"https://no-such-host.invalid/x/y":                 kb.Denied, // as one on a private network: see TestRemoteGuard
		"http://" + addr + "/x":                            kb.Away,
		strings.TrimSuffix(emptySrc, "/repo") + "/nothing": kb.NotFound,
		emptySrc:        kb.NotFound,
		html.URL + "/x": kb.Away,
	} {
		_, err := op.Open(t.Context(), repoSpec(src, kb.Ref{}))
		if kb.CodeOf(err) != code || kb.HintOf(err) == "" || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v (%s; hint %q)", src, err, kb.CodeOf(err), kb.HintOf(err))
		}
		if isDir(op.RepoDir(src)) {
			t.Errorf("%s: a repository is left of what was not fetched", src)
		}
	}
}

func TestRemoteCancel(t *testing.T) {
	o := newOrigin(t)
	o.commit("main", text("one\n"))
	o.head("main")
	entered := make(chan struct{}, 10)
	quit := make(chan struct{})
	src, _ := o.serve(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			entered <- struct{}{}
			select { // a server that takes its time
			case <-r.Context().Done():
			case <-quit:
			}
		})
	})
	defer close(quit)
	op := newOpener(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := op.Open(ctx, repoSpec(src, kb.Ref{}))
		done <- err
	}()
	<-entered
	cancel()
	select {
	case err := <-done:
		if kb.CodeOf(err) != kb.Canceled {
			t.Errorf("got %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("does not end")
	}
}

func TestRemoteTwoAtOnce(t *testing.T) {
	o := newOrigin(t)
	o.commit("main", text("one\n"))
	o.commit("dev", text("dev\n"))
	o.head("main")
	src, _ := o.serve(nil)
	op := newOpener(t)
	other := &Opener{ReposDir: op.ReposDir, Network: op.Network} // another process shares nothing else
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			ref, want := kb.Ref{}, "one\n"
			if i%2 == 1 {
				ref, want = kb.Ref{Type: kb.RefBranch, Name: "dev"}, "dev\n"
			}
			s, err := []*Opener{op, other}[i/3].Open(t.Context(), repoSpec(src, ref))
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if b, err := s.Read(t.Context(), kb.Entry{Path: "a.txt"}); string(b) != want || err != nil {
				t.Errorf("%q, %v", b, err)
			}
		})
	}
	wg.Wait()
}

// TestRemoteDamagedCopy removes packs and cuts one short: the copy is fetched anew.
func TestRemoteDamagedCopy(t *testing.T) {
	o := newOrigin(t)
	o.commit("main", text("one\n"))
	o.head("main")
	src, _ := o.serve(nil)
	op := newOpener(t)
	mustRead(t, op, repoSpec(src, kb.Ref{}))
	for _, damage := range []func(string) error{os.Remove, func(n string) error { os.Chmod(n, 0o600); return os.Truncate(n, 40) }} {
		n := 0
		filepath.WalkDir(filepath.Join(op.RepoDir(src), "objects"), func(p string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				n++
				return damage(p)
			}
			return nil
		})
		if n == 0 {
			t.Fatal("nothing to damage")
		}
		if body, _, _ := mustRead(t, op, repoSpec(src, kb.Ref{})); body != "one\n" {
			t.Errorf("%q", body)
		}
	}
}
