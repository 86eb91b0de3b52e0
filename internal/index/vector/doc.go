// Package vector keeps the vectors of one segment as a matrix in bytes and
// finds the rows nearest to a query.
//
// # Format
//
// A matrix keeps directions, not lengths: a row is quantised and then scaled
// back to length 1, so that cosine and dot product are one thing. Row i,
// dimension j is
//
//	w(i,j)     = 16*code(i,j) + rest(i,j)       an integer in [-2039, 2039]
//	value(i,j) = scale(i) * w(i,j) / 16
//	scale(i)   = 16 / sqrt(sum over j of w(i,j)²),  0 for a zero vector
//
// with code an int8 in [-127, 127] and rest a 4-bit two's complement number
// in [-8, 7]. The codes alone are the rows to 8 bits, for scanning; the rests
// make them 12 bits, for the score that is shown: the error of a dot product
// falls to about 1/16. All numbers are little endian.
//
//	offset            bytes           what
//	0                 4               magic "kvec"
//	4                 2               format version, 1
//	6                 2               0
//	8                 4               dims, 1 to 65536
//	12                4               stride: dims rounded up to a multiple of 16
//	16                8               rows
//	24                8               0
//	32                rows*stride     codes, row by row, each padded with zeros to stride
//	+rows*stride      rows*stride/2   rests, row by row; byte b of a row holds
//	                                  dimension 2b in its low and 2b+1 in its high four bits
//	+rows*stride/2    rows*4          scales, float32
//
// Every part begins at a multiple of 8 from the first byte (the codes at a
// multiple of 32). The caller checksums the bytes; View checks sizes only.
// A row takes 1.5*stride+4 bytes: 388 at 256 dimensions.
//
// # Engines
//
// An Engine searches one Matrix. Every engine returns the same matches with
// the same scores for the same query: the score of a row is always
//
//	score = float32( scale/16 * sum over j of q(j)*w(j) / |q| )
//
// summed in float64, where every product is exact (24 bits times 12), in one
// order. So rows of equal bytes have equal scores, in whatever segment, at
// whatever place and on whatever machine they lie.
package vector
