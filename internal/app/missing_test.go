package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/care"
	"github.com/seed-4f2d999b/knowledge/internal/code"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
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
					t.Parallel()
					missing(t, ext, how, mapped)
				})
			}
		}
	}
}

func missing(t *testing.T, ext, how string, mapped bool) {
	names := regexp.MustCompile(`\bone\b`) // the store
	s := producttest.NewSite(t)
	// As many chunks in each, of as many terms: one store's files fit the other's.
	s.Write("one/a.go", "package one\n\n// Retry tries again, at most five times.\nfunc Retry() { wait() }\n\nfunc wait() {}\n")
	s.Write("two/a.go", "package two\n\n// Drink pours water, at least two cups.\nfunc Drink() { pour() }\n\nfunc pour() {}\n")
	a := s.In("p", true)
	files := map[string]string{} // by store
	for _, name := range []string{"one", "two"} {
		before := filesOf(s, ext)
		s.Create(a, app.CreateStore{Name: name, Source: filepath.Join(s.Root, name)})
		for f := range filesOf(s, ext) {
			if !before[f] {
				files[name] = f
			}
		}
		if files[name] == "" {
			t.Fatalf("store %s made no file %s", name, ext)
		}
	}
	ask := func(a *app.App) (find.SearchReply, code.CodeReply) {
		r := s.Search(a, search.Request{Query: "how often does it retry"}, app.Scope{Stores: []string{"one"}})
		r.Ms = 0
		reply, err := code.Ask(t.Context(), a, code.CodeRequest{Stores: []string{"one"}, Waiting: app.Waiting{Wait: time.Minute}, CodeRequest: search.CodeRequest{Symbol: "wait", What: search.Callers, Limit: 10}})
		if err != nil { // which says so
			reply = code.CodeReply{Notes: []string{err.Error()}}
		}
		return r, reply
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
		b = s.In("p", true)
	}
	if v, err := care.Verify(t.Context(), s.In("p", true), "one", false); err != nil || v.ExitStatus() != 7 && ext != ".now" {
		t.Errorf("verify ends with %d, %v: %s", v.ExitStatus(), err, v.Text())
	}
	if d, err := care.Doctor(t.Context(), b); err != nil || how == "gone" && (ext == ".vec" || ext == ".seg" || ext == ".lay" || ext == ".gen") && !strings.Contains(fmt.Sprint(d.Findings), "files are missing, such as") {
		t.Errorf("doctor: %+v, %v", d.Findings, err)
	}
	got, gotCode := ask(b)
	if d := cmp.Diff(want, got); d != "" && !names.MatchString(fmt.Sprint(got.Notes)) {
		t.Errorf("it is silent:\n%s", d)
	}
	if ext == ".vec" && how == "gone" && !strings.Contains(fmt.Sprint(got.Notes), "not by its meaning") {
		t.Errorf("it says %q", got.Notes)
	}
	if d := cmp.Diff(wantCode, gotCode); d != "" && !names.MatchString(fmt.Sprint(gotCode.Notes)) {
		t.Errorf("callers are silent:\n%s", d)
	}
	settle(s, b)
	for i, x := range []*app.App{b, s.In("p", true)} {
		got, gotCode := ask(x)
		if d := cmp.Diff(want, got) + cmp.Diff(wantCode, gotCode); d != "" {
			t.Errorf("process %d is answered otherwise afterwards:\n%s", i, d)
		}
	}
	if v, err := care.Verify(t.Context(), b, "one", false); err != nil || v.ExitStatus() == 7 {
		t.Errorf("verify afterwards: %v, %v", v.Text(), err)
	}
}

// files are the files of the data directory with an extension.
func filesOf(s *producttest.Site, ext string) map[string]bool {
	s.Helper()
	out := map[string]bool{}
	list, err := filepath.Glob(filepath.Join(s.Data, "*", "*"+ext))
	if err != nil {
		s.Fatal(err)
	}
	for _, f := range list {
		out[f] = true
	}
	return out
}

// settle waits for the jobs that are under way.
func settle(s *producttest.Site, a *app.App) {
	s.Helper()
	list, err := a.Jobs(s.Context(), app.JobFilter{All: true})
	if err != nil {
		s.Fatal(err)
	}
	for _, j := range list.Jobs {
		if _, err := a.WaitJob(s.Context(), j.ID); err != nil {
			s.Error(err)
		}
	}
}
