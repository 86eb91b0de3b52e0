package declared_test

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/seed-4f2d999b/knowledge/internal/upgrade/declared"
)

// files are those of testdata/NAME.txtar below a folder.
func files(t *testing.T, name, below string) fs.FS {
	t.Helper()
	a, err := txtar.ParseFile("testdata/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	out := fstest.MapFS{}
	for _, f := range a.Files {
		if rest, ok := strings.CutPrefix(f.Name, below+"/"); ok {
			out[rest] = &fstest.MapFile{Data: f.Data}
		}
	}
	return out
}

// TestUpgrade has a package with entries, passed on names, inheritance and
// overloads, and a project that uses them in every way that is looked for.
func TestUpgrade(t *testing.T) {
	set := declared.NewSet(t.TempDir())
	t.Cleanup(func() { set.Close() })
	old := declared.Open(t.Context(), set, "bank", files(t, "bank", "old"))
	next := declared.Open(t.Context(), set, "bank", files(t, "bank", "new"))
	var changes []string
	for _, c := range declared.Diff(old, next, "") {
		changes = append(changes, strings.TrimSpace(fmt.Sprintf("%s: %s (%v) %s%s", c.Name, c.What, c.Breaks, c.Instead, c.Note)))
	}
	if d := cmp.Diff([]string{
		"sendMoneyTo: added (false)",
		"Account.close: removed (true)",
		"Account.open: deprecated (false) deprecated use new",
		"payMoneyTo: removed (true) sendMoneyTo",
		"transfer: changed from function transfer(to: string): void; to function transfer(to: string, cents: number): void; (true)",
	}, changes); d != "" {
		t.Errorf("changes (-want +got):\n%s", d)
	}
	var sites []string
	project := declared.NewProject(t.Context(), set, files(t, "bank", "project"), old, next)
	err := project.Sites(func(file string, found []declared.Site) {
		for _, s := range found {
			sites = append(sites, strings.TrimSpace(fmt.Sprintf("%s:%d %s %v %s", s.Path, s.Line, s.Name, s.Warns, s.Says)))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(sites)
	if d := cmp.Diff([]string{
		"a.ts:1 payMoneyTo false bank has no export payMoneyTo",
		"a.ts:10 Account.close false Account has no member close",
		"a.ts:11 Account.open true",
		"a.ts:2 bank/old false there are no declarations of bank/old",
		"a.ts:9 transfer false transfer does not take 1 argument",
		"b.js:3 payMoneyTo false bank has no export payMoneyTo",
		"d.ts:3 Account.close false Account has no member close",
		"made.ts:11 Account.close false Account has no member close",
		"made.ts:8 Account.close true Account has no member close",
	}, sites); d != "" {
		t.Errorf("sites (-want +got):\n%s", d)
	}
}
