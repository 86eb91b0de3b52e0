// Package blockfile keeps immutable files of named sections, memory-mapped,
// with a checksum over every 64 KiB that is verified when first touched. It is
// the form of every segment, vector file and manifest.
//
// # Format
//
// Integers are little-endian; "crc" is CRC-32C (Castagnoli) as uint32. A file
// is header, sections, table and trailer, without gaps:
//
//	header, at 0
//	   0  [8]byte  magic "KNOWBLK\x00"
//	   8  uint32   version of this layout: 1
//	  12  uint32   crc of the 12 bytes before
//	  16  uint32   version of the kind's own format
//	  20  uint32   version of the chunker, 0 where it does not matter
//	  24  uint16   K, length of the kind (1 to 64)
//	  26  uint16   E, length of the embedder's id (0 to 512)
//	  28  [K]byte  kind
//	   …  [E]byte  embedder's id
//	   …  uint32   crc of the bytes from 16 to here
//	sections, each
//	   zero bytes up to the next multiple of 64
//	   the section's bytes
//	table, at T, the end of the last section
//	   uint32  number of sections, then for each:
//	     uint16  N, length of the name (1 to 64)
//	     [N]byte name
//	     uint64  offset of the section's first byte in the file
//	     uint64  length in bytes
//	   uint32  number of blocks: ceil(T / 65536)
//	   for each block i: crc of the file's bytes from 65536·i to min(65536·(i+1), T)
//	   uint32  crc of the table's bytes before
//	trailer, the last 32 bytes
//	   0  uint64   T
//	   8  uint64   length of the table
//	  16  uint32   zero
//	  20  uint32   crc of the 20 bytes before
//	  24  [8]byte  magic "KNOWEND\x00"
//
// Every byte is under a checksum or compared with a constant, so any one
// flipped byte is found: those of trailer, table and header's fields by Open, those of
// sections and padding when their block is touched, all by Verify. The
// first 16 bytes keep their meaning in every future layout, so that an older
// program can distinguish a newer file from a damaged one. The trailer comes last, so
// that a file cut short anywhere has none.
package blockfile

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// BlockSize is the number of bytes that one checksum covers.
const BlockSize = 64 << 10

// Align is the alignment in bytes of every section's start, in the file and in memory.
const Align = 64

const (
	magicHead  = "KNOWBLK\x00"
	magicTail  = "KNOWEND\x00"
	layout     = 1
	fixedLen   = 28 // header up to the kind
	trailerLen = 32
	maxName    = 64
	maxID      = 512
	maxParts   = 1 << 10 // sections of one file
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	le         = binary.LittleEndian
)

func checksum(p []byte) uint32 { return crc32.Checksum(p, castagnoli) }

// Header describes the content and the producer of a file.
type Header struct {
	Kind     string // "segment", "vectors", "manifest": 1 to 64 bytes
	Version  uint32 // of the kind's own format
	Chunker  uint32 // version of the chunker; 0 where it does not matter
	Embedder string // kb.Embedder.ID; "" where it does not matter; at most 512 bytes
}

func (h Header) encode() ([]byte, error) {
	if len(h.Kind) == 0 || len(h.Kind) > maxName || len(h.Embedder) > maxID {
		return nil, kb.Errorf(kb.Internal, "header of kind %q and embedder %q is not within limits", h.Kind, h.Embedder)
	}
	b := append([]byte(nil), magicHead...)
	b = le.AppendUint32(b, layout)
	b = le.AppendUint32(b, checksum(b))
	b = le.AppendUint32(b, h.Version)
	b = le.AppendUint32(b, h.Chunker)
	b = le.AppendUint16(b, uint16(len(h.Kind)))
	b = le.AppendUint16(b, uint16(len(h.Embedder)))
	b = append(b, h.Kind...)
	b = append(b, h.Embedder...)
	return le.AppendUint32(b, checksum(b[16:])), nil
}

// part is one entry of the section table.
type part struct {
	name     string
	off, len int64
}

func encodeTable(parts []part, crcs []uint32) []byte {
	b := le.AppendUint32(nil, uint32(len(parts)))
	for _, p := range parts {
		b = le.AppendUint16(b, uint16(len(p.name)))
		b = append(b, p.name...)
		b = le.AppendUint64(b, uint64(p.off))
		b = le.AppendUint64(b, uint64(p.len))
	}
	b = le.AppendUint32(b, uint32(len(crcs)))
	for _, c := range crcs {
		b = le.AppendUint32(b, c)
	}
	return le.AppendUint32(b, checksum(b))
}

func encodeTrailer(tableOff int64, tableLen int) []byte {
	b := le.AppendUint64(nil, uint64(tableOff))
	b = le.AppendUint64(b, uint64(tableLen))
	b = le.AppendUint32(b, 0)
	b = le.AppendUint32(b, checksum(b))
	return append(b, magicTail...)
}
