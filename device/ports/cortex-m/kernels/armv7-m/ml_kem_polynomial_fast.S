/*
 * Encodings, compression and noise of ML-KEM for ARMv7E-M (FIPS 203 section 4.2; contracts: ml_kem_polynomial.h), the fast variant,
 * with the DSP instructions. Cortex-M3 has none and takes the C file.
 *
 * Stack: 36 bytes at most. Flash: 2896 bytes. Clobbers: r0 to r3, r12. Polynomials are 4-byte aligned, strings of bytes need not be.
 * Cycles on Cortex-M4 without wait states, from the call instruction to the return inclusive:
 *
 * ws_ml_kem_encode 1856, ws_ml_kem_encode_product 1858, ws_ml_kem_decode 64, ws_ml_kem_compress_10 94, ws_ml_kem_compress_4 88,
 * ws_ml_kem_compress_1 1036, ws_ml_kem_decompress_10 1100, ws_ml_kem_decompress_4 894, ws_ml_kem_add_message 907,
 * ws_ml_kem_add_noise 281 of eta 3 and 175 of eta 2.
 *
 * Constant flow: no branch and no address depends on a coefficient or a byte. Registers are the caller's to clear.
 *
 * The idea. Two coefficients are a word, and bytes are read and written as words.
 *
 * Compress_d needs no reduction: SMLAW multiplies a coefficient, of any size, by 2^(d + 32) / q and drops 16 bits, which leaves
 * 2^d / q times it with 16 bits of fraction. Half is added, and the d bits above the fraction are the answer: a coefficient that is larger by q gives
 * 2^d more, which they do not show. All 2^16 coefficients were compared with equation 4.7.
 *
 * Fields of 4 bits are taken from both halves of a word at once, numbers i and i + 4 of it. PKHBT and PKHTB put their
 * results in order.
 */
	.syntax unified
	.thumb

#define Q 3329

	.macro constant d, value
	movw \d, #:lower16:(\value)
	.if (\value) >> 16
	movt \d, #:upper16:(\value)
	.endif
	.endm

/* d = a & (b >> n). */
	.macro and_field d, a, b, n
	.if \n
	and.w \d, \a, \b, lsr #\n
	.else
	and.w \d, \a, \b
	.endif
	.endm

	.macro function name
	.section .text.\name, "ax", %progbits
	.balign 4
	.global \name
	.type \name, %function
	.thumb_func
\name:
	.endm

/* z' of 1 and of 2^16 for Plantard's multiplication (ml_kem_ntt_fast.S). */
	.set ONE, 0x0013afb8
	.set TWO16, 0xafb7680c

/* in: r0 out, r1 coefficients. r3: z'. r2: 8 q. lr: q. r8: q in both halves. r9: 0. r10: end. Scratch: r11, r12. */
/* A word of coefficients times z, each between 0 and q - 1, side by side in 24 bits. */
	.macro residues a
	smulwt r12, r3, \a
	smulwb r11, r3, \a
	smlabb r11, r11, lr, r2
	smlabb r12, r12, lr, r2
	pkhtb \a, r12, r11, asr #16
	sadd16 r11, \a, r9
	sel r11, r9, r8
	uadd16 \a, \a, r11
	lsr.w r11, \a, #16
	bfi \a, r11, #12, #20
	.endm

	function ws_ml_kem_encode_product
	constant r3, TWO16
	b encode
	.size ws_ml_kem_encode_product, . - ws_ml_kem_encode_product

	function ws_ml_kem_encode
	constant r3, ONE
	.type encode, %function
encode:
	push {r4-r11, lr}
	movw lr, #Q
	mov.w r2, #(8 * Q)
	constant r8, Q * 0x10001
	mov.w r9, #0
	add.w r10, r0, #384
	.balign 4
1:	ldm r1!, {r4-r7}
	residues r4
	residues r5
	residues r6
	residues r7
	orr.w r4, r4, r5, lsl #24
	lsrs r5, r5, #8
	orr.w r5, r5, r6, lsl #16
	lsrs r6, r6, #16
	orr.w r6, r6, r7, lsl #8
	str r5, [r0, #4]
	str r6, [r0, #8]
	str r4, [r0], #12
	cmp r0, r10
	bne 1b
	pop {r4-r11, pc}
	.size ws_ml_kem_encode, . - ws_ml_kem_encode

/* in: r0 coefficients, r1 in. Of three words eight coefficients. */
	.macro decode_eight at
	ldr.w r2, [r1, #\at]
	ldr.w r3, [r1, #\at+4]
	ldr.w r12, [r1, #\at+8]
	ubfx r4, r2, #0, #12
	ubfx r5, r2, #12, #12
	orr.w r4, r4, r5, lsl #16
	lsrs r5, r2, #24
	bfi r5, r3, #8, #4
	ubfx r6, r3, #4, #12
	orr.w r5, r5, r6, lsl #16
	ubfx r6, r3, #16, #12
	lsrs r7, r3, #28
	bfi r7, r12, #4, #8
	orr.w r6, r6, r7, lsl #16
	ubfx r7, r12, #8, #12
	lsr.w r2, r12, #20
	orr.w r7, r7, r2, lsl #16
	stm r0!, {r4-r7}
	.endm

	function ws_ml_kem_decode
	push {r4-r7, lr}
	decode_eight 0
	decode_eight 12
	pop {r4-r7, pc}
	.size ws_ml_kem_decode, . - ws_ml_kem_decode

/* in: r0 out, r1 coefficients. r10: 2^42 / q. r11: half. */
/* A word of coefficients to 20 bits. */
	.macro compress_pair a
	smlawb r12, r10, \a, r11
	smlawt lr, r10, \a, r11
	ubfx \a, r12, #16, #10
	lsr.w lr, lr, #16
	bfi \a, lr, #10, #10
	.endm

	function ws_ml_kem_compress_10
	push {r4-r11, lr}
	constant r10, 0x4ebedda0
	mov.w r11, #0x8000
	ldm r1, {r2-r9}
	.irp i, 2, 3, 4, 5, 6, 7, 8, 9
	compress_pair r\i
	.endr
	orr.w r2, r2, r3, lsl #20
	lsrs r3, r3, #12
	orr.w r3, r3, r4, lsl #8
	orr.w r3, r3, r5, lsl #28
	lsrs r5, r5, #4
	orr.w r5, r5, r6, lsl #16
	lsrs r6, r6, #16
	orr.w r6, r6, r7, lsl #4
	orr.w r6, r6, r8, lsl #24
	lsr.w r8, r8, #8
	orr.w r8, r8, r9, lsl #12
	str.w r2, [r0]
	str.w r3, [r0, #4]
	str.w r5, [r0, #8]
	str.w r6, [r0, #12]
	str.w r8, [r0, #16]
	pop {r4-r11, pc}
	.size ws_ml_kem_compress_10, . - ws_ml_kem_compress_10

/* in: r0 out, r1 coefficients. r10: 2^(d + 32) / q. r11: half. */
/* Compressed coefficients of the lower, or the upper, halves of a and b: to both halves of d, which may be a where both of it are done. */
	.macro compress_both half, d, a, b
	smlaw\half r12, r10, \a, r11
	smlaw\half lr, r10, \b, r11
	pkhtb \d, lr, r12, asr #16
	.endm

/* Of four words eight coefficients of 4 bits, in a. Scratch: b. r0: the lowest four bits of both halves. */
	.macro compress_eight a, b, c, d
	compress_both b, r9, \a, \c
	compress_both t, \a, \a, \c
	and.w r9, r9, r2
	and.w \a, \a, r2
	orr.w \a, r9, \a, lsl #4
	compress_both b, r9, \b, \d
	compress_both t, \b, \b, \d
	and.w r9, r9, r2
	and.w \b, \b, r2
	orr.w \a, \a, r9, lsl #8
	orr.w \a, \a, \b, lsl #12
	.endm

	function ws_ml_kem_compress_4
	push {r4-r11, lr}
	constant r10, 0x013afb77
	mov.w r11, #0x8000
	mov.w r2, #0x000f000f
	.irp at, 0, 4
	ldr.w r3, [r1], #4
	ldr.w r4, [r1], #4
	ldr.w r5, [r1], #4
	ldr.w r6, [r1], #4
	compress_eight r3, r4, r5, r6
	str.w r3, [r0, #\at]
	.endr
	pop {r4-r11, pc}
	.size ws_ml_kem_compress_4, . - ws_ml_kem_compress_4

	function ws_ml_kem_compress_1
	push {r4-r11, lr}
	constant r10, 0x00275f6f
	mov.w r11, #0x8000
	add.w r8, r0, #32
	.balign 4
	/* 32 coefficients. A bit enters at the top of its half and is moved down by those that come behind it. */
1:	mov.w r2, #0
	.rept 8
	ldr.w r4, [r1, #32]
	ldr.w r3, [r1], #4
	compress_both b, r5, r3, r4
	compress_both t, r6, r3, r4
	and.w r5, r5, #0x00010001
	and.w r6, r6, #0x00010001
	lsrs r2, r2, #1
	orr.w r2, r2, r5, lsl #15
	lsrs r2, r2, #1
	orr.w r2, r2, r6, lsl #15
	.endr
	adds r1, #32
	str r2, [r0], #4
	cmp r0, r8
	bne 1b
	pop {r4-r11, pc}
	.size ws_ml_kem_compress_1, . - ws_ml_kem_compress_1

/* in: r0 coefficients, r1 in. r10: 64 q. r11: half. A pair of numbers of 10 bits, a and b, to a word in a. */
	.macro decompress_pair a, b
	mla \a, \a, r10, r11
	mla \b, \b, r10, r11
	pkhtb \a, \b, \a, asr #16
	.endm

	function ws_ml_kem_decompress_10
	push {r4-r11, lr}
	constant r10, 64 * Q
	mov.w r11, #0x8000
	add.w lr, r1, #320
	.balign 4
1:	ldr.w r2, [r1], #4
	ldr.w r3, [r1], #4
	ubfx r4, r2, #0, #10
	ubfx r12, r2, #10, #10
	decompress_pair r4, r12
	ubfx r5, r2, #20, #10
	lsr.w r12, r2, #30
	bfi r12, r3, #2, #8
	decompress_pair r5, r12
	ldr.w r2, [r1], #4
	ubfx r6, r3, #8, #10
	ubfx r12, r3, #18, #10
	decompress_pair r6, r12
	lsrs r7, r3, #28
	bfi r7, r2, #4, #6
	ubfx r12, r2, #6, #10
	decompress_pair r7, r12
	stm r0!, {r4-r7}
	ldr.w r3, [r1], #4
	ubfx r4, r2, #16, #10
	lsr.w r12, r2, #26
	ldr.w r2, [r1], #4
	bfi r12, r3, #6, #4
	decompress_pair r4, r12
	ubfx r5, r3, #4, #10
	ubfx r12, r3, #14, #10
	decompress_pair r5, r12
	lsrs r6, r3, #24
	bfi r6, r2, #8, #2
	ubfx r12, r2, #2, #10
	decompress_pair r6, r12
	ubfx r7, r2, #12, #10
	lsr.w r12, r2, #22
	decompress_pair r7, r12
	stm r0!, {r4-r7}
	cmp r1, lr
	bne 1b
	pop {r4-r11, pc}
	.size ws_ml_kem_decompress_10, . - ws_ml_kem_decompress_10

/* Words of fields i and i + 4 of eight, i from 0 to 3, in a, b, c, d, to words of two that follow each other, in a, x, b, y. */
	.macro in_order a, b, c, d, x, y
	pkhbt \x, \c, \d, lsl #16
	pkhtb \y, \d, \c, asr #16
	pkhtb \c, \b, \a, asr #16
	pkhbt \a, \a, \b, lsl #16
	.endm

	function ws_ml_kem_decompress_4
	push {r4-r11, lr}
	movw r10, #Q
	mov.w r11, #0x00080008
	mov.w r8, #0x000f000f
	constant r9, 0x0fff0fff
	add.w lr, r1, #128
	.balign 4
1:	ldr.w r2, [r1], #4
	.irp i, 0, 1, 2, 3
	and_field r12, r8, r2, (4 * \i)
	mla r12, r12, r10, r11
	.if \i == 0
	and.w r4, r9, r12, lsr #4
	.elseif \i == 1
	and.w r7, r9, r12, lsr #4
	.elseif \i == 2
	and.w r6, r9, r12, lsr #4
	.else
	and.w r12, r9, r12, lsr #4
	.endif
	.endr
	in_order r4, r7, r6, r12, r5, r3
	mov r7, r3
	stm r0!, {r4-r7}
	cmp r1, lr
	bne 1b
	pop {r4-r11, pc}
	.size ws_ml_kem_decompress_4, . - ws_ml_kem_decompress_4

	function ws_ml_kem_add_message
	push {r4-r11, lr}
	add.w lr, r1, #32
	mov.w r10, #0x00010001
	movw r11, #((Q + 1) / 2)
	.balign 4
	/* Bits i and i + 16 of a word at once. */
1:	ldr.w r2, [r1], #4
	.irp i, 0, 2, 4, 6, 8, 10, 12, 14
	and_field r3, r10, r2, \i
	and_field r4, r10, r2, (\i + 1)
	mul r3, r3, r11
	mul r4, r4, r11
	ldr.w r6, [r0, #32]
	ldr.w r5, [r0]
	pkhbt r7, r3, r4, lsl #16
	pkhtb r4, r4, r3, asr #16
	uadd16 r6, r6, r4
	uadd16 r5, r5, r7
	str.w r6, [r0, #32]
	str.w r5, [r0], #4
	.endr
	adds r0, #32
	cmp r1, lr
	bne 1b
	pop {r4-r11, pc}
	.size ws_ml_kem_add_message, . - ws_ml_kem_add_message

/* in: r0 coefficients, r1 in, r2 eta. */
	function ws_ml_kem_add_noise
	push {r4-r11, lr}
	cmp r2, #3
	beq 3f

	mov.w r2, #0x55555555
	mov.w r3, #0x33333333
	mov.w r8, #0x000f000f
	mov.w r9, #0x00040004
	.rept 4
	/* Sums of two bits in two bits, and of them, differences in four, with 4 added: eight. */
	ldr.w r10, [r1], #4
	and.w r11, r2, r10
	and.w r10, r2, r10, lsr #1
	add.w r10, r10, r11
	and.w r11, r3, r10
	and.w r10, r3, r10, lsr #2
	sub.w r10, r11, r10
	add.w r10, r10, #0x44444444
	ldm r0, {r4-r7}
	and.w r11, r8, r10
	and.w r12, r8, r10, lsr #4
	pkhbt lr, r11, r12, lsl #16
	pkhtb r12, r12, r11, asr #16
	uadd16 r4, r4, lr
	uadd16 r6, r6, r12
	and.w r11, r8, r10, lsr #8
	and.w r12, r8, r10, lsr #12
	pkhbt lr, r11, r12, lsl #16
	pkhtb r12, r12, r11, asr #16
	uadd16 r5, r5, lr
	uadd16 r7, r7, r12
	usub16 r4, r4, r9
	usub16 r5, r5, r9
	usub16 r6, r6, r9
	usub16 r7, r7, r9
	stm r0!, {r4-r7}
	.endr
	pop {r4-r11, pc}

3:	constant r2, 0x00249249
	constant r3, 0x001c71c7
	constant r8, 0x00104104
	mov.w r9, #0x00040004
	add.w r7, r0, #64
	.balign 4
1:	ldr.w r4, [r1], #4
	ldr.w r5, [r1], #4
	ldr.w r6, [r1], #4
	.irp i, 0, 1, 2, 3
	.if \i == 0
	mov lr, r4
	.elseif \i == 1
	lsr.w lr, r4, #24
	orr.w lr, lr, r5, lsl #8
	.elseif \i == 2
	lsr.w lr, r5, #16
	orr.w lr, lr, r6, lsl #16
	.else
	lsr.w lr, r6, #8
	.endif
	/* Sums of three bits in three bits, and of them, differences in six, with 4 added: four. */
	and.w r10, r2, lr
	and.w r11, r2, lr, lsr #1
	and.w lr, r2, lr, lsr #2
	add.w r10, r10, r11
	add.w r10, r10, lr
	and.w r11, r3, r10
	and.w r10, r3, r10, lsr #3
	sub.w r12, r8, r10
	add.w r12, r12, r11
	ldrd r10, r11, [r0]
	usub16 r10, r10, r9
	usub16 r11, r11, r9
	ubfx lr, r12, #0, #6
	uadd16 r10, r10, lr
	ubfx lr, r12, #6, #6
	add.w r10, r10, lr, lsl #16
	ubfx lr, r12, #12, #6
	uadd16 r11, r11, lr
	lsr.w lr, r12, #18
	add.w r11, r11, lr, lsl #16
	strd r10, r11, [r0], #8
	.endr
	cmp r0, r7
	bne 1b
	pop {r4-r11, pc}
	.size ws_ml_kem_add_noise, . - ws_ml_kem_add_noise
