@ ChaCha20 for ARMv6-M (Cortex-M0 and M0+): chacha20.h's ws_chacha20 (RFC 8439, section 2.4) around
@ chacha20_rounds_fast.S, the fast variant.
@
@ Cycles of a call with 32 bytes without wait states, addresses aligned: 2,405, of which the rounds
@ take 2,122; stack 236 bytes; flash 300.
@
@ Constant time: nothing depends on key or message, but on the length and the alignment of the
@ arguments. The frame is wiped.
@
@ The idea. What the compiler makes of chacha20.c loads and stores each byte by itself, as ARMv6-M
@ has no unaligned access. This one does so only where an address is not aligned. An aligned
@ message gets two words of key stream at a time.

	.syntax unified
	.thumb

@ The frame: the state, and the state before the rounds.
	.equ	BEGUN, 64
	.equ	COUNTER, BEGUN + 48
	.equ	FRAME, 128
	.equ	OUT, FRAME + 20		@ the fifth and the sixth argument
	.equ	LEN, OUT + 4

@ w = the four bytes at p. t: scratch.
.macro	load_bytes w, p, t
	ldrb	\w, [\p, #3]
	.irp	n, 2, 1, 0
	lsls	\w, \w, #8
	ldrb	\t, [\p, #\n]
	orrs	\w, \t
	.endr
.endm

@ `words` words from p on to r3 on; both go on. `first` and `second` are registers for as many,
@ which an aligned p is read with; else it is the loop at `bytes`, which comes back to `there`.
@ Clobbers r4-r7.
.macro	copy_words p, bytes, there, first, second
	lsls	r4, \p, #30
	bne	\bytes
	ldmia	\p!, {\first}
	stmia	r3!, {\first}
	.ifnb	\second
	ldmia	\p!, {\second}
	stmia	r3!, {\second}
	.endif
\there:
.endm
.macro	copy_bytes p, bytes, there, words
\bytes:	movs	r6, #\words
0:	load_bytes r4, \p, r5
	stmia	r3!, {r4}
	adds	\p, #4
	subs	r6, #1
	bne	0b
	b	\there
.endm

	.section .text.ws_chacha20, "ax", %progbits
	.balign	4
	.globl	ws_chacha20
	.type	ws_chacha20, %function
	.thumb_func
ws_chacha20:
	push	{r4-r7, lr}
	sub	sp, #FRAME
	mov	r12, r3
	adr	r3, constants
	ldmia	r3!, {r4-r7}
	add	r3, sp, #BEGUN
	stmia	r3!, {r4-r7}
	copy_words r0, .Lkey_bytes, .Lkey_read, r4-r7, r4-r7
	stmia	r3!, {r2}
	copy_words r1, .Lnonce_bytes, .Lnonce_read, r4-r6
	@ r4: in, r5: out, r6: len.
	mov	r4, r12
	ldr	r5, [sp, #OUT]
	ldr	r6, [sp, #LEN]
	cmp	r6, #0
	beq	9f
4:	add	r0, sp, #BEGUN
	mov	r1, sp
	bl	ws_chacha20_rounds_to
	@ r7: bytes of this block, in whole words.
	movs	r7, r6
	cmp	r7, #64
	bls	5f
	movs	r7, #64
5:	subs	r6, r6, r7
	mov	r0, sp
	add	r1, sp, #BEGUN
	subs	r7, #4
	blo	8f
	movs	r2, r4
	orrs	r2, r5
	lsls	r2, r2, #30
	bne	7f
	@ Two words a turn, while there are two; len waits.
	mov	r12, r6
	subs	r7, #4
	blo	5f
6:	ldmia	r0!, {r2, r3}
	ldmia	r1!, {r6}
	adds	r2, r2, r6
	ldmia	r1!, {r6}
	adds	r3, r3, r6
	ldmia	r4!, {r6}
	eors	r2, r6
	ldmia	r4!, {r6}
	eors	r3, r6
	stmia	r5!, {r2, r3}
	subs	r7, #8
	bhs	6b
5:	mov	r6, r12
	adds	r7, #4
	bmi	8f
7:	ldmia	r0!, {r2}
	ldmia	r1!, {r3}
	adds	r2, r2, r3
	mov	r12, r0
	load_bytes r3, r4, r0
	eors	r2, r3
	.irp	n, 0, 1, 2
	strb	r2, [r5, #\n]
	lsrs	r2, r2, #8
	.endr
	strb	r2, [r5, #3]
	mov	r0, r12
	adds	r4, #4
	adds	r5, #4
	subs	r7, #4
	bhs	7b
	@ Up to three bytes of the last word.
8:	adds	r7, #4
	beq	8f
	ldr	r2, [r0]
	ldr	r3, [r1]
	adds	r2, r2, r3
7:	ldrb	r3, [r4]
	eors	r3, r2
	strb	r3, [r5]
	lsrs	r2, r2, #8
	adds	r4, #1
	adds	r5, #1
	subs	r7, #1
	bne	7b
8:	ldr	r0, [sp, #COUNTER]
	adds	r0, #1
	str	r0, [sp, #COUNTER]
	cmp	r6, #0
	bne	4b
9:	mov	r0, sp
	movs	r1, #FRAME
	bl	ws_wipe
	add	sp, #FRAME
	pop	{r4-r7, pc}
	copy_bytes r0, .Lkey_bytes, .Lkey_read, 8
	copy_bytes r1, .Lnonce_bytes, .Lnonce_read, 3
	.balign	4
@ "expand 32-byte k".
constants:
	.word	0x61707865, 0x3320646e, 0x79622d32, 0x6b206574
	.size	ws_chacha20, . - ws_chacha20
