package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/bench/agents/trial"
)

// start makes a run over a small tree.
func start(t *testing.T, arm string) (dir string, say func(args ...string) string) {
	t.Helper()
	root, dir := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"mill/stone.go": "package mill\n\n// Grind crushes grain.\nfunc Grind() {}\n",
		"mill/wheel.go": "package mill\n\nvar wheel = 1 // of grain\n",
	} {
		p := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := &trial.Run{Arm: arm, Root: root, MostLooks: 4, MostChars: 100_000,
		Questions: []trial.Question{{ID: "q1", Question: "Where is grain crushed?"}, {ID: "q2", Question: "And the wheel?"}}}
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir, func(args ...string) string {
		t.Helper()
		text, err := do(t.Context(), dir, args, strings.NewReader("from 'standard' input\n"))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
}

func TestRun(t *testing.T) {
	dir, say := start(t, trial.Grep)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"next"}, "Question q1: Where is grain crushed?\n"},
		{[]string{"grep", "-i", "GRAIN"},
			"mill/stone.go:3:// Grind crushes grain.\nmill/wheel.go:3:var wheel = 1 // of grain\n"},
		{[]string{"sed", "-n", "3,4p", "mill/stone.go"}, "3\t// Grind crushes grain.\n4\tfunc Grind() {}\n"},
		{[]string{"list", "mill/s*"}, "mill/stone.go\n"},
		{[]string{"search", "crush"}, usage(trial.Grep)}, // the control arm cannot reach the product
		{[]string{"read", "mill/wheel.go:1"}, "1\tpackage mill\n"},
		{[]string{"read", "mill/wheel.go"},
			"No look is left for this question. Answer now, as well as you can: look answer 'TEXT'\n"},
		{[]string{"answer", "mill/stone.go:4", "Grind"}, "Question q2: And the wheel?\n"},
		{[]string{"grep", "-l", "wheel"}, "mill/wheel.go\n"},
		{[]string{"answer", "-"}, "No question is left. You are done.\n"},
		{[]string{"grep", "wheel"}, "No question is left. You are done.\n"},
	} {
		if d := cmp.Diff(c.want, say(c.args...)); d != "" {
			t.Errorf("%v: %s", c.args, d)
		}
	}
	looks, err := trial.Looks(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range looks {
		if got = append(got, l.Question+" "+l.Command+" "+l.Refused); l.Chars != len(l.Reply) || l.Tokens < l.Chars/10 {
			t.Errorf("%+v", l)
		}
	}
	want := []string{"q1 grep ", "q1 sed ", "q1 list ", "q1 search arm", "q1 read ", "q1 read looks", "q2 grep "}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	answers, err := trial.Answers(dir)
	if err != nil || len(answers) != 2 || answers[0].Text != "mill/stone.go:4 Grind" ||
		answers[1].Text != "from 'standard' input" {
		t.Errorf("%+v, %v", answers, err)
	}
	if err := (&trial.Run{Arm: trial.Grep}).Write(dir); err == nil {
		t.Error("a second run in the same folder would overwrite an attempt")
	}
}

func TestFailuresAreLooks(t *testing.T) {
	dir, say := start(t, trial.Grep)
	for _, args := range [][]string{{"read", "none.go"}, {"grep", "("}, {"read", "../../etc/passwd"}} {
		if text := say(args...); text == "" || strings.Contains(text, "root:") {
			t.Errorf("%v: %q", args, text)
		}
	}
	looks, err := trial.Looks(dir)
	if err != nil || len(looks) != 3 || !looks[0].Failed || !looks[1].Failed || !looks[2].Failed {
		t.Errorf("%+v, %v", looks, err)
	}
}

func TestGrepContext(t *testing.T) {
	_, say := start(t, trial.Grep)
	want := "mill/stone.go-2-\nmill/stone.go:3:// Grind crushes grain.\nmill/stone.go-4-func Grind() {}\n"
	if d := cmp.Diff(want, say("grep", "-C", "1", "-g", "s*.go", "crush", "mill/")); d != "" {
		t.Error(d)
	}
}

func TestParseGrep(t *testing.T) {
	for _, args := range [][]string{{"-rni", "GRAIN", "mill", "-A2"}, {"grain", "mill", "-n", "--include=*.go", "-A", "2"}} {
		w, err := parseGrep(args)
		if err != nil || !slices.Equal(w.below, []string{"mill"}) || w.after != 2 || w.before != 0 ||
			args[0] == "-rni" && !w.re.MatchString("GRAIN") {
			t.Errorf("%v: %+v, %v", args, w, err)
		}
	}
	for _, args := range [][]string{{}, {"a", "-Z"}, {"a", "-C", "x"}} {
		if w, err := parseGrep(args); err == nil {
			t.Errorf("%v: %+v", args, w)
		}
	}
	if w, err := parseGrep([]string{`a\|b`}); err != nil || !w.re.MatchString("b") {
		t.Errorf("alternatives as grep writes them: %v", err)
	}
}

func TestChosen(t *testing.T) {
	for _, c := range []struct {
		globs []string
		want  string // of mill/stone.go, mill/stone_test.go, sea/mill/a.txt
	}{
		{nil, "+++"},
		{[]string{"*.go"}, "++-"},
		{[]string{"*.go", "!*_test.go"}, "+--"},
		{[]string{"!*_test.go"}, "+-+"},
		{[]string{"{mill,lake}/**"}, "++-"},
		{[]string{"**/mill/*.{txt,md}"}, "--+"},
	} {
		got := ""
		for _, p := range []string{"mill/stone.go", "mill/stone_test.go", "sea/mill/a.txt"} {
			if got += "-"; chosen(c.globs, p) {
				got = got[:len(got)-1] + "+"
			}
		}
		if got != c.want {
			t.Errorf("%q: %s instead of %s", c.globs, got, c.want)
		}
	}
}

func TestToolCall(t *testing.T) {
	for _, c := range []struct {
		args []string
		tool string
		in   map[string]any
	}{
		{[]string{"search", "crush grain", "--detail", "full", "--limit=3", "--min-relevance", "0.2", "--stores", "a,b"},
			"search", map[string]any{"query": "crush grain", "detail": "full", "limit": 3.0, "minRelevance": 0.2,
				"stores": []string{"a", "b"}}},
		{[]string{"context", "mill/stone.go:4"}, "get_full_context", map[string]any{"resultId": "mill/stone.go:4"}},
		{[]string{"execute", "files", `{"glob":"*.go"}`}, "execute",
			map[string]any{"command": "files", "args": map[string]any{"glob": "*.go"}}},
	} {
		tool, in, err := toolCall(c.args)
		if err != nil || tool != c.tool {
			t.Errorf("%v: %s, %v", c.args, tool, err)
		}
		if d := cmp.Diff(c.in, in); d != "" {
			t.Errorf("%v: %s", c.args, d)
		}
	}
}
