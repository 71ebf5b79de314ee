/*
 * GHASH for the MSP430, small: bit by bit, the product in registers.
 *
 * Defines ws_ghash_blocks (contract: ghash.h); calls ws_wipe. Base MSP430
 * instructions only, no hardware multiplier, no table.
 *
 * Idea. Horner's rule over the bits of y ^ data, from x^127 to x^0: the product
 * z, eight words of which the most significant holds x^0..x^15, is multiplied
 * by x, a shift right (SP 800-38D, section 6.3), and H is added under a mask
 * that a subtraction with borrow makes of the bit.
 *
 * Constant time: yes, on any MSP430: no branch and no address depends on data.
 */

/* The frame, from r1: H as eight words, the most significant first, then the arguments. */
#define H       0
#define Y       16
#define DATA    18
#define BLOCKS  20
#define FRAME   22

/*
 * void ws_ghash_blocks(uint8_t y[16], const uint8_t h[16], const uint8_t *data, size_t blocks)
 * in:  r12 y, r13 h, r14 data, r15 blocks
 * clobbers: r11-r15. Stack: 56 bytes, return addresses included; H and z are wiped from it.
 * Cycles: 513 + 8,121 a block, with the C ws_wipe.
 */
    .section .text.ws_ghash_blocks, "ax", @progbits
    .p2align 1
    .global ws_ghash_blocks
    .type ws_ghash_blocks, @function
ws_ghash_blocks:
    push r4
    push r5
    push r6
    push r7
    push r8
    push r9
    push r10
    push r15
    push r14
    push r12
    add #16, r13
    mov #8, r11
1:  decd r13
    mov.b @r13, r4
    swpb r4
    mov.b 1(r13), r5
    bis r5, r4
    push r4
    dec r11
    jnz 1b
    jmp 5f

.Lblock:
    .irp word, r4, r5, r6, r7, r8, r9, r10, r11
    clr \word
    .endr
    mov #16, r15
2:  dec r15
    mov Y(r1), r12
    add r15, r12
    mov.b @r12, r14
    mov DATA(r1), r12
    add r15, r12
    xor.b @r12, r14
    /* A bit that has come down to the lowest place when the byte is used up. */
    bis #0x100, r14
3:  clrc
    .irp word, r4, r5, r6, r7, r8, r9, r10, r11
    rrc \word
    .endr
    /* x^128 = 1 + x + x^2 + x^7 */
    subc r12, r12
    inv r12
    and #0xe100, r12
    xor r12, r4
    rra r14
    subc r12, r12
    inv r12
    .irp word, 4, 5, 6, 7, 8, 9, 10, 11
    mov H+2*(\word-4)(r1), r13
    and r12, r13
    xor r13, r\word
    .endr
    cmp #1, r14
    jne 3b
    tst r15
    jnz 2b

    /* y = z, by way of the stack, where the most significant word comes to lie lowest. */
    mov Y(r1), r12
    .irp word, r11, r10, r9, r8, r7, r6, r5, r4
    push \word
    .endr
    mov #8, r15
4:  pop r13
    mov.b r13, 1(r12)
    swpb r13
    mov.b r13, 0(r12)
    incd r12
    dec r15
    jnz 4b
    add #16, DATA(r1)
5:  dec BLOCKS(r1)
    jc .Lblock

    /* H and, below it, z. */
    sub #16, r1
    mov r1, r12
    mov #32, r13
    call #ws_wipe
    add #16+FRAME, r1
    pop r10
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
    ret
    .size ws_ghash_blocks, . - ws_ghash_blocks
