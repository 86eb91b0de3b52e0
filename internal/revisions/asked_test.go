package revisions_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/care"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/revisions"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// bank is a project of four commits, and an edit that is in none.
func bank(t *testing.T) (*history, *app.App) {
	h := newHistory(t, "bank")
	h.put("pay.go", "package bank\n\n// Pay sends cents to the clearing house.\nfunc Pay(cents int) error {\n\treturn clear(cents)\n}\n")
	h.put("README.md", "# Bank\n\nMoney is sent through the clearing house.\n")
	h.commit("pay")
	h.put("pay.go", "package bank\n\n// Pay sends cents by courier pigeon.\nfunc Pay(cents int) error {\n\treturn pigeon(cents)\n}\n")
	h.commit("pigeons")
	_ = os.Remove(h.path("pay.go"))
	h.put("wire.go", "package bank\n\n// Wire sends cents by telegraph wire.\nfunc Wire(cents int) error { return nil }\n")
	h.commit("wires")
	h.put("later.go", "package bank\n\n// Later is of the last commit.\nfunc Later() {}\n")
	h.commit("later")
	h.put("uncommitted.go", "package bank\n\n// Draft of telegraph fees, in no commit.\nfunc Draft() {}\n")
	return h, h.In("bank", true)
}

func ask(t *testing.T, a *app.App, rev, query string) (find.SearchReply, error) {
	t.Helper()
	return find.Search(t.Context(), a, search.Request{Query: query, Limit: 5}, app.Scope{At: rev, Waiting: wait})
}

func places(r find.SearchReply) string {
	var all []string
	for _, h := range r.Hits {
		all = append(all, h.At)
	}
	return strings.Join(all, ", ")
}

// TestForms: a revision is written as git and changed have it.
func TestForms(t *testing.T) {
	h, a := bank(t)
	first, second := h.commits[0], h.commits[1]
	for name, c := range map[plumbing.ReferenceName]plumbing.Hash{"refs/tags/v1": first, "refs/heads/old/pigeon@home": second, "refs/remotes/origin/far": first} {
		if err := h.repo.Storer.SetReference(plumbing.NewHashReference(name, c)); err != nil {
			t.Fatal(err)
		}
	}
	who := &object.Signature{Name: "Ada", Email: "a@example.org", When: h.when}
	if _, err := h.repo.CreateTag("signed", second, &git.CreateTagOptions{Tagger: who, Message: "a tag of its own"}); err != nil {
		t.Fatal(err)
	}
	day := func(n int) string { // between two commits
		return h.when.Add(time.Duration(n-len(h.commits)+1) * 48 * time.Hour).Add(24 * time.Hour).Format(time.DateOnly)
	}
	for rev, want := range map[string]plumbing.Hash{
		"HEAD~3": first, "HEAD^^": second, first.String(): first, strings.ToUpper(first.String()[:10]): first, "v1": first, "v1~0": first,
		"old/pigeon@home": second, "origin/far": first, "signed": second, "refs/tags/v1": first, day(0): first, day(1): second,
		fmt.Sprintf("%dd", 1+int(time.Since(h.when.Add(-96*time.Hour))/(24*time.Hour))): first,
	} {
		r, err := ask(t, a, rev, "Pay sends cents")
		if err != nil {
			t.Errorf("%s: %v; %s", rev, err, kb.HintOf(err))
			continue
		}
		if text := places(r); !strings.HasPrefix(text, "pay.go:L3-6 @ "+want.String()[:7]) {
			t.Errorf("%s: %s, want %s", rev, text, want)
		}
		if len(r.Notes) == 0 || !strings.HasPrefix(r.Notes[0], "searched as of "+want.String()[:7]+" of 20") {
			t.Errorf("%s: %q", rev, r.Notes)
		}
	}
	// A branch that has moved is looked up again.
	moved := plumbing.NewHashReference("refs/heads/old/pigeon@home", first)
	if err := h.repo.Storer.SetReference(moved); err != nil {
		t.Fatal(err)
	}
	if r, err := ask(t, a, "old/pigeon@home", "Pay sends cents"); err != nil || !strings.Contains(places(r), " @ "+first.String()[:7]) {
		t.Errorf("a branch that moved: %s %v", places(r), err)
	}
	// What came later, and what no commit has, is not there.
	r, err := ask(t, a, "HEAD~1", "Later Draft telegraph")
	if err != nil || strings.Contains(places(r), "later.go") || strings.Contains(places(r), "uncommitted.go") || !strings.Contains(places(r), "wire.go") {
		t.Errorf("%s %v", places(r), err)
	}
}

// TestNoRevision: what names none is said in one sentence, with a next step, and
// nothing of it is carried out.
func TestNoRevision(t *testing.T) {
	h, a := bank(t)
	trap := filepath.Join(h.Root, "trap")
	for rev, code := range map[string]kb.Code{
		"--upload-pack=touch " + trap: kb.Invalid, "-h": kb.Invalid, "main\nHEAD": kb.Invalid, "a\x00b": kb.Invalid, "HEAD@{1}": kb.Invalid,
		"HEAD:pay.go": kb.Invalid, "HEAD~1..HEAD": kb.Invalid, "../../etc/passwd": kb.Invalid, "refs/heads/../../config": kb.Invalid,
		strings.Repeat("a", 300): kb.Invalid, "   ": "", "@": kb.Invalid, "$(touch " + trap + ")": kb.Invalid,
		"nosuch": kb.NotFound, "HEAD~99": kb.NotFound, "deadbeef": kb.NotFound, "1999-01-01": kb.NotFound, "999w": kb.NotFound,
		"config": kb.NotFound, "refs/config": kb.NotFound, "objects/info": kb.NotFound,
	} {
		_, err := ask(t, a, rev, "pay")
		if code == "" && rev == "   " { // nothing is said but spaces
			code = kb.Invalid
		}
		if kb.CodeOf(err) != code || kb.HintOf(err) == "" || strings.ContainsAny(err.Error(), "\n\x00") || len(err.Error()) > 300 {
			t.Errorf("%q: %v (%s; %s)", rev, err, kb.CodeOf(err), kb.HintOf(err))
		}
	}
	if _, err := os.Stat(trap); err == nil {
		t.Error("a revision was carried out")
	}
	// A clone that lacks what is older says so.
	if err := os.WriteFile(h.path(".git/shallow"), []byte(h.commits[0].String()+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t, a, "HEAD~99", "pay"); kb.CodeOf(err) != kb.NotFound || !strings.Contains(kb.HintOf(err), "--unshallow") {
		t.Errorf("%v; %s", err, kb.HintOf(err))
	}
}

// TestNoHistory: where there is no repository, no commit or no project, and what
// has no revisions.
func TestNoHistory(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("plain/a.go", "package a\n\nvar A = 1\n")
	plain := s.In("plain", true)
	s.Write("empty/a.go", "package a\n\nvar A = 1\n")
	if _, err := git.PlainInit(filepath.Join(s.Root, "empty"), false); err != nil {
		t.Fatal(err)
	}
	for what, a := range map[string]*app.App{"without a repository": plain, "before the first commit": s.In("empty", true), "without a project": s.In("none", false)} {
		if _, err := ask(t, a, "HEAD", "anything"); kb.CodeOf(err) != kb.NotFound || kb.HintOf(err) == "" {
			t.Errorf("%s: %v; %s", what, err, kb.HintOf(err))
		}
	}
	c := producttest.MustOpen(t, plain)
	spec := kb.Spec{Kind: kb.KindRepo, Source: "https://example.org/far"}
	if _, _, err := c.Catalog.Add(t.Context(), "", "far", spec, "", nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Catalog.Add(t.Context(), "", "site", kb.Spec{Kind: kb.KindWeb, Source: "https://example.org/docs"}, "", nil); err != nil {
		t.Fatal(err)
	}
	for store, want := range map[string]string{"far": `store:create {"name":"far-v1.2","source":"https://example.org/far","tag":"v1.2"}`, "site": "leave out at", "*": "leave out stores"} {
		_, err := find.Search(t.Context(), plain, search.Request{Query: "x"}, app.Scope{At: "v1.2", Stores: []string{store}, Waiting: wait})
		if !strings.Contains(kb.HintOf(err), want) {
			t.Errorf("%s: %v; %s", store, err, kb.HintOf(err))
		}
	}
	// One of several users learns nothing of what files were.
	m := plain.For(app.Member{Name: "eve", Reads: func(string) bool { return true }, Writes: func(string) bool { return true }})
	defer m.Close()
	_, err := find.Search(t.Context(), m, search.Request{Query: "x"}, app.Scope{At: "HEAD", Stores: []string{"far"}, Waiting: app.Waiting{Wait: time.Minute}})
	if kb.CodeOf(err) != kb.Denied {
		t.Errorf("a member: %v", err)
	}
	if _, err := find.Show(t.Context(), m, "a.go:3 @ HEAD", app.Waiting{Wait: time.Minute}); kb.CodeOf(err) != kb.Denied {
		t.Errorf("a member: %v", err)
	}
}

// TestShow: a place, a name and an id of a revision show what stood there then.
func TestShow(t *testing.T) {
	h, a := bank(t)
	r, err := ask(t, a, "HEAD~2", "courier pigeon")
	if err != nil || len(r.Hits) == 0 {
		t.Fatal(r, err)
	}
	at := "pay.go:L3-6 @ " + h.commits[1].String()[:7]
	for _, place := range []string{r.Hits[0].ID, r.Hits[0].At, "pay.go:4 @ HEAD~2", "pay.go:4 @" + h.commits[1].String(), "Pay @ HEAD~2"} {
		c, err := find.Show(t.Context(), a, place, wait)
		if err != nil || c.At != at || !strings.Contains(c.Code, "pigeon(cents)") || c.Commit != h.commits[1].String() {
			t.Errorf("%s: %+v %v", place, c, err)
		}
		if c.Plain = true; !strings.HasPrefix(c.Text(), "pay.go:3-6 @ "+h.commits[1].String()[:7]+"  Pay") {
			t.Errorf("%s: %s", place, c.Text())
		}
	}
	for place, code := range map[string]kb.Code{"wire.go:3 @ HEAD~2": kb.NotFound, "pay.go:4 @ nosuch": kb.NotFound, "pay.go:4 @ -x": kb.Invalid, "pay.go:99 @ HEAD~2": kb.Invalid} {
		if _, err := find.Show(t.Context(), a, place, wait); kb.CodeOf(err) != code || kb.HintOf(err) == "" {
			t.Errorf("%s: %v; %s", place, err, kb.HintOf(err))
		}
	}
	for _, path := range []string{"pay.go @ HEAD~2", "./pay.go:1-6 @ HEAD~2"} {
		if f, err := find.ReadHere(t.Context(), a, path, "", wait); err != nil || !strings.Contains(f.Text, "pigeon(cents)") || f.Commit != h.commits[1].String() || f.Note != "" {
			t.Errorf("%s: %+v %v", path, f, err)
		}
	}
	if _, err := find.ReadHere(t.Context(), a, "later.go @ HEAD~2", "", wait); kb.CodeOf(err) != kb.NotFound || kb.HintOf(err) == "" {
		t.Errorf("read of what came later: %v", err)
	}
	several, err := find.ShowAll(t.Context(), a, "pay.go:4 @ HEAD~3, wire.go:3", wait)
	if list, ok := several.(search.Several); err != nil || !ok || len(list.Places) != 2 || !strings.Contains(list.Places[0].Code, "clear(cents)") {
		t.Errorf("%+v %v", several, err)
	}
}

// TestRepositories: of a store of a repository a search at a commit finds what a store
// of that commit does, to the ids, and shows where it lies in which store.
func TestRepositories(t *testing.T) {
	h, _ := bank(t)
	a := h.In("other", true)
	for name, commit := range map[string]string{"bank": "", "then": h.commits[1].String()} {
		if j := h.Create(a, app.CreateStore{Name: name, Kind: kb.KindRepo, Source: h.path("."), Commit: commit}); j.State != kb.JobCompleted {
			t.Fatal(j)
		}
	}
	q := search.Request{Query: "sends cents by courier", Limit: 5}
	want, err := find.Search(t.Context(), a, q, app.Scope{Stores: []string{"then"}, Waiting: wait})
	if err != nil || len(want.Hits) == 0 {
		t.Fatal(want, err)
	}
	got, err := find.Search(t.Context(), a, q, app.Scope{At: h.commits[1].String()[:12], Stores: []string{"bank"}, Waiting: wait})
	if err != nil || len(got.Hits) != len(want.Hits) {
		t.Fatal(got, err)
	}
	for i, w := range want.Hits {
		if g := got.Hits[i]; g.ID != w.ID || g.At != w.At+" @ "+h.commits[1].String()[:7] || g.Score != w.Score || g.Store != "bank@"+h.commits[1].String()[:7] {
			t.Errorf("%+v, want %+v", g, w)
		}
	}
	q.Packed = true
	if got, err = find.Search(t.Context(), a, q, app.Scope{At: "HEAD~2", Stores: []string{"bank"}, Waiting: wait}); err != nil || !strings.HasPrefix(got.Shown, "bank:pay.go:3-6 @ ") {
		t.Fatal(got.Shown, err)
	}
	place, _, _ := strings.Cut(got.Shown, "  ")
	if c, err := find.Show(t.Context(), a, place, wait); err != nil || !strings.Contains(c.Code, "pigeon(cents)") {
		t.Errorf("%q: %+v %v", place, c, err)
	}
}

// TestRules: what an index leaves out and masks is left out and masked of the past.
func TestRules(t *testing.T) {
	h := newHistory(t, "vault")
	key := "AKIA" + "Q3EGRT7HFJ2KLMNP"
	h.put("config.py", "# the telescope's settings\nAWS_ACCESS_KEY_ID = \""+key+"\"\naws_secret_access_key = \"wJalrXUtnFEMI/K7MDENG/bPxRfiCYzq8s2bVdLk\"\n")
	h.put("large.txt", strings.Repeat("telescope mirror grinding\n", 60_000))
	h.put(".env", "TELESCOPE_PASSWORD=hunter2hunter2\n")
	h.put("image.bin", "\x00\x01telescope\x00")
	if runtime.GOOS != "windows" {
		if err := os.Symlink("/etc/passwd", h.path("link.txt")); err != nil {
			t.Fatal(err)
		}
	}
	h.put("notes.md", "# Telescope\n\nThe mirror is ground by hand.\n")
	h.commit("secrets")
	for _, name := range []string{"config.py", "large.txt", ".env", "image.bin", "link.txt"} {
		_ = os.Remove(h.path(name))
	}
	h.commit("taken back")
	r, err := find.Search(t.Context(), h.In("vault", true), search.Request{Query: "telescope settings mirror root", Limit: 20, Lines: 40}, app.Scope{At: "HEAD~1", Waiting: wait})
	if err != nil {
		t.Fatal(err)
	}
	text := places(r)
	for i := range r.Hits {
		text += r.Hits[i].Code
	}
	for _, secret := range []string{key, "wJalrXUtnFEMI", "hunter2", "root:x:"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is shown:\n%s", secret, text)
		}
	}
	for _, left := range []string{"large.txt", ".env", "image.bin", "link.txt"} {
		if strings.Contains(text, left+":") {
			t.Errorf("%s was indexed:\n%s", left, text)
		}
	}
	if !strings.Contains(text, "config.py:") || !strings.Contains(text, "notes.md:") {
		t.Error(text)
	}
}

// made are the jobs that have read commits, the newest first.
func made(t *testing.T, a *app.App) []kb.Job {
	t.Helper()
	jobs, err := producttest.MustOpen(t, a).Jobs.List(t.Context(), "", false)
	if err != nil {
		t.Fatal(err)
	}
	var out []kb.Job
	for _, j := range jobs {
		if j.Type == "revision" {
			out = append(out, j)
		}
	}
	return out
}

func count(j kb.Job, name string) int {
	n, err := fmt.Sscan(fmt.Sprint(j.Details[name]), new(int))
	var out int
	if n == 1 && err == nil {
		_, _ = fmt.Sscan(fmt.Sprint(j.Details[name]), &out)
	}
	return out
}

// TestShared: what is indexed already is not indexed again, a question is answered
// from what was made for the one before, and nothing is added to the stores.
func TestShared(t *testing.T) {
	h := newHistory(t, "shop")
	generate(h, 12)
	a := h.In("shop", true)
	h.Search(a, search.Request{Query: "refund"}, app.Scope{})
	before, err := a.Stores(t.Context(), "", true)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := ask(t, a, "HEAD~1", "refund"); err != nil {
			t.Fatal(err)
		}
	}
	jobs := made(t, a)
	if len(jobs) != 1 || count(jobs[0], "indexed") > 8 || count(jobs[0], "documents") < 20 {
		t.Fatalf("%+v", jobs)
	}
	if _, err := ask(t, a, "HEAD~2", "refund"); err != nil {
		t.Fatal(err)
	}
	if jobs = made(t, a); len(jobs) != 2 || count(jobs[0], "read") > 8 {
		t.Errorf("of a commit beside one that is kept only what differs is read: %+v", jobs[0])
	}
	after, err := a.Stores(t.Context(), "", true)
	if err != nil || len(after.Stores) != len(before.Stores) {
		t.Errorf("%+v %v", after.Stores, err)
	}
}

// TestKept: so many are kept and no more, gc deletes nothing that is, and what is
// damaged or gone is made anew.
func TestKept(t *testing.T) {
	h := newHistory(t, "shop")
	generate(h, revisions.MostKept+3)
	a := h.In("shop", true)
	for n := range revisions.MostKept + 2 {
		if _, err := ask(t, a, fmt.Sprintf("HEAD~%d", n), "refund"); err != nil {
			t.Fatal(n, err)
		}
	}
	c := producttest.MustOpen(t, a)
	list := func() []string {
		files, err := filepath.Glob(filepath.Join(c.Dir, "revisions", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	if n := len(list()); n != revisions.MostKept {
		t.Errorf("%d are kept", n)
	}
	if _, err := care.Collect(t.Context(), a, false); err != nil {
		t.Fatal(err)
	}
	jobs := len(made(t, a))
	if r, err := ask(t, a, "HEAD~10", "refund"); err != nil || len(r.Hits) == 0 || len(made(t, a)) != jobs {
		t.Errorf("after gc: %v %v", r.Hits, err)
	}
	for _, f := range list() { // nobody has asked for a month
		if err := os.Chtimes(f, time.Now(), time.Now().Add(-30*24*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	gone, err := care.Collect(t.Context(), a, false)
	if err != nil || len(list()) != 0 {
		t.Errorf("%d left, %v", len(list()), err)
	}
	manifests := 0
	for _, f := range gone.Files {
		if strings.HasPrefix(f.Path, "generations/") {
			manifests++
		}
	}
	if manifests < revisions.MostKept {
		t.Errorf("%d manifests went", manifests)
	}
	if r, err := ask(t, a, "HEAD~10", "refund"); err != nil || len(r.Hits) == 0 {
		t.Errorf("made anew: %v %v", r.Hits, err)
	}
	for _, f := range list() {
		if err := os.WriteFile(f, []byte("{half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := ask(t, a, "HEAD~10", "refund"); err != nil || len(r.Hits) == 0 {
		t.Errorf("after a damage: %v %v", r.Hits, err)
	}
}

// TestDamaged: of a segment that is damaged, which other stores share, nothing is taken
// when what was made of it is made anew.
func TestDamaged(t *testing.T) {
	h := newHistory(t, "shop")
	generate(h, 6)
	a := h.In("shop", true)
	h.Search(a, search.Request{Query: "refund"}, app.Scope{})
	want, err := ask(t, a, "HEAD~2", "refund")
	if err != nil {
		t.Fatal(err)
	}
	c := producttest.MustOpen(t, a)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(c.Dir, "segments", "*.seg"))
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for i := len(b) / 4; i < len(b)/2; i++ {
			b[i] ^= 0x55
		}
		if err := os.WriteFile(f, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a = h.In("shop", true)
	var got find.SearchReply
	for range 3 {
		if got, err = ask(t, a, "HEAD~2", "refund"); err == nil {
			break
		}
		if kb.CodeOf(err) != kb.Corrupt || !strings.Contains(kb.HintOf(err), "ask again") {
			t.Fatalf("%v; %s", err, kb.HintOf(err))
		}
	}
	if err != nil || places(got) != places(want) {
		t.Errorf("%s, want %s: %v", places(got), places(want), err)
	}
}

// TestTooLarge: of a commit that has little in common with what is indexed a store
// is to be made, by a line that works.
func TestTooLarge(t *testing.T) {
	h := newHistory(t, "shop")
	generate(h, 3)
	defer revisions.Most(2000)()
	_, err := ask(t, h.In("shop", true), "HEAD~1", "refund")
	hint := kb.HintOf(err)
	if kb.CodeOf(err) != kb.TooLarge || !strings.Contains(hint, `"commit":"`+h.commits[1].String()) || !strings.Contains(hint, "store:create {") {
		t.Errorf("%v; %s", err, hint)
	}
}

// TestOwnHistory: the same for a part of the repository that this is, where it has
// a history.
func TestOwnHistory(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	repo, err := git.PlainOpenWithOptions(root, &git.PlainOpenOptions{EnableDotGitCommonDir: true})
	if errors.Is(err, git.ErrRepositoryNotExists) {
		t.Skip("this is no checkout of the repository")
	}
	if err != nil {
		t.Fatal(err)
	}
	const back = "HEAD~40"
	c, err := repo.ResolveRevision(back)
	if err != nil {
		t.Skip("this clone has no ", back)
	}
	commit, err := repo.CommitObject(*c)
	if err != nil {
		t.Skip(err)
	}
	tree, err := commit.Tree()
	if err != nil {
		t.Skip(err)
	}
	other := producttest.NewSite(t)
	files := tree.Files()
	err = files.ForEach(func(f *object.File) error {
		if !strings.HasPrefix(f.Name, "internal/search/") || !f.Mode.IsFile() {
			return nil
		}
		text, err := f.Contents()
		other.Write("part/"+strings.TrimPrefix(f.Name, "internal/search/"), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s := producttest.NewSite(t)
	a, whole := s.In("elsewhere", true), other.In("elsewhere", true)
	s.Create(a, app.CreateStore{Name: "part", Kind: kb.KindFolder, Source: filepath.Join(root, "internal", "search")})
	other.Create(whole, app.CreateStore{Name: "part", Kind: kb.KindFolder, Source: filepath.Join(other.Root, "part")})
	for _, q := range []search.Request{{Query: "how is a reply packed into a budget"}, {Query: "understand"}, {Query: "calibrate the score of a hit", Limit: 8}} {
		then, err := find.Search(t.Context(), a, q, app.Scope{At: back, Stores: []string{"part"}, Waiting: wait})
		if err != nil {
			t.Fatal(err)
		}
		want, err := find.Search(t.Context(), whole, q, app.Scope{Stores: []string{"part"}, Waiting: wait})
		if err != nil || len(want.Hits) == 0 {
			t.Fatal(want, err)
		}
		var got, expected []string
		for i := range then.Hits {
			at, _, _ := search.CutRevision(then.Hits[i].At)
			got = append(got, fmt.Sprint(at, " ", then.Hits[i].Score))
		}
		for i := range want.Hits {
			expected = append(expected, fmt.Sprint(want.Hits[i].At, " ", want.Hits[i].Score))
		}
		if strings.Join(got, "\n") != strings.Join(expected, "\n") {
			t.Errorf("%q:\n%s\nwant\n%s", q.Query, strings.Join(got, "\n"), strings.Join(expected, "\n"))
		}
	}
}
