@ Selection from a table for ARMv6-M (Cortex-M0): select.h's ws_select.
@
@ Constant time: every entry is read, in the same order; the index decides nothing but a mask. Branches depend on the
@ numbers of words and of entries.
@
@ Four words at a time, summed over all entries in high registers, with all but those of one entry cleared: bit i of a
@ word with the one bit `index`, shifted out, is the carry of entry i, and the carry less one the mask. If the words are not a
@ multiple of four, the last four overlap those before them.

	.syntax unified
	.thumb

@ The four words of one entry, at r1, into the sums; r3: the bits that are left; r10: bytes from the end of the words
@ to those of the next entry. 16 cycles. Clobbers r2, r4-r7.
.macro	add_entry
	lsrs	r3, r3, #1
	sbcs	r2, r2
	ldmia	r1!, {r4-r7}
	bics	r4, r2
	bics	r5, r2
	bics	r6, r2
	bics	r7, r2
	add	r8, r4
	add	r9, r5
	add	r12, r6
	add	lr, r7
	add	r1, r10
.endm

@ What is kept on the stack.
	.equ	INDEX_BIT, 0
	.equ	TABLE_BYTES, 4
	.equ	ENTRIES, 8
	.equ	R_END, 12
	.equ	INDEX, 52		@ the fifth argument: above these and 9 registers

@ void ws_select(r0: r, r1: table, r2: words, r3: entries, [sp]: index), 4 words or more, 1 to 32 entries.
@ 1,350 cycles for 16 words of 16 entries, without wait states, call included, 52 bytes of stack. Clobbers r0-r3, r12.
	.section .text.ws_select, "ax", %progbits
	.balign	4
	.global	ws_select
	.type	ws_select, %function
	.thumb_func
ws_select:
	push	{r4-r7, lr}
	mov	r4, r8
	mov	r5, r9
	mov	r6, r10
	mov	r7, r11
	push	{r4-r7}
	sub	sp, #16
	str	r3, [sp, #ENTRIES]
	ldr	r4, [sp, #INDEX]
	movs	r5, #1
	lsls	r5, r4
	str	r5, [sp, #INDEX_BIT]
	lsls	r2, r2, #2
	muls	r3, r2
	str	r3, [sp, #TABLE_BYTES]
	adds	r4, r0, r2
	str	r4, [sp, #R_END]
	subs	r2, #16
	mov	r10, r2
1:	ldr	r2, [sp, #TABLE_BYTES]
	add	r2, r1
	mov	r11, r2
	movs	r2, #0
	mov	r8, r2
	mov	r9, r2
	mov	r12, r2
	mov	lr, r2
	ldr	r3, [sp, #ENTRIES]
	lsrs	r2, r3, #1
	ldr	r3, [sp, #INDEX_BIT]
	bcs	3f
2:	add_entry
3:	add_entry
	cmp	r1, r11
	bne	2b
	mov	r4, r8
	mov	r5, r9
	mov	r6, r12
	mov	r7, lr
	stmia	r0!, {r4-r7}
	ldr	r2, [sp, #TABLE_BYTES]
	subs	r1, r2
	ldr	r2, [sp, #R_END]
	subs	r2, r0
	beq	5f
	cmp	r2, #16
	bhs	4f
	@ Fewer than four words are left: back by what is missing.
	adds	r0, r2
	subs	r0, #16
	adds	r1, r2
	b	1b
4:	adds	r1, #16
	b	1b
5:	add	sp, #16
	pop	{r4-r7}
	mov	r8, r4
	mov	r9, r5
	mov	r10, r6
	mov	r11, r7
	pop	{r4-r7, pc}
	.size	ws_select, . - ws_select
