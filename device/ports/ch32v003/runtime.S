# The compiler's runtime where that of libgcc takes longer or shorter with its operands:
# multiplication, which RV32EC has no instruction for. Bit by bit from the top, all of them.
# Temporaries are in registers that compressed instructions reach.

# a1:a0 = 2^32 * a1:a0 + a5:a4 * \factor, modulo 2^64. Changes \factor, s0, s1, t0.
.macro accumulate factor
    li t0, 32
1:  srli s0, a0, 31
    slli a1, a1, 1
    or a1, a1, s0
    slli a0, a0, 1
    srai s0, \factor, 31
    slli \factor, \factor, 1
    mv s1, s0
    and s1, s1, a4
    add a0, a0, s1
    sltu s1, a0, s1
    add a1, a1, s1
    and s0, s0, a5
    add a1, a1, s0
    addi t0, t0, -1
    bnez t0, 1b
.endm

# uint32_t __mulsi3(uint32_t a, uint32_t b): a * b modulo 2^32. Constant time. It changes a0 to a3
# alone: libgcc's floating point and division keep what they need in a4, a5 and t0 to t2 across its
# calls. The 1 that enters b below its last bit ends the loop.
    .section .text.__mulsi3, "ax", @progbits
    .globl __mulsi3
    .type __mulsi3, @function
__mulsi3:
    mv a2, a0
    srai a0, a1, 31
    and a0, a0, a2
    slli a1, a1, 1
    ori a1, a1, 1
1:  slli a0, a0, 1
    srai a3, a1, 31
    slli a1, a1, 1
    and a3, a3, a2
    add a0, a0, a3
    slli a3, a1, 1
    bnez a3, 1b
    ret
    .size __mulsi3, . - __mulsi3

# uint64_t __muldi3(uint64_t a, uint64_t b): a * b modulo 2^64. The time depends on whether b is a word that was extended, with zeros
# or its sign, which is public: whoever multiplies secrets multiplies words.
    .section .text.__muldi3, "ax", @progbits
    .globl __muldi3
    .type __muldi3, @function
__muldi3:
    addi sp, sp, -8
    sw s0, 0(sp)
    sw s1, 4(sp)
    mv a4, a0
    mv a5, a1
    li a0, 0
    li a1, 0
    addi t0, a3, 1
    sltiu t0, t0, 2
    bnez t0, 2f
    accumulate a3
2:  accumulate a2
    # The sign's share, -2^32 * a; what was accumulated above has left 0 in a3.
    and a3, a3, a4
    sub a1, a1, a3
    lw s0, 0(sp)
    lw s1, 4(sp)
    addi sp, sp, 8
    ret
    .size __muldi3, . - __muldi3
