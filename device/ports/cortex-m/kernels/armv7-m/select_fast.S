@ Entries of a table, the index a secret, for ARMv7-M (Cortex-M3, M4 and M7): select.h's ws_select.
@
@ Constant time: every entry is read, whichever is wanted, and multiplied by 1 or 0; MLA takes
@ one cycle on Cortex-M4 and M7 and two on M3, whatever it multiplies.

	.syntax unified
	.thumb

	@ The arguments on the stack: `words` gives way to the offset of words in an entry, `entries` to that times 2^16,
	@ plus the index.
	.set	RESULT, 0
	.set	TABLE, 4
	.set	OFFSET, 8
	.set	ENTRIES, 12
	.set	INDEX, 52

@ In: r3 the offset of words in an entry. Out: r0 those of the first entry, r1 how many entries there are,
@ times 2^16, plus the index; the registers `sums` 0.
.macro	begin_entries sums:vararg
	ldr.w	r0, [sp, #TABLE]
	ldr.w	r1, [sp, #ENTRIES]
	.irp	sum, \sums
	mov.w	\sum, #0
	.endr
	add.w	r0, r0, r3
.endm

@ r2 = 1 if the index is 0, else 0. Counts index and entries down, and leaves the negative flag when there are no
@ more: the index is less than the number of entries, so by then it has borrowed. 4 cycles.
.macro	next_entry
	lsl.w	r2, r1, #16
	clz	r2, r2
	lsr.w	r2, r2, #5
	subs.w	r1, r1, #0x10001
.endm

@ Two words of an entry, times r2, to the sums. Clobbers r3, lr. 5 cycles, 7 on Cortex-M3.
.macro	add_two sum0, sum1
	ldmia.w	r0!, {r3, lr}
	mla	\sum0, r3, r2, \sum0
	mla	\sum1, lr, r2, \sum1
.endm

@ void ws_select(ws_word *r, const ws_word *table, uint8_t words, uint8_t entries,
@                uint8_t index)
@ In: r0 r, r1 table, both aligned to 4, r2 words, r3 entries, on the stack the index.
@ Out: none; r is written. Clobbers r0-r3, r12, flags. Stack: 52 bytes.
@ Cycles without wait states, call included: 46; for every eight words 31, and 27 for each entry; for four more
@ 17, and 16 for each entry; for each of the rest 13, and 10 for each entry. On Cortex-M3 35, 20 and 11 for each
@ entry.
	.section .text.ws_select, "ax", %progbits
	.balign	4
	.global	ws_select
	.type	ws_select, %function
	.thumb_func
ws_select:
	push.w	{r0-r11, lr}
	ldr.w	r1, [sp, #INDEX]
	lsl.w	r12, r2, #2
	orr.w	r3, r1, r3, lsl #16
	str.w	r3, [sp, #ENTRIES]
	mov.w	r3, #0
	b.w	2f
1:	str.w	r3, [sp, #OFFSET]
	begin_entries	r4, r5, r6, r7, r8, r9, r10, r11
	sub.w	r12, r12, #32
.Leight:
	next_entry
	add_two	r4, r5
	add_two	r6, r7
	add_two	r8, r9
	add_two	r10, r11
	add.w	r0, r0, r12
	bpl.w	.Leight
	ldr.w	r3, [sp, #OFFSET]
	ldr.w	r0, [sp, #RESULT]
	add.w	r12, r12, #32
	add.w	r0, r0, r3
	stmia.w	r0, {r4-r11}
	add.w	r3, r3, #32
2:	sub.w	r2, r12, r3
	cmp.w	r2, #32
	bhs.w	1b
	cmp.w	r2, #16
	blo.w	4f
	begin_entries	r4, r5, r6, r7
.Lfour:
	next_entry
	ldmia.w	r0, {r8-r11}
	mla	r4, r8, r2, r4
	mla	r5, r9, r2, r5
	mla	r6, r10, r2, r6
	mla	r7, r11, r2, r7
	add.w	r0, r0, r12
	bpl.w	.Lfour
	ldr.w	r0, [sp, #RESULT]
	add.w	r0, r0, r3
	stmia.w	r0, {r4-r7}
	add.w	r3, r3, #16
	b.w	4f
3:	begin_entries	r4
.Lone:
	next_entry
	ldr.w	r8, [r0]
	mla	r4, r8, r2, r4
	add.w	r0, r0, r12
	bpl.w	.Lone
	ldr.w	r0, [sp, #RESULT]
	nop.w
	str.w	r4, [r0, r3]
	add.w	r3, r3, #4
4:	cmp.w	r3, r12
	bne.w	3b
	add.w	sp, sp, #16
	pop.w	{r4-r11, pc}
	.size	ws_select, . - ws_select
