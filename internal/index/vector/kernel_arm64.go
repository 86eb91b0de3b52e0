package vector

// Every arm64 has NEON. The kernels that searches spend their time in are written
// for it; the others are plain Go.
const (
	kernel     = "NEON"
	hasDots    = true
	hasSums    = true
	hasAxpy    = false
	hasAtLeast = false
)

// dotRowsAsm is dotRows for rows rows of stride codes, both positive, stride a
// multiple of 16.
//
//go:noescape
func dotRowsAsm(dst *int32, codes *int8, t *int16, rows, stride int)

// sketchSumsAsm is sketchSums for blocks of 32 rows and nibbles, both positive.
//
//go:noescape
func sketchSumsAsm(dst *uint16, signs, lut *byte, blocks, nibbles int)

func axpyAsm(dst *float32, codes *int8, n int, f float32) { panic("vector: no kernel") }

func atLeastAsm(dst *byte, x *float32, eights int, least float32) { panic("vector: no kernel") }
