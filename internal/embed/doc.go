// Package embed turns texts into vectors: implementations of kb.Embedder
// behind one table, Backends.
//
// # The static model
//
// The vector of a text is the sum, brought to length 1, over its distinct
// words of sqrt(count) times the word's vector. A text without words is the
// zero vector. The vector of a word is its row in the model, if it has one.
// Else it is made of its character trigrams, those of "^word$": the sum of
// their buckets' rows divided by the square root of their number, so that an
// unknown word counts about as much as one row, whatever its length. The
// trigram of the code points a, b, c has the bucket
//
//	h = mix(a | b<<21 | c<<42)        the finaliser of splitmix64
//	bucket = (h * buckets) >> 64
//
// Words are runs of letters or of digits, in lower case, with identifiers
// split and accents folded: "HTTPServer_v2" is http, server, v, 2 and "función"
// is funcion. Split defines it.
//
// Sums are taken in float32 in ascending order of the words' FNV-1a hashes,
// with every product rounded: a text has the same vector, to the bit, on every
// machine and in every order of its words.
//
// # Format of a model
//
// All numbers are little endian; W is the number of words, B of buckets, D of
// dimensions, P the next multiple of 16.
//
//	offset  bytes     what
//	0       8         magic "kembmodl"
//	8       4         format version, 2
//	12      4         D, 1 to 4096
//	16      4         W
//	20      4         B, at least 1
//	24      4         T, bytes of all words together
//	28      4         version of the model, counting from 1
//	32      24        name of the model: a-z, 0-9 and "-", padded with zero bytes
//	56      4         0
//	60      4         CRC-32C of bytes 0 to 59
//	64      4*(W+1)   offsets of the words in the text of words, ascending, and T
//	+       4*(W+B)   float32 scales of the rows, words first, then buckets
//	+       T         the words: lower case, ascending byte order, no two alike
//	+       P*5/8     for each row, codes of five bits, -15 to 15; value = scale * code
//	        *(W+B)
//	+       4         CRC-32C of all bytes before
//
// A row has the low four bits of all codes and then their signs. Byte 8k+j of
// the former holds code 16k+j in its lower half and code 16k+8+j in its upper
// one; bit j of byte i of the latter is set if code 8i+j is negative. As a
// number of two's complement a code is so its four bits, with four ones before
// them where its sign says so: eight are unpacked at a time with a few
// operations on a word. Codes from D on are 0.
//
// Five bits are enough: rows are distributed like noise, of which they keep
// all but 0.3 percent of the squares, and what is lost of one word of a text
// is independent of what is lost of the next.
//
// The first 64 bytes keep the places of magic, format version and checksum in
// every later format, so that a newer file differs from a damaged one.
//
// # The model in the program
//
// bench/embedtrain makes it from public source; docs/model.md says from what,
// and how good it is. A changed model needs another version: its id
// decides whether vectors on disk may be compared.
package embed
