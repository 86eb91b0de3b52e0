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
	if hasDots {
		dotRowsAsm(&dst[0], &codes[0], &t[0], len(dst), len(t))
		return
	}
	dotRowsGeneric(dst, codes, t)
}

func dotRowsGeneric(dst []int32, codes []int8, t []int16) {
	for i := range dst {
		row := codes[i*len(t):][:len(t)]
		var a, b, c, d int32
		// Arrays instead of slices: one bounds check for eight elements.
		for j := 0; j+8 <= len(t); j += 8 {
			r, q := (*[8]int8)(row[j:]), (*[8]int16)(t[j:])
			a += int32(r[0])*int32(q[0]) + int32(r[4])*int32(q[4])
			b += int32(r[1])*int32(q[1]) + int32(r[5])*int32(q[5])
			c += int32(r[2])*int32(q[2]) + int32(r[6])*int32(q[6])
			d += int32(r[3])*int32(q[3]) + int32(r[7])*int32(q[7])
		}
		dst[i] = a + b + c + d
	}
}

// sketchSums sets dst[i] to what the signs of row i add up to: of each nibble
// what lut, 16 bytes a nibble, has for its pattern. Rows lie in blocks as Sketch
// has them, and len(dst) is a number of whole blocks.
func sketchSums(dst []uint16, signs, lut []byte) {
	nibbles := len(lut) / 16
	if len(dst)%sketchBlock != 0 || len(lut)%32 != 0 || len(signs) != len(dst)*nibbles/2 {
		panic("vector: signs of another length than the query")
	}
	if len(dst) == 0 || len(lut) == 0 {
		clear(dst)
		return
	}
	if hasSums {
		sketchSumsAsm(&dst[0], &signs[0], &lut[0], len(dst)/sketchBlock, nibbles)
		return
	}
	sketchSumsGeneric(dst, signs, lut)
}

func sketchSumsGeneric(dst []uint16, signs, lut []byte) {
	clear(dst)
	for len(dst) > 0 {
		rows := (*[sketchBlock]uint16)(dst)
		for i := 0; i < len(lut); i += 16 {
			adds := (*[16]byte)(lut[i:])
			for k, two := range (*[16]byte)(signs[i:]) {
				rows[k] += uint16(adds[two&15])
				rows[k+16] += uint16(adds[two>>4])
			}
		}
		dst, signs = dst[sketchBlock:], signs[len(lut):]
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
	if hasAxpy && len(dst) >= 8 {
		n = len(dst) &^ 7
		axpyAsm(&dst[0], &codes[0], n, f)
	}
	axpyGeneric(dst[n:], codes[n:], f)
}

func axpyGeneric(dst []float32, codes []int8, f float32) {
	for len(codes) >= 8 {
		d, c := (*[8]float32)(dst), (*[8]int8)(codes)
		// The conversions forbid the compiler to fuse the two operations.
		d[0] += float32(f * float32(c[0]))
		d[1] += float32(f * float32(c[1]))
		d[2] += float32(f * float32(c[2]))
		d[3] += float32(f * float32(c[3]))
		d[4] += float32(f * float32(c[4]))
		d[5] += float32(f * float32(c[5]))
		d[6] += float32(f * float32(c[6]))
		d[7] += float32(f * float32(c[7]))
		dst, codes = dst[8:], codes[8:]
	}
	for j, c := range codes {
		dst[j] += float32(f * float32(c))
	}
}

// AtLeast sets bit i%8 of dst[i/8] for every x[i] of least or more, and clears the
// others. It panics unless len(x) is eight times len(dst).
func AtLeast(dst []byte, x []float32, least float32) {
	if len(x) != 8*len(dst) {
		panic("vector: numbers of another length than their bits")
	}
	if hasAtLeast && len(dst) > 0 {
		atLeastAsm(&dst[0], &x[0], len(dst), least)
		return
	}
	atLeastGeneric(dst, x, least)
}

func atLeastGeneric(dst []byte, x []float32, least float32) {
	for i := range dst {
		b := byte(0)
		for k, v := range (*[8]float32)(x[8*i:]) {
			if v >= least {
				b |= 1 << k
			}
		}
		dst[i] = b
	}
}
