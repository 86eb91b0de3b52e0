package index

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Extract writes what one generation consists of, and nothing else, into the
// folder out: segments with all of whose documents it lists are taken as they
// are; of the others, which hold what other stores or earlier generations had,
// the listed documents are put into new ones with vectors of dims dimensions.
// Segments that the reader has are taken as they are too.
// The manifest is written at path. Extract returns the names of the layout and
// of the segments.
func (p *Pool) Extract(ctx context.Context, g *Generation, m kb.Manifest, dims int, reader map[string]bool, out, path string) (
	layout string, names []string, err error) {
	docs, err := g.Manifest(ctx)
	if err != nil {
		return "", nil, err
	}
	byName := map[string][]int{} // documents of m by segment
	for i, d := range docs {
		byName[d.Segment] = append(byName[d.Segment], i)
	}
	for _, name := range g.names { // in the order of the layout, so that the result is always the same
		mine := byName[name]
		slices.SortStableFunc(mine, func(a, b int) int { return docs[a].Number - docs[b].Number })
		fresh := ""
		err := p.with(name, func(s *segment) (err error) {
			if reader[name] {
				fresh = name
				return p.linkTo(out, s.name, m.Embedder)
			}
			fresh, err = p.extract(ctx, s, m, dims, out, docs, mine)
			return err
		})
		if err != nil {
			return "", nil, err
		}
		for _, i := range mine {
			docs[i].Segment = fresh
		}
		names = append(names, fresh)
	}
	m.Documents = docs
	w, err := (&Pool{Dir: out, Embedder: m.Embedder}).draft(m)
	if err == nil {
		_, _, err = w.write(path, g)
	}
	if err != nil {
		return "", nil, err
	}
	return w.head.Layout, names, nil
}

// extract puts those documents that are mine into a segment of their own, the
// one they are in when it has no others, and sets their numbers. It returns
// the name of the segment.
func (p *Pool) extract(ctx context.Context, s *segment, m kb.Manifest, dims int, out string,
	docs []kb.Located, mine []int) (string, error) {
	numbers := map[int]int{}
	for _, i := range mine {
		numbers[docs[i].Number] = -1
	}
	if len(numbers) == s.info.Documents {
		return s.name, p.linkTo(out, s.name, m.Embedder)
	}
	b := NewBuilder(m.Chunker, dims)
	for _, i := range mine {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		d := &docs[i]
		if numbers[d.Number] < 0 {
			n, err := b.take(s, d.Number, p)
			if err != nil {
				return "", err
			}
			numbers[d.Number] = n
		}
		d.Number = numbers[d.Number]
	}
	name, _, err := b.Write(out, m.Embedder)
	return name, err
}

// linkTo puts a segment and its vectors into the folder out.
func (p *Pool) linkTo(out, name, embedder string) error {
	return errors.Join(Link(SegmentPath(p.Dir, name), SegmentPath(out, name)),
		Link(VectorsPath(p.Dir, name, embedder), VectorsPath(out, name, embedder)))
}

// Link gives a file a second name, or copies it where that cannot be.
func Link(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return kb.Errorf(kb.Corrupt, "a file of the index is missing: %w", err).WithHint("look with: knowledge verify")
	}
	defer in.Close()
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return kb.Errorf(kb.Denied, "cannot write %q: %w", to, err).WithHint("check the permissions of the data directory")
	}
	if _, err := io.Copy(f, in); err != nil {
		f.Close()
		return kb.Errorf(kb.Full, "cannot write %q: %w", to, err).WithHint("free some space, then try again")
	}
	return f.Close()
}
