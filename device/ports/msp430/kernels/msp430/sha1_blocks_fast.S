/*
 * SHA-1 for the MSP430, fast: the working variables in registers, the message schedule popped from the stack.
 *
 * Defines ws_sha1_blocks (contract: sha1.h). Base MSP430 instructions only.
 *
 * Idea. The five working variables fill ten registers and a round takes two
 * more, so there is none left to point at the message schedule: the stack
 * pointer does, and W[t] is added with autoincrement. An interrupt overwrites
 * only what has been used already. Five rounds bring every variable back to
 * its registers and are a loop's body. Four turns of it, the 20 rounds with
 * the same function, pop 80 bytes; as the schedule is aligned to 16 bytes, the
 * last turn is the one that leaves the stack pointer aligned again, and no
 * counter is needed.
 *
 * Constant time: yes: no branch and no address depends on data.
 */

/* The frame, from r1 when the schedule is not on the stack. */
#define STATE           0
#define DATA            2
#define BLOCKS          4
#define CALLER          6       /* r1 before it was aligned */
#define FRAME           8
#define SCHEDULE_BYTES  320

.macro rotate_left high, low
    rla \low
    rlc \high
    adc \low
.endm
.macro rotate_right high, low
    bit #1, \low
    rrc \high
    rrc \low
.endm

/*
 * W[t] = rotl 1 of (W[t-3] ^ W[t-8] ^ W[t-14] ^ W[t-16]) in 21 cycles.
 * in:  (high, low) W[t-3]; r10 at W[t-16], r11 at W[t-14], r12 at W[t-8]
 * out: (high, low) W[t], also stored; r10, r11, r12 one word on
 */
.macro schedule_word high, low
    xor @r10+, \low
    xor @r10+, \high
    xor @r11+, \low
    xor @r11+, \high
    xor @r12+, \low
    xor @r12+, \high
    rotate_left \high, \low
    mov \low, 60(r10)
    mov \high, 62(r10)
.endm

/* e += f(b, c, d), FIPS 180-4, section 4.1.1; r14 and r15 scratch. */

/* ((c ^ d) & b) ^ d */
.macro choose bh, bl, ch, cl, dh, dl, eh, el
    mov \cl, r14
    mov \ch, r15
    xor \dl, r14
    xor \dh, r15
    and \bl, r14
    and \bh, r15
    xor \dl, r14
    xor \dh, r15
    add r14, \el
    addc r15, \eh
.endm

.macro parity bh, bl, ch, cl, dh, dl, eh, el
    mov \bl, r14
    mov \bh, r15
    xor \cl, r14
    xor \ch, r15
    xor \dl, r14
    xor \dh, r15
    add r14, \el
    addc r15, \eh
.endm

/* (b & c) + ((b ^ c) & d) */
.macro majority bh, bl, ch, cl, dh, dl, eh, el
    mov \cl, r14
    mov \ch, r15
    and \bl, r14
    and \bh, r15
    add r14, \el
    addc r15, \eh
    mov \cl, r14
    mov \ch, r15
    xor \bl, r14
    xor \bh, r15
    and \dl, r14
    and \dh, r15
    add r14, \el
    addc r15, \eh
.endm

/* e += W[t] + K + rotl 5 of a + f(b, c, d); b = rotl 30 of b. 33 cycles and those of f. */
.macro round f, k, ah, al, bh, bl, ch, cl, dh, dl, eh, el
    add @r1+, \el
    addc @r1+, \eh
    add #\k & 0xffff, \el
    addc #\k >> 16, \eh
    mov \al, r14
    mov \ah, r15
    .rept 5
    rotate_left r15, r14
    .endr
    add r14, \el
    addc r15, \eh
    \f \bh, \bl, \ch, \cl, \dh, \dl, \eh, \el
    rotate_right \bh, \bl
    rotate_right \bh, \bl
.endm

/* (a, b, c, d, e) is (r5:r4, r7:r6, r9:r8, r11:r10, r13:r12). */
.macro twenty_rounds f, k
.Lrounds\@:
    round \f, \k, r5, r4, r7, r6, r9, r8, r11, r10, r13, r12
    round \f, \k, r13, r12, r5, r4, r7, r6, r9, r8, r11, r10
    round \f, \k, r11, r10, r13, r12, r5, r4, r7, r6, r9, r8
    round \f, \k, r9, r8, r11, r10, r13, r12, r5, r4, r7, r6
    round \f, \k, r7, r6, r9, r8, r11, r10, r13, r12, r5, r4
    bit #15, r1
    jnz .Lrounds\@
.endm

/*
 * void ws_sha1_blocks(uint32_t state[5], const uint8_t *data, size_t blocks)
 * in:  r12 state, r13 data, r14 blocks
 * clobbers: r11-r15. Stack: up to 358 bytes, return address included; what was on it is wiped.
 * Cycles: 593 + 5,285 a block, 5,379 if data is odd; 11 for no block.
 */
    .section .text.ws_sha1_blocks, "ax", @progbits
    .p2align 1
    .global ws_sha1_blocks
    .type ws_sha1_blocks, @function
ws_sha1_blocks:
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
    mov r1, r11
    sub #FRAME, r1
    and #0xfff0, r1
    mov r12, STATE(r1)
    mov r14, BLOCKS(r1)
    mov r11, CALLER(r1)

.Lblock:
    sub #SCHEDULE_BYTES, r1
    /* W[0] .. W[15], through r12. r13 is data. */
    mov r1, r12
    mov #16, r10
    bit #1, r13
    jnz 3f
2:  mov @r13+, r5
    mov @r13+, r4
    swpb r5
    swpb r4
    mov r4, 0(r12)
    mov r5, 2(r12)
    add #4, r12
    dec r10
    jnz 2b
    jmp 4f
3:  mov.b @r13+, r5
    mov.b @r13+, r7
    mov.b @r13+, r4
    mov.b @r13+, r6
    swpb r5
    swpb r4
    bis r7, r5
    bis r6, r4
    mov r4, 0(r12)
    mov r5, 2(r12)
    add #4, r12
    dec r10
    jnz 3b
4:  mov r13, SCHEDULE_BYTES+DATA(r1)

    /* W[13], W[14], W[15] in r5:r4, r7:r6, r9:r8. */
    mov 52(r1), r4
    mov 54(r1), r5
    mov 56(r1), r6
    mov 58(r1), r7
    mov 60(r1), r8
    mov 62(r1), r9
    mov r1, r10
    mov r1, r11
    add #8, r11
    mov r1, r12
    add #32, r12
    mov r1, r13
    add #SCHEDULE_BYTES-64, r13
    /* W[16] .. W[79]: one, then 21 times three. */
    schedule_word r5, r4
5:  schedule_word r7, r6
    schedule_word r9, r8
    schedule_word r5, r4
    cmp r13, r10
    jne 5b

    mov SCHEDULE_BYTES+STATE(r1), r14
    mov @r14+, r4
    mov @r14+, r5
    mov @r14+, r6
    mov @r14+, r7
    mov @r14+, r8
    mov @r14+, r9
    mov @r14+, r10
    mov @r14+, r11
    mov @r14+, r12
    mov @r14+, r13
    twenty_rounds choose, 0x5a827999
    twenty_rounds parity, 0x6ed9eba1
    twenty_rounds majority, 0x8f1bbcdc
    twenty_rounds parity, 0xca62c1d6

    mov STATE(r1), r14
    add r4, 0(r14)
    addc r5, 2(r14)
    add r6, 4(r14)
    addc r7, 6(r14)
    add r8, 8(r14)
    addc r9, 10(r14)
    add r10, 12(r14)
    addc r11, 14(r14)
    add r12, 16(r14)
    addc r13, 18(r14)
    mov DATA(r1), r13
    dec BLOCKS(r1)
    jz 6f
    br #.Lblock

    /* Wipes the schedule: 10 times 16 words. */
6:  sub #SCHEDULE_BYTES, r1
    mov #10, r12
7:  .irp index, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    clr 2*\index(r1)
    .endr
    add #32, r1
    dec r12
    jnz 7b
    mov CALLER(r1), r1
    pop r10
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
    ret
    .size ws_sha1_blocks, . - ws_sha1_blocks
