@ Entries of a table, the index a secret, for ARMv7-M (Cortex-M3, M4 and M7): select.h's ws_select.
@
@ Constant time: every entry is read, whichever is wanted, and multiplied by 1 or 0; MLA takes
@ one cycle on Cortex-M4 and M7 and two on M3, whatever it multiplies.

	.syntax unified
	.thumb

	@ Of what lies on the stack: the arguments, of which `words` gives way to the offset of words in an
	@ entry, `entries` to a bit, the index below bit 31, and the index to the number of entries; and
	@ where the words of an entry behind the last one would be.
	.set	RESULT, 0
	.set	TABLE, 4
	.set	OFFSET, 8
	.set	BIT, 12
	.set	END, 48
	.set	COUNT, 56

@ In: r3 the offset of words in an entry, r12 bytes of an entry. Out: r0 those of the first entry,
@ r1 the bit, r2 how many entries there are; the registers `sums` 0. Clobbers lr.
.macro	begin_entries sums:vararg
	ldr.w	r0, [sp, #TABLE]
	ldr.w	r1, [sp, #BIT]
	ldr.w	r2, [sp, #COUNT]
	.irp	sum, \sums
	mov.w	\sum, #0
	.endr
	add.w	r0, r0, r3
	mla	lr, r2, r12, r0
	str.w	lr, [sp, #END]
.endm

@ r2 = 1 if the next entry is wanted, else 0. 2 cycles.
.macro	next_entry
	lsr.w	r2, r1, #31
	lsl.w	r1, r1, #1
.endm

@ Sets the flag Z when no entry is left. Clobbers r2. 3 cycles.
.macro	is_end
	ldr.w	r2, [sp, #END]
	cmp.w	r0, r2
.endm

@ Two words of an entry, times r2, to the sums. Clobbers r3, lr. 5 cycles, 7 on Cortex-M3.
.macro	add_two sum0, sum1
	ldmia.w	r0!, {r3, lr}
	mla	\sum0, r3, r2, \sum0
	mla	\sum1, lr, r2, \sum1
.endm

@ Eight words of an entry, times r2, to r4 to r11. Out: r0 those of the next entry. Clobbers r3, lr.
@ 21 cycles.
.macro	add_eight
	add_two	r4, r5
	add_two	r6, r7
	add_two	r8, r9
	add_two	r10, r11
	add.w	r0, r0, r12
.endm

@ void ws_select(ws_word *r, const ws_word *table, uint8_t words, uint8_t entries,
@                uint8_t index)
@ In: r0 r, r1 table, both aligned to 4, r2 words, r3 entries, on the stack the index.
@ Out: none; r is written. Clobbers r0-r3, r12, flags. Stack: 56 bytes.
@ Cycles without wait states, call included, for 16 words on Cortex-M4: 881 of 16 entries, 505 of
@ eight.
	.section .text.ws_select, "ax", %progbits
	.balign	4
	.global	ws_select
	.type	ws_select, %function
	.thumb_func
ws_select:
	push.w	{r0-r12, lr}
	ldr.w	r1, [sp, #COUNT]
	str.w	r3, [sp, #COUNT]
	mov.w	r0, #0x80000000
	lsl.w	r12, r2, #2
	lsr.w	r1, r0, r1
	str.w	r1, [sp, #BIT]
	mov.w	r3, #0
	b.w	2f
1:	str.w	r3, [sp, #OFFSET]
	begin_entries	r4, r5, r6, r7, r8, r9, r10, r11
	sub.w	r12, r12, #32
	tst.w	r2, #3
	bne.w	.Leight
.Lfour_of_eight:
	lsr.w	r2, r1, #31
	add_eight
	ubfx	r2, r1, #30, #1
	add_eight
	ubfx	r2, r1, #29, #1
	add_eight
	ubfx	r2, r1, #28, #1
	add_eight
	lsl.w	r1, r1, #4
	is_end
	bne.w	.Lfour_of_eight
	b.w	5f
.Leight:
	next_entry
	add_eight
	is_end
	bne.w	.Leight
5:	ldr.w	r3, [sp, #OFFSET]
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
	is_end
	bne.w	.Lfour
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
	is_end
	bne.w	.Lone
	ldr.w	r0, [sp, #RESULT]
	nop.w
	str.w	r4, [r0, r3]
	add.w	r3, r3, #4
4:	cmp.w	r3, r12
	bne.w	3b
	add.w	sp, sp, #16
	pop.w	{r4-r12, pc}
	.size	ws_select, . - ws_select
