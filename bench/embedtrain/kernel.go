package main

import "math"

// transpose sets rows from to to of t, of n elements, to columns of a, which
// has n rows of m.
func transpose(t, a []float32, from, to, n, m int) {
	for i0 := 0; i0 < n; i0 += 16 {
		for j := from; j < to; j++ {
			row := t[j*n+i0:][:min(16, n-i0)]
			for i := range row {
				row[i] = a[(i0+i)*m+j]
			}
		}
	}
}

// exp32 is e to the x for x in [-80, 80] with a relative error below 3e-6:
// 2^(x log2 e), the whole part as exponent bits, the rest by a polynomial.
func exp32(x float32) float32 {
	y := x * 1.44269504
	n := int32(y + 127.5) // y+127 is positive, so this rounds to nearest
	f := (y - float32(n-127)) * 0.69314718
	p := 1 + f*(1+f*(0.5+f*(0.16666667+f*(0.041666667+f*0.008333333))))
	return math.Float32frombits(uint32(n)<<23) * p
}
