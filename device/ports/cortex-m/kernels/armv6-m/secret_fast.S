@ Erasing and comparing secrets on ARMv6-M (Cortex-M0 and M0+): secret.h's two functions, the fast
@ variant, by words where the address allows it.
@
@ Constant time: nothing depends on what is erased or compared, but on its length and alignment.

	.syntax unified
	.thumb

@ void ws_wipe(void *p, size_t n)
@ In: r0 p, r1 n. Clobbers r0-r3, flags. Stack: none. Flash: 56 bytes. Cycles without wait states,
@ call included, of n divisible by 32 at an aligned address: 21 + n / 2.
	.section .text.ws_wipe, "ax", %progbits
	.balign	4
	.globl	ws_wipe
	.type	ws_wipe, %function
	.thumb_func
ws_wipe:
	movs	r2, #0
	b	2f
	@ Bytes up to the next word.
1:	subs	r1, #1
	blo	7f
	strb	r2, [r0]
	adds	r0, #1
2:	lsls	r3, r0, #30
	bne	1b
	subs	r1, #32
	blo	4f
3:	stmia	r0!, {r2, r3}
	stmia	r0!, {r2, r3}
	stmia	r0!, {r2, r3}
	stmia	r0!, {r2, r3}
	subs	r1, #32
	bhs	3b
4:	adds	r1, #28
	bmi	6f
5:	stmia	r0!, {r2}
	subs	r1, #4
	bhs	5b
6:	adds	r1, #4
	beq	7f
8:	strb	r2, [r0]
	adds	r0, #1
	subs	r1, #1
	bne	8b
7:	bx	lr
	.size	ws_wipe, . - ws_wipe

@ int ws_equal(const void *a, const void *b, size_t n)
@ In: r0 a, r1 b, r2 n. Out: r0. Clobbers r1-r3, flags. Stack: 12 bytes, the caller's registers.
@ Flash: 52 bytes. Cycles without wait states, call included, of n divisible by 4 at aligned
@ addresses: 33 + 10 n / 4.
	.section .text.ws_equal, "ax", %progbits
	.balign	4
	.globl	ws_equal
	.type	ws_equal, %function
	.thumb_func
ws_equal:
	push	{r4, r5, lr}
	movs	r3, #0
	movs	r4, r0
	orrs	r4, r1
	lsls	r4, r4, #30
	bne	2f
	b	1f
0:	ldmia	r0!, {r4}
	ldmia	r1!, {r5}
	eors	r4, r5
	orrs	r3, r4
1:	subs	r2, #4
	bhs	0b
	adds	r2, #4
2:	subs	r2, #1
	blo	4f
3:	ldrb	r4, [r0, r2]
	ldrb	r5, [r1, r2]
	eors	r4, r5
	orrs	r3, r4
	subs	r2, #1
	bhs	3b
	@ The carry is set if there is no difference.
4:	rsbs	r3, r3, #0
	movs	r0, #0
	adcs	r0, r0
	pop	{r4, r5, pc}
	.size	ws_equal, . - ws_equal
