package gocheck_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/mod/module"

	"github.com/seed-4f2d999b/knowledge/internal/upgrade/gocheck"
)

// world is a module cache and a project, written from testdata/NAME.txtar: files
// of the project below "project/", of modules below "PATH@VERSION/".
type world struct {
	cache, project string
	sources        *gocheck.Sources
}

func read(t *testing.T, name string) world {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	w := world{cache: t.TempDir(), project: t.TempDir()}
	for _, f := range a.Files {
		at := filepath.Join(w.cache, filepath.FromSlash(f.Name))
		if rest, ok := strings.CutPrefix(f.Name, "project/"); ok {
			at = filepath.Join(w.project, filepath.FromSlash(rest))
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.sources = &gocheck.Sources{Caches: []string{w.cache}}
	t.Cleanup(func() { w.sources.Close() })
	return w
}

func noEnv(string) string { return "" }

// upgrade compares the version in use with another and returns what changed and
// what that breaks, as lines.
func (w world) upgrade(t *testing.T, from, to module.Version, watched bool) (changes, sites []string, c gocheck.Checked) {
	t.Helper()
	gomod, err := os.ReadFile(filepath.Join(w.project, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	old, err := gocheck.NewList(w.sources, gomod)
	if err != nil {
		t.Fatal(err)
	}
	next, err := gocheck.NewList(w.sources, gomod, to)
	if err != nil {
		t.Fatal(err)
	}
	dir := os.DirFS(w.project)
	was := gocheck.NewWorld(t.Context(), w.sources, old, dir, "", noEnv, from.Path)
	is := was.With(w.sources, next, dir, "", to.Path)
	is.Rename(from.Path, to.Path)
	watch := map[string]bool{}
	for _, c := range gocheck.Diff(gocheck.NewAPI(was, from.Path, false), gocheck.NewAPI(is, to.Path, false)) {
		changes = append(changes, strings.TrimSpace(fmt.Sprintf("%s: %s (%v) %s", strings.TrimPrefix(c.Key(), from.Path), c.What, c.Breaks, c.Instead+c.Note)))
		if watched && (c.What == "deprecated" || strings.HasPrefix(c.What, "value changed")) {
			watch[c.Key()] = true
		}
	}
	c = gocheck.Check(was, is, watch)
	for _, s := range slices.Concat(c.Breaks, c.Uses) {
		sites = append(sites, strings.TrimSpace(fmt.Sprintf("%s:%d %s %s", s.Path, s.Line, strings.TrimPrefix(s.Uses, from.Path), s.Says)))
	}
	return changes, sites, c
}

// TestUpgrade has a module whose next version removes, renames, moves, changes and
// deprecates, and a project that uses each in a package, its tests and a package
// that only meets the types through another one.
func TestUpgrade(t *testing.T) {
	w := read(t, "shop")
	changes, sites, c := w.upgrade(t, module.Version{Path: "example.org/pay", Version: "v1.0.0"}, module.Version{Path: "example.org/pay", Version: "v1.1.0"}, true)
	if d := cmp.Diff([]string{
		".Charge: changed from func(int) error to func(string, int) error (true)",
		".Client.Do: removed (true) Client.Send",
		".OldName: removed (true) NewName",
		".Options.Addr: removed (true)",
		".Payer.Refund: added (true)",
		"/wire.Encode: removed (true) example.org/pay/codec.Encode",
		".Client.Send: added (false)",
		".Greeting: deprecated (false) use Hello.",
		".NewName: added (false)",
		"/codec.: package added (false)",
	}, changes); d != "" {
		t.Errorf("changes (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{
		"cmd/main.go:13 .Client.Do c.Do undefined (type *pay.Client has no field or method Do)",
		"shop.go:11 .OldName undefined: pay.OldName",
		"shop.go:12 .Charge not enough arguments in call to pay.Charge\n\thave (number)\n\twant (string, int)",
		"shop.go:15 .Options.Addr unknown field Addr in struct literal of type pay.Options",
		"shop.go:17 /wire.Encode undefined: wire.Encode",
		"shop.go:28 .Payer cannot use till{} (value of struct type till) as pay.Payer value in variable declaration: till does not implement pay.Payer (missing method Refund)",
		"shop_test.go:6 .OldName undefined: pay.OldName",
		"shop.go:16 .Greeting",
	}, sites); d != "" {
		t.Errorf("sites (-want +got):\n%s", d)
	}
	if c.Packages != 2 || c.All != 3 {
		t.Errorf("%d of %d packages", c.Packages, c.All)
	}
}

// TestMajor has a next version under another path, which raises a module that
// the project uses besides, a vendored module, one replaced by a folder, and
// sources that are nowhere.
func TestMajor(t *testing.T) {
	w := read(t, "major")
	_, sites, c := w.upgrade(t, module.Version{Path: "example.org/log", Version: "v1.0.0"}, module.Version{Path: "example.org/log/v2", Version: "v2.0.0"}, false)
	if d := cmp.Diff([]string{
		"a/a.go:4  could not import example.org/log/gone (no source of package example.org/log/gone)",
		`a/a.go:12 .Set cannot use "debug" (untyped string constant) as log.Level value in argument to log.Set`,
		"a/a.go:13 example.org/fmts.Old undefined: fmts.Old",
	}, sites); d != "" {
		t.Errorf("sites (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"example.org/nowhere"}, c.Unknown); d != "" {
		t.Error(d)
	}
}

// TestList holds build lists against those of the go command.
func TestList(t *testing.T) {
	w := read(t, "list")
	gomod, err := os.ReadFile(filepath.Join(w.project, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		instead []module.Version
		want    string
	}{
		{nil, "a v1.0.0 b v1.2.0 c v1.1.0 d v1.0.0 e v1.9.0"},
		{[]module.Version{{Path: "example.org/a", Version: "v1.5.0"}}, "a v1.5.0 b v1.2.0 c v1.3.0 d v1.0.0 e v1.9.0"},
		{[]module.Version{{Path: "example.org/b", Version: "v1.1.0"}}, "a v1.0.0 b v1.1.0 c v1.1.0 d  e v1.9.0"},
	} {
		l, err := gocheck.NewList(w.sources, gomod, tt.instead...)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range []string{"a", "b", "c", "d", "e"} {
			got = append(got, n+" "+l.Version("example.org/"+n))
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("with %v: %s, want %s", tt.instead, s, tt.want)
		}
		if len(l.Missing) != 0 {
			t.Errorf("missing %v", l.Missing)
		}
	}
	if _, err := gocheck.NewList(w.sources, []byte("modul x")); err == nil {
		t.Error("a go.mod that does not parse is taken")
	}
}
