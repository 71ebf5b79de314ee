@ SHA-256's compression function for ARMv7-M (Cortex-M3, M4 and M7): sha256.h's
@ ws_sha256_blocks (FIPS 180-4, 6.2.2).
@
@ Constant time: nothing depends on the data but the data. The round constants are public
@ and stay in flash.
@
@ Eight rounds a turn, so that the working variables return to their registers without
@ moves; a turn of the rounds from 16 on takes less than 1 kB, what the flash accelerator
@ of an STM32F4 holds. The message schedule grows downwards on the stack, 32 bytes a
@ turn: so each turn finds the words of the two turns before at fixed distances above
@ sp, and all of it is above sp when an interrupt comes.

	.syntax unified
	.thumb

	.section .rodata.ws_sha256_k, "a", %progbits
	.balign	4
	.type	sha256_k, %object
sha256_k:
	.word	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5
	.word	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174
	.word	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da
	.word	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967
	.word	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85
	.word	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070
	.word	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3
	.word	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
	.size	sha256_k, . - sha256_k

@ What is left of a round when Ch(e, f, g) has been added to h: its word and constant are in
@ w and r1. bc = b ^ c on entry; on exit ab = a ^ b, the next round's bc.
@ Maj(a, b, c) = ((a ^ b) & (b ^ c)) ^ b. The sums' last rotation is taken in the addition.
.macro	finish_round a, b, d, e, h, w, bc, ab
	eor.w	\ab, \e, \e, ror #5
	add.w	\h, \h, \w
	eor.w	\ab, \ab, \e, ror #19
	add.w	\h, \h, r1
	eor.w	r1, \a, \a, ror #11
	add.w	\h, \h, \ab, ror #6
	eor.w	\ab, \a, \b
	eor.w	r1, r1, \a, ror #20
	and.w	\bc, \bc, \ab
	add.w	\d, \d, \h
	eor.w	\bc, \bc, \b
	add.w	\h, \h, r1, ror #2
	add.w	\h, \h, \bc
.endm

@ Round i of a turn, i = 0 to 7, its word the next of the message at r0.
.macro	message_round i, a, b, c, d, e, f, g, h, bc, ab
	eor.w	\ab, \f, \g
	and.w	\ab, \ab, \e
	ldr	r2, [r0, #4 * \i]
	ldr.w	r1, [r12, #4 * \i]
	eor.w	\ab, \ab, \g
	rev	r2, r2
	add.w	\h, \h, \ab
	str	r2, [sp, #4 * \i]
	finish_round \a, \b, \d, \e, \h, r2, \bc, \ab
.endm

@ Round i of a turn. In w: the word 16 rounds back; out: this round's. w15 gets the word
@ 15 rounds back, the next round's w. The word 16 rounds back is overwritten on the stack;
@ before a group of loads a store takes no time of its own. Ch and the schedule take turns,
@ so that Cortex-M7 finds two instructions to issue together.
.macro	schedule_round i, a, b, c, d, e, f, g, h, bc, ab, w, w15
	str.w	r12, [sp, #64 + 4 * \i]
	.if	\i < 7
	ldr	\w15, [sp, #64 + 4 * (\i + 1)]
	.else
	ldr	\w15, [sp, #32]
	.endif
	.if	\i < 2
	ldr	r1, [sp, #32 + 4 * (\i + 6)]
	.else
	ldr	r1, [sp, #4 * (\i - 2)]
	.endif
	.if	\i < 7
	ldr.w	\ab, [sp, #32 + 4 * (\i + 1)]
	.else
	ldr.w	\ab, [sp]
	.endif
	add.w	\w, \w, \ab
	ror.w	\ab, r1, #17
	eor.w	\ab, \ab, r1, ror #19
	eor.w	\ab, \ab, r1, lsr #10
	eor.w	r1, \f, \g
	add.w	\w, \w, \ab
	ror.w	\ab, \w15, #7
	and.w	r1, r1, \e
	eor.w	\ab, \ab, \w15, ror #18
	eor.w	r1, r1, \g
	eor.w	\ab, \ab, \w15, lsr #3
	add.w	\h, \h, r1
	add.w	\w, \w, \ab
	str	\w, [sp, #4 * \i]
	ldr.w	r1, [r12, #4 * \i]
	finish_round \a, \b, \d, \e, \h, \w, \bc, \ab
.endm

@ Goes back to `to` unless r12 has come to the constant number n.
.macro	until_constant n, to
	movw	r1, #:lower16:sha256_k + 4 * \n - 32
	movt	r1, #:upper16:sha256_k + 4 * \n - 32
	cmp	r12, r1
	bne.w	\to
.endm

@ void ws_sha256_blocks(uint32_t state[8], const uint8_t *data, size_t blocks)
@ In: r0 state (4-byte aligned), r1 data (any alignment), r2 blocks. Out: none.
@ Clobbers r0-r3, r12, flags. Stack: 308 bytes; the message schedule in there is
@ overwritten before the return.
@ Cycles on Cortex-M3 and M4 without wait states, call included: 1,990 a block and 65
@ besides.
	.section .text.ws_sha256_blocks, "ax", %progbits
	.balign	4
	.global	ws_sha256_blocks
	.type	ws_sha256_blocks, %function
	.thumb_func
ws_sha256_blocks:
	cbnz	r2, 1f
	bx	lr
1:	push.w	{r0-r11, lr}
	ldmia.w	r0, {r4-r11}
	mov	r0, r1
.Lblock:
	movw	r12, #:lower16:sha256_k - 32
	movt	r12, #:upper16:sha256_k - 32
	eor.w	r3, r5, r6
	.balign	4
1:	sub	sp, sp, #32
	add.w	r12, r12, #32
	message_round 0, r4, r5, r6, r7, r8, r9, r10, r11, r3, lr
	message_round 1, r11, r4, r5, r6, r7, r8, r9, r10, lr, r3
	message_round 2, r10, r11, r4, r5, r6, r7, r8, r9, r3, lr
	message_round 3, r9, r10, r11, r4, r5, r6, r7, r8, lr, r3
	message_round 4, r8, r9, r10, r11, r4, r5, r6, r7, r3, lr
	message_round 5, r7, r8, r9, r10, r11, r4, r5, r6, lr, r3
	message_round 6, r6, r7, r8, r9, r10, r11, r4, r5, r3, lr
	message_round 7, r5, r6, r7, r8, r9, r10, r11, r4, lr, r3
	adds	r0, #32
	until_constant 16, 1b
	str	r0, [sp, #68]
	ldr	r0, [sp, #32]
	.balign	4
2:	sub	sp, sp, #32
	add.w	r12, r12, #32
	schedule_round 0, r4, r5, r6, r7, r8, r9, r10, r11, r3, lr, r0, r2
	schedule_round 1, r11, r4, r5, r6, r7, r8, r9, r10, lr, r3, r2, r0
	schedule_round 2, r10, r11, r4, r5, r6, r7, r8, r9, r3, lr, r0, r2
	schedule_round 3, r9, r10, r11, r4, r5, r6, r7, r8, lr, r3, r2, r0
	schedule_round 4, r8, r9, r10, r11, r4, r5, r6, r7, r3, lr, r0, r2
	schedule_round 5, r7, r8, r9, r10, r11, r4, r5, r6, lr, r3, r2, r0
	schedule_round 6, r6, r7, r8, r9, r10, r11, r4, r5, r3, lr, r0, r2
	schedule_round 7, r5, r6, r7, r8, r9, r10, r11, r4, lr, r3, r2, r0
	until_constant 64, 2b

	ldr	r12, [sp, #256]
	ldr.w	r0, [r12]
	ldr.w	r1, [r12, #4]
	ldr.w	r2, [r12, #8]
	ldr.w	r3, [r12, #12]
	add	r4, r4, r0
	add	r5, r5, r1
	add	r6, r6, r2
	add	r7, r7, r3
	ldr.w	r0, [r12, #16]
	ldr.w	r1, [r12, #20]
	ldr.w	r2, [r12, #24]
	ldr.w	r3, [r12, #28]
	add	r8, r8, r0
	add	r9, r9, r1
	add	r10, r10, r2
	add	r11, r11, r3
	stmia.w	r12, {r4-r11}
	ldr	r1, [sp, #264]
	ldr	r0, [sp, #260]
	subs	r1, r1, #1
	str	r1, [sp, #264]
	beq	3f
	add	sp, sp, #256
	b.w	.Lblock
3:	mov.w	r4, #0
	mov.w	r5, #0
	mov.w	r6, #0
	mov.w	r7, #0
	mov.w	r8, #0
	mov.w	r9, #0
	mov.w	r10, #0
	mov.w	r11, #0
	stmia.w	sp!, {r4-r11}
	stmia.w	sp!, {r4-r11}
	add	sp, sp, #208
	pop.w	{r4-r11, pc}
	.size	ws_sha256_blocks, . - ws_sha256_blocks
