package source

import (
	"archive/zip"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// zipPrefix says of a source that it is an archive, whatever its name ends in.
const zipPrefix = "zip:"

// Bounds of an archive, which a stranger may have made. What breaks one is
// refused whole: an index of an unknown part of it would answer for all of it.
const (
	maxZipBytes   = 1 << 30  // of the file
	maxZipListing = 32 << 20 // read to list it; one entry takes 46 bytes at least, and some 300 in memory
	maxZipEntries = 100_000
	maxUnpacked   = 1 << 30 // of the documents that are kept, as their headers say
)

// zipPath implements kindRow.path. A source of this kind is never an address.
func zipPath(raw, dir string) string { return absolute(strings.TrimPrefix(raw, zipPrefix), dir) }

// zipName is the name of the file without its extension.
func zipName(src string) string {
	if ext := filepath.Ext(src); strings.EqualFold(ext, ".zip") {
		return strings.TrimSuffix(src, ext)
	}
	return src
}

func canonicalZip(_ context.Context, raw, dir string) (string, error) {
	p := zipPath(raw, dir)
	if schemeRE.MatchString(raw) {
		return "", kb.Errorf(kb.Invalid, "%q is not an archive on this machine but a URL", redact(raw)).
			WithHint("download it, then give its path")
	}
	real, err := filepath.EvalSymlinks(p)
	if err != nil {
		return "", zipError(p, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", zipError(p, err)
	}
	if !info.Mode().IsRegular() {
		return "", kb.Errorf(kb.Invalid, "%q is not a file", p).
			WithHint("give the path of a zip archive, or a folder with type file")
	}
	return filepath.Clean(real), nil
}

func zipError(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return kb.Errorf(kb.NotFound, "there is no archive %q", name).
			WithHint("check the spelling; relative paths start at the working directory")
	case errors.Is(err, zip.ErrFormat), errors.Is(err, io.ErrUnexpectedEOF):
		return kb.Errorf(kb.Corrupt, "%q is not a zip archive that can be read", name).
			WithHint("check it with: unzip -t %s", kb.ShellWord(name))
	}
	return kb.Errorf(kb.Denied, "cannot read the archive %q: %s", name, cause(err)).WithHint("allow this user to read it")
}

// zipped is a snapshot of an archive.
type zipped struct {
	tally
	name  string
	file  *os.File
	sel   *selector
	own   ownFiles    // not to be vouched for: they free no secret
	files []*zip.File // in byte order of the names, which are unique
	bad   []zipFault  // found while it was listed
}

// zipFault is an entry that is left out whatever the rules say.
type zipFault struct{ reason, says, path string }

// openZip opens an archive. The file stays open, so that a snapshot reads what
// it has listed when another file takes its place.
func openZip(_ context.Context, _ *Opener, spec kb.Spec) (kb.Snapshot, error) {
	sel, err := newSelector(spec.Selection)
	if err != nil {
		return nil, err
	}
	f, err := openPlain(spec.Source)
	if err != nil {
		return nil, err
	}
	z := &zipped{name: spec.Source, file: f, sel: sel, own: ownFiles{root: spec.Source}}
	if err := z.list(); err != nil {
		f.Close()
		return nil, err
	}
	return z, nil
}

// openPlain opens an ordinary file by its canonical path. A link that has come
// in its place, or in that of its folder, is refused as notSwapped has it.
func openPlain(name string) (*os.File, error) {
	dir, base := filepath.Split(name)
	dir = filepath.Clean(dir)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, zipError(name, err)
	}
	defer root.Close()
	if err := notSwapped(dir, root); err != nil {
		return nil, err
	}
	at, err := root.Lstat(base)
	if err != nil {
		return nil, zipError(name, err)
	}
	if at.Mode()&fs.ModeSymlink != 0 {
		return nil, kb.Errorf(kb.Denied, "%q is a link now, and the archive that the store was made of is not there", name).
			WithHint("make a store of the archive that is meant")
	}
	f, err := root.OpenFile(base, os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return nil, zipError(name, err)
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || !os.SameFile(at, info) {
		f.Close()
		return nil, kb.Errorf(kb.Busy, "%q was replaced just now, or is no file", name).WithHint("try again")
	}
	return f, nil
}

// list reads the directory of the archive, within the bounds.
func (z *zipped) list() error {
	info, err := z.file.Stat()
	if err != nil {
		return zipError(z.name, err)
	}
	if info.Size() > maxZipBytes {
		return z.tooLarge("it has more than %d MB", maxZipBytes>>20)
	}
	at := &boundedReader{r: z.file}
	at.left.Store(maxZipListing)
	r, err := zip.NewReader(at, info.Size())
	at.all.Store(true) // what is unpacked has bounds of its own
	switch {
	case errors.Is(err, errEnough):
		return z.tooLarge("its directory has more than %d MB", maxZipListing>>20)
	case err != nil && !errors.Is(err, zip.ErrInsecurePath): // such paths are left out below
		return zipError(z.name, err)
	case len(r.File) > maxZipEntries:
		return z.tooLarge("it lists more than %d files", maxZipEntries)
	}
	last := map[string]*zip.File{}
	for _, f := range r.File {
		reason, says := z.fault(f)
		switch {
		case reason != "":
			z.bad = append(z.bad, zipFault{reason, says, f.Name})
			continue
		case f.Mode().IsDir():
			continue
		case last[f.Name] != nil:
			z.bad = append(z.bad, zipFault{reasonTwice, "is in it twice, and the last one counts", f.Name})
		}
		last[f.Name] = f
	}
	z.files = slices.SortedFunc(maps.Values(last), func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	return z.measure()
}

// fault returns why an entry is no document, whatever the rules say, or "".
func (z *zipped) fault(f *zip.File) (reason, says string) {
	switch name := strings.TrimSuffix(f.Name, "/"); {
	case !utf8.ValidString(name) || strings.ContainsAny(name, "\\\x00") || checkPath(name) != nil:
		return reasonPath, "is not a path inside the archive"
	case f.Mode().IsDir():
		return "", ""
	case strings.Count(name, "/") > maxTreeDepth:
		return reasonDeep, "lies too deep"
	case f.Mode()&fs.ModeSymlink != 0:
		return reasonSymlink, ""
	case !f.Mode().IsRegular():
		return reasonNotAFile, ""
	case f.Flags&1 != 0:
		return reasonEncrypted, "is encrypted"
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return reasonUnreadable, "is packed by a method that is not known"
	}
	return "", ""
}

// measure refuses an archive whose documents, however small it is itself, have
// too many bytes. Reading takes no entry for longer than its header says.
func (z *zipped) measure() error {
	var sum uint64
	for _, f := range z.files {
		if z.sel.wants(f.Name, false) && f.UncompressedSize64 <= uint64(z.sel.maxBytes) {
			if sum += f.UncompressedSize64; sum > maxUnpacked {
				return z.tooLarge("its files have more than %d MB unpacked", maxUnpacked>>20)
			}
		}
	}
	return nil
}

func (z *zipped) tooLarge(format string, args ...any) error {
	e := kb.Errorf(kb.TooLarge, "the archive %q is too large: "+format, append([]any{z.name}, args...)...)
	return e.WithHint("unpack what is wanted of it into a folder, and index that")
}

// Version implements kb.Snapshot: an archive's state has no name.
func (z *zipped) Version() string { return "" }

// Close implements kb.Snapshot.
func (z *zipped) Close() error { return z.file.Close() }

// boundedReader reads left bytes, and after that only once all is set.
type boundedReader struct {
	r    io.ReaderAt
	left atomic.Int64
	all  atomic.Bool
}

// ReadAt implements io.ReaderAt.
func (b *boundedReader) ReadAt(p []byte, off int64) (int, error) {
	if !b.all.Load() && b.left.Add(-int64(len(p))) < 0 {
		return 0, errEnough
	}
	return b.r.ReadAt(p, off)
}

// find returns the entry of a path.
func (z *zipped) find(p string) (*zip.File, bool) {
	i, ok := slices.BinarySearchFunc(z.files, p, func(f *zip.File, p string) int { return strings.Compare(f.Name, p) })
	if !ok {
		return nil, false
	}
	return z.files[i], true
}

// stampOf is size, packed size, checksum and time as the directory has them: an
// archive that was written anew leaves the stamps of what is in it as it was.
func stampOf(f *zip.File) string {
	return formatStamp(int64(f.UncompressedSize64), int64(f.CompressedSize64), int64(f.CRC32), f.Modified.Unix())
}

// Read implements kb.Snapshot.
func (z *zipped) Read(ctx context.Context, e kb.Entry) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := checkPath(e.Path); err != nil {
		return nil, err
	}
	f, ok := z.find(e.Path)
	if !ok {
		return nil, kb.Errorf(kb.NotFound, "the archive has no file %q", e.Path).WithHint("list what there is with: files")
	}
	if r := pathReason(e.Path, z.sel); r != "" {
		return nil, z.ruleOut(e.Path, r, nil)
	}
	data, err := z.unpack(f, z.sel.maxBytes)
	switch {
	case errors.Is(err, errTooLarge):
		return nil, z.ruleOut(e.Path, reasonTooLarge, nil)
	case err != nil:
		z.trouble("cannot be unpacked: "+cause(err), e.Path)
		return nil, z.ruleOut(e.Path, reasonUnreadable, err)
	}
	if r := contentReason(e.Path, data, z.sel.all || z.sel.named(e.Path)); r != "" && !z.sel.exempt(e.Path, r) {
		return nil, z.ruleOut(e.Path, r, nil)
	}
	return data, nil
}

// unpack returns the bytes of an entry, errTooLarge when there are more than
// most. A header may lie about them, and about where they are.
func (z *zipped) unpack(f *zip.File, most int64) ([]byte, error) {
	if f.UncompressedSize64 > uint64(most) {
		return nil, errTooLarge
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, errTooLarge
	}
	return data, err
}

// rulesOf reads the own rules of a directory, "" when it has none.
func (z *zipped) rulesOf(dir string) string {
	f, ok := z.find(path.Join(dir, OwnRules))
	if !ok {
		return ""
	}
	data, err := z.unpack(f, 1<<20)
	if err != nil {
		return ""
	}
	return string(data)
}
