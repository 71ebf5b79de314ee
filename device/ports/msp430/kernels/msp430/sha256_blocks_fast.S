/*
 * SHA-256 for the MSP430, fast: one round in a loop over a window that slides.
 *
 * Defines ws_sha256_blocks (contract: sha256.h). Base MSP430 instructions only.
 *
 * Idea. The working variables lie in a window of eight words with the message
 * schedule right below it, W[0] on top. A round takes W[t] from under the
 * window, writes the new a in its place, adds to d, which thereby becomes e,
 * and moves the window down by one word: every variable has its next name
 * without having been moved, and the round needs no unrolling. a and e stay in
 * registers. Rotations are made of byte swaps, exchanged halves (which cost
 * nothing) and at most three single bits.
 *
 * Constant time: yes: no branch and no address depends on data.
 */

#define A_LOW   r4
#define A_HIGH  r5
#define E_LOW   r6
#define E_HIGH  r7
#define T_LOW   r8
#define T_HIGH  r9
#define X_LOW   r10
#define X_HIGH  r11
#define Y_LOW   r12
#define Y_HIGH  r13
#define WINDOW  r14
#define CONSTANT r15

/* The frame, from r1. */
#define SCHEDULE        0       /* W[63] .. W[0] */
#define VARIABLES       256     /* a .. h before the first round */
#define STATE           288
#define DATA            290
#define BLOCKS          292
#define FRAME           294

/* FIPS 180-4, section 4.2.2. */
    .section .rodata.sha256_constants, "a", @progbits
    .p2align 1
    .type constants, @object
constants:
    .long 0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5
    .long 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174
    .long 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da
    .long 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967
    .long 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85
    .long 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070
    .long 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3
    .long 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
    .size constants, 256

/* (high, low) rotated by one bit, and left by 8 bits. The latter is a rotation right by 8 of the names exchanged. */
.macro rotate_right high, low
    bit #1, \low
    rrc \high
    rrc \low
.endm
.macro rotate_left high, low
    rla \low
    rlc \high
    adc \low
.endm
.macro rotate_left_8 high, low, t
    swpb \high
    swpb \low
    mov \high, \t
    xor \low, \t
    mov.b \t, \t
    xor \t, \high
    xor \t, \low
.endm

.macro copy from_high, from_low, high, low
    mov \from_high, \high
    mov \from_low, \low
.endm
.macro add_pair from_high, from_low, high, low
    add \from_low, \low
    addc \from_high, \high
.endm
.macro xor_pair from_high, from_low, high, low
    xor \from_high, \high
    xor \from_low, \low
.endm

/*
 * W[t] = s1(W[t-2]) + W[t-7] + s0(W[t-15]) + W[t-16] in 79 cycles (s0, s1: FIPS 180-4, section 4.1.2).
 * in:  W[t-2] in (high, low), W[t-16] in T; W[t] belongs at offset(WINDOW)
 * out: W[t] in (high, low) and in its place, W[t-15] in T
 * clobbers: X, Y, r15
 */
.macro schedule_word high, low, offset
    /* rotr 17 ^ rotr 19 = rotr 16 of (rotr 1 of (w ^ rotr 2)) */
    copy \high, \low, X_HIGH, X_LOW
    rotate_right X_HIGH, X_LOW
    rotate_right X_HIGH, X_LOW
    xor_pair \high, \low, X_HIGH, X_LOW
    rotate_right X_HIGH, X_LOW
    /* shr 10: by a byte, after which the top is clear, and two bits */
    swpb \low
    mov.b \low, \low
    mov.b \high, r15
    swpb r15
    bis r15, \low
    swpb \high
    mov.b \high, \high
    rra \high
    rrc \low
    rra \high
    rrc \low
    xor_pair X_LOW, X_HIGH, \high, \low

    add_pair T_HIGH, T_LOW, \high, \low
    add_pair \offset+30(WINDOW), \offset+28(WINDOW), \high, \low

    copy \offset+62(WINDOW), \offset+60(WINDOW), T_HIGH, T_LOW
    copy T_HIGH, T_LOW, X_HIGH, X_LOW
    rotate_right X_HIGH, X_LOW
    rotate_right X_HIGH, X_LOW
    /* rotr 18 */
    copy X_LOW, X_HIGH, Y_HIGH, Y_LOW
    /* shr 3 */
    rotate_right X_HIGH, X_LOW
    and #0x1fff, X_HIGH
    xor_pair X_HIGH, X_LOW, Y_HIGH, Y_LOW
    /* rotr 7 = rotl 1 of rotr 8 */
    copy T_HIGH, T_LOW, X_LOW, X_HIGH
    rotate_left_8 X_LOW, X_HIGH, r15
    rotate_left X_HIGH, X_LOW
    xor_pair X_HIGH, X_LOW, Y_HIGH, Y_LOW
    add_pair Y_HIGH, Y_LOW, \high, \low
    mov \low, \offset(WINDOW)
    mov \high, \offset+2(WINDOW)
.endm

/*
 * void ws_sha256_blocks(uint32_t state[8], const uint8_t *data, size_t blocks)
 * in:  r12 state, r13 data, r14 blocks
 * clobbers: r11-r15. Stack: 310 bytes, return address included; what was on it is wiped.
 * Cycles: 535 + 13,797 a block, 13,891 if data is odd; 11 for no block.
 */
    .section .text.ws_sha256_blocks, "ax", @progbits
    .p2align 1
    .global ws_sha256_blocks
    .type ws_sha256_blocks, @function
ws_sha256_blocks:
    tst r14
    jnz 1f
    ret
1:  push r4
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

.Lblock:
    mov STATE(r1), r12
    mov r1, WINDOW
    add #VARIABLES, WINDOW
    mov #8, r13
1:  mov @r12+, X_LOW
    mov @r12+, X_HIGH
    mov X_LOW, 0(WINDOW)
    mov X_HIGH, 2(WINDOW)
    add #4, WINDOW
    dec r13
    jnz 1b

    mov DATA(r1), r12
    mov r1, WINDOW
    add #VARIABLES, WINDOW
    mov #16, r13
    bit #1, r12
    jnz 3f
2:  mov @r12+, r5
    mov @r12+, r4
    swpb r5
    swpb r4
    sub #4, WINDOW
    mov r4, 0(WINDOW)
    mov r5, 2(WINDOW)
    dec r13
    jnz 2b
    jmp 4f
3:  mov.b @r12+, r5
    mov.b @r12+, X_HIGH
    mov.b @r12+, r4
    mov.b @r12+, X_LOW
    swpb r5
    swpb r4
    bis X_HIGH, r5
    bis X_LOW, r4
    sub #4, WINDOW
    mov r4, 0(WINDOW)
    mov r5, 2(WINDOW)
    dec r13
    jnz 3b
4:  mov r12, DATA(r1)
    mov r12, DATA(r1)

    /* W[14] in (r7, r6), W[15] in (r5, r4), W[0] in T; WINDOW at W[16]. */
    copy 6(WINDOW), 4(WINDOW), r7, r6
    copy VARIABLES-2(r1), VARIABLES-4(r1), T_HIGH, T_LOW
    sub #4, WINDOW
5:  schedule_word r7, r6, 0
    schedule_word r5, r4, -4
    sub #8, WINDOW
    cmp r1, WINDOW
    jhs 5b

    mov r1, WINDOW
    add #VARIABLES, WINDOW
    copy 2(WINDOW), 0(WINDOW), A_HIGH, A_LOW
    copy 18(WINDOW), 16(WINDOW), E_HIGH, E_LOW
    mov #constants, CONSTANT

.Lround:
    /* Sum1(e) = rotr 6 ^ rotr 11 ^ rotr 25, from rotr 8 in T and rotr 24 in X */
    copy E_HIGH, E_LOW, T_LOW, T_HIGH
    rotate_left_8 T_LOW, T_HIGH, X_LOW
    copy T_LOW, T_HIGH, X_HIGH, X_LOW
    rotate_left T_HIGH, T_LOW
    rotate_left T_HIGH, T_LOW
    rotate_right X_HIGH, X_LOW
    xor_pair X_HIGH, X_LOW, T_HIGH, T_LOW
    rotate_right X_HIGH, X_LOW
    rotate_right X_HIGH, X_LOW
    xor_pair X_LOW, X_HIGH, T_HIGH, T_LOW
    /* + Ch(e, f, g) = (e & f) + (~e & g) */
    copy 22(WINDOW), 20(WINDOW), X_HIGH, X_LOW
    and E_HIGH, X_HIGH
    and E_LOW, X_LOW
    add_pair X_HIGH, X_LOW, T_HIGH, T_LOW
    copy 26(WINDOW), 24(WINDOW), X_HIGH, X_LOW
    bic E_HIGH, X_HIGH
    bic E_LOW, X_LOW
    add_pair X_HIGH, X_LOW, T_HIGH, T_LOW
    /* + h + W[t] + K[t] */
    add_pair 30(WINDOW), 28(WINDOW), T_HIGH, T_LOW
    add_pair -2(WINDOW), -4(WINDOW), T_HIGH, T_LOW
    add_pair @CONSTANT+, @CONSTANT+, T_HIGH, T_LOW
    /* e = d + T1 */
    copy T_HIGH, T_LOW, E_HIGH, E_LOW
    add_pair 14(WINDOW), 12(WINDOW), E_HIGH, E_LOW
    mov E_LOW, 12(WINDOW)
    mov E_HIGH, 14(WINDOW)
    /* Sum0(a) = rotr 2 ^ rotr 13 ^ rotr 22 = rotr 2 ^ rotr 16 of (rotl 2 of (rotl 1 ^ rotr 8)) */
    copy A_HIGH, A_LOW, Y_LOW, Y_HIGH
    rotate_left_8 Y_LOW, Y_HIGH, X_LOW
    copy A_HIGH, A_LOW, X_HIGH, X_LOW
    rotate_left X_HIGH, X_LOW
    xor_pair X_HIGH, X_LOW, Y_HIGH, Y_LOW
    rotate_left Y_HIGH, Y_LOW
    rotate_left Y_HIGH, Y_LOW
    copy A_HIGH, A_LOW, X_HIGH, X_LOW
    rotate_right X_HIGH, X_LOW
    rotate_right X_HIGH, X_LOW
    xor_pair Y_LOW, Y_HIGH, X_HIGH, X_LOW
    add_pair X_HIGH, X_LOW, T_HIGH, T_LOW
    /* Maj(a, b, c) = (a & b) + ((a ^ b) & c) */
    copy 6(WINDOW), 4(WINDOW), X_HIGH, X_LOW
    copy X_HIGH, X_LOW, Y_HIGH, Y_LOW
    xor_pair A_HIGH, A_LOW, X_HIGH, X_LOW
    and 10(WINDOW), X_HIGH
    and 8(WINDOW), X_LOW
    and Y_HIGH, A_HIGH
    and Y_LOW, A_LOW
    add_pair X_HIGH, X_LOW, A_HIGH, A_LOW
    /* a = T1 + T2 */
    add_pair T_HIGH, T_LOW, A_HIGH, A_LOW
    mov A_LOW, -4(WINDOW)
    mov A_HIGH, -2(WINDOW)
    sub #4, WINDOW
    cmp r1, WINDOW
    jne .Lround

    /* The window is at the bottom of the frame. */
    mov STATE(r1), r12
    mov #8, r13
6:  mov @WINDOW+, X_LOW
    mov @WINDOW+, X_HIGH
    add X_LOW, 0(r12)
    addc X_HIGH, 2(r12)
    add #4, r12
    dec r13
    jnz 6b
    dec BLOCKS(r1)
    jz 7f
    br #.Lblock

    /* Wipes the frame up to STATE: 9 times 16 words. */
7:  mov #9, r12
8:  .irp index, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    clr 2*\index(r1)
    .endr
    add #32, r1
    dec r12
    jnz 8b
    add #FRAME-STATE, r1
    pop r10
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
    ret
    .size ws_sha256_blocks, . - ws_sha256_blocks
