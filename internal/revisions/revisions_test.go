package revisions_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

var wait = app.Waiting{Wait: time.Minute, Person: true}

// history is a repository in a folder of a machine, with its commits, oldest first.
type history struct {
	*producttest.Site
	name    string
	repo    *git.Repository
	when    time.Time
	commits []plumbing.Hash
}

func newHistory(t *testing.T, name string) *history {
	t.Helper()
	s := producttest.NewSite(t)
	repo, err := git.PlainInit(filepath.Join(s.Root, name), false)
	if err != nil {
		t.Fatal(err)
	}
	return &history{Site: s, name: name, repo: repo, when: time.Now().Add(-400 * 24 * time.Hour).Truncate(time.Second)}
}

func (h *history) put(path, body string) { h.Helper(); h.Write(h.name+"/"+path, body) }

func (h *history) path(path string) string {
	return filepath.Join(h.Root, h.name, filepath.FromSlash(path))
}

// commit commits everything, two days after the commit before.
func (h *history) commit(message string) plumbing.Hash {
	h.Helper()
	tree, err := h.repo.Worktree()
	if err == nil {
		err = tree.AddWithOptions(&git.AddOptions{All: true})
	}
	if err != nil {
		h.Fatal(err)
	}
	h.when = h.when.Add(48 * time.Hour)
	who := &object.Signature{Name: "Ada", Email: "a@example.org", When: h.when}
	c, err := tree.Commit(message, &git.CommitOptions{Author: who, Committer: who, AllowEmptyCommits: true})
	if err != nil {
		h.Fatal(err)
	}
	h.commits = append(h.commits, c)
	return c
}

// checkout writes the files of a commit into a folder of another machine, and
// returns how many there are.
func (h *history) checkout(c plumbing.Hash, s *producttest.Site, folder string) (n int) {
	h.Helper()
	commit, err := h.repo.CommitObject(c)
	if err != nil {
		h.Fatal(err)
	}
	files, err := commit.Files()
	if err != nil {
		h.Fatal(err)
	}
	err = files.ForEach(func(f *object.File) error {
		text, err := f.Contents()
		s.Write(folder+"/"+f.Name, text)
		n++
		return err
	})
	if err == nil { // rules of .gitignore hold from the root of a work tree down
		_, err = git.PlainInit(filepath.Join(s.Root, folder), false)
	}
	if err != nil {
		h.Fatal(err)
	}
	return n
}

// words of which the generated project is made.
var words = strings.Fields("payment invoice refund ledger account balance currency tax customer order basket discount " +
	"shipping parcel courier address label retry timeout queue worker schedule lock cache session token password " +
	"encode decode parse render print index search rank score filter merge split")

// generate writes a history of renames, edits, deletions and new files, by a seed.
func generate(h *history, commits int) {
	r := rand.New(rand.NewPCG(30, 7))
	word := func() string { return words[r.IntN(len(words))] }
	title := func(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
	files := map[string]string{}
	function := func() string {
		a, b, c := word(), word(), word()
		return fmt.Sprintf("\n// %s%s %ss the %s of a %s before the %s.\nfunc %s%s(%s int) error {\n\tif %s < %d {\n\t\treturn err%s\n\t}\n\treturn %s(%s)\n}\n",
			title(a), title(b), a, b, c, word(), title(a), title(b), c, c, r.IntN(90), title(b), word(), c)
	}
	fresh := func() string {
		dir := words[r.IntN(8)]
		switch r.IntN(4) {
		case 0:
			p := fmt.Sprintf("docs/%s-%d.md", word(), r.IntN(1000))
			files[p] = fmt.Sprintf("# The %s of the %s\n\nA %s has a %s and a %s.\n\n## How to %s a %s\n\nFirst %s the %s, then %s it.\n", word(), word(), word(), word(), word(), word(), word(), word(), word(), word())
			return p
		case 1:
			p := fmt.Sprintf("tools/%s_%d.py", word(), r.IntN(1000))
			files[p] = fmt.Sprintf("def %s_%s(%s):\n    \"\"\"Return the %s of a %s.\"\"\"\n    return %s(%s)\n", word(), word(), word(), word(), word(), word(), word())
			return p
		}
		p := fmt.Sprintf("%s/%s%d.go", dir, word(), r.IntN(1000))
		files[p] = "package " + dir + "\n" + function() + function()
		return p
	}
	for range 30 {
		fresh()
	}
	h.put("tools/fixed_r1.py", "def refund_order(customer):\n    return customer\n")
	h.put("customer/fixed.go", "package customer\n"+function())
	h.put("docs/tables.md", "# The tables of a refund\n\nA payment has a table.\n")
	for n := range commits {
		if n == commits/3 { // of what is committed already, too
			h.put(".gitignore", "*_r*.py\n/docs/t*\n!docs/tax-*\ncustomer/\n")
			h.put("tools/.gitignore", "moved_*\n")
		}
		names := make([]string, 0, len(files))
		for p := range files {
			names = append(names, p)
		}
		slices.Sort(names)
		for range 1 + r.IntN(4) {
			p := names[r.IntN(len(names))]
			body, there := files[p]
			if !there {
				continue
			}
			switch r.IntN(5) {
			case 0:
				delete(files, p)
				_ = os.Remove(h.path(p))
			case 1:
				delete(files, p)
				_ = os.Remove(h.path(p))
				files[strings.Replace(p, "/", "/moved_", 1)] = body
			case 2:
				fresh()
			default:
				if strings.HasSuffix(p, ".go") {
					files[p] = body + function()
				} else {
					files[p] = strings.Replace(body, word(), word(), 1) + "\n"
				}
			}
		}
		for p, body := range files {
			h.put(p, body)
		}
		h.commit(fmt.Sprintf("change %d", n))
	}
}

// queries are asked of both sides.
var queries = []search.Request{
	{Query: "refund a payment to the account"},
	{Query: "where is the timeout of a retry handled"},
	{Query: "how does the ledger work"},
	{Query: "ParseTax"}, {Query: "invoice.go"}, {Query: "password token session"},
	{Query: "encode", Mode: "fts"}, {Query: "give money back to a client", Mode: "vector"},
	{Query: "render a label", Intent: "find-usage"},
	{Query: "shipping address", Intent: "find-documentation", Detail: "contextual"},
	{Query: "cache", Under: "docs"}, {Query: "the queue of a worker", Packed: true},
	// Each place names the revision, which costs tokens: a budget that bounds nothing.
	{Query: "how is an order merged", Packed: true, Budget: search.MaxBudget},
}

// same asks an index of a checkout and a search at a revision the same.
func same(t *testing.T, at *app.App, rev string, whole *app.App, of string, with []search.Request) (hits int) {
	t.Helper()
	for _, q := range with {
		q.Limit = 20
		if q.Packed {
			q.Limit = 0
		}
		then, err := find.Search(t.Context(), at, q, app.Scope{At: rev, Waiting: wait})
		if err != nil {
			t.Fatalf("%s: %q: %v", rev, q.Query, err)
		}
		var stores []string
		if of != "" {
			stores = []string{of}
		}
		want, err := find.Search(t.Context(), whole, q, app.Scope{Stores: stores, Waiting: wait})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(lines(want), lines(then)); d != "" {
			t.Errorf("%s: %q %s%s (-an index of it, +at it):\n%s", rev, q.Query, q.Mode, q.Intent, d)
		}
		hits += len(want.Hits)
	}
	return hits
}

// lines are what a reply says, but for the revision and ids.
func lines(r find.SearchReply) (out []string) {
	for _, h := range r.Hits {
		at, _, _ := search.CutRevision(h.At)
		out = append(out, fmt.Sprintf("%s %s %v %d %q %q %q %v %v", at, h.Symbol, h.Score, h.Line, h.Code, h.Kind, h.Signature, h.CalledBy, h.Calls))
	}
	out = append(out, r.Confidence)
	for l := range strings.Lines(r.Shown) {
		at := strings.TrimSpace(l)
		if i := strings.Index(at, " @ "); i > 0 && len(at) >= i+10 {
			at = at[:i] + at[i+10:]
		}
		out = append(out, at)
	}
	return out
}

// TestExact: a search at a revision finds what an index of a checkout of it finds:
// the same places, in the same order, with the same scores and lines.
func TestExact(t *testing.T) {
	h := newHistory(t, "shop")
	generate(h, 24)
	a := h.In("shop", true)
	h.Search(a, search.Request{Query: "refund"}, app.Scope{}) // the folder as it is now
	hits := 0
	for _, back := range []int{23, 12, 3, 0} {
		c := h.commits[len(h.commits)-1-back]
		other := producttest.NewSite(t)
		files := h.checkout(c, other, "shop")
		whole := other.In("shop", true)
		hits += same(t, a, fmt.Sprintf("HEAD~%d", back), whole, "", queries)
		if back == 0 {
			list, err := find.FilesHere(t.Context(), whole, "", 0, wait)
			if err != nil || list.Total+3 > files {
				t.Errorf("%d of %d committed files are indexed, and .gitignore names more: %v", list.Total, files, err)
			}
		}
	}
	// The same of a folder of the repository, as a store.
	c := h.commits[len(h.commits)-6]
	other := producttest.NewSite(t)
	h.checkout(c, other, "shop")
	elsewhere, whole := h.In("other", true), other.In("other", true)
	for s, a := range map[*producttest.Site]*app.App{h.Site: elsewhere, other: whole} {
		s.Create(a, app.CreateStore{Name: "part", Kind: kb.KindFolder, Source: filepath.Join(s.Root, "shop", "docs")})
	}
	for _, q := range []search.Request{{Query: "how to refund a payment"}, {Query: "customer", Packed: true, Budget: search.MaxBudget}} {
		q.Limit = 20
		then, err := find.Search(t.Context(), elsewhere, q, app.Scope{At: c.String()[:9], Stores: []string{"part"}, Waiting: wait})
		if err != nil {
			t.Fatal(err)
		}
		want, err := find.Search(t.Context(), whole, q, app.Scope{Stores: []string{"part"}, Waiting: wait})
		if err != nil || len(want.Hits) == 0 {
			t.Fatal(want.Hits, err)
		}
		if d := cmp.Diff(lines(want), lines(then)); d != "" {
			t.Errorf("%q in a folder (-an index of it, +at it):\n%s", q.Query, d)
		}
	}
	if hits < 200 {
		t.Errorf("only %d hits were compared", hits)
	}
}
