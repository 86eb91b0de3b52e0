package grammar

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// kept is where tests keep compiled modules, so that each is compiled once.
var kept = filepath.Join(os.TempDir(), "knowledge-grammars")

func TestParse(t *testing.T) {
	s := &Set{Folder: kept}
	t.Cleanup(func() { s.Close() })
	var got []string
	err := s.Parse(t.Context(), "python", "def f(x):\n    return g(x)\n", func(tree *Tree) error {
		var open []uint32
		for i := range tree.Nodes {
			n := &tree.Nodes[i]
			for len(open) > 0 && open[len(open)-1] <= uint32(i) {
				open = open[:len(open)-1]
			}
			row := strings.Repeat("  ", len(open))
			if f := tree.Fields[n.Field]; f != "" {
				row += f + ": "
			}
			got = append(got, row+tree.Symbols[n.Symbol])
			open = append(open, n.Next)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"module", "  function_definition", "    name: identifier", "    parameters: parameters", "      identifier",
		"    body: block", "      return_statement", "        call", "          function: identifier", "          arguments: argument_list", "            identifier"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// An index of one language compiles and starts one module.
func TestOneLanguageStartsOneModule(t *testing.T) {
	s := &Set{Folder: kept}
	t.Cleanup(func() { s.Close() })
	for range 3 {
		if err := s.Parse(t.Context(), "json", `{"a": [1]}`, func(*Tree) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.langs) != 1 || len(s.langs["json"].rest) != 1 {
		t.Errorf("%d languages, %d instances", len(s.langs), len(s.langs["json"].rest))
	}
}

func TestEveryGrammarParses(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles every grammar")
	}
	s := &Set{Folder: kept}
	t.Cleanup(func() { s.Close() })
	for _, l := range Languages() {
		for _, text := range []string{"", "\n", "x", "\x00\xff", "a b c {", strings.Repeat("/*\"'`", 50)} {
			err := s.Parse(t.Context(), l, text, func(tree *Tree) error {
				if len(tree.Nodes) == 0 || int(tree.Nodes[0].Next) != len(tree.Nodes) {
					t.Errorf("%s: the root of %q does not hold everything", l, text)
				}
				return nil
			})
			if err != nil {
				t.Errorf("%s: %q: %v", l, text, err)
			}
		}
	}
}

func TestWanted(t *testing.T) {
	s := &Set{Folder: kept, Wanted: func(_, node string, _ bool) Want {
		switch node {
		case "array":
			return Leaf
		case "number", "{":
			return Emit
		}
		return Skip
	}}
	t.Cleanup(func() { s.Close() })
	var got []string
	err := s.Parse(t.Context(), "json", `{"a": [1, 2], "b": 3}`, func(tree *Tree) error {
		for i := range tree.Nodes {
			got = append(got, tree.Text(&tree.Nodes[i]))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"{", "[1, 2]", "3"}, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// What a grammar cannot read costs that text only, and the same text is
// refused on every machine, since steps are counted and not seconds.
func TestTooMuch(t *testing.T) {
	s := &Set{Folder: kept}
	t.Cleanup(func() { s.Close() })
	none := func(*Tree) error { return nil }
	err := s.Parse(t.Context(), "python", strings.Repeat("<a>", 20000), none)
	if kb.CodeOf(err) != kb.Unsupported || strings.ContainsRune(err.Error(), '\n') {
		t.Errorf("a text that is all errors: %v", err)
	}
	if err := s.Parse(t.Context(), "python", "x = 1\n", none); err != nil {
		t.Errorf("the text after it: %v", err)
	}
	if err := s.Parse(t.Context(), "cobol", "", none); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("a language without a grammar: %v", err)
	}
	want := errors.New("mine")
	if err := s.Parse(t.Context(), "python", "x", func(*Tree) error { return want }); err != want {
		t.Errorf("the caller's error came back as %v", err)
	}
}

func TestCancel(t *testing.T) {
	s := &Set{Folder: kept}
	t.Cleanup(func() { s.Close() })
	if _, err := s.Language(t.Context(), "python"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if err := s.Parse(ctx, "python", strings.Repeat("x = f(1)\n", 100_000), func(*Tree) error { return nil }); !errors.Is(err, cause) {
		t.Errorf("a cancelled parse: %v", err)
	}
	if err := s.Parse(t.Context(), "python", "x = 1\n", func(*Tree) error { return nil }); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

func TestConcurrent(t *testing.T) {
	s := &Set{Folder: kept}
	t.Cleanup(func() { s.Close() })
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			text := strings.Repeat("x = [1, 2]\n", 50*(n+1))
			for range 20 {
				err := s.Parse(t.Context(), "python", text, func(tree *Tree) error {
					if got := int(tree.Nodes[0].End); got != len(text) {
						t.Errorf("a tree of %d bytes for a text of %d", got, len(text))
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// Machine code that was damaged on disk, at any byte, is made again or, at
// worst, not kept; what is parsed with it is always the same.
func TestDamagedCache(t *testing.T) {
	dir := t.TempDir()
	parse := func() ([]Node, error) {
		s := &Set{Folder: dir}
		defer s.Close()
		var nodes []Node
		err := s.Parse(context.Background(), "json", `{"a": [1, null]}`, func(t *Tree) error {
			nodes = slices.Clone(t.Nodes)
			return nil
		})
		return nodes, err
	}
	want, err := parse()
	if err != nil {
		t.Fatal(err)
	}
	files := keptIn(filepath.Join(dir, "json"))
	if len(files) != 2 || files[1] != files[0]+sumExt {
		t.Fatalf("kept: %v", files)
	}
	whole := map[string][]byte{}
	for _, f := range files {
		if whole[f], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	put := func(f string, b []byte) {
		if err := os.WriteFile(f, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	try := func(what string) {
		t.Helper()
		got, err := parse()
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%s: %v, %s", what, err, d)
		}
	}
	rng := rand.New(rand.NewPCG(5, 5))
	for _, f := range files {
		b := whole[f]
		// The header and the table of functions come first, the source map and
		// the checksum of the code last: wazero does not check all of them.
		for _, at := range []int{6, 12, 14, 18, 20, 30, len(b) - 5, len(b) / 2, rng.IntN(len(b)), rng.IntN(len(b))} {
			if at >= len(b) {
				continue
			}
			for name, content := range whole {
				put(name, content)
			}
			bad := slices.Clone(b)
			bad[at] ^= 1 << rng.IntN(8)
			put(f, bad)
			try(fmt.Sprintf("byte %d of %s", at, filepath.Ext(f)))
		}
		for _, n := range []int{0, 1, 20, len(b) / 2, len(b) - 1} {
			for name, content := range whole {
				put(name, content)
			}
			put(f, b[:n])
			try(fmt.Sprintf("the first %d bytes of %s", n, filepath.Ext(f)))
		}
	}
	// What a killed process left goes, what another may be writing stays.
	old, young := files[0]+".1"+tmpExt, files[0]+".2"+tmpExt
	put(old, []byte("x"))
	put(young, []byte("x"))
	then := time.Now().Add(-2 * tmpAge)
	if err := os.Chtimes(old, then, then); err != nil {
		t.Fatal(err)
	}
	try("with leftovers")
	if _, err := os.Stat(old); err == nil {
		t.Error("an old leftover stays")
	}
	if _, err := os.Stat(young); err != nil {
		t.Error("a young file went")
	}
	// Machine code that is whole is used, not made again.
	before, err := os.Stat(files[0])
	if err != nil {
		t.Fatal(err)
	}
	try("undamaged")
	if after, err := os.Stat(files[0]); err != nil || !os.SameFile(before, after) {
		t.Errorf("it was compiled again: %v", err)
	}
}

// A caller that is cancelled does not wait for a grammar to be compiled, and
// one that waits beside it gets it.
func TestCancelDuringCompilation(t *testing.T) {
	s := &Set{}
	ctx, cancel := context.WithCancel(context.Background())
	other := make(chan error, 1)
	go func() {
		other <- s.Parse(context.Background(), "json", "[1]", func(*Tree) error { return nil })
	}()
	cancel()
	if err := s.Parse(ctx, "json", "[1]", func(*Tree) error { return nil }); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := <-other; err != nil {
		t.Error(err)
	}
	again := &Set{}
	if err := again.Parse(ctx, "json", "[1]", func(*Tree) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	for _, s := range []*Set{s, again} {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A folder that takes no machine code costs time only.
func TestCacheThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(t.TempDir(), "gone")
	for _, dir := range []string{file, gone} {
		s := &Set{Folder: dir}
		if dir == gone { // after the folder was made and before it is written
			m := &module{ready: make(chan struct{})}
			if err := m.start(context.Background(), s.folder("json")); err != nil {
				t.Fatal(err)
			}
			s.langs = map[string]*module{"json": m}
			if err := os.RemoveAll(gone); err != nil {
				t.Fatal(err)
			}
			m.err = s.compile(context.Background(), m, "json")
			close(m.ready)
		}
		if err := s.Parse(context.Background(), "json", "[1]", func(*Tree) error { return nil }); err != nil {
			t.Errorf("%s: %v", filepath.Base(dir), err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestLanguagesAreListed(t *testing.T) {
	if l := Languages(); !slices.IsSorted(l) || len(l) < 20 || !Has("python") || Has("../python") {
		t.Errorf("languages: %v", l)
	}
}

// What is in the binary is what the build script says it is, and its licences
// are in NOTICE.
func TestModulesAreListed(t *testing.T) {
	read := func(name string) string {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	notice, sums := read("../../../NOTICE"), read("build/SHA256SUMS")
	var listed []string
	for line := range strings.Lines(read("build/grammars.txt")) {
		f := strings.Fields(line)
		if len(f) != 4 || f[0] == "#" {
			continue
		}
		listed = append(listed, f[0])
		if !strings.Contains(notice, f[1]+" (") {
			t.Errorf("NOTICE does not name %s", f[1])
		}
		sum := fmt.Sprintf("%x  ./%s.wasm.zst\n", sha256.Sum256([]byte(read("wasm/"+f[0]+".wasm.zst"))), f[0])
		if !strings.Contains(sums, sum) {
			t.Errorf("SHA256SUMS does not have the module of %s: build it with build/build.sh", f[0])
		}
	}
	slices.Sort(listed)
	if d := cmp.Diff(listed, Languages()); d != "" {
		t.Errorf("grammars.txt and the folder of modules differ (-listed +there):\n%s", d)
	}
}
