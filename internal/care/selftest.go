package care

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/code"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/index/vector"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// SelfTest is the reply of selftest.
type SelfTest struct {
	Checks []SelfCheck `json:"checks"`
	Failed int         `json:"failed"`
	Ms     int64       `json:"ms"`
}

// SelfCheck is one thing that was tried.
type SelfCheck struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Text string `json:"text"` // what was seen, or what went wrong
}

// Text is the reply for people, one line a check.
func (s SelfTest) Text() string {
	var b strings.Builder
	for _, c := range s.Checks {
		fmt.Fprintf(&b, "%-6s  %-14s  %s\n", map[bool]string{true: "ok", false: "failed"}[c.OK], c.What, c.Text)
	}
	if s.Failed > 0 {
		fmt.Fprintf(&b, "%d of %d failed; see what is wrong around it: knowledge doctor", s.Failed, len(s.Checks))
	} else {
		fmt.Fprintf(&b, "all %d work, in %d ms", len(s.Checks), s.Ms)
	}
	return b.String()
}

// ExitStatus is 1 when something failed.
func (s SelfTest) ExitStatus() int { return min(s.Failed, 1) }

// trial is what the self-test indexes: Go, which has a front end of its own,
// Python, which needs the runtime of grammars, and prose.
var trial = map[string]string{
	"kettle.go":  "package kettle\n\n// Boil heats water until it bubbles.\nfunc Boil(litres int) error { return heat(litres) }\n\nfunc heat(litres int) error { return nil }\n",
	"teapot.py":  "class Teapot:\n    def steep(self, minutes):\n        \"\"\"Leaves stay in the water.\"\"\"\n        return minutes\n",
	"README.md":  "# Tea\n\nPour the boiling water over the leaves, wait, and drink.\n",
	".gitignore": "*.tmp\n",
}

// RunSelfTest tries everything that the program does without a network, in a
// data directory of its own that is gone afterwards, and whether the user's
// can be written.
func RunSelfTest(ctx context.Context, a *app.App) (SelfTest, error) {
	began := time.Now()
	var s SelfTest
	try := func(what string, f func() (string, error)) bool {
		text, err := f()
		if err != nil {
			text = strings.Join(strings.Fields(err.Error()+" "+kb.HintOf(err)), " ")
			s.Failed++
		}
		s.Checks = append(s.Checks, SelfCheck{what, err == nil, text})
		return err == nil
	}
	try("program", func() (string, error) {
		return fmt.Sprintf("%s, %s/%s, %s", a.Version(), runtime.GOOS, runtime.GOARCH, runtime.Version()), nil
	})
	try("data directory", func() (string, error) {
		dir, err := a.DataDir()
		if err != nil {
			return "", err
		}
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			return dir + ", made when it is needed", nil
		}
		return dir, writable(dir)
	})
	try("vectors", func() (string, error) { return vector.Kernel() + " agrees with plain Go", vector.Check() })
	try("terminal", func() (string, error) { return terminalText(a.Config.Env), nil })

	root, err := os.MkdirTemp("", "knowledge-selftest-")
	if err != nil {
		return s, kb.Errorf(kb.Denied, "cannot write to the folder for temporary files: %w", err).WithHint("set TMPDIR to a folder that can be written")
	}
	defer os.RemoveAll(root)
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return s, kb.Errorf(kb.Internal, "the folder for temporary files cannot be told: %w", err)
	}
	src := filepath.Join(root, "tea")
	if err := os.Mkdir(src, 0o700); err != nil {
		return s, kb.Errorf(kb.Denied, "cannot write to %q: %w", root, err)
	}
	for name, text := range trial {
		if err := os.WriteFile(filepath.Join(src, name), []byte(text), 0o600); err != nil {
			return s, kb.Errorf(kb.Denied, "cannot write to %q: %w", src, err)
		}
	}
	one, err := selfApp(a, root, "one")
	if err != nil {
		return s, err
	}
	defer one.Close()
	two, err := selfApp(a, root, "two")
	if err != nil {
		return s, err
	}
	defer two.Close()
	t := tester{ctx: ctx, one: one, two: two, src: src, file: filepath.Join(root, "tea.kbx")}
	for _, c := range []struct {
		what string
		f    func() (string, error)
	}{
		{"database", t.database}, {"index", t.index}, {"grammars", t.grammars}, {"search", t.search}, {"show", t.show},
		{"grep", t.grep}, {"references", t.references}, {"export", t.export}, {"import", t.imported}, {"verify", t.verify},
	} {
		if !try(c.what, c.f) && (c.what == "database" || c.what == "index") {
			break // nothing of the rest can work
		}
	}
	s.Ms = time.Since(began).Milliseconds()
	return s, nil
}

// selfApp is another machine: it knows nothing of the user's settings.
func selfApp(a *app.App, root, name string) (*app.App, error) {
	dir := filepath.Join(root, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, kb.Errorf(kb.Denied, "cannot write to %q: %w", root, err)
	}
	env := func(k string) string {
		if k == "HOME" || k == "USERPROFILE" {
			return dir
		}
		return ""
	}
	return app.New(app.Config{Rooms: a.Config.Rooms, Version: a.Config.Version, DataDir: filepath.Join(dir, "data"), Dir: dir, Project: dir, Env: env})
}

// tester is a self-test under way: one has the folder, two gets the export.
type tester struct {
	ctx       context.Context
	one, two  *app.App
	src, file string
	hits      []find.Hit
}

func (t *tester) database() (string, error) {
	c, err := t.one.Open(t.ctx)
	if err != nil {
		return "", err
	}
	return "made, written and read", c.Db.Check(t.ctx)
}

func (t *tester) index() (string, error) {
	st, err := t.one.CreateStore(t.ctx, app.CreateStore{Name: "tea", Source: t.src, Kind: kb.KindFolder})
	if err != nil {
		return "", err
	}
	j, err := t.one.WaitJob(t.ctx, st.Job)
	if err == nil && j.State != kb.JobCompleted {
		err = kb.Errorf(kb.Internal, "the job ended as %s: %s", j.State, j.Message)
	}
	return j.Message, err
}

func (t *tester) grammars() (string, error) {
	info, err := t.one.StoreInfo(t.ctx, "tea")
	if err != nil {
		return "", err
	}
	if info.Unparsed > 0 {
		return "", kb.Errorf(kb.Internal, "%d of the files could not be parsed", info.Unparsed)
	}
	o, err := code.Outline(t.ctx, t.one, "teapot.py", "tea", app.Waiting{Wait: time.Minute})
	if err == nil && !strings.Contains(fmt.Sprintf("%+v", o), "steep") {
		err = kb.Errorf(kb.Internal, "a method of a Python class was not found")
	}
	return "Python parsed, a method found", err
}

func (t *tester) ask(a *app.App) ([]find.Hit, error) {
	r, err := find.Search(t.ctx, a, search.Request{Query: "heat water until it bubbles"}, app.Scope{Stores: []string{"tea"}, Waiting: app.Waiting{Wait: time.Minute}})
	if err == nil && (len(r.Hits) == 0 || !strings.HasPrefix(r.Hits[0].At, "kettle.go:")) {
		err = kb.Errorf(kb.Internal, "the function that is asked for is not the first hit")
	}
	return r.Hits, err
}

func (t *tester) search() (text string, err error) {
	t.hits, err = t.ask(t.one)
	if err != nil {
		return "", err
	}
	return "the right function first: " + t.hits[0].At, nil
}

func (t *tester) show() (string, error) {
	if len(t.hits) == 0 {
		return "", kb.Errorf(kb.Internal, "there is no hit to show")
	}
	c, err := find.ByID(t.ctx, t.one, t.hits[0].ID)
	if err == nil && !strings.Contains(c.Code, "func Boil") {
		err = kb.Errorf(kb.Internal, "the hit is shown with other lines")
	}
	return "its true lines", err
}

func (t *tester) grep() (string, error) {
	g, err := find.Grep(t.ctx, t.one, "tea", `litres`, "*.go", false, 0, app.Waiting{Wait: time.Minute})
	if err == nil && g.Total != 2 {
		err = kb.Errorf(kb.Internal, "%d lines instead of 2", g.Total)
	}
	return "2 lines", err
}

func (t *tester) references() (string, error) {
	r, err := code.Ask(t.ctx, t.one, code.CodeRequest{CodeRequest: search.CodeRequest{What: search.Callers, Symbol: "heat", Depth: 1, Limit: 5}, Stores: []string{"tea"}, Waiting: app.Waiting{Wait: time.Minute}})
	if err == nil && !strings.Contains(fmt.Sprintf("%+v", r), "Boil") {
		err = kb.Errorf(kb.Internal, "the caller of a function was not found")
	}
	return "the caller of a function", err
}

func (t *tester) export() (string, error) {
	e, err := Export(t.ctx, t.one, "tea", t.file, false)
	return fmt.Sprintf("%d documents, %s", e.Documents, app.BytesOf(e.Bytes)), err
}

func (t *tester) imported() (string, error) {
	if _, err := Import(t.ctx, t.two, ImportRequest{File: t.file}); err != nil {
		return "", err
	}
	hits, err := t.ask(t.two)
	if err == nil && (len(t.hits) == 0 || hits[0].ID != t.hits[0].ID || hits[0].Score != t.hits[0].Score) {
		err = kb.Errorf(kb.Internal, "the imported store answers otherwise")
	}
	return "the same answer", err
}

func (t *tester) verify() (string, error) {
	v, err := Verify(t.ctx, t.two, "", false)
	if err == nil && len(v.Findings) > 0 {
		err = kb.Errorf(kb.Corrupt, "%s", v.Findings[0].Text)
	}
	return kb.Count(v.Files, "file") + ", all there and true", err
}

// terminalText says what the environment shows of the terminal.
func terminalText(env func(string) string) string {
	locale := env("LC_ALL")
	for _, k := range []string{"LC_CTYPE", "LANG"} {
		if locale == "" {
			locale = env(k)
		}
	}
	kind := env("TERM")
	if kind == "" {
		kind = "none"
	}
	utf8 := runtime.GOOS == "windows" || strings.Contains(strings.ToLower(strings.ReplaceAll(locale, "-", "")), "utf8")
	if utf8 {
		return kind + ", UTF-8"
	}
	return kind + ", not known to show UTF-8: names in other scripts may look wrong"
}
