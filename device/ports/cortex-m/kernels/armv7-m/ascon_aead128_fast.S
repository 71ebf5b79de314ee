/*
 * Ascon-AEAD128 for ARMv7-M (NIST SP 800-232 section 4), the fast variant (contracts:
 * ascon_aead128.h).
 *
 * Cycles with 16 bytes of associated data and 16 of message, without wait states, from the call
 * instruction to the return inclusive: ws_ascon_aead128_seal 3282 on Cortex-M4 and M3, 2015 on M7,
 * ws_ascon_aead128_open 3415 and 2091.
 * Stack: 132 bytes, of which those with secrets are wiped. Flash: 1160 bytes to seal, 1888 to open
 * and 2052 for both, beside the rounds. Clobbers: r0-r3, r12, which are cleared.
 *
 * Constant flow: branches and addresses depend on the lengths, and where ws_ascon_aead128_open has
 * compared the tags on whether they are the same.
 *
 * The idea. The state stays in registers, interleaved, from the key to the tag: r0 to r4 have the
 * even bits of S0 to S4, r5 to r9 their odd ones (ascon_rounds.inc). Only what comes in or
 * goes out is turned into it or back (ascon_interleave.inc), and the key once. The pointers advance
 * where they lie on the stack.
 */
#include "ascon_interleave.inc"

	.syntax unified
	.thumb

#include "ascon_rounds.inc"

/* The frame: bytes of a block; the interleaved key; where ws_ascon_aead128_open begins again; r0 to
   r11 and lr, of which the first four are arguments; the others. */
	.set BLOCK, 0
	.set KEY, 16
	.set BEGUN, 32
	.set FRAME, 72
	.set NONCE, FRAME + 4
	.set AAD, FRAME + 8
	.set AAD_LEN, FRAME + 12
	.set IN, FRAME + 52
	.set LEN, FRAME + 56
	.set OUT, FRAME + 60
	.set TAG, FRAME + 64
/* Values that ws_ascon_aead128_open has in place of arguments that it has used: 0, and 1 once the
   tag is right; the rest of the ciphertext. */
	.set RIGHT, NONCE
	.set REST, AAD
	.set REST_LEN, AAD_LEN

	.section .text.ws_ascon_aead128, "ax", %progbits

/* S0 and S1 take up 16 bytes. in: r10: where they are. Clobbers r10-r12, lr. */
	.balign 4
	.type absorb, %function
	.thumb_func
absorb:
	push	{lr}
	mov	lr, r10
	ldr	r10, [lr]
	ldr	r11, [lr, #4]
	interleave	r10, r11, r12
	eor	r0, r0, r10
	eor	r5, r5, r11
	ldr	r10, [lr, #8]
	ldr	r11, [lr, #12]
	interleave	r10, r11, r12
	eor	r1, r1, r10
	eor	r6, r6, r11
	ldr	pc, [sp], #4
	.size absorb, . - absorb

/* Gives the bytes of S0 and S1. in: r10: where to. Clobbers r10-r12, lr. */
	.balign 4
	.type give, %function
	.thumb_func
give:
	push	{lr}
	mov	lr, r10
	mov	r10, r0
	mov	r11, r5
	restore	r10, r11, r12
	str	r10, [lr]
	str	r11, [lr, #4]
	mov	r10, r1
	mov	r11, r6
	restore	r10, r11, r12
	str	r10, [lr, #8]
	str	r11, [lr, #12]
	ldr	pc, [sp], #4
	.size give, . - give

/* S0 and S1 take up fewer than 16 bytes and the bit behind them (section 2.1). in: r10: how many,
   not 0; r11: the frame's block; r12: where they are. Clobbers r10-r12, lr. */
	.balign 4
	.type absorb_last, %function
	.thumb_func
absorb_last:
	push	{lr}
	mov	lr, #0
	str	lr, [r11]
	str	lr, [r11, #4]
	str	lr, [r11, #8]
	str	lr, [r11, #12]
	mov	lr, #1
	strb	lr, [r11, r10]
1:	subs	r10, #1
	ldrb	lr, [r12, r10]
	strb	lr, [r11, r10]
	bne	1b
	mov	r10, r11
	bl	absorb
	ldr	pc, [sp], #4
	.size absorb_last, . - absorb_last

/* XORs the key into two words. Clobbers r10, r11. `below`: bytes on the stack below the frame. */
	.macro add_key even, odd, even2, odd2, below=4
	ldr	r10, [sp, #\below + KEY]
	ldr	r11, [sp, #\below + KEY + 4]
	eor	\even, \even, r10
	eor	\odd, \odd, r11
	ldr	r10, [sp, #\below + KEY + 8]
	ldr	r11, [sp, #\below + KEY + 12]
	eor	\even2, \even2, r10
	eor	\odd2, \odd2, r11
	.endm

/* Steps 1 and 2 of section 4.1.1, figure 1: initialisation and associated data. in: the frame, its
   key and nonce in r0 and r1, too. out: the state; the key in the frame. Clobbers r10-r12, lr. */
	.balign 4
	.type begin, %function
	.thumb_func
begin:
	push	{lr}
	mov	r10, r0
	mov	r11, r1
	ldr	r1, [r10]
	ldr	r6, [r10, #4]
	ldr	r2, [r10, #8]
	ldr	r7, [r10, #12]
	ldr	r3, [r11]
	ldr	r8, [r11, #4]
	ldr	r4, [r11, #8]
	ldr	r9, [r11, #12]
	interleave	r1, r6, r12, r2, r7, lr
	str	r1, [sp, #4 + KEY]
	str	r6, [sp, #4 + KEY + 4]
	str	r2, [sp, #4 + KEY + 8]
	str	r7, [sp, #4 + KEY + 12]
	interleave	r3, r8, r12, r4, r9, lr
/* Table 14: 0x00001000808c0001. */
	movw	r0, #0x0201
	movt	r0, #0x0040
	movw	r5, #0x8a00
	bl	rounds_12
	add_key	r3, r8, r4, r9

	ldr	r10, [sp, #4 + AAD_LEN]
	cmp	r10, #0
	beq	5f
1:	subs	r11, r10, #16
	blo	2f
	str	r11, [sp, #4 + AAD_LEN]
	ldr	r10, [sp, #4 + AAD]
	add	r11, r10, #16
	str	r11, [sp, #4 + AAD]
	bl	absorb
	bl	rounds_8
	ldr	r10, [sp, #4 + AAD_LEN]
	b	1b
2:	cmp	r10, #0
	beq	3f
	ldr	r12, [sp, #4 + AAD]
	add	r11, sp, #4 + BLOCK
	bl	absorb_last
	b	4f
3:	eor	r0, r0, #1
4:	bl	rounds_8
/* Domain separation: the last bit of the state. */
5:	eor	r9, r9, #0x80000000
	ldr	pc, [sp], #4
	.size begin, . - begin

/* Step 4, finalisation. out: the tag in S0 and S1. Clobbers all else of the state, r10-r12, lr. */
	.balign 4
	.type finish, %function
	.thumb_func
finish:
	push	{lr}
	add_key	r2, r7, r3, r8
	bl	rounds_12
	mov	r0, r3
	mov	r5, r8
	mov	r1, r4
	mov	r6, r9
	add_key	r0, r5, r1, r6
	ldr	pc, [sp], #4
	.size finish, . - finish

/* void ws_ascon_aead128_seal(key, nonce, aad, aad_len, in, len, out, tag). */
	.section .text.ws_ascon_aead128_seal, "ax", %progbits
	.balign 4
	.global ws_ascon_aead128_seal
	.type ws_ascon_aead128_seal, %function
	.thumb_func
ws_ascon_aead128_seal:
	push	{r0-r11, lr}
	sub	sp, #FRAME
	bl	begin
	ldr	r10, [sp, #LEN]
1:	subs	r11, r10, #16
	blo	2f
	str	r11, [sp, #LEN]
	ldr	r10, [sp, #IN]
	add	r11, r10, #16
	str	r11, [sp, #IN]
	bl	absorb
	ldr	r10, [sp, #OUT]
	add	r11, r10, #16
	str	r11, [sp, #OUT]
	bl	give
	bl	rounds_8
	ldr	r10, [sp, #LEN]
	b	1b
2:	cmp	r10, #0
	beq	4f
	ldr	r12, [sp, #IN]
	add	r11, sp, #BLOCK
	bl	absorb_last
	add	r10, sp, #BLOCK
	bl	give
	ldr	r10, [sp, #LEN]
	ldr	r12, [sp, #OUT]
3:	subs	r10, #1
	ldrb	r11, [sp, r10]
	strb	r11, [r12, r10]
	bne	3b
	b	5f
4:	eor	r0, r0, #1
5:	bl	finish
	ldr	r10, [sp, #TAG]
	bl	give
	movs	r0, #0
	movs	r1, #0
	movs	r2, #0
	movs	r3, #0
	mov	r12, r0
	strd	r0, r1, [sp, #BLOCK]
	strd	r2, r3, [sp, #BLOCK + 8]
	strd	r0, r1, [sp, #KEY]
	strd	r2, r3, [sp, #KEY + 8]
	add	sp, #FRAME + 16
	pop	{r4-r11, pc}
	.size ws_ascon_aead128_seal, . - ws_ascon_aead128_seal

/* int ws_ascon_aead128_open(key, nonce, aad, aad_len, in, len, tag, out). */
	.section .text.ws_ascon_aead128_open, "ax", %progbits
	.set EXPECTED, OUT
	.set PLAIN, TAG
	.balign 4
	.global ws_ascon_aead128_open
	.type ws_ascon_aead128_open, %function
	.thumb_func
ws_ascon_aead128_open:
	push	{r0-r11, lr}
	sub	sp, #FRAME
	bl	begin
	add	r10, sp, #BEGUN
	stm	r10, {r0-r9}
	mov	r10, #0
	str	r10, [sp, #RIGHT]
/* Once for the tag, and once for the plaintext. */
1:	ldr	r10, [sp, #IN]
	str	r10, [sp, #REST]
	ldr	r10, [sp, #LEN]
	b	4f
2:	ldr	r12, [sp, #RIGHT]
	str	r11, [sp, #REST_LEN]
	ldr	lr, [sp, #REST]
	add	r11, lr, #16
	str	r11, [sp, #REST]
	cmp	r12, #0
	bne	5f
	ldr	r0, [lr]
	ldr	r5, [lr, #4]
	ldr	r1, [lr, #8]
	ldr	r6, [lr, #12]
	interleave	r0, r5, r10, r1, r6, r11
3:	bl	rounds_8
	ldr	r10, [sp, #REST_LEN]
4:	subs	r11, r10, #16
	bhs	2b
	str	r10, [sp, #REST_LEN]
	cmp	r10, #0
	bne	6f
/* No bytes are left. */
	ldr	r12, [sp, #RIGHT]
	cmp	r12, #0
	bne	10f
	eor	r0, r0, #1
	b	9f

/* A block of plaintext: what the ciphertext changes in the state. */
	.macro plain even, odd, at
	ldr	r10, [lr, #\at]
	ldr	r11, [lr, #\at + 4]
	interleave	r10, r11, r12
	eor	\even, \even, r10
	eor	\odd, \odd, r11
	restore	\even, \odd, r12
	ldr	r12, [sp, #PLAIN]
	str	\even, [r12, #\at]
	str	\odd, [r12, #\at + 4]
	mov	\even, r10
	mov	\odd, r11
	.endm
5:	plain	r0, r5, 0
	plain	r1, r6, 8
	add	r12, #16
	str	r12, [sp, #PLAIN]
	ldr	r10, [sp, #REST_LEN]
	cmp	r10, #0
	bne	3b
	b	10f

/* The last bytes. */
6:	add	r10, sp, #BLOCK
	bl	give
	ldr	r10, [sp, #REST_LEN]
	ldr	r12, [sp, #REST]
7:	subs	r10, #1
	ldrb	r11, [sp, r10]
	ldrb	lr, [r12, r10]
	eor	r11, r11, lr
	strb	r11, [sp, r10]
	bne	7b
	ldr	r10, [sp, #REST_LEN]
	ldr	r11, [sp, #RIGHT]
	cmp	r11, #0
	bne	8f
/* Behind them in the block a bit and zeros. */
	mov	r11, #1
11:	strb	r11, [sp, r10]
	mov	r11, #0
	adds	r10, #1
	cmp	r10, #16
	bne	11b
	add	r10, sp, #BLOCK
	bl	absorb
	b	9f
8:	ldr	r12, [sp, #PLAIN]
	subs	r10, #1
	ldrb	r11, [sp, r10]
	strb	r11, [r12, r10]
	bne	8b
	b	10f

9:	bl	finish
	add	r10, sp, #BLOCK
	bl	give
	ldr	r10, [sp, #EXPECTED]
	ldr	r0, [sp, #BLOCK]
	ldr	r1, [sp, #BLOCK + 4]
	ldr	r2, [sp, #BLOCK + 8]
	ldr	r3, [sp, #BLOCK + 12]
	ldr	r4, [r10]
	ldr	r5, [r10, #4]
	ldr	r6, [r10, #8]
	ldr	r7, [r10, #12]
	eors	r0, r4
	eors	r1, r5
	eors	r2, r6
	eors	r3, r7
	orrs	r0, r1
	orrs	r2, r3
	orrs	r0, r2
	bne	10f @ The tags differ.
	mov	r10, #1
	str	r10, [sp, #RIGHT]
	add	r10, sp, #BEGUN
	ldm	r10, {r0-r9}
	b	1b

10:	ldr	r10, [sp, #RIGHT]
	movs	r0, #0
	movs	r1, #0
	movs	r2, #0
	movs	r3, #0
	mov	r12, sp
	.rept	4
	stm	r12!, {r0-r3}
	.endr
	strd	r0, r1, [r12]
	mov	r12, r0
	sub	r0, r10, #1
	add	sp, #FRAME + 16
	pop	{r4-r11, pc}
	.size ws_ascon_aead128_open, . - ws_ascon_aead128_open
