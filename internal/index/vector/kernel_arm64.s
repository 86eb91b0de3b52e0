#include "textflag.h"

// Of a row 16 codes are widened to int16 and multiplied with 16 numbers of the
// query into 8 int32 sums. The assembler has no names for instructions that widen
// signed numbers: they are written as words.

// func dotRowsAsm(dst *int32, codes *int8, t *int16, rows, stride int)
TEXT ·dotRowsAsm(SB), NOSPLIT, $0-40
	MOVD dst+0(FP), R0
	MOVD codes+8(FP), R1
	MOVD t+16(FP), R2
	MOVD rows+24(FP), R3
	MOVD stride+32(FP), R4

row:
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	MOVD R2, R6
	MOVD R4, R7

step:
	VLD1.P 16(R1), [V2.B16]
	VLD1.P 32(R6), [V4.H8, V5.H8]
	WORD   $0x0F08A446 // SXTL   V6.8H, V2.8B
	WORD   $0x4F08A447 // SXTL2  V7.8H, V2.16B
	WORD   $0x0E6480C0 // SMLAL  V0.4S, V6.4H, V4.4H
	WORD   $0x4E6480C1 // SMLAL2 V1.4S, V6.8H, V4.8H
	WORD   $0x0E6580E0 // SMLAL  V0.4S, V7.4H, V5.4H
	WORD   $0x4E6580E1 // SMLAL2 V1.4S, V7.8H, V5.8H
	SUBS   $16, R7, R7
	BNE    step

	VADD   V1.S4, V0.S4, V0.S4
	VADDV  V0.S4, V0
	VMOV   V0.S[0], R8
	MOVW.P R8, 4(R0)
	SUBS   $1, R3, R3
	BNE    row
	RET

// Of a block of 32 rows one nibble at a time is looked up: the low halves of 16
// bytes are those of rows 0 to 15, the high ones those of rows 16 to 31.

// func sketchSumsAsm(dst *uint16, signs, lut *byte, blocks, nibbles int)
TEXT ·sketchSumsAsm(SB), NOSPLIT, $0-40
	MOVD dst+0(FP), R0
	MOVD signs+8(FP), R1
	MOVD lut+16(FP), R2
	MOVD blocks+24(FP), R3
	MOVD nibbles+32(FP), R4
	MOVD $0x0f0f0f0f0f0f0f0f, R5
	VDUP R5, V15.D2

block:
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	MOVD R2, R6
	MOVD R4, R7

nibble:
	VLD1.P  16(R1), [V4.B16]
	VLD1.P  16(R6), [V5.B16]
	VAND    V15.B16, V4.B16, V6.B16
	VUSHR   $4, V4.B16, V7.B16
	VTBL    V6.B16, [V5.B16], V6.B16
	VTBL    V7.B16, [V5.B16], V7.B16
	VUADDW  V6.B8, V0.H8, V0.H8
	VUADDW2 V6.B16, V1.H8, V1.H8
	VUADDW  V7.B8, V2.H8, V2.H8
	VUADDW2 V7.B16, V3.H8, V3.H8
	SUBS    $1, R7, R7
	BNE     nibble

	VST1.P [V0.H8, V1.H8, V2.H8, V3.H8], 64(R0)
	SUBS   $1, R3, R3
	BNE    block
	RET
