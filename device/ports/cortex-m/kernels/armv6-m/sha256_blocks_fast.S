@ SHA-256's compression function for ARMv6-M (Cortex-M0): sha256.h's ws_sha256_blocks
@ (FIPS 180-4, 6.2.2).
@
@ Constant time: nothing depends on the data but the data; one branch depends on whether
@ `data` is 4-byte aligned, which costs nothing then. The round constants are public and
@ stay in flash.
@
@ Two passes over a message schedule of 64 words on the stack: one makes it, the other
@ takes it off, a word a round, by pop, which spares a pointer. Of the working variables a
@ and e, which every sum needs, stay in low registers; b, c, d and f, g, h are in
@ high ones and take turns by name, so that a round moves but one of each three: three
@ rounds a turn, and one before the first.

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

@ Copies the message block at r1 to r0, big-endian words to this processor's; moves r0 and
@ r1 by 64. Clobbers r2-r6.
.macro	copy_block
	lsls	r2, r1, #30
	bne	8f
	.rept	4
	ldmia	r1!, {r2-r5}
	rev	r2, r2
	rev	r3, r3
	rev	r4, r4
	rev	r5, r5
	stmia	r0!, {r2-r5}
	.endr
	b	9f
8:	movs	r6, #16
7:	ldrb	r2, [r1]
	.irp	n, 1, 2, 3
	lsls	r2, r2, #8
	ldrb	r3, [r1, #\n]
	orrs	r2, r3
	.endr
	adds	r1, #4
	stmia	r0!, {r2}
	subs	r6, #1
	bne	7b
9:
.endm

@ Adds to w, the word 16 rounds back, what makes it the next word, and stores it. r0 points
@ 4n bytes short of the word 16 rounds back; w15 gets the word 15 rounds back, the next
@ word's w. r4, r5, r6 = 11, 7, 2. Clobbers r3, r7. 25 cycles.
.macro	schedule_word n, w, w15
	ldr	\w15, [r0, #4 * \n + 4]
	mov	r3, \w15
	rors	r3, r4
	eors	r3, \w15
	rors	r3, r5
	lsrs	r7, \w15, #3
	eors	r3, r7
	adds	\w, \w, r3
	ldr	r3, [r0, #4 * \n + 36]
	adds	\w, \w, r3
	ldr	r3, [r0, #4 * \n + 56]
	mov	r7, r3
	rors	r7, r6
	eors	r7, r3
	movs	r6, #17
	rors	r7, r6
	movs	r6, #2
	lsrs	r3, r3, #10
	eors	r7, r3
	adds	\w, \w, r7
	str	\w, [r0, #4 * \n + 64]
.endm

@ A round: a in r4, e in r5, b ^ c in r7, the round constant at r6, r3 = 11. h becomes f,
@ d becomes b; of the others the caller changes the names. The sums are written
@ ((x ror i ^ x) ror j ^ x) ror k, with 11 in both; Maj(a, b, c) = ((a ^ b) & (b ^ c)) ^ b.
@ 41 cycles.
.macro	round b, c, d, f, g, h
	pop	{r0}
	ldmia	r6!, {r1}
	adds	r0, r0, r1
	add	r0, \h
	mov	r1, r5
	movs	r2, #13
	rors	r1, r2
	eors	r1, r5
	movs	r2, #14
	rors	r1, r2
	eors	r1, r5
	rors	r1, r3
	adds	r0, r0, r1
	mov	r1, \f
	mov	r2, \g
	eors	r1, r2
	ands	r1, r5
	eors	r1, r2
	adds	r0, r0, r1
	mov	\h, r5
	mov	r5, \d
	adds	r5, r5, r0
	mov	\d, r4
	mov	r2, \b
	mov	r1, r4
	eors	r1, r2
	ands	r7, r1
	eors	r7, r2
	adds	r0, r0, r7
	mov	r7, r1
	mov	r1, r4
	movs	r2, #9
	rors	r1, r2
	eors	r1, r4
	rors	r1, r3
	eors	r1, r4
	movs	r2, #2
	rors	r1, r2
	adds	r4, r0, r1
.endm

@ The state's word at r0 += x; moves r0 by 4.
.macro	add_to_state x
	ldr	r1, [r0]
	add	r1, \x
	stmia	r0!, {r1}
.endm

@ void ws_sha256_blocks(uint32_t state[8], const uint8_t *data, size_t blocks)
@ In: r0 state (4-byte aligned), r1 data (any alignment), r2 blocks. Out: none.
@ Clobbers r0-r3, r12, flags. Stack: 304 bytes; the message schedule in there is
@ overwritten before the return.
@ Cycles without wait states, call included, data aligned: 4,158
@ a block and 131 besides.
	.section .text.ws_sha256_blocks, "ax", %progbits
	.balign	4
	.global	ws_sha256_blocks
	.type	ws_sha256_blocks, %function
	.thumb_func
ws_sha256_blocks:
	cmp	r2, #0
	bne	1f
	bx	lr
1:	push	{r4-r7, lr}
	mov	r4, r8
	mov	r5, r9
	mov	r6, r10
	mov	r7, r11
	push	{r4-r7}
	push	{r0, r1, r2}
.Lblock:
	ldr	r1, [sp, #4]
	sub	sp, #256
	mov	r0, sp
	copy_block
	str	r1, [sp, #260]
	mov	r0, sp
	adds	r1, r0, #0
	adds	r1, #192
	mov	r8, r1
	movs	r4, #11
	movs	r5, #7
	movs	r6, #2
	ldr	r1, [r0]
2:	schedule_word 0, r1, r2
	schedule_word 1, r2, r1
	schedule_word 2, r1, r2
	schedule_word 3, r2, r1
	adds	r0, #16
	cmp	r0, r8
	bne	2b

	ldr	r0, [sp, #256]
	ldmia	r0!, {r4}
	ldmia	r0!, {r1, r2, r3, r5, r6, r7}
	mov	r8, r1
	mov	r9, r2
	mov	r10, r3
	mov	r11, r6
	mov	r12, r7
	ldr	r3, [r0]
	mov	lr, r3
	movs	r7, #0
	eors	r7, r1
	eors	r7, r2
	movs	r3, #11
	ldr	r6, =sha256_k
	round	r8, r9, r10, r11, r12, lr
3:	round	r10, r8, r9, lr, r11, r12
	round	r9, r10, r8, r12, lr, r11
	round	r8, r9, r10, r11, r12, lr
	ldr	r1, =sha256_k + 256
	cmp	r6, r1
	bne	3b

	ldr	r0, [sp]
	add_to_state r4
	add_to_state r10
	add_to_state r8
	add_to_state r9
	add_to_state r5
	add_to_state lr
	add_to_state r11
	add_to_state r12
	ldr	r0, [sp, #8]
	subs	r0, #1
	str	r0, [sp, #8]
	beq	4f
	b	.Lblock

4:	sub	sp, #256
	mov	r0, sp
	movs	r1, #0
	movs	r2, #0
	movs	r3, #0
	movs	r4, #0
	.rept	16
	stmia	r0!, {r1-r4}
	.endr
	add	sp, #268
	pop	{r4-r7}
	mov	r8, r4
	mov	r9, r5
	mov	r10, r6
	mov	r11, r7
	pop	{r4-r7, pc}
	.balign	4
	.ltorg
	.size	ws_sha256_blocks, . - ws_sha256_blocks
