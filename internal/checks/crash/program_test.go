package crash

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/code"
	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/job"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// calling is a folder of Go packages and Python modules whose functions have
// names of their own, so that a call is where its name is before a
// parenthesis: what the resolved references must say, nothing more or less.
type calling struct {
	*tree
	rng  *rand.Rand
	n    int // packages, and modules
	pads []int
	salt []int // changes whom the functions of a file call
}

// perFile is how many functions a file of calling has.
const perFile = 4

func newCalling(t testing.TB, seed uint64, n int) *calling {
	t.Helper()
	c := &calling{tree: newTree(t, seed), rng: rand.New(rand.NewPCG(seed, 2)), n: n, pads: make([]int, 2*n), salt: make([]int, 2*n)}
	c.write("go.mod", "module example.org/m\n\ngo 1.22\n")
	for i := range 2 * n {
		c.salt[i] = c.rng.IntN(1000)
		c.put(i)
	}
	return c
}

// path returns the file of a number: of Go below n, of Python from there on.
func (c *calling) path(i int) string {
	if i < c.n {
		return fmt.Sprintf("p%d/file.go", i)
	}
	return fmt.Sprintf("q%d.py", i-c.n)
}

func (c *calling) name(i, k int) string {
	if i < c.n {
		return fmt.Sprintf("Lift%dTo%d", i, k)
	}
	return fmt.Sprintf("sink_%d_to_%d", i-c.n, k)
}

func (c *calling) put(i int) {
	c.t.Helper()
	var b strings.Builder
	first, n := i == 0 || i == c.n, i%c.n
	base, to := i-n, 0
	if !first {
		to = base + c.salt[i]%n
	}
	golang := i < c.n
	mark := "#"
	if golang {
		mark = "//"
	}
	for k := range c.pads[i] {
		fmt.Fprintf(&b, "%s line %d before everything\n", mark, k)
	}
	b.WriteString("\n") // what comes before is the comment of nothing
	if golang {
		fmt.Fprintf(&b, "package p%d\n\n", i)
		if !first {
			fmt.Fprintf(&b, "import \"example.org/m/p%d\"\n\n", to)
		}
	} else if !first {
		fmt.Fprintf(&b, "from q%d import %s\n\n", to-c.n, c.name(to, c.salt[i]%perFile))
	}
	for k := range perFile {
		if golang {
			call := "n"
			if !first {
				call = fmt.Sprintf("p%d.%s(n)", to, c.name(to, (k+c.salt[i])%perFile))
			}
			fmt.Fprintf(&b, "// %s lifts.\nfunc %s(n int) int {\n\treturn %s\n}\n\n", c.name(i, k), c.name(i, k), call)
			continue
		}
		call := "n"
		if !first {
			call = c.name(to, c.salt[i]%perFile) + "(n)"
		}
		fmt.Fprintf(&b, "def %s(n):\n    return %s\n\n", c.name(i, k), call)
	}
	c.write(c.path(i), b.String())
}

// change moves the functions of some files, and has those of others call others.
func (c *calling) change(files int) (changed []string) {
	for range files {
		i := c.rng.IntN(2 * c.n)
		if c.rng.IntN(2) == 0 {
			c.pads[i] += 1 + c.rng.IntN(3)
		} else {
			c.salt[i]++
			c.pads[i]++
		}
		c.put(i)
		changed = append(changed, c.path(i))
	}
	return changed
}

// known is what is true of one function: where it is, and where it is called.
type known struct {
	At    string
	Calls []string
}

// truth reads the files: what is true of each function by its name.
func (c *calling) truth() map[string]*known {
	c.t.Helper()
	out := map[string]*known{}
	get := func(name string) *known {
		if out[name] == nil {
			out[name] = &known{}
		}
		return out[name]
	}
	word := regexp.MustCompile(`(func |def )?(Lift\d+To\d+|sink_\d+_to_\d+)\(`)
	for _, p := range c.files() {
		b, err := os.ReadFile(filepath.Join(c.dir, filepath.FromSlash(p)))
		must(c.t, err)
		line := 0
		for text := range strings.Lines(string(b)) {
			line++
			for _, m := range word.FindAllStringSubmatch(text, -1) {
				at := fmt.Sprintf("%s:L%d", p, line)
				if k := get(m[2]); m[1] != "" {
					k.At = at
				} else {
					k.Calls = append(k.Calls, at)
				}
			}
		}
	}
	for _, k := range out {
		slices.Sort(k.Calls)
	}
	return out
}

// some picks names that are called, and one that is not.
func (c *calling) some(truth map[string]*known, n int) []string {
	var names []string
	for name := range truth {
		names = append(names, name)
	}
	slices.Sort(names)
	c.rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	slices.SortStableFunc(names, func(a, b string) int { return min(1, len(truth[b].Calls)) - min(1, len(truth[a].Calls)) })
	return append(slices.Clone(names[:n-1]), names[len(names)-1])
}

// callers asks for the callers of a function in the store "main".
func callers(w *world, a *app.App, name string) (known, []string, error) {
	r, err := code.Ask(w.t.Context(), a, code.CodeRequest{Stores: []string{"main"}, Waiting: app.Waiting{Wait: time.Minute},
		CodeRequest: search.CodeRequest{Symbol: name, What: search.Callers, Limit: 100}})
	return knownOf(r), r.Notes, err
}

func knownOf(r code.CodeReply) known {
	var k known
	for _, s := range r.Symbols {
		k.At += s.At
	}
	for _, u := range r.Uses {
		k.Calls = append(k.Calls, u.At)
	}
	slices.Sort(k.Calls)
	return k
}

// stands reports whether the lines of a declaration, "path:L3-5", begin where
// its name is, "path:L4", or at the comment before it.
func stands(lines, name string) bool {
	path, span, _ := strings.Cut(lines, ":L")
	var from, at int
	if _, err := fmt.Sscanf(span, "%d", &from); err != nil {
		return false
	}
	rest, ok := strings.CutPrefix(name, path+":L")
	if _, err := fmt.Sscanf(rest, "%d", &at); err != nil || !ok {
		return false
	}
	return from == at || from == at-1
}

// checkCalls asks about functions and compares with what is true.
func (w *world) checkCalls(a *app.App, truth map[string]*known, names []string) {
	w.t.Helper()
	for _, name := range names {
		got, notes, err := callers(w, a, name)
		if err != nil {
			w.t.Errorf("callers of %s: %v", name, err)
			return
		}
		if !stands(got.At, truth[name].At) || fmt.Sprint(got.Calls) != fmt.Sprint(truth[name].Calls) {
			w.t.Errorf("callers of %s: %v instead of %v (%v)", name, got, *truth[name], notes)
			return
		}
	}
}

// update indexes the store "main" and waits for it, not for its links.
func (w *world) update(a *app.App) kb.Job {
	w.t.Helper()
	s, err := a.IndexStore(w.t.Context(), "main", false)
	must(w.t, err)
	return w.finish(a, s.Job)
}

// linkJob returns the newest link job.
func (w *world) linkJob(a *app.App) (kb.Job, bool) {
	w.t.Helper()
	list, err := a.Jobs(w.t.Context(), app.JobFilter{All: true})
	must(w.t, err)
	i := slices.IndexFunc(list.Jobs, func(j kb.Job) bool { return j.Type == "link" })
	if i < 0 {
		return kb.Job{}, false
	}
	return list.Jobs[i], true
}

// views lists the files of references.
func (w *world) views() []string {
	list, err := filepath.Glob(filepath.Join(w.dir, "views", "*"))
	must(w.t, err)
	tmp, err := filepath.Glob(filepath.Join(w.dir, "views", ".*"))
	must(w.t, err)
	return append(list, tmp...)
}

// gone lets the error pass that a file is not there: another process may just
// have named the file that it wrote, or taken it away.
func gone(t testing.TB, err error) {
	t.Helper()
	if !errors.Is(err, fs.ErrNotExist) {
		must(t, err)
	}
}

// age makes a file as old as at, if it is still there.
func age(t testing.TB, file string, at time.Time) {
	t.Helper()
	gone(t, os.Chtimes(file, at, at))
}

// linkJobRow is linkJob without resuming anything.
func (w *world) linkJobRow() (kb.Job, bool) {
	w.t.Helper()
	d, err := db.Open(w.t.Context(), filepath.Join(w.dir, "knowledge.db"))
	must(w.t, err)
	defer d.Close()
	m := job.New(job.Config{DB: d, Dir: filepath.Join(w.dir, "jobs"), Env: noEnv})
	list, err := m.List(w.t.Context(), "", false)
	must(w.t, err)
	i := slices.IndexFunc(list, func(j kb.Job) bool { return j.Type == "link" })
	if i < 0 {
		return kb.Job{}, false
	}
	return list[i], true
}

// codeRequest asks for the callers of a function in the store "main".
func codeRequest(name string, wait time.Duration) code.CodeRequest {
	return code.CodeRequest{Stores: []string{"main"}, Waiting: app.Waiting{Wait: wait},
		CodeRequest: search.CodeRequest{Symbol: name, What: search.Callers, Limit: 100}}
}
