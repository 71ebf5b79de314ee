/*
 * Keccak-f[1600] for the MSP430, fast: a round at a time in place, lanes of four words.
 *
 * Defines ws_keccak_permute (contract: keccak_permutation.h). Base MSP430 instructions only.
 * in: r12 state. Cycles from the call instruction to the return inclusive: 70102. Stack with the return address: 96 bytes.
 * Flash: 4634 bytes, 192 of them constants. Clobbers: r11 to r15.
 *
 * Idea. Rho and pi are one walk through the 24 lanes that they move: a lane is turned in four registers while the one
 * whose place it takes waits in four others. What theta adds to a lane is added when it is taken. A lane is turned by at most eight
 * bits, either way, and by whole words in the order in which they are stored.
 *
 * Constant time: yes: no branch and no address depends on data. The frame is wiped.
 */

/* The frame, from r1: D of theta, and the parities of the columns that it is made of. */
#define D               0
#define PARITIES        40
#define FRAME           80

/* A parity of column x: 19 cycles a word. */
.macro parity x
    .irp word, 0, 2, 4, 6
    mov 8*\x+\word(r12), r13
    xor 8*\x+40+\word(r12), r13
    xor 8*\x+80+\word(r12), r13
    xor 8*\x+120+\word(r12), r13
    xor 8*\x+160+\word(r12), r13
    mov r13, PARITIES+8*\x+\word(r1)
    .endr
.endm

/* D of column x = the parity to its left ^ that to its right, turned by one bit. */
.macro spread x, left, right
    mov PARITIES+8*\right(r1), r4
    mov PARITIES+8*\right+2(r1), r5
    mov PARITIES+8*\right+4(r1), r6
    mov PARITIES+8*\right+6(r1), r7
    turn_left 1, r4, r5, r6, r7
    xor PARITIES+8*\left(r1), r4
    xor PARITIES+8*\left+2(r1), r5
    xor PARITIES+8*\left+4(r1), r6
    xor PARITIES+8*\left+6(r1), r7
    mov r4, D+8*\x(r1)
    mov r5, D+8*\x+2(r1)
    mov r6, D+8*\x+4(r1)
    mov r7, D+8*\x+6(r1)
.endm

/* Takes a lane of a column, with D. */
.macro take w0, w1, w2, w3, lane, column
    mov 8*\lane(r12), \w0
    mov 8*\lane+2(r12), \w1
    mov 8*\lane+4(r12), \w2
    mov 8*\lane+6(r12), \w3
    xor D+8*\column(r1), \w0
    xor D+8*\column+2(r1), \w1
    xor D+8*\column+4(r1), \w2
    xor D+8*\column+6(r1), \w3
.endm

.macro turn_left n, w0, w1, w2, w3
    .rept \n
    rla \w0
    rlc \w1
    rlc \w2
    rlc \w3
    adc \w0
    .endr
.endm

.macro turn_right n, w0, w1, w2, w3
    .rept \n
    bit #1, \w0
    rrc \w3
    rrc \w2
    rrc \w1
    rrc \w0
    .endr
.endm

.macro give w0, w1, w2, w3, lane
    mov \w0, 8*\lane(r12)
    mov \w1, 8*\lane+2(r12)
    mov \w2, 8*\lane+4(r12)
    mov \w3, 8*\lane+6(r12)
.endm

/* x ^= ~y & z, x in memory. */
.macro chi at, y, z
    mov \z, r13
    bic \y, r13
    xor r13, \at(r12)
.endm

/* Chi on a row, the lanes from `row` on, word by word. */
.macro chi_row row
    .irp word, 0, 2, 4, 6
    mov \row+\word(r12), r4
    mov \row+8+\word(r12), r5
    mov \row+16+\word(r12), r6
    mov \row+24+\word(r12), r7
    mov \row+32+\word(r12), r8
    chi \row+\word, r5, r6
    chi \row+8+\word, r6, r7
    chi \row+16+\word, r7, r8
    chi \row+24+\word, r8, r4
    chi \row+32+\word, r4, r5
    .endr
.endm

    .section .rodata.ws_keccak_round_constants, "a", @progbits
    .balign 2
ws_keccak_round_constants:
    .long 0x00000001, 0x00000000, 0x00008082, 0x00000000, 0x0000808a, 0x80000000, 0x80008000, 0x80000000
    .long 0x0000808b, 0x00000000, 0x80000001, 0x00000000, 0x80008081, 0x80000000, 0x00008009, 0x80000000
    .long 0x0000008a, 0x00000000, 0x00000088, 0x00000000, 0x80008009, 0x00000000, 0x8000000a, 0x00000000
    .long 0x8000808b, 0x00000000, 0x0000008b, 0x80000000, 0x00008089, 0x80000000, 0x00008003, 0x80000000
    .long 0x00008002, 0x80000000, 0x00000080, 0x80000000, 0x0000800a, 0x00000000, 0x8000000a, 0x80000000
    .long 0x80008081, 0x80000000, 0x00008080, 0x80000000, 0x80000001, 0x00000000, 0x80008008, 0x80000000
ws_keccak_round_constants_end:

    .section .text.ws_keccak_permute, "ax", @progbits
    .balign 2
    .global ws_keccak_permute
    .type ws_keccak_permute, @function
ws_keccak_permute:
    push r4
    push r5
    push r6
    push r7
    push r8
    push r9
    push r10
    sub #FRAME, r1
    mov #ws_keccak_round_constants, r14

.Lround:
    .irp x, 0, 1, 2, 3, 4
    parity \x
    .endr
    spread 0, 4, 1
    spread 1, 0, 2
    spread 2, 1, 3
    spread 3, 2, 4
    spread 4, 3, 0

    /* Lane 0 stays where it is. */
    .irp word, 0, 2, 4, 6
    mov D+\word(r1), r13
    xor r13, \word(r12)
    .endr
    take r4, r5, r6, r7, 1, 1
    take r8, r9, r10, r11, 10, 0
    turn_left 1, r4, r5, r6, r7
    give r4, r5, r6, r7, 10
    take r4, r5, r6, r7, 7, 2
    turn_left 3, r8, r9, r10, r11
    give r8, r9, r10, r11, 7
    take r8, r9, r10, r11, 11, 1
    turn_left 6, r4, r5, r6, r7
    give r4, r5, r6, r7, 11
    take r4, r5, r6, r7, 17, 2
    turn_right 6, r8, r9, r10, r11
    give r11, r8, r9, r10, 17
    take r8, r9, r10, r11, 18, 3
    turn_right 1, r4, r5, r6, r7
    give r7, r4, r5, r6, 18
    take r4, r5, r6, r7, 3, 3
    turn_left 5, r8, r9, r10, r11
    give r11, r8, r9, r10, 3
    take r8, r9, r10, r11, 5, 0
    turn_right 4, r4, r5, r6, r7
    give r6, r7, r4, r5, 5
    take r4, r5, r6, r7, 16, 1
    turn_left 4, r8, r9, r10, r11
    give r10, r11, r8, r9, 16
    take r8, r9, r10, r11, 8, 3
    turn_right 3, r4, r5, r6, r7
    give r5, r6, r7, r4, 8
    take r4, r5, r6, r7, 21, 1
    turn_left 7, r8, r9, r10, r11
    give r9, r10, r11, r8, 21
    take r8, r9, r10, r11, 24, 4
    turn_left 2, r4, r5, r6, r7
    give r4, r5, r6, r7, 24
    take r4, r5, r6, r7, 4, 4
    turn_right 2, r8, r9, r10, r11
    give r11, r8, r9, r10, 4
    take r8, r9, r10, r11, 15, 0
    turn_right 5, r4, r5, r6, r7
    give r6, r7, r4, r5, 15
    take r4, r5, r6, r7, 23, 3
    turn_right 7, r8, r9, r10, r11
    give r9, r10, r11, r8, 23
    take r8, r9, r10, r11, 19, 4
    turn_left 8, r4, r5, r6, r7
    give r5, r6, r7, r4, 19
    take r4, r5, r6, r7, 13, 3
    turn_left 8, r8, r9, r10, r11
    give r8, r9, r10, r11, 13
    take r8, r9, r10, r11, 12, 2
    turn_right 7, r4, r5, r6, r7
    give r6, r7, r4, r5, 12
    take r4, r5, r6, r7, 2, 2
    turn_right 5, r8, r9, r10, r11
    give r9, r10, r11, r8, 2
    take r8, r9, r10, r11, 20, 0
    turn_right 2, r4, r5, r6, r7
    give r4, r5, r6, r7, 20
    take r4, r5, r6, r7, 14, 4
    turn_left 2, r8, r9, r10, r11
    give r11, r8, r9, r10, 14
    take r8, r9, r10, r11, 22, 2
    turn_left 7, r4, r5, r6, r7
    give r6, r7, r4, r5, 22
    take r4, r5, r6, r7, 9, 4
    turn_right 3, r8, r9, r10, r11
    give r8, r9, r10, r11, 9
    take r8, r9, r10, r11, 6, 1
    turn_left 4, r4, r5, r6, r7
    give r7, r4, r5, r6, 6
    turn_right 4, r8, r9, r10, r11
    give r9, r10, r11, r8, 1

    .irp row, 0, 40, 80, 120, 160
    chi_row \row
    .endr

    xor @r14+, 0(r12)
    xor @r14+, 2(r12)
    xor @r14+, 4(r12)
    xor @r14+, 6(r12)
    cmp #ws_keccak_round_constants_end, r14
    jeq 1f
    br #.Lround

1:  .irp index, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39
    clr 2*\index(r1)
    .endr
    add #FRAME, r1
    pop r10
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
    ret
    .size ws_keccak_permute, . - ws_keccak_permute
