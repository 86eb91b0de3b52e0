package eval

import (
	"context"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/seed-4f2d999b/knowledge/internal/code/graph"
	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// pinnedModules are stores besides the archives in testdata/pinned: modules
// that go.sum fixes by content, with what is taken of each.
var pinnedModules = map[string]struct {
	path, only string
	linked     bool
}{
	"cobra": {"github.com/spf13/cobra", "**", true},
	"mcpgo": {"github.com/mark3labs/mcp-go", "README.md www/** examples/** server/** client/** mcptest/**", false},
}

// corpus are the indexed stores and the questions about them.
type corpus struct {
	bench     *Bench
	stores    map[string]search.Target
	ids       map[string]map[string][]string // of the chunks, by store and path
	questions []*question
}

// question is a line of queries.txt: stores and options, the query, what answers it.
type question struct {
	line, section, query string
	stores               []string
	options              map[string]string
	want                 []Relevant
}

func openPinned(t *testing.T) *corpus {
	t.Helper()
	if testing.Short() {
		t.Skip("indexes some projects")
	}
	b, err := NewBench(t.Context(), "", embed.Default(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	p := &corpus{bench: b, stores: map[string]search.Target{}, ids: map[string]map[string][]string{}}
	archives, err := filepath.Glob("testdata/pinned/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range archives {
		raw, err := os.ReadFile(a)
		if err != nil {
			t.Fatal(err)
		}
		files := memory{}
		for _, f := range txtar.Parse([]byte(unixLines(raw))).Files {
			files[f.Name] = f.Data
		}
		p.add(t, strings.TrimSuffix(filepath.Base(a), ".txtar"), files, true)
	}
	for name, m := range pinnedModules {
		p.add(t, name, module(t, m.path, m.only), m.linked)
	}
	p.questions = p.load(t, "testdata/pinned/queries.txt")
	return p
}

// module returns the files of a module in the cache of modules that only selects.
func module(t *testing.T, name, only string) memory {
	t.Helper()
	out, err := exec.Command("go", "mod", "download", "-json", name).Output()
	var at struct{ Dir string }
	if err == nil {
		err = json.Unmarshal(out, &at)
	}
	if err != nil {
		t.Fatalf("go mod download %s: %v", name, err)
	}
	re, err := patterns(strings.Fields(only))
	if err != nil {
		t.Fatal(err)
	}
	files := memory{}
	err = filepath.WalkDir(at.Dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(at.Dir, file)
		if rel = filepath.ToSlash(rel); err != nil || !re.MatchString(rel) || strings.HasSuffix(rel, ".png") {
			return err
		}
		files[rel], err = os.ReadFile(file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// add indexes files as a store and, where linked is set, resolves its references.
func (p *corpus) add(t *testing.T, name string, files memory, linked bool) {
	t.Helper()
	ctx := t.Context()
	at, err := p.bench.index(ctx, name, kb.Spec{Kind: kb.KindFolder, Source: "/pinned/" + name}, files)
	if err != nil {
		t.Fatal(err)
	}
	target := at.Target
	src := linkSource{index: target.Index}
	p.ids[name] = map[string][]string{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		d, err := target.Index.Document(ctx, path)
		if kb.CodeOf(err) == kb.NotFound {
			continue // what is no text is not indexed
		}
		if err != nil {
			t.Fatal(err)
		}
		p.ids[name][path] = d.IDs
		src.paths = append(src.paths, path)
	}
	if linked {
		view := filepath.Join(t.TempDir(), "view")
		if src.outlines, err = target.Index.Outlines(ctx, src.paths); err == nil {
			if _, err = graph.Link(ctx, &src, nil, view, nil); err == nil {
				target.View, err = graph.Open(view)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { target.View.Close() })
	}
	p.stores[name] = target
}

var unescape = strings.NewReplacer(`\n`, "\n", `\t`, "\t")

// load reads the questions: "## section", blank lines, and
//
//	store,store option=value | query | path path:12-20 path#Heading
//
// where \n and \t in the query are the end of a line and a tab,
// with "-" in place of the paths where nothing answers.
func (p *corpus) load(t *testing.T, file string) (out []*question) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	section := ""
	for line := range strings.SplitSeq(unixLines(raw), "\n") {
		if s, ok := strings.CutPrefix(line, "## "); ok {
			section = s
			continue
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(line, " | ")
		if len(parts) != 3 {
			t.Fatalf("%q has no three parts", line)
		}
		head := strings.Fields(parts[0])
		q := &question{line: line, section: section, query: unescape.Replace(parts[1]),
			stores: strings.Split(head[0], ","), options: map[string]string{}}
		for _, o := range head[1:] {
			k, v, _ := strings.Cut(o, "=")
			q.options[k] = v
		}
		for _, w := range strings.Fields(parts[2]) {
			if w == "-" {
				continue
			}
			r := Relevant{Path: w}
			if path, h, ok := strings.Cut(w, "#"); ok {
				r = Relevant{Path: path, Heading: strings.ReplaceAll(h, "_", " ")}
			} else if path, lines, ok := strings.Cut(w, ":"); ok {
				from, to, _ := strings.Cut(lines, "-")
				r.Path = path
				r.Start, _ = strconv.Atoi(from)
				r.End, _ = strconv.Atoi(to)
			}
			there := false
			for _, s := range q.stores {
				there = there || p.ids[s][r.Path] != nil
			}
			if !there {
				t.Fatalf("%q: no store has %s", line, r.Path)
			}
			q.want = append(q.want, r)
		}
		out = append(out, q)
	}
	return out
}

// memory is a snapshot of files in memory, by path.
type memory map[string][]byte

func (m memory) Walk(_ context.Context, f func(kb.Entry) error) error {
	for _, path := range slices.Sorted(maps.Keys(m)) {
		if err := f(kb.Entry{Path: path, Size: int64(len(m[path]))}); err != nil {
			return err
		}
	}
	return nil
}

func (m memory) Read(_ context.Context, e kb.Entry) ([]byte, error) { return m[e.Path], nil }
func (m memory) Version() string                                    { return "" }
func (m memory) Skipped() map[string]int                            { return nil }
func (m memory) Notes() []string                                    { return nil }
func (m memory) Close() error                                       { return nil }

// linkSource gives the documents of an index to the linker.
type linkSource struct {
	index    kb.Index
	paths    []string
	outlines []kb.Outline
}

func (s *linkSource) Entries() []graph.Entry {
	out := make([]graph.Entry, len(s.outlines))
	for i, o := range s.outlines {
		out[i] = graph.Entry{Path: o.Path, Hash: o.Hash, Language: o.Language}
	}
	return out
}

func (s *linkSource) Load(ctx context.Context, paths []string) ([]graph.Document, error) {
	list, err := s.index.Outlines(ctx, paths)
	if err != nil {
		return nil, err
	}
	out := make([]graph.Document, len(list))
	for i, o := range list {
		body := func() (string, error) {
			d, err := s.index.Document(ctx, o.Path)
			return d.Body, err
		}
		out[i] = graph.Document{Path: o.Path, Hash: o.Hash, Language: o.Language, Symbols: o.Symbols, Facts: o.Facts, Body: body}
	}
	return out, nil
}
