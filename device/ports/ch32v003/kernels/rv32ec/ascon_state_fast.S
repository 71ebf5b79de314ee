# Bytes in and out of Ascon's state for RV32EC: three functions of ascon_permutation.h, the fast
# variant.
#
# Cycles of a call with 16 aligned bytes at 48 MHz with one wait state: ws_ascon_xor 43,
# ws_ascon_extract 30; ws_ascon_pad 17. No stack. Flash 144, 108 and 20 bytes.
#
# Constant flow: addresses and branches depend on lengths and on the alignment of `in` and `out`.
#
# The idea. The state's bytes lie in memory as the message's do; a block that is aligned is moved in
# words.

    .section .text.ws_ascon_xor, "ax", @progbits
    .balign 4
    .globl ws_ascon_xor
    .type ws_ascon_xor, @function
ws_ascon_xor:
    andi a3, a1, 3
    bnez a3, 3f
    li a3, 16
    bne a2, a3, 2f
    .irp at, 0, 4, 8, 12
    lw a3, \at(a1)
    lw a4, \at(a0)
    xor a4, a4, a3
    sw a4, \at(a0)
    .endr
    ret
1:  lw a3, 0(a1)
    lw a4, 0(a0)
    xor a4, a4, a3
    sw a4, 0(a0)
    addi a0, a0, 4
    addi a1, a1, 4
2:  addi a2, a2, -4
    bgez a2, 1b
    j 5f
3:  addi a2, a2, -4
    bltz a2, 5f
    lbu a3, 3(a1)
    .irp at, 2, 1, 0
    lbu a4, \at(a1)
    slli a3, a3, 8
    or a3, a3, a4
    .endr
    lw a4, 0(a0)
    xor a4, a4, a3
    sw a4, 0(a0)
    addi a0, a0, 4
    addi a1, a1, 4
    j 3b
4:  lbu a3, 0(a1)
    lbu a4, 0(a0)
    xor a4, a4, a3
    sb a4, 0(a0)
    addi a0, a0, 1
    addi a1, a1, 1
    addi a2, a2, -1
    bnez a2, 4b
    ret
5:  addi a2, a2, 4
    bnez a2, 4b
    ret
    .size ws_ascon_xor, . - ws_ascon_xor

    .section .text.ws_ascon_extract, "ax", @progbits
    .balign 4
    .globl ws_ascon_extract
    .type ws_ascon_extract, @function
ws_ascon_extract:
    andi a3, a1, 3
    bnez a3, 3f
    li a3, 16
    bne a2, a3, 2f
    .irp at, 0, 4, 8, 12
    lw a3, \at(a0)
    sw a3, \at(a1)
    .endr
    ret
1:  lw a3, 0(a0)
    sw a3, 0(a1)
    addi a0, a0, 4
    addi a1, a1, 4
2:  addi a2, a2, -4
    bgez a2, 1b
    j 5f
3:  addi a2, a2, -4
    bltz a2, 5f
    lw a3, 0(a0)
    sb a3, 0(a1)
    .irp at, 1, 2, 3
    srli a3, a3, 8
    sb a3, \at(a1)
    .endr
    addi a0, a0, 4
    addi a1, a1, 4
    j 3b
4:  lbu a3, 0(a0)
    sb a3, 0(a1)
    addi a0, a0, 1
    addi a1, a1, 1
    addi a2, a2, -1
    bnez a2, 4b
    ret
5:  addi a2, a2, 4
    bnez a2, 4b
    ret
    .size ws_ascon_extract, . - ws_ascon_extract

    .section .text.ws_ascon_pad, "ax", @progbits
    .balign 4
    .globl ws_ascon_pad
    .type ws_ascon_pad, @function
ws_ascon_pad:
    add a0, a0, a1
    lbu a1, 0(a0)
    xori a1, a1, 1
    sb a1, 0(a0)
    ret
    .size ws_ascon_pad, . - ws_ascon_pad
