package source

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/kb/kbtest"
)

func anArchive(t *testing.T) kbtest.Source {
	name := filepath.Join(realTemp(t), "docs.zip")
	put := func(docs map[string]string) {
		var list []zipEntry
		for _, p := range slices.Sorted(maps.Keys(docs)) {
			list = append(list, zipEntry{name: p, text: docs[p]})
		}
		slices.Reverse(list) // an archive has the order of who packed it
		writeZip(t, name, list...)
	}
	put(nil)
	return kbtest.Source{Put: put, Open: opening(&Opener{}, zipSpec(name))}
}

func zipSpec(name string) kb.Spec { return kb.Spec{Kind: kb.KindZip, Source: name} }

// realTemp is a temporary directory whose path has no links.
func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

type zipEntry struct {
	name, text string
	mode       fs.FileMode
	flags      uint16
	says       uint64 // the size that the header has; 0 is the true one
}

func writeZip(t *testing.T, name string, list ...zipEntry) {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range list {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Flags: e.flags}
		h.SetMode(e.mode | 0o644)
		var out io.Writer
		var err error
		if e.says > 0 {
			var packed bytes.Buffer
			d, _ := flate.NewWriter(&packed, 9)
			_, _ = io.WriteString(d, e.text)
			_ = d.Close()
			h.UncompressedSize64, h.CompressedSize64 = e.says, uint64(packed.Len())
			e.text = packed.String()
			out, err = w.CreateRaw(h)
		} else {
			out, err = w.CreateHeader(h)
		}
		if err == nil && !strings.HasSuffix(e.name, "/") {
			_, err = io.WriteString(out, e.text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// listed returns the paths of an archive and opens it.
func listed(t *testing.T, spec kb.Spec) (kb.Snapshot, []string) {
	t.Helper()
	s := opening(&Opener{}, spec)(t)
	var paths []string
	if err := s.Walk(t.Context(), func(e kb.Entry) error { paths = append(paths, e.Path); return nil }); err != nil {
		t.Fatal(err)
	}
	return s, paths
}

// TestHostileArchives: what a stranger may put into an archive is left out and
// counted, and nothing outside of it is named.
func TestHostileArchives(t *testing.T) {
	name := filepath.Join(realTemp(t), "docs.zip")
	writeZip(t, name,
		zipEntry{name: "a.md", text: "first\n"}, zipEntry{name: "a.md", text: "second\n"},
		zipEntry{name: "../up.md", text: "x"}, zipEntry{name: "in/../../up.md", text: "x"}, zipEntry{name: "/etc/passwd", text: "x"},
		zipEntry{name: `..\up.md`, text: "x"}, zipEntry{name: "./dot.md", text: "x"}, zipEntry{name: "\xff.md", text: "x"}, zipEntry{name: "", text: "x"},
		zipEntry{name: "link.md", text: "/etc/passwd", mode: fs.ModeSymlink}, zipEntry{name: "pipe", mode: fs.ModeNamedPipe},
		zipEntry{name: "locked.md", text: "x", flags: 1},
		zipEntry{name: strings.Repeat("d/", maxTreeDepth+1) + "a.md", text: "x"},
		zipEntry{name: "dir/"}, zipEntry{name: "dir/b.md", text: "b\n"}, zipEntry{name: ".git/config", text: "[core]"},
		zipEntry{name: "node_modules/m/index.js", text: "x"}, zipEntry{name: ".env", text: "KEY=1"},
		zipEntry{name: "note.md", text: "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n-----END RSA " + "PRIVATE KEY-----\n"},
		zipEntry{name: "big.md", text: strings.Repeat("x", DefaultMaxFileBytes+1)},
		zipEntry{name: "lies.md", text: strings.Repeat("x", 8<<20), says: 10},
		zipEntry{name: ".knowledgeignore", text: "drafts/\n!.env\n"}, zipEntry{name: "drafts/c.md", text: "c\n"},
	)
	s, paths := listed(t, zipSpec(name))
	if d := cmp.Diff([]string{".knowledgeignore", "a.md", "dir/b.md", "lies.md", "note.md"}, paths); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if raw, err := s.Read(t.Context(), kb.Entry{Path: "a.md"}); err != nil || string(raw) != "second\n" {
		t.Errorf("of two with a name: %q, %v", raw, err)
	}
	for _, p := range []string{"../up.md", "/etc/passwd", "link.md", "locked.md", "big.md", "lies.md", ".env", "note.md", ".git/config"} {
		if raw, err := s.Read(t.Context(), kb.Entry{Path: p}); err == nil {
			t.Errorf("%s is read: %.40q", p, raw)
		}
	}
	got := s.Skipped()
	want := map[string]int{reasonPath: 7, reasonTwice: 1, reasonSymlink: 1, reasonNotAFile: 1, reasonEncrypted: 1, reasonDeep: 1, reasonOwnRule: 1}
	for r, n := range want {
		if got[r] != n {
			t.Errorf("%d left out as %s, want %d", got[r], r, n)
		}
	}
	for _, r := range []string{reasonVendored, reasonSecret, reasonTooLarge, reasonUnreadable} {
		if got[r] == 0 {
			t.Errorf("nothing left out as %s: %v", r, got)
		}
	}
	if notes := strings.Join(s.Notes(), "\n"); !strings.Contains(notes, "is not a path inside the archive") || !strings.Contains(notes, "is encrypted") {
		t.Errorf("notes %s", notes)
	}
}

// TestZipBombs: an archive that lists or holds more than is sensible is refused
// before anything of it is unpacked.
func TestZipBombs(t *testing.T) {
	name := filepath.Join(realTemp(t), "bomb.zip")
	refused := func(what string, code kb.Code) {
		t.Helper()
		s, err := (&Opener{}).Open(t.Context(), zipSpec(name))
		if err == nil {
			s.Close()
		}
		if kb.CodeOf(err) != code || kb.HintOf(err) == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
	var many []zipEntry
	for i := range maxUnpacked/DefaultMaxFileBytes + 1 {
		many = append(many, zipEntry{name: fmt.Sprintf("%d.md", i), text: "x", says: DefaultMaxFileBytes})
	}
	writeZip(t, name, many...)
	refused("much unpacked", kb.TooLarge)

	many = make([]zipEntry, maxZipEntries+1)
	for i := range many {
		many[i] = zipEntry{name: fmt.Sprint(i)}
	}
	writeZip(t, name, many...)
	refused("many entries", kb.TooLarge)

	long := make([]zipEntry, maxZipListing/60_000+1)
	for i := range long {
		long[i] = zipEntry{name: fmt.Sprintf("%d%060000d", i, 0)}
	}
	writeZip(t, name, long...)
	refused("a long directory", kb.TooLarge)

	if err := os.Truncate(name, 100); err != nil {
		t.Fatal(err)
	}
	refused("no archive", kb.Corrupt)
	if err := os.Truncate(name, maxZipBytes+1); err != nil {
		t.Skip(err)
	}
	refused("a large file", kb.TooLarge)
}

// TestArchiveThatWasSwapped: a link, a folder or nothing in the place of an
// archive is not followed.
func TestArchiveThatWasSwapped(t *testing.T) {
	dir := realTemp(t)
	name, other := filepath.Join(dir, "p.zip"), filepath.Join(dir, "other.zip")
	writeZip(t, other, zipEntry{name: "a.md", text: "private\n"})
	open := func() error {
		s, err := (&Opener{}).Open(t.Context(), zipSpec(name))
		if err == nil {
			s.Close()
		}
		return err
	}
	if err := open(); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("nothing: %v", err)
	}
	if err := os.Symlink(other, name); err != nil {
		t.Skip(err)
	}
	if err := open(); kb.CodeOf(err) != kb.Denied {
		t.Errorf("a link: %v", err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(name, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := open(); err == nil {
		t.Error("a folder is opened")
	}
}

func TestCanonicalArchives(t *testing.T) {
	dir := realTemp(t)
	for _, n := range []string{"docs.zip", "Docs2.ZIP", "bundle.jar"} {
		writeZip(t, filepath.Join(dir, n), zipEntry{name: "a.md", text: "a\n"})
	}
	for _, c := range []struct {
		kind      kb.Kind
		raw, want string
	}{
		{"", "docs.zip", "docs.zip"}, {"", "zip:./docs.zip", "docs.zip"}, {"", "zip:bundle.jar", "bundle.jar"}, {"", "Docs2.ZIP", "Docs2.ZIP"},
		{kb.KindZip, "bundle.jar", "bundle.jar"}, {"archive", "./docs.zip", "docs.zip"}, {"", "zip:" + filepath.Join(dir, "docs.zip"), "docs.zip"},
	} {
		kind, src, err := Canonical(t.Context(), c.kind, c.raw, dir)
		if want := filepath.Join(dir, c.want); err != nil || kind != kb.KindZip || src != want {
			t.Errorf("%s: %s %s, %v", c.raw, kind, src, err)
		}
		if at := LocalPath(c.kind, c.raw, dir); at != filepath.Join(dir, c.want) {
			t.Errorf("%s lies at %q", c.raw, at)
		}
	}
	// What is admitted is what is read: a path that looks like an address leads nowhere unseen.
	sub := filepath.Join(dir, "sub")
	if got := LocalPath(kb.KindZip, "ab:/../../docs.zip", sub); got != filepath.Join(dir, "docs.zip") {
		t.Errorf("a path like an address lies at %q", got)
	}
	for raw, code := range map[string]kb.Code{"zip:none.zip": kb.NotFound, "zip:.": kb.Invalid, "zip:https://example.org/a.zip": kb.NotFound} {
		if _, _, err := Canonical(t.Context(), "", raw, dir); kb.CodeOf(err) != code {
			t.Errorf("%s: %v", raw, err)
		}
	}
	for raw, want := range map[string]kb.Kind{"https://example.org/a.zip": kb.KindRepo, "git@example.org:a.zip": kb.KindRepo, ".": kb.KindFolder} {
		if got := Guess(raw, dir, false); got != want {
			t.Errorf("%s is a %s", raw, got)
		}
	}
	if n := NameOf(kb.KindZip, filepath.Join(dir, "Docs2.ZIP")); filepath.Base(n) != "Docs2" {
		t.Errorf("its name is %s", n)
	}
}

func FuzzZip(f *testing.F) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	out, _ := w.Create("docs/a.md")
	_, _ = io.WriteString(out, "text\n")
	_ = w.Close()
	f.Add(b.Bytes())
	f.Add(binary.LittleEndian.AppendUint32(nil, 0x06054b50))
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(realTemp(t), "f.zip")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := (&Opener{}).Open(t.Context(), zipSpec(name))
		if err != nil {
			return
		}
		defer s.Close()
		before := ""
		if err := s.Walk(t.Context(), func(e kb.Entry) error {
			if checkPath(e.Path) != nil || e.Path <= before {
				t.Errorf("%q after %q", e.Path, before)
			}
			before = e.Path
			_, _ = s.Read(t.Context(), e)
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
}
