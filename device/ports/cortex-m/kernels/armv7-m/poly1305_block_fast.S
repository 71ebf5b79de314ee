@ A block of Poly1305 for ARMv7E-M (Cortex-M4 and M7): poly1305_block.h's function, the fast
@ variant. Not for Cortex-M3, whose long products take a time that depends on their operands.
@
@ Cycles of a call without wait states: 97 on a Cortex-M4; stack 44 bytes; flash 224.
@
@ Constant time: no instruction, address or duration depends on key or message.
@
@ The idea. r has zeros in the two lowest bits of its words 1 to 3, and 2^130 = 5, so a product with
@ a word of r that is 2^128 or more too high is one with 5/4 of it: s = r + r / 4, at 2^0.

	.syntax unified
	.thumb

	.equ	FACTOR, 0
	.equ	SUM, 32

	.section .text.ws_poly1305_block, "ax", %progbits
	.balign	4
	.globl	ws_poly1305_block
	.type	ws_poly1305_block, %function
	.thumb_func
ws_poly1305_block:
	push	{r0, r1, r4-r11, lr}
	@ h = sum + block, in r3 to r7.
	ldr	r3, [r1]
	ldr	r4, [r1, #4]
	ldr	r5, [r1, #8]
	ldr	r6, [r1, #12]
	add	r12, r0, #SUM
	ldm	r12, {r7-r11}
	adds	r3, r7
	adcs.w	r4, r4, r8
	adcs.w	r5, r5, r9
	adcs.w	r6, r6, r10
	adc.w	r7, r11, r2
	@ r in r8 to r11; s1, s2, s3 in r0, lr, r12.
	ldm	r0, {r8-r11}
	add.w	r0, r9, r9, lsr #2
	add.w	lr, r10, r10, lsr #2
	add.w	r12, r11, r11, lsr #2
	umull	r1, r2, r3, r8
	umlal	r1, r2, r4, r12
	umlal	r1, r2, r5, lr
	umlal	r1, r2, r6, r0
	str	r1, [sp, #4]
	movs	r1, #0
	umlal	r2, r1, r3, r9
	umlal	r2, r1, r4, r8
	umlal	r2, r1, r5, r12
	umlal	r2, r1, r6, lr
	umlal	r2, r1, r7, r0
	movs	r0, #0
	umlal	r1, r0, r3, r10
	umlal	r1, r0, r4, r9
	umlal	r1, r0, r5, r8
	umlal	r1, r0, r6, r12
	umlal	r1, r0, r7, lr
	mov	lr, #0
	umlal	r0, lr, r3, r11
	umlal	r0, lr, r4, r10
	umlal	r0, lr, r5, r9
	umlal	r0, lr, r6, r8
	umlal	r0, lr, r7, r12
	mla	r7, r7, r8, lr
	@ The sum is r4, r2, r1, r0 and r7; its bits above 130 count five times.
	ldrd	r3, r4, [sp]
	str	r3, [sp, #4]
	lsrs	r5, r7, #2
	and	r7, r7, #3
	add	r5, r5, r5, lsl #2
	adds	r4, r4, r5
	adcs	r2, r2, #0
	adcs	r1, r1, #0
	adcs	r0, r0, #0
	adc	r7, r7, #0
	strd	r4, r2, [r3, #SUM]
	strd	r1, r0, [r3, #SUM + 8]
	str	r7, [r3, #SUM + 16]
	add	sp, #8
	pop	{r4-r11, pc}
	.size	ws_poly1305_block, . - ws_poly1305_block
