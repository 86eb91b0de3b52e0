package vector

// dotRows sets dst[i] to the dot product of row i of codes with t. len(t) is
// the length of a row, a multiple of 16; len(codes) is len(dst)*len(t). Sums
// wrap at 32 bits, the same everywhere.
func dotRows(dst []int32, codes []int8, t []int16) {
	if len(codes) != len(dst)*len(t) || len(t)%align != 0 {
		panic("vector: rows of another length than the query")
	}
	if len(dst) == 0 || len(t) == 0 {
		clear(dst)
		return
	}
	if hasAVX2 {
		dotRowsAVX2(&dst[0], &codes[0], &t[0], len(dst), len(t))
		return
	}
	dotRowsGeneric(dst, codes, t)
}

func dotRowsGeneric(dst []int32, codes []int8, t []int16) {
	for i := range dst {
		row := codes[i*len(t):][:len(t)]
		var a, b, c, d int32
		for j := 0; j+4 <= len(row) && j+4 <= len(t); j += 4 {
			r, q := row[j:j+4:j+4], t[j:j+4:j+4]
			a += int32(r[0]) * int32(q[0])
			b += int32(r[1]) * int32(q[1])
			c += int32(r[2]) * int32(q[2])
			d += int32(r[3]) * int32(q[3])
		}
		dst[i] = a + b + c + d
	}
}

// Axpy adds f times each code to dst: dst[j] += f*codes[j], every product
// rounded to float32 before it is added, so that the result is the same to
// the bit on every machine. It panics if dst and codes differ in length.
func Axpy(dst []float32, codes []int8, f float32) {
	if len(dst) != len(codes) {
		panic("vector: codes of another length than their sum")
	}
	n := 0
	if hasAVX2 && len(dst) >= 8 {
		n = len(dst) &^ 7
		axpyAVX2(&dst[0], &codes[0], n, f)
	}
	axpyGeneric(dst[n:], codes[n:], f)
}

func axpyGeneric(dst []float32, codes []int8, f float32) {
	for len(dst) >= 4 && len(codes) >= 4 {
		d, c := dst[:4:4], codes[:4:4]
		// The conversions forbid the compiler to fuse the two operations.
		d[0] += float32(f * float32(c[0]))
		d[1] += float32(f * float32(c[1]))
		d[2] += float32(f * float32(c[2]))
		d[3] += float32(f * float32(c[3]))
		dst, codes = dst[4:], codes[4:]
	}
	for j, c := range codes {
		dst[j] += float32(f * float32(c))
	}
}
