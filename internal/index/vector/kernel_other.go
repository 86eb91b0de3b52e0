//go:build !amd64 && !arm64

package vector

const (
	kernel     = "plain Go"
	hasDots    = false
	hasSums    = false
	hasAxpy    = false
	hasAtLeast = false
)

func dotRowsAsm(dst *int32, codes *int8, t *int16, rows, stride int) { panic("vector: no kernel") }

func axpyAsm(dst *float32, codes *int8, n int, f float32) { panic("vector: no kernel") }

func sketchSumsAsm(dst *uint16, signs, lut *byte, blocks, nibbles int) { panic("vector: no kernel") }

func atLeastAsm(dst *byte, x *float32, eights int, least float32) { panic("vector: no kernel") }
