//go:build !amd64

package vector

const hasAVX2 = false

func dotRowsAVX2(dst *int32, codes *int8, t *int16, rows, stride int) { panic("vector: no AVX2") }

func axpyAVX2(dst *float32, codes *int8, n int, f float32) { panic("vector: no AVX2") }

func sketchSumsAVX2(dst *uint16, signs, lut *byte, blocks, pairs int) { panic("vector: no AVX2") }

func atLeastAVX2(dst *byte, x *float32, eights int, least float32) { panic("vector: no AVX2") }
