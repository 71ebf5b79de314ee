@ Bytes into Keccak's state and out of it for ARMv6-M, the fast variant, on bit-interleaved lanes (contracts: keccak_permutation.h).
@
@ Cycles on Cortex-M0 without wait states, from the call instruction to the return inclusive, for n whole lanes at an even address:
@ ws_keccak_xor 46 + 69 n, ws_keccak_extract 49 + 57 n. Other bytes of a lane cost about 18 each.
@ Stack: 28 bytes. Flash: 400 bytes. Clobbers: r0-r3, r12.
@
@ Constant time for given addresses and lengths. Registers are the caller's to clear.
@
@ The idea. Bit p of a lane is bit p mod 32 of the half p / 32, and in the state bit p / 2 of the word p mod 2: the six bits of a bit's place,
@ turned by one. Five exchanges do that, each of the bit that says which word with one that says where in the word: of those bits of
@ the one word where it is 1 with those of the other where it is 0.

	.syntax unified
	.thumb

@ Exchanges the bits of r4 that are n places above the mask's with those bits of r5 that the mask has. Clobbers r6, r7.
	.macro	exchange n, mask
	lsrs	r6, r4, #\n
	eors	r6, r5
	mov	r7, \mask
	ands	r6, r7
	eors	r5, r6
	lsls	r6, r6, #\n
	eors	r4, r6
	.endm

	.macro	exchange_halves
	lsrs	r6, r4, #16
	eors	r6, r5
	uxth	r6, r6
	eors	r5, r6
	lsls	r6, r6, #16
	eors	r4, r6
	.endm

@ Masks to r8, r9, r12, lr; r0 to the lane of the offset r1, r1 to the bits before it in the lane.
	.macro	begin
	push	{r4-r7, lr}
	mov	r6, r8
	mov	r7, r9
	push	{r6, r7}
	ldr	r4, =0x55555555
	ldr	r5, =0x33333333
	ldr	r6, =0x0f0f0f0f
	ldr	r7, =0x00ff00ff
	mov	r8, r4
	mov	r9, r5
	mov	r12, r6
	mov	lr, r7
	lsrs	r4, r1, #3
	lsls	r4, r4, #3
	adds	r0, r0, r4
	subs	r1, r1, r4
	lsls	r1, r1, #3
	.endm

	.macro	end
	pop	{r6, r7}
	mov	r8, r6
	mov	r9, r7
	pop	{r4-r7, pc}
	.balign	4
	.ltorg
	.endm

	.section .text.ws_keccak_xor, "ax", %progbits
	.balign	4
	.global	ws_keccak_xor
	.type	ws_keccak_xor, %function
	.thumb_func
@ in: r0 state, r1 offset, r2 in, r3 len.
ws_keccak_xor:
	begin
	cmp	r3, #0
	beq	4f
1:	lsls	r4, r2, #31
	orrs	r4, r1
	bne	2f
	cmp	r3, #8
	blo	2f
	ldrh	r4, [r2]
	ldrh	r5, [r2, #2]
	lsls	r5, r5, #16
	orrs	r4, r5
	ldrh	r5, [r2, #4]
	ldrh	r6, [r2, #6]
	lsls	r6, r6, #16
	orrs	r5, r6
	adds	r2, #8
	subs	r3, #8
	b	3f
@ Bytes, from bit r1 on: a shift by 32 and more gives 0, and by less than 0 is one by 224 and more.
2:	movs	r4, #0
	movs	r5, #0
5:	ldrb	r6, [r2]
	movs	r7, r6
	lsls	r6, r1
	orrs	r4, r6
	subs	r1, #32
	lsls	r7, r1
	orrs	r5, r7
	adds	r1, #40
	adds	r2, #1
	subs	r3, #1
	beq	6f
	cmp	r1, #64
	bne	5b
6:	movs	r1, #0
3:	exchange_halves
	exchange 8, lr
	exchange 4, r12
	exchange 2, r9
	exchange 1, r8
	ldr	r6, [r0]
	ldr	r7, [r0, #4]
	eors	r4, r6
	eors	r5, r7
	stmia	r0!, {r4, r5}
	cmp	r3, #0
	bne	1b
4:	end
	.size	ws_keccak_xor, . - ws_keccak_xor

	.section .text.ws_keccak_extract, "ax", %progbits
	.balign	4
	.global	ws_keccak_extract
	.type	ws_keccak_extract, %function
	.thumb_func
@ in: r0 state, r1 offset, r2 out, r3 len.
ws_keccak_extract:
	begin
	cmp	r3, #0
	beq	4f
1:	ldmia	r0!, {r4, r5}
	exchange 1, r8
	exchange 2, r9
	exchange 4, r12
	exchange 8, lr
	exchange_halves
	lsls	r6, r2, #31
	orrs	r6, r1
	bne	2f
	cmp	r3, #8
	blo	2f
	strh	r4, [r2]
	lsrs	r4, r4, #16
	strh	r4, [r2, #2]
	strh	r5, [r2, #4]
	lsrs	r5, r5, #16
	strh	r5, [r2, #6]
	adds	r2, #8
	subs	r3, #8
	bne	1b
	b	4f
@ Bytes, from bit r1 on, as in ws_keccak_xor.
2:	movs	r6, r4
	lsrs	r6, r1
	subs	r1, #32
	movs	r7, r5
	lsrs	r7, r1
	orrs	r6, r7
	strb	r6, [r2]
	adds	r1, #40
	adds	r2, #1
	subs	r3, #1
	beq	4f
	cmp	r1, #64
	bne	2b
	movs	r1, #0
	b	1b
4:	end
	.size	ws_keccak_extract, . - ws_keccak_extract
