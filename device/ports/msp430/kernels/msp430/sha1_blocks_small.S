/*
 * SHA-1 for the MSP430, small: one round in a loop over a window that slides.
 *
 * Defines ws_sha1_blocks (contract: sha1.h); calls ws_wipe. Base MSP430 instructions only.
 *
 * Idea. The working variables lie in a window of five words with the message
 * schedule right below it, W[0] on top. A round takes W[t] from under the
 * window, writes the new a in its place and moves the window down by one word:
 * every variable has its next name without having been moved. The four kinds
 * of rounds differ in a table of functions and constants.
 *
 * Constant time: yes: no branch and no address depends on data.
 */

/* The frame, from r1. */
#define SCHEDULE        0       /* W[79] .. W[0] */
#define VARIABLES       320     /* a .. e before the first round */
#define STATE           340
#define DATA            342
#define BLOCKS          344
#define FRAME           346

/* f and K for 20 rounds each, FIPS 180-4, sections 4.1.1 and 4.2.1. */
    .section .rodata.sha1_phases, "a", @progbits
    .p2align 1
    .type phases, @object
phases:
    .short choose, 0x7999, 0x5a82
    .short parity, 0xeba1, 0x6ed9
    .short majority, 0xbcdc, 0x8f1b
    .short parity, 0xc1d6, 0xca62
    .size phases, 24

/* r9:r8 = f(b, c, d) for the window at r14; r12 and r13 clobbered. */
    .section .text.sha1_functions, "ax", @progbits
    .p2align 1
    .type choose, @function
/* ((c ^ d) & b) ^ d */
choose:
    mov 8(r14), r8
    mov 10(r14), r9
    xor 12(r14), r8
    xor 14(r14), r9
    and 4(r14), r8
    and 6(r14), r9
    xor 12(r14), r8
    xor 14(r14), r9
    ret
    .size choose, . - choose

    .type parity, @function
parity:
    mov 4(r14), r8
    mov 6(r14), r9
    xor 8(r14), r8
    xor 10(r14), r9
    xor 12(r14), r8
    xor 14(r14), r9
    ret
    .size parity, . - parity

    .type majority, @function
/* (b & c) | ((b ^ c) & d) */
majority:
    mov 4(r14), r8
    mov 6(r14), r9
    mov r8, r12
    mov r9, r13
    and 8(r14), r8
    and 10(r14), r9
    xor 8(r14), r12
    xor 10(r14), r13
    and 12(r14), r12
    and 14(r14), r13
    bis r12, r8
    bis r13, r9
    ret
    .size majority, . - majority

/*
 * void ws_sha1_blocks(uint32_t state[5], const uint8_t *data, size_t blocks)
 * in:  r12 state, r13 data, r14 blocks
 * clobbers: r11-r15. Stack: 364 bytes, return addresses included; what was on it is wiped.
 * Cycles: 3,478 + 12,384 a block, with the C ws_wipe.
 */
    .section .text.ws_sha1_blocks, "ax", @progbits
    .p2align 1
    .global ws_sha1_blocks
    .type ws_sha1_blocks, @function
ws_sha1_blocks:
    push r4
    push r5
    push r6
    push r7
    push r8
    push r9
    push r10
    push r14
    push r13
    push r12
    sub #STATE, r1
    jmp 9f

.Lblock:
    mov STATE(r1), r12
    mov r1, r14
    add #VARIABLES, r14
    mov #10, r15
1:  mov @r12+, r4
    mov r4, 0(r14)
    incd r14
    dec r15
    jnz 1b
    sub #20, r14
    mov DATA(r1), r12
    mov #32, r15
2:  mov.b @r12+, r5
    swpb r5
    mov.b @r12+, r4
    bis r4, r5
    decd r14
    mov r5, 0(r14)
    dec r15
    jnz 2b
    mov r12, DATA(r1)

    /* W[t] = rotl 1 of (W[t-3] ^ W[t-8] ^ W[t-14] ^ W[t-16]) */
3:  sub #4, r14
    mov 12(r14), r4
    mov 14(r14), r5
    .irp back, 8, 14, 16
    xor 4*\back(r14), r4
    xor 4*\back+2(r14), r5
    .endr
    rla r4
    rlc r5
    adc r4
    mov r4, 0(r14)
    mov r5, 2(r14)
    cmp r1, r14
    jne 3b

    /* r5:r4 is a, r7:r6 becomes the next. */
    add #VARIABLES, r14
    mov @r14, r4
    mov 2(r14), r5
    mov #phases, r11
4:  mov #20, r15
5:  mov r4, r6
    mov r5, r7
    mov #5, r8
6:  rla r6
    rlc r7
    adc r6
    dec r8
    jnz 6b
    call @r11
    add r8, r6
    addc r9, r7
    add 2(r11), r6
    addc 4(r11), r7
    add 16(r14), r6
    addc 18(r14), r7
    /* b rotated left by 30 */
    .rept 2
    bit #1, 4(r14)
    rrc 6(r14)
    rrc 4(r14)
    .endr
    sub #4, r14
    add @r14, r6
    addc 2(r14), r7
    mov r6, r4
    mov r7, r5
    mov r4, 0(r14)
    mov r5, 2(r14)
    dec r15
    jnz 5b
    add #6, r11
    cmp #phases+24, r11
    jne 4b

    /* The window is at the bottom of the frame. */
    mov STATE(r1), r12
    mov #5, r15
8:  mov @r14+, r4
    mov @r14+, r5
    add r4, 0(r12)
    addc r5, 2(r12)
    add #4, r12
    dec r15
    jnz 8b
9:  dec BLOCKS(r1)
    jc .Lblock

    mov r1, r12
    mov #STATE, r13
    call #ws_wipe
    add #FRAME, r1
    pop r10
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
    ret
    .size ws_sha1_blocks, . - ws_sha1_blocks
