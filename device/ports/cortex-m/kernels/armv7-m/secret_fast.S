@ Erasing and comparing secrets on ARMv7-M (Cortex-M3, M4 and M7): secret.h's two functions, the
@ fast variant, by words.
@
@ Constant time: nothing depends on what is erased or compared, but on its length and alignment.

	.syntax unified
	.thumb

@ void ws_wipe(void *p, size_t n)
@ In: r0 p, r1 n. Clobbers r0-r3, flags. Stack: none. Flash: 68 bytes. Cycles on Cortex-M3 and M4
@ without wait states, call included, of n divisible by 32 at an aligned address: 18 + 13 n / 32.
@ A store takes one cycle, and a store of several registers one more than those.
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
	strb	r2, [r0], #1
2:	lsls	r3, r0, #30
	bne	1b
	subs	r1, #32
	blo	4f
3:	.irp	at, 0, 4, 8, 12, 16, 20, 24, 28
	str	r2, [r0, #\at]
	.endr
	adds	r0, #32
	subs	r1, #32
	bhs	3b
4:	adds	r1, #28
	bmi	6f
5:	str	r2, [r0], #4
	subs	r1, #4
	bhs	5b
6:	adds	r1, #4
	beq	7f
8:	strb	r2, [r0], #1
	subs	r1, #1
	bne	8b
7:	bx	lr
	.size	ws_wipe, . - ws_wipe

@ int ws_equal(const void *a, const void *b, size_t n)
@ In: r0 a, r1 b, r2 n. Out: r0. Clobbers r1-r3, r12, flags. Stack: 8 bytes, the caller's
@ registers. Flash: 58 bytes. Cycles on Cortex-M4 without wait states, call included, of n
@ divisible by 4 at aligned addresses: 24 + 9 n / 4.
	.section .text.ws_equal, "ax", %progbits
	.balign	4
	.globl	ws_equal
	.type	ws_equal, %function
	.thumb_func
ws_equal:
	push	{r4, lr}
	movs	r3, #0
	b	1f
0:	ldr	r4, [r0], #4
	ldr	r12, [r1], #4
	eor	r4, r4, r12
	orrs	r3, r4
1:	subs	r2, #4
	bhs	0b
	adds	r2, #4
	b	3f
2:	ldrb	r4, [r0], #1
	ldrb	r12, [r1], #1
	eor	r4, r4, r12
	orrs	r3, r4
3:	subs	r2, #1
	bhs	2b
	@ The carry is set if there is no difference.
	rsbs	r3, r3, #0
	mov	r0, #0
	adc	r0, r0, r0
	pop	{r4, pc}
	.size	ws_equal, . - ws_equal
