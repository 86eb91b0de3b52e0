package evidence

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// at writes an evidence file and reads it.
func at(t *testing.T, text string) *File {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, Name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Read(dir)
}

func golden(t testing.TB) string {
	t.Helper()
	raw, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func compactJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestKinds(t *testing.T) {
	if f := Read(t.TempDir()); f.Kind != Missing || f.Check() == nil {
		t.Errorf("nothing there: %+v", f)
	}
	for text, want := range map[string]struct {
		kind    Kind
		version string
	}{
		``:                                {Invalid, ""},
		`{bad`:                            {Invalid, ""},
		"\ufeff" + `{"version":"2.1"}`:    {Invalid, ""},
		`[]`:                              {Invalid, ""},
		`null`:                            {Invalid, ""},
		`"2.1"`:                           {Invalid, ""},
		`{}`:                              {Invalid, ""},
		`{"version":2.1}`:                 {Invalid, ""},
		`{"version":"2.0"}`:               {Invalid, "2.0"},
		`{"version":"2.1"} {}`:            {Invalid, ""},
		`{"version":"2.1"}`:               {Valid, "2.1"},
		"  {\"version\" : \"2.1\" }\n":    {Valid, "2.1"},
		`{"version":"1","version":"2.1"}`: {Valid, "2.1"},
	} {
		f := at(t, text)
		if f.Kind != want.kind || f.Version != want.version || (f.Kind == Invalid) != (f.Why != "") || (f.Check() == nil) != (f.Kind == Valid) {
			t.Errorf("%q: %s %q %q, want %v", text, f.Kind, f.Version, f.Why, want)
		}
		s := f.Status(DefaultRoute)
		if !s.Evidence.Exists || s.Evidence.Valid != (want.kind == Valid) || (s.Status == "ok") != s.Evidence.Valid {
			t.Errorf("%q: %+v", text, s)
		}
	}
}

func TestFilesThatAreNoFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, Name)
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if f := Read(dir); f.Kind != Invalid {
		t.Errorf("a directory: %+v", f)
	}
	os.Remove(path)
	big, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := big.Truncate(MaxBytes + 1); err != nil {
		t.Fatal(err)
	}
	big.Close()
	if f := Read(dir); f.Kind != Invalid || !strings.Contains(f.Why, "MiB") {
		t.Errorf("too large: %s %s", f.Kind, f.Why)
	}
	os.Remove(path)
	if runtime.GOOS == "windows" {
		return
	}
	outside := filepath.Join(t.TempDir(), "e.json")
	inside := filepath.Join(dir, "kept.json")
	for _, p := range []string{outside, inside} {
		if err := os.WriteFile(p, []byte(`{"version":"2.1"}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for to, want := range map[string]Kind{outside: Invalid, inside: Valid, "kept.json": Valid, "nowhere": Invalid, Name: Invalid, "/dev/zero": Invalid} {
		os.Remove(path)
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		if f := Read(dir); f.Kind != want {
			t.Errorf("a link to %s: %s %s, want %s", to, f.Kind, f.Why, want)
		}
	}
}

// TestSkeleton: a file without sections answers everything, empty.
func TestSkeleton(t *testing.T) {
	for _, text := range []string{
		`{"version":"2.1"}`,
		`{"version":"2.1","timestamp":5,"snapshot":[],"ledger":{},"platforms":[],"rulesets":"x","ai_gate":null,"severity_metrics":7,"consolidation":[]}`,
		`{"version":"2.1","snapshot":{"stage":1,"findings":{"a":1}},"ledger":[1,null,"x",[]],"platforms":{"ios":5},"rulesets":[[]],"consolidation":{"suppressed":[0]}}`,
	} {
		f := at(t, text)
		if f.Kind != Valid {
			t.Fatalf("%s: %s", text, f.Why)
		}
		if got := f.Summary(); got.Snapshot.Count+got.Ledger+got.Rulesets+got.Tracked+got.Suppressed != 0 || got.Fingerprint != "" {
			t.Errorf("%s: %+v", text, got)
		}
		for what, got := range map[string]string{
			"snapshot": compactJSON(t, f.Snapshot()), "findings": compactJSON(t, f.Findings(FindingsQuery{})), "rulesets": compactJSON(t, f.Rulesets(RulesetsQuery{})),
			"platforms": compactJSON(t, f.Platforms(PlatformsQuery{})), "ledger": compactJSON(t, f.Ledger(LedgerQuery{})),
		} {
			if !strings.Contains(got, `"`+what+`":[]`) && what != "snapshot" || strings.Contains(got, `"findings":null`) || strings.Contains(got, `"timestamp":""`) {
				t.Errorf("%s: %s", text, got)
			}
		}
		if len(f.ByFile()) != 0 || f.Coverage() != nil || f.Repo() != nil || f.GateStatus() != nil {
			t.Errorf("%s: %+v", text, f.doc)
		}
	}
}

func TestWhole(t *testing.T) {
	f := at(t, golden(t))
	whole, short := string(f.Whole(false)), string(f.Whole(true))
	if !strings.Contains(whole, `"consolidation"`) || strings.Contains(whole, "\n") {
		t.Error(whole)
	}
	want, _, _ := strings.Cut(whole, `,"consolidation"`)
	if short != want+"}" {
		t.Errorf("%s\nwant %s}", short, want)
	}
	if only := at(t, `{"consolidation":{},"version":"2.1"}`); string(only.Whole(true)) != `{"version":"2.1"}` {
		t.Errorf("%s", only.Whole(true))
	}
}

func TestPages(t *testing.T) {
	var rows []string
	for i := range 250 {
		rows = append(rows, fmt.Sprintf(`{"ruleId":"r%03d","severity":"WARN","file":"a.go"}`, i))
	}
	f := at(t, `{"version":"2.1","snapshot":{"findings":[`+strings.Join(rows, ",")+`]}}`)
	for _, tc := range []struct {
		limit, offset int // limit < 0: none
		n             int
		first         string
		more          string
	}{
		{-1, 0, 250, "r000", "null"},
		{-1, 240, 10, "r240", "null"},
		{-1, 300, 0, "", "null"},
		{0, 0, 0, "", "true"},
		{0, 250, 0, "", "false"},
		{10, 0, 10, "r000", "true"},
		{10, 245, 5, "r245", "false"},
		{10, 240, 10, "r240", "false"},
		{10, 9999, 0, "", "false"},
		{100, 0, 100, "r000", "true"},
		{101, 0, 100, "r000", "true"},
		{99999, 200, 50, "r200", "false"},
	} {
		p := Page{Offset: tc.offset}
		if tc.limit >= 0 {
			p.Limit = &tc.limit
		}
		got := f.Findings(FindingsQuery{Page: p})
		more := "null"
		if got.Pagination.More != nil {
			more = fmt.Sprint(*got.Pagination.More)
		}
		if got.Count != tc.n || len(got.Findings) != tc.n || got.Total != 250 || more != tc.more || tc.n > 0 && !strings.Contains(string(got.Findings[0]), tc.first) {
			t.Errorf("%+v: %d, more %s, %s", tc, got.Count, more, got.Findings[:min(1, len(got.Findings))])
		}
		if tc.limit >= 0 && (*got.Pagination.Requested != tc.limit || *got.Pagination.Limit != min(tc.limit, MaxPage)) {
			t.Errorf("%+v: %+v", tc, got.Pagination)
		}
	}
}

func TestFilters(t *testing.T) {
	f := at(t, golden(t))
	ids := func(rows []json.RawMessage) string {
		var out []string
		for _, r := range rows {
			m := object(r)
			out = append(out, word(m["ruleId"])+word(m["bundle"]))
		}
		return strings.Join(out, " ")
	}
	const backend, ios = "backend.avoid-explicit-any", "heuristics.ios.force-unwrap.ast"
	for _, tc := range []struct {
		q    FindingsQuery
		want string
	}{
		{FindingsQuery{}, backend + " " + ios},
		{FindingsQuery{Severity: "error"}, backend},
		{FindingsQuery{Severity: "WARN"}, ios},
		{FindingsQuery{Severity: "HIGH"}, ""},
		{FindingsQuery{Rule: "BACKEND.avoid-explicit-any"}, backend},
		{FindingsQuery{Rule: "backend"}, ""},
		{FindingsQuery{Platform: "iOS"}, ios},
		{FindingsQuery{Platform: "generic"}, ""},
		{FindingsQuery{File: "./apps/backend/src/a.ts"}, backend},
		{FindingsQuery{File: "apps/backend/src"}, ""},
		{FindingsQuery{Severity: "ERROR", Platform: "ios"}, ""},
	} {
		if got := ids(f.Findings(tc.q).Findings); got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.q, got, tc.want)
		}
	}
	if got := ids(f.Rulesets(RulesetsQuery{Platform: "IOS"}).Rulesets); got != "ios" {
		t.Error(got)
	}
	if got := ids(f.Rulesets(RulesetsQuery{Bundle: "nope"}).Rulesets); got != "" {
		t.Error(got)
	}
	if got := len(f.Platforms(PlatformsQuery{}).Platforms); got != 3 {
		t.Error(got)
	}
	if got := len(f.Platforms(PlatformsQuery{Detected: true, Confidence: "low"}).Platforms); got != 0 {
		t.Error(got)
	}
	for _, tc := range []struct {
		q    LedgerQuery
		want string
	}{
		{LedgerQuery{After: "2026-02-01T10:00:00.000Z"}, backend},
		{LedgerQuery{After: "2026-02-01T10:00:00.001Z"}, ""},
		{LedgerQuery{Before: "2025-12-15T00:00:00.000Z"}, ios},
		{LedgerQuery{After: "2025-01-01", Before: "2027"}, backend + " " + ios},
	} {
		if got := ids(f.Ledger(tc.q).Ledger); got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.q, got, tc.want)
		}
	}
}

func TestPlatformOf(t *testing.T) {
	for path, want := range map[string]string{
		"apps/ios/x.m": "ios", "lib/x.swift": "ios", "apps/backend/a.ts": "backend", "apps/frontend/a.ts": "frontend",
		"apps/android/x.java": "android", "x.kt": "android", "x.kts": "android", "src/a.ts": "generic", "": "generic", `apps\backend\a.ts`: "backend",
	} {
		if got := PlatformOf(path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}

// TestDeterminism: the order of the file does not matter.
func TestDeterminism(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	var finds, ledger, sets []string
	lines := []string{`12`, `"12"`, `[12]`, `[]`, `[1,2]`, `null`, `"10-12"`}
	for i := range 60 {
		finds = append(finds, fmt.Sprintf(`{"ruleId":"r%d","file":"f%d.go","lines":%s,"severity":"%s","message":"m%d","code":"c"}`, i%4, i%3, lines[i%7], severities[i%4], i))
		ledger = append(ledger, fmt.Sprintf(`{"ruleId":"r%d","file":"f%d.go","firstSeen":"2026-01-%02dT00:00:00Z","lastSeen":"2026-02-01T00:00:00Z"}`, i%4, i%3, i%28+1))
		sets = append(sets, fmt.Sprintf(`{"platform":"p%d","bundle":"b%d","hash":"%d"}`, i%2, i%3, i))
	}
	var first string
	for range 10 {
		for _, l := range [][]string{finds, ledger, sets} {
			r.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
		}
		f := at(t, `{"version":"2.1","snapshot":{"findings":[`+strings.Join(finds, ",")+`]},"ledger":[`+strings.Join(ledger, ",")+`],"rulesets":[`+strings.Join(sets, ",")+`]}`)
		f.Path = ""
		got := compactJSON(t, f.Status("/x").Evidence) + compactJSON(t, f.Summary()) + compactJSON(t, f.Snapshot()) + compactJSON(t, f.Findings(FindingsQuery{Page: Page{Offset: 7}})) +
			compactJSON(t, f.Ledger(LedgerQuery{})) + compactJSON(t, f.Rulesets(RulesetsQuery{}))
		if first == "" {
			first = got
		}
		if d := cmp.Diff(first, got); d != "" {
			t.Fatal(d)
		}
	}
}

func TestByFile(t *testing.T) {
	f := at(t, `{"version":"2.1","snapshot":{"findings":[{"ruleId":"r","severity":"error","file":"./a/b.go","lines":"10-12","message":"m"},{"ruleId":"q","file":"a\\b.go"},{"ruleId":"x"}]}}`)
	want := map[string][]Finding{"a/b.go": {{Rule: "q"}, {Severity: "ERROR", Rule: "r", Message: "m", Lines: []int{10, 12}}}}
	if d := cmp.Diff(want, f.ByFile()); d != "" {
		t.Error(d)
	}
}

// FuzzFile: whatever stands in the file, every answer is JSON.
func FuzzFile(f *testing.F) {
	f.Add([]byte(golden(f)))
	f.Add([]byte(`{"version":"2.1","snapshot":{"findings":[{"lines":[[["1-2"]]]}]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		file := &File{Path: "x"}
		file.parse(raw)
		if (file.Kind == Valid) != (file.Why == "") {
			t.Fatalf("%s %q", file.Kind, file.Why)
		}
		for _, v := range []any{file.Status("/x"), file.Summary(), file.Snapshot(), file.Findings(FindingsQuery{}), file.Rulesets(RulesetsQuery{}), file.Platforms(PlatformsQuery{}), file.Ledger(LedgerQuery{})} {
			if _, err := json.Marshal(v); err != nil {
				t.Fatal(err)
			}
		}
		if w := file.Whole(true); file.Kind == Valid && (!json.Valid(w) || object(w) == nil) {
			t.Fatalf("%s", w)
		}
	})
}

// TestFindingsShowNoCredential: a finding may quote the credential that it is
// about, and no answer hands it on.
func TestFindingsShowNoCredential(t *testing.T) {
	token := "ghp_" + "q8Zr3Lw0Vt7Yb2Nc5Xd9Kf4Hg6Jm1Ps8Rt2W"
	f := at(t, `{"version":"2.1","snapshot":{"findings":[{"ruleId":"secret","severity":"CRITICAL","file":"a.go","message":"const t = \"`+token+`\""}]}}`)
	if f.Kind != Valid || strings.Contains(string(f.raw), token) || !json.Valid(f.raw) {
		t.Errorf("%v: %s", f.Kind, f.raw)
	}
}
