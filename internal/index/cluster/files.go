package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate"
)

// pieceBytes is how much of a file one object holds.
const pieceBytes = 1 << 20

// piece is an object of fileClass. The first of a file speaks for all of it.
type piece struct {
	Name    string  `json:"name"`
	Part    int     `json:"part"`
	Parts   int     `json:"parts"`
	Size    float64 `json:"size"`    // of the file, uncompressed; its int has 32 bits in queries
	Written float64 `json:"written"` // Unix milliseconds
	Gone    float64 `json:"gone"`    // when Delete was called for it, 0 when it is there
	Epoch   int64   `json:"epoch"`   // see sweep.go
	Needs   string  `json:"needs"`   // JSON list: the other files of a manifest
	Data    []byte  `json:"data,omitempty"`
}

// pieceID returns the id of a piece of a file.
func pieceID(name string, part int) string {
	b, _ := json.Marshal([]any{"file", name, part}) // always encodes
	return weaviate.ID(string(b))
}

func (p *piece) object() (weaviate.Object, error) {
	return objectOf(fileClass, pieceID(p.Name, p.Part), p)
}

// objectOf makes an object whose properties are the members of v.
func objectOf(class, id string, v any) (o weaviate.Object, err error) {
	o = weaviate.Object{Class: class, ID: id}
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(raw, &o.Properties)
	}
	return o, err
}

// bare returns what Indexes calls a file: segments and layouts go without extension.
func bare(file string) string {
	name := strings.TrimSuffix(file, index.Ext)
	return strings.TrimSuffix(name, index.LayoutExt)
}

func segmentOf(file string) (string, bool) { return strings.CutSuffix(file, index.Ext) }

var (
	packer = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic(err) // only bad options fail
		}
		return e
	})
	unpacker = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(1<<30))
		if err != nil {
			panic(err) // only bad options fail
		}
		return d
	})
)

func pack(b []byte) []byte { return packer().EncodeAll(b, nil) }

func unpack(b []byte) ([]byte, error) {
	out, err := unpacker().DecodeAll(b, nil)
	if err != nil {
		return nil, kb.Errorf(kb.Corrupt, "an object of the shared stores does not decompress: %w", err)
	}
	return out, nil
}

// put writes a file in an epoch, its first piece last.
func (x *Indexes) put(ctx context.Context, epoch int64, name string, raw []byte, needs []string) error {
	if err := x.defineFiles(ctx); err != nil {
		return err
	}
	list, err := json.Marshal(needs)
	if err != nil {
		return err
	}
	packed := pack(raw)
	parts := max(1, (len(packed)+pieceBytes-1)/pieceBytes)
	for part := parts - 1; part >= 0; part-- {
		p := piece{Name: name, Part: part, Parts: parts, Size: float64(len(raw)), Written: float64(x.now().UnixMilli()), Epoch: epoch, Needs: string(list),
			Data: packed[part*pieceBytes : min(len(packed), (part+1)*pieceBytes)]}
		o, err := p.object()
		if err == nil {
			err = x.Client.PutOne(ctx, o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// head returns the first piece of a file, nil when the file is not there.
func (x *Indexes) head(ctx context.Context, name string) (*piece, error) {
	var p piece
	ok, err := x.Client.Object(ctx, fileClass, pieceID(name, 0), &p)
	if err != nil || !ok || p.Gone != 0 {
		return nil, err
	}
	return &p, nil
}

// get returns a file and what it needs; NotFound when it is not there.
func (x *Indexes) get(ctx context.Context, name string) (raw []byte, needs []string, err error) {
	p, err := x.head(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	if p == nil {
		return nil, nil, kb.Errorf(kb.NotFound, "there is no file %q among the shared stores", name).WithHint("index the store again to rebuild it")
	}
	packed := p.Data
	for part := 1; part < p.Parts; part++ {
		var more piece
		ok, err := x.Client.Object(ctx, fileClass, pieceID(name, part), &more)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			return nil, nil, kb.Errorf(kb.Corrupt, "file %q of the shared stores lacks a piece", name).WithHint("index the store with force to rebuild it")
		}
		packed = append(packed, more.Data...)
	}
	if raw, err = unpack(packed); err != nil {
		return nil, nil, err
	}
	if float64(len(raw)) != p.Size {
		return nil, nil, kb.Errorf(kb.Corrupt, "file %q of the shared stores has the wrong length", name).WithHint("index the store with force to rebuild it")
	}
	if err := json.Unmarshal([]byte(p.Needs), &needs); err != nil {
		return nil, nil, kb.Errorf(kb.Corrupt, "file %q of the shared stores does not say what it needs", name)
	}
	return raw, needs, nil
}

// list returns the first pieces of all files, without data, by name.
func (x *Indexes) list(ctx context.Context) ([]piece, error) {
	if err := x.defineFiles(ctx); err != nil {
		return nil, err
	}
	all, err := x.pieces(ctx)
	return slices.DeleteFunc(all, func(p piece) bool { return p.Gone != 0 }), err
}

// pieces is list with what Delete was called for.
func (x *Indexes) pieces(ctx context.Context) (out []piece, err error) {
	type row struct {
		piece
		At at `json:"_additional"`
	}
	err = each(ctx, x.Client, fileClass, []string{"name", "part", "parts", "size", "written", "gone", "epoch"}, func(r *row) string {
		if r.Part == 0 {
			out = append(out, r.piece)
		}
		return r.At.ID
	})
	slices.SortFunc(out, func(a, b piece) int { return cmp.Compare(a.Name, b.Name) })
	return out, err
}

// at is where in its class an object is.
type at struct{ ID string }

// pageOf is how many objects of a class are listed at once.
const pageOf = 1000

// each calls f, which returns the id, with every object of a class that the asked
// copies have.
func each[R any](ctx context.Context, c *weaviate.Client, class string, properties []string, f func(*R) string) error {
	after := ""
	for {
		var rows []R
		q := weaviate.Query{Class: class, Return: append(slices.Clone(properties), "_additional{id}"), Limit: pageOf, After: &after}
		if err := c.Get(ctx, []weaviate.Query{q}, []any{&rows}); err != nil {
			return err
		}
		for i := range rows {
			after = f(&rows[i])
		}
		if len(rows) < pageOf {
			return nil
		}
	}
}

// path returns where a file of a pool lies.
func path(p *index.Pool, name string) string {
	if kb.IsManifest(name) {
		return p.ManifestPath(name)
	}
	return filepath.Join(p.Dir, name)
}

// bring sees to it that a pool has a file of the cluster.
func (x *Indexes) bring(ctx context.Context, p *index.Pool, name string) (needs []string, err error) {
	to := path(p, name)
	if _, err := os.Stat(to); err == nil && !kb.IsManifest(name) {
		return nil, nil
	}
	raw, needs, err := x.get(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return nil, kb.Errorf(kb.Denied, "cannot make %q: %w", filepath.Dir(to), err).WithHint("check the permissions of the data directory")
	}
	return needs, atomicfile.Write(to, raw)
}

// tables brings everything that reading a generation takes. A manifest that is here
// was fetched when all it needs was, so that what is open is read on while the
// cluster is away.
func (x *Indexes) tables(ctx context.Context, manifest string) error {
	if _, err := os.Stat(path(x.thin, manifest)); err == nil && x.whole(manifest) {
		return ctx.Err()
	}
	_, needs, err := x.get(ctx, manifest)
	if err != nil {
		return err
	}
	for _, name := range needs {
		if _, err := x.bring(ctx, x.thin, name); err != nil {
			return err
		}
	}
	_, err = x.bring(ctx, x.thin, manifest)
	return err
}

// whole reports whether the files of a generation are here.
func (x *Indexes) whole(manifest string) bool {
	g, err := x.thin.OpenGeneration(path(x.thin, manifest))
	if err != nil {
		return false
	}
	g.Release()
	return true
}

// table brings the table of a segment.
func (x *Indexes) table(ctx context.Context, segment string) error {
	_, err := x.bring(ctx, x.thin, segment+index.Ext)
	return err
}

// Delete implements kb.Indexes: what is named is not there for anybody any more, and its
// bytes go with Clean. Of what heads name Collect alone decides.
func (x *Indexes) Delete(ctx context.Context, name string, dry bool) ([]kb.Deleted, error) {
	files := []string{name}
	if !kb.IsManifest(name) {
		files = []string{name + index.Ext, name + index.LayoutExt}
	}
	var out []kb.Deleted
	for _, file := range files {
		p, err := x.head(ctx, file)
		if err != nil {
			return out, err
		}
		if p == nil {
			continue
		}
		out = append(out, kb.Deleted{Path: x.Client.Addresses() + "/" + file, Bytes: int64(p.Size)})
		if dry {
			continue
		}
		p.Gone = float64(x.now().UnixMilli())
		o, err := p.object()
		if err == nil {
			err = x.Client.PutOne(ctx, o)
		}
		if err != nil {
			return out, err
		}
		if err := os.Remove(path(x.thin, file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return out, kb.Errorf(kb.Denied, "cannot delete %q: %w", path(x.thin, file), err).WithHint("check the permissions of the data directory")
		}
	}
	return out, nil
}

// Clean implements kb.Indexes: what no head names, for long, goes.
func (x *Indexes) Clean(ctx context.Context, age time.Duration) error {
	_, err := x.Collect(ctx, false, age)
	switch kb.CodeOf(err) {
	case kb.Busy, kb.Away:
		return nil // another machine is at it, or a node is away: the next run does it
	}
	return err
}
