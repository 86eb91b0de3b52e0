package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// strangers are files of somebody who has folders of the program's names.
var strangers = []string{
	"jobs/cv.txt", "main.go", "segments/s.seg", "views/a.view", "generations/x.gen", "hooks/pre.sh", "repos/mine/HEAD",
	"replies/index.html", "web/abcdefghijklmnop/p.txt", "web/precious/p.txt",
}

// A person may keep data in a folder in use. Whatever sweeps it, repairs it or
// purges it takes what the program made, by more than the name of its folder.
func TestStrangersFilesStay(t *testing.T) {
	s := newSite(t)
	for _, f := range strangers {
		s.write("data/"+f, "mine\n")
		if err := os.Chmod(filepath.Join(s.data, filepath.FromSlash(f)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s.write("docs/a.md", "# Retries\n\nThe limit of retries is five.\n")
	s.write("docs/a.py", "def retry(): pass\n")
	a := s.configured("p", "", map[string]string{"HOME": filepath.Join(s.root, "home")})
	s.create(a, CreateStore{Name: "docs", Source: filepath.Join(s.root, "docs")})
	if _, err := a.Collect(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	v, err := a.Verify(t.Context(), "", true)
	if err != nil || v.Stores != 1 {
		t.Fatal(v, err)
	}
	check := func(when string) {
		t.Helper()
		var got []string
		_ = filepath.WalkDir(s.data, func(p string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() || project.Ours(s.data, p) {
				return err
			}
			rel, err := filepath.Rel(s.data, p)
			got = append(got, filepath.ToSlash(rel))
			return err
		})
		if diff := cmp.Diff(slices.Sorted(slices.Values(strangers)), slices.Sorted(slices.Values(got))); diff != "" {
			t.Errorf("%s: what is not ours (-want +got): %s", when, diff)
		}
	}
	check("after an index run, gc and verify --repair")
	if info, err := os.Stat(filepath.Join(s.data, "main.go")); err != nil || info.Mode().Perm()&0o044 == 0 {
		t.Error("somebody else's file has another mode now")
	}
	if _, err := a.Purge(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	check("after a purge")
	if files, _, _ := project.OursBelow(s.data, s.data); len(files) > 0 {
		t.Errorf("a purge leaves %q", files)
	}
}

// Without a database of ours nothing in a folder is ours, whatever its names.
func TestPurgeOfAFolderThatNeverWasOurs(t *testing.T) {
	s := newSite(t)
	s.write("data/worker.log", "mine\n")
	s.write("data/knowledge.db", "a database of something else\n")
	s.write("data/jobs/clock.lock", "mine\n")
	p, err := s.configured("p", "", map[string]string{"HOME": filepath.Join(s.root, "home")}).Purge(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"worker.log", "knowledge.db", "jobs/clock.lock"} {
		if b, err := os.ReadFile(filepath.Join(s.data, filepath.FromSlash(f))); err != nil || string(b) == "" {
			t.Errorf("%s: %v; %+v", f, err, p)
		}
	}
}

// A source in which nothing is, as of a disk that is not mounted, mends nothing;
// and what is left over may be the only copy of what is lost.
func TestRepairFromNothingLeavesAll(t *testing.T) {
	s := newSite(t)
	s.write("docs/a.md", "# Retries\n\nThe limit of retries is five.\n")
	a := s.in("p", true)
	s.create(a, CreateStore{Name: "docs", Source: filepath.Join(s.root, "docs")})
	list, err := filepath.Glob(filepath.Join(s.data, "segments", "*.seg"))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	aside := filepath.Join(filepath.Dir(list[0]), strings.Repeat("b", 24)+".seg")
	if err := os.Rename(list[0], aside); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(s.root, "docs", "a.md")); err != nil {
		t.Fatal(err)
	}
	v, err := a.Verify(t.Context(), "", true)
	if err != nil || v.ExitStatus() != 7 {
		t.Errorf("status %d, %v: %+v", v.ExitStatus(), err, v)
	}
	if st, err := a.Collect(t.Context(), false); err != nil {
		t.Error(st, err)
	}
	if _, err := os.Stat(aside); err != nil {
		t.Error("the only whole copy is gone: ", err)
	}
	_, st, err := a.lookup(t.Context(), "docs")
	if err != nil || st.Head.Documents != 1 {
		t.Errorf("published %+v, %v", st.Head, err)
	}
}

// A folder in a file's place is told, with what to do, and nothing else of the
// store's findings is lost over it; what lies in the folder stays.
func TestFolderInAFilesPlace(t *testing.T) {
	for _, pattern := range []string{"segments/*.seg", "segments/*.vec", "segments/*.lay", "views/*.view"} {
		s := newSite(t)
		s.write("docs/a.md", "# Retries\n\nThe limit of retries is five.\n")
		a := s.in("p", true)
		s.create(a, CreateStore{Name: "docs", Source: filepath.Join(s.root, "docs")})
		list, err := filepath.Glob(filepath.Join(s.data, filepath.FromSlash(pattern)))
		if err != nil || len(list) != 1 {
			t.Fatal(pattern, list, err)
		}
		if err := os.Rename(list[0], filepath.Join(s.root, "before")); err != nil {
			t.Fatal(err)
		}
		s.write("data/"+filepath.ToSlash(strings.TrimPrefix(list[0], s.data))+"/mine", "mine\n")
		v, err := a.Verify(t.Context(), "", true)
		if err != nil || v.ExitStatus() != 7 || !strings.Contains(v.Text(), "mv ") {
			t.Errorf("%s: status %d, %v: %s", pattern, v.ExitStatus(), err, v.Text())
		}
		if err := os.Rename(list[0], filepath.Join(s.root, "aside")); err != nil {
			t.Fatal(err)
		}
		if v, err := a.Verify(t.Context(), "", true); err != nil || v.ExitStatus() != 0 {
			t.Errorf("%s: after what the hint says: status %d, %v: %s", pattern, v.ExitStatus(), err, v.Text())
		}
		if _, err := os.Stat(filepath.Join(s.root, "aside", "mine")); err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}
