/*
 * Products modulo p = 2^192 - 2^64 - 1, the prime of P-192, for the MSP430 with a multiplier of 16
 * bits.
 *
 * Defines ws_p192_multiply and ws_p192_square (contract: p192_field.h). CPUX.
 *
 * Idea. The products of digits go column by column (mpy16.inc); all else is that of
 * p192_multiply.inc.
 *
 * Constant time: yes: no branch and no address depends on data.
 *
 * Interrupts: a service routine must not use the multiplier, or must save and restore it (SLAU208,
 * "Using Interrupts" of the MPY32 chapter).
 *
 * ws_p192_multiply: 2,969 cycles, 158 bytes of stack; ws_p192_square: 4 cycles more. Cycle counts
 * include CALL and RET, stack includes the return address.
 */

#include "p192_multiply.inc"
#include "mpy16.inc"

/*
 * 8 words at r12 = 4 words at r13 times 4 words at r14. clobbers: r4 to r7, r11, r13 to r15, the
 * multiplier.
 */
    .section .text.ws_p192_product_64, "ax", @progbits
    .p2align 1
    .type product_64, @function
product_64:
    .irp word, r4, r5, r6, r7
    mov @r14+, \word
    .endr
    clr r14
    clr r15
    product_columns 0, 4, 0, r12, r14, r15, r11, r7, r6, r5, r4
    ret
    .size product_64, . - product_64
