/*
 * Products modulo p = 2^192 - 2^64 - 1, the prime of P-192, for the MSP430 with a multiplier of 16
 * bits.
 *
 * Defines ws_p192_multiply and ws_p192_square (contract: p192_field.h). CPUX.
 *
 * Idea. The product is three products of 96 bits, column by column (mpy16.inc), under Karatsuba's
 * method (karatsuba_halves.inc); the reduction is that of p192_reduce.inc.
 *
 * Constant time: yes: no branch and no address depends on data.
 *
 * Interrupts: a service routine must not use the multiplier, or must save and restore it (SLAU208,
 * "Using Interrupts" of the MPY32 chapter).
 *
 * ws_p192_multiply: 2,087 cycles, 122 bytes of stack; ws_p192_square: 4 cycles more. Cycle counts
 * include CALL and RET, stack includes the return address.
 */

#define FUNCTION(name) ws_p192_ ## name
#define HALF 6
#define HALF_WORDS r4, r5, r6, r7, r8, r9
#define PRODUCT_OF_HALVES product_96

#define SUM PRODUCT
#define CARRY MIDDLE
#define UNDO MIDDLE+2

#include "function.inc"
#include "p192_reduce.inc"
#include "karatsuba_halves.inc"
#include "mpy16.inc"

/*
 * 12 words at r12 = 6 words at r13 times 6 words at r14. clobbers: r4 to r9, r11, r13 to r15, the
 * multiplier.
 */
    .section .text.ws_p192_product_96, "ax", @progbits
    .p2align 1
    .type product_96, @function
product_96:
    .irp word, HALF_WORDS
    mov @r14+, \word
    .endr
    clr r14
    clr r15
    product_columns 0, 6, 0, r12, r14, r15, r11, r9, r8, r7, r6, r5, r4
    ret
    .size product_96, . - product_96
