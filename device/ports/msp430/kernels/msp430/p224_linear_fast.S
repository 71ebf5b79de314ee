/*
 * Sums and differences modulo p = 2^224 - 2^96 + 1, the prime of P-224, for the MSP430.
 *
 * Defines ws_p224_add and ws_p224_subtract (contract: p224_field.h). CPUX.
 *
 * Words 0 to 3 are in the result's place, the others in r4 to r11, r15 and r13, until the result is
 * known.
 *
 * Constant time: yes: no branch and no address depends on data. Cycle counts include CALL and RET,
 * stack includes the return address.
 */

#include "function.inc"

/* The number plus p where r14 is -1, plus 0 where it is 0. Then all is at r12. */
.macro finish
    bit #1, r14
    .irp index, 0, 1, 2, 3
    adc 2*\index(r12)
    .endr
    adc r4
    adc r5
    .irp word, r6, r7, r8, r9, r10, r11, r15, r13
    addc r14, \word
    .endr
    .set offset, 8
    .irp word, r4, r5, r6, r7, r8, r9, r10, r11, r15, r13
    mov \word, offset(r12)
    .set offset, offset+2
    .endr
    restore_r4_to_r10
    ret
.endm

/*
 * void ws_p224_add(ws_p224_element *r, const ws_p224_element *a, const ws_p224_element *b)
 * in: r12 r, r13 a, r14 b; clobbers: r11, r13 to r15. 181 cycles, 16 bytes of stack. p is
 * subtracted from the sum, and added again where that is negative.
 */
function ws_p224_add
    save_r4_to_r10
    clrc
    .irp index, 0, 1, 2, 3
    mov @r13+, r15
    addc @r14+, r15
    mov r15, 2*\index(r12)
    .endr
    .irp word, r4, r5, r6, r7, r8, r9, r10, r11, r15
    mov @r13+, \word
    addc @r14+, \word
    .endr
    mov @r13, r13
    addc @r14, r13
    mov #0, r14
    adc r14
    sub #1, 0(r12)
    .irp index, 1, 2, 3
    sbc 2*\index(r12)
    .endr
    sbc r4
    sbc r5
    .irp word, r6, r7, r8, r9, r10, r11, r15, r13
    subc #-1, \word
    .endr
    sbc r14
    finish
end ws_p224_add

/*
 * void ws_p224_subtract(ws_p224_element *r, const ws_p224_element *a, const ws_p224_element *b)
 * in: r12 r, r13 a, r14 b; clobbers: r11, r13 to r15. 153 cycles, 16 bytes of stack.
 */
function ws_p224_subtract
    save_r4_to_r10
    setc
    .irp index, 0, 1, 2, 3
    mov @r13+, r15
    subc @r14+, r15
    mov r15, 2*\index(r12)
    .endr
    .irp word, r4, r5, r6, r7, r8, r9, r10, r11, r15
    mov @r13+, \word
    subc @r14+, \word
    .endr
    mov @r13, r13
    subc @r14, r13
    subc r14, r14
    finish
end ws_p224_subtract
