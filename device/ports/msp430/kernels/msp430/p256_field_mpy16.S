/*
 * Arithmetic modulo the prime of P-256 for the MSP430 with a multiplier of 16 bits.
 *
 * Defines ws_p256_multiply, ws_p256_square, ws_p256_add and ws_p256_subtract (contract: p256_field.h). CPUX.
 *
 * Idea. The product is three products of 128 bits, column by column (mpy16.inc), under Karatsuba's method
 * (karatsuba.inc, p256_karatsuba.inc); Montgomery's reduction, which needs no multiplication, is that of
 * p256_field.inc.
 *
 * Constant time: yes: no branch and no address depends on data.
 *
 * Interrupts: a service routine must not use the multiplier, or must save and restore it (SLAU208, "Using
 * Interrupts" of the MPY32 chapter).
 *
 * ws_p256_multiply: 3,438 cycles, 156 bytes of stack; ws_p256_square: 3,442 cycles, 156 bytes. Cycle counts
 * include CALL and RET, stack includes the return address.
 */

#include "p256_karatsuba.inc"
#include "mpy16.inc"

/*
 * 16 words at r12 = 8 words at r13 times 8 words at r14. clobbers: r4 to r15, the multiplier.
 */
    .section .text.ws_p256_product_128, "ax", @progbits
    .p2align 1
    .type product_128, @function
product_128:
    .irp word, r4, r5, r6, r7, r8, r9, r10, r11
    mov @r14+, \word
    .endr
    push r11
    clr r14
    clr r15
    product_columns 0, 8, r14, r15, r11, @r1, r10, r9, r8, r7, r6, r5, r4
    incd r1
    ret
    .size product_128, . - product_128
