#include "textflag.h"

// Four rows at a time share each load of the query. Of a row 16 codes are
// widened to int16, multiplied with 16 numbers of the query, and neighbours
// added to 8 int32 sums (VPMADDWD).

// func dotRowsAsm(dst *int32, codes *int8, t *int16, rows, stride int)
TEXT ·dotRowsAsm(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ codes+8(FP), SI
	MOVQ t+16(FP), DX
	MOVQ rows+24(FP), CX
	MOVQ stride+32(FP), R8

four:
	CMPQ  CX, $4
	JLT   one
	LEAQ  (SI)(R8*1), R9
	LEAQ  (SI)(R8*2), R10
	LEAQ  (R9)(R8*2), R11
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	XORQ  AX, AX

fourstep:
	VMOVDQU   (DX)(AX*2), Y8
	VPMOVSXBW (SI)(AX*1), Y4
	VPMOVSXBW (R9)(AX*1), Y5
	VPMOVSXBW (R10)(AX*1), Y6
	VPMOVSXBW (R11)(AX*1), Y7
	VPMADDWD  Y8, Y4, Y4
	VPMADDWD  Y8, Y5, Y5
	VPMADDWD  Y8, Y6, Y6
	VPMADDWD  Y8, Y7, Y7
	VPADDD    Y4, Y0, Y0
	VPADDD    Y5, Y1, Y1
	VPADDD    Y6, Y2, Y2
	VPADDD    Y7, Y3, Y3
	ADDQ      $16, AX
	CMPQ      AX, R8
	JLT       fourstep

	// Each half of Y0 becomes one partial sum of each of the four rows.
	VPHADDD      Y1, Y0, Y0
	VPHADDD      Y3, Y2, Y2
	VPHADDD      Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VMOVDQU      X0, (DI)
	ADDQ         $16, DI
	LEAQ         (R11)(R8*1), SI
	SUBQ         $4, CX
	JMP          four

one:
	TESTQ CX, CX
	JLE   done
	VPXOR Y0, Y0, Y0
	XORQ  AX, AX

onestep:
	VPMOVSXBW (SI)(AX*1), Y4
	VPMADDWD  (DX)(AX*2), Y4, Y4
	VPADDD    Y4, Y0, Y0
	ADDQ      $16, AX
	CMPQ      AX, R8
	JLT       onestep

	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPHADDD      X0, X0, X0
	VPHADDD      X0, X0, X0
	VMOVD        X0, (DI)
	ADDQ         $4, DI
	ADDQ         R8, SI
	DECQ         CX
	JMP          one

done:
	VZEROUPPER
	RET

// func axpyAsm(dst *float32, codes *int8, n int, f float32)
TEXT ·axpyAsm(SB), NOSPLIT, $0-28
	MOVQ         dst+0(FP), DI
	MOVQ         codes+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS f+24(FP), Y0
	XORQ         AX, AX
	MOVQ         CX, DX
	ANDQ         $~31, DX
	JZ           eights

thirtytwo:
	VPMOVSXBD (SI)(AX*1), Y1
	VPMOVSXBD 8(SI)(AX*1), Y2
	VPMOVSXBD 16(SI)(AX*1), Y3
	VPMOVSXBD 24(SI)(AX*1), Y4
	VCVTDQ2PS Y1, Y1
	VCVTDQ2PS Y2, Y2
	VCVTDQ2PS Y3, Y3
	VCVTDQ2PS Y4, Y4
	VMULPS    Y0, Y1, Y1
	VMULPS    Y0, Y2, Y2
	VMULPS    Y0, Y3, Y3
	VMULPS    Y0, Y4, Y4
	VADDPS    (DI)(AX*4), Y1, Y1
	VADDPS    32(DI)(AX*4), Y2, Y2
	VADDPS    64(DI)(AX*4), Y3, Y3
	VADDPS    96(DI)(AX*4), Y4, Y4
	VMOVUPS   Y1, (DI)(AX*4)
	VMOVUPS   Y2, 32(DI)(AX*4)
	VMOVUPS   Y3, 64(DI)(AX*4)
	VMOVUPS   Y4, 96(DI)(AX*4)
	ADDQ      $32, AX
	CMPQ      AX, DX
	JLT       thirtytwo

eights:
	CMPQ      AX, CX
	JGE       end
	VPMOVSXBD (SI)(AX*1), Y1
	VCVTDQ2PS Y1, Y1
	VMULPS    Y0, Y1, Y1
	VADDPS    (DI)(AX*4), Y1, Y1
	VMOVUPS   Y1, (DI)(AX*4)
	ADDQ      $8, AX
	JMP       eights

end:
	VZEROUPPER
	RET

// Of a block of 32 rows two nibbles at a time are looked up: the low halves of 32
// bytes are those of rows 0 to 15, the high ones those of rows 16 to 31. Bytes
// are added as words: Y0 sums the even rows and 256 times the odd ones, Y1 the
// odd ones alone, which are taken from it at the end.

// func sketchSumsAsm(dst *uint16, signs, lut *byte, blocks, nibbles int)
TEXT ·sketchSumsAsm(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         signs+8(FP), SI
	MOVQ         lut+16(FP), DX
	MOVQ         blocks+24(FP), CX
	MOVQ         nibbles+32(FP), R8
	SHRQ         $1, R8
	MOVQ         $0x0f0f0f0f0f0f0f0f, AX
	MOVQ         AX, X15
	VPBROADCASTQ X15, Y15

sketchblock:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	MOVQ  DX, R9
	MOVQ  R8, BX

sketchpair:
	VMOVDQU (SI), Y4
	VMOVDQU (R9), Y5
	VPSRLW  $4, Y4, Y6
	VPAND   Y15, Y4, Y4
	VPAND   Y15, Y6, Y6
	VPSHUFB Y4, Y5, Y7
	VPSHUFB Y6, Y5, Y8
	VPADDW  Y7, Y0, Y0
	VPSRLW  $8, Y7, Y7
	VPADDW  Y7, Y1, Y1
	VPADDW  Y8, Y2, Y2
	VPSRLW  $8, Y8, Y8
	VPADDW  Y8, Y3, Y3
	ADDQ    $32, SI
	ADDQ    $32, R9
	DECQ    BX
	JNZ     sketchpair

	VPSLLW       $8, Y1, Y9
	VPSUBW       Y9, Y0, Y0
	VPSLLW       $8, Y3, Y9
	VPSUBW       Y9, Y2, Y2
	VEXTRACTI128 $1, Y0, X9
	VPADDW       X9, X0, X0
	VEXTRACTI128 $1, Y1, X9
	VPADDW       X9, X1, X1
	VEXTRACTI128 $1, Y2, X9
	VPADDW       X9, X2, X2
	VEXTRACTI128 $1, Y3, X9
	VPADDW       X9, X3, X3
	VPUNPCKLWD   X1, X0, X4
	VPUNPCKHWD   X1, X0, X5
	VPUNPCKLWD   X3, X2, X6
	VPUNPCKHWD   X3, X2, X7
	VMOVDQU      X4, (DI)
	VMOVDQU      X5, 16(DI)
	VMOVDQU      X6, 32(DI)
	VMOVDQU      X7, 48(DI)
	ADDQ         $64, DI
	DECQ         CX
	JNZ          sketchblock

	VZEROUPPER
	RET

// func atLeastAsm(dst *byte, x *float32, eights int, least float32)
TEXT ·atLeastAsm(SB), NOSPLIT, $0-28
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         eights+16(FP), CX
	VBROADCASTSS least+24(FP), Y0

atleasteight:
	VMOVUPS   (SI), Y1
	VCMPPS    $0x0d, Y0, Y1, Y1
	VMOVMSKPS Y1, AX
	MOVB      AX, (DI)
	ADDQ      $32, SI
	INCQ      DI
	DECQ      CX
	JNZ       atleasteight

	VZEROUPPER
	RET
