package source

import (
	"bytes"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
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
	src, packs, _ := o.serveAs(wrap, httptest.NewServer)
	return src, packs
}

// serveAs is serve with a server of the test's choice.
func (o *origin) serveAs(wrap func(http.Handler) http.Handler, start func(http.Handler) *httptest.Server) (string, *atomic.Int64, *httptest.Server) {
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
	srv := start(h)
	o.t.Cleanup(srv.Close)
	_, src, err := Canonical(o.t.Context(), "", srv.URL+"/repo.git/", "")
	if err != nil {
		o.t.Fatal(err)
	}
	return src, &packs, srv
}
