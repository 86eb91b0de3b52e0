package governance_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/governance"
	"github.com/seed-4f2d999b/knowledge/internal/governance/evidence"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/findings"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

const lintReport = `[{"filePath":"/build/src/total.ts","messages":[{"ruleId":"no-undef","severity":2,"message":"rounding is not defined","line":2}]}]`

// TestImport: what reports say is kept with where it came from, shown beside
// hits and places, read again when a report changes, exported, and forgotten.
func TestImport(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/src/total.ts", "// total adds the lines of an order\nexport function total(lines) { return rounding(lines) }\n")
	s.Write("p/other.ts", "// elsewhere\nexport const elsewhere = 1\n")
	s.Write("p/reports/lint.json", lintReport)
	s.Write("p/reports/lcov.info", "SF:src/total.ts\nDA:1,1\nDA:2,0\nend_of_record\n")
	a := s.In("p", true)
	none, err := governance.Imports(t.Context(), a, "")
	if err != nil || len(none.Imports) != 0 {
		t.Fatalf("%+v %v", none, err)
	}
	for _, file := range []string{"reports/lint.json", "reports/lcov.info", "reports/lint.json"} {
		if _, err := governance.Import(t.Context(), a, file, false); err != nil {
			t.Fatal(err)
		}
	}
	list, err := governance.Imports(t.Context(), a, "src/total.ts")
	if err != nil || len(list.Imports) != 2 || len(list.Findings) != 1 || len(list.Coverage) != 1 {
		t.Fatalf("%+v %v", list, err)
	}
	row := list.Imports[1]
	if row.Source != "reports/lint.json" || row.Tool != "eslint" || row.Counts["ERROR"] != 1 || len(row.SHA256) != 64 || row.Imported.IsZero() || row.Written.IsZero() {
		t.Errorf("%+v", row)
	}
	if f := list.Findings[0]; f.Severity != "ERROR" || f.Lines[0] != 2 || !strings.Contains(f.Source, "eslint, reports/lint.json of ") {
		t.Errorf("%+v", f)
	}
	r := s.Search(a, search.Request{Query: "total adds the lines"}, app.Scope{})
	if said, err := json.Marshal(r); err != nil || !strings.Contains(string(said), `"findings":1`) {
		t.Errorf("%s %v", said, err)
	}
	// A report that was written anew is read anew; one that is gone still counts.
	s.Write("p/reports/lint.json", strings.Replace(lintReport, "]}]", `,{"ruleId":"eqeqeq","severity":1,"message":"use ===","line":1}]}]`, 1))
	later := time.Now().Add(2 * time.Second)
	if err := os.Chtimes(filepath.Join(s.Root, "p", "reports", "lint.json"), later, later); err != nil {
		t.Fatal(err)
	}
	if list, err = governance.Imports(t.Context(), a, "./src/total.ts"); err != nil || len(list.Findings) != 2 {
		t.Errorf("%+v %v", list, err)
	}
	if err := os.Remove(filepath.Join(s.Root, "p", "reports", "lint.json")); err != nil {
		t.Fatal(err)
	}
	if list, err = governance.Imports(t.Context(), a, "src/total.ts"); err != nil || len(list.Findings) == 0 {
		t.Errorf("%+v %v", list, err)
	}
	out, err := governance.Export(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	back, err := findings.Read([]byte(out.Text), filepath.Join(s.Root, "p"))
	if err != nil || len(back.Findings) != out.Findings || back.Tool != "eslint" || back.Findings[0].File != "src/total.ts" {
		t.Errorf("%+v %v", back, err)
	}
	for _, file := range []string{"reports/lint.json", "reports/lcov.info"} {
		if r, err := governance.Import(t.Context(), a, file, true); err != nil || !r.Forgotten {
			t.Errorf("%+v %v", r, err)
		}
	}
	if list, err = governance.Imports(t.Context(), a, "src/total.ts"); err != nil || len(list.Imports)+len(list.Findings) != 0 {
		t.Errorf("%+v %v", list, err)
	}
	for file, code := range map[string]kb.Code{"gone.sarif": kb.NotFound, "src": kb.Invalid, "src/total.ts": kb.Invalid} {
		if _, err := governance.Import(t.Context(), a, file, false); kb.CodeOf(err) != code || kb.HintOf(err) == "" {
			t.Errorf("%s: %v", file, err)
		}
	}
	if _, err := governance.Import(t.Context(), a, "gone.sarif", true); kb.CodeOf(err) != kb.NotFound {
		t.Error(err)
	}
	if _, err := governance.Export(t.Context(), a); kb.CodeOf(err) != kb.NotFound {
		t.Error(err)
	}
}

// TestExportEvidence: evidence itself goes out too.
func TestExportEvidence(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/a.go", "package a\n")
	s.Write("p/"+evidence.Name, `{"version":"2.1","snapshot":{"findings":[{"ruleId":"r","severity":"CRITICAL","file":"a.go","lines":[3,4],"message":"m"},{"ruleId":"q","severity":"INFO","file":"a.go","message":"n"}]}}`)
	out, err := governance.Export(t.Context(), s.In("p", true))
	if err != nil || out.Findings != 2 || !strings.Contains(out.Text, `"startLine": 3`) || !strings.Contains(out.Text, `"level": "note"`) {
		t.Errorf("%+v %v", out, err)
	}
}
