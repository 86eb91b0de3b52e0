package vector

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX2

// dotRowsAVX2 is dotRows for rows rows of stride codes, stride a positive
// multiple of 16.
//
//go:noescape
func dotRowsAVX2(dst *int32, codes *int8, t *int16, rows, stride int)

// axpyAVX2 is Axpy of n codes, n a positive multiple of 8.
//
//go:noescape
func axpyAVX2(dst *float32, codes *int8, n int, f float32)

// sketchSumsAVX2 is sketchSums for blocks of 32 rows and pairs of nibbles, both
// positive.
//
//go:noescape
func sketchSumsAVX2(dst *uint16, signs, lut *byte, blocks, pairs int)

// atLeastAVX2 is AtLeast for eights times 8 numbers, eights positive.
//
//go:noescape
func atLeastAVX2(dst *byte, x *float32, eights int, least float32)
