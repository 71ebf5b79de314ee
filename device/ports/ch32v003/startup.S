# Start-up of the CH32V003: vectors, stack, .data, .bss, clock, main.
#
# Registers touched: mtvec, and those of clock.c. Interrupts stay off (mstatus.MIE).

# mtvec: a vector is the address of its handler, at its number times four (CH32V003RM, section 6.5.3.2).
.set VECTORED_BY_ADDRESS, 3

    .option arch, +zicsr

# The core begins at address 0, so the place of vector 0 has a jump. 39 vectors: table 6-1.
    .section .vectors, "ax", @progbits
    .option push
    .option norvc
    .globl ws_vectors
ws_vectors:
    j ws_reset
    .option pop
    .rept 38
    .word ws_unexpected_trap
    .endr

    .section .text.ws_reset, "ax", @progbits
    .globl ws_reset
    .type ws_reset, @function
ws_reset:
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    la sp, ws_stack_top
    la t0, ws_vectors
    ori t0, t0, VECTORED_BY_ADDRESS
    csrw mtvec, t0

    la a0, ws_data_load
    la a1, ws_data_start
    la a2, ws_data_end
    j 2f
1:  lw a3, 0(a0)
    sw a3, 0(a1)
    addi a0, a0, 4
    addi a1, a1, 4
2:  bne a1, a2, 1b

    la a1, ws_bss_start
    la a2, ws_bss_end
    j 4f
3:  sw zero, 0(a1)
    addi a1, a1, 4
4:  bne a1, a2, 3b

    call ws_clock_init
    call main

    .globl ws_unexpected_trap
ws_unexpected_trap:
    j ws_unexpected_trap
    .size ws_reset, . - ws_reset
