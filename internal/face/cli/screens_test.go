package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/face/cli"
)

// screens are what people see most, by the name of the golden file.
var screens = []struct{ name, line string }{
	{"home", ""},
	{"search", "search cancel an order --limit 3"},
	{"search-full", "search cancel an order --limit 1 --detail full"},
	{"search-wide", "search 小包を追跡 parcel emoji --limit 2"},
	{"search-nothing", "search xylophone"},
	{"show", "show CancelOrder"},
	{"read", "read shop/wide.md"},
	{"files", "files"},
	{"grep", "grep refund"},
	{"grep-nothing", "grep xylophone"},
	{"symbols", "code:symbols Order"},
	{"outline", "code:outline shop/order.go"},
	{"callers", "code:callers refund"},
	{"stores", "stores"},
	{"store-info", "store:info manual"},
	{"jobs", "jobs"},
	{"schedules", "schedules"},
	{"specs", "kdd:list"},
	{"specs-check", "kdd:check"},
	{"ask", "ask what is given back when an order is cancelled? --stores manual"},
	{"feedback", "feedback:list"},
	{"findings", "evidence:findings"},
	{"gate", "gate"},
	{"apis", "apis"},
	{"unknown", "store:info manul"},
	{"help", "search --help"},
}

// shop is a project with code, specifications, findings, and text that is wide.
var shop = map[string]string{
	".git/HEAD": "ref: refs/heads/main\n", ".git/objects/.keep": "", ".git/refs/.keep": "",
	"shop/order.go": "package shop\n\n// Order is what a customer has asked for and not yet been given, with everything that was paid for it so far.\ntype Order struct {\n\tID   string\n\tPaid int\n}\n\n" +
		"// CancelOrder gives back what was paid for an order, and tells the warehouse that nothing is to be sent: once only, however often it is called.\n" +
		"func CancelOrder(o *Order) error {\n\tif o.Paid == 0 {\n\t\treturn nil\n\t}\n\treturn refund(o, \"the order was cancelled by the customer before it left the warehouse, so all of it is given back\")\n}\n\n" +
		"// refund gives money back.\nfunc refund(o *Order, why string) error {\n\to.Paid = 0\n\treturn nil\n}\n",
	"shop/order_test.go": "package shop\n\nimport \"testing\"\n\nfunc TestCancelOrder(t *testing.T) {\n\tif err := CancelOrder(&Order{Paid: 3}); err != nil {\n\t\tt.Fatal(err)\n\t}\n}\n",
	"shop/a/long/way/down/the/tree/of/folders/parcel_tracking_service.py": "def track_parcel(number):\n    \"\"\"小包を追跡する: Track a parcel 📦 until it is delivered 👩‍🚀, however long that takes and whoever carries it.\"\"\"\n    return carrier.find(number)\n",
	"shop/wide.md":        "# 小包を追跡する\n\n小包の番号を入力すると、現在の場所と配達予定日が表示されます。番号は注文の確認メールに書かれています。\n\n| emoji | 👩‍🚀 | 🇪🇺 | é |\n|---|---|---|---|\n\n\tindented with a tab, and much longer than any terminal of eighty columns is wide, so that it goes on below\n",
	"specs/rules/BR-1.md": "---\nkind: business-rule\nid: BR-1\nstatus: approved\n---\n# Cancelled orders are paid back\n\nAn order is cancelled when the customer says so before it was sent. Everything paid is given back.\n\nSee [[REQ-7]].\n",
	".ai_evidence.json":   `{"version":"2.1","timestamp":"2026-01-02T03:04:05.000Z","snapshot":{"stage":"PRE_COMMIT","outcome":"BLOCK","findings":[{"ruleId":"no-money-as-float-or-integer-without-currency","severity":"ERROR","code":"MONEY","message":"Paid has no currency: an amount without one is added to amounts in others","file":"shop/order.go","lines":[6]}]},"ledger":[],"platforms":{},"rulesets":[],"human_intent":null,"ai_gate":{"status":"BLOCKED","violations":[],"human_intent":null},"severity_metrics":{"gate_status":"BLOCKED","total_violations":1,"by_severity":{"CRITICAL":0,"ERROR":1,"WARN":0,"INFO":0}}}`,
}

// onScreen runs a line as at a terminal of so many columns, 0 for a pipe.
func onScreen(t *testing.T, dir, line string, columns int, env map[string]string) string {
	t.Helper()
	var out, errs bytes.Buffer
	e := cli.Env{Args: append(strings.Fields(line), "--quiet"), Dir: dir, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Width: columns, ErrWidth: columns, Terminal: columns > 0, ErrTerminal: columns > 0, Getenv: func(n string) string { return env[n] }}
	status := cli.Run(context.Background(), faces, e)
	text := out.String()
	if errs.Len() > 0 {
		text += "(standard error)\n" + errs.String()
	}
	if status != 0 {
		text += fmt.Sprintf("(status %d)\n", status)
	}
	return text
}

// fixed makes a folder whose path is the same on every machine, since ids and
// columns follow from it. One process at a time has it.
func fixed(t *testing.T) string {
	t.Helper()
	const dir = "/tmp/knowledge-screens"
	lock := flock.New(dir + ".lock")
	if err := lock.Lock(); err != nil {
		t.Skipf("screens are compared where /tmp can be written: %v", err)
	}
	t.Cleanup(func() {
		_ = os.RemoveAll(dir)
		_ = lock.Unlock()
	})
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		t.Skipf("screens are compared where /tmp can be written: %v", err)
	}
	if real, err := filepath.EvalSymlinks(dir); err != nil || real != dir || runtime.GOOS == "windows" {
		t.Skip("/tmp is a link here, and paths are shown without links")
	}
	return dir
}

var (
	sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")
	ids = regexp.MustCompile("\x1b\\[2m([a-z2-7]{8,16})\x1b")
	// moving is what differs from run to run, and what is shown in its place.
	moving = []struct {
		re *regexp.Regexp
		to string
	}{
		{regexp.MustCompile(`\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{4}-\d\d-\d\d \d\d:\d\d`), "Fri 2026-01-02 03:04"},
		{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "2026-01-02T03:04:05Z"},
		{regexp.MustCompile(`\b[\d.]+ (ms|KiB|B)\b`), "9 $1"},
		{regexp.MustCompile(`\(\d+s > `), "(99999999s > "},
		{regexp.MustCompile(`([^\d.])[01]\.\d\d\b`), "${1}0.99"}, // the ranking has goldens of its own
		{regexp.MustCompile(`"ms":[\d.]+`), `"ms":9`},
		{regexp.MustCompile(`\b\d+ (seconds?|minutes?) ago|just now`), "just now"},
		{regexp.MustCompile(`[0-9]{4,} (seconds|minutes|hours|days) old`), "9999 $1 old"},
		{regexp.MustCompile(`(as of\s+)\d{4}-\d\d-\d\d\b`), "${1}2026-01-02"},
	}
)

// TestScreens compares screens of 60, 80 and 140 columns and what a pipe gets
// with golden files; NO_COLOR is the same without the colours. Escapes are
// shown as ␛. The sixteen colours are the theme's, on dark and on light.
func TestScreens(t *testing.T) {
	root := fixed(t)
	dir, manual := filepath.Join(root, "shop"), filepath.Join(root, "manual")
	t.Setenv("KNOWLEDGE_DATA_DIR", t.TempDir())
	t.Setenv("KNOWLEDGE_CONFIG", "")
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(root, "config"))
	t.Setenv("TZ", "UTC")
	for name, text := range shop {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(manual, os.DirFS(filepath.Join(dir, "specs"))); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"search order", "store:create manual " + manual} {
		if out := onScreen(t, dir, line, 0, nil); strings.Contains(out, "(status") {
			t.Fatalf("%s: %s", line, out)
		}
	}
	known := map[string]bool{}
	for _, s := range screens {
		for _, m := range ids.FindAllStringSubmatch(onScreen(t, dir, s.line, 400, nil), -1) {
			known[m[1]] = true
		}
	}
	same := func(text string) string {
		for id := range known {
			text = strings.ReplaceAll(text, id, "id"+strings.Repeat("0", len(id)-2))
		}
		for _, m := range moving {
			text = m.re.ReplaceAllString(text, m.to)
		}
		return strings.ReplaceAll(text, "\x1b", "␛")
	}
	for _, s := range screens {
		var got strings.Builder
		fmt.Fprintf(&got, "$ knowledge %s\n", s.line)
		for _, columns := range []int{60, 80, 140} {
			colored := onScreen(t, dir, s.line, columns, nil)
			plain := onScreen(t, dir, s.line, columns, map[string]string{"NO_COLOR": "1"})
			if d := cmp.Diff(same(plain), same(sgr.ReplaceAllString(colored, ""))); d != "" {
				t.Errorf("%s at %d: colours change more than colour (-without +with):\n%s", s.name, columns, d)
			}
			for l := range strings.Lines(plain) {
				if w := printer.Width(strings.TrimSuffix(l, "\n")); w > columns && len(strings.Fields(l)) > 1 && !strings.Contains(l, "knowledge ") {
					t.Errorf("%s at %d: %d columns: %q", s.name, columns, w, l)
				}
			}
			fmt.Fprintf(&got, "== %d columns\n%s", columns, same(colored))
		}
		piped := onScreen(t, dir, s.line, 0, nil)
		if strings.Contains(piped, "\x1b") {
			t.Errorf("%s: a pipe gets escapes: %q", s.name, piped)
		}
		fmt.Fprintf(&got, "== pipe\n%s", same(piped))
		file := filepath.Join("testdata", "screens", s.name+".txt")
		if *cli.Update {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got.String()); d != "" {
			t.Errorf("%s (-want +got; refresh with -update):\n%s", s.name, d)
		}
	}
}
