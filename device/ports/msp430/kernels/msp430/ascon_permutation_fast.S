/*
 * Ascon-p for the MSP430, fast.
 *
 * Defines ws_ascon_permute (contract: ascon_permutation.h). Base MSP430 instructions only.
 * in: r12 state, r13 rounds. Cycles from the call instruction to the return inclusive: 50 and 611 a round. Stack with the return
 * address: 16 bytes. Flash: 1104 bytes. Clobbers: r11 to r15.
 *
 * Idea. The S-box (NIST SP 800-232 section 3.3) in 22 instructions a word, as in the AVR's kernel. In the linear layer
 * (section 3.4) turning by words is a choice of registers; a copy is turned by the few bits of the one offset, and from there by those
 * of the other. Turning by eight bits takes as long as by five single ones.
 *
 * Constant time: yes: no branch and no address depends on data. Registers are the caller's to clear.
 */

/* The S-box on the words at `at` of S0 to S4. Scratch: r4 to r11. */
.macro substitute at
    mov \at(r12), r4
    mov \at+8(r12), r5
    mov \at+16(r12), r6
    mov \at+24(r12), r7
    mov \at+32(r12), r8
    xor r8, r4
    xor r7, r8
    xor r5, r6
    /* x0 = ((x0 ^ x2) | x1) ^ x4 */
    mov r4, r9
    xor r6, r9
    bis r5, r9
    xor r8, r9
    mov r9, \at(r12)
    /* x1 = ((x1 ^ x3) | x2) ^ x0 */
    mov r5, r10
    xor r7, r10
    bis r6, r10
    xor r4, r10
    mov r10, \at+8(r12)
    /* x3 = ((x0 ^ x3) | x4) ^ x2 */
    mov r4, r11
    xor r7, r11
    bis r8, r11
    xor r6, r11
    mov r11, \at+24(r12)
    /* x2 = (~x4 | x3) ^ x2 */
    mov r8, r9
    inv r9
    bis r7, r9
    xor r9, r6
    mov r6, \at+16(r12)
    /* x4 = (~x0 & x1) ^ x4 */
    bic r4, r5
    xor r5, r8
    mov r8, \at+32(r12)
.endm

/* The copy in r8 to r11, turned. */
.macro turn_right n
    .rept \n
    bit #1, r8
    rrc r11
    rrc r10
    rrc r9
    rrc r8
    .endr
.endm

.macro turn_left n
    .rept \n
    rla r8
    rlc r9
    rlc r10
    rlc r11
    adc r8
    .endr
.endm

/* Word = its low byte and, above, that of the next word: the bytes are exchanged before. */
.macro join word, next
    xor \word, \next
    mov \next, r15
    and #0xff00, r15
    xor \word, \next
    xor r15, \word
.endm

/* Turned right by eight bits. Scratch: r14, r15. */
.macro turn_byte
    swpb r8
    swpb r9
    swpb r10
    swpb r11
    mov r8, r14
    join r8, r9
    join r9, r10
    join r10, r11
    xor r11, r14
    and #0xff00, r14
    xor r14, r11
.endm

.macro load at
    mov \at(r12), r4
    mov \at+2(r12), r5
    mov \at+4(r12), r6
    mov \at+6(r12), r7
    mov r4, r8
    mov r5, r9
    mov r6, r10
    mov r7, r11
.endm

/* Adds the copy, its words in this order. */
.macro add_copy c0, c1, c2, c3
    xor \c0, r4
    xor \c1, r5
    xor \c2, r6
    xor \c3, r7
.endm

.macro store at
    mov r4, \at(r12)
    mov r5, \at+2(r12)
    mov r6, \at+4(r12)
    mov r7, \at+6(r12)
.endm

    .section .text.ws_ascon_permute, "ax", @progbits
    .balign 2
    .global ws_ascon_permute
    .type ws_ascon_permute, @function
ws_ascon_permute:
    push r4
    push r5
    push r6
    push r7
    push r8
    push r9
    push r10
    /* Section 3.2: the first constant, 0x3c + 15 rounds. */
    and #0xff, r13
    mov r13, r14
    rla r13
    rla r13
    rla r13
    rla r13
    sub r14, r13
    add #0x3c, r13

.Lround:
    xor r13, 16(r12)
    .irp word, 0, 2, 4, 6
    substitute \word
    .endr
    /* S0: 19 and 28, which is two words less four bits. */
    load 0
    turn_right 3
    add_copy r9, r10, r11, r8
    turn_left 7
    add_copy r10, r11, r8, r9
    store 0
    /* S1: 61, four words less three bits, and 39, two words and seven bits. */
    load 8
    turn_left 3
    add_copy r8, r9, r10, r11
    turn_byte
    turn_right 2
    add_copy r10, r11, r8, r9
    store 8
    /* S2: 1 and 6. */
    load 16
    turn_right 1
    add_copy r8, r9, r10, r11
    turn_right 5
    add_copy r8, r9, r10, r11
    store 16
    /* S3: 17 and 10. */
    load 24
    turn_right 1
    add_copy r9, r10, r11, r8
    turn_byte
    turn_right 1
    add_copy r8, r9, r10, r11
    store 24
    /* S4: 7 and 41, two words and nine bits. */
    load 32
    turn_right 7
    add_copy r8, r9, r10, r11
    turn_right 2
    add_copy r10, r11, r8, r9
    store 32
    sub #15, r13
    cmp #0x3c, r13
    jeq 1f
    br #.Lround

1:  pop r10
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
    ret
    .size ws_ascon_permute, . - ws_ascon_permute
