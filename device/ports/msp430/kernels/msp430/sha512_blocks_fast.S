/*
 * SHA-512 for the MSP430, fast: one round in a loop over a window that slides.
 *
 * Defines ws_sha512_blocks (contract: sha512.h). CPUX: PUSHM and POPM.
 *
 * Cycles from the call to the return inclusive with one block at an even address: 34020. Stack
 * with the return address: 736 bytes. Flash: 1738 bytes and 640 of constants.
 *
 * Idea. As in sha256_blocks_fast.S the working variables lie in a window of eight words with the
 * message schedule right below it, W[0] on top: a round stores the new a in the place of W[t], adds
 * to d, which thereby becomes e, and moves the window down by one word. One pointer goes over e, f,
 * g, h and then W[t], a, b with @Rn+, which costs a cycle less a word than an index. Of Ch and Maj
 *     Ch(e, f, g) = (g | e) - (e & ~f)
 *     Maj(a, b, c) = (b & ~x) + (c & x), x = a ^ b
 * carry nothing from bit to bit, and MOV, BIS and BIC leave the carry alone: the words of Ch are
 * made between the additions of their sum. Rotations are made of words (a choice of registers),
 * bytes and single bits:
 *     Sigma0(x) = rotr32(rotl1(rotr8(x) ^ rotl3(x)) ^ rotr2(x))
 *     Sigma1(x) = rotr16(rotl2(x) ^ rotr1(rotr1(x) ^ rotr24(x)))
 *     sigma0(x) = rotr1(x) ^ rotr8(x) ^ rotl1(rotr8(x)) without its seven top bits
 *     sigma1(x) = rotl3(x) ^ rotr16(rotr3(x)) ^ rotr3(rotr3(x)) without its six top bits
 *
 * Constant time: yes: no branch and no address depends on data. How it is read depends on whether
 * its address is even. The frame is wiped, and so is what Sigma0(a) left below it.
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

/* The frame, from r1. Sigma0(a) waits below it. */
#define VARIABLES       640     /* a .. h before the first round */
#define STATE           704
#define DATA            706
#define BLOCKS          708
#define FRAME           710

/* clang's assembler knows none of these. */
.macro push_r4_to_r11           /* PUSHM.W #8, R11 */
    .short 0x157b
.endm
.macro pop_r4_to_r11            /* POPM.W #8, R11 */
    .short 0x1774
.endm
.macro push_v                   /* PUSHM.W #4, R11 */
    .short 0x153b
.endm
.macro push_r4_to_r14           /* PUSHM.W #11, R14 */
    .short 0x15ae
.endm

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

/* The word at \pointer, which goes on. */
.macro load_next w0, w1, w2, w3, pointer
    .irp word, \w0, \w1, \w2, \w3
    mov.w @\pointer+, \word
    .endr
.endm
.macro add_next w0, w1, w2, w3, pointer
    add.w @\pointer+, \w0
    addc.w @\pointer+, \w1
    addc.w @\pointer+, \w2
    addc.w @\pointer+, \w3
.endm

.macro load w0, w1, w2, w3, at
    mov.w \at(WINDOW), \w0
    mov.w \at + 2(WINDOW), \w1
    mov.w \at + 4(WINDOW), \w2
    mov.w \at + 6(WINDOW), \w3
.endm
.macro store w0, w1, w2, w3, at
    mov.w \w0, \at(WINDOW)
    mov.w \w1, \at + 2(WINDOW)
    mov.w \w2, \at + 4(WINDOW)
    mov.w \w3, \at + 6(WINDOW)
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

/* The word w0 .. w3 is V rotated right by a byte. With exchanged bytes a word of it has a low byte
 * of V's next word and a high byte of V's own. 17 cycles. S: scratch. */
.macro right_byte_of_v w0, w1, w2, w3
    mov.b V0, S
    mov.b V1, \w0
    mov.b V2, \w1
    mov.b V3, \w2
    mov.w S, \w3
    xor.w V3, \w3
    xor.w \w2, \w3
    xor.w V2, \w2
    xor.w \w1, \w2
    xor.w V1, \w1
    xor.w \w0, \w1
    xor.w V0, \w0
    xor.w S, \w0
    .irp word, \w0, \w1, \w2, \w3
    swpb \word
    .endr
.endm

/* A word's part of a word rotated right by a byte: its low byte after SWPB to \own, its high one to
 * \below. S: scratch. */
.macro mix_byte word, own, below
    mov.b \word, S
    xor.w S, \own
    xor.w S, \below
    xor.w \word, \below
.endm

/* Takes e & ~f from a quarter of the sum U, or adds g | e; e in V, f or g at WINDOW. */
.macro subtract_choice operation, e, u
    mov.w \e, S
    bic.w @WINDOW+, S
    \operation S, \u
.endm
.macro add_choice operation, e, u
    mov.w @WINDOW+, S
    bis.w \e, S
    \operation S, \u
.endm

/* A quarter of V = a to that of Maj(a, b, c), b at WINDOW. */
.macro majority v
    mov.w @WINDOW+, S
    xor.w S, \v
    bic.w \v, S
    and.w 6(WINDOW), \v
    bis.w S, \v
.endm

/* W[t] from those of 15, 16, 7 and 2 rounds before; WINDOW: at the first of these, then at its
 * successor. The sum without sigma1 is in V0 to V2 and where W[t] will be. 159 cycles. */
.macro schedule
    load_next V0, V1, V2, V3, WINDOW
    right_byte_of_v U0, U1, U2, U3
    right V0, V1, V2, V3
    mix_v U0, U1, U2, U3
    left U0, U1, U2, U3
    and.w #0x01ff, U3
    mix_v U0, U1, U2, U3
    add_next V0, V1, V2, V3, WINDOW
    add.w -80(WINDOW), V0
    addc.w -78(WINDOW), V1
    addc.w -76(WINDOW), V2
    addc.w -74(WINDOW), V3
    mov.w V3, -130(WINDOW)
    load U0, U1, U2, U3, -120
    mov.w U0, V3
    mov.w U1, S
    mov.w U2, COUNT
    mov.w U3, CONSTANT
    .rept 3
    left V3, S, COUNT, CONSTANT
    .endr
    .rept 3
    right U0, U1, U2, U3
    .endr
    xor.w U1, V3
    xor.w U2, S
    xor.w U3, COUNT
    xor.w U0, CONSTANT
    .rept 3
    right U0, U1, U2, U3
    .endr
    and.w #0x03ff, U3
    xor.w U0, V3
    xor.w U1, S
    xor.w U2, COUNT
    xor.w U3, CONSTANT
    add.w V0, V3
    addc.w V1, S
    addc.w V2, COUNT
    addc.w -130(WINDOW), CONSTANT
    store V3, S, COUNT, CONSTANT, -136
    sub.w #24, WINDOW
.endm

/* A round; a in U, WINDOW at e, before and after. 275 cycles. */
.macro round
/* Sigma0(a) to the stack, V having its halves of 32 bits exchanged. */
    mov.w U2, V0
    mov.w U3, V1
    mov.w U0, V2
    mov.w U1, V3
    .rept 3
    left V2, V3, V0, V1
    .endr
    .irp word, U0, U1, U2, U3
    swpb \word
    .endr
    mix_byte U0, V2, V1
    mix_byte U1, V3, V2
    mix_byte U2, V0, V3
    mix_byte U3, V1, V0
    left V2, V3, V0, V1
    .irp word, U0, U1, U2, U3
    swpb \word
    .endr
    right U0, U1, U2, U3
    right U0, U1, U2, U3
    mix_v U2, U3, U0, U1
    push_v
/* U = T1 = Sigma1(e) + Ch(e, f, g) + h + K + W, U having its words one further. */
    load_next V0, V1, V2, V3, WINDOW
    right_byte_of_v U2, U3, U0, U1
    right V0, V1, V2, V3
    mix_u V1, V2, V3, V0
    right U3, U0, U1, U2
    .rept 3
    left V0, V1, V2, V3
    .endr
    mix_u V1, V2, V3, V0
    right V0, V1, V2, V3
    right V0, V1, V2, V3
    subtract_choice sub.w, V0, U0
    subtract_choice subc.w, V1, U1
    subtract_choice subc.w, V2, U2
    subtract_choice subc.w, V3, U3
    add_choice add.w, V0, U0
    add_choice addc.w, V1, U1
    add_choice addc.w, V2, U2
    add_choice addc.w, V3, U3
    add_next U0, U1, U2, U3, WINDOW
    add_next U0, U1, U2, U3, CONSTANT
    sub.w #72, WINDOW
    add_next U0, U1, U2, U3, WINDOW
/* e = d + T1; a = T1 + Sigma0(a) + Maj(a, b, c). */
    add.w U0, 24(WINDOW)
    addc.w U1, 26(WINDOW)
    addc.w U2, 28(WINDOW)
    addc.w U3, 30(WINDOW)
    add_next U0, U1, U2, U3, r1
    load_next V0, V1, V2, V3, WINDOW
    majority V0
    majority V1
    majority V2
    majority V3
    add.w V0, U0
    addc.w V1, U1
    addc.w V2, U2
    addc.w V3, U3
    store U0, U1, U2, U3, -24
    add.w #8, WINDOW
.endm

    .section .text.ws_sha512_blocks, "ax", @progbits
    .globl ws_sha512_blocks
    .type ws_sha512_blocks, @function
ws_sha512_blocks:
    tst.w r14
    jnz 0f
    ret
0:
    push_r4_to_r11
    sub.w #FRAME, r1
    mov.w r12, STATE(r1)
    mov.w r13, DATA(r1)
    mov.w r14, BLOCKS(r1)

/* The state into the window, and the message below it, by registers, because clang's assembler
 * knows no move from @Rn+ to memory. */
1:  mov.w STATE(r1), S
    mov.w r1, WINDOW
    add.w #VARIABLES, WINDOW
    mov.w #8, COUNT
2:  load_next V2, V3, V0, V1, S
    store V0, V1, V2, V3, 0
    add.w #8, WINDOW
    dec.w COUNT
    jnz 2b
    sub.w #64, WINDOW
    mov.w DATA(r1), S
    mov.w #16, COUNT
    bit.w #1, S
    jnz 3f
2:  load_next V3, V2, V1, V0, S
    .irp word, V3, V2, V1, V0
    swpb \word
    .endr
    sub.w #8, WINDOW
    store V0, V1, V2, V3, 0
    dec.w COUNT
    jnz 2b
    jmp 4f
3:  sub.w #8, WINDOW
    .irp at, 7, 6, 5, 4, 3, 2, 1, 0
    mov.b @S+, V0
    mov.b V0, \at(WINDOW)
    .endr
    dec.w COUNT
    jnz 3b
4:  mov.w S, DATA(r1)

    add.w #112, WINDOW
5:  schedule
    schedule
    mov.w WINDOW, S
    sub.w r1, S
    cmp.w #112, S
    jnz 5b

    mov.w r1, WINDOW
    add.w #VARIABLES, WINDOW
    load_next U0, U1, U2, U3, WINDOW
    add.w #24, WINDOW
    mov.w #constants, CONSTANT
6:  round
    round
    cmp.w #constants + 640, CONSTANT
    jnz 6b

/* The variables onto the state. */
    sub.w #32, WINDOW
    mov.w STATE(r1), S
    mov.w #8, COUNT
7:  load_next V0, V1, V2, V3, WINDOW
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

/* 704 bytes of the frame, and 8 below it. */
8:  add.w #STATE, r1
    .irp word, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, r14
    clr.w \word
    .endr
    mov.w #32, r15
9:  push_r4_to_r14
    dec.w r15
    jnz 9b
    push_v
    add.w #FRAME + 8, r1
    pop_r4_to_r11
    ret
    .size ws_sha512_blocks, . - ws_sha512_blocks
