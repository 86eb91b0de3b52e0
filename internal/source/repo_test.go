package source

import (
	"bytes"
	"context"
	"io/fs"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// origin is a repository that tests fetch from.
type origin struct {
	t    *testing.T
	dir  string
	repo *git.Repository
}

func newOrigin(t *testing.T) *origin {
	t.Helper()
	dir := writeFiles(t, nil)
	r, err := git.PlainInit(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	return &origin{t, dir, r}
}

// treeEntry is a file of a commit; mode 0 is an ordinary one.
type treeEntry struct {
	mode filemode.FileMode
	text string
}

// commit records a commit of exactly the given files on a branch and returns
// its hash. Objects are made by hand: a work tree cannot hold every name.
func (o *origin) commit(branch string, files map[string]treeEntry) plumbing.Hash {
	o.t.Helper()
	store := o.repo.Storer
	put := func(typ plumbing.ObjectType, text []byte) plumbing.Hash {
		obj := store.NewEncodedObject()
		obj.SetType(typ)
		w, _ := obj.Writer()
		w.Write(text)
		w.Close()
		h, err := store.SetEncodedObject(obj)
		if err != nil {
			o.t.Fatal(err)
		}
		return h
	}
	var build func(prefix string) plumbing.Hash
	build = func(prefix string) plumbing.Hash {
		var tree object.Tree
		seen := map[string]bool{}
		for p, e := range files {
			rest, ok := strings.CutPrefix(p, prefix)
			if !ok {
				continue
			}
			name, _, deeper := strings.Cut(rest, "/")
			if seen[name] {
				continue
			}
			seen[name] = true
			te := object.TreeEntry{Name: name, Mode: e.mode}
			switch {
			case deeper:
				te.Mode, te.Hash = filemode.Dir, build(prefix+name+"/")
			case e.mode == filemode.Submodule:
				te.Hash = plumbing.NewHash(strings.Repeat("1", 40))
			default:
				if te.Mode == 0 {
					te.Mode = filemode.Regular
				}
				te.Hash = put(plumbing.BlobObject, []byte(e.text))
			}
			tree.Entries = append(tree.Entries, te)
		}
		key := func(e object.TreeEntry) string {
			if e.Mode == filemode.Dir {
				return e.Name + "/"
			}
			return e.Name
		}
		slices.SortFunc(tree.Entries, func(a, b object.TreeEntry) int { return strings.Compare(key(a), key(b)) })
		var buf bytes.Buffer
		for _, e := range tree.Entries {
			buf.WriteString(strings.TrimLeft(e.Mode.String(), "0") + " " + e.Name + "\x00")
			buf.Write(e.Hash[:])
		}
		return put(plumbing.TreeObject, buf.Bytes())
	}
	who := object.Signature{Name: "t", Email: "t@example.org", When: time.Unix(1e9, 0)}
	c := &object.Commit{Author: who, Committer: who, Message: "m\n", TreeHash: build("")}
	name := plumbing.NewBranchReferenceName(branch)
	if ref, err := o.repo.Reference(name, true); err == nil {
		c.ParentHashes = []plumbing.Hash{ref.Hash()}
	}
	obj := store.NewEncodedObject()
	if err := c.Encode(obj); err != nil {
		o.t.Fatal(err)
	}
	h, err := store.SetEncodedObject(obj)
	if err != nil {
		o.t.Fatal(err)
	}
	if err := store.SetReference(plumbing.NewHashReference(name, h)); err != nil {
		o.t.Fatal(err)
	}
	return h
}

func (o *origin) head(branch string) {
	o.t.Helper()
	ref := plumbing.NewSymbolicReference(plumbing.HEAD, plumbing.NewBranchReferenceName(branch))
	if err := o.repo.Storer.SetReference(ref); err != nil {
		o.t.Fatal(err)
	}
}

func text(s string) map[string]treeEntry { return map[string]treeEntry{"a.txt": {text: s}} }

// serve serves the repository as BASE/repo.git over smart HTTP and returns a
// canonical URL. wrap may look at requests before git does.
func (o *origin) serve(wrap func(http.Handler) http.Handler) (string, *atomic.Int64) {
	o.t.Helper()
	needGit(o.t)
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		o.t.Skip("no git")
	}
	backend := filepath.Join(strings.TrimSpace(string(out)), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		o.t.Skip("no git http-backend")
	}
	root := o.t.TempDir()
	if err := os.Symlink(filepath.Join(o.dir, ".git"), filepath.Join(root, "repo.git")); err != nil {
		o.t.Skip(err)
	}
	var packs atomic.Int64 // requests for packs
	var h http.Handler = &cgi.Handler{
		Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
		Stderr: os.Stderr,
	}
	h = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/git-upload-pack") {
				packs.Add(1)
			}
			next.ServeHTTP(w, r)
		})
	}(h)
	if wrap != nil {
		h = wrap(h)
	}
	srv := httptest.NewServer(h)
	o.t.Cleanup(srv.Close)
	_, src, err := Canonical(o.t.Context(), "", srv.URL+"/repo.git/", "")
	if err != nil {
		o.t.Fatal(err)
	}
	return src, &packs
}

// newOpener keeps the user's credentials out of the test.
func newOpener(t *testing.T) *Opener {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("NETRC", filepath.Join(t.TempDir(), "netrc"))
	return &Opener{ReposDir: filepath.Join(t.TempDir(), "repos")}
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
	src, _ := o.serve(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, p, _ := r.BasicAuth(); p != "s3cret" {
				w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
				http.Error(w, "no", http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	host := strings.TrimPrefix(src, "http://")
	host, _, _ = strings.Cut(host, "/")
	name, _, _ := strings.Cut(host, ":")

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
		"https://no-such-host.invalid/x/y":                 kb.Away,
		"http://" + addr + "/x":                            kb.Away,
		strings.TrimSuffix(emptySrc, "/repo") + "/nothing": kb.NotFound,
		emptySrc:        kb.NotFound,
		html.URL + "/x": kb.Away,
	} {
		_, err := op.Open(t.Context(), repoSpec(src, kb.Ref{}))
		if kb.CodeOf(err) != code || kb.HintOf(err) == "" || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v (%s; hint %q)", src, err, kb.CodeOf(err), kb.HintOf(err))
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
	other := &Opener{ReposDir: op.ReposDir} // another process shares nothing else
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

// oddTree holds one of everything that is left out of a repository.
func oddTree() map[string]treeEntry {
	return map[string]treeEntry{
		".gitignore": {text: "*.txt\n"}, "tracked.txt": {text: "kept: .gitignore does not hold for what is tracked\n"},
		"a.b/x": {text: "x\n"}, "a/x": {text: "x\n"}, "a-b/x": {mode: filemode.Executable, text: "x\n"},
		"link": {mode: filemode.Symlink, text: "../../etc/passwd"}, "mod": {mode: filemode.Submodule},
		"model.bin.dat": {text: "version https://git-lfs.github.com/spec/v1\noid sha256:x\nsize 1\n"},
		"nul.dat":       {text: "a\x00b"}, "pic.png": {text: "x"}, "bad\xff": {text: "x"}, "..": {text: "x"}, ".git/config": {text: "x"},
		"vendor/x.go": {text: "x"}, "go.sum": {text: "x"}, ".env": {text: "x"}, "huge.txt": {text: strings.Repeat("a", DefaultMaxFileBytes+1)},
	}
}

func TestLocalRepository(t *testing.T) {
	o := newOrigin(t)
	want := o.commit("main", oddTree())
	o.head("main")
	before := treeListing(t, o.dir)
	_, src, err := Canonical(t.Context(), kb.KindRepo, filepath.Join(o.dir, ".git"), "")
	if err != nil || src != o.dir {
		t.Fatalf("canonical %q, %v", src, err)
	}
	s := open(t, repoSpec(src, kb.Ref{}))
	if d := cmp.Diff([]string{".gitignore", "a-b/x", "a.b/x", "a/x", "tracked.txt"}, listing(t, s)); d != "" {
		t.Error(d)
	}
	wantSkipped := map[string]int{
		reasonSymlink: 1, reasonSubmodule: 1, reasonPointer: 1, reasonBinary: 2, reasonPath: 2, reasonVendored: 1,
		reasonLockfile: 1, reasonSecret: 1, reasonTooLarge: 1,
	}
	if d := cmp.Diff(wantSkipped, s.Skipped()); d != "" {
		t.Error(d)
	}
	if s.Version() != want.String() {
		t.Errorf("version %s, want %s", s.Version(), want)
	}
	for _, p := range []string{"..", "../x", "/a/x", "link/x", "nowhere", "a"} {
		if b, err := s.Read(t.Context(), kb.Entry{Path: p}); err == nil {
			t.Errorf("Read(%q) = %q", p, b)
		}
	}
	for _, ref := range []kb.Ref{{Type: kb.RefBranch, Name: "main"}, {Type: kb.RefCommit, Name: want.String()[:8]}} {
		if v := open(t, repoSpec(src, ref)).Version(); v != want.String() {
			t.Errorf("%s: %s", ref, v)
		}
	}
	for _, ref := range []kb.Ref{{Type: kb.RefBranch, Name: "none"}, {Type: kb.RefTag, Name: "none"}, {Type: kb.RefCommit, Name: "0000000"}} {
		if _, err := (&Opener{}).Open(t.Context(), repoSpec(src, ref)); kb.CodeOf(err) != kb.NotFound || kb.HintOf(err) == "" {
			t.Errorf("%s: %v", ref, err)
		}
	}
	if d := cmp.Diff(before, treeListing(t, o.dir)); d != "" {
		t.Errorf("the repository was written to: %s", d)
	}
}

func treeListing(t *testing.T, dir string) (out []string) {
	t.Helper()
	filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		fi, err := d.Info()
		if err == nil {
			out = append(out, p+" "+fi.ModTime().String())
		}
		return nil
	})
	return out
}

// TestLocalPackedWorktreeAndBorrowed reads what installed git makes: packs
// with deltas, linked work trees, borrowed objects, extensions.
func TestLocalPackedWorktreeAndBorrowed(t *testing.T) {
	needGit(t)
	o := newOrigin(t)
	files := map[string]treeEntry{}
	for i := range 200 {
		name := "d/" + strings.Repeat("f", i%20+1) + string(rune('a'+i/20))
		files[name] = treeEntry{text: strings.Repeat("the same line in all of them\n", 50) + name + "\n"}
	}
	want := o.commit("main", files)
	o.head("main")
	run := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "safe.directory=*", "-C", dir}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	run(o.dir, "repack", "-adfq")
	linked := filepath.Join(writeFiles(t, nil), "linked")
	run(o.dir, "worktree", "add", "-q", "-b", "other", linked)
	run(o.dir, "config", "core.repositoryformatversion", "1")
	run(o.dir, "config", "extensions.worktreeConfig", "true")
	shared := filepath.Join(writeFiles(t, nil), "shared")
	run(o.dir, "clone", "-q", "--shared", "--no-checkout", o.dir, shared)
	bare := filepath.Join(writeFiles(t, nil), "bare.git")
	run(o.dir, "clone", "-q", "--bare", o.dir, bare)
	for _, dir := range []string{o.dir, linked, shared, bare} {
		_, src, err := Canonical(t.Context(), kb.KindRepo, dir, "")
		if err != nil || src != dir {
			t.Errorf("canonical of %s: %q, %v", dir, src, err)
			continue
		}
		s := open(t, repoSpec(src, kb.Ref{}))
		if s.Version() != want.String() {
			t.Errorf("%s: version %s", dir, s.Version())
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				err := s.Walk(t.Context(), func(e kb.Entry) error {
					b, err := s.Read(t.Context(), e)
					if err == nil && string(b) != files[e.Path].text {
						t.Errorf("%s: %q differs", dir, e.Path)
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := len(listing(t, s)); n != len(files) {
			t.Errorf("%s: %d files, want %d", dir, n, len(files))
		}
	}
}
