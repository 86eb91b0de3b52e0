// Package index holds what search looks in: segments, which index documents
// by their content alone, and generations, which say what a store consists of.
//
// # Segment
//
// A segment is immutable and named by its content: the hash of the (document
// hash, language) pairs in it, in order, and of the versions of format and chunker. It
// knows no store, path or project, so that every store, worktree and
// generation in which a document occurs shares it. It is a block file (see
// package blockfile) of kind "segment" with these sections; integers are
// little endian, "varint" is encoding/binary's unsigned one:
//
//	info      JSON segmentInfo: counts and the names of the languages
//	docs      56 bytes a document, in the order added:
//	            hash [32]byte, stream offset u64, text bytes u32, meta bytes u32,
//	            first chunk u32, language u8, flags u8, 2 bytes zero
//	chunks    40 bytes a chunk, in document order:
//	            from u32, to u32 (bytes in the text), start u32, end u32 (lines),
//	            declaration hash u64, body terms u32, symbol terms u16,
//	            heading terms u16, ordinal u16, text hash u16, columns u8, 3 bytes zero
//	text      zstd frames of 32 KiB of the stream each; the stream is, document
//	            by document, the text and then its meta
//	blocks    u32 a frame: its compressed length
//	facts, factblocks   a stream like text and blocks, of the documents' facts, see facts.go
//	factidx   u32 a document: the bytes of its facts
//	specs, specblocks   a stream like text and blocks, of what Markdown documents say
//	            as specifications, see specs.go; missing in segments without any
//	specidx   8 bytes a document that has one, in order: document u32, bytes u32
//	terms     the dictionary: terms in byte order, front-coded in blocks of 16:
//	            varint shared, varint length, suffix, varint chunks, varint postings bytes;
//	            the first of a block shares nothing and begins with the block's
//	            postings offset as a varint
//	termidx   u32 a block: where it begins in terms
//	post      postings, see postings.go
//	skips, skipidx   places in the long ones, see skips.go; missing in segments of
//	            older versions, and in those without long ones
//
// meta holds, chunk by chunk, what is only needed to show a hit: declaration
// path, kind, columns, symbols (see meta.go).
//
// A sibling file NAME.EMBEDDER.vec (kind "vectors") has the vectors of the chunks
// in the same order, in the format of package vector, in the section "matrix",
// and in the section "of" the name of the segment; files of older versions lack
// that. The section "sketch" of larger ones has what a search looks at before
// the vectors, see vector.Sketch; without it all of them are read.
//
// # Generation
//
// A generation is one published state of one store. It is two block files.
//
// The layout, NAME.lay beside the segments, says which document is at
// which path. It knows no store and is named by its content, so that the work
// trees of one repository share it (kind "layout"):
//
//	segments  JSON list of segment names
//	docs      documents in byte order of their paths, front-coded:
//	            varint shared, varint length, suffix, varint segment, varint document
//	            in it, varint path terms
//	pathterms, pathidx, pathpost   dictionary and postings of the path terms,
//	            like a segment's, over document numbers
//	ids       9 bytes a chunk, sorted: the 40 bits that name the place in any
//	            store, big endian, then the chunk's global number u32
//	uses      f32 a document: how central it is, see central.go
//
// The manifest (kind "generation") has what is a store's own:
//
//	head      JSON: store, number, commit, embedder, sums of lengths, margin of centrality, name
//	          and checksum of the layout
//	stamps    u64 a document, in the order of docs
//	gone      tombstones, newest first, see ids.go
//
// A manifest of version 4 is a patch, see patch.go. Its head names another manifest,
// the base, which is none, and their common layout; instead of stamps it has
//
//	segments  JSON list of segment names that the layout lacks; they are numbered after its
//	dropped   documents of the layout that are gone, or others now: varint number - that of
//	          the one before, varint chunks
//	docs      documents that are not as they are in the base, as in the layout, each with its
//	          stamp u64 behind it
//	uses      varint number of the document - that of the one before, f32: how central it is, where
//	          the layout says otherwise, nothing said being 0
//	gone      tombstones that are not in the base
//
// The global number of a chunk is its rank when all documents are put in
// order of path. It does not depend on how documents are spread over
// segments; ties are broken by it, which is why an index that grew by edits
// answers exactly like a fresh one of the same content.
package index

// FormatVersion is the version of the files of this package. A reader takes
// what an older or equal version wrote and refuses what a newer one did.
// Version 2 added the facts; version 3 parted the layout from the manifest. Patches
// alone have version 4.
const FormatVersion = 3

// Kinds of block files.
const (
	kindSegment    = "segment"
	kindVectors    = "vectors"
	kindLayout     = "layout"
	kindGeneration = "generation"
)

const (
	docRecord   = 56
	chunkRecord = 40
	streamBlock = 32 << 10
	dictBlock   = 16
)
