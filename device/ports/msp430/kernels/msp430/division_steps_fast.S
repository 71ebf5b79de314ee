/*
 * Division steps for the MSP430, fast.
 *
 * Defines ws_division_steps (contract: division_steps.h). CPUX.
 *
 * Idea. As in division_steps.c, one step in a loop, with masks the other way round, as a subtraction with borrow
 * makes them from the carry: all ones where delta is not positive, all ones where g is even. What is to be added
 * is then subtracted.
 *
 * Constant time: yes: no branch and no address depends on data.
 *
 * Cycle counts include CALL and RET, stack includes the return address.
 */
#include "function.inc"

/* to = to + from, negated if r8 is 0, where r9 is 0. */
.macro add_or_subtract from, to
    mov \from, r10
    xor r8, r10
    sub r8, r10
    bic r9, r10
    sub r10, \to
.endm

/* to = to + from where r8 is 0. */
.macro add_where from, to
    mov \from, r10
    bic r8, r10
    add r10, \to
.endm

/*
 * ws_digit ws_division_steps(ws_digit zeta, ws_unsigned_digit f, ws_unsigned_digit g, ws_transition *step)
 * in: r12 zeta, r13 f, r14 g, r15 step; out: r12; clobbers: r11, r13 to r15. 604 cycles, 16 bytes of stack.
 */
function ws_division_steps
    save_r4_to_r10
    /* u, v, q, r. */
    mov #1, r4
    clr r5
    clr r6
    mov #1, r7
    mov #14, r11
1:  mov r12, r8
    rla r8
    subc r8, r8
    mov r14, r9
    rra r9
    subc r9, r9
    add_or_subtract r13, r14
    add_or_subtract r4, r6
    add_or_subtract r5, r7
    bis r9, r8
    add_where r14, r13
    add_where r6, r4
    add_where r7, r5
    /* zeta - 1, or -zeta - 2 = not zeta - 1 where r8 is 0. */
    xor r8, r12
    inv r12
    dec r12
    rra r14
    rla r4
    rla r5
    dec r11
    jnz 1b
    mov r4, 0(r15)
    mov r5, 2(r15)
    mov r6, 4(r15)
    mov r7, 6(r15)
    restore_r4_to_r10
    ret
end ws_division_steps
