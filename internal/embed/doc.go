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
// dimensions.
//
//	offset  bytes     what
//	0       8         magic "kembmodl"
//	8       4         format version, 1
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
//	+       D*(W+B)   rows of int8 codes; value = scale * code
//	+       4         CRC-32C of all bytes before
//
// The first 64 bytes keep the places of magic, format version and checksum in
// every later format, so that a newer file is told from a damaged one.
//
// # The model in the program
//
// cmd/embedtrain makes it from public source; docs/model.md says from what,
// and how good it is. Whoever changes it gives it another version: its id
// tells whether vectors on disk may be compared.
package embed
