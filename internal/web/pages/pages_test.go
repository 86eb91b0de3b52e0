package pages

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func put(t *testing.T, s *Store, key, text string) {
	t.Helper()
	v := Visit{Key: key, Outcome: OutKept}
	v.Path, v.URL, v.Hash = key, "http://"+key, text
	if err := s.Put(v, []Link{{URL: "http://" + key + "/next", Text: "next"}}, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// shown is what a reader sees: path=text, in order.
func shown(t *testing.T, dir string) string {
	t.Helper()
	set, err := View(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	var out []string
	for _, k := range set.Pages {
		b, err := set.Read(k)
		if err != nil {
			b = []byte(kb.CodeOf(err))
		}
		if err == nil && int64(len(b)) != k.Size {
			t.Errorf("%s has %d bytes, said %d", k.Path, len(b), k.Size)
		}
		out = append(out, k.Path+"="+string(b))
	}
	return strings.Join(out, " ")
}

func begin1(t *testing.T, s *Store, settings string, want bool) {
	t.Helper()
	resumed, err := s.Begin(settings)
	if err != nil || resumed != want {
		t.Fatalf("resumed %v, %v", resumed, err)
	}
}

func commit1(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
}

func TestCrawls(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "site")
	if _, err := View(dir); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("nothing there: %v", err)
	}
	s := open(t, dir)
	begin1(t, s, "a", false)
	put(t, s, "b", "two")
	put(t, s, "a", "one")
	if got := shown(t, dir); got != "a=one b=two" {
		t.Errorf("a first crawl under way shows %q", got)
	}
	set, err := View(dir)
	if err != nil || !set.Partial || set.Crawl != 1 {
		t.Fatalf("%+v, %v", set, err)
	}
	set.Close()
	commit1(t, s)

	old, err := View(dir)
	if err != nil || old.Partial || old.Crawl != 1 || old.Finished.IsZero() {
		t.Fatalf("%+v, %v", old, err)
	}
	defer old.Close()
	begin1(t, s, "a", false)
	put(t, s, "b", "two again")
	put(t, s, "c", "three")
	if got := shown(t, dir); got != "a=one b=two" {
		t.Errorf("while a second crawl is under way: %q", got)
	}
	s.Close()
	s = open(t, dir)
	begin1(t, s, "a", true) // it goes on
	var done []string
	for v := range s.Done() {
		links, err := s.Links(v)
		if err != nil || len(links) != 1 {
			t.Errorf("links of %s: %v, %v", v.Key, links, err)
		}
		done = append(done, v.Key)
	}
	if diff := cmp.Diff([]string{"b", "c"}, done); diff != "" {
		t.Error(diff)
	}
	a, ok := s.Before("a")
	if !ok || !s.Sound(a) {
		t.Fatal("a is not there or not sound")
	}
	a.Title = "A"
	if err := s.Keep(a); err != nil {
		t.Fatal(err)
	}
	commit1(t, s)
	if got := shown(t, dir); got != "a=one b=two again c=three" {
		t.Errorf("after the second: %q", got)
	}
	begin1(t, s, "a", false)
	put(t, s, "c", "3")
	begin1(t, s, "other", false) // other settings begin anew
	put(t, s, "d", "4")
	commit1(t, s)
	if got := shown(t, dir); got != "d=4" {
		t.Errorf("after the third: %q", got)
	}
	// A reader finishes on what it began with.
	if len(old.Pages) != 2 || old.Pages[1].Hash != "two" {
		t.Errorf("an old reader sees %+v", old.Pages)
	}
	if b, err := old.Read(old.Pages[1]); string(b) != "two" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if err := s.Keep(Visit{Key: "nowhere"}); err == nil {
		t.Error("kept what was never there")
	}
}

// Cut off anywhere, a log opens with every whole record before the cut, and
// writing goes on.
func TestCut(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	begin1(t, s, "", false)
	var ends []int64
	for i := range 5 {
		put(t, s, fmt.Sprint("p", i), strings.Repeat(fmt.Sprint("text ", i, " "), 3))
		ends = append(ends, s.s.end)
	}
	s.Close()
	name := filepath.Join(dir, logName(1))
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for cut := int64(headBytes); cut <= int64(len(whole)); cut += 3 {
		if err := os.WriteFile(name, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, e := range ends {
			if e <= cut {
				want++
			}
		}
		if set, err := View(dir); err != nil || len(set.Pages) != want || set.Damaged != 0 {
			t.Fatalf("cut at %d: %v, want %d pages", cut, err, want)
		} else {
			set.Close()
		}
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Begin(""); err != nil {
			t.Fatal(err)
		}
		put(t, s, "new", "new")
		s.Close()
		if set, err := View(dir); err != nil || len(set.Pages) != want+1 {
			t.Fatalf("cut at %d and written to: %v, want %d pages", cut, err, want+1)
		} else {
			set.Close()
		}
	}
}

// A flipped bit costs the record it is in and no other.
func TestFlips(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	begin1(t, s, "", false)
	for i := range 4 {
		put(t, s, fmt.Sprint("p", i), strings.Repeat(fmt.Sprint("text ", i, " "), 3))
	}
	commit1(t, s)
	s.Close()
	name := filepath.Join(dir, logName(1))
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += 2 {
		b := bytes.Clone(whole)
		b[at] ^= 0x10
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		set, err := View(dir)
		if at < headBytes {
			if kb.CodeOf(err) != kb.Corrupt && kb.CodeOf(err) != kb.Newer {
				t.Fatalf("byte %d of the header: %v", at, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("byte %d: %v", at, err)
		}
		good := 0
		for _, k := range set.Pages {
			if b, err := set.Read(k); err == nil {
				if want := strings.Repeat(fmt.Sprint("text ", k.Path[1:], " "), 3); string(b) != want {
					t.Fatalf("byte %d: %s reads %q", at, k.Path, b)
				}
				good++
			} else if kb.CodeOf(err) != kb.Corrupt {
				t.Fatalf("byte %d: %v", at, err)
			}
		}
		set.Close()
		if good < 3 {
			t.Fatalf("byte %d cost %d pages", at, 4-good)
		}
		s, err := Open(dir)
		if err != nil {
			t.Fatalf("byte %d: open: %v", at, err)
		}
		for v := range s.All() {
			s.Sound(v)
		}
		s.Close()
	}
	// A log that is none is put aside.
	if err := os.WriteFile(name, []byte("not a log at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	begin1(t, s, "", false)
	if _, err := os.Stat(name + ".bad"); err != nil {
		t.Error(err)
	}
}

func TestNewer(t *testing.T) {
	dir := t.TempDir()
	open(t, dir).Close()
	name := filepath.Join(dir, logName(1))
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint32(b[8:], Version+1)
	binary.LittleEndian.PutUint32(b[12:], crc(b[:12]))
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := View(dir); kb.CodeOf(err) != kb.Newer {
		t.Error(err)
	}
	if _, err := Open(dir); kb.CodeOf(err) != kb.Newer {
		t.Error(err)
	}
}

// A log of which most is out of date is replaced; readers of the old one go on.
func TestCompact(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	text := make([]byte, 200_000)
	for i := range text {
		text[i] = byte(i * i >> 3)
	}
	var old *Set
	for crawl := range 20 {
		begin1(t, s, "", false)
		put(t, s, "keep", "the same")
		put(t, s, "change", fmt.Sprint(crawl)+string(text))
		commit1(t, s)
		if crawl == 2 {
			var err error
			if old, err = View(dir); err != nil {
				t.Fatal(err)
			}
			defer old.Close()
		}
	}
	if s.s.number == 1 {
		t.Error("the log was never replaced")
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 1 && os.PathSeparator == '/' {
		t.Errorf("%d files are left", len(entries))
	}
	if b, err := old.Read(old.Pages[0]); err != nil || !bytes.HasPrefix(b, []byte("2")) {
		t.Errorf("an old reader: %.10q, %v", b, err)
	}
	s.Close()
	s = open(t, dir)
	if v, ok := s.Before("keep"); !ok || s.Crawl() != 20 || !s.Committed() {
		t.Errorf("%v %d", ok, s.Crawl())
	} else if links, err := s.Links(v); err != nil || len(links) != 1 {
		t.Errorf("%v, %v", links, err)
	} else if b, err := s.Body(v); string(b) != "the same" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
}

// A full disk ends the crawl with a sentence and leaves what was there.
func TestFull(t *testing.T) {
	restore := atomicfile.Inject(func(op atomicfile.Op, _ string) error {
		if op == atomicfile.OpWrite {
			return syscall.ENOSPC
		}
		return nil
	})
	_, err := Open(filepath.Join(t.TempDir(), "x"))
	restore()
	if kb.CodeOf(err) != kb.Full {
		t.Error(err)
	}
	if err := wrap(fmt.Errorf("write: %w", syscall.ENOSPC), "x"); kb.CodeOf(err) != kb.Full || kb.HintOf(err) == "" {
		t.Error(err)
	}
	var e *kb.Error
	if err := wrap(errors.New("odd"), "x"); !errors.As(err, &e) || e.Code != kb.Internal {
		t.Error(err)
	}
}

func FuzzLoad(f *testing.F) {
	dir := f.TempDir()
	s, err := Open(dir)
	if err != nil {
		f.Fatal(err)
	}
	s.Begin("x")
	v := Visit{Key: "k", Outcome: OutKept}
	v.Path = "k"
	s.Put(v, []Link{{URL: "u"}}, []byte("body"))
	s.Commit()
	s.Close()
	b, err := os.ReadFile(filepath.Join(dir, logName(1)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:len(b)-3])
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, logName(1)), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if set, err := View(dir); err == nil {
			for _, k := range set.Pages {
				set.Read(k)
			}
			set.Close()
		}
		if s, err := Open(dir); err == nil {
			s.Begin("y")
			put(t, s, "z", "z")
			commit1(t, s)
			s.Close()
		}
	})
}
