// Package graph joins the documents of one generation: it decides which
// declaration every use of a name refers to, and keeps the answers in a view,
// one file per store that can be rebuilt at any time.
//
// Go is resolved by go/types (see goLinker), everything else from the facts of
// single documents (see resolver).
//
// # The view file
//
// A view is a block file of kind "view". Integers are unsigned varints
// (LEB128), "delta" is the difference to the value before (0 at the start of a
// list), "zigzag" maps signed values to unsigned ones, a string is its length
// and its bytes. Documents are numbered in ascending order of their paths,
// strings in ascending order of their bytes, the declarations of a document
// from 0 in order of line, then position. A "pack" is a section of frames,
// each compressed by zstd alone, and the section NAME.at holds the delta of
// every frame's end in bytes. Sections:
//
//	texts    the strings, as they are, each: bytes shared with the one before (none at
//	         the begin of every run of 32), rest. Versions 1 and 2 have strings
//	         instead, one frame: count, then each likewise, in one run
//	texts.at their count, then where each run begins, four bytes each, little endian
//	docs     one frame: count, then by columns: path (as in strings), language
//	         (string), number of declarations, number of edges, in-degree
//	hashes   the first 16 bytes of every document's hash
//	stamp    16 bytes, see View.Stamp; from version 3 on
//	decls    pack, 16 documents a frame (version 1: 64). Each document, by columns: name (zigzag
//	         delta), what stands before it in the qualified name ("" is string
//	         0), kind (all three numbers of strings), line (delta), line - first
//	         line, last line - line
//	edges    pack, 8 documents a frame (version 1: 32). Each document: number of its targets,
//	         then document (delta) and declaration of each (delta within a
//	         document, else absolute); then by columns for its edges, in order of
//	         line: line (delta), target, kind of use; then 0 when all are certain,
//	         else 1 and the column of confidences in percent
//	into     pack, 16 documents a frame (version 1: 64). Each document: number of its
//	         declarations that are used; each: declaration (delta), number of documents
//	         that use it, those (delta)
//	names    pack, 1024 strings a frame. Each string: number of documents that
//	         declare it, those (delta)
//	go       one frame: what the next link needs to know about Go, see gostate.go
//
// The innermost declaration around an edge is not kept: it follows from the
// lines of the declarations.
package graph
