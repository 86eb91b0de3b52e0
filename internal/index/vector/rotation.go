package vector

import "math"

// rotation is an orthogonal matrix that is cheap to multiply with: twice, signs
// are changed at random, the first power of two of elements go through a
// Hadamard transform, and all are put in another order at random. After that
// every element depends on all, and the elements of any vector are about
// normally distributed.
type rotation struct {
	dims, power int
	scale       float32 // 1/sqrt(power)
	signs       [2][]float32
	order       [2][]uint16
}

// newRotation returns the rotation of a seed. The numbers are those of
// splitmix64, the same in every version of this program: first, for each round,
// the signs, by the highest bit, then the order, by Fisher and Yates from the
// last element down.
func newRotation(dims int, seed uint64) *rotation {
	r := &rotation{dims: dims, power: 1}
	for 2*r.power <= dims {
		r.power *= 2
	}
	r.scale = float32(1 / math.Sqrt(float64(r.power)))
	next := func() uint64 {
		seed += 0x9e3779b97f4a7c15
		z := seed
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
	for k := range r.signs {
		r.signs[k] = make([]float32, dims)
		for j := range r.signs[k] {
			r.signs[k][j] = 1 - 2*float32(next()>>63)
		}
		r.order[k] = make([]uint16, dims)
		for j := range r.order[k] {
			r.order[k][j] = uint16(j)
		}
		for j := dims - 1; j > 0; j-- {
			i := int(next() % uint64(j+1))
			r.order[k][i], r.order[k][j] = r.order[k][j], r.order[k][i]
		}
	}
	return r
}

// apply rotates x in place. Every product is rounded before it is used further,
// so that the result is the same on every machine.
func (r *rotation) apply(x []float32) {
	spare := make([]float32, r.dims)
	r.into(x, spare)
}

// into is apply with room for a vector.
func (r *rotation) into(x, spare []float32) {
	for k := range r.signs {
		for j, s := range r.signs[k] {
			x[j] *= s
		}
		hadamard(x[:r.power])
		for j := range x[:r.power] {
			x[j] *= r.scale
		}
		for j, i := range r.order[k] {
			spare[j] = x[i]
		}
		copy(x, spare)
	}
}

// hadamard multiplies x, of a power of two of elements, with the matrix of
// Hadamard in Sylvester's order.
func hadamard(x []float32) {
	for half := 1; half < len(x); half *= 2 {
		for from := 0; from < len(x); from += 2 * half {
			a, b := x[from:from+half], x[from+half:from+2*half]
			for j := range a {
				a[j], b[j] = a[j]+b[j], a[j]-b[j]
			}
		}
	}
}
