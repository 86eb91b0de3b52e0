package app

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// What was indexed is private: a data directory that others may write or read
// is told, with the command that mends it.
func TestDoctorSeesWhoReachesTheData(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("has no modes")
	}
	s := newSite(t)
	a := s.in("p", true)
	for mode, want := range map[os.FileMode]string{0o777: "wrong", 0o720: "wrong", 0o755: "note", 0o700: ""} {
		if _, err := a.open(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(s.data, mode); err != nil {
			t.Fatal(err)
		}
		d, err := a.Doctor(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range d.Findings {
			if f.What == "data directory" && f.Status != "ok" {
				got = f.Status
				if !strings.HasSuffix(f.Hint, ": chmod 700 '"+s.data+"'") {
					t.Errorf("mode %o: hint %q", mode, f.Hint)
				}
			}
		}
		if got != want {
			t.Errorf("mode %o: %q, want %q", mode, got, want)
		}
	}
}

// A data directory inside a project is not indexed with it, nor offered to its
// repository, also when it is named by a link from elsewhere.
func TestDataDirectoryInsideTheProject(t *testing.T) {
	s := newSite(t)
	s.write("p/doc.md", "# Zebra\n\nzebra canary\n")
	s.write("p/.kd/empty/x", "")
	if err := os.RemoveAll(filepath.Join(s.root, "p/.kd/empty")); err != nil {
		t.Fatal(err)
	}
	s.data = filepath.Join(s.root, "link")
	if err := os.Symlink(filepath.Join(s.root, "p", ".kd"), s.data); err != nil {
		t.Skip(err)
	}
	a := s.in("p", true)
	for range 2 { // the second finds what the first has written
		s.search(a, SearchRequest{Query: "zebra canary"})
		s.write("p/more.md", "# More\n")
	}
	files, err := a.Files(t.Context(), "p", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(files.Files, func(p string) bool { return strings.HasPrefix(p, ".kd") }) {
		t.Error(files.Files)
	}
	if raw, err := os.ReadFile(filepath.Join(s.root, "p/.kd/.gitignore")); err != nil || !strings.Contains(string(raw), "\n*\n") {
		t.Errorf("%q %v", raw, err)
	}
}

// A session whose data directory is taken away says so, and what to do; it
// does not go on in files that nobody will find again.
func TestTheDataDirectoryIsTakenAway(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files in use cannot be removed")
	}
	for what, take := range map[string]func(dir string) error{
		"directory": os.RemoveAll,
		"database":  func(dir string) error { return os.Remove(filepath.Join(dir, "knowledge.db")) },
		"replaced": func(dir string) error {
			if err := os.Rename(dir, dir+"-old"); err != nil {
				return err
			}
			if err := os.Mkdir(dir, 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "knowledge.db"), nil, 0o600)
		},
	} {
		t.Run(what, func(t *testing.T) {
			s := newSite(t)
			s.write("p/a.md", "# Zebra\n")
			a := s.in("p", true)
			s.search(a, SearchRequest{Query: "zebra"})
			if err := take(s.data); err != nil {
				t.Fatal(err)
			}
			_, err := a.Search(t.Context(), SearchRequest{Query: "zebra"})
			if kb.CodeOf(err) != kb.Corrupt || !strings.Contains(err.Error(), "removed or replaced") || !strings.Contains(kb.HintOf(err), "start") {
				t.Errorf("search: %v (%s)", err, kb.HintOf(err))
			}
			if _, err := a.CreateStore(t.Context(), CreateStore{Name: "x", Kind: kb.KindFolder, Source: s.root}); kb.CodeOf(err) != kb.Corrupt {
				t.Errorf("create: %v", err)
			}
		})
	}
}
