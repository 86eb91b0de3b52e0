package index

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/seed-4f2d999b/knowledge/internal/index/vector"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// Builder collects the documents of one segment. It is not safe for
// concurrent use; several builders may work side by side.
type Builder struct {
	chunker uint32
	keys    []kb.DocKey
	langs   []string
	docs    []byte
	chunks  []byte
	nchunks uint32
	text    streamWriter
	facts   streamWriter
	factidx []byte
	specs   streamWriter
	specidx []byte
	bytes   int64

	scan    terms.Scanner
	terms   map[string]uint32
	posts   []termPost
	touched []uint32
	vectors *vector.Builder
}

type termPost struct {
	term string
	buf  []byte
	last uint32 // chunk of the last posting + 1, 0 before the first
	n    uint32
	tf   [numFields]uint16 // of the chunk being added
}

// NewBuilder returns an empty builder for chunks cut by a version of the
// chunker and vectors of dims dimensions.
func NewBuilder(chunker uint32, dims int) *Builder {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault),
		zstd.WithWindowSize(streamBlock))
	if err != nil {
		panic(err) // only bad options fail
	}
	w := streamWriter{enc: enc}
	return &Builder{chunker: chunker, terms: make(map[string]uint32, 1<<14), vectors: vector.NewBuilder(dims),
		text: w, facts: w, specs: w}
}

// Documents returns how many documents were added.
func (b *Builder) Documents() int { return len(b.keys) }

// TextBytes returns the size of the texts added.
func (b *Builder) TextBytes() int64 { return b.bytes }

// Vectors is where the vectors of a document's chunks are added, in order,
// right after Add.
func (b *Builder) Vectors() *vector.Builder { return b.vectors }

// Add indexes one document and returns its number in the segment.
func (b *Builder) Add(hash kb.DocHash, t kb.Text, chunks []kb.Chunk, facts *kb.Facts) int {
	lang := slices.Index(b.langs, t.Language)
	if lang < 0 {
		lang = len(b.langs)
		b.langs = append(b.langs, t.Language)
	}
	meta := appendMeta(nil, chunks)
	b.docs = append(b.docs, hash[:]...)
	b.docs = binary.LittleEndian.AppendUint64(b.docs, b.text.at)
	b.docs = binary.LittleEndian.AppendUint32(b.docs, uint32(len(t.Body)))
	b.docs = binary.LittleEndian.AppendUint32(b.docs, uint32(len(meta)))
	b.docs = binary.LittleEndian.AppendUint32(b.docs, b.nchunks)
	b.docs = append(b.docs, byte(lang), byte(t.Flags), 0, 0)

	ordinals := map[uint64]uint16{}
	for i := range chunks {
		c := &chunks[i]
		decl := declHash(c.Decl)
		lens := b.addTerms(t.Body[c.From:c.To], c)
		le := binary.LittleEndian
		r := le.AppendUint32(b.chunks, uint32(c.From))
		r = le.AppendUint32(r, uint32(c.To))
		r = le.AppendUint32(r, uint32(c.Start))
		r = le.AppendUint32(r, uint32(c.End))
		r = le.AppendUint64(r, decl)
		r = le.AppendUint32(r, lens[fieldBody])
		r = le.AppendUint16(r, clip16(lens[fieldSymbols]))
		r = le.AppendUint16(r, clip16(lens[fieldHeadings]))
		r = le.AppendUint16(r, ordinals[decl])
		r = le.AppendUint16(r, textHash(t.Body[c.From:c.To]))
		cols := byte(0)
		if c.ColTo > 0 {
			cols = 1
		}
		b.chunks = append(r, cols, 0, 0, 0)
		ordinals[decl]++
		b.nchunks++
	}
	b.text.write(t.Body)
	b.text.write(string(meta))
	known := appendFacts(chunks, facts)
	b.factidx = binary.LittleEndian.AppendUint32(b.factidx, uint32(len(known)))
	b.facts.write(string(known))
	if facts.Spec != nil {
		said := appendSpec(facts.Spec)
		b.specidx = binary.LittleEndian.AppendUint32(b.specidx, uint32(len(b.keys)))
		b.specidx = binary.LittleEndian.AppendUint32(b.specidx, uint32(len(said)))
		b.specs.write(string(said))
	}
	b.keys = append(b.keys, kb.DocKey{Hash: hash, Language: t.Language})
	b.bytes += int64(len(t.Body))
	return len(b.keys) - 1
}

func clip16(n uint32) uint16 { return uint16(min(n, math.MaxUint16)) }

// addTerms adds the postings of one chunk and returns the length of each
// field in terms.
func (b *Builder) addTerms(body string, c *kb.Chunk) (lens [numFields]uint32) {
	eachTerm(&b.scan, body, c, func(t []byte, field int, long bool) {
		id, ok := b.terms[string(t)]
		if !ok {
			id = uint32(len(b.posts))
			s := string(t)
			b.terms[s] = id
			b.posts = append(b.posts, termPost{term: s})
		}
		p := &b.posts[id]
		if p.tf == ([numFields]uint16{}) {
			b.touched = append(b.touched, id)
		}
		if p.tf[field] < math.MaxUint16 {
			p.tf[field]++
		}
		if long {
			lens[field]++
		}
	})
	for _, id := range b.touched {
		p := &b.posts[id]
		delta := b.nchunks
		if p.n > 0 {
			delta -= p.last
		}
		p.buf = appendPosting(p.buf, delta, p.tf)
		p.last = b.nchunks
		p.n++
		p.tf = [numFields]uint16{}
	}
	b.touched = b.touched[:0]
	return lens
}

// eachTerm calls count with each term of a chunk and its field; long is false of those that
// do not add to the length of the field. The slice is only valid during the call.
func eachTerm(scan *terms.Scanner, body string, c *kb.Chunk, count func(t []byte, field int, long bool)) {
	field := fieldBody
	each := func(t []byte, _ bool) { count(t, field, true) }
	scan.Scan(body, each)
	field = fieldSymbols
	for _, s := range c.Symbols {
		if s.Declares() {
			scan.Scan(s.Name, each)
			count([]byte(terms.Exact(s.Name)), field, false)
			if t := terms.Cased(s.Name); t != "" {
				count([]byte(t), field, false)
			}
		}
	}
	field = fieldHeadings
	for _, d := range c.Decl {
		scan.Scan(d, each)
	}
}

func declHash(decl []string) uint64 {
	if len(decl) == 0 {
		return 0
	}
	sum := sha256.Sum256([]byte(strings.Join(decl, "\x00")))
	return binary.LittleEndian.Uint64(sum[:])
}

// textHash gives the 15 bits of an id that show whether the text changed.
func textHash(text string) uint16 {
	sum := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint16(sum[:]) & 0x7fff
}

// Name returns the name that the segment's content gives it.
func (b *Builder) Name() string { return segmentName(FormatVersion, b.chunker, b.keys) }

// segmentName hashes the documents in their order: generations refer to them
// by number, so that two orders must not have one name.
func segmentName(version, chunker uint32, keys []kb.DocKey) string {
	h := sha256.New()
	var v [8]byte
	binary.LittleEndian.PutUint32(v[:], version)
	binary.LittleEndian.PutUint32(v[4:], chunker)
	h.Write(v[:])
	for _, k := range keys {
		h.Write(k.Hash[:])
		h.Write([]byte(k.Language))
		h.Write([]byte{0})
	}
	return kb.IDEncoding.EncodeToString(h.Sum(nil)[:15])
}

// segmentInfo is the section "info" of a segment.
type segmentInfo struct {
	Documents int      `json:"documents"`
	Chunks    int      `json:"chunks"`
	TextBytes int64    `json:"textBytes"`
	Stream    int64    `json:"stream"`
	Languages []string `json:"languages"`
}

// named is one section to write.
type named struct {
	name string
	data []byte
}

// sections lays the segment out; the builder is spent afterwards.
func (b *Builder) sections() ([]named, error) {
	b.text.flush()
	b.facts.flush()
	b.specs.flush()
	if err := b.text.enc.Close(); err != nil {
		return nil, err
	}
	info, err := json.Marshal(segmentInfo{len(b.keys), int(b.nchunks), b.bytes, int64(b.text.at), b.langs})
	if err != nil {
		return nil, err
	}
	b.terms = nil
	sort.Slice(b.posts, func(i, j int) bool { return b.posts[i].term < b.posts[j].term })
	var d dictWriter
	for i := range b.posts {
		p := &b.posts[i]
		d.add(p.term, int(p.n), p.buf)
		p.buf = nil
	}
	b.posts = nil
	secs := []named{
		{"info", info}, {"docs", b.docs}, {"chunks", b.chunks}, {"text", b.text.frames}, {"blocks", b.text.blocks},
		{"facts", b.facts.frames}, {"factblocks", b.facts.blocks}, {"factidx", b.factidx},
		{"terms", d.terms}, {"termidx", d.index}, {"post", d.post},
	}
	if len(d.skipidx) > 0 {
		secs = append(secs, named{"skips", d.skips}, named{"skipidx", d.skipidx})
	}
	if len(b.specidx) > 0 {
		secs = append(secs, named{"specs", b.specs.frames}, named{"specblocks", b.specs.blocks}, named{"specidx", b.specidx})
	}
	return secs, nil
}
