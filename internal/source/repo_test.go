package source

import (
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

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
	filepath.WalkDir(dir, func(p string, d fs.DirEntry, _ error) error {
		if fi, err := d.Info(); err == nil {
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
