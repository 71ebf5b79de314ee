/*
 * Halving modulo a prime for the MSP430, fast.
 *
 * Defines ws_number_halve (contract: number.h). CPUX.
 *
 * Idea. The modulus or 0 is added, and then all is shifted right by one bit, both in place, two words at a time;
 * between them the carry is in r11.
 *
 * Constant time: yes for a given modulus: no branch and no address depends on the number.
 *
 * Cycle counts include CALL and RET, stack includes the return address.
 */
#include "function.inc"

/*
 * void ws_number_halve(ws_limb *a, const ws_modulus *m)
 * in: r12 a, r13 m; clobbers: r11 to r15. 34 cycles for two words and 30 more, 6 bytes of stack.
 */
function ws_number_halve
    push r10
    mov.b @r13, r15
    rra r15
    rra r15
    mov 4(r13), r13
    push r15
    /* All ones in r10 if a is even. */
    mov @r12, r10
    rra r10
    subc r10, r10
    clr r11
1:  rra r11
    mov @r13+, r14
    bic r10, r14
    addc r14, 0(r12)
    mov @r13+, r14
    bic r10, r14
    addc r14, 2(r12)
    rlc r11
    add #4, r12
    dec r15
    jnz 1b
    pop r15
2:  rra r11
    rrc -2(r12)
    rrc -4(r12)
    rlc r11
    sub #4, r12
    dec r15
    jnz 2b
    pop r10
    ret
end ws_number_halve
