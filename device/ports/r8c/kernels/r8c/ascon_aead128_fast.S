/*
 * Ascon-AEAD128 (NIST SP 800-232 section 4) for R8C/Tiny, with tags of 128 bits and without nonce masking. Defines
 * ws_ascon_aead128_seal and ws_ascon_aead128_open; contracts: crypto/ascon_aead128.h.
 *
 * In: the arguments of the C prototype on the stack, a word each, the first at 3[SP]; the caller removes them.
 * Out: R0 of ws_ascon_aead128_open: 0, or -1 where the tag does not fit; nothing is written then.
 * Clobbers R0-R3, A0, A1, FB of register bank 0, of which R0-R3 are cleared; bank 1 is not used; SB is preserved.
 * Stack with the return address, without the arguments: 67 bytes, open 131; wiped.
 *
 * Cycles from call to return, JSR.A and RTS included, for 16 bytes and 16 of associated data: seal 31,340, open 31,869.
 * Bytes without ascon_permutation_fast.S, of which they take 706: seal 461, open 833.
 *
 * Idea. The state begins the frame, at FB, where Ascon-p works on it. What calls Ascon-p is a subroutine of the two functions,
 * without a frame of its own. Whole blocks go by words, the last one by bytes. To open, the message is gone through twice: for
 * the tag, with the plaintext thrown away, and from a copy of the state for the plaintext.
 *
 * Constant time: no branch and no address depends on data, but on the lengths and on whether the tag fits; no instruction's
 * time depends on data.
 */

/* The frame from FB: the state, and copies of the arguments, within reach. */
#define STATE 0
#define KEY 40
#define NONCE 42
#define AAD 44
#define AAD_LEN 46
#define IN 48
#define LEN 50
#define SEAL_OUT 52
#define SEAL_TAG 54
#define SEAL_FRAME 56
/* And of open alone: */
#define OPEN_TAG 52
#define OPEN_OUT 54
#define FROM 56         /* what is left of the ciphertext */
#define REST 58
#define TO 60           /* where its plaintext goes; THROWN_AWAY in the first pass */
#define PASS 62         /* 1, 2 */
#define THROWN_AWAY 64  /* a block of plaintext */
#define BEGUN 80        /* the state before the ciphertext */
#define OPEN_FRAME 120

#define S0 STATE
#define S1 (STATE + 8)
#define S2 (STATE + 16)
#define S3 (STATE + 24)
#define S4 (STATE + 32)

/* SB is saved, then the arguments are copied, and FB is set. `local` bytes lie above them. */
.macro begin_frame local
    pushc sb
    .if \local
    add.w #-\local, sp
    .endif
    .rept 8
    mov.w (\local + 2 + 3 + 14)[sp], r0
    push.w r0
    .endr
    add.w #-KEY, sp
    stc sp, r0
    ldc r0, fb
.endm

/* The frame of so many bytes is wiped and left. R0 is not changed. */
.macro end_frame bytes
    stc sp, a1
    mov.w r0, r2
    mov.w #0, r0
    mov.w #(\bytes / 2), r3
    sstr.w
    mov.w r2, r0
    mov.w #0, r1
    mov.w #0, r2
    add.w #\bytes, sp
    popc sb
    rts
.endm

/* 16 bytes from \from[a0] on XORed to, or moved to, those at \to[fb]. */
.macro to_state instruction, to
    .irp i, 0, 2, 4, 6, 8, 10, 12, 14
    \instruction \i[a0], (\to + \i)[fb]
    .endr
.endm

/* Initialisation and associated data: section 4.1.1, steps 1 and 2. */
    .section .text.ascon_aead128_begin, "ax"
    .type begin, @function
begin:
    /* Table 14: 0x00001000808c0001. */
    mov.w #0x0001, S0[fb]
    mov.w #0x808c, (S0 + 2)[fb]
    mov.w #0x1000, (S0 + 4)[fb]
    mov.w #0x0000, (S0 + 6)[fb]
    mov.w KEY[fb], a0
    to_state mov.w, S1
    mov.w NONCE[fb], a0
    to_state mov.w, S3
    jsr.a ws_ascon_permute_12
    mov.w KEY[fb], a0
    to_state xor.w, S3
    cmp.w #0, AAD_LEN[fb]
    jeq .Lno_aad
.Laad:
    mov.w AAD[fb], a0
    mov.w AAD_LEN[fb], r3
    jsr.w absorb
    jsr.a ws_ascon_permute_8
    add.w #16, AAD[fb]
    sub.w #16, AAD_LEN[fb]
    jgeu .Laad
.Lno_aad:
    /* Domain separation: the last bit of the state. */
    xor.b #0x80, (S4 + 7)[fb]
    rts
    .size begin, . - begin

/* XORs a block into the state; where there are less than 16 bytes left it is the last one, which is padded. In: A0 bytes, R3 how many
 * are left. Clobbers R3, A0, A1. */
    .section .text.ascon_aead128_absorb, "ax"
    .type absorb, @function
absorb:
    cmp.w #16, r3
    jltu .Labsorb_last
    to_state xor.w, S0
    rts
.Labsorb_last:
    jmp.a ws_ascon_absorb_last
    .size absorb, . - absorb

/* Finalisation: section 4.1.1, step 4. Leaves the tag in S3 and S4. */
    .section .text.ascon_aead128_finish, "ax"
    .type finish, @function
finish:
    mov.w KEY[fb], a0
    to_state xor.w, S2
    jsr.a ws_ascon_permute_12
    mov.w KEY[fb], a0
    to_state xor.w, S3
    rts
    .size finish, . - finish

    .section .text.ascon_aead128_encrypt, "ax"
    .type encrypt, @function
encrypt:
    mov.w IN[fb], a0
    mov.w LEN[fb], r3
    jsr.w absorb
    stc fb, a0
    mov.w SEAL_OUT[fb], a1
    mov.w LEN[fb], r3
    cmp.w #16, r3
    jltu .Lencrypt_last
    mov.w #8, r3
    mov.w #0, r1                ; R1H: bits 16 to 19 of the address
    smovf.w
    jsr.a ws_ascon_permute_8
    add.w #16, IN[fb]
    add.w #16, SEAL_OUT[fb]
    sub.w #16, LEN[fb]
    jmp.b encrypt
.Lencrypt_last:
    mov.w #0, r1
    smovf.b
    rts
    .size encrypt, . - encrypt

    .section .text.ws_ascon_aead128_seal, "ax"
    .globl ws_ascon_aead128_seal
    .type ws_ascon_aead128_seal, @function
ws_ascon_aead128_seal:
    begin_frame 0
    jsr.a begin
    jsr.a encrypt
    jsr.a finish
    mov.w SEAL_TAG[fb], a1
    .irp i, 0, 2, 4, 6, 8, 10, 12, 14
    mov.w (S3 + \i)[fb], \i[a1]
    .endr
    mov.w #0, r0
    end_frame SEAL_FRAME
    .size ws_ascon_aead128_seal, . - ws_ascon_aead128_seal

/* Once through the ciphertext. In: TO, PASS. The second time ends behind the last byte of plaintext. */
    .section .text.ascon_aead128_decrypt, "ax"
    .type decrypt, @function
decrypt:
    mov.w IN[fb], FROM[fb]
    mov.w LEN[fb], REST[fb]
.Ldecrypt:
    mov.w FROM[fb], a0
    mov.w TO[fb], a1
    cmp.w #16, REST[fb]
    jltu .Ldecrypt_last
    .irp i, 0, 2, 4, 6, 8, 10, 12, 14
    mov.w \i[a0], r0
    mov.w (S0 + \i)[fb], r1
    mov.w r0, (S0 + \i)[fb]
    xor.w r0, r1
    mov.w r1, \i[a1]
    .endr
    add.w #16, FROM[fb]
    sub.w #16, REST[fb]
    cmp.w #1, PASS[fb]
    jeq .Ldecrypt_next
    add.w #16, TO[fb]
    cmp.w #0, REST[fb]
    jeq .Ldecrypted
.Ldecrypt_next:
    jsr.a ws_ascon_permute_8
    jmp.b .Ldecrypt
    /* Fewer than 16 bytes, by SB. */
.Ldecrypt_last:
    stc fb, r2
    ldc r2, sb
    mov.w REST[fb], r3
    jeq .Ldecrypt_pad
.Ldecrypt_byte:
    mov.b [a0], r0l
    mov.b 0[sb], r0h
    mov.b r0l, 0[sb]
    xor.b r0l, r0h
    mov.b r0h, [a1]
    inc.w a0
    inc.w a1
    add.w #1, r2
    ldc r2, sb
    adjnz.w #-1, r3, .Ldecrypt_byte
.Ldecrypt_pad:
    xor.b #1, 0[sb]
.Ldecrypted:
    rts
    .size decrypt, . - decrypt

    .section .text.ws_ascon_aead128_open, "ax"
    .globl ws_ascon_aead128_open
    .type ws_ascon_aead128_open, @function
ws_ascon_aead128_open:
    begin_frame (OPEN_FRAME - FROM)
    jsr.a begin
    .irp i, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38
    mov.w (STATE + \i)[fb], (BEGUN + \i)[fb]
    .endr
    stc fb, a0
    add.w #THROWN_AWAY, a0
    mov.w a0, TO[fb]
    mov.w #1, PASS[fb]
    jsr.a decrypt
    jsr.a finish
    mov.w OPEN_TAG[fb], a0
    mov.w #0, r0
    .irp i, 0, 2, 4, 6, 8, 10, 12, 14
    mov.w \i[a0], r1
    xor.w (S3 + \i)[fb], r1
    or.w r1, r0
    .endr
    cmp.w #0, r0
    jne .Lrefused
    .irp i, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38
    mov.w (BEGUN + \i)[fb], (STATE + \i)[fb]
    .endr
    mov.w OPEN_OUT[fb], TO[fb]
    mov.w #2, PASS[fb]
    jsr.a decrypt
    mov.w #0, r0
    jmp.b .Lopened
.Lrefused:
    mov.w #-1, r0
.Lopened:
    end_frame OPEN_FRAME
    .size ws_ascon_aead128_open, . - ws_ascon_aead128_open
