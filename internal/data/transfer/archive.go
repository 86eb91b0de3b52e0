package transfer

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// write writes an export: the manifest, then what open gives of each member.
func write(w io.Writer, m *Manifest, open func(Member) (io.ReadCloser, error)) error {
	// One worker: the order of what comes out does not depend on the machine.
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(1<<20))
	if err != nil {
		return kb.Errorf(kb.Internal, "begin an export: %w", err)
	}
	t := tar.NewWriter(z)
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return kb.Errorf(kb.Internal, "encode the manifest of an export: %w", err)
	}
	text = append(text, '\n')
	if err := t.WriteHeader(header(manifestName, int64(len(text)))); err != nil {
		return err
	}
	if _, err := t.Write(text); err != nil {
		return err
	}
	for _, x := range m.Members {
		if err := t.WriteHeader(header(x.Name, x.Size)); err != nil {
			return err
		}
		in, err := open(x)
		if err != nil {
			return err
		}
		n, err := io.Copy(t, in)
		in.Close()
		if err == nil && n != x.Size {
			err = kb.Errorf(kb.Corrupt, "%s changed while it was read", x.Name).WithHint("try again")
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

func header(name string, size int64) *tar.Header {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, Format: tar.FormatUSTAR}
	if size >= 8<<30 {
		h.Format = tar.FormatPAX // ustar has no room for it
	}
	return h
}

// Limits bound what a hostile file can make a reader do.
const (
	// A segment's text is compressed already: honest files unpack to three
	// times their size at most.
	maxRatio = 100
	freeOut  = 64 << 20 // bytes that may come out whatever went in
)

// archive reads an export.
type archive struct {
	Manifest
	in   *counted
	z    *zstd.Decoder
	t    *tar.Reader
	next int
	sum  hash.Hash
}

type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// bounded ends a stream of which far more comes out than went in.
type bounded struct {
	r   io.Reader
	in  *counted
	out int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.out += int64(n); b.out > freeOut && b.out/maxRatio > b.in.n {
		return n, kb.Errorf(kb.TooLarge, "the file unpacks to more than %d times its size", maxRatio).
			WithHint("nothing was imported; do not trust it; what an export is: knowledge help import")
	}
	return n, err
}

// open reads the manifest of an export. gathered reports whether a kind of
// store has a log of pages.
func open(r io.Reader, gathered func(kb.Kind) bool) (*archive, error) {
	a := &archive{in: &counted{r: r}}
	z, err := zstd.NewReader(a.in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(8<<20), zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		return nil, kb.Errorf(kb.Internal, "begin an import: %w", err)
	}
	a.z = z
	a.t = tar.NewReader(&bounded{r: z, in: a.in})
	if err := a.manifest(gathered); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

func (a *archive) close() { a.z.Close() }

func (a *archive) manifest(gathered func(kb.Kind) bool) error {
	h, err := a.header()
	if errors.Is(err, io.EOF) {
		return broken(err)
	}
	if err != nil {
		return err
	}
	if h.Name != manifestName || h.Size > maxManifest {
		return refused("it does not begin with a manifest")
	}
	text, err := io.ReadAll(a.t)
	if err != nil {
		return broken(err)
	}
	a.Manifest, err = parse(text, gathered)
	return err
}

// parse reads a manifest and refuses what is wrong with it.
func parse(text []byte, gathered func(kb.Kind) bool) (m Manifest, err error) {
	// What says that it is newer may hold what is not known here.
	var first struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
		Program string `json:"program"`
	}
	if err := json.Unmarshal(text, &first); err != nil {
		return m, refused("its manifest does not parse")
	}
	if first.Format != Format || first.Version > Version {
		return m, (&Manifest{Format: first.Format, Version: first.Version, Program: first.Program}).check(false)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, refused("its manifest does not parse: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return m, m.check(gathered(m.Store.Spec.Kind))
}

// header returns the header of the next member, which must be a plain file.
func (a *archive) header() (*tar.Header, error) {
	h, err := a.t.Next()
	if errors.Is(err, io.EOF) {
		return nil, io.EOF
	}
	if err != nil {
		return nil, broken(err)
	}
	if h.Typeflag != tar.TypeReg || h.Linkname != "" {
		return nil, refused("%q is no plain file", clip(h.Name))
	}
	return h, nil
}

// member returns the next member and its content; the one before must have
// been read to its end. io.EOF after the last one, when nothing follows.
func (a *archive) member() (Member, io.Reader, error) {
	if a.next > 0 {
		x := a.Members[a.next-1]
		if hex.EncodeToString(a.sum.Sum(nil)) != strings.ToLower(x.SHA256) {
			return Member{}, nil, refused("the SHA-256 of %s is another", x.Name)
		}
	}
	h, err := a.header()
	if errors.Is(err, io.EOF) {
		if a.next < len(a.Members) {
			return Member{}, nil, refused("the member %q is missing", a.Members[a.next].Name)
		}
		return Member{}, nil, a.end()
	}
	if err != nil {
		return Member{}, nil, err
	}
	if a.next == len(a.Members) || h.Name != a.Members[a.next].Name {
		return Member{}, nil, refused("the member %q does not belong there", clip(h.Name))
	}
	x := a.Members[a.next]
	if h.Size != x.Size {
		return Member{}, nil, refused("%s has another size than its manifest says", x.Name)
	}
	a.next++
	a.sum = sha256.New()
	return x, io.TeeReader(a.t, a.sum), nil
}

// end returns io.EOF when nothing follows the archive.
func (a *archive) end() error {
	var b [1]byte
	n, err := io.ReadFull(a.z, b[:])
	if n > 0 {
		return refused("something follows its end")
	}
	if !errors.Is(err, io.EOF) {
		return broken(err)
	}
	return io.EOF
}

// broken is what a stream that does not unpack means.
func broken(err error) error {
	var e *kb.Error
	if errors.As(err, &e) {
		return err
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return refused("it is cut short")
	case errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, zstd.ErrWindowSizeExceeded):
		return kb.Errorf(kb.TooLarge, "the file needs more memory to unpack than this program allows").
			WithHint("nothing was imported; do not trust it; what an export is: knowledge help import")
	}
	return refused("it does not unpack: %s", clip(err.Error()))
}
