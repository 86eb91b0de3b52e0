package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
)

// TestNames: names belong to projects; a store ends when nobody holds it.
func TestNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := w.dir("one"), w.dir("two")
	newOrigin(t, one) // a project that is a repository, and one that is named
	v1, v2 := w.dir("v1"), w.dir("v2")
	write(t, v1, "lib.md", []byte("# Lib\n\nthe widget frobnicates once\n"))
	write(t, v2, "lib.md", []byte("# Lib\n\nthe widget frobnicates twice\n"))
	a, b := w.agent(one), w.agentOf(true, two)
	sa, _ := a.index("store:create", obj{"name": "lib", "source": v1})
	sb, _ := b.index("store:create", obj{"name": "lib", "source": v2})
	if sa.ID == sb.ID {
		t.Fatal("different folders are one store")
	}
	for _, x := range []struct {
		a    *agent
		word string
	}{{a, "once"}, {b, "twice"}} {
		r := x.a.search(obj{"query": "widget frobnicates", "stores": []string{"lib"}})
		if len(r.Hits) != 1 || !strings.Contains(r.Hits[0].Code, x.word) {
			t.Errorf("lib is not the one that frobnicates %s: %+v", x.word, r.Hits)
		}
		all := x.a.search(obj{"query": "widget frobnicates", "stores": []string{"*"}})
		if len(all.Hits) != 2 {
			t.Errorf("*: %+v", all.Hits)
		}
	}
	c := a.tool("execute", obj{"command": "store:create", "args": obj{"name": "lib", "source": v2}})
	if !c.isError {
		t.Errorf("a name is given away twice: %s", c.text)
	}
	plainly(t, "a name that is taken", c.text)

	// Both hold v1 now; who lets go of it takes it from nobody else.
	b.index("store:create", obj{"name": "older", "source": v1})
	var d app.Deleted
	a.execute(&d, "store:delete", obj{"store": "lib"})
	if d.Removed || len(d.UsedBy) != 1 {
		t.Errorf("detached: %+v", d)
	}
	if c := a.tool("search", obj{"query": "widget", "stores": []string{"lib"}}); !c.isError {
		t.Errorf("a detached name is found: %s", c.text)
	} else {
		plainly(t, "a detached name", c.text)
	}
	if r := b.search(obj{"query": "widget frobnicates once", "stores": []string{"older"}}); len(r.Hits) != 1 {
		t.Errorf("the other holder lost it: %+v", r)
	}
	d = app.Deleted{}
	b.execute(&d, "store:delete", obj{"store": "older"})
	if !d.Removed {
		t.Errorf("the last holder: %+v", d)
	}
	if r := b.search(obj{"query": "widget frobnicates", "stores": []string{"*"}}); len(r.Hits) != 1 {
		t.Errorf("what was deleted is found: %+v", r.Hits)
	}
}

// TestFiles: files, read and grep agree with the file system.
func TestFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := w.dir("tree")
	material := goSources(t, small...).and(oddities())
	material.write(t, dir)
	for p, text := range map[string]string{ // what nobody wants indexed
		"node_modules/dep/index.js": "module.exports = 1\n", ".env": "TOKEN=x\n", "pic.png": "\x89PNG\x00", "a.bin": "\x00\x01\x02",
		"big.txt": strings.Repeat("all work and no play\n", 60_000), "out/made.txt": "made\n", ".gitignore": "/out/\n", "package-lock.json": "{}\n",
	} {
		write(t, dir, p, []byte(text))
	}
	material[".gitignore"] = []byte("/out/\n")
	a := w.agent(w.dir("project"))
	a.index("store:create", obj{"name": "tree", "source": dir})

	var info app.StoreInfo
	a.execute(&info, "store:info", obj{"store": "tree"})
	want := map[string]int{"vendored": 1, "secret": 1, "binary": 2, "too large": 1, "ignored": 1, "lockfile": 1}
	if diff := cmp.Diff(want, info.Skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}

	var got find.FileList
	a.execute(&got, "files", obj{"store": "tree", "limit": 5000})
	if diff := cmp.Diff(material.paths(), got.Files); diff != "" || got.Total != len(material) || info.Documents != len(material) {
		t.Errorf("files (-want +got):\n%s total %d, documents %d", diff, got.Total, info.Documents)
	}
	for _, g := range []struct {
		glob string
		want func(p string) bool
	}{
		{"*.md", func(p string) bool { return strings.HasSuffix(p, ".md") }},
		{"sort/*.go", func(p string) bool { return filepath.ToSlash(filepath.Dir(p)) == "sort" && strings.HasSuffix(p, ".go") }},
		{"**/*_test.go", func(p string) bool { return strings.HasSuffix(p, "_test.go") }},
		{"text/**", func(p string) bool { return strings.HasPrefix(p, "text/") }},
		{"odd/[a-n]*.t?t", func(p string) bool { return p == "odd/blank.txt" || p == "odd/empty.txt" || p == "odd/long.txt" }},
	} {
		got = find.FileList{}
		a.execute(&got, "files", obj{"store": "tree", "glob": g.glob, "limit": 5000})
		if diff := cmp.Diff(slices.DeleteFunc(material.paths(), func(p string) bool { return !g.want(p) }), got.Files); diff != "" {
			t.Errorf("files %s (-want +got):\n%s", g.glob, diff)
		}
	}

	for _, p := range material.paths() {
		text := string(material[p])
		all := lines(text)
		var b strings.Builder
		for next := ""; ; {
			var r find.FileText
			a.execute(&r, "read", obj{"store": "tree", "path": p, "lines": next})
			if r.Lines != len(all) || r.Text != strings.Join(all[r.Start-1:r.End], "\n") {
				t.Errorf("read %s %q: lines %d to %d of %d, which are not the file's", p, next, r.Start, r.End, r.Lines)
				break
			}
			b.WriteString(r.Text + "\n")
			if r.End == r.Lines {
				break
			}
			next = fmt.Sprintf("%d-", r.End+1)
		}
		if b.String() != strings.TrimSuffix(text, "\n")+"\n" {
			t.Errorf("read %s: the pages joined are not the file", p)
		}
		if t.Failed() {
			break
		}
	}
	var r find.FileText
	a.execute(&r, "read", obj{"store": "tree", "path": "odd/sections.md", "lines": "3-5"})
	if r.Text != "# Brewing\n\nhow to brew tea" || r.Start != 3 || r.End != 5 {
		t.Errorf("read lines 3-5: %+v", r)
	}

	type line = find.GrepMatch
	for _, pattern := range []string{`func \(t \*Template\)`, `^package \w+$`, `winds?\b`, `^$`, `[A-Z]\w+Error\b`, `\t+return nil$`, `caravan`, `rhubarb`, `漢`, `\s+return nil`, `[^x]+rhubarb`, `rest$`, `\Apackage`, `return\z`, `(?s)func.*{$`, `}\n`, `[^z]*winds?\s`} {
		re := regexp.MustCompile(pattern)
		want := []line{}
		for _, p := range material.paths() {
			all := lines(string(material[p]))
			if len(material[p]) == 0 {
				all = nil
			}
			for i, l := range all {
				if l := strings.TrimRight(l, "\r"); re.MatchString(l) {
					want = append(want, line{Path: p, Line: i + 1, Text: l})
				}
			}
		}
		var got find.GrepReply
		a.execute(&got, "grep", obj{"store": "tree", "pattern": pattern, "limit": 5000})
		if len(want) > 5000 {
			want = want[:5000]
		}
		for i := range got.Matches {
			if head, cut := strings.CutSuffix(got.Matches[i].Text, "…"); cut && i < len(want) && strings.HasPrefix(want[i].Text, head) {
				got.Matches[i].Text = want[i].Text
			}
		}
		if diff := cmp.Diff(want, got.Matches); diff != "" {
			t.Errorf("grep %s (-want +got): %.2000s", pattern, diff)
		}
	}
}

// TestLeftOut: what is left out of a repository's folder by its own rules
// stays out of a search, too.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := w.dir("code")
	newOrigin(t, dir)
	write(t, dir, ".gitignore", []byte("secret/\n*.gen.md\n"))
	write(t, dir, "secret/plan.md", []byte("the zanzibar plan\n"))
	write(t, dir, "api.gen.md", []byte("the zanzibar interface\n"))
	write(t, dir, "id_rsa", []byte("zanzibar\n"))
	write(t, dir, "doc.md", []byte("the zanzibar handbook\n"))
	var r find.SearchReply
	w.decode(&r, dir, "search", "zanzibar")
	if len(r.Hits) != 1 || !strings.HasPrefix(r.Hits[0].At, "doc.md:") {
		t.Errorf("%+v", r.Hits)
	}
	if _, err := os.Stat(filepath.Join(dir, ".knowledge")); err == nil {
		t.Error("something was written into the project")
	}
}
