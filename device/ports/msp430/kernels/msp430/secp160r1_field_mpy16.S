/*
 * Arithmetic modulo p = 2^160 - 2^31 - 1, the prime of secp160r1, for the MSP430 with a multiplier of 16 bits.
 *
 * Defines ws_secp160r1_multiply, ws_secp160r1_square, ws_secp160r1_add and ws_secp160r1_subtract (contract:
 * secp160r1_field.h). CPUX.
 *
 * Idea. The product is three products of 80 bits, column by column (mpy16.inc), under Karatsuba's method
 * (secp160r1_karatsuba.inc).
 *
 * Constant time: yes: no branch and no address depends on data.
 *
 * Interrupts: a service routine must not use the multiplier, or must save and restore it (SLAU208, "Using
 * Interrupts" of the MPY32 chapter).
 *
 * ws_secp160r1_multiply: 1,549 cycles, 106 bytes of stack; ws_secp160r1_square: 1,553 cycles, 106 bytes. Cycle
 * counts include CALL and RET, stack includes the return address.
 */

#include "secp160r1_karatsuba.inc"
#include "mpy16.inc"

/*
 * 10 words at r12 = 5 words at r13 times 5 words at r14. clobbers: r4 to r9, r11 to r15, the multiplier.
 */
    .section .text.ws_secp160r1_product_80, "ax", @progbits
    .p2align 1
    .type product_80, @function
product_80:
    .irp word, r4, r5, r6, r7, r8
    mov @r14+, \word
    .endr
    clr r14
    clr r15
    product_columns 0, 5, 0, r12, r14, r15, r11, r8, r7, r6, r5, r4
    ret
    .size product_80, . - product_80
