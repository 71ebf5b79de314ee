/*
 * Entries of a table at a secret index for AVR, the fast variant: ws_select and
 * ws_select_constant, whose contract is select.h's.
 *
 * Cycles from the call instruction to the return inclusive: 6349 for 64 words of 16
 * entries in flash, 2829 for 64 words of 8 entries in RAM. Stack with the return
 * address: 13 bytes. Flash: 252 bytes each.
 *
 * Constant flow: every entry is read, in the same order, and the index decides
 * nothing but a mask. Branches depend on the numbers of words and of entries.
 *
 * r1 is 0 throughout.
 *
 * The idea. Eight words of all entries are summed in registers, masked, then the next
 * eight: what is not wanted costs a load, a conjunction and a disjunction. The index
 * less 1 for each entry borrows at the one that is wanted, and nowhere else, as there
 * are at most 256: so the mask takes two instructions. Words that are left are taken
 * by four, the last four again in part where four does not divide their number.
 */

	.equ INDEX, 16
	.equ COUNT, 17
	.equ ENTRIES, 18
	.equ MASK, 19
	.equ WORDS, 20
	.equ BACK, 21		/* from an entry's words to the next one's */
	.equ REST, 22		/* the index, counted down */

/* n words of each entry: r.. at Y, the first entry's at X, both moved on. The sum is in
 * registers from 8. */
.macro SELECT_WORDS n, load
	movw r30, r26
	adiw r26, \n
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	.if \i < \n
	clr 8+\i
	.endif
	.endr
	mov REST, INDEX
	mov COUNT, ENTRIES
	mov BACK, WORDS
	subi BACK, \n
1:	subi REST, 1
	sbc MASK, MASK
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	.if \i < \n
	\load r0, Z+
	and r0, MASK
	or 8+\i, r0
	.endif
	.endr
	add r30, BACK
	adc r31, r1
	dec COUNT
	brne 1b
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	.if \i < \n
	st Y+, 8+\i
	.endif
	.endr
.endm

/* in:  r25:r24 r, r23:r22 table, r20 words, r18 entries, r16 index
 * Clobbers r0, r18, r19, r21-r27, r30, r31. */
.macro SELECT load
	.irp n, 8, 9, 10, 11, 12, 13, 14, 15, 17, 28, 29
	push r\n
	.endr
	movw r26, r22
	movw r28, r24
	mov r24, WORDS		; how many are left
2:	subi r24, 8
	brcs 3f
	SELECT_WORDS 8, \load
	rjmp 2b
3:	subi r24, -8
	breq 6f
4:	subi r24, 4
	brcc 5f
	/* One to three words: four that end there. */
	mov r25, r24
	neg r25
	sub r26, r25
	sbc r27, r1
	sub r28, r25
	sbc r29, r1
	clr r24
5:	SELECT_WORDS 4, \load
	tst r24
	brne 4b
6:	.irp n, 29, 28, 17, 15, 14, 13, 12, 11, 10, 9, 8
	pop r\n
	.endr
	ret
.endm

	.section .text.ws_select, "ax", @progbits
	.global ws_select
	.type ws_select, @function
ws_select:
	SELECT ld
	.size ws_select, . - ws_select

	.section .text.ws_select_constant, "ax", @progbits
	.global ws_select_constant
	.type ws_select_constant, @function
ws_select_constant:
	SELECT lpm
	.size ws_select_constant, . - ws_select_constant
