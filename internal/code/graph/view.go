package graph

import (
	"encoding/hex"
	"slices"
	"sync"
	"sync/atomic"

	"crypto/sha256"

	"github.com/seed-4f2d999b/knowledge/internal/data/blockfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// View answers from a view file. It is safe for concurrent use; what its
// methods return belongs to the caller.
type View struct {
	r    *blockfile.Reader
	now  Now
	core *core
}

// core is what views of one file share. Tables are unpacked at first use.
type core struct {
	r     *blockfile.Reader
	once  sync.Once
	err   error
	paths []string
	decls []uint32 // number of each document's declarations
	edges []uint32
	inDeg []uint32
	// Documents a frame, see documentsPerFrame.
	perDecls, perEdges int

	strOnce sync.Once
	strErr  error
	texts   *texts
	bad     atomic.Bool // something in texts was damaged
	strs    []string    // all of them, while a link takes over from the view

	mu     sync.Mutex
	frames [64]frame // a ring of the frames unpacked last
	next   int
	starts map[string][]int64 // of a pack: where its frames begin, and the end
}

type frame struct {
	section string
	i       int
	raw     []byte
}

// Now is what a reader knows of documents that may have changed since the
// view was made. Both functions may be nil.
type Now struct {
	// Hash returns the hash of a document as it is now, false if there is none.
	Hash func(path string) (kb.DocHash, bool)
	// Symbols returns what a changed document declares now.
	Symbols func(path string) []kb.Symbol
}

// Open maps the view at path. Errors: kb.NotFound; kb.Corrupt, upon which the
// caller links again; kb.Newer.
func Open(path string) (*View, error) {
	r, err := blockfile.Open(path, viewKind, viewVersion)
	if err != nil {
		return nil, err
	}
	c := &core{r: r}
	c.perDecls, c.perEdges = documentsPerFrame(r.Header().Version)
	return &View{r: r, core: c}, nil
}

// Close gives the file back. The view and all made of it by At must not be
// used afterwards.
func (v *View) Close() error { return v.r.Close() }

// At returns the view as it holds for documents as they are now: edges out of
// documents that changed or went are left out, edges into them are kept when
// a declaration of that qualified name is still there, and get its line.
func (v *View) At(now Now) *View { return &View{r: v.r, core: v.core, now: now} }

// Verify reads the whole file; kb.Corrupt means damage.
func (v *View) Verify() error { return v.r.Verify() }

// Bytes returns the size of the file.
func (v *View) Bytes() int64 { return v.r.Size() }

func (c *core) damaged() error {
	return kb.Errorf(kb.Corrupt, "the view of references is damaged").
		WithHint("index the store again to rebuild it")
}

// single unpacks a section of one frame.
func (c *core) single(name string) (*dec, error) {
	b, err := c.r.Section(name).All()
	if err != nil {
		return nil, err
	}
	raw, err := zstdDecoder().DecodeAll(b, nil)
	if err != nil {
		return nil, c.damaged()
	}
	return &dec{b: raw}, nil
}

// load unpacks the table of documents.
func (c *core) load() error {
	c.once.Do(func() {
		c.err = c.r.Guard(func() error {
			d, err := c.single("docs")
			if err != nil {
				return err
			}
			c.paths = unshare(d)
			n := len(c.paths)
			for range n {
				d.bytes(d.int()) // the language
			}
			column := func() []uint32 {
				out := make([]uint32, n)
				for i := range out {
					out[i] = uint32(d.int())
				}
				return out
			}
			c.decls, c.edges, c.inDeg = column(), column(), column()
			if d.bad || c.r.Section("hashes").Len() != int64(n*hashBytes) || !slices.IsSorted(c.paths) {
				return c.damaged()
			}
			return nil
		})
	})
	return c.err
}

// strings opens the table of strings.
func (c *core) strings() (*texts, error) {
	c.strOnce.Do(func() {
		c.strErr = c.r.Guard(func() (err error) {
			if c.r.Has("texts") {
				c.texts, err = openTexts(c.r, &c.bad)
				return err
			}
			d, err := c.single("strings")
			if err != nil {
				return err
			}
			all, ok := readTexts(d)
			if !ok {
				return c.damaged()
			}
			c.texts = &texts{n: all.n, heap: all}
			return nil
		})
	})
	return c.texts, c.strErr
}

// frame unpacks the i-th frame of a pack. The bytes must not be changed.
func (c *core) frame(section string, i int) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k := range c.frames {
		if f := &c.frames[k]; f.raw != nil && f.section == section && f.i == i {
			return f.raw, nil
		}
	}
	at, err := c.ends(section)
	if err != nil {
		return nil, err
	}
	if i+1 >= len(at) {
		return nil, c.damaged()
	}
	b, err := c.r.Section(section).Bytes(at[i], at[i+1]-at[i])
	if err != nil {
		return nil, err
	}
	raw, err := zstdDecoder().DecodeAll(b, nil)
	if err != nil {
		return nil, c.damaged()
	}
	c.frames[c.next] = frame{section, i, raw}
	c.next = (c.next + 1) % len(c.frames)
	return raw, nil
}

// ends returns where the frames of a pack begin and end; c.mu is held.
func (c *core) ends(section string) ([]int64, error) {
	if at, ok := c.starts[section]; ok {
		return at, nil
	}
	b, err := c.r.Section(section + ".at").All()
	if err != nil {
		return nil, err
	}
	d := dec{b: b}
	at := []int64{0}
	for len(d.b) > 0 {
		at = append(at, at[len(at)-1]+int64(d.int()))
	}
	if d.bad {
		return nil, c.damaged()
	}
	if c.starts == nil {
		c.starts = map[string][]int64{}
	}
	c.starts[section] = at
	return at, nil
}

// doc returns the number of a document, -1 if there is none.
func (c *core) doc(path string) int {
	i, ok := slices.BinarySearch(c.paths, path)
	if !ok {
		return -1
	}
	return i
}

func (c *core) hash(i int) ([]byte, error) {
	return c.r.Section("hashes").Bytes(int64(i*hashBytes), hashBytes)
}

// Paths returns the documents of the view in order.
func (v *View) Paths() ([]string, error) {
	if err := v.core.load(); err != nil {
		return nil, err
	}
	return slices.Clone(v.core.paths), nil
}

// Stamp identifies the content that was linked: a hash over paths and hashes
// of all documents, see StampOf.
func (v *View) Stamp() (string, error) {
	c := v.core
	if c.r.Has("stamp") {
		b, err := c.r.Section("stamp").All()
		return hex.EncodeToString(b), err
	}
	if err := c.load(); err != nil {
		return "", err
	}
	h := sha256.New()
	for i, p := range c.paths {
		sum, err := c.hash(i)
		if err != nil {
			return "", err
		}
		stampOne(h, p, sum)
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// StampOf returns the stamp of a view of these documents: a generation whose
// stamp is that of its view needs no linking.
func StampOf(entries []Entry) string {
	h := sha256.New()
	for _, e := range entries {
		stampOne(h, e.Path, e.Hash[:hashBytes])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func stampOne(h interface{ Write([]byte) (int, error) }, path string, sum []byte) {
	h.Write([]byte(path))
	h.Write([]byte{0})
	h.Write(sum)
}

// search returns the number of a string, -1 if there is none.
func (c *core) search(s string) (int, error) {
	strs, err := c.strings()
	if err != nil {
		return -1, err
	}
	return strs.search(s), nil
}
