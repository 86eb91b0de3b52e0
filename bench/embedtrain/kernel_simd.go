//go:build goexperiment.simd && amd64

package main

import "simd/archsimd"

// The same as kernel_plain.go, eight at a time: GOEXPERIMENT=simd makes
// training about five times as fast. It needs AVX2 and FMA. Sums are taken in
// another order, so that the two builds make slightly different models.

// mulABt sets c, of n rows of m, to a times the transpose of b: c[i][j] is the
// dot product of row i of a with row j of b. a has n rows and b has m rows of
// k; k is a multiple of 16, n of 2, m of 4. Rows from to to of c are computed.
func mulABt(c, a, b []float32, from, to, m, k int) {
	for i := from; i < to; i += 2 {
		a0, a1 := a[i*k:][:k], a[(i+1)*k:][:k]
		for j := 0; j < m; j += 4 {
			b0, b1, b2, b3 := b[j*k:][:k], b[(j+1)*k:][:k], b[(j+2)*k:][:k], b[(j+3)*k:][:k]
			var s00, s01, s02, s03, s10, s11, s12, s13 archsimd.Float32x8
			for x := 0; x+8 <= k; x += 8 {
				p, q := archsimd.LoadFloat32x8Slice(a0[x:x+8]), archsimd.LoadFloat32x8Slice(a1[x:x+8])
				u, v := archsimd.LoadFloat32x8Slice(b0[x:x+8]), archsimd.LoadFloat32x8Slice(b1[x:x+8])
				s00 = p.MulAdd(u, s00)
				s10 = q.MulAdd(u, s10)
				s01 = p.MulAdd(v, s01)
				s11 = q.MulAdd(v, s11)
				u, v = archsimd.LoadFloat32x8Slice(b2[x:x+8]), archsimd.LoadFloat32x8Slice(b3[x:x+8])
				s02 = p.MulAdd(u, s02)
				s12 = q.MulAdd(u, s12)
				s03 = p.MulAdd(v, s03)
				s13 = q.MulAdd(v, s13)
			}
			four(s00, s01, s02, s03).StoreSlice(c[i*m+j:][:4])
			four(s10, s11, s12, s13).StoreSlice(c[(i+1)*m+j:][:4])
		}
	}
	archsimd.ClearAVXUpperBits() // or what follows runs twenty times slower
}

// four returns the sums of the elements of each.
func four(a, b, c, d archsimd.Float32x8) archsimd.Float32x4 {
	x, y := a.GetLo().Add(a.GetHi()), b.GetLo().Add(b.GetHi())
	u, v := c.GetLo().Add(c.GetHi()), d.GetLo().Add(d.GetHi())
	return x.AddPairs(y).AddPairs(u.AddPairs(v))
}

// addScaled adds f times b to a.
func addScaled(a, b []float32, f float32) {
	b = b[:len(a)]
	g := archsimd.BroadcastFloat32x8(f)
	for len(a) >= 8 {
		g.MulAdd(archsimd.LoadFloat32x8Slice(b[:8]), archsimd.LoadFloat32x8Slice(a[:8])).StoreSlice(a[:8])
		a, b = a[8:], b[8:]
	}
	archsimd.ClearAVXUpperBits()
	for i := range a {
		a[i] += f * b[i]
	}
}

func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s archsimd.Float32x8
	for len(a) >= 8 {
		s = archsimd.LoadFloat32x8Slice(a[:8]).MulAdd(archsimd.LoadFloat32x8Slice(b[:8]), s)
		a, b = a[8:], b[8:]
	}
	var four [4]float32
	s.GetLo().Add(s.GetHi()).Store(&four)
	archsimd.ClearAVXUpperBits()
	sum := four[0] + four[1] + four[2] + four[3]
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}
