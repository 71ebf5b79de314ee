/*
 * GHASH for AVR (NIST SP 800-38D section 6.4), the small variant.
 *
 * Cycles from the call instruction to the return inclusive: 117 and 27703 a block.
 * Stack with the return address: 23 bytes. Flash: 146 bytes, no tables.
 *
 * Constant flow: the instructions and addresses depend on the number of blocks
 * alone. There are no tables. Nothing stays on the stack: z is overwritten.
 *
 * The stack pointer moves by push, pop, call and return only and r1 is cleared
 * before returning, so interrupts may stay enabled.
 *
 * The idea. Horner's rule: for the bits of the other factor from the highest
 * degree (the lowest bit of byte 15) down, z = z x + bit h. z lies on the stack.
 * The lowest degree is in the top bit of byte 0, so z x is a shift right, and what
 * falls out, x^128, is 1 + x + x^2 + x^7, 0xe1 in byte 0.
 */

#define SPL_IO 0x3d
#define SPH_IO 0x3e

#define Y_POINTER r24
#define H_POINTER r22
#define DATA r20
#define BLOCKS_LOW r18
#define BLOCKS_HIGH r19
#define MASK r1
#define FACTOR r15
#define BITS r16
#define BYTE r17
#define COUNT r28
#define T r29

/*
 * void ws_ghash_blocks(uint8_t y[16], const uint8_t h[16], const uint8_t *data,
 *                      size_t blocks)
 *
 * in:  r25:r24 y, r23:r22 h, r21:r20 data, r19:r18 blocks, 0 allowed
 * Clobbers r0, r18-r21, r26, r27, r30, r31.
 */
	.section .text.ws_ghash_blocks, "ax", @progbits
	.global ws_ghash_blocks
	.type ws_ghash_blocks, @function
ws_ghash_blocks:
	push r15
	push r16
	push r17
	push r28
	push r29
	rjmp 7f

1:	ldi BYTE, 16
2:	push r1			; z = 0
	dec BYTE
	brne 2b
	ldi BYTE, 16
3:	dec BYTE
	movw r26, Y_POINTER
	add r26, BYTE
	adc r27, r1
	ld FACTOR, X
	movw r26, DATA
	add r26, BYTE
	adc r27, r1
	ld r0, X
	eor FACTOR, r0
	ldi BITS, 8
4:	in r30, SPL_IO
	in r31, SPH_IO
	adiw r30, 1
	movw r26, H_POINTER
	ldi COUNT, 16
	lsr FACTOR
	sbc MASK, MASK
	clc
5:	ld T, Z
	ror T
	ld r0, X+
	and r0, MASK
	eor T, r0
	st Z+, T
	dec COUNT
	brne 5b
	sbc T, T
	andi T, 0xe1
	sbiw r30, 16
	ld r0, Z
	eor r0, T
	st Z, r0
	clr r1
	dec BITS
	brne 4b
	cpse BYTE, r1
	rjmp 3b
	movw r26, Y_POINTER
	ldi BYTE, 16
6:	pop r0
	st X+, r0
	dec BYTE
	brne 6b
	subi DATA, lo8(-16)
	sbci r21, hi8(-16)
7:	subi BLOCKS_LOW, 1
	sbci BLOCKS_HIGH, 0
	brcc 1b
	in r30, SPL_IO		; zeros where z was
	in r31, SPH_IO
	adiw r30, 1
	ldi BYTE, 16
8:	st -Z, r1
	dec BYTE
	brne 8b
	pop r29
	pop r28
	pop r17
	pop r16
	pop r15
	ret
	.size ws_ghash_blocks, . - ws_ghash_blocks
