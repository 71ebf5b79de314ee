# SHA-256's compression function for RV32EC (QingKe V2A): sha256.h's ws_sha256_blocks, the fast
# variant.
#
# Cycles of a call with one block at 48 MHz with one wait state: 7097; stack 160 bytes; flash 1224
# and a table of 256.
#
# Constant flow: addresses and branches depend on the number of blocks alone. The message schedule
# is wiped.
#
# Registers: a, b, c and e, f, g go round in two groups of three that compressed instructions reach;
# d and h are in t0 and t1, where they only meet moves and sums. gp and tp stay, interrupts may come
# at any instruction.
#
# The idea. A rotation is three instructions. A sum of three rotations is made nested, x >>> r (x
# >>> s (x >>> t)), with a register for the result and another: rotr 6, 11, 25 is rotr6(x + rotr5(x
# + rotr14(x))).

# Frame: the last 16 words of the schedule, those that are newer than the first of them once more
# behind, then these.
.equ STATE, 128
.equ DATA, 132
.equ BLOCKS, 136
.equ CONSTANT, 140
.equ SAVED, 144

# s0 = rotr_a(x ^ rotr_b(x ^ rotr_c(x))).
.macro nested_rotations x, a, b, c
    srli s0, \x, \c
    slli s1, \x, 32 - \c
    or s0, s0, s1
    xor s0, s0, \x
    srli s1, s0, \b
    slli s0, s0, 32 - \b
    or s0, s0, s1
    xor s0, s0, \x
    srli s1, s0, \a
    slli s0, s0, 32 - \a
    or s0, s0, s1
.endm

# FIPS 180-4, section 6.2.2, step 3. The new a is in c's register and the new e in g's. t2: K of the
# first round of 16.
.macro round t, a, b, c, e, f, g
    nested_rotations \e, 6, 5, 14
    add t1, t1, s0
    mv s0, \f
    xor s0, s0, \g
    and s0, s0, \e
    xor s0, s0, \g
    add t1, t1, s0
    lw s0, 4 * (\t)(t2)
    add t1, t1, s0
    lw s0, 4 * (\t)(ra)
    add t1, t1, s0
    add t0, t0, t1
    nested_rotations \a, 2, 11, 9
    add t1, t1, s0
    mv s0, \a
    xor s0, s0, \b
    mv s1, \b
    xor s1, s1, \c
    and s0, s0, s1
    xor s0, s0, \b
    add s0, s0, t1
    mv t1, \g
    mv \g, t0
    mv t0, \c
    mv \c, s0
.endm

.macro add_state r, at
    lw s1, \at(s0)
    add \r, \r, s1
    sw \r, \at(s0)
.endm

    .section .text.ws_sha256_blocks, "ax", @progbits
    .balign 4
    .globl ws_sha256_blocks
    .type ws_sha256_blocks, @function
ws_sha256_blocks:
    beqz a2, 8f
    addi sp, sp, -160
    sw s0, SAVED(sp)
    sw s1, SAVED + 4(sp)
    sw ra, SAVED + 8(sp)
    sw a0, STATE(sp)
1:  sw a2, BLOCKS(sp)
    addi a3, a1, 64
    mv a4, sp
2:  lbu s0, 0(a1)
    lbu s1, 1(a1)
    slli s0, s0, 8
    or s0, s0, s1
    lbu s1, 2(a1)
    slli s0, s0, 8
    or s0, s0, s1
    lbu s1, 3(a1)
    slli s0, s0, 8
    or s0, s0, s1
    sw s0, 0(a4)
    addi a1, a1, 4
    addi a4, a4, 4
    bne a1, a3, 2b
    sw a1, DATA(sp)
    lw s0, STATE(sp)
    lw a0, 0(s0)
    lw a1, 4(s0)
    lw a2, 8(s0)
    lw t0, 12(s0)
    lw a3, 16(s0)
    lw a4, 20(s0)
    lw a5, 24(s0)
    lw t1, 28(s0)
    la t2, sha256_k
    j 5f
    # Step 1, for 16 words: t2 goes along them meanwhile.
3:  sw t2, CONSTANT(sp)
    mv t2, sp
4:  lw ra, 4(t2)
    srli s0, ra, 11
    slli s1, ra, 21
    or s0, s0, s1
    xor s0, s0, ra
    srli s1, s0, 7
    slli s0, s0, 25
    or s0, s0, s1
    srli s1, ra, 3
    xor s0, s0, s1
    lw s1, 0(t2)
    add s0, s0, s1
    lw s1, 36(t2)
    add s0, s0, s1
    sw s0, 0(t2)
    lw ra, 56(t2)
    srli s0, ra, 2
    slli s1, ra, 30
    or s0, s0, s1
    xor s0, s0, ra
    srli s1, s0, 17
    slli s0, s0, 15
    or s0, s0, s1
    srli s1, ra, 10
    xor s0, s0, s1
    lw s1, 0(t2)
    add s0, s0, s1
    sw s0, 0(t2)
    sw s0, 64(t2)
    addi t2, t2, 4
    addi s0, sp, 64
    bne t2, s0, 4b
    lw t2, CONSTANT(sp)
5:  mv ra, sp
6:
    .irp t, 0, 3
    round \t, a0, a1, a2, a3, a4, a5
    round \t + 1, a2, a0, a1, a5, a3, a4
    round \t + 2, a1, a2, a0, a4, a5, a3
    .endr
    round 6, a0, a1, a2, a3, a4, a5
    round 7, a2, a0, a1, a5, a3, a4
    mv s0, a0
    mv a0, a1
    mv a1, a2
    mv a2, s0
    mv s0, a3
    mv a3, a4
    mv a4, a5
    mv a5, s0
    addi t2, t2, 32
    addi ra, ra, 32
    addi s0, sp, 64
    bne ra, s0, 6b
    la s0, sha256_k + 256
    bne t2, s0, 3b
    lw s0, STATE(sp)
    add_state a0, 0
    add_state a1, 4
    add_state a2, 8
    add_state a3, 16
    add_state a4, 20
    add_state a5, 24
    lw s1, 12(s0)
    add s1, s1, t0
    sw s1, 12(s0)
    lw s1, 28(s0)
    add s1, s1, t1
    sw s1, 28(s0)
    lw a1, DATA(sp)
    lw a2, BLOCKS(sp)
    addi a2, a2, -1
    bnez a2, 1b
    addi a0, sp, 128
7:  addi a0, a0, -16
    sw zero, 0(a0)
    sw zero, 4(a0)
    sw zero, 8(a0)
    sw zero, 12(a0)
    bne a0, sp, 7b
    lw s0, SAVED(sp)
    lw s1, SAVED + 4(sp)
    lw ra, SAVED + 8(sp)
    addi sp, sp, 160
8:  ret
    .size ws_sha256_blocks, . - ws_sha256_blocks

# FIPS 180-4, section 4.2.2.
    .section .rodata.ws_sha256_k, "a", @progbits
    .balign 4
    .type sha256_k, @object
sha256_k:
    .word 0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5
    .word 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174
    .word 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da
    .word 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967
    .word 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85
    .word 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070
    .word 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3
    .word 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
    .size sha256_k, . - sha256_k
