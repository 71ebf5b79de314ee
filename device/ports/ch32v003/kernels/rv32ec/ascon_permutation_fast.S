# The permutations Ascon-p for RV32EC (QingKe V2A): ascon_permutation.h's ws_ascon_permute, the fast
# variant.
#
# Cycles of a call at 48 MHz with one wait state: 2539 for twelve rounds, 1727
# for eight; stack 44 bytes; flash 516.
#
# Constant flow: addresses and branches depend on the number of rounds alone. Copies of the
# state on the stack are wiped.
#
# Registers: the lower halves of S0 to S4 are in s0, s1, a0, a1, a2 between rounds, which compressed
# instructions reach, and the upper halves on the stack. gp and tp stay, interrupts may come at any
# instruction.
#
# The idea. The S-box is that of SP 800-232, section 3.3, with ~x & y as x ^ (x | y), so that sums
# share terms and all but two instructions are compressed: 24 of 16 bits for 32 columns. It leaves
# S2 inverted, which the linear layer keeps; the inverted constant of the next round undoes it in
# the lower half. Each rotated sum x ^ x >>> a ^ x >>> b is x ^ (x ^ x >>> b - a) >>> a.

# Order and registers were found by crates/testkit/kernels/schedule.py, from
# ascon_permutation_rv32ec.S beside it, which has the sources of the lines:
#     schedule.py ascon_permutation_rv32ec.S --function ws_ascon_permute --target ch32v003
#         --argument 40 --argument =12 --width 16 --checks 20000

    .section .text.ws_ascon_permute, "ax", @progbits
    .balign 4
    .globl ws_ascon_permute
    .type ws_ascon_permute, @function
ws_ascon_permute:
    addi sp, sp, -44
    sw s0, 32(sp)
    sw s1, 36(sp)
    sw ra, 40(sp)
    sw a0, 28(sp)
    slli a5, a1, 4
    sub a1, a1, a5
    sw a1, 24(sp)
    lw a5, 4(a0)
    sw a5, 0(sp)
    lw a5, 12(a0)
    sw a5, 4(sp)
    lw a5, 28(a0)
    sw a5, 12(sp)
    lw a5, 36(a0)
    sw a5, 16(sp)
    lw a5, 20(a0)
    not a5, a5
    sw a5, 8(sp)
    lw s0, 0(a0)
    lw s1, 8(a0)
    lw a1, 24(a0)
    lw a2, 32(a0)
    lw a0, 16(a0)
    not a0, a0
1:
    lw a3, 24(sp)
    addi ra, a3, 15
    xor s0, s0, a2
    sw ra, 24(sp)
    addi a4, a3, -61
    xor a0, a0, a4
    mv a3, s0
    xor a0, a0, s1
    or a3, a3, s1
    xor a2, a2, a1
    mv a4, s1
    or a4, a4, a0
    xor s1, s1, a2
    xor s1, s1, a3
    xor s1, s1, a4
    xor a4, a4, s0
    xor a3, a3, s0
    or s0, s0, a2
    xor s0, s0, a0
    mv a5, a0
    xor a4, a4, a0
    xor a3, a3, a2
    xor s0, s0, a2
    or a5, a5, a1
    or a2, a2, a1
    xor a1, a1, a0
    xor a1, a1, a2
    lw a0, 12(sp)
    sw a3, 20(sp)
    xor a4, a4, a5
    mv t1, a4
    lw a4, 16(sp)
    xor s0, s0, a2
    mv ra, s0
    lw a3, 8(sp)
    mv t2, a1
    lw a1, 0(sp)
    not a3, a3
    mv t0, s1
    lw s0, 4(sp)
    xor a3, a3, s0
    xor a1, a1, a4
    mv s1, s0
    xor a4, a4, a0
    mv a2, a1
    or a2, a2, s0
    xor s0, s0, a4
    xor s0, s0, a2
    mv a5, a3
    or s1, s1, a3
    xor s0, s0, s1
    or a5, a5, a0
    xor s1, s1, a1
    xor s1, s1, a3
    xor a2, a2, a1
    or a1, a1, a4
    xor a2, a2, a4
    xor a1, a1, a3
    xor a1, a1, a4
    or a4, a4, a0
    xor a0, a0, a3
    srli a3, t0, 9
    xor a0, a0, a4
    xor a1, a1, a4
    xor s1, s1, a5
    srli a5, s0, 9
    slli a4, s0, 23
    xor a3, a3, a4
    slli a4, t0, 23
    xor a5, a5, a4
    xor a5, a5, s0
    xor a3, a3, t0
    slli a4, a5, 13
    srli a5, a5, 19
    xor s0, s0, a5
    slli a5, a3, 13
    xor s0, s0, a5
    sw s0, 0(sp)
    srli a3, a3, 19
    xor a3, a3, a4
    srli a5, s1, 22
    slli a4, s1, 10
    xor s0, a3, t0
    srli a3, t1, 22
    xor a3, a3, a4
    slli a4, t1, 10
    xor a3, a3, t1
    xor a5, a5, a4
    xor a5, a5, s1
    srli a4, a3, 7
    xor s1, s1, a4
    slli a3, a3, 25
    slli a4, a5, 25
    srli a5, a5, 7
    xor s1, s1, a4
    xor a3, a3, a5
    sw s1, 4(sp)
    xor s1, a3, t1
    slli a4, a0, 27
    srli a5, a0, 5
    srli a3, t2, 5
    xor a3, a3, a4
    slli a4, t2, 27
    xor a3, a3, t2
    xor a5, a5, a4
    xor a5, a5, a0
    srli a4, a5, 1
    xor a0, a0, a4
    slli a4, a3, 31
    srli a3, a3, 1
    slli a5, a5, 31
    xor a0, a0, a4
    xor a3, a3, a5
    srli a5, a1, 7
    sw a0, 8(sp)
    xor a0, a3, t2
    srli a3, ra, 7
    slli a4, a1, 25
    xor a3, a3, a4
    slli a4, ra, 25
    xor a5, a5, a4
    xor a3, a3, ra
    xor a5, a5, a1
    srli a4, a5, 10
    xor a1, a1, a4
    slli a4, a3, 22
    xor a1, a1, a4
    lw t0, 20(sp)
    sw a1, 12(sp)
    slli a5, a5, 22
    srli a3, a3, 10
    xor a3, a3, a5
    slli a4, t0, 2
    slli a1, a2, 2
    srli a5, t0, 30
    xor a5, a5, a1
    xor a1, a3, ra
    xor a3, a5, t0
    srli a5, a2, 30
    xor a5, a5, a4
    srli a4, a3, 9
    xor a5, a5, a2
    slli a3, a3, 23
    xor a2, a2, a4
    slli a4, a5, 23
    xor a2, a2, a4
    srli a5, a5, 9
    sw a2, 16(sp)
    xor a3, a3, a5
    xor a2, a3, t0
    lw a3, 24(sp)
    bnez a3, 1b
    lw a3, 28(sp)
    not a0, a0
    sw s0, 0(a3)
    sw s1, 8(a3)
    sw a0, 16(a3)
    sw a1, 24(a3)
    sw a2, 32(a3)
    lw a5, 0(sp)
    sw a5, 4(a3)
    sw zero, 0(sp)
    lw a5, 4(sp)
    sw a5, 12(a3)
    sw zero, 4(sp)
    lw a5, 12(sp)
    sw a5, 28(a3)
    sw zero, 12(sp)
    lw a5, 16(sp)
    sw a5, 36(a3)
    sw zero, 16(sp)
    lw a5, 8(sp)
    not a5, a5
    sw a5, 20(a3)
    sw zero, 8(sp)
    sw zero, 20(sp)
    lw s0, 32(sp)
    lw s1, 36(sp)
    lw ra, 40(sp)
    addi sp, sp, 44
    ret
    .size ws_ascon_permute, . - ws_ascon_permute
