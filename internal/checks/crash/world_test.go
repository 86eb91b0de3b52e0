package crash

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/data/lockfile"
	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
	"github.com/seed-4f2d999b/knowledge/internal/product"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// world is a data directory and what is done in it.
type world struct {
	t    testing.TB
	dir  string // the data directory
	home string // where processes work: no project
	// vouched are the folders that agents may index, by the word of who starts
	// their servers.
	vouched []string
	// linkAtOnce is app.Config.LinkAtOnce of the processes that are no workers.
	linkAtOnce int64
}

func newWorld(t testing.TB) *world {
	t.Helper()
	// Not the test's own: it fails the test when it cannot be removed at once.
	root, err := os.MkdirTemp("", "knowledge-crash-")
	must(t, err)
	if root, err = filepath.EvalSymlinks(root); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: filepath.Join(root, "data"), home: filepath.Join(root, "home")}
	must(t, os.Mkdir(w.home, 0o700))
	t.Cleanup(func() { // workers that are about to end may still write
		until := time.Now().Add(time.Minute)
		for quiet := 0; quiet < 5 && time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
			if quiet++; os.RemoveAll(root) != nil {
				quiet = 0
			}
		}
	})
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v (%s)", err, kb.HintOf(err))
	}
}

// open returns the app of a process that starts now and ends with the test,
// or with close. Its jobs run in workers, or in itself when alone.
func (w *world) open(alone bool) (a *app.App, end func()) {
	w.t.Helper()
	cfg := app.Config{DataDir: w.dir, Dir: w.home, Env: noEnv, LinkAtOnce: w.linkAtOnce}
	if !alone {
		cfg.Worker = []string{os.Args[0]}
	}
	a, err := product.New(cfg)
	must(w.t, err)
	done := false
	end = func() {
		if !done {
			done = true
			a.Close()
		}
	}
	w.t.Cleanup(end)
	return a, end
}

// suffer makes the workers that start from now on suffer. A worker that is
// still at the end of an earlier job would take the next one, and suffers not.
func (w *world) suffer(f faults) {
	w.t.Helper()
	w.workersEnd()
	b, err := json.Marshal(f)
	must(w.t, err)
	must(w.t, os.MkdirAll(filepath.Dir(w.dir), 0o700))
	must(w.t, os.WriteFile(faultsPath(w.dir), b, 0o600))
}

// workersEnd waits for the processes that run jobs, which end when there is
// nothing left to do; where processes cannot be listed it just returns.
func (w *world) workersEnd() {
	work := []byte("\x00" + w.dir + "\x00work\x00")
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(5 * time.Millisecond) {
		names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		if !slices.ContainsFunc(names, func(name string) bool {
			line, err := os.ReadFile(name)
			return err == nil && bytes.Contains(line, work)
		}) {
			return
		}
	}
}

// run runs the program to its end in a process of its own.
func (w *world) run(args ...string) (stdout string, err error) {
	cmd := w.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("knowledge %s: %w: %s", strings.Join(args, " "), err, errs.String())
	}
	return out.String(), nil
}

func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{"--data-dir", w.dir, "--quiet"}, args...)...)
	cmd.Dir = w.home
	cmd.Env = append(os.Environ(), config.TrustVariable+"="+strings.Join(w.vouched, string(os.PathListSeparator)))
	return cmd
}

// opens has the user of all worlds let a server on this machine be fetched.
func opens(t *testing.T, address string, more ...string) {
	t.Helper()
	u, err := url.Parse(address)
	must(t, err)
	path := filepath.Join(t.TempDir(), "config.yaml")
	text := fmt.Sprintf("web:\n  allow: [%q]\n", u.Host) + strings.Join(more, "")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	t.Setenv(configEnv, path)
}

// wait sees a job to its end in this process.
func (w *world) wait(a *app.App, id string) kb.Job {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 2*time.Minute)
	defer cancel()
	j, err := a.WaitJob(ctx, id)
	if err != nil {
		w.t.Fatalf("job %s, %s: %v", id, j.State, err)
	}
	return j
}

// finish sees a job to its end and fails the test unless it completes.
func (w *world) finish(a *app.App, id string) kb.Job {
	w.t.Helper()
	j := w.wait(a, id)
	if j.State != kb.JobCompleted {
		w.t.Fatalf("job %s has %s: %s", id, j.State, j.Message)
	}
	return j
}

// create makes a store of a folder and waits until it is indexed.
func (w *world) create(a *app.App, name, src string) {
	w.t.Helper()
	s, err := a.CreateStore(w.t.Context(), app.CreateStore{Name: name, Kind: kb.KindFolder, Source: src})
	must(w.t, err)
	w.finish(a, s.Job)
}

// worker returns the process that runs a job, once there is one other than
// not; 0 when the job ends first or no process runs it within a minute.
func (w *world) worker(a *app.App, id string, not int) int {
	lock := filepath.Join(w.dir, "jobs", id+".lock")
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(time.Millisecond) {
		if h, held := lockfile.Held(lock); held && h.PID != 0 && h.PID != not {
			return h.PID
		}
		if time.Since(began) > 20*time.Millisecond {
			if j, err := a.Job(w.t.Context(), id); err == nil && j.State.Ended() {
				return 0
			}
		}
	}
	w.t.Errorf("nobody runs job %s", id)
	return 0
}

// kill ends a process as kill -9 does, and returns when its locks are free.
func kill(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && p.Kill() == nil
}

// document is what an index says of one.
type document struct {
	Hash     string
	Language string
	IDs      []string // of its chunks
}

// documents reads what the live generation of a store holds.
func (w *world) documents(name string) map[string]document {
	w.t.Helper()
	d, err := db.Open(w.t.Context(), filepath.Join(w.dir, "knowledge.db"))
	must(w.t, err)
	defer d.Close()
	must(w.t, d.Check(w.t.Context()))
	all, err := catalog.New(d, nil).All(w.t.Context())
	must(w.t, err)
	i := slices.IndexFunc(all, func(e catalog.Entry) bool { return e.Label() == name })
	if i < 0 || all[i].Head == nil {
		w.t.Fatalf("there is no store %q", name)
	}
	g, err := index.NewPool(w.dir, embed.Default().ID(), "").Open(w.t.Context(), all[i].Head.Manifest)
	must(w.t, err)
	defer g.Release()
	list, err := g.Identities(w.t.Context(), nil)
	must(w.t, err)
	out := map[string]document{}
	for _, d := range list {
		text, err := g.Document(w.t.Context(), d.Path)
		must(w.t, err)
		if _, twice := out[d.Path]; twice {
			w.t.Errorf("%s stands twice in the index", d.Path)
		}
		out[d.Path] = document{hex.EncodeToString(d.Hash[:]), d.Language, text.IDs}
	}
	return out
}

// ageUnfinished lets time pass over what the dead left: files that have not got
// their name, and views that nothing may name.
func (w *world) ageUnfinished() {
	w.t.Helper()
	old := time.Now().Add(-2 * time.Hour)
	for _, pattern := range []string{"segments/.tmp-*", "generations/.tmp-*", "views/.tmp-*", "views/*.view"} {
		list, err := filepath.Glob(filepath.Join(w.dir, pattern))
		must(w.t, err)
		for _, f := range list {
			age(w.t, f, old)
		}
	}
}

// noGarbage fails the test when files lie about that no store needs.
func (w *world) noGarbage() {
	w.t.Helper()
	d, err := db.Open(w.t.Context(), filepath.Join(w.dir, "knowledge.db"))
	must(w.t, err)
	defer d.Close()
	all, err := catalog.New(d, nil).All(w.t.Context())
	must(w.t, err)
	need := map[string]bool{}
	for _, e := range all {
		if e.Head != nil {
			need[e.Head.Manifest] = true
			need[e.Head.Layout] = true
			for _, s := range e.Head.Segments {
				need[s] = true
			}
		}
	}
	for _, dir := range []string{"segments", "generations"} {
		list, err := os.ReadDir(filepath.Join(w.dir, dir))
		must(w.t, err)
		for _, e := range list {
			name, _, _ := strings.Cut(e.Name(), ".")
			if !need[name] && !need[e.Name()] {
				w.t.Errorf("%s/%s is left", dir, e.Name())
			}
		}
	}
}

// noComplaints fails the test when workers crashed other than by a kill.
func (w *world) noComplaints() {
	b, err := os.ReadFile(filepath.Join(w.dir, "worker.log"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Error(err)
	}
	for _, sign := range []string{"panic", "DATA RACE", "fatal error", "SIGBUS", "SIGSEGV"} {
		if strings.Contains(string(b), sign) {
			w.t.Errorf("a worker said:\n%.4000s", b)
			return
		}
	}
}

// answer is what a query finds, without what may differ between two moments
// (times, and remarks that a file has changed since). What settled leaves out
// is in it: when all is quiet, nothing is behind.
type answer struct {
	Hits  []find.Hit
	Notes []string
}

func (a answer) String() string {
	var b strings.Builder
	for _, h := range a.Hits {
		fmt.Fprintf(&b, "%s %s %.2f %v; ", h.ID, h.At, h.Score, h.Why)
	}
	return b.String() + strings.Join(a.Notes, "; ")
}

// late finds the remarks about a store that is not, or may not be, as its
// folder is.
var late = regexp.MustCompile(`^store \S+ (is behind its folder: |is still being brought up to date \(|could not be brought up to date \(|was last compared with its folder at )`)

// settled is the answer without remarks about what is behind: they differ
// between two moments while a folder and its index do.
func (a answer) settled() answer {
	notes := slices.DeleteFunc(slices.Clone(a.Notes), late.MatchString)
	if len(notes) == 0 {
		notes = nil
	}
	return answer{a.Hits, notes}
}

// late returns the first remark about what is behind, "" when there is none.
func (a answer) late() string {
	i := slices.IndexFunc(a.Notes, late.MatchString)
	if i < 0 {
		return ""
	}
	return a.Notes[i]
}

func settled(list []answer) []answer {
	out := make([]answer, len(list))
	for i, a := range list {
		out[i] = a.settled()
	}
	return out
}

// ask searches one store, or several. What is behind its folder is brought up
// to date meanwhile, which the answer does not wait for.
func ask(ctx context.Context, a *app.App, query string, stores ...string) (answer, error) {
	r, err := find.Search(ctx, a, search.Request{Query: query, Detail: "contextual", Limit: 5}, app.Scope{Stores: stores})
	for i := range r.Hits {
		r.Hits[i].Note = ""
	}
	return answer{r.Hits, r.Notes}, err
}

// answers asks every query.
func (w *world) answers(a *app.App, queries []string, stores ...string) []answer {
	w.t.Helper()
	out := make([]answer, len(queries))
	for i, q := range queries {
		var err error
		if out[i], err = ask(w.t.Context(), a, q, stores...); err != nil {
			w.t.Fatalf("search %q: %v", q, err)
		}
	}
	return out
}

// tree is a folder that tests change.
type tree struct {
	t   testing.TB
	dir string
	rng *rand.Rand
	n   int // of the next file
}

func newTree(t testing.TB, seed uint64) *tree {
	t.Helper()
	tr := &tree{t: t, dir: filepath.Join(t.TempDir(), fmt.Sprint("tree", seed)), rng: rand.New(rand.NewPCG(seed, 8))}
	must(t, os.Mkdir(tr.dir, 0o700))
	return tr
}

func (tr *tree) write(name, text string) {
	tr.t.Helper()
	path := filepath.Join(tr.dir, filepath.FromSlash(name))
	must(tr.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(tr.t, os.WriteFile(path, []byte(text), 0o600))
}

// files returns the paths of the files, in order.
func (tr *tree) files() (out []string) {
	tr.t.Helper()
	must(tr.t, filepath.WalkDir(tr.dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var rel string
			if rel, err = filepath.Rel(tr.dir, p); err == nil {
				out = append(out, filepath.ToSlash(rel))
			}
		}
		return err
	}))
	return out
}

var (
	verbs = strings.Fields("open close read write merge split parse render encode decode verify resolve publish collect cancel resume measure compare reverse rotate")
	nouns = strings.Fields("segment cursor window ledger packet session bucket channel lattice harbour meadow lantern compass anchor glacier orchard beacon thicket quarry mosaic")
)

// word makes a name of a verb and two nouns.
func (tr *tree) word() string {
	title := func(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
	return verbs[tr.rng.IntN(len(verbs))] + title(nouns[tr.rng.IntN(len(nouns))]) + title(nouns[tr.rng.IntN(len(nouns))])
}

// source makes a small file of Go, Markdown or Python.
func (tr *tree) source() (ext, text string) {
	var b strings.Builder
	switch tr.rng.IntN(4) {
	case 0:
		fmt.Fprintf(&b, "# The %s of the %s\n\n", nouns[tr.rng.IntN(20)], nouns[tr.rng.IntN(20)])
		for range 1 + tr.rng.IntN(4) {
			fmt.Fprintf(&b, "## When to %s\n\nFirst %s, then %s the %s and never the %s.\n\n", tr.word(), tr.word(), verbs[tr.rng.IntN(20)], nouns[tr.rng.IntN(20)], nouns[tr.rng.IntN(20)])
		}
		return ".md", b.String()
	case 1:
		for range 1 + tr.rng.IntN(4) {
			fmt.Fprintf(&b, "def %s(%s):\n    \"\"\"%s the %s.\"\"\"\n    return %s(%s) + %d\n\n", tr.word(), nouns[tr.rng.IntN(20)], verbs[tr.rng.IntN(20)], nouns[tr.rng.IntN(20)], tr.word(), nouns[tr.rng.IntN(20)], tr.rng.IntN(1000))
		}
		return ".py", b.String()
	}
	fmt.Fprintf(&b, "package %s\n\n", nouns[tr.rng.IntN(20)])
	for range 1 + tr.rng.IntN(6) {
		name := tr.word()
		fmt.Fprintf(&b, "// %s has to %s the %s before the %s.\nfunc %s(%s int) int {\n\treturn %s(%s * %d)\n}\n\n", name, verbs[tr.rng.IntN(20)], nouns[tr.rng.IntN(20)], nouns[tr.rng.IntN(20)], name, nouns[tr.rng.IntN(20)], tr.word(), nouns[tr.rng.IntN(20)], tr.rng.IntN(1000))
	}
	return ".go", b.String()
}

// grow adds files.
func (tr *tree) grow(files int) {
	for range files {
		ext, text := tr.source()
		tr.n++
		tr.write(fmt.Sprintf("%s/%s%d%s", nouns[tr.n%7], nouns[tr.rng.IntN(20)], tr.n, ext), text)
	}
}

// edit changes, adds and removes files.
func (tr *tree) edit(changes int) {
	list := tr.files()
	if len(list) < 8 {
		tr.grow(8)
		list = tr.files()
	}
	for range changes {
		at := tr.rng.IntN(len(list))
		switch p := list[at]; tr.rng.IntN(4) {
		case 0:
			tr.grow(1)
		case 1:
			os.Remove(filepath.Join(tr.dir, filepath.FromSlash(p)))
		default:
			_, text := tr.source()
			tr.write(p, text)
		}
	}
}

// golang adds files of Go's own library, which are real ones; none where the
// library is not installed.
func (tr *tree) golang(packages ...string) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return
	}
	src := filepath.Join(strings.TrimSpace(string(out)), "src")
	for _, p := range packages {
		list, _ := filepath.Glob(filepath.Join(src, filepath.FromSlash(p), "*.go"))
		for _, f := range list {
			if text, err := os.ReadFile(f); err == nil {
				tr.write("go/"+p+"/"+filepath.Base(f), string(text))
			}
		}
	}
}

// queries makes questions of names, words and phrases that are in the tree.
func (tr *tree) queries(n int) []string {
	rng := rand.New(rand.NewPCG(uint64(n), 9))
	var out []string
	files := tr.files()
	for len(out) < n {
		b, err := os.ReadFile(filepath.Join(tr.dir, filepath.FromSlash(files[rng.IntN(len(files))])))
		must(tr.t, err)
		words := strings.FieldsFunc(string(b), func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_')
		})
		words = slices.DeleteFunc(words, func(s string) bool { return len(s) < 4 })
		if len(words) < 6 {
			continue
		}
		at := rng.IntN(len(words) - 4)
		out = append(out, strings.Join(words[at:at+1+rng.IntN(4)], " "))
	}
	return out
}
