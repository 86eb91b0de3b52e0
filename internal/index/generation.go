package index

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/data/blockfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// LayoutExt is the extension of layouts.
const LayoutExt = ".lay"

// generationHead is the section "head".
type generationHead struct {
	Store      kb.StoreID `json:"store"`
	Generation int64      `json:"generation"`
	Commit     string     `json:"commit,omitempty"`
	Chunker    uint32     `json:"chunker"`
	Embedder   string     `json:"embedder"`
	Created    int64      `json:"created"`
	Totals     kb.Totals  `json:"totals"`
	Layout     string     `json:"layout"` // its name
	// Margin is by how many documents there may be more or fewer before how central
	// they are has to be found anew, see recentral.go; 0 for at once.
	Margin int `json:"margin,omitempty"`
	// LayoutSum is the blockfile.Reader.Sum of the layout; 0 from older versions.
	LayoutSum uint64 `json:"layoutSum,omitempty"`
	// Of a patch: the manifest that it changes, its Sum, and the bytes of patches that
	// were written since then.
	Base    string `json:"base,omitempty"`
	BaseSum uint64 `json:"baseSum,omitempty"`
	Spent   int64  `json:"spent,omitempty"`
}

// pathTerms returns the terms of a path: of its directories and its stem.
// The extension is left out, it would be the same for most files.
func pathTerms(path string) []string {
	dir, base := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir, base = path[:i], path[i+1:]
	}
	if i := strings.IndexByte(base[min(1, len(base)):], '.'); i >= 0 {
		base = base[:i+1]
	}
	var out []string
	var s terms.Scanner
	s.Scan(dir+"/"+base, func(t []byte, _ bool) { out = append(out, string(t)) })
	return out
}

// draft is a generation that is about to be written. It holds no file open.
type draft struct {
	pool   *Pool
	head   generationHead
	writer generationWriter
	layout []named // nil of a patch
	patch  []named // nil of what is whole
	ids    idTable
	prev   string // manifest of the generation before, "" for none
	size   int64  // of the segments and their vectors, and of what a patch changes
}

// NewGeneration implements kb.Indexes.
func (p *Pool) NewGeneration(_ context.Context, m kb.Manifest) (kb.GenerationWriter, error) {
	d, err := p.draft(m)
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (p *Pool) draft(m kb.Manifest) (*draft, error) {
	docs := slices.Clone(m.Documents)
	slices.SortFunc(docs, func(a, b kb.Located) int { return strings.Compare(a.Path, b.Path) })

	var names []string
	index := map[string]int{}
	var segs []*segment
	defer func() {
		for _, s := range segs {
			p.put(s)
		}
	}()
	for _, d := range docs {
		if _, ok := index[d.Segment]; ok {
			continue
		}
		s, err := p.get(d.Segment)
		if err != nil {
			return nil, err
		}
		index[d.Segment] = len(names)
		names = append(names, d.Segment)
		segs = append(segs, s)
	}

	w := &draft{pool: p, prev: m.Previous, head: generationHead{Store: m.Store, Generation: m.Generation, Commit: m.Commit,
		Chunker: m.Chunker, Embedder: m.Embedder, Created: m.Created}}
	prev, err := p.before(m.Previous)
	if err != nil {
		return nil, err
	}
	if prev != nil {
		defer prev.Release()
	}
	w.head.Totals.Languages = map[string]int{}
	at := spread{docs: docs, segs: segs, index: index, base: []uint32{0}}
	for i := range docs {
		s := segs[index[docs[i].Segment]]
		if err := s.file.Guard(func() error { return at.add(i, s, prev, &w.head.Totals) }); err != nil {
			return nil, err
		}
	}
	w.head.Totals.Documents, w.head.Totals.Chunks = len(docs), int(at.base[len(docs)])
	uses, margin, err := p.central(docs, segs, index, m.Previous)
	if err != nil {
		return nil, err
	}
	w.head.Margin = margin
	if prev != nil {
		if err := prev.guard(func() error { return w.asPatch(prev, &at, uses) }); err != nil {
			return nil, err
		}
	}
	if w.patch == nil {
		if err := w.whole(prev, names, &at, uses); err != nil {
			return nil, err
		}
	}
	for _, s := range segs {
		w.size += s.file.Size()
		if _, _, err := s.vectors(p.Engine); err == nil && s.vecFile != nil {
			w.size += s.vecFile.Size()
		}
	}
	return w, nil
}

// before opens the generation before; nil where there is none that can be read.
func (p *Pool) before(manifest string) (*Generation, error) {
	if manifest == "" {
		return nil, nil
	}
	prev, err := p.previous(manifest)
	if err != nil {
		return nil, nil // it is done without
	}
	return prev, nil
}

// Layout implements kb.GenerationWriter.
func (w *draft) Layout() string { return w.head.Layout }

// Base implements kb.GenerationWriter.
func (w *draft) Base() string { return w.head.Base }

// Write implements kb.GenerationWriter.
func (w *draft) Write(_ context.Context, manifest string) (kb.Totals, int64, error) {
	var prev *Generation
	if w.prev != "" {
		g, err := w.pool.previous(w.prev)
		if err != nil {
			return kb.Totals{}, 0, err
		}
		defer g.Release()
		prev = g
	}
	return w.write(w.pool.ManifestPath(manifest), prev)
}

// write writes the layout, unless another store has the same, and the manifest.
func (w *draft) write(path string, prev *Generation) (kb.Totals, int64, error) {
	if w.patch != nil {
		h := blockfile.Header{Kind: kindGeneration, Version: patchVersion, Chunker: w.head.Chunker, Embedder: w.head.Embedder}
		n, err := writeBlockfile(path, h, w.patch)
		return w.head.Totals, w.size + n, err
	}
	layout, sum, err := w.pool.writeLayout(w.head.Layout, w.head.Chunker, w.layout)
	w.head.LayoutSum = sum
	if err != nil {
		return kb.Totals{}, 0, err
	}
	secs, err := w.writer.sections(&w.head, w.ids, prev)
	if err != nil {
		return kb.Totals{}, 0, err
	}
	h := blockfile.Header{Kind: kindGeneration, Version: FormatVersion, Chunker: w.head.Chunker, Embedder: w.head.Embedder}
	n, err := writeBlockfile(path, h, secs)
	return w.head.Totals, w.size + layout + n, err
}

// central returns how central each document is, see central.go, and by how much
// that can change before all of it has to be found anew.
func (p *Pool) central(docs []kb.Located, segs []*segment, index map[string]int, previous string) ([]float32, int, error) {
	at := byNumber(docs, segs, index)
	var uses []float32
	margin := 0
	guarded := func() (err error) {
		uses, margin, err = centrality(segs, len(docs), func(seg, doc int) int { return int(at[seg][doc]) - 1 })
		return err
	}
	if previous != "" {
		if prev, err := p.previous(previous); err == nil { // else without it
			defer prev.Release()
			all := guarded
			guarded = func() error {
				x := &recentral{prev: prev, segs: segs, at: at, docs: docs}
				var again bool
				if err := prev.guard(func() (err error) { again, err = x.again(); return err }); err != nil || !again {
					return all() // the generation before may be damaged
				}
				uses, margin = x.uses, x.margin
				return nil
			}
		}
	}
	for _, s := range segs { // a fault in any of the maps becomes an error
		next, file := guarded, s.file
		guarded = func() error { return file.Guard(next) }
	}
	if err := guarded(); err != nil {
		return nil, 0, err
	}
	// Copies are as central as the first of them.
	for i := range docs {
		if first := at[index[docs[i].Segment]][docs[i].Number] - 1; int(first) != i {
			uses[i] = uses[first]
		}
	}
	return uses, margin, nil
}

type generationWriter struct {
	last   string
	docs   []byte
	stamps []byte
	ids    idWriter
	paths  pathPosts
}

type idEntry struct {
	place  placeKey
	global uint32
}

// whole makes the layout of a generation that is no patch.
func (w *draft) whole(prev *Generation, names []string, at *spread, uses []float32) error {
	w.writer.ids.after(prev)
	w.writer.paths = pathPosts{}
	for i := range at.docs {
		d := &at.docs[i]
		s := at.segs[at.index[d.Segment]]
		if err := s.file.Guard(func() error { w.writer.add(i, d, at.index[d.Segment], s); return nil }); err != nil {
			return err
		}
	}
	var err error
	if w.layout, w.ids, err = w.writer.layout(names, uses); err == nil {
		w.head.Layout = layoutName(FormatVersion, w.head.Chunker, w.layout)
	}
	return err
}

func (w *generationWriter) add(i int, d *kb.Located, si int, s *segment) {
	pt := pathTerms(d.Path)
	w.docs = appendDoc(w.docs, w.last, d.Path, genDoc{seg: uint32(si), doc: uint32(d.Number), terms: uint32(len(pt))})
	w.stamps = binary.LittleEndian.AppendUint64(w.stamps, d.Stamp)
	w.last = d.Path
	w.paths.add(i, pt)
	w.ids.add(d, s)
}

// layout returns the sections of the layout, and the table of ids among them.
func (w *generationWriter) layout(names []string, uses []float32) ([]named, idTable, error) {
	ids, err := w.ids.table()
	if err != nil {
		return nil, nil, err
	}
	d := w.paths.dict()
	n, err := json.Marshal(names)
	if err != nil {
		return nil, nil, err
	}
	return []named{{"segments", n}, {"docs", w.docs}, {"pathterms", d.terms}, {"pathidx", d.index}, {"pathpost", d.post},
		{"ids", ids}, {"uses", appendFloats(nil, uses)}}, ids, nil
}

// sections returns the sections of the manifest.
func (w *generationWriter) sections(head *generationHead, ids idTable, prev *Generation) ([]named, error) {
	gone, err := prev.goneBy(&places{table: ids})
	if err != nil {
		return nil, err
	}
	h, err := json.Marshal(head)
	if err != nil {
		return nil, err
	}
	return []named{{"head", h}, {"stamps", w.stamps}, {"gone", gone}}, nil
}

// layoutName names a layout by what is in it.
func layoutName(version, chunker uint32, secs []named) string {
	h := sha256.New()
	fmt.Fprintf(h, "layout %d %d\n", version, chunker)
	for _, s := range secs {
		fmt.Fprintf(h, "%s %d\n", s.name, len(s.data))
		h.Write(s.data)
	}
	return kb.IDEncoding.EncodeToString(h.Sum(nil)[:15])
}

// LayoutPath returns where a layout lies in the folder of segments.
func LayoutPath(dir, name string) string { return filepath.Join(dir, name+LayoutExt) }

// writeLayout sees to it that a layout exists, whole, and returns its size and
// its checksum.
func (p *Pool) writeLayout(name string, chunker uint32, secs []named) (size int64, sum uint64, err error) {
	path := LayoutPath(p.Dir, name)
	if !sameSections(path, secs) {
		h := blockfile.Header{Kind: kindLayout, Version: FormatVersion, Chunker: chunker}
		if _, err := writeBlockfile(path, h, secs); err != nil {
			return 0, 0, err
		}
	}
	f, err := blockfile.Open(path, kindLayout, FormatVersion)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	return f.Size(), f.Sum(), nil
}

// sameSections reports whether the layout at path is undamaged and has these
// sections.
func sameSections(path string, secs []named) bool {
	f, err := blockfile.Open(path, kindLayout, FormatVersion)
	if err != nil {
		return false
	}
	defer f.Close()
	err = f.Guard(func() error {
		for _, s := range secs {
			raw, err := f.Section(s.name).All()
			if err != nil || !bytes.Equal(raw, s.data) {
				return errDiffers
			}
		}
		return nil
	})
	return err == nil
}

var errDiffers = errors.New("another layout")
