package index

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"math"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// The content of a document as a specification (kb.SpecDoc) lies in a stream
// of its own, which segments of code lack, so that the specifications of a store
// are read without unpacking anything else. A document's part is
//
//	byte 1, then kind, id, title, status, version, domain as names;
//	aliases, tags: their number, each a name
//	sections: their number, each: byte level, byte type, varint start - start of the one
//	  before, varint end - start, heading as a name, anchor as a name
//	nodes: their number, each: type, name as names, varint line, byte confidence in percent
//	edges: their number, each: from, target, type, method, label as names,
//	  line - line of the one before, zigzag; byte confidence in percent
//	mentions: their number, each: text as a name, varint line
//
// A name is the number of a string: those of specWords come first, n = as many
// as there are is a new one, which follows (varint length, bytes). The path of
// a section is not kept: it is the headings of lower levels above it.

const specVersion = 1

// specWords are the first strings; more may be added at the end only with
// another specVersion.
var specWords = []string{"", "DEFAULT", "ENTITY", "USE_CASE", "RULE", "PROCESS",
	"MENTIONS", "REFERENCES", "RELATED_TO", "CONTAINS", "INVOKES", "EMITS", "PRODUCES", "CONSUMES", "VALIDATES", "IMPLEMENTS",
	"DEPENDS_ON", "USES", "TRIGGERS", "PERFORMS", "OWNS", "EXTENDS", "SUPERSEDES", "PART_OF", "BELONGS_TO", "CONTRADICTS",
	"frontmatter", "wiki_link", "link", "id", "table", "pattern", "tag", "domain",
	"entity", "use_case", "rule", "process", "actor", "system", "concept", "event",
	"entity", "event", "business-rule", "business-policy", "cross-policy", "command", "query", "process", "use-case", "ui-view",
	"ui-component", "requirement", "objective", "prd", "adr", "glossary", "draft", "approved", "superseded", "accepted",
}

// numbered gives each of specWords its number.
func numbered() map[string]uint64 {
	m := make(map[string]uint64, 2*len(specWords))
	for i, w := range specWords {
		if _, ok := m[w]; !ok {
			m[w] = uint64(i)
		}
	}
	return m
}

func (w *factWriter) names(list []string) {
	w.uvarint(len(list))
	for _, s := range list {
		w.name(s)
	}
}

func percent(f float64) byte { return byte(math.Round(100 * min(max(f, 0), 1))) }

// appendSpec encodes what a document says as a specification.
func appendSpec(d *kb.SpecDoc) []byte {
	w := factWriter{strings: numbered(), next: uint64(len(specWords))}
	w.b = append(w.b, specVersion)
	for _, s := range [...]string{d.Kind, d.ID, d.Title, d.Status, d.Version, d.Domain} {
		w.name(s)
	}
	w.names(d.Aliases)
	w.names(d.Tags)
	w.uvarint(len(d.Sections))
	start := 0
	for i := range d.Sections {
		s := &d.Sections[i]
		w.b = append(w.b, byte(s.Level))
		w.name(s.Type)
		w.uvarint(s.Start - start)
		w.uvarint(s.End - s.Start)
		start = s.Start
		heading := ""
		if len(s.Path) > 0 {
			heading = s.Path[len(s.Path)-1]
		}
		w.name(heading)
		w.name(s.Anchor)
	}
	w.uvarint(len(d.Nodes))
	for _, n := range d.Nodes {
		w.name(n.Type)
		w.name(n.Name)
		w.uvarint(n.Line)
		w.b = append(w.b, percent(n.Confidence))
	}
	w.uvarint(len(d.Edges))
	line := 0
	for _, e := range d.Edges {
		w.name(e.From)
		w.name(e.Target)
		w.name(e.Type)
		w.name(e.Method)
		w.name(e.Label)
		w.b = binary.AppendVarint(w.b, int64(e.Line-line))
		line = e.Line
		w.b = append(w.b, percent(e.Confidence))
	}
	w.uvarint(len(d.Mentions))
	for _, m := range d.Mentions {
		w.name(m.Text)
		w.uvarint(m.Line)
	}
	return w.b
}

type specReader struct {
	metaReader
	strings nameTable
}

func (r *specReader) name() string { return r.strings.read(&r.varReader, r.string) }

func (r *specReader) names() []string {
	n := r.count()
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = r.name()
	}
	return list
}

func (r *specReader) byte() byte {
	if b := r.bytes(1); r.err == nil {
		return b[0]
	}
	return 0
}

// line reads a number of lines, which is never large.
func (r *specReader) line() int {
	n := r.uvarint()
	if n > math.MaxInt32 {
		r.err = errShort
		return 0
	}
	return int(n)
}

// readSpec decodes what appendSpec wrote; nil for what a newer version wrote.
func readSpec(b []byte, words []string) (*kb.SpecDoc, []string, error) {
	if len(b) == 0 || b[0] != specVersion {
		return nil, words, nil
	}
	r := specReader{metaReader{varReader: varReader{b: b[1:]}, all: string(b[1:])}, append(words[:0], specWords...)}
	d := &kb.SpecDoc{}
	for _, s := range [...]*string{&d.Kind, &d.ID, &d.Title, &d.Status, &d.Version, &d.Domain} {
		*s = r.name()
	}
	d.Aliases = r.names()
	d.Tags = r.names()
	if n := r.count(); n > 0 {
		d.Sections = make([]kb.SpecSection, n)
		var open []int // sections that enclose the current one
		start := 0
		for i := range d.Sections {
			s := &d.Sections[i]
			s.Level = int(r.byte())
			s.Type = r.name()
			start += r.line()
			s.Start = start
			s.End = start + r.line()
			heading := r.name()
			s.Anchor = r.name()
			if s.Level == 0 || r.err != nil {
				continue
			}
			for len(open) > 0 && d.Sections[open[len(open)-1]].Level >= s.Level {
				open = open[:len(open)-1]
			}
			var above []string
			if len(open) > 0 {
				above = d.Sections[open[len(open)-1]].Path
			}
			s.Path = append(append(make([]string, 0, len(above)+1), above...), heading)
			open = append(open, i)
		}
	}
	if n := r.count(); n > 0 {
		d.Nodes = make([]kb.SpecNode, n)
		for i := range d.Nodes {
			d.Nodes[i] = kb.SpecNode{Type: r.name(), Name: r.name(), Line: r.line(), Confidence: float64(r.byte()) / 100}
		}
	}
	if n := r.count(); n > 0 {
		d.Edges = make([]kb.SpecEdge, n)
		line := 0
		for i := range d.Edges {
			e := kb.SpecEdge{From: r.name(), Target: r.name(), Type: r.name(), Method: r.name(), Label: r.name()}
			line += int(int32(r.varint()))
			e.Line, e.Confidence = line, float64(r.byte())/100
			d.Edges[i] = e
		}
	}
	if n := r.count(); n > 0 {
		d.Mentions = make([]kb.SpecMention, n)
		for i := range d.Mentions {
			d.Mentions[i] = kb.SpecMention{Text: r.name(), Line: r.line()}
		}
	}
	return d, r.strings, r.err
}

// specPart is where the specification of a document lies in the stream.
type specPart struct {
	off, size int64
}

// loadSpecs reads which documents have a specification, and where.
func (s *segment) loadSpecs() error {
	raw, err := s.file.Section("specidx").All()
	if err != nil {
		return err
	}
	if len(raw)%8 != 0 {
		return s.corrupt("its tables have the wrong length")
	}
	s.spec = make(map[uint32]specPart, len(raw)/8)
	var off int64
	for i := 0; i < len(raw); i += 8 {
		d, n := binary.LittleEndian.Uint32(raw[i:]), int64(binary.LittleEndian.Uint32(raw[i+4:]))
		if int(d) >= s.info.Documents {
			return s.corrupt("its tables do not agree")
		}
		s.spec[d] = specPart{off, n}
		off += n
	}
	return s.specs.open(s.file.Section("specs"), s.file.Section("specblocks"), off)
}

// specOf returns what a document says as a specification, nil for nothing.
// words is scratch space that is handed on from call to call.
func (s *segment) specOf(d int, words []string) (*kb.SpecDoc, []string, error) {
	at, ok := s.spec[uint32(d)]
	if !ok {
		return nil, words, nil
	}
	b, err := s.part(&s.specs, at.off, at.size)
	if err != nil {
		return nil, words, err
	}
	doc, words, err := readSpec(b, words)
	if err != nil {
		return nil, words, s.corrupt("its specifications do not parse")
	}
	return doc, words, nil
}

// specKind returns the kind of specification that a document is, "" for none.
func (s *segment) specKind(d int) (string, error) {
	at, ok := s.spec[uint32(d)]
	if !ok {
		return "", nil
	}
	b, err := s.part(&s.specs, at.off, at.size)
	if err != nil || len(b) == 0 || b[0] != specVersion {
		return "", err
	}
	r := specReader{metaReader{varReader: varReader{b: b[1:]}, all: string(b[1:])}, specWords}
	kind := r.name()
	if r.err != nil {
		return "", s.corrupt("its specifications do not parse")
	}
	return kind, nil
}

// addSpec counts a document that says something as a specification. Equal
// segments hold equal documents.
func addSpec(d *kb.Located, s *segment, t *kb.Totals) error {
	if _, ok := s.spec[uint32(d.Number)]; !ok {
		return nil
	}
	kind, err := s.specKind(d.Number)
	if kind != "" {
		t.Specs++
	}
	h := fnv.New64a()
	var sum [24]byte
	binary.LittleEndian.PutUint64(sum[:], t.SpecSum)
	binary.LittleEndian.PutUint64(sum[8:], uint64(d.Number))
	binary.LittleEndian.PutUint64(sum[16:], d.Stamp)
	h.Write(sum[:])
	h.Write([]byte(d.Path + "\x00" + d.Segment))
	t.SpecSum = h.Sum64()
	return err
}

// Specs implements kb.Index.
func (g *Generation) Specs(ctx context.Context, after string, limit int) ([]kb.SpecEntry, error) {
	var out []kb.SpecEntry
	var words []string
	from, found := g.docByPath(after)
	if found {
		from++
	}
	err := g.guard(func() error {
		for i := from; i < len(g.docs) && len(out) < limit; i++ {
			d := g.docs[i]
			s := g.segs[d.seg]
			if len(s.spec) == 0 {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			var doc *kb.SpecDoc
			var err error
			if doc, words, err = s.specOf(int(d.doc), words); err != nil {
				return err
			}
			if doc != nil {
				from, to := s.chunkRange(int(d.doc))
				out = append(out, kb.SpecEntry{Path: g.paths[i], Chunks: to - from, Stamp: d.stamp, Spec: doc})
			}
		}
		return nil
	})
	return out, err
}
