/*
 * Table entries at a secret index for the MSP430, fast.
 *
 * Defines ws_select (contract: select.h). CPUX.
 *
 * Idea. Four words at a time are gathered in registers from all entries. How far the index is away counts down to 0 at its
 * entry; there a comparison leaves the borrow from which the mask is made. Where the words are no multiple of four, the
 * last four overlap those before.
 *
 * Constant time: yes: no branch and no address depends on the index.
 *
 * Cycle counts include CALL and RET, stack includes the return address.
 */
#include "function.inc"

/*
 * void ws_select(ws_word *r, const ws_word *table, uint8_t words, uint8_t entries, uint8_t index)
 * in: r12 r, r13 table, r14 words, r15 entries, index on the stack; clobbers: r11 to r15. 30 + 23 entries cycles for each four
 * words and about 56 more, 22 bytes of stack.
 */
function ws_select
    save_r4_to_r10
    mov.b 16(r1), r11
    push r11
    mov.b r15, r15
    push r15
    mov.b r14, r14
    rla r14
    /* r14: from an entry's end of four words to the next one's; r4: where the last four words of r are. */
    mov r12, r4
    add r14, r4
    sub #8, r4
    push r4
    sub #8, r14
1:  mov r13, r15
    mov 2(r1), r4
    mov 4(r1), r5
    .irp word, r6, r7, r8, r9
    clr \word
    .endr
2:  cmp #1, r5
    subc r10, r10
    dec r5
    .irp word, r6, r7, r8, r9
    mov @r15+, r11
    and r10, r11
    bis r11, \word
    .endr
    add r14, r15
    dec r4
    jnz 2b
    mov r6, 0(r12)
    mov r7, 2(r12)
    mov r8, 4(r12)
    mov r9, 6(r12)
    /* The next four, or the last; r13 goes as far as r12. */
    add #8, r13
    add #8, r12
    mov r12, r4
    sub @r1, r4
    jl 1b
    cmp #8, r4
    jge 3f
    sub r4, r12
    sub r4, r13
    jmp 1b
3:  add #6, r1
    restore_r4_to_r10
    ret
end ws_select
