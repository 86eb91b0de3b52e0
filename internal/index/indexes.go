package index

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/blockfile"
	"github.com/seed-4f2d999b/knowledge/internal/index/vector"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// Segments implements kb.Indexes.
func (p *Pool) Segments(context.Context) ([]string, error) {
	files, err := listFiles(p.Dir, Ext)
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(f.Name, Ext)
	}
	return names, err
}

// listFiles returns the files of a folder with an extension; none when the
// folder does not exist yet.
func listFiles(dir, ext string) ([]kb.Kept, error) {
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, kb.Errorf(kb.Denied, "cannot list %q: %w", dir, err).WithHint("check the permissions of the data directory")
	}
	var out []kb.Kept
	for _, e := range list {
		if filepath.Ext(e.Name()) != ext || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil {
			out = append(out, kb.Kept{Name: e.Name(), Written: info.ModTime()})
		}
	}
	return out, nil
}

// Imported implements kb.Indexes.
func (p *Pool) Imported(_ context.Context, segments []string) ([]string, error) {
	var out []string
	for _, name := range segments {
		if _, err := os.Stat(ImportedPath(p.Dir, name)); err == nil {
			out = append(out, name)
		}
	}
	return out, nil
}

// Segment implements kb.Indexes.
func (p *Pool) Segment(_ context.Context, name string) (kb.Segment, error) {
	var seg kb.Segment
	err := p.with(name, func(s *segment) error {
		_, m, err := s.vectors(p.Engine)
		if err != nil {
			return err
		}
		if m != nil {
			seg.Dims = m.Dims()
		}
		if s.thin != nil {
			seg.Dims = s.thin.Dims
		}
		seg.Chunker = s.file.Header().Chunker
		seg.Keys = s.keys()
		return nil
	})
	return seg, err
}

// keys returns what the documents are shared by, in order.
func (s *segment) keys() []kb.DocKey {
	keys := make([]kb.DocKey, s.info.Documents)
	for d := range keys {
		keys[d] = s.key(d)
	}
	return keys
}

// Sizes implements kb.Indexes.
func (p *Pool) Sizes(ctx context.Context, segments []string) ([][]int64, error) {
	out := make([][]int64, len(segments))
	for i, name := range segments {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := p.with(name, func(s *segment) error {
			out[i] = make([]int64, s.info.Documents)
			for d := range out[i] {
				out[i][d] = s.textLen(d)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Stored implements kb.Indexes. It opens no vectors, which may be damaged.
func (p *Pool) Stored(ctx context.Context, name string, numbers []int) ([]kb.SegmentDocument, error) {
	s, err := openSegment(p.Dir, name, "")
	if err != nil {
		return nil, err
	}
	defer s.close()
	out := make([]kb.SegmentDocument, 0, len(numbers))
	err = s.file.Guard(func() error {
		for _, n := range numbers {
			if err := ctx.Err(); err != nil {
				return err
			}
			d, err := s.document(n)
			if err != nil {
				return err
			}
			out = append(out, d)
		}
		return nil
	})
	return out, err
}

// segmentWriter is a Builder that writes into the pool's folder.
type segmentWriter struct {
	pool *Pool
	b    *Builder
}

// NewSegment implements kb.Indexes.
func (p *Pool) NewSegment(chunker uint32, dims int) kb.SegmentWriter {
	return segmentWriter{p, NewBuilder(chunker, dims)}
}

func (w segmentWriter) Add(_ context.Context, d kb.SegmentDocument) (int, error) {
	if len(d.Vectors) != len(d.Chunks) {
		return 0, kb.Errorf(kb.Internal, "%d vectors for the %d chunks of a document", len(d.Vectors), len(d.Chunks))
	}
	n := w.b.Add(d.Hash, d.Text, d.Chunks, &d.Facts)
	for _, v := range d.Vectors {
		w.b.Vectors().Add(v)
	}
	return n, nil
}

// Take copies vectors as they are stored.
func (w segmentWriter) Take(ctx context.Context, name string, numbers []int) ([]int, error) {
	out := make([]int, 0, len(numbers))
	err := w.pool.with(name, func(s *segment) error {
		for _, n := range numbers {
			if err := ctx.Err(); err != nil {
				return err
			}
			n, err := w.b.take(s, n, w.pool)
			if err != nil {
				return err
			}
			out = append(out, n)
		}
		return nil
	})
	return out, err
}

// take adds a document of another segment, with its vectors.
func (b *Builder) take(s *segment, number int, p *Pool) (int, error) {
	_, m, err := s.vectors(p.Engine)
	if err != nil {
		return 0, err
	}
	if m == nil || m.Dims() != b.vectors.Dims() {
		return 0, withoutVectors(s.name, p.Embedder)
	}
	d, err := s.document(number)
	if err != nil {
		return 0, err
	}
	n := b.Add(d.Hash, d.Text, d.Chunks, &d.Facts)
	first, _ := s.chunkRange(number)
	if err := m.Touch(first, len(d.Chunks)); err != nil {
		return 0, err
	}
	for i := range d.Chunks {
		b.vectors.AddRow(m, first+i)
	}
	return n, nil
}

func (w segmentWriter) Documents() int                       { return w.b.Documents() }
func (w segmentWriter) TextBytes() int64                     { return w.b.TextBytes() }
func (w segmentWriter) Name(context.Context) (string, error) { return w.b.Name(), nil }
func (w segmentWriter) Write(context.Context) (int64, error) {
	_, n, err := w.b.Write(w.pool.Dir, w.pool.Embedder)
	return n, err
}

// vectorWriter collects the vectors of a segment that lies in the pool's folder.
type vectorWriter struct {
	pool *Pool
	name string
	rows *vector.Builder
}

// NewVectors implements kb.Indexes.
func (p *Pool) NewVectors(segment string, dims int) kb.VectorWriter {
	return vectorWriter{p, segment, vector.NewBuilder(dims)}
}

func (w vectorWriter) Add(_ context.Context, vectors [][]float32) error {
	for _, v := range vectors {
		w.rows.Add(v)
	}
	return nil
}

func (w vectorWriter) Write(context.Context) error {
	s, err := openSegment(w.pool.Dir, w.name, "")
	if err != nil {
		return err
	}
	defer s.close()
	if w.rows.Len() != s.info.Chunks {
		return kb.Errorf(kb.Internal, "%d vectors for the %d chunks of segment %s", w.rows.Len(), s.info.Chunks, w.name)
	}
	_, err = writeVectors(w.pool.Dir, w.name, w.pool.Embedder, s.file.Header().Chunker, w.rows)
	return err
}

// Kept implements kb.Indexes.
func (p *Pool) Kept(context.Context) ([]kb.Kept, error) {
	kept, err := listFiles(p.Generations, kb.ManifestExt)
	if err != nil {
		return nil, err
	}
	// Vectors without their segment are what a deletion that was killed left, a
	// mark without one what an import left.
	known := map[string]bool{}
	for _, ext := range []string{Ext, VecExt, LayoutExt, ImportedExt} {
		list, err := listFiles(p.Dir, ext)
		if err != nil {
			return nil, err
		}
		for _, file := range list {
			if len(ours(filepath.Join(p.Dir, file.Name))) == 0 {
				continue
			}
			file.Name, _, _ = strings.Cut(file.Name, ".")
			if !known[file.Name] {
				known[file.Name] = true
				kept = append(kept, file)
			}
		}
	}
	return kept, nil
}

// ours leaves out the paths of foreign files. The folders of
// segments and of generations lie in the data directory.
func ours(paths ...string) []string {
	return slices.DeleteFunc(paths, func(p string) bool { return !project.Ours(filepath.Dir(filepath.Dir(p)), p) })
}

// Missing implements kb.Indexes. Of each file it looks at both ends only.
func (p *Pool) Missing(_ context.Context, segments []string) ([]string, error) {
	var out []string
	for _, name := range segments {
		f, err := blockfile.Open(SegmentPath(p.Dir, name), kindSegment, FormatVersion)
		if err == nil {
			f.Close()
		} else if kb.CodeOf(err) != kb.Newer {
			out = append(out, name)
		}
	}
	return out, nil
}

// Delete implements kb.Indexes.
func (p *Pool) Delete(_ context.Context, name string, dry bool) ([]kb.Deleted, error) {
	paths := []string{p.ManifestPath(name)}
	if !kb.IsManifest(name) {
		siblings, err := filepath.Glob(filepath.Join(p.Dir, name+".*"+VecExt))
		if err != nil {
			return nil, err
		}
		// The segment goes first: a reader that misses the vectors of an open one
		// can see by that whether it is being deleted. The mark goes last: a
		// segment that came from elsewhere always has it.
		paths = append([]string{SegmentPath(p.Dir, name), LayoutPath(p.Dir, name)}, siblings...)
		paths = append(paths, ImportedPath(p.Dir, name))
	}
	var out []kb.Deleted
	var errs []error
	for _, path := range ours(paths...) {
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		if !dry {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
				continue
			}
		}
		out = append(out, kb.Deleted{Path: path, Bytes: info.Size()})
	}
	return out, errors.Join(errs...)
}

// Clean implements kb.Indexes.
func (p *Pool) Clean(_ context.Context, age time.Duration) error {
	for _, dir := range []string{p.Dir, p.Generations} {
		if _, err := atomicfile.CleanTemp(dir, age); err != nil {
			return err
		}
	}
	return nil
}
