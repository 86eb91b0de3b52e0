package source

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/kb/kbtest"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
)

// underTest makes an empty source of each kind, and of each way to have one.
var underTest = map[kb.Kind]map[string]func(*testing.T) kbtest.Source{
	kb.KindFolder: {"folder": aFolder},
	kb.KindRepo:   {"local": aRepository, "remote": aServedRepository},
	kb.KindWeb:    {"site": aSite, "package": aPackage},
	kb.KindZip:    {"archive": anArchive},
}

func TestConformance(t *testing.T) {
	for _, kind := range Kinds() {
		if len(underTest[kind]) == 0 {
			t.Errorf("no source of kind %s runs the suite", kind)
		}
		for name, of := range underTest[kind] {
			t.Run(string(kind)+"/"+name, func(t *testing.T) { kbtest.Snapshot(t, of) })
		}
	}
}

// opening returns what opens a source as it is then.
func opening(o *Opener, spec kb.Spec) func(t *testing.T) kb.Snapshot {
	return func(t *testing.T) kb.Snapshot {
		t.Helper()
		s, err := o.Open(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	}
}

func aFolder(t *testing.T) kbtest.Source {
	dir := writeFiles(t, nil)
	put := func(docs map[string]string) {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			if _, kept := docs[e.Name()]; kept {
				continue
			}
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
		for p, text := range docs {
			full := filepath.Join(dir, filepath.FromSlash(p))
			if old, err := os.ReadFile(full); err == nil && string(old) == text {
				continue
			}
			if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return kbtest.Source{Put: put, Open: opening(&Opener{}, folderSpec(dir))}
}

func committing(o *origin) func(docs map[string]string) {
	return func(docs map[string]string) {
		tree := map[string]treeEntry{}
		for p, text := range docs {
			tree[p] = treeEntry{text: text}
		}
		o.commit("main", tree)
		o.head("main")
	}
}

func aRepository(t *testing.T) kbtest.Source {
	o := newOrigin(t)
	return kbtest.Source{Put: committing(o), Open: opening(&Opener{}, repoSpec(o.dir, kb.Ref{}))}
}

func aServedRepository(t *testing.T) kbtest.Source {
	o := newOrigin(t)
	src, _ := o.serve(nil)
	return kbtest.Source{Put: committing(o), Open: opening(newOpener(t), repoSpec(src, kb.Ref{}))}
}

func aSite(t *testing.T) kbtest.Source    { return gathered(t, "https://docs.example.org/") }
func aPackage(t *testing.T) kbtest.Source { return gathered(t, "npm:thing@1") }

// gathered is a source whose documents a job keeps before it is opened.
func gathered(t *testing.T, src string) kbtest.Source {
	o := &Opener{WebDir: t.TempDir()}
	spec := kb.Spec{Kind: kb.KindWeb, Source: src}
	put := func(docs map[string]string) {
		st, err := pages.Open(o.PagesDir(spec))
		if err == nil {
			_, err = st.Begin("suite")
		}
		for p, text := range docs {
			v := pages.Visit{Key: p, Outcome: pages.OutKept, Kept: pages.Kept{Path: p, Hash: kb.IDEncoding.EncodeToString([]byte(text))}}
			if err == nil {
				err = st.Put(v, nil, []byte(text))
			}
		}
		if err == nil {
			err = st.Commit()
		}
		if err == nil {
			err = st.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return kbtest.Source{Put: put, Open: opening(o, spec)}
}
