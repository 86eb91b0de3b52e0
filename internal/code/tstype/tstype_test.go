package tstype_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/seed-4f2d999b/knowledge/internal/code/grammar"
	"github.com/seed-4f2d999b/knowledge/internal/code/syntax"
	"github.com/seed-4f2d999b/knowledge/internal/code/tstype"
)

var set = &grammar.Set{Wanted: syntax.Wanted, Folder: filepath.Join(os.TempDir(), "knowledge-grammars")}

// texts is a host whose package "pkg" lies in a folder of that name.
type texts map[string]string

func (h texts) Read(p string) (string, string, bool) {
	text, ok := h[p]
	return text, "typescript", ok
}

func (h texts) Resolve(from, spec string) (string, bool) {
	at := path.Join(path.Dir(from), spec)
	switch {
	case spec == "pkg":
		at = "pkg/index"
	case strings.HasPrefix(spec, "pkg/"):
		return "", true
	case !strings.HasPrefix(spec, "."):
		return "", false
	}
	for _, end := range []string{".ts", ".d.ts"} {
		if _, ok := h[at+end]; ok {
			return at + end, true
		}
	}
	return "", false
}

// TestCheck holds what is found against the marks in the texts.
func TestCheck(t *testing.T) {
	found, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	for _, name := range found {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		h := texts{}
		for _, f := range a.Files {
			h[f.Name] = string(f.Data)
		}
		for _, f := range a.Files {
			if strings.HasSuffix(f.Name, ".d.ts") {
				continue
			}
			faults := tstype.New(t.Context(), set, h).Check(f.Name)
			for i, line := range strings.Split(string(f.Data), "\n") {
				var said []string
				for _, x := range faults {
					if x.Line == i+1 {
						said = append(said, x.Says)
					}
				}
				want := strings.Split(line, "// !")[1:]
				bad := len(want) != len(said)
				for _, w := range want {
					bad = bad || !strings.Contains(strings.Join(said, "; "), strings.TrimSpace(w))
				}
				if bad {
					t.Errorf("%s, %s:%d: %s\nsaid %q", filepath.Base(name), f.Name, i+1, line, said)
				}
			}
		}
	}
}

// FuzzCheck reads anything as a program and as declarations, within bounds.
func FuzzCheck(f *testing.F) {
	f.Add("import { a } from 'pkg'; a.b(c => c.d)", "export declare const a: { b<T extends keyof T>(call: (c: T) => T[]): T }")
	f.Add("class A extends A {} type B<T> = B<B<T>>; let x: B<A>; x.y", "export * from './index'; export = a; declare namespace a.b.c {}")
	f.Fuzz(func(t *testing.T, own, pkg string) {
		h := texts{"a.ts": own, "pkg/index.d.ts": pkg}
		for _, x := range tstype.New(t.Context(), set, h).Check("a.ts") {
			if x.Line < 1 || x.Line > strings.Count(own, "\n")+1 {
				t.Fatal(fmt.Sprint("no such line: ", x))
			}
		}
	})
}
