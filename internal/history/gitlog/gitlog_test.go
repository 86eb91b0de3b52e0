package gitlog_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/seed-4f2d999b/knowledge/internal/history/gitlog"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// repository is a work tree that a test commits in, an hour a commit.
type repository struct {
	t    *testing.T
	dir  string
	tree *git.Worktree
	when time.Time
	name map[plumbing.Hash]string // the message of each commit
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	dir := t.TempDir()
	r, err := git.PlainInit(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := r.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	return &repository{t: t, dir: dir, tree: tree, when: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), name: map[plumbing.Hash]string{}}
}

func (r *repository) write(path, text string) {
	r.t.Helper()
	full := filepath.Join(r.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// commit commits everything; parents are HEAD where none is given.
func (r *repository) commit(message string, parents ...plumbing.Hash) plumbing.Hash {
	r.t.Helper()
	if err := r.tree.AddWithOptions(&git.AddOptions{All: true}); err != nil {
		r.t.Fatal(err)
	}
	r.when = r.when.Add(time.Hour)
	who := &object.Signature{Name: "A", Email: "a@example.org", When: r.when}
	h, err := r.tree.Commit(message, &git.CommitOptions{Author: who, Committer: who, Parents: parents, AllowEmptyCommits: true})
	if err != nil {
		r.t.Fatal(err)
	}
	r.name[h] = message
	return h
}

func (r *repository) remove(path string) {
	r.t.Helper()
	if err := os.Remove(filepath.Join(r.dir, path)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repository) open() (*source.Repository, plumbing.Hash) {
	r.t.Helper()
	repo, err := source.OpenRepository(r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { repo.Close() })
	head, err := repo.Head()
	if err != nil {
		r.t.Fatal(err)
	}
	return repo, head
}

// made returns, for each line of a file of the work tree, the message of the
// commit that made it.
func (r *repository) made(path string, ignore ...plumbing.Hash) string {
	r.t.Helper()
	found := r.trace(path, ignore...)
	body, err := os.ReadFile(filepath.Join(r.dir, path))
	if err != nil {
		r.t.Fatal(err)
	}
	out := make([]string, strings.Count(string(body), "\n"))
	for i := range out {
		out[i] = "?"
	}
	for _, o := range found.Origins {
		for _, l := range o.Lines {
			if o.Generation == 0 {
				out[l-1] = r.name[o.Commit]
			}
		}
	}
	for _, l := range found.Uncommitted {
		out[l-1] = "-"
	}
	return strings.Join(out, " ")
}

func (r *repository) trace(path string, ignore ...plumbing.Hash) gitlog.Traced {
	r.t.Helper()
	repo, head := r.open()
	l := gitlog.New()
	if whole, err := l.Extend(r.t.Context(), repo, head); err != nil || !whole {
		r.t.Fatal(whole, err)
	}
	body, err := os.ReadFile(filepath.Join(r.dir, path))
	if err != nil {
		r.t.Fatal(err)
	}
	through := map[plumbing.Hash]bool{}
	for _, h := range ignore {
		through[h] = true
	}
	found, err := l.Trace(r.t.Context(), repo, head, path, body, 1, strings.Count(string(body), "\n"), through)
	if err != nil {
		r.t.Fatal(err)
	}
	return found
}

const block = "func total(prices []int) int {\n\tsum := 0\n\tfor _, price := range prices {\n\t\tsum += price\n\t}\n\treturn sum\n}\n"

// TestMade: who made each line, through what a line survives.
func TestMade(t *testing.T) {
	for name, tc := range map[string]struct {
		history func(r *repository)
		path    string
		want    string
	}{
		"lines of several commits": {func(r *repository) {
			r.write("a", "one\ntwo\nthree\n")
			r.commit("A")
			r.write("a", "one\nTWO\nthree\n")
			r.commit("B")
			r.write("a", "zero\none\nTWO\nthree\n")
			r.commit("C")
		}, "a", "C A B A"},
		"white space and uncommitted": {func(r *repository) {
			r.write("a", "if x {\ny()\n}\n")
			r.commit("A")
			r.write("a", "if x {\n\ty()\n}\n")
			r.commit("B")
			r.write("a", "if x {\n\ty()\n}\nnew\n")
		}, "a", "A A A -"},
		"a rename": {func(r *repository) {
			r.write("old/a.go", block)
			r.commit("A")
			r.remove("old/a.go")
			r.write("new/b.go", block+"// more\n")
			r.commit("B")
		}, "new/b.go", "A A A A A A A B"},
		"a block moved to another file": {func(r *repository) {
			r.write("a.go", "package a\n\nvar other = 1\n\n"+block)
			r.commit("A")
			r.write("a.go", "package a\n\nvar other = 1\n")
			r.write("b.go", "package a\n\n"+block)
			r.commit("B")
		}, "b.go", "B B A A A A A A A"},
		"a block moved within the file": {func(r *repository) {
			r.write("a.go", block+"var first = 100\nvar second = 200\n// third line that stays\n")
			r.commit("A")
			r.write("a.go", "// new head of the file\nvar first = 100\nvar second = 200\n// third line that stays\n"+block)
			r.commit("B")
		}, "a.go", "B A A A A A A A A A A"},
		"lines put into a block of another commit": {func(r *repository) {
			r.write("a.go", "func serve() {\n\tlisten(address)\n\tanswer(request)\n}\n")
			r.commit("A")
			r.write("a.go", "func serve() {\n\tif !closed {\n\t\tlisten(address)\n\t\tanswer(request)\n\t}\n}\n")
			r.commit("B")
		}, "a.go", "A B A A B A"},
		"a formatter that breaks lines and changes quotes": {func(r *repository) {
			r.write("a.py", "call('one', first_argument, second_argument)\nother = 1\n")
			r.commit("A")
			r.write("a.py", "call(\n    \"one\",\n    first_argument,\n    second_argument,\n)\nother = 1\n")
			r.commit("B")
		}, "a.py", "A A A A A A"},
		"a merge, and what it makes itself": {func(r *repository) {
			r.write("a", "one\ntwo\nthree\n")
			base := r.commit("A")
			r.write("a", "ONE\ntwo\nthree\n")
			left := r.commit("L", base)
			r.write("a", "one\ntwo\nTHREE\n")
			right := r.commit("R", base)
			r.write("a", "ONE\nboth\ntwo\nTHREE\n")
			r.commit("M", left, right)
		}, "a", "L M A R"},
		"deleted and brought back": {func(r *repository) {
			r.write("a", "one\ntwo\n")
			r.commit("A")
			r.remove("a")
			r.write("b", "else\n")
			r.commit("B")
			r.write("a", "one\ntwo\n")
			r.commit("C")
		}, "a", "C C"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			tc.history(r)
			if got := r.made(tc.path); got != tc.want {
				t.Errorf("made by %s, want %s", got, tc.want)
			}
		})
	}
}

// TestIgnored: a commit that is to be passed through, and what lines replaced.
func TestIgnored(t *testing.T) {
	r := newRepository(t)
	r.write("a", "alpha = 1\nbeta = 2\n")
	r.commit("A")
	r.write("a", "alpha = first(1)\nbeta = 2\n")
	b := r.commit("B")
	r.write("a", "alpha = first(10)\nbeta = 2\n")
	r.commit("C")
	if got := r.made("a"); got != "C A" {
		t.Error(got)
	}
	var chain []string
	for _, o := range r.trace("a").Origins {
		if slices.Contains(o.Lines, 1) {
			chain = append(chain, fmt.Sprint(r.name[o.Commit], o.Generation))
		}
	}
	if got := strings.Join(chain, " "); got != "C0 B1 A2" {
		t.Errorf("line 1 was made by %s", got)
	}
	r.write("a", "alpha = first( 10 , x)\nbeta = 2\n")
	d := r.commit("D")
	if got := r.made("a", d); got != "C A" {
		t.Errorf("through D: %s", got)
	}
	if got := r.made("a", b); got != "D A" {
		t.Errorf("through B: %s", got)
	}
}

// TestLog: a log grows at both ends, is the same when it is read from its file,
// and says what is damaged.
func TestLog(t *testing.T) {
	r := newRepository(t)
	for i := range 5 {
		r.write(fmt.Sprintf("d%d/f", i%2), fmt.Sprintln(i))
		r.commit(fmt.Sprint("c", i))
	}
	repo, head := r.open()
	l := gitlog.New()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if whole, err := l.Extend(ended, repo, head); whole || err != nil || l.Len() != 0 {
		t.Fatalf("ended before it began: %v %v, %d commits", whole, err, l.Len())
	}
	if whole, err := l.Extend(t.Context(), repo, head); !whole || err != nil || l.Len() != 5 || !l.Grown() {
		t.Fatalf("%v %v, %d commits", whole, err, l.Len())
	}
	path := filepath.Join(t.TempDir(), "x.log")
	if err := l.Write(path, "/some/where"); err != nil || l.Grown() {
		t.Fatal(err)
	}
	again, of, err := gitlog.Open(path)
	if err != nil || of != "/some/where" || again.Len() != 5 {
		t.Fatalf("%v %q", err, of)
	}
	r.write("d9/new", "x\n")
	r.commit("c5")
	repo, head = r.open()
	if whole, err := again.Extend(t.Context(), repo, head); !whole || err != nil || again.Len() != 6 {
		t.Fatalf("%v %v, %d commits", whole, err, again.Len())
	}
	var seen []string
	again.Since(head, plumbing.ZeroHash, time.Time{}, func(c gitlog.Commit) bool {
		seen = append(seen, r.name[c.Hash]+" "+strings.Join(c.Paths, " "))
		return len(seen) < 3
	})
	if got := strings.Join(seen, "; "); got != "c5 d9/new; c4 d0/f; c3 d1/f" {
		t.Errorf("the newest are %s", got)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 100; at < len(b); at += 97 {
		bad := slices.Clone(b)
		bad[at] ^= 0x20
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := gitlog.Open(path); err != nil && kb.CodeOf(err) != kb.Corrupt && kb.CodeOf(err) != kb.Newer {
			t.Errorf("with byte %d flipped: %v", at, err)
		}
	}
}

// TestBrought: the merge that brought a commit to the branch.
func TestBrought(t *testing.T) {
	r := newRepository(t)
	r.write("a", "1\n")
	base := r.commit("base")
	r.write("b", "1\n")
	side := r.commit("side", base)
	r.write("c", "1\n")
	main := r.commit("main", base)
	merge := r.commit("merge", main, side)
	repo, head := r.open()
	l := gitlog.New()
	if _, err := l.Extend(t.Context(), repo, head); err != nil {
		t.Fatal(err)
	}
	got := l.Brought(head)
	for h, want := range map[plumbing.Hash]plumbing.Hash{base: base, side: merge, main: main, merge: merge} {
		if got[h] != want {
			t.Errorf("%s was brought by %s", r.name[h], r.name[got[h]])
		}
	}
}

// TestCompare compares texts.
func TestCompare(t *testing.T) {
	for _, tc := range []struct {
		a, b    string
		want    string
		removed int
	}{
		{"", "", "[]", 0},
		{"", "a\nb\n", "[{1 2}]", 0},
		{"a\nb\n", "", "[]", 2},
		{"a\nb\nc\n", "a\nX\nc\n", "[{2 2}]", 1},
		{"a\nb\nc\n", "c\na\nb\n", "[{1 1}]", 1},
		{"x\nx\nx\n", "x\nx\nx\nx\n", "[{4 4}]", 0},
		{"a\nx\nx\nb\n", "b\nx\na\n", "[{1 2}]", 3},
	} {
		got, removed := gitlog.Compare([]byte(tc.a), []byte(tc.b))
		if fmt.Sprint(got) != tc.want || removed != tc.removed {
			t.Errorf("%q to %q: %v, %d removed; want %s, %d", tc.a, tc.b, got, removed, tc.want, tc.removed)
		}
	}
}

// TestOneLineMoved: a line that is asked about alone is followed through a move
// of the lines around it.
func TestOneLineMoved(t *testing.T) {
	r := newRepository(t)
	r.write("a.go", "package a\n\nvar other = 1\n\n"+block)
	r.commit("A")
	r.write("a.go", "package a\n\nvar other = 1\n")
	r.write("b.go", "package a\n\n"+block)
	r.commit("B")
	repo, head := r.open()
	l := gitlog.New()
	if _, err := l.Extend(t.Context(), repo, head); err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(filepath.Join(r.dir, "b.go"))
	if err != nil {
		t.Fatal(err)
	}
	found, err := l.Trace(t.Context(), repo, head, "b.go", body, 6, 6, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Origins) != 1 || r.name[found.Origins[0].Commit] != "A" || found.Origins[0].Path != "a.go" {
		t.Errorf("made by %+v, want A in a.go", found.Origins)
	}
}

// TestAround: the commit that put lines into another block is named, one that
// only indented them anew is not.
func TestAround(t *testing.T) {
	around := func(after string) (out []string) {
		r := newRepository(t)
		r.write("a.go", "func serve() {\n\tlisten(address)\n\tanswer(request)\n}\n")
		r.commit("A")
		r.write("a.go", after)
		r.commit("B")
		for _, o := range r.trace("a.go").Origins {
			if o.Around {
				out = append(out, r.name[o.Commit])
			}
		}
		return out
	}
	if got := around("func serve() {\n\tif !closed {\n\t\tlisten(address)\n\t\tanswer(request)\n\t}\n}\n"); !slices.Equal(got, []string{"B"}) {
		t.Errorf("a new block around lines: %v", got)
	}
	if got := around("func serve() {\n    listen(address)\n    answer(request)\n}\n"); got != nil {
		t.Errorf("blanks for a tab: %v", got)
	}
}
