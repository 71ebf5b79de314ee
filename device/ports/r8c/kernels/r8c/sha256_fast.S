/*
 * SHA-256 (FIPS 180-4) for R8C/Tiny, fast. Defines ws_sha256.
 *
 * void ws_sha256(const uint8_t *message, uint16_t len, uint8_t digest[32])
 * In: A0 message, R1 len, A1 digest; the digest may lie in the message.
 * Clobbers R0-R3, A0, A1, FB of register bank 0, of which R0-R3 are cleared; bank 1 is not used; SB is preserved.
 * Stack: 335 bytes with the return address, wiped.
 *
 * Cycles from call to return, JSR.A and RTS included: 21,985 for 32 bytes, 189,577 for 512, some 20,980 a block. Bytes: 869 of code
 * and 256 of constants: 1,125.
 *
 * Idea. The message schedule lies on the stack, and below it the working variables, h lowest. A round writes the new a in the
 * place of W[t], right above the variables, and adds T1 to d, which thereby becomes e; then SP moves up by one word, and every
 * variable has its next name. What is below SP is not needed any more. MOV from d[SP] takes 3 cycles a word, one less than
 * from other memory; for XOR, AND and ADD, which have no such operand, A1 is kept equal to SP.
 *
 * A word may begin at any byte, so memory turns words by 8, 16 and 24 bits for nothing. With single bits between them:
 *     Sigma1(e) = ((e >>> 3 ^ e >>> 8) >>> 2 ^ e >>> 24) >>> 1
 *     Sigma0(a) = ((a >>> 16 >>> 1 ^ a >>> 8) >>> 3 ^ a) >>> 2
 *     sigma0(x) = ((x without 3 bits >>> 1 ^ x >>> 16) >>> 3 ^ x >>> 8) <<< 1
 *     sigma1(x) = ((x >>> 16 >>> 1 ^ x without 10 bits >>> 8) >>> 1 ^ x >>> 16) >>> 1
 * where the lowest 3 or 10 bits of x are cleared for the shift that is no rotation. One bit takes 4 cycles: BTST, RORC, RORC.
 * SB and FB keep Sigma0(a) + Maj(a, b, c) for the next round, as LDC and STC take one cycle each.
 *
 * Constant time: no branch and no address depends on data, but on len alone; no instruction's time depends on data.
 */

/* The frame, from SP: */
#define WINDOW 0        /* h .. a */
#define SCHEDULE 32     /* W[0] .. W[63] */
#define HASH 288        /* h .. a of the blocks so far */
#define WIPED 320
#define FRAME 330
/* Where a block is padded, which its schedule overwrites later: W[16] .. W[31]. */
#define BLOCK (SCHEDULE + 64)
/* The last of it from FB, which points to HASH. */
#define STAGE 32        /* 0: there are bytes of the message left, 1: the length is missing, 2: nothing is */
#define MESSAGE 34      /* what is left of it */
#define LEFT 36
#define LENGTH 38
#define DIGEST 40

/* FIPS 180-4, section 4.2.2. */
    .section .rodata.sha256_constants, "a"
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
    .size constants, . - constants
#define CONSTANTS_END (constants + 256)

/* (high, low) turned right by one bit. */
.macro turn_right high, low
    btst 0, \low
    rorc.w \high
    rorc.w \low
.endm

/* The same by three bits, with a copy of low from which they come. Scratch: R2. */
.macro turn_right_3 high, low
    mov.w \low, r2
    .rept 3
    rorc.w r2
    rorc.w \high
    rorc.w \low
    .endr
.endm

/* A word of the initial hash value, section 5.3.3. */
.macro push_word word
    push.w #(\word >> 16)
    push.w #(\word & 0xffff)
.endm

    .section .text.ws_sha256, "ax"
    .globl ws_sha256
    .type ws_sha256, @function
ws_sha256:
    pushc sb
    push.w a1
    push.w r1
    push.w r1
    push.w a0
    push.w #0
    .irp word, 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19
    push_word \word
    .endr
    stc sp, a1
    ldc a1, fb
    add.w #-HASH, sp

.Lblock:
    cmp.w #64, LEFT[fb]
    jltu .Lpad
    mov.w MESSAGE[fb], a0
    add.w #64, MESSAGE[fb]
    sub.w #64, LEFT[fb]
    jmp.w .Lload

    /* The rest of the message, a bit one, and zeros. */
.Lpad:
    stc sp, a1
    add.w #BLOCK, a1
    mov.w MESSAGE[fb], a0
    mov.w LEFT[fb], r3
    mov.w #0, r1                ; R1H: bits 16 to 19 of the address
    smovf.b
    mov.b #0x80, [a1]
    inc.w a1
    mov.w #63, r3
    sub.w LEFT[fb], r3
    mov.b #0, r0l
    sstr.b
    mov.w #1, STAGE[fb]
    cmp.w #56, LEFT[fb]
    jgeu .Lpadded
    jmp.b .Llength

.Lzeros:
    stc sp, a1
    add.w #BLOCK, a1
    mov.w #0, r0
    mov.w #32, r3
    sstr.w

    /* The length in bits, its highest byte first. */
.Llength:
    mov.w #2, STAGE[fb]
    stc sp, a1
    mov.w LENGTH[fb], r0
    mov.w #0, r2
    shl.l #3, r2r0
    mov.b r0l, (BLOCK + 63)[a1]
    mov.b r0h, (BLOCK + 62)[a1]
    mov.w r2, r0
    mov.b r0l, (BLOCK + 61)[a1]
.Lpadded:
    stc sp, a0
    add.w #BLOCK, a0

    /* W[0] .. W[15], the bytes of each exchanged; and the working variables. */
.Lload:
    stc sp, a1
    mov.w #16, r3
.Lload_word:
    .irp i, 0, 1, 2, 3
    mov.b \i[a0], (SCHEDULE + 3 - \i)[a1]
    .endr
    add.w #4, a0
    add.w #4, a1
    adjnz.w #-1, r3, .Lload_word
    stc sp, a1
    .irp i, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
    mov.w \i[fb], (WINDOW + \i)[a1]
    .endr

    /* W[16] .. W[63]: A1 points to W[t - 16], A0 behind the last of these. */
    add.w #SCHEDULE, a1
    mov.w a1, a0
    add.w #(48 * 4), a0
.Lschedule:
    mov.w 4[a1], r0
    mov.w 6[a1], r1
    and.b #0xf8, r0l
    turn_right r1, r0
    xor.w 6[a1], r0
    xor.w 4[a1], r1
    turn_right_3 r1, r0
    xor.w 5[a1], r0
    xor.b 7[a1], r1l
    xor.b 4[a1], r1h
    btst 15, r1
    rolc.w r0
    rolc.w r1
    add.w [a1], r0
    adc.w 2[a1], r1
    add.w 36[a1], r0
    adc.w 38[a1], r1
    ldc r0, sb
    ldc r1, fb
    mov.w 58[a1], r0
    mov.w 56[a1], r1
    turn_right r1, r0
    mov.w 57[a1], r2
    and.w #0xfffc, r2
    xor.w r2, r0
    xor.b 59[a1], r1l
    turn_right r1, r0
    xor.w 58[a1], r0
    xor.w 56[a1], r1
    turn_right r1, r0
    stc sb, r2
    stc fb, r3
    add.w r2, r0
    adc.w r3, r1
    mov.w r0, 64[a1]
    mov.w r1, 66[a1]
    add.w #4, a1
    cmp.w a0, a1
    jeq .Lrounds
    jmp.w .Lschedule

.Lrounds:
    stc sp, a1
    mov.w #constants, a0
    mov.w (WINDOW + 28)[a1], r0
    mov.w (WINDOW + 30)[a1], r1
    jmp.w .Lsecond_sum

.Lround:
    /* R1:R0 = T1 = h + Sigma1(e) + Ch(e, f, g) + K[t] + W[t] */
    mov.b 15[sp], r0l
    mov.b 12[sp], r0h
    mov.w r0, r3
    mov.w 12[sp], r0
    mov.w 14[sp], r1
    turn_right_3 r1, r0
    mov.w 13[sp], r2            ; R3:R2 = e >>> 8, R2:R3 = e >>> 24
    xor.w r2, r0
    xor.w r3, r1
    turn_right r1, r0
    turn_right r1, r0
    xor.w r3, r0
    xor.w r2, r1
    turn_right r1, r0
    mov.w 8[sp], r2             ; Ch = g ^ (e & (f ^ g))
    mov.w 10[sp], r3
    xor.w 4[a1], r2
    xor.w 6[a1], r3
    and.w 12[a1], r2
    and.w 14[a1], r3
    xor.w 4[a1], r2
    xor.w 6[a1], r3
    add.w r2, r0
    adc.w r3, r1
    add.w [a1], r0
    adc.w 2[a1], r1
    add.w [a0], r0
    adc.w 2[a0], r1
    add.w 32[a1], r0
    adc.w 34[a1], r1
    /* The new e and the new a. */
    add.w r0, 16[a1]
    adc.w r1, 18[a1]
    stc sb, r2
    stc fb, r3
    add.w r2, r0
    adc.w r3, r1
    mov.w r0, 32[a1]
    mov.w r1, 34[a1]
    add.b #4, sp
    add.w #4, a1
    add.w #4, a0
    cmp.w #CONSTANTS_END, a0
    jeq .Lblock_ends

    /* The next round's FB:SB = Sigma0(a) + Maj(a, b, c), from R1:R0 = a, which is R0:R1 = a >>> 16. */
.Lsecond_sum:
    turn_right r0, r1
    xor.w 29[a1], r1
    xor.b 31[a1], r0l
    xor.b 28[a1], r0h
    turn_right_3 r0, r1
    xor.w 28[a1], r1
    xor.w 30[a1], r0
    turn_right r0, r1
    turn_right r0, r1
    mov.w 28[sp], r2            ; Maj = (a & b) + (c & (a ^ b)), of which no bits coincide
    mov.w 30[sp], r3
    and.w 24[a1], r2
    and.w 26[a1], r3
    add.w r2, r1
    adc.w r3, r0
    mov.w 28[sp], r2
    mov.w 30[sp], r3
    xor.w 24[a1], r2
    xor.w 26[a1], r3
    and.w 20[a1], r2
    and.w 22[a1], r3
    add.w r2, r1
    adc.w r3, r0
    ldc r1, sb
    ldc r0, fb
    jmp.w .Lround

    /* SP has come to the window's last place, right below the hash value. */
.Lblock_ends:
    .irp i, 0, 4, 8, 12, 16, 20, 24, 28
    mov.w \i[sp], r0
    add.w r0, (32 + \i)[a1]
    mov.w (\i + 2)[sp], r0
    adc.w r0, (32 + \i + 2)[a1]
    .endr
    add.w #32, a1
    ldc a1, fb
    add.w #-256, sp
    cmp.w #1, STAGE[fb]
    jgtu .Ldigest
    jeq .Lto_zeros
    jmp.w .Lblock
.Lto_zeros:
    jmp.w .Lzeros

    /* h .. a have the digest's bytes, the last first. */
.Ldigest:
    stc fb, a0
    mov.w DIGEST[fb], a1
    mov.w #8, r3
.Ldigest_word:
    .irp i, 0, 1, 2, 3
    mov.b (31 - \i)[a0], \i[a1]
    .endr
    add.w #-4, a0
    add.w #4, a1
    adjnz.w #-1, r3, .Ldigest_word

    stc sp, a1
    mov.w #0, r0
    mov.w #(WIPED / 2), r3
    sstr.w
    mov.w #0, r1
    mov.w #0, r2
    add.w #FRAME, sp
    popc sb
    rts
    .size ws_sha256, . - ws_sha256
