package care_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/care"
	"github.com/seed-4f2d999b/knowledge/internal/install"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
)

// strangers are files of somebody who has folders of the program's names.
var strangers = []string{
	"jobs/cv.txt", "main.go", "segments/s.seg", "views/a.view", "generations/x.gen", "hooks/pre.sh", "repos/mine/HEAD",
	"replies/index.html", "history/school.log", "web/abcdefghijklmnop/p.txt", "web/precious/p.txt",
}

// A person may keep data in a folder in use. Whatever sweeps it, repairs it or
// purges it takes what the program made, by more than the name of its folder.
func TestStrangersFilesStay(t *testing.T) {
	s := producttest.NewSite(t)
	for _, f := range strangers {
		s.Write("data/"+f, "mine\n")
		if err := os.Chmod(filepath.Join(s.Data, filepath.FromSlash(f)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s.Write("docs/a.md", "# Retries\n\nThe limit of retries is five.\n")
	s.Write("docs/a.py", "def retry(): pass\n")
	a := s.Configured("p", "", map[string]string{"HOME": filepath.Join(s.Root, "home")})
	s.Create(a, app.CreateStore{Name: "docs", Source: filepath.Join(s.Root, "docs")})
	if _, err := care.Collect(t.Context(), a, false); err != nil {
		t.Fatal(err)
	}
	v, err := care.Verify(t.Context(), a, "", true)
	if err != nil || v.Stores != 1 {
		t.Fatal(v, err)
	}
	check := func(when string) {
		t.Helper()
		var got []string
		_ = filepath.WalkDir(s.Data, func(p string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() || project.Ours(s.Data, p) {
				return err
			}
			rel, err := filepath.Rel(s.Data, p)
			got = append(got, filepath.ToSlash(rel))
			return err
		})
		if diff := cmp.Diff(slices.Sorted(slices.Values(strangers)), slices.Sorted(slices.Values(got))); diff != "" {
			t.Errorf("%s: what is not ours (-want +got): %s", when, diff)
		}
	}
	check("after an index run, gc and verify --repair")
	if info, err := os.Stat(filepath.Join(s.Data, "main.go")); err != nil || info.Mode().Perm()&0o044 == 0 {
		t.Error("somebody else's file has another mode now")
	}
	if _, err := install.PurgeAll(t.Context(), a, false); err != nil {
		t.Fatal(err)
	}
	check("after a purge")
	if files, _, _ := project.OursBelow(s.Data, s.Data); len(files) > 0 {
		t.Errorf("a purge leaves %q", files)
	}
}

// Without a database of ours nothing in a folder is ours, whatever its names.
func TestPurgeOfAFolderThatNeverWasOurs(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("data/worker.log", "mine\n")
	s.Write("data/knowledge.db", "a database of something else\n")
	s.Write("data/jobs/clock.lock", "mine\n")
	p, err := install.PurgeAll(t.Context(), s.Configured("p", "", map[string]string{"HOME": filepath.Join(s.Root, "home")}), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"worker.log", "knowledge.db", "jobs/clock.lock"} {
		if b, err := os.ReadFile(filepath.Join(s.Data, filepath.FromSlash(f))); err != nil || string(b) == "" {
			t.Errorf("%s: %v; %+v", f, err, p)
		}
	}
}

// A source in which nothing is, as of a disk that is not mounted, mends nothing;
// and what is left over may be the only copy of what is lost.
func TestRepairFromNothingLeavesAll(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("docs/a.md", "# Retries\n\nThe limit of retries is five.\n")
	a := s.In("p", true)
	s.Create(a, app.CreateStore{Name: "docs", Source: filepath.Join(s.Root, "docs")})
	list, err := filepath.Glob(filepath.Join(s.Data, "segments", "*.seg"))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	aside := filepath.Join(filepath.Dir(list[0]), strings.Repeat("b", 24)+".seg")
	if err := os.Rename(list[0], aside); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(s.Root, "docs", "a.md")); err != nil {
		t.Fatal(err)
	}
	v, err := care.Verify(t.Context(), a, "", true)
	if err != nil || v.ExitStatus() != 7 {
		t.Errorf("status %d, %v: %+v", v.ExitStatus(), err, v)
	}
	if st, err := care.Collect(t.Context(), a, false); err != nil {
		t.Error(st, err)
	}
	if _, err := os.Stat(aside); err != nil {
		t.Error("the only whole copy is gone: ", err)
	}
	_, st, err := a.Lookup(t.Context(), "docs")
	if err != nil || st.Head.Documents != 1 {
		t.Errorf("published %+v, %v", st.Head, err)
	}
}

// A folder in a file's place is told, with what to do, and nothing else of the
// store's findings is lost over it; what lies in the folder stays.
func TestFolderInAFilesPlace(t *testing.T) {
	for _, pattern := range []string{"segments/*.seg", "segments/*.vec", "segments/*.lay", "views/*.view"} {
		s := producttest.NewSite(t)
		s.Write("docs/a.md", "# Retries\n\nThe limit of retries is five.\n")
		a := s.In("p", true)
		s.Create(a, app.CreateStore{Name: "docs", Source: filepath.Join(s.Root, "docs")})
		list, err := filepath.Glob(filepath.Join(s.Data, filepath.FromSlash(pattern)))
		if err != nil || len(list) != 1 {
			t.Fatal(pattern, list, err)
		}
		if err := os.Rename(list[0], filepath.Join(s.Root, "before")); err != nil {
			t.Fatal(err)
		}
		s.Write("data/"+filepath.ToSlash(strings.TrimPrefix(list[0], s.Data))+"/mine", "mine\n")
		v, err := care.Verify(t.Context(), a, "", true)
		if err != nil || v.ExitStatus() != 7 || !strings.Contains(v.Text(), "mv ") {
			t.Errorf("%s: status %d, %v: %s", pattern, v.ExitStatus(), err, v.Text())
		}
		if err := os.Rename(list[0], filepath.Join(s.Root, "aside")); err != nil {
			t.Fatal(err)
		}
		if v, err := care.Verify(t.Context(), a, "", true); err != nil || v.ExitStatus() != 0 {
			t.Errorf("%s: after what the hint says: status %d, %v: %s", pattern, v.ExitStatus(), err, v.Text())
		}
		if _, err := os.Stat(filepath.Join(s.Root, "aside", "mine")); err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}
