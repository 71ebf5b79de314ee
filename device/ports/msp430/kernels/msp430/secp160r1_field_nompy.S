/*
 * Arithmetic modulo p = 2^160 - 2^31 - 1, the prime of secp160r1, for the MSP430 without its multiplier.
 *
 * Defines ws_secp160r1_multiply, ws_secp160r1_square, ws_secp160r1_add and ws_secp160r1_subtract (contract:
 * secp160r1_field.h). CPUX.
 *
 * Idea. The product is three products of 80 bits by shift and add, under Karatsuba's method (shift_and_add.inc,
 * secp160r1_karatsuba.inc).
 *
 * Constant time: yes: no branch and no address depends on data.
 *
 * ws_secp160r1_multiply: 6,304 cycles, 112 bytes of stack; ws_secp160r1_square: 6,308 cycles, 112 bytes. Cycle
 * counts include CALL and RET, stack includes the return address.
 */

#include "secp160r1_karatsuba.inc"
#include "shift_and_add.inc"

/*
 * 10 words at r12 = 5 words at r13 times 5 words at r14. clobbers: r4 to r15. b goes to where the product's low
 * words will be; the complement of the highest word of a is on top of the stack.
 */
    .section .text.ws_secp160r1_product_80, "ax", @progbits
    .p2align 1
    .type product_80, @function
product_80:
    .irp word, r4, r5, r6, r7, r15
    mov @r13+, \word
    .endr
    .irp word, r5, r6, r7, r15
    inv \word
    .endr
    .irp word, r8, r9, r10, r11, r13
    mov @r14+, \word
    .endr
    mov r8, 0(r12)
    mov r9, 2(r12)
    mov r10, 4(r12)
    mov r11, 6(r12)
    mov r13, 8(r12)
    push r12
    add #10, r12
    push r12
    push r15
    mov 4(r1), r15
    .irp word, r8, r9, r10, r11, r12
    clr \word
    .endr
1:  mov @r15, r13
    rrc r13
    .rept 16
    add_lowest r4, r8, r14, r15
    add_next r5, r9, r14, r15
    add_next r6, r10, r14, r15
    add_next r7, r11, r14, r15
    add_highest @r1, r12, r14
    shift_right r12, r11, r10, r9, r8, r13
    .endr
    mov 4(r1), r15
    mov r13, 0(r15)
    incd r15
    mov r15, 4(r1)
    cmp 2(r1), r15
    jne 1b
    mov r8, 0(r15)
    mov r9, 2(r15)
    mov r10, 4(r15)
    mov r11, 6(r15)
    mov r12, 8(r15)
    add #6, r1
    ret
    .size product_80, . - product_80
