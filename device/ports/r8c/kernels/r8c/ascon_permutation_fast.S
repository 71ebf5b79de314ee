/*
 * Ascon-p (NIST SP 800-232 section 3) for R8C/Tiny, fast. Defines ws_ascon_permute_12 and ws_ascon_permute_8, Ascon-p[12] and
 * Ascon-p[8] in place, and ws_ascon_absorb_last.
 *
 * In: FB state, 40 bytes, S0 first, the lowest byte of each word first; SP = FB - 3 before the call, as in a subroutine of the
 * function whose frame begins with the state.
 * Clobbers R0-R3, A0, A1, SB of register bank 0, which hold secrets then; bank 1 is not used. Stack: 3 bytes.
 * Cycles from call to return, JSR.A and RTS included: 7,583 and 5,067, 630 a round. Bytes: 689.
 *
 * Idea. The S-box (section 3.3) takes 16 bits of each word at a time: 21 instructions between registers, one of them scratch,
 * after Boolean identities that leave the linear step behind it out; each word goes to memory where it is made. In the linear
 * layer (section 3.4) turning by bytes is a matter of where 16 bits are read, as memory has no alignment. Where the one byte
 * is the last and the other the first, the two are read apart, to a register whose bytes have names. Between the two readings
 * the copy is turned by single bits through C, one cycle for 16 bits, and at the end it is XORed into the word itself:
 *     S0: S0 ^= (S0 >>> 24 >>> 1 ^ S0 >>> 16) >>> 3            19, 28
 *     S1: S1 ^= (S1 <<< 2 ^ S1 >>> 40) <<< 1                   61, 39
 *     S2: S2 ^= (S2 >>> 8 <<< 3 ^ S2) >>> 1                    1, 6
 *     S3: S3 ^= (S3 >>> 8 >>> 1 ^ S3 >>> 16) >>> 1             10, 17
 *     S4: S4 ^= (S4 >>> 8 <<< 2 ^ S4 >>> 40) >>> 1             7, 41
 * MOV reads a word from d[SP] in 3 cycles and from d[FB] in 4; the other instructions have no operand d[SP].
 *
 * SB is the round constant, as LDC and STC take one cycle. The lowest 16 bits of S0 stay in R1 from round to round.
 *
 * Constant time: no branch and no address depends on data, and no instruction's time does.
 */

/* The state from SP, behind the return addresses of this and of the subroutine that calls it. */
#define FROM_SP 6

/* The S-box on the 16 bits at \at of S0 to S4; of S0 the first are in R1 already. */
.macro substitute at
    .if \at
    mov.w (FROM_SP + \at)[sp], r1
    .endif
    mov.w (FROM_SP + \at + 8)[sp], r2
    .if \at
    mov.w (FROM_SP + \at + 16)[sp], r3
    .else
    stc sb, r3
    xor.w 16[fb], r3
    .endif
    mov.w (FROM_SP + \at + 24)[sp], a0
    mov.w (FROM_SP + \at + 32)[sp], a1
    xor.w a1, r1
    xor.w a0, a1
    xor.w r2, r3
    /* S0 = ((x0 ^ x2) | x1) ^ x4 */
    mov.w r1, r0
    xor.w r3, r0
    or.w r2, r0
    xor.w a1, r0
    mov.w r0, \at[fb]
    /* S1 = ((x1 ^ x3) | x2) ^ x0 */
    mov.w r2, r0
    xor.w a0, r0
    or.w r3, r0
    xor.w r1, r0
    mov.w r0, (\at + 8)[fb]
    /* S2 = (~x4 | x3) ^ x2 */
    mov.w a1, r0
    not.w r0
    or.w a0, r0
    xor.w r3, r0
    mov.w r0, (\at + 16)[fb]
    /* S3 = ((x0 ^ x3) | x4) ^ x2 */
    xor.w r1, a0
    or.w a1, a0
    xor.w r3, a0
    mov.w a0, (\at + 24)[fb]
    /* S4 = (~x0 & x1) ^ x4 */
    not.w r1
    and.w r2, r1
    xor.w a1, r1
    mov.w r1, (\at + 32)[fb]
.endm

/* 16 bits from the byte \at of the word at \word on. Those from byte 7 on have a register with named bytes: R0 or R1. */
.macro load word, at, register
    .if (\at) == 7
    mov.b (FROM_SP + \word + 7)[sp], \register\()l
    mov.b (FROM_SP + \word)[sp], \register\()h
    .else
    mov.w (FROM_SP + \word + (\at))[sp], \register
    .endif
.endm
.macro add word, at, register
    .if (\at) == 7
    xor.b (\word + 7)[fb], \register\()l
    xor.b (\word)[fb], \register\()h
    .else
    xor.w (\word + (\at))[fb], \register
    .endif
.endm

/* A word turned right by \bytes bytes, or that added; p, q, r, s are its four times 16 bits, the lowest first. */
.macro load_turned word, bytes, p, q, r, s
    load \word, ((\bytes) & 7), \p
    load \word, ((\bytes + 2) & 7), \q
    load \word, ((\bytes + 4) & 7), \r
    load \word, ((\bytes + 6) & 7), \s
.endm
.macro add_turned word, bytes, p, q, r, s
    add \word, ((\bytes) & 7), \p
    add \word, ((\bytes + 2) & 7), \q
    add \word, ((\bytes + 4) & 7), \r
    add \word, ((\bytes + 6) & 7), \s
.endm

.macro add_to word, p, q, r, s
    xor.w \p, \word[fb]
    xor.w \q, (\word + 2)[fb]
    xor.w \r, (\word + 4)[fb]
    xor.w \s, (\word + 6)[fb]
.endm

/* Turned by one bit. */
.macro turn_right p, q, r, s
    btst 0, \p
    rorc.w \s
    rorc.w \r
    rorc.w \q
    rorc.w \p
.endm
.macro turn_left p, q, r, s
    btst 15, \s
    rolc.w \p
    rolc.w \q
    rolc.w \r
    rolc.w \s
.endm

/* By three bits, which come from a copy. Scratch: A0. */
.macro turn_right_3 p, q, r, s
    mov.w \p, a0
    .rept 3
    rorc.w a0
    rorc.w \s
    rorc.w \r
    rorc.w \q
    rorc.w \p
    .endr
.endm
.macro turn_left_3 p, q, r, s
    mov.w \s, a0
    .rept 3
    rolc.w a0
    rolc.w \p
    rolc.w \q
    rolc.w \r
    rolc.w \s
    .endr
.endm

    .section .text.ws_ascon_permute, "ax"
    .globl ws_ascon_permute_8
    .type ws_ascon_permute_8, @function
ws_ascon_permute_8:
    ldc #0x00b4, sb
    jmp.b .Lbegin
    .size ws_ascon_permute_8, . - ws_ascon_permute_8

    .globl ws_ascon_permute_12
    .type ws_ascon_permute_12, @function
ws_ascon_permute_12:
    ldc #0x00f0, sb
.Lbegin:
    mov.w FROM_SP[sp], r1
.Lround:
    substitute 0
    substitute 2
    substitute 4
    substitute 6

    load_turned 8, 0, r1, r0, r2, r3
    turn_left r1, r0, r2, r3
    turn_left r1, r0, r2, r3
    add_turned 8, 5, r1, r0, r2, r3
    turn_left r1, r0, r2, r3
    add_to 8, r1, r0, r2, r3

    load_turned 16, 1, r1, r2, r3, r0
    turn_left_3 r1, r2, r3, r0
    add_turned 16, 0, r1, r2, r3, r0
    turn_right r1, r2, r3, r0
    add_to 16, r1, r2, r3, r0

    load_turned 24, 1, r1, r2, r3, r0
    turn_right r1, r2, r3, r0
    add_turned 24, 2, r1, r2, r3, r0
    turn_right r1, r2, r3, r0
    add_to 24, r1, r2, r3, r0

    load_turned 32, 1, r2, r1, r3, r0
    turn_left r2, r1, r3, r0
    turn_left r2, r1, r3, r0
    add_turned 32, 5, r2, r1, r3, r0
    turn_right r2, r1, r3, r0
    add_to 32, r2, r1, r3, r0

    load_turned 0, 3, r1, r2, r0, r3
    turn_right r1, r2, r0, r3
    add_turned 0, 2, r1, r2, r0, r3
    turn_right_3 r1, r2, r0, r3
    xor.w 0[fb], r1             ; which stay there for the next round's S-box
    xor.w r2, 2[fb]
    xor.w r0, 4[fb]
    xor.w r3, 6[fb]

    /* Each round's constant is 15 less than that of the round before; the last is 0x4b. */
    stc sb, r0
    add.b #-15, r0l
    ldc r0, sb
    cmp.b #0x3c, r0l
    jeq .Lended
    jmp.w .Lround
.Lended:
    mov.w r1, 0[fb]
    rts
    .size ws_ascon_permute_12, . - ws_ascon_permute_12

/* The last bytes of a message, and the padding of section 2.1, XORed into the state. In: FB state, A0 bytes, R3 how many: less than
 * a block. Clobbers R3, A0, A1. Cycles from call to return, JSR.A and RTS included: 27 for none, else 21 and 13 a byte. Bytes: 17. */
    .section .text.ws_ascon_absorb_last, "ax"
    .globl ws_ascon_absorb_last
    .type ws_ascon_absorb_last, @function
ws_ascon_absorb_last:
    stc fb, a1
    cmp.w #0, r3
    jeq .Labsorbed
.Labsorb:
    xor.b [a0], [a1]
    inc.w a0
    inc.w a1
    adjnz.w #-1, r3, .Labsorb
.Labsorbed:
    xor.b #1, [a1]
    rts
    .size ws_ascon_absorb_last, . - ws_ascon_absorb_last
