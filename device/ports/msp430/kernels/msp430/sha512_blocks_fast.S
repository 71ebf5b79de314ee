/*
 * SHA-512 for the MSP430, fast: one round in a loop over a window that slides.
 *
 * Defines ws_sha512_blocks (contract: sha512.h). Base MSP430 instructions only.
 *
 * Cycles from the call to the return inclusive with one block: 44929 on CPUX. Stack with the
 * return address: 728 bytes. Flash: 1152 bytes and 640 of constants.
 *
 * Idea. As in sha256_blocks_fast.S the working variables lie in a window of eight words with the
 * message schedule right below it, W[0] on top: a round sums the new a in the place of W[t], adds
 * to d, which thereby becomes e, and moves the window down by one word. Rotations are made of
 * words (a choice of registers), bytes and at most five single bits, of two copies, V and U:
 *     Sigma1(x) = rotr16(rotl2(x) ^ rotr1(rotr1(x) ^ rotr24(x)))
 *     Sigma0(x) = rotr32(rotl1(rotr8(x) ^ rotl3(x)) ^ rotr2(x))
 *     sigma0(x) = rotr1(x) ^ rotr8(x) ^ rotl1(rotr8(x)) without its seven top bits
 *     sigma1(x) = rotl3(x) ^ rotr16(rotr3(x)) ^ rotr3(rotr3(x)) without its six top bits
 *
 * Constant time: yes: no branch and no address depends on data. The frame is wiped.
 */

/* Words of 64 bits, the low 16 bits first. */
#define U0 r4
#define U1 r5
#define U2 r6
#define U3 r7
#define V0 r8
#define V1 r9
#define V2 r10
#define V3 r11
#define S r12
#define COUNT r13
#define CONSTANT r14
#define WINDOW r15

/* The frame, from r1. */
#define VARIABLES       640     /* a .. h before the first round */
#define STATE           704
#define DATA            706
#define BLOCKS          708
#define FRAME           710

/* FIPS 180-4, section 4.2.3. */
    .section .rodata.sha512_constants, "a", @progbits
    .p2align 1
    .type constants, @object
constants:
    .long 0xd728ae22, 0x428a2f98, 0x23ef65cd, 0x71374491, 0xec4d3b2f, 0xb5c0fbcf
    .long 0x8189dbbc, 0xe9b5dba5, 0xf348b538, 0x3956c25b, 0xb605d019, 0x59f111f1
    .long 0xaf194f9b, 0x923f82a4, 0xda6d8118, 0xab1c5ed5, 0xa3030242, 0xd807aa98
    .long 0x45706fbe, 0x12835b01, 0x4ee4b28c, 0x243185be, 0xd5ffb4e2, 0x550c7dc3
    .long 0xf27b896f, 0x72be5d74, 0x3b1696b1, 0x80deb1fe, 0x25c71235, 0x9bdc06a7
    .long 0xcf692694, 0xc19bf174, 0x9ef14ad2, 0xe49b69c1, 0x384f25e3, 0xefbe4786
    .long 0x8b8cd5b5, 0x0fc19dc6, 0x77ac9c65, 0x240ca1cc, 0x592b0275, 0x2de92c6f
    .long 0x6ea6e483, 0x4a7484aa, 0xbd41fbd4, 0x5cb0a9dc, 0x831153b5, 0x76f988da
    .long 0xee66dfab, 0x983e5152, 0x2db43210, 0xa831c66d, 0x98fb213f, 0xb00327c8
    .long 0xbeef0ee4, 0xbf597fc7, 0x3da88fc2, 0xc6e00bf3, 0x930aa725, 0xd5a79147
    .long 0xe003826f, 0x06ca6351, 0x0a0e6e70, 0x14292967, 0x46d22ffc, 0x27b70a85
    .long 0x5c26c926, 0x2e1b2138, 0x5ac42aed, 0x4d2c6dfc, 0x9d95b3df, 0x53380d13
    .long 0x8baf63de, 0x650a7354, 0x3c77b2a8, 0x766a0abb, 0x47edaee6, 0x81c2c92e
    .long 0x1482353b, 0x92722c85, 0x4cf10364, 0xa2bfe8a1, 0xbc423001, 0xa81a664b
    .long 0xd0f89791, 0xc24b8b70, 0x0654be30, 0xc76c51a3, 0xd6ef5218, 0xd192e819
    .long 0x5565a910, 0xd6990624, 0x5771202a, 0xf40e3585, 0x32bbd1b8, 0x106aa070
    .long 0xb8d2d0c8, 0x19a4c116, 0x5141ab53, 0x1e376c08, 0xdf8eeb99, 0x2748774c
    .long 0xe19b48a8, 0x34b0bcb5, 0xc5c95a63, 0x391c0cb3, 0xe3418acb, 0x4ed8aa4a
    .long 0x7763e373, 0x5b9cca4f, 0xd6b2b8a3, 0x682e6ff3, 0x5defb2fc, 0x748f82ee
    .long 0x43172f60, 0x78a5636f, 0xa1f0ab72, 0x84c87814, 0x1a6439ec, 0x8cc70208
    .long 0x23631e28, 0x90befffa, 0xde82bde9, 0xa4506ceb, 0xb2c67915, 0xbef9a3f7
    .long 0xe372532b, 0xc67178f2, 0xea26619c, 0xca273ece, 0x21c0c207, 0xd186b8c7
    .long 0xcde0eb1e, 0xeada7dd6, 0xee6ed178, 0xf57d4f7f, 0x72176fba, 0x06f067aa
    .long 0xa2c898a6, 0x0a637dc5, 0xbef90dae, 0x113f9804, 0x131c471b, 0x1b710b35
    .long 0x23047d84, 0x28db77f5, 0x40c72493, 0x32caab7b, 0x15c9bebc, 0x3c9ebe0a
    .long 0x9c100d4c, 0x431d67c4, 0xcb3e42b6, 0x4cc5d4be, 0xfc657e2a, 0x597f299c
    .long 0x3ad6faec, 0x5fcb6fab, 0x4a475817, 0x6c44198c
    .size constants, 640

.macro load w0, w1, w2, w3, at
    mov.w \at(WINDOW), \w0
    mov.w \at + 2(WINDOW), \w1
    mov.w \at + 4(WINDOW), \w2
    mov.w \at + 6(WINDOW), \w3
.endm

.macro add_memory w0, w1, w2, w3, at
    add.w \at(WINDOW), \w0
    addc.w \at + 2(WINDOW), \w1
    addc.w \at + 4(WINDOW), \w2
    addc.w \at + 6(WINDOW), \w3
.endm

.macro add_to_memory w0, w1, w2, w3, at
    add.w \w0, \at(WINDOW)
    addc.w \w1, \at + 2(WINDOW)
    addc.w \w2, \at + 4(WINDOW)
    addc.w \w3, \at + 6(WINDOW)
.endm

.macro store w0, w1, w2, w3, at
    mov.w \w0, \at(WINDOW)
    mov.w \w1, \at + 2(WINDOW)
    mov.w \w2, \at + 4(WINDOW)
    mov.w \w3, \at + 6(WINDOW)
.endm

/* U += V, U ^= the words given. */
.macro add_v
    add.w V0, U0
    addc.w V1, U1
    addc.w V2, U2
    addc.w V3, U3
.endm
.macro copy_to_u
    mov.w V0, U0
    mov.w V1, U1
    mov.w V2, U2
    mov.w V3, U3
.endm
.macro mix_u w0, w1, w2, w3
    xor.w \w0, U0
    xor.w \w1, U1
    xor.w \w2, U2
    xor.w \w3, U3
.endm
.macro mix_v w0, w1, w2, w3
    xor.w \w0, V0
    xor.w \w1, V1
    xor.w \w2, V2
    xor.w \w3, V3
.endm

/* A word rotated by a bit. */
.macro right w0, w1, w2, w3
    bit.w #1, \w0
    rrc.w \w3
    rrc.w \w2
    rrc.w \w1
    rrc.w \w0
.endm
.macro left w0, w1, w2, w3
    rla.w \w0
    rlc.w \w1
    rlc.w \w2
    rlc.w \w3
    adc.w \w0
.endm

/* A word rotated right by a byte: of swapped halves a low byte stays and a high one is the next's.
 * S: the lowest half, swapped, for the last. */
.macro right_byte w0, w1, w2, w3
    swpb \w0
    swpb \w1
    swpb \w2
    swpb \w3
    mov.w \w0, S
    exchange_high \w0, \w1
    exchange_high \w1, \w2
    exchange_high \w2, \w3
    xor.w \w3, S
    and.w #0xff00, S
    xor.w S, \w3
.endm
/* The high byte of \to becomes that of \from. */
.macro exchange_high to, from
    xor.w \from, \to
    and.w #0x00ff, \to
    xor.w \from, \to
.endm

/* A quarter of V = f to that of Ch(e, f, g), and of U = a to that of Maj(a, b, c). */
.macro choice v, at
    xor.w 48 + \at(WINDOW), \v
    and.w 32 + \at(WINDOW), \v
    xor.w 48 + \at(WINDOW), \v
.endm
.macro majority u, at
    mov.w 8 + \at(WINDOW), S
    and.w \u, S
    bis.w 8 + \at(WINDOW), \u
    and.w 16 + \at(WINDOW), \u
    bis.w S, \u
.endm

    .section .text.ws_sha512_blocks, "ax", @progbits
    .globl ws_sha512_blocks
    .type ws_sha512_blocks, @function
ws_sha512_blocks:
    tst.w r14
    jnz 0f
    ret
0:
    push r4
    push r5
    push r6
    push r7
    push r8
    push r9
    push r10
    push r11
    sub.w #FRAME, r1
    mov.w r12, STATE(r1)
    mov.w r13, DATA(r1)
    mov.w r14, BLOCKS(r1)

/* The state into the window, and the message below it, by V0, because clang's assembler knows no
 * move from @Rn+ to memory. */
1:  mov.w STATE(r1), S
    mov.w r1, WINDOW
    add.w #VARIABLES, WINDOW
    mov.w #8, COUNT
2:  mov.w @S+, V0
    mov.w V0, 4(WINDOW)
    mov.w @S+, V0
    mov.w V0, 6(WINDOW)
    mov.w @S+, V0
    mov.w V0, 0(WINDOW)
    mov.w @S+, V0
    mov.w V0, 2(WINDOW)
    add.w #8, WINDOW
    dec.w COUNT
    jnz 2b
    sub.w #64, WINDOW
    mov.w DATA(r1), S
    mov.w #16, COUNT
2:  sub.w #8, WINDOW
    .irp at, 7, 6, 5, 4, 3, 2, 1, 0
    mov.b @S+, V0
    mov.b V0, \at(WINDOW)
    .endr
    dec.w COUNT
    jnz 2b
    mov.w S, DATA(r1)

/* The rest of the schedule, at WINDOW - 8 from those of 15, 16, 7 and 2 rounds before. */
    mov.w #64, COUNT
3:  sub.w #8, WINDOW
    load V0, V1, V2, V3, 120
    copy_to_u
    right V0, V1, V2, V3
    right_byte U0, U1, U2, U3
    mix_v U0, U1, U2, U3
    left U0, U1, U2, U3
    and.w #0x01ff, U3
    mix_u V0, V1, V2, V3
    add_memory U0, U1, U2, U3, 128
    add_memory U0, U1, U2, U3, 56
    store U0, U1, U2, U3, 0
    load V0, V1, V2, V3, 16
    copy_to_u
    left U0, U1, U2, U3
    left U0, U1, U2, U3
    left U0, U1, U2, U3
    right V0, V1, V2, V3
    right V0, V1, V2, V3
    right V0, V1, V2, V3
    mix_u V1, V2, V3, V0
    right V0, V1, V2, V3
    right V0, V1, V2, V3
    right V0, V1, V2, V3
    and.w #0x03ff, V3
    mix_u V0, V1, V2, V3
    add_to_memory U0, U1, U2, U3, 0
    dec.w COUNT
    jz 4f
    br #3b

4:  mov.w r1, WINDOW
    add.w #VARIABLES, WINDOW
    mov.w #constants, CONSTANT
    mov.w #80, COUNT
/* T1 below the window: W + K + h + Ch(e, f, g) + Sigma1(e). */
5:  load U0, U1, U2, U3, 56
    add.w @CONSTANT+, U0
    addc.w @CONSTANT+, U1
    addc.w @CONSTANT+, U2
    addc.w @CONSTANT+, U3
    load V0, V1, V2, V3, 40
    choice V0, 0
    choice V1, 2
    choice V2, 4
    choice V3, 6
    add_v
    add_to_memory U0, U1, U2, U3, -8
    load V0, V1, V2, V3, 32
    copy_to_u
    right_byte V0, V1, V2, V3
    right U0, U1, U2, U3
    xor.w V1, U0
    xor.w V2, U1
    xor.w V3, U2
    xor.w V0, U3
    right U0, U1, U2, U3
    load V0, V1, V2, V3, 32
    left V0, V1, V2, V3
    left V0, V1, V2, V3
    mix_v U0, U1, U2, U3
    add_to_memory V1, V2, V3, V0, -8
/* e = d + T1; a = T1 + Maj(a, b, c) + Sigma0(a). */
    load U0, U1, U2, U3, -8
    add_to_memory U0, U1, U2, U3, 24
    load V0, V1, V2, V3, 0
    copy_to_u
    right_byte V0, V1, V2, V3
    left U0, U1, U2, U3
    left U0, U1, U2, U3
    left U0, U1, U2, U3
    mix_v U0, U1, U2, U3
    left V0, V1, V2, V3
    load U0, U1, U2, U3, 0
    right U0, U1, U2, U3
    right U0, U1, U2, U3
    mix_v U0, U1, U2, U3
    load U0, U1, U2, U3, 0
    majority U0, 0
    majority U1, 2
    majority U2, 4
    majority U3, 6
    add.w V2, U0
    addc.w V3, U1
    addc.w V0, U2
    addc.w V1, U3
    add_to_memory U0, U1, U2, U3, -8
    sub.w #8, WINDOW
    dec.w COUNT
    jz 6f
    br #5b

/* The variables onto the state. */
6:  mov.w STATE(r1), S
    mov.w #8, COUNT
7:  mov.w WINDOW, CONSTANT
    mov.w @CONSTANT+, V0
    mov.w @CONSTANT+, V1
    mov.w @CONSTANT+, V2
    mov.w @CONSTANT+, V3
    mov.w CONSTANT, WINDOW
    add.w V0, 4(S)
    addc.w V1, 6(S)
    addc.w V2, 0(S)
    addc.w V3, 2(S)
    add.w #8, S
    dec.w COUNT
    jnz 7b
    dec.w BLOCKS(r1)
    jz 8f
    br #1b

8:  mov.w r1, S
    mov.w #(STATE / 8), COUNT
2:  clr.w 0(S)
    clr.w 2(S)
    clr.w 4(S)
    clr.w 6(S)
    add.w #8, S
    dec.w COUNT
    jnz 2b
    add.w #FRAME, r1
    pop r11
    pop r10
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
    ret
    .size ws_sha512_blocks, . - ws_sha512_blocks
