# The permutations Ascon-p for RV32EC as they are written: schedule.py makes of them what
# ascon_permutation_fast.S of the CH32V003 has, where their contract is.
#
# Registers: the lower halves of S0 to S4 are in s0, s1, a0, a1, a2 between rounds, which compressed
# instructions reach, and the upper halves on the stack. gp and tp stay, interrupts may come at any
# instruction.
#
# The idea. The S-box is that of SP 800-232, section 3.3, with ~x & y as x ^ (x | y), so that sums
# share terms and all but two instructions are compressed: 24 of 16 bits for 32 columns. It leaves
# S2 inverted, which the linear layer keeps; the inverted constant of the next round undoes it in
# the lower half. Each rotated sum x ^ x >>> a ^ x >>> b is x ^ (x ^ x >>> b - a) >>> a.

# Frame: the upper halves, then these.
.equ LOW_4, 20
.equ ROUNDS, 24
.equ STATE, 28
.equ SAVED, 32

# The S-box with the constant added and S2 inverted at its end. Results: of S0 in x1, S1 in b, S2 in
# x3, S3 in x0, S4 in a.
.macro substitute x0, x1, x2, x3, x4, a, b, c
    xor \x0, \x0, \x4
    xor \x4, \x4, \x3
    xor \x2, \x2, \x1
    mv \a, \x0
    or \a, \a, \x1
    mv \b, \x1
    or \b, \b, \x2
    xor \x1, \x1, \x4
    xor \x1, \x1, \a
    xor \x1, \x1, \b
    xor \b, \b, \x0
    xor \b, \b, \x2
    mv \c, \x2
    or \c, \c, \x3
    xor \b, \b, \c
    xor \a, \a, \x0
    xor \a, \a, \x4
    or \x0, \x0, \x4
    xor \x0, \x0, \x2
    xor \x0, \x0, \x4
    or \x4, \x4, \x3
    xor \x0, \x0, \x4
    xor \x3, \x3, \x2
    xor \x3, \x3, \x4
.endm

# The linear layer of a word with its lower half in l and its upper half in h, which goes to the
# stack; h becomes the lower one. x ^ (x ^ x >>> d) >>> (32 swap + r).
.macro diffuse at, l, h, d, r, swap
    srli a3, \l, \d
    slli a4, \h, 32 - \d
    xor a3, a3, a4
    xor a3, a3, \l
    srli a5, \h, \d
    slli a4, \l, 32 - \d
    xor a5, a5, a4
    xor a5, a5, \h
    .if \swap
    srli a4, a3, \r
    xor \h, \h, a4
    slli a4, a5, 32 - \r
    xor \h, \h, a4
    sw \h, \at(sp)
    srli a5, a5, \r
    slli a3, a3, 32 - \r
    .else
    srli a4, a5, \r
    xor \h, \h, a4
    slli a4, a3, 32 - \r
    xor \h, \h, a4
    sw \h, \at(sp)
    srli a3, a3, \r
    slli a5, a5, 32 - \r
    .endif
    xor a3, a3, a5
    xor \h, a3, \l
.endm

    .section .text.ws_ascon_permute, "ax", @progbits
    .balign 4
    .globl ws_ascon_permute
    .type ws_ascon_permute, @function
ws_ascon_permute:
    addi sp, sp, -44
    sw s0, SAVED(sp)
    sw s1, SAVED + 4(sp)
    sw ra, SAVED + 8(sp)
    sw a0, STATE(sp)
    # -15 a round. A constant, inverted, is this - 61.
    slli a5, a1, 4
    sub a1, a1, a5
    sw a1, ROUNDS(sp)
    .irp n, 0, 1, 3, 4
    lw a5, 8 * \n + 4(a0)
    sw a5, 4 * \n(sp)
    .endr
    lw a5, 20(a0)
    not a5, a5
    sw a5, 8(sp)
    lw s0, 0(a0)
    lw s1, 8(a0)
    lw a1, 24(a0)
    lw a2, 32(a0)
    lw a0, 16(a0)
    not a0, a0
1:  lw a3, ROUNDS(sp)
    addi a4, a3, -61
    xor a0, a0, a4
    addi a3, a3, 15
    sw a3, ROUNDS(sp)
    substitute s0, s1, a0, a1, a2, a3, a4, a5
    mv t0, s1
    mv t1, a4
    mv t2, a1
    mv ra, s0
    sw a3, LOW_4(sp)
    lw a1, 0(sp)
    lw s0, 4(sp)
    lw a3, 8(sp)
    lw a0, 12(sp)
    lw a4, 16(sp)
    not a3, a3
    substitute a1, s0, a3, a0, a4, a2, s1, a5
    diffuse 0, t0, s0, 9, 19, 0
    diffuse 4, t1, s1, 22, 7, 1
    diffuse 8, t2, a0, 5, 1, 0
    diffuse 12, ra, a1, 7, 10, 0
    lw t0, LOW_4(sp)
    diffuse 16, t0, a2, 30, 9, 1
    lw a3, ROUNDS(sp)
    bnez a3, 1b
    lw a3, STATE(sp)
    not a0, a0
    sw s0, 0(a3)
    sw s1, 8(a3)
    sw a0, 16(a3)
    sw a1, 24(a3)
    sw a2, 32(a3)
    .irp n, 0, 1, 3, 4
    lw a5, 4 * \n(sp)
    sw a5, 8 * \n + 4(a3)
    sw zero, 4 * \n(sp)
    .endr
    lw a5, 8(sp)
    not a5, a5
    sw a5, 20(a3)
    sw zero, 8(sp)
    sw zero, LOW_4(sp)
    lw s0, SAVED(sp)
    lw s1, SAVED + 4(sp)
    lw ra, SAVED + 8(sp)
    addi sp, sp, 44
    ret
    .size ws_ascon_permute, . - ws_ascon_permute
