/*
 * Arithmetic modulo the prime of P-256 for the MSP430 without its multiplier.
 *
 * Defines ws_p256_multiply, ws_p256_square, ws_p256_add and ws_p256_subtract (contract: p256_field.h). CPUX.
 *
 * Idea. The product is 27 products of 32 bits by shift and add, under three levels of Karatsuba's method
 * (shift_and_add.inc, karatsuba.inc, p256_karatsuba.inc); Montgomery's reduction, which needs no multiplication,
 * is that of p256_field.inc.
 *
 * Constant time: yes: no branch and no address depends on data.
 *
 * ws_p256_multiply: 11,178 cycles, 198 bytes of stack; ws_p256_square: 11,182 cycles, 198 bytes. Cycle counts
 * include CALL and RET, stack includes the return address.
 */

#include "p256_karatsuba.inc"
#include "shift_and_add.inc"

/* The frame of product_128, from r1: |a0 - a1|, |b0 - b1| and their product; the arguments; all ones where that product is
 * subtracted, else 0. */
#define DIFFERENCE_A_128 0
#define DIFFERENCE_B_128 8
#define MIDDLE_128 16
#define R_128 32
#define A_128 34
#define B_128 36
#define NEGATE_128 38
#define FRAME_128 40

/*
 * 4 words r7:r6:r11:r8 = r4 and the complement of r5, the higher word, times r11:r8. clobbers: r9, r10.
 */
    .section .text.ws_p256_product_32, "ax", @progbits
    .p2align 1
    .type product_32, @function
product_32:
    clr r6
    clr r7
    .irp b, r8, r11
    rrc \b
    .rept 16
    add_lowest r4, r6, r9, r10
    add_highest r5, r7, r9
    shift_right r7, r6, \b
    .endr
    .endr
    ret
    .size product_32, . - product_32

/* Two words at r13, offset bytes on, times two at r14, offset bytes on, to r12, twice that on. */
.macro product_of_parts offset
    mov \offset(r13), r4
    mov \offset+2(r13), r5
    inv r5
    mov \offset(r14), r8
    mov \offset+2(r14), r11
    call #product_32
    mov r8, 2*\offset(r12)
    mov r11, 2*\offset+2(r12)
    mov r6, 2*\offset+4(r12)
    mov r7, 2*\offset+6(r12)
.endm

/*
 * 8 words at r12 = 4 words at r13 times 4 words at r14. clobbers: r4 to r11, r13 to r15.
 */
    .section .text.ws_p256_product_64, "ax", @progbits
    .p2align 1
    .type product_64, @function
product_64:
    product_of_parts 0
    product_of_parts 4
    absolute_difference r13, r15, r4, r5
    inv r5
    mov r14, r9
    absolute_difference r9, r14, r8, r11
    xor r14, r15
    inv r15
    call #product_32
    .irp word, r8, r11, r6, r7
    xor r15, \word
    .endr
    mov r15, r9
    rla r9
    addc 0(r12), r8
    addc 2(r12), r11
    addc 4(r12), r6
    addc 6(r12), r7
    adc r15
    add 8(r12), r8
    addc 10(r12), r11
    addc 12(r12), r6
    addc 14(r12), r7
    adc r15
    add r8, 4(r12)
    addc r11, 6(r12)
    addc r6, 8(r12)
    addc r7, 10(r12)
    addc r15, 12(r12)
    adc 14(r12)
    ret
    .size product_64, . - product_64

/*
 * 16 words at r12 = 8 words at r13 times 8 words at r14. clobbers: r4 to r15.
 */
    .section .text.ws_p256_product_128, "ax", @progbits
    .p2align 1
    .type product_128, @function
product_128:
    sub #FRAME_128, r1
    mov r12, R_128(r1)
    mov r13, A_128(r1)
    mov r14, B_128(r1)
    absolute_difference r13, r8, r4, r5, r6, r7
    store_at DIFFERENCE_A_128, r4, r5, r6, r7
    absolute_difference r14, r9, r4, r5, r6, r7
    store_at DIFFERENCE_B_128, r4, r5, r6, r7
    xor r9, r8
    inv r8
    mov r8, NEGATE_128(r1)
    sub #16, r13
    sub #16, r14
    call #product_64
    mov R_128(r1), r12
    add #16, r12
    mov A_128(r1), r13
    add #8, r13
    mov B_128(r1), r14
    add #8, r14
    call #product_64
    operands_in_frame MIDDLE_128, DIFFERENCE_A_128, DIFFERENCE_B_128
    call #product_64

    mov NEGATE_128(r1), r12
    mov r1, r13
    add #MIDDLE_128, r13
    load_complemented r13, r12, r4, r5, r6, r7, r8, r9, r10, r11
    mov R_128(r1), r13
    mov r12, r14
    rla r14
    addc_from r13, r4, r5, r6, r7, r8, r9, r10, r11
    adc r12
    clrc
    addc_from r13, r4, r5, r6, r7, r8, r9, r10, r11
    adc r12
    add r4, -24(r13)
    addc r5, -22(r13)
    addc r6, -20(r13)
    addc r7, -18(r13)
    addc r8, -16(r13)
    addc r9, -14(r13)
    addc r10, -12(r13)
    addc r11, -10(r13)
    addc r12, -8(r13)
    adc -6(r13)
    adc -4(r13)
    adc -2(r13)
    add #FRAME_128, r1
    ret
    .size product_128, . - product_128
