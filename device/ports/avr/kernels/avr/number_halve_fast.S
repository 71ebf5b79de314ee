/*
 * Halves modulo a modulus for AVR, the fast variant: ws_number_halve, whose contract is
 * number.h's.
 *
 * Cycles from the call instruction to the return inclusive: 487 for 32 bytes, 313 for 20.
 * Stack with the return address: 2 bytes. Flash: 100 bytes.
 *
 * Constant flow: the instructions and addresses depend on the size of the modulus alone,
 * which is a multiple of 4. r1 is 0 throughout.
 */

/* struct ws_modulus */
	.equ MODULUS_BYTES, 0
	.equ MODULUS_LIMBS, 3

	.equ BYTE, 18
	.equ OF_MODULUS, 19
	.equ MASK, 21
	.equ LEFT, 22		/* 4 bytes each */

/*
 * in:  r25:r24 a, r23:r22 m
 * Clobbers r18, r19, r21-r23, r26, r27, r30, r31.
 *
 * a or a + m is even; the sum's carry is the highest bit of its half.
 */
	.section .text.ws_number_halve, "ax", @progbits
	.global ws_number_halve
	.type ws_number_halve, @function
ws_number_halve:
	movw r26, r24
	movw r30, r22
	ldd LEFT, Z+MODULUS_BYTES
	ldd r18, Z+MODULUS_LIMBS
	ldd r19, Z+MODULUS_LIMBS+1
	movw r30, r18
	lsr LEFT
	lsr LEFT
	mov r23, LEFT
	ld MASK, X
	lsr MASK
	sbc MASK, MASK
	clc
1:	.rept 4
	ld BYTE, X
	ld OF_MODULUS, Z+
	and OF_MODULUS, MASK
	adc BYTE, OF_MODULUS
	st X+, BYTE
	.endr
	dec LEFT
	brne 1b
2:	.rept 4
	ld BYTE, -X
	ror BYTE
	st X, BYTE
	.endr
	dec r23
	brne 2b
	ret
	.size ws_number_halve, . - ws_number_halve
