@ SHA-512's compression function for ARMv7-M (Cortex-M3, M4 and M7): sha512.h's ws_sha512_blocks
@ (FIPS 180-4, section 6.4.2), the fast variant.
@
@ Cycles of a call with one block without wait states: 10495 on a Cortex-M4; stack 496 bytes; flash
@ 804 and a table of 640.
@
@ Constant time: nothing depends on the data but the data. The round constants are public and stay
@ in flash. The frame is wiped.
@
@ The idea. The working variables lie on the stack in an array that begins eight bytes lower each
@ round: a round stores the new a below it and the new e over d, and moves nothing. Every 16 rounds
@ the array goes back up. a and e are in registers, and so is b ^ c, which is a ^ b of the round
@ before: Maj(a, b, c) = ((a ^ b) & (b ^ c)) ^ b. The message schedule is a ring whose words stand
@ twice, 128 bytes apart, so that no distance wraps.

	.syntax unified
	.thumb

	.section .rodata.ws_sha512_k, "a", %progbits
	.balign	128
	.type	sha512_k, %object
sha512_k:
	.word	0xd728ae22, 0x428a2f98, 0x23ef65cd, 0x71374491, 0xec4d3b2f, 0xb5c0fbcf, 0x8189dbbc, 0xe9b5dba5
	.word	0xf348b538, 0x3956c25b, 0xb605d019, 0x59f111f1, 0xaf194f9b, 0x923f82a4, 0xda6d8118, 0xab1c5ed5
	.word	0xa3030242, 0xd807aa98, 0x45706fbe, 0x12835b01, 0x4ee4b28c, 0x243185be, 0xd5ffb4e2, 0x550c7dc3
	.word	0xf27b896f, 0x72be5d74, 0x3b1696b1, 0x80deb1fe, 0x25c71235, 0x9bdc06a7, 0xcf692694, 0xc19bf174
	.word	0x9ef14ad2, 0xe49b69c1, 0x384f25e3, 0xefbe4786, 0x8b8cd5b5, 0x0fc19dc6, 0x77ac9c65, 0x240ca1cc
	.word	0x592b0275, 0x2de92c6f, 0x6ea6e483, 0x4a7484aa, 0xbd41fbd4, 0x5cb0a9dc, 0x831153b5, 0x76f988da
	.word	0xee66dfab, 0x983e5152, 0x2db43210, 0xa831c66d, 0x98fb213f, 0xb00327c8, 0xbeef0ee4, 0xbf597fc7
	.word	0x3da88fc2, 0xc6e00bf3, 0x930aa725, 0xd5a79147, 0xe003826f, 0x06ca6351, 0x0a0e6e70, 0x14292967
	.word	0x46d22ffc, 0x27b70a85, 0x5c26c926, 0x2e1b2138, 0x5ac42aed, 0x4d2c6dfc, 0x9d95b3df, 0x53380d13
	.word	0x8baf63de, 0x650a7354, 0x3c77b2a8, 0x766a0abb, 0x47edaee6, 0x81c2c92e, 0x1482353b, 0x92722c85
	.word	0x4cf10364, 0xa2bfe8a1, 0xbc423001, 0xa81a664b, 0xd0f89791, 0xc24b8b70, 0x0654be30, 0xc76c51a3
	.word	0xd6ef5218, 0xd192e819, 0x5565a910, 0xd6990624, 0x5771202a, 0xf40e3585, 0x32bbd1b8, 0x106aa070
	.word	0xb8d2d0c8, 0x19a4c116, 0x5141ab53, 0x1e376c08, 0xdf8eeb99, 0x2748774c, 0xe19b48a8, 0x34b0bcb5
	.word	0xc5c95a63, 0x391c0cb3, 0xe3418acb, 0x4ed8aa4a, 0x7763e373, 0x5b9cca4f, 0xd6b2b8a3, 0x682e6ff3
	.word	0x5defb2fc, 0x748f82ee, 0x43172f60, 0x78a5636f, 0xa1f0ab72, 0x84c87814, 0x1a6439ec, 0x8cc70208
	.word	0x23631e28, 0x90befffa, 0xde82bde9, 0xa4506ceb, 0xb2c67915, 0xbef9a3f7, 0xe372532b, 0xc67178f2
	.word	0xea26619c, 0xca273ece, 0x21c0c207, 0xd186b8c7, 0xcde0eb1e, 0xeada7dd6, 0xee6ed178, 0xf57d4f7f
	.word	0x72176fba, 0x06f067aa, 0xa2c898a6, 0x0a637dc5, 0xbef90dae, 0x113f9804, 0x131c471b, 0x1b710b35
	.word	0x23047d84, 0x28db77f5, 0x40c72493, 0x32caab7b, 0x15c9bebc, 0x3c9ebe0a, 0x9c100d4c, 0x431d67c4
	.word	0xcb3e42b6, 0x4cc5d4be, 0xfc657e2a, 0x597f299c, 0x3ad6faec, 0x5fcb6fab, 0x4a475817, 0x6c44198c
	.size	sha512_k, . - sha512_k

@ The frame from sp on while the array is at its upper end: the array, the schedule, the arguments.
	.equ	SCHEDULE, 64
	.equ	STATE, SCHEDULE + 256
	.equ	DATA, STATE + 4
	.equ	BLOCKS, STATE + 8
	.equ	ROOM, 128

@ (to_low, to_high) = the sum of three rotations of (low, high) to the right: by \a below 32, by \b,
@ by \c; of those from 32 on the halves come swapped.
.macro	rotations to_low, to_high, low, high, a, b, c, b_low, b_high, c_low, c_high
	lsr.w	\to_low, \low, #\a
	lsr.w	\to_high, \high, #\a
	eor.w	\to_low, \to_low, \high, lsl #(32 - \a)
	eor.w	\to_high, \to_high, \low, lsl #(32 - \a)
	eor.w	\to_low, \to_low, \b_low, lsr #\b
	eor.w	\to_high, \to_high, \b_high, lsr #\b
	eor.w	\to_low, \to_low, \b_high, lsl #(32 - \b)
	eor.w	\to_high, \to_high, \b_low, lsl #(32 - \b)
	eor.w	\to_low, \to_low, \c_low, lsr #\c
	eor.w	\to_high, \to_high, \c_high, lsr #\c
	eor.w	\to_low, \to_low, \c_high, lsl #(32 - \c)
	.ifnc	\c_low, \low
	eor.w	\to_high, \to_high, \c_low, lsl #(32 - \c)
	.endif
.endm

.macro	add_to_sum low, high
	adds.w	r8, r8, \low
	adc.w	r9, r9, \high
.endm

@ r8, r9 = the word of a later round, from those of 16, 15, 7 and 2 rounds before.
.macro	schedule
	ldrd	r2, r3, [r12, #8]
	rotations r0, r1, r2, r3, 1, 8, 7, r2, r3, r2, r3
	ldrd	r8, r9, [r12]
	add_to_sum r0, r1
	ldrd	r2, r3, [r12, #72]
	add_to_sum r2, r3
	ldrd	r2, r3, [r12, #112]
	lsr.w	r0, r2, #19
	lsr.w	r1, r3, #19
	eor.w	r0, r0, r3, lsl #13
	eor.w	r1, r1, r2, lsl #13
	eor.w	r0, r0, r3, lsr #29
	eor.w	r1, r1, r2, lsr #29
	eor.w	r0, r0, r2, lsl #3
	eor.w	r1, r1, r3, lsl #3
	eor.w	r0, r0, r2, lsr #6
	eor.w	r1, r1, r3, lsr #6
	eor.w	r0, r0, r3, lsl #26
	add_to_sum r0, r1
	strd	r8, r9, [r12, #128]
	strd	r8, r9, [r12], #8
.endm

@ r4, r5: a; r6, r7: e; r8, r9: the word; r10, r11: b ^ c; lr: the constant.
.macro	round
	ldrd	r0, r1, [lr], #8
	add_to_sum r0, r1
	ldrd	r2, r3, [sp, #56]
	add_to_sum r2, r3
	ldrd	r0, r1, [sp, #40]
	ldrd	r2, r3, [sp, #48]
	eors	r0, r2
	eors	r1, r3
	ands	r0, r6
	ands	r1, r7
	eors	r0, r2
	eors	r1, r3
	add_to_sum r0, r1
	rotations r0, r1, r6, r7, 14, 18, 9, r6, r7, r7, r6
	add_to_sum r0, r1
	ldrd	r6, r7, [sp, #24]
	adds.w	r6, r6, r8
	adc.w	r7, r7, r9
	strd	r6, r7, [sp, #24]
	ldrd	r2, r3, [sp, #8]
	eor.w	r0, r4, r2
	eor.w	r1, r5, r3
	and.w	r10, r10, r0
	and.w	r11, r11, r1
	eor.w	r10, r10, r2
	eor.w	r11, r11, r3
	add_to_sum r10, r11
	mov	r10, r0
	mov	r11, r1
	rotations r0, r1, r4, r5, 28, 2, 7, r5, r4, r5, r4
	adds.w	r4, r8, r0
	adc.w	r5, r9, r1
	strd	r4, r5, [sp, #-8]!
.endm

	.section .text.ws_sha512_blocks, "ax", %progbits
	.balign	4
	.globl	ws_sha512_blocks
	.type	ws_sha512_blocks, %function
	.thumb_func
ws_sha512_blocks:
	cmp	r2, #0
	it	eq
	bxeq	lr
	push	{r0-r2, r4-r11, lr}
	sub	sp, #(256 + 64)
1:	ldr	r0, [sp, #DATA]
	add	r12, sp, #SCHEDULE
	movs	r3, #16
2:	ldr	r1, [r0], #4
	ldr	r2, [r0], #4
	rev	r1, r1
	rev	r2, r2
	strd	r2, r1, [r12], #8
	subs	r3, #1
	bne	2b
	str	r0, [sp, #DATA]
	ldr	r0, [sp, #STATE]
	mov	r12, sp
	movs	r3, #8
2:	ldrd	r1, r2, [r0], #8
	strd	r2, r1, [r12], #8
	subs	r3, #1
	bne	2b
	@ r12 is at the schedule.
	ldrd	r4, r5, [sp]
	ldrd	r6, r7, [sp, #32]
	ldrd	r10, r11, [sp, #8]
	ldrd	r0, r1, [sp, #16]
	eor.w	r10, r10, r0
	eor.w	r11, r11, r1
	ldr	lr, =sha512_k
3:	ldrd	r8, r9, [r12], #8
	round
	tst	lr, #127
	bne	3b
	b	6f
5:	schedule
	round
	tst	lr, #127
	bne	5b
	@ The array goes back up.
6:	add	r12, sp, #ROOM
	.rept	4
	ldm	sp!, {r0-r3}
	stm	r12!, {r0-r3}
	.endr
	add	sp, #(ROOM - 64)
	@ r12 is at the schedule again.
	ldr	r0, =(sha512_k + 640)
	cmp	lr, r0
	bne	5b
	ldr	r0, [sp, #STATE]
	mov	r12, sp
	movs	r3, #8
7:	ldrd	r4, r5, [r12], #8
	ldrd	r1, r2, [r0]
	adds	r2, r4
	adcs	r1, r5
	strd	r1, r2, [r0], #8
	subs	r3, #1
	bne	7b
	ldr	r0, [sp, #BLOCKS]
	subs	r0, #1
	str	r0, [sp, #BLOCKS]
	bne	1b
	@ All but the arguments, and where the array grew into.
	movs	r1, #0
	movs	r2, #0
	movs	r3, #0
	movs	r4, #0
	sub	sp, #ROOM
	mov	r12, sp
	movs	r0, #((ROOM + STATE) / 16)
8:	stm	r12!, {r1-r4}
	subs	r0, #1
	bne	8b
	add	sp, #(ROOM + STATE + 12)
	pop	{r4-r11, pc}
	.size	ws_sha512_blocks, . - ws_sha512_blocks
	.ltorg
