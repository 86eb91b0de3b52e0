package vector

import (
	"math/rand/v2"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Kernel names the instructions that scans use on this machine.
func Kernel() string {
	return kernel
}

// Check compares the kernels that this machine uses with plain Go, on made
// numbers: they must agree to the bit.
func Check() error {
	r := rand.New(rand.NewPCG(1, 2))
	for _, stride := range []int{align, 3 * align, 192, 1024} {
		const rows = 37
		codes, query := make([]int8, rows*stride), make([]int16, stride)
		for i := range codes {
			codes[i] = int8(r.IntN(255) - 127)
		}
		for i := range query {
			query[i] = int16(r.IntN(1<<12) - 1<<11)
		}
		got, want := make([]int32, rows), make([]int32, rows)
		dotRows(got, codes, query)
		dotRowsGeneric(want, codes, query)
		if !slices.Equal(got, want) {
			return kb.Errorf(kb.Internal, "%s and plain Go disagree on a product of vectors", Kernel())
		}
		signs, lut := make([]byte, sketchBlock*stride/8), make([]byte, 4*stride)
		for i := range signs {
			signs[i] = byte(r.IntN(256))
		}
		for i := range lut {
			lut[i] = byte(r.IntN(64))
		}
		few, all := make([]uint16, sketchBlock), make([]uint16, sketchBlock)
		sketchSums(few, signs, lut)
		if sketchSumsGeneric(all, signs, lut); !slices.Equal(few, all) {
			return kb.Errorf(kb.Internal, "%s and plain Go disagree on a sketch of vectors", Kernel())
		}
		sum, plain := make([]float32, stride), make([]float32, stride)
		for i := range 5 {
			f := r.Float32()
			Axpy(sum, codes[i*stride:][:stride], f)
			axpyGeneric(plain, codes[i*stride:][:stride], f)
		}
		if !slices.Equal(sum, plain) {
			return kb.Errorf(kb.Internal, "%s and plain Go disagree on a sum of vectors", Kernel())
		}
		bits, slow := make([]byte, stride/8), make([]byte, stride/8)
		AtLeast(bits, sum, plain[3])
		if atLeastGeneric(slow, sum, plain[3]); !slices.Equal(bits, slow) {
			return kb.Errorf(kb.Internal, "%s and plain Go disagree on which numbers are greater", Kernel())
		}
	}
	return nil
}
