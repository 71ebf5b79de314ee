/*
 * Products modulo p = 2^224 - 2^96 + 1, the prime of P-224, for the MSP430 with a multiplier of 16
 * bits.
 *
 * Defines ws_p224_multiply and ws_p224_square (contract: p224_field.h). CPUX.
 *
 * Idea. The product T is three products of 112 bits, column by column (mpy16.inc), under
 * Karatsuba's method (karatsuba_halves.inc). The reduction is Montgomery's, by 2^224 at once. p is
 * 1 modulo 2^96, so that u with T - u p = 0 modulo 2^224 follows from T. It is T's lower half plus
 * u 2^96, six words from the six before. What this carries beyond 2^224, k, is all that the lower
 * half leaves:
 *   (T - u p) / 2^224 = T's upper half - u + u / 2^128 + k,
 * above -p and below p. Where it is negative, p is added through a mask.
 *
 * Constant time: yes: no branch and no address depends on data.
 *
 * Interrupts: a service routine must not use the multiplier, or must save and restore it (SLAU208,
 * "Using Interrupts" of the MPY32 chapter).
 *
 * ws_p224_multiply: 2,581 cycles, 138 bytes of stack; ws_p224_square: 4 cycles more. Cycle counts
 * include CALL and RET, stack includes the return address.
 */

#define FUNCTION(name) ws_p224_ ## name
#define HALF 7
#define HALF_WORDS r4, r5, r6, r7, r8, r9, r10
#define PRODUCT_OF_HALVES product_112

#include "function.inc"

/* words = words + or - the number in the frame, from offset on, with the carry. */
.macro apply_at operation, first, words:vararg
    .set offset, \first
    .irp word, \words
    \operation offset(r1), \word
    .set offset, offset+2
    .endr
.endm

/* The product, less u p, to the result. u takes the place of the lower half. */
.macro reduce
    mov r1, r13
    add #PRODUCT, r13
    .irp word, r4, r5, r6, r7, r8, r9
    mov @r13+, \word
    .endr
    clrc
    addc_at PRODUCT+12, r4, r5, r6, r7, r8, r9
    mov PRODUCT+12(r1), r4
    addc r4, PRODUCT+24(r1)
    mov PRODUCT+14(r1), r4
    addc r4, PRODUCT+26(r1)

    /* The result's words 0 to 5. r12 is the sum's carry; r14 is -1 where the difference borrows. */
    mov PRODUCT+28(r1), r4
    mov PRODUCT+30(r1), r5
    mov PRODUCT+32(r1), r6
    mov PRODUCT+34(r1), r7
    mov PRODUCT+36(r1), r8
    mov PRODUCT+38(r1), r9
    apply_at addc, PRODUCT+16, r4, r5, r6, r7, r8, r9
    mov #0, r12
    adc r12
    setc
    apply_at subc, PRODUCT, r4, r5, r6, r7, r8, r9
    subc r14, r14
    mov R(r1), r15
    .set offset, 0
    .irp word, r4, r5, r6, r7, r8, r9
    mov \word, offset(r15)
    .set offset, offset+2
    .endr
    /* Words 6 to 13; r13 becomes -1 where all is negative, else 0. */
    mov r1, r13
    add #PRODUCT+40, r13
    .irp word, r4, r5, r6, r7, r8, r9, r10, r11
    mov @r13+, \word
    .endr
    clr r13
    add r12, r4
    .irp word, r5, r6, r7, r8, r9, r10, r11, r13
    adc \word
    .endr
    inv r14
    rra r14
    apply_at subc, PRODUCT+12, r4, r5, r6, r7, r8, r9, r10, r11
    sbc r13
    /* The lowest bit of p. */
    bit #1, r13
    .irp index, 0, 1, 2, 3, 4, 5
    adc 2*\index(r15)
    .endr
    .set offset, 12
    .irp word, r4, r5, r6, r7, r8, r9, r10, r11
    addc r13, \word
    mov \word, offset(r15)
    .set offset, offset+2
    .endr
.endm

#include "karatsuba_halves.inc"
#include "mpy16.inc"

/*
 * 14 words at r12 = 7 words at r13 times 7 words at r14. clobbers: r4 to r11, r13 to r15, the
 * multiplier.
 */
    .section .text.ws_p224_product_112, "ax", @progbits
    .p2align 1
    .type product_112, @function
product_112:
    .irp word, HALF_WORDS
    mov @r14+, \word
    .endr
    clr r14
    clr r15
    product_columns 0, 7, 0, r12, r14, r15, r11, r10, r9, r8, r7, r6, r5, r4
    ret
    .size product_112, . - product_112
