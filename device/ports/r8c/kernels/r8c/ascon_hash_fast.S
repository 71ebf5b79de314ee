/*
 * Ascon-Hash256 (NIST SP 800-232 section 5.1) for R8C/Tiny. Defines ws_ascon_hash256.
 *
 * void ws_ascon_hash256(const uint8_t *in, uint16_t len, uint8_t digest[32])
 * In: A0 in, R1 len, A1 digest; the digest may lie in the message.
 * Clobbers R0-R3, A0, A1, FB of register bank 0, of which R0-R3 and A0 are cleared; bank 1 is not used; SB is preserved.
 * Stack: 57 bytes with the return address, wiped.
 *
 * Cycles from call to return, JSR.A and RTS included: 68,872 for 32 bytes. Bytes without
 * ascon_permutation_fast.S, of which it takes 706: 145.
 *
 * Constant time: no branch and no address depends on data, but on len alone; no instruction's time depends on data.
 */

/* The frame from FB. Three bytes below it stand for the return address of a subroutine, as Ascon-p has it. */
#define IN 40
#define LEN 42
#define DIGEST 44
#define FRAME 46

    .section .text.ws_ascon_hash256, "ax"
    .globl ws_ascon_hash256
    .type ws_ascon_hash256, @function
ws_ascon_hash256:
    pushc sb
    push.w a1
    push.w r1
    push.w a0
    add.w #-IN, sp
    stc sp, a1
    ldc a1, fb
    add.w #-3, sp
    mov.w #0, r0
    mov.w #(IN / 2), r3
    sstr.w
    /* Table 14: 0x0000080100cc0002. */
    mov.w #0x0002, 0[fb]
    mov.w #0x00cc, 2[fb]
    mov.w #0x0801, 4[fb]
.Labsorb:
    jsr.a ws_ascon_permute_12
    mov.w IN[fb], a0
    mov.w LEN[fb], r3
    cmp.w #8, r3
    jltu .Llast
    .irp i, 0, 2, 4, 6
    xor.w \i[a0], \i[fb]
    .endr
    add.w #8, IN[fb]
    sub.w #8, LEN[fb]
    jmp.b .Labsorb
.Llast:
    jsr.a ws_ascon_absorb_last
    mov.w #4, LEN[fb]           ; blocks of the digest
.Lsqueeze:
    jsr.a ws_ascon_permute_12
    mov.w DIGEST[fb], a1
    .irp i, 0, 2, 4, 6
    mov.w \i[fb], \i[a1]
    .endr
    add.w #8, DIGEST[fb]
    adjnz.w #-1, LEN[fb], .Lsqueeze

    add.w #3, sp
    stc sp, a1
    mov.w #0, a0
    mov.w #0, r0
    mov.w #(FRAME / 2), r3
    sstr.w
    mov.w #0, r1
    mov.w #0, r2
    add.w #FRAME, sp
    popc sb
    rts
    .size ws_ascon_hash256, . - ws_ascon_hash256
