/*
 * Keccak-f[1600] for ARMv7-M (FIPS 202 section 3), the fast variant, on bit-interleaved lanes (keccak_permutation.h).
 *
 * in:  r0 state.
 * Cycles on Cortex-M4 and M3 without wait states, from the call instruction to the return inclusive: 9273.
 * Stack: 252 bytes. Flash: 6224 bytes and 192 of constants.
 * Clobbers: r0 to r3, r12.
 *
 * Constant flow: no branch and no address depends on the state. The frame is wiped, and registers are the caller's to clear.
 *
 * The idea. Rounds go from the state to a copy on the stack and back. Nothing is turned by an instruction of its own: a word of
 * row y and column x stays in memory as chi leaves it, turned by what rho should have turned it, and everything that
 * reads it, which is an EOR each time, turns it back as it does (A. Adomnicai, "An update on Keccak performance on
 * ARMv7-M", 2023, has this of theta). For that the words of theta's D are turned, too, each by as much as the parities that it is made of
 * (`g` below): so much that every round finds what it leaves. Only the first round, which finds nothing turned, turns D itself,
 * and the last one what it stores.
 *
 * Ten registers have the parities of the columns, and then D in the same places, but for three words of it in memory. What
 * the last row of a round gives stays in those registers and begins the next round's parities. A store is the last of a group of
 * loads, which takes no cycle then for the last one to come.
 */
	.syntax unified
	.thumb

/* The frame: three words of D, where the next round constant is, and the other state. */
#define NEXT 12
#define OTHER 16
#define FRAME (OTHER + 200)

/* steady: 1 but in the first round, where no word is turned. final: 1 in the last round, which leaves none turned. */

/* d = a ^ b, b turned right by n. */
	.macro turned_eor d, a, b, n
	.if (\n) & 31
	eor.w \d, \a, \b, ror #((\n) & 31)
	.else
	eor.w \d, \a, \b
	.endif
	.endm

/* A word of the last row of the round before goes to memory. */
	.macro keep w, base, at
	.if steady
	str.w \w, [\base, \at]
	.endif
	.endm

/* A parity d = a ^ b. */
	.macro add_to d, a, b, n
	turned_eor \d, \a, \b, (\n) * steady
	.endm

/* A word of D of two parities; in the first round, where they need first, turned by last. */
	.macro spread d, a, b, n, first, last
	.if steady
	turned_eor \d, \a, \b, \n
	.else
	turned_eor \d, \a, \b, \first
	.if (\last) & 31
	ror \d, \d, #((\last) & 31)
	.endif
	.endif
	.endm

/* A word w that is turned by f to one that is turned as d is, by g: in w or in d. */
	.macro mix w, d, g, f
	turned_eor \w, \d, \w, \g - \f * steady
	.endm

	.macro mix_into d, w, g, f
	turned_eor \d, \d, \w, \g - \f * steady
	.endm

	.macro put w, base, at, n
	.if final && (\n)
	ror \w, \w, #\n
	.endif
	str.w \w, [\base, #\at]
	.endm

/* Iota, on a word w that is turned by n; p is where the constant before it is. Scratch: c. */
	.macro add_constant w, p, c, n, odd
	.if \odd
	ldr.w \c, [\p, #8]!
	str.w \p, [sp, #NEXT]
	.else
	ldr.w \c, [\p, #4]
	.endif
	turned_eor \w, \w, \c, \n
	.endm

#if WS_TABLE_STRIDE == 8
#include "keccak_round_m7.inc"
#else
/* A round from memory at in + io to memory at out + oo. */
	.macro round in, io, out, oo
	/* Theta, equations 1 and 2: the parities of the columns. The lanes of the last row are in their registers, and go to memory on the way. */
	.ifeq steady
	ldr.w r1, [\in, #\io+160]
	ldr.w r2, [\in, #\io+164]
	ldr.w r3, [\in, #\io+168]
	ldr.w r4, [\in, #\io+172]
	ldr.w r5, [\in, #\io+176]
	ldr.w r6, [\in, #\io+180]
	ldr.w r7, [\in, #\io+184]
	ldr.w r8, [\in, #\io+188]
	ldr.w r9, [\in, #\io+192]
	ldr.w r10, [\in, #\io+196]
	.endif
	ldr.w r11, [\in, #\io+0]
	ldr.w r12, [\in, #\io+40]
	ldr.w lr, [\in, #\io+80]
	keep r1, \in, #\io+160
	add_to r1, r1, r11, 20
	add_to r1, r1, r12, 26
	add_to r1, r1, lr, 9
	ldr.w r11, [\in, #\io+120]
	ldr.w r12, [\in, #\io+4]
	ldr.w lr, [\in, #\io+44]
	keep r2, \in, #\io+164
	add_to r1, r1, r11, 18
	add_to r2, r2, r12, 31
	add_to r2, r2, lr, 28
	ldr.w r11, [\in, #\io+84]
	ldr.w r12, [\in, #\io+124]
	ldr.w lr, [\in, #\io+8]
	keep r3, \in, #\io+168
	add_to r2, r2, r11, 11
	add_to r2, r2, r12, 18
	add_to r3, r3, lr, 7
	ldr.w r11, [\in, #\io+48]
	ldr.w r12, [\in, #\io+88]
	ldr.w lr, [\in, #\io+128]
	add_to r3, r3, r11, 7
	add_to r3, r3, r12, 4
	add_to r3, r3, lr, 10
	ldr.w r11, [\in, #\io+12]
	ldr.w r12, [\in, #\io+52]
	ldr.w lr, [\in, #\io+92]
	keep r4, \in, #\io+172
	add_to r4, r4, r11, 7
	add_to r4, r4, r12, 9
	add_to r4, r4, lr, 25
	ldr.w r11, [\in, #\io+132]
	ldr.w r12, [\in, #\io+16]
	ldr.w lr, [\in, #\io+56]
	keep r5, \in, #\io+176
	add_to r4, r4, r11, 10
	add_to r5, r5, r12, 7
	add_to r5, r5, lr, 27
	ldr.w r11, [\in, #\io+96]
	ldr.w r12, [\in, #\io+136]
	ldr.w lr, [\in, #\io+20]
	keep r6, \in, #\io+180
	add_to r5, r5, r11, 27
	add_to r5, r5, r12, 4
	add_to r6, r6, lr, 20
	ldr.w r11, [\in, #\io+60]
	ldr.w r12, [\in, #\io+100]
	ldr.w lr, [\in, #\io+140]
	add_to r6, r6, r11, 29
	add_to r6, r6, r12, 6
	add_to r6, r6, lr, 15
	ldr.w r11, [\in, #\io+24]
	ldr.w r12, [\in, #\io+64]
	ldr.w lr, [\in, #\io+104]
	keep r7, \in, #\io+184
	add_to r7, r11, r7, 11
	add_to r7, r7, r12, 10
	add_to r7, r7, lr, 28
	ldr.w r11, [\in, #\io+144]
	ldr.w r12, [\in, #\io+28]
	ldr.w lr, [\in, #\io+68]
	keep r8, \in, #\io+188
	add_to r7, r7, r11, 24
	add_to r8, r8, r12, 30
	add_to r8, r8, lr, 31
	ldr.w r11, [\in, #\io+108]
	ldr.w r12, [\in, #\io+148]
	ldr.w lr, [\in, #\io+32]
	keep r9, \in, #\io+192
	add_to r8, r8, r11, 28
	add_to r8, r8, r12, 24
	add_to r9, r9, lr, 14
	ldr.w r11, [\in, #\io+72]
	ldr.w r12, [\in, #\io+112]
	ldr.w lr, [\in, #\io+152]
	add_to r9, r9, r11, 22
	add_to r9, r9, r12, 23
	add_to r9, r9, lr, 24
	ldr.w r11, [\in, #\io+36]
	ldr.w r12, [\in, #\io+76]
	ldr.w lr, [\in, #\io+116]
	keep r10, \in, #\io+196
	add_to r10, r10, r11, 16
	add_to r10, r10, r12, 24
	add_to r10, r10, lr, 23
	ldr.w r11, [\in, #\io+156]
	add_to r10, r10, r11, 15
	/* Theta, equation 3. */
	spread r11, r1, r8, 0, 0, 21
	spread r8, r8, r3, 25, 1, 21
	spread r3, r10, r3, 15, 0, 12
	spread r10, r10, r5, 4, 1, 12
	spread r5, r2, r5, 2, 0, 11
	spread r2, r7, r2, 0, 31, 12
	spread r7, r7, r4, 4, 0, 12
	spread r4, r9, r4, 24, 31, 1
	spread r9, r9, r6, 2, 0, 1
	spread r6, r6, r1, 11, 1, 31
	str.w r3, [sp, #0]
	str.w r6, [sp, #4]
	str.w r8, [sp, #8]
	/* Row 0, even bits. */
	ldr.w r1, [sp, #4]
	ldr.w r12, [\in, #\io+48]
	ldr.w lr, [\in, #\io+0]
	ldr.w r3, [\in, #\io+100]
	ldr.w r6, [\in, #\io+148]
	ldr.w r8, [\in, #\io+192]
	mix r12, r1, 0, 22
	mix lr, r4, 1, 1
	mix r3, r7, 12, 25
	mix r6, r9, 1, 29
	mix r8, r2, 12, 1
	bic.w r1, r6, r3, ror #10
	eor.w r1, r12, r1, ror #10
	put r1, \out, \oo+8, 10
	bic.w r1, r8, r6, ror #7
	eor.w r1, r3, r1, ror #15
	put r1, \out, \oo+16, 30
	bic.w r1, lr, r8, ror #14
	eor.w r1, r6, r1, ror #11
	ldr.w r6, [sp, #NEXT]
	put r1, \out, \oo+24, 20
	bic.w r1, r12, lr, ror #21
	eor.w r8, r8, r1, ror #29
	bic.w r1, r3, r12, ror #12
	eor.w lr, lr, r1, ror #31
	add_constant lr, r6, r12, 1, 0
	/* Row 0, odd bits. */
	ldr.w r12, [sp, #0]
	ldr.w r3, [\in, #\io+4]
	ldr.w r6, [sp, #8]
	ldr.w r1, [\in, #\io+96]
	put r8, \out, \oo+32, 13
	mix r3, r12, 12, 12
	mix r1, r6, 22, 14
	ldr.w r8, [\in, #\io+52]
	ldr.w r12, [\in, #\io+144]
	ldr.w r6, [\in, #\io+196]
	put lr, \out, \oo+0, 31
	mix r8, r5, 11, 31
	mix r12, r10, 13, 20
	mix r6, r11, 21, 12
	bic.w lr, r12, r1, ror #12
	eor.w lr, r8, lr, ror #10
	put lr, \out, \oo+12, 31
	bic.w lr, r6, r12, ror #5
	eor.w lr, r1, lr, ror #15
	put lr, \out, \oo+20, 21
	bic.w lr, r3, r6, ror #16
	eor.w lr, r12, lr, ror #11
	ldr.w r12, [sp, #NEXT]
	put lr, \out, \oo+28, 9
	bic.w lr, r8, r3, ror #21
	eor.w r6, r6, lr, ror #27
	bic.w lr, r1, r8, ror #10
	eor.w r3, r3, lr, ror #1
	add_constant r3, r12, r8, 12, 1
	/* Row 1, even bits. */
	ldr.w r8, [sp, #0]
	ldr.w r1, [\in, #\io+84]
	ldr.w r12, [\in, #\io+24]
	ldr.w lr, [\in, #\io+72]
	put r6, \out, \oo+36, 4
	mix r1, r8, 12, 0
	mix r12, r10, 13, 12
	mix lr, r2, 12, 11
	ldr.w r6, [\in, #\io+132]
	ldr.w r8, [\in, #\io+180]
	put r3, \out, \oo+4, 20
	mix r6, r5, 11, 30
	mix r8, r7, 12, 31
	bic.w r3, r6, r1, ror #20
	eor.w r3, lr, r3, ror #20
	put r3, \out, \oo+48, 10
	bic.w r3, r8, r6, ror #9
	eor.w r3, r1, r3, ror #3
	put r3, \out, \oo+56, 18
	bic.w r3, r12, r8, ror #16
	eor.w r3, r6, r3, ror #7
	put r3, \out, \oo+64, 30
	bic.w r3, lr, r12, ror #27
	eor.w r8, r8, r3, ror #21
	bic.w r3, r1, lr, ror #24
	eor.w r12, r12, r3, ror #13
	/* Row 1, odd bits. */
	ldr.w lr, [sp, #4]
	ldr.w r1, [\in, #\io+128]
	ldr.w r6, [sp, #8]
	ldr.w r3, [\in, #\io+176]
	put r8, \out, \oo+72, 21
	mix r1, lr, 0, 19
	mix r3, r6, 22, 9
	ldr.w r8, [\in, #\io+28]
	ldr.w lr, [\in, #\io+76]
	ldr.w r6, [\in, #\io+80]
	put r12, \out, \oo+40, 5
	mix r8, r9, 1, 23
	mix lr, r11, 21, 20
	mix r6, r4, 1, 12
	bic.w r12, r1, r6, ror #20
	eor.w r12, lr, r12, ror #9
	put r12, \out, \oo+52, 1
	bic.w r12, r3, r1, ror #30
	eor.w r12, r6, r12, ror #14
	put r12, \out, \oo+60, 30
	bic.w r12, r8, r3, ror #27
	eor.w r12, r1, r12, ror #7
	put r12, \out, \oo+68, 10
	bic.w r12, lr, r8, ror #16
	eor.w r3, r3, r12, ror #21
	bic.w r12, r6, lr, ror #3
	eor.w r8, r8, r12, ror #13
	/* Row 2, even bits. */
	ldr.w lr, [sp, #8]
	ldr.w r6, [\in, #\io+56]
	ldr.w r1, [\in, #\io+12]
	ldr.w r12, [\in, #\io+108]
	put r3, \out, \oo+76, 12
	mix r6, lr, 22, 14
	mix r1, r5, 11, 1
	mix r12, r9, 1, 25
	ldr.w r3, [\in, #\io+152]
	ldr.w lr, [\in, #\io+160]
	put r8, \out, \oo+44, 17
	mix r3, r2, 12, 9
	mix lr, r4, 1, 21
	bic.w r8, r3, r12, ror #2
	eor.w r8, r6, r8, ror #9
	put r8, \out, \oo+88, 7
	bic.w r8, lr, r3, ror #26
	eor.w r8, r12, r8, ror #4
	put r8, \out, \oo+96, 18
	bic.w r8, r1, lr, ror #2
	eor.w r8, r3, r8, ror #4
	put r8, \out, \oo+104, 16
	bic.w r8, r6, r1, ror #13
	eor.w lr, lr, r8, ror #17
	bic.w r8, r12, r6, ror #21
	eor.w r1, r1, r8, ror #30
	/* Row 2, odd bits. */
	ldr.w r6, [sp, #4]
	ldr.w r12, [\in, #\io+8]
	ldr.w r3, [sp, #0]
	ldr.w r8, [\in, #\io+164]
	put lr, \out, \oo+112, 22
	mix r12, r6, 0, 22
	mix r8, r3, 12, 11
	ldr.w lr, [\in, #\io+60]
	ldr.w r6, [\in, #\io+104]
	ldr.w r3, [\in, #\io+156]
	put r1, \out, \oo+80, 20
	mix lr, r7, 12, 2
	mix r6, r10, 13, 16
	mix r3, r11, 21, 29
	bic.w r1, r3, r6
	eor.w r1, lr, r1, ror #22
	put r1, \out, \oo+92, 17
	bic.w r1, r8, r3, ror #28
	eor.w r1, r6, r1, ror #4
	put r1, \out, \oo+100, 7
	bic.w r1, r12, r8, ror #11
	eor.w r1, r3, r1, ror #25
	put r1, \out, \oo+108, 7
	bic.w r1, lr, r12, ror #15
	eor.w r8, r8, r1, ror #6
	bic.w r1, r6, lr, ror #10
	eor.w r12, r12, r1, ror #7
	/* Row 3, even bits. */
	ldr.w lr, [sp, #4]
	ldr.w r6, [\in, #\io+88]
	ldr.w r3, [\in, #\io+36]
	ldr.w r1, [\in, #\io+40]
	put r8, \out, \oo+116, 11
	mix r6, lr, 0, 25
	mix r3, r11, 21, 28
	mix r1, r4, 1, 27
	ldr.w r8, [\in, #\io+140]
	ldr.w lr, [\in, #\io+184]
	put r12, \out, \oo+84, 0
	mix r8, r7, 12, 16
	mix lr, r10, 13, 1
	bic.w r12, r8, r6, ror #15
	eor.w r12, r1, r12, ror #31
	put r12, \out, \oo+128, 13
	bic.w r12, lr, r8, ror #21
	eor.w r12, r6, r12, ror #28
	put r12, \out, \oo+136, 27
	bic.w r12, r3, lr, ror #26
	eor.w r12, r8, r12, ror #17
	put r12, \out, \oo+144, 12
	bic.w r12, r1, r3, ror #16
	eor.w lr, lr, r12, ror #22
	bic.w r12, r6, r1, ror #18
	eor.w r3, r3, r12, ror #30
	/* Row 3, odd bits. */
	ldr.w r1, [sp, #0]
	ldr.w r6, [\in, #\io+44]
	ldr.w r8, [sp, #8]
	ldr.w r12, [\in, #\io+136]
	put lr, \out, \oo+152, 23
	mix r6, r1, 12, 15
	mix r12, r8, 22, 5
	ldr.w lr, [\in, #\io+32]
	ldr.w r1, [\in, #\io+92]
	ldr.w r8, [\in, #\io+188]
	put r3, \out, \oo+120, 29
	mix lr, r2, 12, 19
	mix r1, r5, 11, 15
	mix r8, r9, 1, 21
	bic.w r3, r12, r1, ror #13
	eor.w r3, r6, r3, ror #1
	put r3, \out, \oo+132, 2
	bic.w r3, r8, r12
	eor.w r3, r1, r3, ror #19
	put r3, \out, \oo+140, 16
	bic.w r3, lr, r8, ror #28
	eor.w r3, r12, r3, ror #4
	put r3, \out, \oo+148, 3
	bic.w r3, r6, lr, ror #5
	eor.w r8, r8, r3, ror #31
	bic.w r3, r1, r6, ror #18
	eor.w lr, lr, r3, ror #9
	/* The last row: it stays in the registers of its columns, for the parities of the next round. */
	ldr.w r1, [\in, #\io+20]
	ldr.w r12, [\in, #\io+172]
	ldr.w r6, [\in, #\io+64]
	ldr.w r3, [\in, #\io+120]
	put r8, \out, \oo+156, 3
	mix_into r7, r1, 12, 11
	mix r12, r5, 11, 8
	mix r6, r10, 13, 2
	mix r3, r4, 1, 3
	ldr.w r5, [\in, #\io+112]
	put lr, \out, \oo+124, 7
	mix r5, r2, 12, 10
	bic.w lr, r7, r12, ror #31
	eor.w r8, r3, lr, ror #10
	bic.w lr, r6, r7, ror #29
	eor.w r10, r12, lr, ror #4
	bic.w lr, r3, r5, ror #22
	eor.w r4, r6, lr, ror #19
	bic.w lr, r5, r6, ror #23
	eor.w r2, r7, lr, ror #12
	bic.w lr, r12, r3, ror #23
	eor.w r6, r5, lr, ror #19
	ldr.w r7, [sp, #8]
	ldr.w r1, [\in, #\io+16]
	ldr.w lr, [\in, #\io+116]
	ldr.w r3, [\in, #\io+68]
	ldr.w r12, [sp, #4]
	ldr.w r5, [\in, #\io+168]
	mix r1, r7, 22, 2
	mix lr, r11, 21, 21
	mix r3, r9, 1, 22
	mix r5, r12, 0, 29
	ldr.w r12, [sp, #0]
	ldr.w r7, [\in, #\io+124]
	mix_into r12, r7, 12, 25
	bic.w r11, r1, r5, ror #20
	eor.w r7, r12, r11, ror #12
	bic.w r11, r3, r1, ror #8
	eor.w r9, r5, r11, ror #4
	bic.w r11, r5, r12
	eor.w r5, lr, r11, ror #8
	bic.w r11, lr, r3, ror #12
	eor.w r1, r1, r11, ror #12
	bic.w r11, r12, lr, ror #24
	eor.w r3, r3, r11, ror #28
	.if final
	put r1, \out, \oo+160, 11
	put r2, \out, \oo+164, 21
	put r3, \out, \oo+168, 3
	put r4, \out, \oo+172, 24
	put r5, \out, \oo+176, 23
	put r6, \out, \oo+180, 1
	put r7, \out, \oo+184, 31
	put r8, \out, \oo+188, 11
	put r9, \out, \oo+192, 31
	put r10, \out, \oo+196, 20
	.endif
	.endm
#endif

	.section .rodata.ws_keccak_round_constants, "a", %progbits
	.balign 4
	.type ws_keccak_round_constants, %object
ws_keccak_round_constants:
	.word 0x00000001, 0x00000000, 0x00000000, 0x00000089, 0x00000000, 0x8000008b, 0x00000000, 0x80008080
	.word 0x00000001, 0x0000008b, 0x00000001, 0x00008000, 0x00000001, 0x80008088, 0x00000001, 0x80000082
	.word 0x00000000, 0x0000000b, 0x00000000, 0x0000000a, 0x00000001, 0x00008082, 0x00000000, 0x00008003
	.word 0x00000001, 0x0000808b, 0x00000001, 0x8000000b, 0x00000001, 0x8000008a, 0x00000001, 0x80000081
	.word 0x00000000, 0x80000081, 0x00000000, 0x80000008, 0x00000000, 0x00000083, 0x00000000, 0x80008003
	.word 0x00000001, 0x80008088, 0x00000000, 0x80000088, 0x00000001, 0x00008000, 0x00000000, 0x80008082
.Lend:
	.size ws_keccak_round_constants, . - ws_keccak_round_constants

	.section .text.ws_keccak_permute, "ax", %progbits
	.balign 4
	.global ws_keccak_permute
	.type ws_keccak_permute, %function
	.thumb_func
ws_keccak_permute:
	push {r4-r11, lr}
	sub.w sp, sp, #FRAME
	movw r1, #:lower16:(ws_keccak_round_constants - 4)
	movt r1, #:upper16:(ws_keccak_round_constants - 4)
	str.w r1, [sp, #NEXT]
	.set steady, 0
	.set final, 0
	round r0, 0, sp, OTHER
	.set steady, 1
	.balign 4
.Ltwo:
	round sp, OTHER, r0, 0
	round r0, 0, sp, OTHER
	/* Only scratch: the parities are at work. */
	ldr.w r11, [sp, #NEXT]
	movw r12, #:lower16:(.Lend - 12)
	movt r12, #:upper16:(.Lend - 12)
	cmp.w r11, r12
	bne.w .Ltwo
	.set final, 1
	round sp, OTHER, r0, 0

	.irp i, 1, 2, 3, 4, 5, 6, 7, 8, 9
	mov.w r\i, #0
	.endr
	mov r10, sp
	.rept 6
	stm r10!, {r1-r9}
	.endr
	add sp, #FRAME
	pop {r4-r11, pc}
	.size ws_keccak_permute, . - ws_keccak_permute
