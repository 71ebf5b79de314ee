@ A block of Poly1305 for ARMv6-M (Cortex-M0): poly1305_block.h's function, the fast variant.
@
@ Cycles of a call without wait states: 489 on a Cortex-M0, of an aligned block; stack 100
@ bytes; flash 844.
@
@ Constant time: no instruction, address or duration depends on key or message, but for whether the
@ block's address is aligned. Its part of the stack is wiped.
@
@ The idea. The product of 128 bits is product.inc's; the bits of the sum above it, few, are
@ multiplied each word by themselves, as words of r are below 2^28. The bits above 130 of a
@ product count five times: once where they are four times as much, and once where they are.

#include "product.inc"

	.syntax unified
	.thumb

	.equ	FACTOR, 0
	.equ	SUM, 32

@ The frame: the product; the sum with the block; the arguments behind it.
	.equ	ADDED, 32
	.equ	TOP, 48
	.equ	FRAME, 52
	.equ	CTX, FRAME
	.equ	END, FRAME + 8

@ w = the four bytes at r1 + at. t: scratch.
.macro	load_bytes w, at, t
	ldrb	\w, [r1, #\at + 3]
	.irp	n, 2, 1, 0
	lsls	\w, \w, #8
	ldrb	\t, [r1, #\at + \n]
	orrs	\w, \t
	.endr
.endm

	.section .text.ws_poly1305_block, "ax", %progbits
	.balign	4
	.globl	ws_poly1305_block
	.type	ws_poly1305_block, %function
	.thumb_func
ws_poly1305_block:
	prologue FRAME
	lsls	r3, r1, #30
	bne	1f
	ldmia	r1!, {r4-r7}
	b	2f
1:	load_bytes r4, 0, r3
	load_bytes r5, 4, r3
	load_bytes r6, 8, r3
	load_bytes r7, 12, r3
2:	adds	r0, #SUM
	ldmia	r0!, {r1-r3}
	adds	r4, r1
	adcs	r5, r2
	adcs	r6, r3
	ldmia	r0!, {r1}
	adcs	r7, r1
	ldrh	r1, [r0]
	ldr	r2, [sp, #END]
	adcs	r1, r2
	str	r1, [sp, #TOP]
	add	r0, sp, #ADDED
	stmia	r0!, {r4-r7}
	multiply_128 CTX, FACTOR, sp, ADDED, 0
	@ The words from 2^128 on, in r6, r7, r0, r1, with the product of what is above; r11, r10: the two
	@ below them.
	mov	r10, r4
	mov	r11, r5
	ldr	r2, [sp, #TOP]
	ldr	r3, [sp, #CTX]
	ldr	r4, [r3, #FACTOR]
	muls	r4, r2
	adds	r6, r4
	ldr	r4, [r3, #FACTOR + 4]
	muls	r4, r2
	adcs	r7, r4
	ldr	r4, [r3, #FACTOR + 8]
	muls	r4, r2
	adcs	r0, r4
	ldr	r4, [r3, #FACTOR + 12]
	muls	r4, r2
	adcs	r1, r4
	@ r2: the sum's highest word.
	movs	r3, #3
	mov	r2, r6
	ands	r2, r3
	bics	r6, r3
	ldr	r3, [sp]
	ldr	r4, [sp, #4]
	mov	r5, r10
	adds	r3, r6
	mov	r8, r3
	adcs	r4, r7
	mov	r9, r4
	adcs	r5, r0
	mov	r3, r11
	adcs	r3, r1
	movs	r4, #0
	adcs	r2, r4
	lsrs	r6, r6, #2
	lsls	r4, r7, #30
	orrs	r6, r4
	lsrs	r7, r7, #2
	lsls	r4, r0, #30
	orrs	r7, r4
	lsrs	r0, r0, #2
	lsls	r4, r1, #30
	orrs	r0, r4
	lsrs	r1, r1, #2
	mov	r4, r8
	adds	r6, r4
	mov	r4, r9
	adcs	r7, r4
	adcs	r0, r5
	adcs	r1, r3
	movs	r4, #0
	adcs	r2, r4
	ldr	r3, [sp, #CTX]
	adds	r3, #SUM
	str	r6, [r3]
	str	r7, [r3, #4]
	str	r0, [r3, #8]
	str	r1, [r3, #12]
	strh	r2, [r3, #16]
	mov	r3, sp
	movs	r5, #0
	movs	r6, #0
	movs	r7, #0
	stmia	r3!, {r4-r7}
	stmia	r3!, {r4-r7}
	stmia	r3!, {r4-r7}
	str	r4, [r3]
	epilogue FRAME
	.size	ws_poly1305_block, . - ws_poly1305_block
