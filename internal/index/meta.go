package index

import (
	"encoding/binary"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// appendMeta appends the meta of a document, chunk by chunk:
//
//	varint shared elements of the declaration path with the chunk before,
//	varint further elements, each a string; string kind;
//	varint column from, varint column to;
//	varint symbols, each: string name, kind, signature, doc; varint start, varint end - start
//
// A string is its length as a varint and its bytes.
func appendMeta(dst []byte, chunks []kb.Chunk) []byte {
	var prev []string
	for i := range chunks {
		c := &chunks[i]
		shared := 0
		for shared < len(prev) && shared < len(c.Decl) && prev[shared] == c.Decl[shared] {
			shared++
		}
		dst = binary.AppendUvarint(dst, uint64(shared))
		dst = binary.AppendUvarint(dst, uint64(len(c.Decl)-shared))
		for _, d := range c.Decl[shared:] {
			dst = appendString(dst, d)
		}
		prev = c.Decl
		dst = appendString(dst, c.Kind)
		dst = binary.AppendUvarint(dst, uint64(c.ColFrom))
		dst = binary.AppendUvarint(dst, uint64(c.ColTo))
		dst = binary.AppendUvarint(dst, uint64(len(c.Symbols)))
		for _, s := range c.Symbols {
			dst = appendString(dst, s.Name)
			dst = appendString(dst, s.Kind)
			dst = appendString(dst, s.Signature)
			dst = appendString(dst, s.Doc)
			dst = binary.AppendUvarint(dst, uint64(s.Start))
			dst = binary.AppendUvarint(dst, uint64(max(0, s.End-s.Start)))
		}
	}
	return dst
}

// readMeta fills in what appendMeta wrote for chunks whose positions are known. b is
// the chunks' from then on.
func readMeta(b []byte, chunks []kb.Chunk) error {
	r := metaReader{varReader: varReader{b: b}, all: owned(b)}
	var prev []string
	for i := range chunks {
		c := &chunks[i]
		shared, more := r.decl(len(prev))
		if r.err != nil {
			return r.err
		}
		if shared+more > 0 {
			c.Decl = append(make([]string, 0, shared+more), prev[:shared]...)
			for range more {
				c.Decl = append(c.Decl, r.string())
			}
		}
		prev = c.Decl
		r.rest(c)
	}
	return r.err
}

// readMetaOf returns chunk k of what appendMeta wrote, without its position. b is the
// chunk's from then on.
func readMetaOf(b []byte, k int) (c kb.Chunk, err error) {
	r := metaReader{varReader: varReader{b: b}, all: owned(b)}
	for i := 0; i <= k && r.err == nil; i++ {
		shared, more := r.decl(len(c.Decl))
		if r.err != nil {
			break
		}
		c.Decl = c.Decl[:shared]
		for range more {
			c.Decl = append(c.Decl, r.string())
		}
		if i == k {
			r.rest(&c)
			break
		}
		r.string()
		r.uvarint()
		r.uvarint()
		for n := r.count(); n > 0 && r.err == nil; n-- {
			for range 4 {
				r.string()
			}
			r.uvarint()
			r.uvarint()
		}
	}
	if len(c.Decl) == 0 {
		c.Decl = nil
	}
	return c, r.err
}

// decl reads how many elements of its declaration path a chunk shares with that of
// the chunk before, which has so many, and how many follow.
func (r *metaReader) decl(before int) (shared, more int) {
	n := r.uvarint()
	if more = r.count(); r.err == nil && n > uint64(before) {
		r.err = errShort
	}
	return int(n), more
}

// rest reads what follows the declaration path.
func (r *metaReader) rest(c *kb.Chunk) {
	c.Kind = r.string()
	c.ColFrom = int(r.uvarint())
	c.ColTo = int(r.uvarint())
	n := r.count()
	if r.err != nil || n == 0 {
		return
	}
	c.Symbols = make([]kb.Symbol, n)
	for j := range c.Symbols {
		s := &c.Symbols[j]
		s.Name, s.Kind, s.Signature, s.Doc = r.string(), r.string(), r.string(), r.string()
		s.Start = int(r.uvarint())
		s.End = s.Start + int(r.uvarint())
	}
}

// metaReader reads strings as parts of one, so that a document with hundreds
// of names costs one allocation for them.
type metaReader struct {
	varReader
	all string
}

func (r *metaReader) string() string {
	n := r.uvarint()
	at := uint64(len(r.all) - len(r.b))
	if r.bytes(n); r.err != nil {
		return ""
	}
	return r.all[at : at+n]
}
