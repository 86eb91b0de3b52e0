// Package kb holds the words of the product: the types that every other
// package speaks in. It imports only the standard library and does nothing
// but define, print and compare them.
//
// The words, one each: a store is a body of text with an identity; a source
// lists its documents; a document is a file or page; its text is its decoded
// lines; a chunk is a run of whole lines of one text; a segment holds the
// index of many documents; a generation is one published state of a store; a
// hit is one chunk that answers a query.
package kb
