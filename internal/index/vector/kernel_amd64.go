package vector

import "golang.org/x/sys/cpu"

// The kernels are for AVX2.
var (
	hasDots    = cpu.X86.HasAVX2
	hasSums    = hasDots
	hasAxpy    = hasDots
	hasAtLeast = hasDots
	kernel     = map[bool]string{true: "AVX2", false: "plain Go"}[hasDots]
)

// dotRowsAsm is dotRows for rows rows of stride codes, stride a positive
// multiple of 16.
//
//go:noescape
func dotRowsAsm(dst *int32, codes *int8, t *int16, rows, stride int)

// axpyAsm is Axpy of n codes, n a positive multiple of 8.
//
//go:noescape
func axpyAsm(dst *float32, codes *int8, n int, f float32)

// sketchSumsAsm is sketchSums for blocks of 32 rows and an even number of nibbles,
// both positive.
//
//go:noescape
func sketchSumsAsm(dst *uint16, signs, lut *byte, blocks, nibbles int)

// atLeastAsm is AtLeast for eights times 8 numbers, eights positive.
//
//go:noescape
func atLeastAsm(dst *byte, x *float32, eights int, least float32)
