package transfer

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/ingest"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
	"github.com/seed-4f2d999b/knowledge/internal/text/chunk"
)

// docs is a source in memory.
type docs map[string]string

func (d docs) Version() string { return "" }
func (d docs) Walk(_ context.Context, f func(kb.Entry) error) error {
	for _, p := range slices.Sorted(maps.Keys(d)) {
		if err := f(kb.Entry{Path: p, Size: int64(len(d[p])), Stamp: d[p]}); err != nil {
			return err
		}
	}
	return nil
}
func (d docs) Read(_ context.Context, e kb.Entry) ([]byte, error) { return []byte(d[e.Path]), nil }
func (d docs) Skipped() map[string]int                            { return nil }
func (d docs) Notes() []string                                    { return nil }
func (d docs) Close() error                                       { return nil }

func newPlace(t testing.TB) Place {
	t.Helper()
	dir := t.TempDir()
	d, err := db.Open(t.Context(), filepath.Join(dir, "knowledge.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	emb := embed.Default()
	c := catalog.New(d, nil)
	pool := index.NewPool(dir, emb.ID(), "")
	return Place{
		Dir: dir, Catalog: c, Program: "test",
		Indexer: &ingest.Indexer{Catalog: c, Indexes: pool, Embedder: emb, Workers: 1}, Pool: pool,
		Opener: &source.Opener{ReposDir: filepath.Join(dir, "repos"), WebDir: filepath.Join(dir, "web")},
	}
}

// index makes a store of documents.
func (p Place) index(t testing.TB, name, src string, d docs) kb.Store {
	t.Helper()
	st, _, err := p.Catalog.Add(t.Context(), "", name, kb.Spec{Kind: kb.KindFolder, Source: src}, "", nil)
	if err == nil {
		_, err = p.Indexer.Run(t.Context(), "job-"+name, st, d, ingest.Options{})
	}
	if err == nil {
		err = p.Catalog.ReleaseUses(t.Context(), "job-"+name)
	}
	if err == nil {
		st, err = p.Catalog.Lookup(t.Context(), "", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func (p Place) export(t testing.TB, st kb.Store) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := p.Export(t.Context(), st, st.Name, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var sample = docs{
	"a.go":     "package a\n\n// Alpha begins.\nfunc Alpha() { Beta() }\n",
	"b.go":     "package a\n\n// Beta follows.\nfunc Beta() {}\n",
	"notes.md": "# Notes\n\nAlpha calls Beta.\n",
	"old.txt":  "gr\xfc\xdfe aus alter zeit\n", // windows-1252
}

// file is one member of an archive in the making.
type file struct {
	tar.Header
	body []byte
}

// parts takes an export apart.
func parts(t testing.TB, b []byte) []file {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var out []file
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, file{*h, body})
	}
}

// pack puts an archive together, whatever it holds.
func pack(files []file) []byte {
	var b bytes.Buffer
	z, _ := zstd.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range files {
		h := f.Header
		if h.Size == 0 || h.Typeflag == tar.TypeReg {
			h.Size = int64(len(f.body))
		}
		if h.Typeflag != tar.TypeReg {
			h.Size = 0
		}
		_ = w.WriteHeader(&h)
		if h.Size > 0 {
			_, _ = w.Write(f.body)
		}
	}
	_ = w.Close()
	_ = z.Close()
	return b.Bytes()
}

// seal writes the manifest anew after edit, with the true sizes and hashes of
// all members where honest is set: a forger does as much.
func seal(t testing.TB, files []file, honest bool, edit func(m *Manifest)) []file {
	t.Helper()
	files = slices.Clone(files)
	var m Manifest
	if err := json.Unmarshal(files[0].body, &m); err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(&m)
	}
	if honest {
		for i := range m.Members {
			for _, f := range files[1:] {
				if f.Name == m.Members[i].Name {
					sum := sha256.Sum256(f.body)
					m.Members[i].Size, m.Members[i].SHA256 = int64(len(f.body)), hex.EncodeToString(sum[:])
				}
			}
		}
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	files[0].body = text
	return files
}

func find(files []file, ext string) int {
	return slices.IndexFunc(files, func(f file) bool { return strings.HasSuffix(f.Name, ext) })
}

// hostile are files that a forger, a broken disk or an accident makes, each
// with what the refusal must say.
func hostile(t *testing.T, good []byte, other []file) map[string]struct {
	data []byte
	want string
} {
	type bad = struct {
		data []byte
		want string
	}
	p := parts(t, good)
	change := func(f func(files []file) []file) []file { return f(slices.Clone(p)) }
	body := func(ext string, f func(b []byte) []byte) []file {
		return change(func(files []file) []file {
			i := find(files, ext)
			files[i].body = f(slices.Clone(files[i].body))
			return files
		})
	}
	extra := func(name string, kind byte) []byte {
		h := tar.Header{Name: name, Typeflag: kind, Mode: 0o777}
		if kind != tar.TypeReg {
			h.Linkname = "/etc/passwd"
		}
		return pack(append(slices.Clone(p), file{h, []byte("x")}))
	}
	out := map[string]bad{
		"empty":                      {nil, "cut short"},
		"not an archive":             {[]byte("PK\x03\x04 this is another kind of file altogether"), "does not unpack"},
		"cut in the middle":          {good[:len(good)/2], "cut short"},
		"cut at the end":             {good[:len(good)-3], "cut short"},
		"a member more":              {extra("segments/evil.seg", tar.TypeReg), "does not belong"},
		"a path that leads out":      {extra("../../.bashrc", tar.TypeReg), "does not belong"},
		"an absolute path":           {extra("/etc/cron.d/evil", tar.TypeReg), "does not belong"},
		"a path of Windows":          {extra(`C:\Windows\evil.dll`, tar.TypeReg), "does not belong"},
		"a symbolic link":            {extra("link", tar.TypeSymlink), "no plain file"},
		"a hard link":                {extra("link", tar.TypeLink), "no plain file"},
		"a device":                   {extra("dev", tar.TypeChar), "no plain file"},
		"something after the end":    {append(slices.Clone(good), "tail"...), "does not unpack"},
		"another stream after it":    {append(slices.Clone(good), pack(nil)...), "follows its end"},
		"two of a member":            {pack(append(slices.Clone(p), p[len(p)-1])), "does not belong"},
		"a member less":              {pack(p[:len(p)-1]), "is missing"},
		"another order":              {pack(change(func(f []file) []file { f[1], f[2] = f[2], f[1]; return f })), "does not belong"},
		"no manifest":                {pack(p[1:]), "begin with a manifest"},
		"a manifest that is no JSON": {pack(change(func(f []file) []file { f[0].body = []byte("{"); return f })), "does not parse"},
		"an unknown field": {pack(change(func(f []file) []file {
			f[0].body = bytes.Replace(f[0].body, []byte(`"program"`), []byte(`"x":1,"program"`), 1)
			return f
		})), "unknown field"},
		"a newer format":              {pack(seal(t, p, true, func(m *Manifest) { m.Version = 2 })), "newer version"},
		"a newer index":               {pack(seal(t, p, true, func(m *Manifest) { m.Versions.Index++ })), "newer version"},
		"another store's id":          {pack(seal(t, p, true, func(m *Manifest) { m.Store.ID = "aaaaaaaaaaaaaaaa" })), "id is not that"},
		"a name that is a path":       {pack(seal(t, p, true, func(m *Manifest) { m.Store.Name = "../x" })), "cannot name a store"},
		"a description with escapes":  {pack(seal(t, p, true, func(m *Manifest) { m.Store.Description = "\x1b]0;evil\a" })), "control characters"},
		"a description turned around": {pack(seal(t, p, true, func(m *Manifest) { m.Store.Description = "a\u202eb" })), "nobody sees"},
		"a tag of no width":           {pack(seal(t, p, true, func(m *Manifest) { m.Store.Tags = []string{"a\u200bb"} })), "nobody sees"},
		"notes without end":           {pack(seal(t, p, true, func(m *Manifest) { m.Head.Notes = make([]string, 10_000) })), "too many notes"},
		"reasons without end": {pack(seal(t, p, true, func(m *Manifest) {
			m.Head.Skipped = map[string]int{strings.Repeat("a", 1<<20): 1}
		})), "too many notes"},
		"a time to come": {pack(seal(t, p, true, func(m *Manifest) { m.Head.Indexed = time.Now().AddDate(10, 0, 0) })), "in the future"},
		"a source that runs commands": {pack(seal(t, p, true, func(m *Manifest) {
			m.Store.Spec.Kind = kb.KindRepo
			m.Store.Spec.Source = "ext::sh -c id"
			m.Store.ID = m.Store.Spec.ID()
		})), "not one that this program writes"},
		"a source with a password": {pack(seal(t, p, true, func(m *Manifest) {
			m.Store.Spec.Kind = kb.KindRepo
			m.Store.Spec.Source = "https://u:p@example.org/x"
			m.Store.ID = m.Store.Spec.ID()
		})), "not one that this program writes"},
		"a kind there is not":          {pack(seal(t, p, true, func(m *Manifest) { m.Store.Spec.Kind = "exec"; m.Store.ID = m.Store.Spec.ID() })), "kind of store"},
		"an embedder that is a path":   {pack(seal(t, p, true, func(m *Manifest) { m.Embedder = "../../x"; m.Head.Embedder = m.Embedder })), "names no embedder"},
		"a segment that is a path":     {pack(seal(t, p, true, func(m *Manifest) { m.Head.Segments = []string{"../../../../x"} })), "no name of a segment"},
		"a size that is not its own":   {pack(seal(t, p, false, func(m *Manifest) { m.Members[0].Size++ })), "another size"},
		"a negative size":              {pack(seal(t, p, false, func(m *Manifest) { m.Members[0].Size = -1 })), "proper size"},
		"a size without end":           {pack(seal(t, p, false, func(m *Manifest) { m.Members[0].Size = 1 << 60 })), "proper size"},
		"a hash that is not its own":   {pack(body(".seg", func(b []byte) []byte { b[len(b)/2] ^= 1; return b })), "SHA-256"},
		"a flipped bit under its hash": {pack(seal(t, body(".seg", func(b []byte) []byte { b[len(b)/2] ^= 1; return b }), true, nil)), "damaged"},
		"vectors cut under their hash": {pack(seal(t, body(".vec", func(b []byte) []byte { return b[:len(b)/2] }), true, nil)), "damaged"},
		"a count that is not its own":  {pack(seal(t, p, true, func(m *Manifest) { m.Head.Documents = 1 << 40 })), "do not agree"},
		"another commit":               {pack(seal(t, p, true, func(m *Manifest) { m.Head.Commit = strings.Repeat("a", 40) })), "do not agree"},
		"no segments at all":           {pack(seal(t, p, true, func(m *Manifest) { m.Head.Segments = nil })), "does not belong"},
	}
	// Sound files of another store under the names of this one's.
	for _, ext := range []string{".seg", ".vec", ".gen", ".lay"} {
		swapped := body(ext, func([]byte) []byte { return other[find(other, ext)].body })
		out["another store's "+ext] = bad{pack(seal(t, swapped, true, nil)), ""}
	}
	// A manifest of 70 MB of spaces: some kilobytes.
	bomb := change(func(f []file) []file {
		f[0].body = append(slices.Clone(f[0].body), bytes.Repeat([]byte(" "), 70<<20)...)
		return f
	})
	out["a manifest that unpacks without end"] = bad{pack(bomb), ""}
	zeros := change(func(f []file) []file {
		i := find(f, ".seg")
		f[i].body = make([]byte, 100<<20)
		return f
	})
	out["a segment of zeros that unpacks without end"] = bad{pack(seal(t, zeros, true, nil)), "more than 100 times"}
	return out
}

// TestHostileFilesAreRefused: nothing of a file that is not sound stays, and
// what was there is as before.
func TestHostileFilesAreRefused(t *testing.T) {
	from := newPlace(t)
	good := from.export(t, from.index(t, "sample", "/src/sample", sample))
	other := parts(t, from.export(t, from.index(t, "other", "/src/other", docs{"x.go": "package x\n\nfunc X() {}\n", "y.md": "# Y\n"})))
	to := newPlace(t)
	to.index(t, "mine", "/src/mine", docs{"m.go": "package m\n"})
	before := listing(t, to.Dir)
	cases := hostile(t, good, other)
	for name, c := range cases {
		_, err := to.Import(t.Context(), bytes.NewReader(c.data), Request{Force: true})
		var e *kb.Error
		if !errors.As(err, &e) || e.Hint == "" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v", name, err)
		}
		if code := kb.CodeOf(err); err != nil && code != kb.Corrupt && code != kb.TooLarge && code != kb.Newer {
			t.Errorf("%s: has the code %s", name, code)
		}
		if after := listing(t, to.Dir); !slices.Equal(before, after) {
			t.Errorf("%s: left %v", name, after)
			before = after
		}
	}
	all, err := to.Catalog.All(t.Context())
	if err != nil || len(all) != 1 {
		t.Errorf("got %d stores, %v", len(all), err)
	}
	if done, err := to.Import(t.Context(), bytes.NewReader(good), Request{}); err != nil || done.Store.Head.Documents != len(sample) {
		t.Errorf("the sound one: %+v, %v", done, err)
	}
	t.Logf("%d hostile files refused", len(cases))
}

// listing names what there is in a data directory, but for the database and locks.
func listing(t testing.TB, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && !strings.HasPrefix(e.Name(), "knowledge.db") && filepath.Ext(p) != ".lock" {
			info, err := e.Info()
			if err != nil {
				return err
			}
			out = append(out, fmt.Sprint(p, " ", info.Size()))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestEveryFlippedByteIsNoticed: a file of which one byte differs is refused,
// or says the same as before (a byte of compression that means nothing).
func TestEveryFlippedByteIsNoticed(t *testing.T) {
	from := newPlace(t)
	good := from.export(t, from.index(t, "sample", "/src/sample", sample))
	to := newPlace(t)
	step := max(1, len(good)/150)
	refused := 0
	for at := 0; at < len(good); at += step {
		data := slices.Clone(good)
		data[at] ^= 1 << (at % 8)
		done, err := to.Import(t.Context(), bytes.NewReader(data), Request{})
		if err != nil {
			refused++
			continue
		}
		if text := from.textOf(t, "sample"); to.textOf(t, "sample") != text || done.Store.Head.Documents != len(sample) {
			t.Fatalf("byte %d makes another store", at)
		}
		if err := to.Catalog.Delete(t.Context(), done.Store.ID); err != nil {
			t.Fatal(err)
		}
		if err := to.Indexer.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if tried := (len(good) + step - 1) / step; refused < tried*9/10 {
		t.Errorf("%d of %d flips were refused", refused, tried)
	}
}

func (p Place) textOf(t testing.TB, name string) string {
	t.Helper()
	st, err := p.Catalog.Lookup(t.Context(), "", name)
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Pool.Open(t.Context(), st.Head.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Release()
	docs, err := g.Manifest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, d := range docs {
		doc, err := g.Document(t.Context(), d.Path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %v\n%s", d.Path, doc.IDs, doc.Body)
	}
	return b.String()
}

// A text is shared between stores by its hash, but not what a file from
// elsewhere says about it: its words and vectors were made by somebody else.
func TestImportedSegmentsServeTheirStoreAlone(t *testing.T) {
	from := newPlace(t)
	good := from.export(t, from.index(t, "sample", "/src/sample", sample))
	to := newPlace(t)
	done, err := to.Import(t.Context(), bytes.NewReader(good), Request{Name: "theirs"})
	if err != nil {
		t.Fatal(err)
	}
	st, _, err := to.Catalog.Add(t.Context(), "", "ours", kb.Spec{Kind: kb.KindFolder, Source: "/src/ours"}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := to.Indexer.Run(t.Context(), "job", st, docs{"copy.go": sample["a.go"]}, ingest.Options{})
	if err != nil || res.Shared != 0 || res.Indexed != 1 {
		t.Errorf("got %+v, %v", res, err)
	}
	// The store itself goes on from what came with it, and another import shares it.
	res, err = to.Indexer.Run(t.Context(), "job2", done.Store, sample, ingest.Options{})
	if err != nil || !res.UpToDate {
		t.Errorf("got %+v, %v", res, err)
	}
	same := from.index(t, "copy", "/src/copy", sample)
	again, err := to.Import(t.Context(), bytes.NewReader(from.export(t, same)), Request{})
	if err != nil || again.Segments == 0 || again.Shared != again.Segments {
		t.Errorf("got %+v, %v", again, err)
	}
	// A segment made here takes the mark away.
	if _, err := to.Indexer.Run(t.Context(), "job3", done.Store, sample, ingest.Options{Force: true}); err != nil {
		t.Fatal(err)
	}
	if marks, _ := filepath.Glob(filepath.Join(to.Pool.Dir, "*"+index.ImportedExt)); len(marks) > 0 {
		t.Errorf("left: %v", marks)
	}
}

// TestAStoreGivesAwayItsOwnTextAlone: segments are shared between stores, and
// exports of one of them hold nothing of the others.
func TestAStoreGivesAwayItsOwnTextAlone(t *testing.T) {
	p := newPlace(t)
	p.index(t, "private", "/src/private", docs{"shared.md": "# Shared\n\nEverybody knows.\n", "diary.md": "# Diary\n\nxyzzy plugh, nobody knows.\n"})
	public := p.index(t, "public", "/src/public", docs{"shared.md": "# Shared\n\nEverybody knows.\n"})
	to := newPlace(t)
	done, err := to.Import(t.Context(), bytes.NewReader(p.export(t, public)), Request{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range done.Store.Head.Segments {
		s, err := to.Pool.Segment(t.Context(), name)
		if err != nil || len(s.Keys) != 1 {
			t.Errorf("segment %s holds %d documents, %v", name, len(s.Keys), err)
		}
	}
	if a, b := p.textOf(t, "public"), to.textOf(t, "public"); a != b {
		t.Errorf("got  %q\nwant %q", b, a)
	}
}

// An import that is killed leaves what gc deletes, and nothing live.
func TestAKilledImportLeavesNothingLive(t *testing.T) {
	p := newPlace(t)
	r, err := p.begin("")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Catalog.UseSegments(t.Context(), r.id, "aaaaaaaaaaaaaaaaaaaaaaaa"); err != nil {
		t.Fatal(err)
	}
	if !Alive(p.Dir, r.id) || len(Leftovers(p.Dir)) != 0 {
		t.Error("a running import is taken for dead")
	}
	if err := r.lock.Unlock(); err != nil { // as the end of its process does
		t.Fatal(err)
	}
	if left := Leftovers(p.Dir); Alive(p.Dir, r.id) || len(left) != 1 || left[0] != r.dir {
		t.Errorf("got %v", left)
	}
	if err := os.RemoveAll(r.dir); err != nil {
		t.Fatal(err)
	}
}

// What chunk.Version the file has must not be newer than ours; an older one is taken.
func TestVersions(t *testing.T) {
	from := newPlace(t)
	files := parts(t, from.export(t, from.index(t, "sample", "/src/sample", sample)))
	_, err := newPlace(t).Import(t.Context(), bytes.NewReader(pack(seal(t, files, true, func(m *Manifest) { m.Versions.Chunker = chunk.Version + 1 }))), Request{})
	if kb.CodeOf(err) != kb.Newer || !strings.Contains(err.Error(), "made by a newer version") {
		t.Errorf("got %v", err)
	}
}
