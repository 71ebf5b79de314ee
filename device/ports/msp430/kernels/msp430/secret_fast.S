/*
 * Erasing and comparing secrets on the MSP430, fast: by words where the address allows it.
 *
 * Defines ws_wipe and ws_equal (contracts: secret.h). Base MSP430 instructions only.
 *
 * Constant time: yes, for a given length and a given parity of the address.
 */

/*
 * void ws_wipe(void *p, size_t n)
 * in:  r12 p, r13 n
 * clobbers: r12, r13. Stack: 2 bytes.
 * Cycles: for an even n at an even p, 25 + 30 for every 16 bytes + 7 for every word that is left; 11 for n = 0.
 */
    .section .text.ws_wipe, "ax", @progbits
    .p2align 1
    .global ws_wipe
    .type ws_wipe, @function
ws_wipe:
    tst r13
    jz 6f
    bit #1, r12
    jz 1f
    clr.b 0(r12)
    inc r12
    dec r13
1:  sub #16, r13
    jlo 3f
2:  .irp offset, 0, 2, 4, 6, 8, 10, 12, 14
    clr \offset(r12)
    .endr
    add #16, r12
    sub #16, r13
    jhs 2b
3:  add #14, r13
    jnc 5f
    /* Words left, less one, and the odd byte in r13. */
4:  clr 0(r12)
    incd r12
    decd r13
    jhs 4b
5:  bit #1, r13
    jz 6f
    clr.b 0(r12)
6:  ret
    .size ws_wipe, . - ws_wipe

/*
 * int ws_equal(const void *a, const void *b, size_t n)
 * in:  r12 a, r13 b, r14 n
 * out: r12
 * clobbers: r11-r15. Stack: 2 bytes.
 * Cycles: 15 + 8 n.
 */
    .section .text.ws_equal, "ax", @progbits
    .p2align 1
    .global ws_equal
    .type ws_equal, @function
ws_equal:
    clr r15
    tst r14
    jz 2f
1:  mov.b @r12+, r11
    xor.b @r13+, r11
    bis r11, r15
    dec r14
    jnz 1b
    /* A borrow, and so a mask of ones, if there was no difference. */
2:  dec r15
    subc r12, r12
    and #1, r12
    ret
    .size ws_equal, . - ws_equal
