package app

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// Every file that a generation names is missed at once when it is gone, or
// when another store's lies in its place, by a process that starts then and by
// one that has it mapped: the answer says so, or is the right one; doctor or
// verify sees it; and it is mended without being asked for.
func TestMissingAndForeignFilesAreMissedAtOnce(t *testing.T) {
	for _, ext := range []string{".vec", ".seg", ".lay", ".gen", ".view", ".now"} {
		for _, how := range []string{"gone", "foreign", "foreign in place"} {
			if how == "foreign in place" && runtime.GOOS == "windows" {
				continue // a mapped file cannot be written there
			}
			for _, mapped := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %s, mapped %v", ext, how, mapped), func(t *testing.T) {
					missing(t, ext, how, mapped)
				})
			}
		}
	}
}

func missing(t *testing.T, ext, how string, mapped bool) {
	s := newSite(t)
	// As many chunks in each, of as many terms: one store's files fit the other's.
	s.write("one/a.go", "package one\n\n// Retry tries again, at most five times.\nfunc Retry() { wait() }\n\nfunc wait() {}\n")
	s.write("two/a.go", "package two\n\n// Drink pours water, at least two cups.\nfunc Drink() { pour() }\n\nfunc pour() {}\n")
	a := s.in("p", true)
	files := map[string]string{} // by store
	for _, name := range []string{"one", "two"} {
		before := s.files(ext)
		s.create(a, CreateStore{Name: name, Source: filepath.Join(s.root, name)})
		for f := range s.files(ext) {
			if !before[f] {
				files[name] = f
			}
		}
		if files[name] == "" {
			t.Fatalf("store %s made no file %s", name, ext)
		}
	}
	ask := func(a *App) (SearchReply, CodeReply) {
		r := s.search(a, SearchRequest{Query: "how often does it retry", Stores: []string{"one"}})
		r.Ms = 0
		code, err := a.Code(t.Context(), CodeRequest{Stores: []string{"one"}, Waiting: Waiting{Wait: time.Minute}, CodeRequest: search.CodeRequest{Symbol: "wait", What: search.Callers, Limit: 10}})
		if err != nil { // which says so
			code = CodeReply{Notes: []string{err.Error()}}
		}
		return r, code
	}
	want, wantCode := ask(a)
	if len(want.Hits) == 0 || len(wantCode.Uses) != 1 {
		t.Fatalf("%+v %+v", want, wantCode)
	}
	other, err := os.ReadFile(files["two"])
	if err != nil {
		t.Fatal(err)
	}
	switch how {
	case "gone":
		err = os.Remove(files["one"])
	case "foreign":
		if err = os.WriteFile(files["one"]+".new", other, 0o600); err == nil {
			err = os.Rename(files["one"]+".new", files["one"])
		}
	default:
		err = os.WriteFile(files["one"], other, 0o600)
	}
	if err != nil {
		t.Skip("a file in use cannot be taken away here: ", err)
	}
	b := a
	if !mapped {
		b = s.in("p", true)
	}
	if v, err := s.in("p", true).Verify(t.Context(), "one", false); err != nil || v.ExitStatus() != 7 && ext != ".now" {
		t.Errorf("verify ends with %d, %v: %s", v.ExitStatus(), err, v.Text())
	}
	if d, err := b.Doctor(t.Context()); err != nil || how == "gone" && (ext == ".vec" || ext == ".seg" || ext == ".lay" || ext == ".gen") && !strings.Contains(fmt.Sprint(d.Findings), "files are missing, such as") {
		t.Errorf("doctor: %+v, %v", d.Findings, err)
	}
	got, gotCode := ask(b)
	if d := cmp.Diff(want, got); d != "" && !strings.Contains(fmt.Sprint(got.Notes), "store one") {
		t.Errorf("it is silent:\n%s", d)
	}
	if ext == ".vec" && how == "gone" && !strings.Contains(fmt.Sprint(got.Notes), "not by its meaning") {
		t.Errorf("it says %q", got.Notes)
	}
	if d := cmp.Diff(wantCode, gotCode); d != "" && !strings.Contains(fmt.Sprint(gotCode.Notes), " one ") {
		t.Errorf("callers are silent:\n%s", d)
	}
	s.settle(b)
	for i, x := range []*App{b, s.in("p", true)} {
		got, gotCode := ask(x)
		if d := cmp.Diff(want, got) + cmp.Diff(wantCode, gotCode); d != "" {
			t.Errorf("process %d is answered otherwise afterwards:\n%s", i, d)
		}
	}
	if v, err := b.Verify(t.Context(), "one", false); err != nil || v.ExitStatus() == 7 {
		t.Errorf("verify afterwards: %v, %v", v.Text(), err)
	}
}

// files are the files of the data directory with an extension.
func (s *site) files(ext string) map[string]bool {
	s.Helper()
	out := map[string]bool{}
	list, err := filepath.Glob(filepath.Join(s.data, "*", "*"+ext))
	if err != nil {
		s.Fatal(err)
	}
	for _, f := range list {
		out[f] = true
	}
	return out
}

// settle waits for the jobs that are under way.
func (s *site) settle(a *App) {
	s.Helper()
	list, err := a.Jobs(s.Context(), JobFilter{All: true})
	if err != nil {
		s.Fatal(err)
	}
	for _, j := range list.Jobs {
		if _, err := a.WaitJob(s.Context(), j.ID); err != nil {
			s.Error(err)
		}
	}
}
