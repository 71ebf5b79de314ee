/*
 * Sums and differences modulo p = 2^192 - 2^64 - 1, the prime of P-192, for the MSP430.
 *
 * Defines ws_p192_add and ws_p192_subtract (contract: p192_field.h). CPUX.
 *
 * Words 0 and 1 are in the result's place, the others in r4 to r11, r15 and r13, until the result
 * is known.
 *
 * Constant time: yes: no branch and no address depends on data. Cycle counts include CALL and RET,
 * stack includes the return address.
 */

#include "function.inc"

/* The number less 2^64 + 1 where r14 is 1, less 0 where it is 0. Then all is at r12. */
.macro finish
    sub r14, 0(r12)
    sbc 2(r12)
    sbc r4
    sbc r5
    subc r14, r6
    .irp word, r7, r8, r9, r10, r11, r15, r13
    sbc \word
    .endr
    .set offset, 4
    .irp word, r4, r5, r6, r7, r8, r9, r10, r11, r15, r13
    mov \word, offset(r12)
    .set offset, offset+2
    .endr
    restore_r4_to_r10
    ret
.endm

/*
 * void ws_p192_add(ws_p192_element *r, const ws_p192_element *a, const ws_p192_element *b)
 * in: r12 r, r13 a, r14 b; clobbers: r11, r13 to r15. 151 cycles, 16 bytes of stack.
 * a + b + 2^64 + 1 is the sum less p if it overflows 2^192; otherwise 2^64 + 1 is subtracted again.
 */
function ws_p192_add
    save_r4_to_r10
    clrc
    .irp index, 0, 1
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
    add #1, 0(r12)
    adc 2(r12)
    adc r4
    adc r5
    addc #1, r6
    .irp word, r7, r8, r9, r10, r11, r15, r13, r14
    adc \word
    .endr
    xor #1, r14
    finish
end ws_p192_add

/*
 * void ws_p192_subtract(ws_p192_element *r, const ws_p192_element *a, const ws_p192_element *b)
 * in: r12 r, r13 a, r14 b; clobbers: r11, r13 to r15. 131 cycles, 16 bytes of stack. Plus p is
 * minus 2^64 + 1.
 */
function ws_p192_subtract
    save_r4_to_r10
    setc
    .irp index, 0, 1
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
    and #1, r14
    finish
end ws_p192_subtract
