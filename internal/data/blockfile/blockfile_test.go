package blockfile

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var testHeader = Header{Kind: "segment", Version: 3, Chunker: 7, Embedder: "static-256"}

type named struct {
	name string
	data []byte
}

// build writes a file of the sections, in pieces of odd sizes.
func build(t testing.TB, path string, sections ...named) {
	t.Helper()
	w, err := Create(path, testHeader)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for _, s := range sections {
		if err := w.Section(s.name); err != nil {
			t.Fatal(err)
		}
		for p := s.data; len(p) > 0; {
			n := min(len(p), 70001)
			if _, err := w.Write(p[:n]); err != nil {
				t.Fatal(err)
			}
			p = p[n:]
		}
		if w.Offset() != int64(len(s.data)) {
			t.Errorf("offset is %d after %d bytes", w.Offset(), len(s.data))
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

func random(n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func openFile(t testing.TB, path string) *Reader {
	t.Helper()
	r, err := Open(path, "segment", 3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// parsed reads a file's bytes without a file.
func parsed(data []byte) (*Reader, error) {
	r := &Reader{path: "test", data: data}
	return r, r.Guard(func() error { return r.parse("segment", 3) })
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	for _, sections := range [][]named{
		nil,
		{{"empty", nil}},
		{{"a", []byte("x")}, {"empty", nil}, {"b", random(3 * BlockSize)}},
		{{"exact", random(BlockSize - 64)}},
		{{"exact", random(BlockSize - 64)}, {"next", []byte("y")}},
		{{"long", random(5*BlockSize + 17)}, {"tail", random(63)}, {"end", nil}},
	} {
		path := filepath.Join(t.TempDir(), "f")
		build(t, path, sections...)
		r := openFile(t, path)
		if diff := cmp.Diff(testHeader, r.Header()); diff != "" {
			t.Error(diff)
		}
		var names []string
		for _, s := range sections {
			names = append(names, s.name)
			sec := r.Section(s.name)
			got, err := sec.All()
			if err != nil || !bytes.Equal(got, s.data) || sec.Len() != int64(len(s.data)) || !r.Has(s.name) {
				t.Errorf("section %s: %d bytes, want %d, error %v", s.name, len(got), len(s.data), err)
			}
			if len(got) > 0 && uintptr(unsafe.Pointer(&got[0]))%Align != 0 {
				t.Errorf("section %s is not aligned", s.name)
			}
			for range 20 {
				if len(s.data) == 0 {
					break
				}
				off := rand.IntN(len(s.data))
				n := rand.IntN(len(s.data) - off + 1)
				got, err := sec.Bytes(int64(off), int64(n))
				if err != nil || !bytes.Equal(got, s.data[off:off+n]) {
					t.Fatalf("bytes %d+%d of %s differ (%v)", off, n, s.name, err)
				}
			}
			for _, bad := range [][2]int64{{-1, 1}, {0, -1}, {sec.Len(), 1}, {0, sec.Len() + 1}, {1 << 62, 1 << 62}, {sec.Len() + 1, 0}} {
				if _, err := sec.Bytes(bad[0], bad[1]); kb.CodeOf(err) != kb.Corrupt {
					t.Errorf("range %v: %v", bad, err)
				}
			}
		}
		if diff := cmp.Diff(names, r.Sections(), cmp.Comparer(func(a, b []string) bool { return strings.Join(a, " ") == strings.Join(b, " ") })); diff != "" {
			t.Error(diff)
		}
		if _, err := r.Section("none").All(); kb.CodeOf(err) != kb.Corrupt || r.Has("none") || r.Section("none").Len() != 0 {
			t.Errorf("missing section: %v", err)
		}
		if err := r.Verify(); err != nil {
			t.Error(err)
		}
	}
	if b, err := (Section{}).All(); b != nil || err != nil {
		t.Errorf("zero section: %v, %v", b, err)
	}
}

func TestWriterRefusesMisuse(t *testing.T) {
	dir := t.TempDir()
	if _, err := Create(filepath.Join(dir, "f"), Header{}); err == nil {
		t.Error("made a file without a kind")
	}
	for name, f := range map[string]func(w *Writer) error{
		"no section":   func(w *Writer) error { _, err := w.Write([]byte("x")); return err },
		"same section": func(w *Writer) error { w.Section("a"); return w.Section("a") },
		"empty name":   func(w *Writer) error { return w.Section("") },
		"after abort":  func(w *Writer) error { w.Abort(); return w.Commit() },
	} {
		w, err := Create(filepath.Join(dir, "f"), testHeader)
		if err != nil {
			t.Fatal(err)
		}
		if err := f(w); err == nil {
			t.Errorf("%s: no error", name)
		}
		if err := w.Commit(); err == nil {
			t.Errorf("%s: committed", name)
		}
		w.Abort()
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

func TestCommitAs(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(filepath.Join(dir, "unnamed"), testHeader)
	if err != nil {
		t.Fatal(err)
	}
	w.Section("a")
	w.Write([]byte("x"))
	if err := w.CommitAs(filepath.Join(dir, "named")); err != nil {
		t.Fatal(err)
	}
	openFile(t, filepath.Join(dir, "named"))
}

func TestAFullDiskLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	left := 2
	defer atomicfile.Inject(func(op atomicfile.Op, _ string) error {
		if op == atomicfile.OpWrite {
			if left--; left < 0 {
				return syscall.ENOSPC
			}
		}
		return nil
	})()
	w, err := Create(filepath.Join(dir, "f"), testHeader)
	if err != nil {
		t.Fatal(err)
	}
	w.Section("a")
	if _, err = w.Write(random(4 * BlockSize)); err == nil {
		err = w.Commit()
	}
	w.Abort()
	if kb.CodeOf(err) != kb.Full {
		t.Errorf("got %v", err)
	}
	if names, _ := os.ReadDir(dir); len(names) > 0 {
		t.Errorf("left %v", names)
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	build(t, path, named{"a", random(1000)})
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(dir, "none"), "segment", 3); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("missing file: %v", err)
	}
	if _, err := Open(dir, "segment", 3); kb.CodeOf(err) != kb.Corrupt {
		t.Errorf("directory: %v", err)
	}
	if _, err := Open(path, "vectors", 3); kb.CodeOf(err) != kb.Corrupt {
		t.Errorf("other kind: %v", err)
	}
	if _, err := Open(path, "segment", 2); kb.CodeOf(err) != kb.Newer || !strings.Contains(kb.HintOf(err), "restart this session") {
		t.Errorf("newer: %v", err)
	}
	future := bytes.Clone(whole)
	le.PutUint32(future[8:], layout+1)
	le.PutUint32(future[12:], checksum(future[:12]))
	if _, err := parsed(future); kb.CodeOf(err) != kb.Newer {
		t.Errorf("newer layout: %v", err)
	}
	for n := range whole {
		if r, err := parsed(whole[:n]); kb.CodeOf(err) != kb.Corrupt {
			t.Fatalf("cut to %d bytes: %v, %v", n, r, err)
		}
	}
	short := filepath.Join(dir, "short")
	for _, n := range []int{0, 1, 31, 32, 63, len(whole) - 1} {
		if err := os.WriteFile(short, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(short, "segment", 3); kb.CodeOf(err) != kb.Corrupt || kb.HintOf(err) == "" {
			t.Errorf("file of %d bytes: %v", n, err)
		}
	}
}

func TestEveryFlippedBitIsFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	build(t, path, named{"a", random(100)}, named{"b", []byte("hello")}, named{"c", random(300)})
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		for bit := range 8 {
			whole[i] ^= 1 << bit
			r, err := parsed(whole)
			if err == nil {
				err = r.Verify()
			}
			if kb.CodeOf(err) != kb.Corrupt {
				t.Fatalf("bit %d of byte %d flipped: %v", bit, i, err)
			}
			whole[i] ^= 1 << bit
		}
	}
}

func TestDamageIsFoundAtFirstTouchAndTheRestIsServed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broken-one")
	data := random(6 * BlockSize)
	build(t, path, named{"a", data})
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole[3*BlockSize+5] ^= 1
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	r := openFile(t, path)
	a := r.Section("a")
	for range 2 {
		if got, err := a.Bytes(0, BlockSize); err != nil || !bytes.Equal(got, data[:BlockSize]) {
			t.Errorf("sound block: %v", err)
		}
		_, err := a.Bytes(3*BlockSize, 10)
		if kb.CodeOf(err) != kb.Corrupt || !strings.Contains(err.Error(), "broken-one") {
			t.Errorf("damaged block: %v", err)
		}
	}
	if err := r.Verify(); kb.CodeOf(err) != kb.Corrupt {
		t.Errorf("Verify: %v", err)
	}
}

func TestGuardTranslatesOnlyWhatContentCauses(t *testing.T) {
	boom := errors.New("boom")
	if err := Guard(func() error { return boom }); err != boom {
		t.Errorf("got %v", err)
	}
	var empty []int
	n := -1
	for name, f := range map[string]func(){
		"index":     func() { _ = empty[len(os.Args)] },
		"slice":     func() { _ = empty[:len(os.Args)] },
		"makeslice": func() { _ = make([]int, n) },
	} {
		if err := Guard(func() error { f(); return nil }); kb.CodeOf(err) != kb.Corrupt || kb.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	var nothing *Reader
	for name, f := range map[string]func(){
		"nil":    func() { _ = nothing.path },
		"own":    func() { panic("own") },
		"divide": func() { n = 0; n = 1 / n },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was swallowed", name)
				}
			}()
			_ = Guard(func() error { f(); return nil })
		}()
	}
}

func TestHoldersKeepTheMap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	data := random(2 * BlockSize)
	build(t, path, named{"a", data})
	r, err := Open(path, "segment", 3)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		if !r.Retain() {
			t.Fatal("closed already")
		}
		wg.Go(func() {
			defer r.Release()
			for range 100 {
				if got, err := r.Section("a").All(); err != nil || !bytes.Equal(got, data) {
					t.Error("differs", err)
				}
			}
		})
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	if r.Retain() {
		t.Error("retained after the last holder went")
	}
	if len(open.readers) > 0 {
		t.Errorf("%d readers still registered", len(open.readers))
	}
}

func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "f")
	build(f, path, named{"a", random(100)}, named{"b", random(200)})
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole, uint16(0), byte(0))
	f.Add(whole, uint16(20), byte(1))
	f.Add(whole[:50], uint16(0), byte(0))
	f.Fuzz(func(t *testing.T, data []byte, at uint16, flip byte) {
		data = bytes.Clone(data)
		if int(at) < len(data) {
			data[at] ^= flip
		}
		r, err := parsed(data)
		if err != nil {
			return
		}
		for _, name := range r.Sections() {
			r.Section(name).All()
		}
		r.Verify()
	})
}

func BenchmarkBytes(b *testing.B) {
	path := filepath.Join(b.TempDir(), "f")
	build(b, path, named{"a", random(4 << 20)}, named{"b", random(4 << 20)})
	r := openFile(b, path)
	s := r.Section("a")
	s.All()
	b.Run("touched", func(b *testing.B) {
		for b.Loop() {
			s.Bytes(100_000, 64)
		}
	})
	b.Run("verify", func(b *testing.B) {
		b.SetBytes(r.Size())
		for b.Loop() {
			r.Verify()
		}
	})
	b.Run("guard", func(b *testing.B) {
		for b.Loop() {
			Guard(func() error { return nil })
		}
	})
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			r, err := Open(path, "segment", 3)
			if err != nil {
				b.Fatal(err)
			}
			r.Close()
		}
	})
}
