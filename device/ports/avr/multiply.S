/* Parts without MUL have the compiler's own, which take a time that hangs on the operands. */
#ifdef __AVR_HAVE_MUL__

/* Signed products of 16 bits for C, in place of the compiler's own in libgcc, which branch on the operands' signs.
 *
 * Registers are libgcc's, and gcc takes it that no others change: in R27:R26 (A) and R19:R18 (B), which stay; out R25:R22;
 * R0 changes. 41 cycles (__mulhisi3) and 34 (__usmulhisi3) with the return, whatever the operands. No stack.
 *
 * A negative operand stands for 2^16 more than it is: 2^16 times the other one is to be taken from the product of both as
 * numbers without sign. A mask does that: all ones if the operand is negative, else zero. */

/* R25:R22 = A B, both without sign. */
.macro product
    mul r26, r18
    movw r22, r0
    mul r27, r19
    movw r24, r0
    mul r26, r19
    add r23, r0
    adc r24, r1
    clr r1
    adc r25, r1
    mul r27, r18
    add r23, r0
    adc r24, r1
    clr r1
    adc r25, r1
.endm

/* R25:R24 less other_high:other_low if the bit 15 of which high is the upper half is set. AND and MOV keep the carry. */
.macro correct high, other_low, other_high
    mov r0, \high
    lsl r0
    sbc r0, r0
    mov r1, \other_low
    and r1, r0
    sub r24, r1
    mov r1, \other_high
    and r1, r0
    sbc r25, r1
.endm

    /* A and B signed. */
    .section .text.__mulhisi3, "ax", @progbits
    .global __mulhisi3
    .type __mulhisi3, @function
__mulhisi3:
    product
    correct r19, r26, r27
    correct r27, r18, r19
    clr r1
    ret
    .size __mulhisi3, . - __mulhisi3

    /* A signed, B without sign. */
    .section .text.__usmulhisi3, "ax", @progbits
    .global __usmulhisi3
    .type __usmulhisi3, @function
__usmulhisi3:
    product
    correct r27, r18, r19
    clr r1
    ret
    .size __usmulhisi3, . - __usmulhisi3

#endif
