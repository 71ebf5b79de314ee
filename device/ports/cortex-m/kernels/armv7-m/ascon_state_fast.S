/*
 * Bytes into and out of Ascon's state for ARMv7-M, the fast variant (contracts: ascon_permutation.h): eight at a time, where the C has four.
 *
 * Cycles on Cortex-M4 without wait states, from the call instruction to the return inclusive, for 16 aligned bytes: ws_ascon_xor 38,
 * ws_ascon_extract 25. Stack: none. Flash: 158 bytes. Clobbers: r0-r3, r12.
 *
 * Constant flow: branches and addresses depend on the length alone. Registers are the caller's to clear.
 */
	.syntax unified
	.thumb

/* void ws_ascon_xor(uint32_t *state, const uint8_t *in, uint8_t len): r0, r1, r2. */
	.section .text.ws_ascon_xor, "ax", %progbits
	.balign 4
	.global ws_ascon_xor
	.type ws_ascon_xor, %function
	.thumb_func
ws_ascon_xor:
	subs r2, #8
	blo 2f
1:	ldr r3, [r0]
	ldr r12, [r1], #4
	eor r12, r12, r3
	ldr r3, [r1], #4
	str r12, [r0], #4
	ldr r12, [r0]
	subs r2, #8
	eor r3, r3, r12
	str r3, [r0], #4
	bhs 1b
2:	adds r2, #8
	beq 5f
	cmp r2, #4
	blo 3f
	ldr r3, [r1], #4
	ldr r12, [r0]
	eor r3, r3, r12
	str r3, [r0], #4
	subs r2, #4
	beq 5f
3:	/* What is left of a word, its last byte first. */
	movs r3, #0
4:	subs r2, #1
	ldrb r12, [r1, r2]
	orr r3, r12, r3, lsl #8
	bne 4b
	ldr r12, [r0]
	eor r3, r3, r12
	str r3, [r0]
5:	bx lr
	.size ws_ascon_xor, . - ws_ascon_xor

/* void ws_ascon_extract(const uint32_t *state, uint8_t *out, uint8_t len): r0, r1, r2. */
	.section .text.ws_ascon_extract, "ax", %progbits
	.balign 4
	.global ws_ascon_extract
	.type ws_ascon_extract, %function
	.thumb_func
ws_ascon_extract:
	subs r2, #8
	blo 2f
1:	ldr r3, [r0], #4
	ldr r12, [r0], #4
	str r3, [r1], #4
	subs r2, #8
	str r12, [r1], #4
	bhs 1b
2:	adds r2, #8
	beq 5f
	ldr r3, [r0]
	cmp r2, #4
	blo 4f
	str r3, [r1], #4
	subs r2, #4
	beq 5f
	ldr r3, [r0, #4]
4:	strb r3, [r1], #1
	lsrs r3, #8
	subs r2, #1
	bne 4b
5:	bx lr
	.size ws_ascon_extract, . - ws_ascon_extract

/* void ws_ascon_pad(uint32_t *state, uint8_t len): r0, r1. */
	.section .text.ws_ascon_pad, "ax", %progbits
	.balign 4
	.global ws_ascon_pad
	.type ws_ascon_pad, %function
	.thumb_func
ws_ascon_pad:
	ldrb r2, [r0, r1]
	eor r2, r2, #1
	strb r2, [r0, r1]
	bx lr
	.size ws_ascon_pad, . - ws_ascon_pad
