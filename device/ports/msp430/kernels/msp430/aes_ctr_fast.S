/*
 * AES in counter mode on the MSP430, fast: the key stream is added by words.
 *
 * Defines ws_aes_ctr (contract: aes_ctr.h); calls ws_aes_encrypt. Base MSP430 instructions only.
 *
 * Constant time: as ws_aes_encrypt; beyond that, time depends on the length,
 * on the parity of in and out, and on where the counter carries.
 */

/* The frame: the key stream at r1; the arguments on the stack of the caller lie above it and the saved registers. */
#define FRAME   16
#define OUT     FRAME+14
#define LENGTH  FRAME+16

/* r1's 16 bytes = the next key stream; the counter moves on. */
.macro next_stream
    mov r4, r12
    mov r5, r13
    mov r6, r14
    mov r1, r15
    call #ws_aes_encrypt
    inc.b 15(r6)
    jnz .Lcounted\@
    mov r6, r12
    add #15, r12
.Lcarry\@:
    cmp r6, r12
    jeq .Lcounted\@
    dec r12
    inc.b 0(r12)
    jz .Lcarry\@
.Lcounted\@:
.endm

/*
 * void ws_aes_ctr(const uint8_t *round_keys, unsigned rounds, uint8_t counter[16],
 *                 const uint8_t *in, uint8_t *out, size_t len)
 * in:  r12 round_keys, r13 rounds, r14 counter, r15 in, on the stack out, len
 * clobbers: r11-r15. Stack: 30 bytes, return address included, and those of ws_aes_encrypt; the key stream is wiped.
 * Cycles, AES-128, even addresses: 81 + 1,743 a whole block + 1,674 + 14 a byte for a last block that is not; more
 * where the counter carries.
 * r4 round_keys, r5 rounds, r6 counter, r7 in, r8 out, r9 bytes left.
 */
    .section .text.ws_aes_ctr, "ax", @progbits
    .p2align 1
    .global ws_aes_ctr
    .type ws_aes_ctr, @function
ws_aes_ctr:
    push r4
    push r5
    push r6
    push r7
    push r8
    push r9
    sub #FRAME, r1
    mov r12, r4
    mov r13, r5
    mov r14, r6
    mov r15, r7
    mov OUT(r1), r8
    mov LENGTH(r1), r9
    tst r9
    jz 4f

1:  next_stream
    mov r1, r13
    cmp #16, r9
    jlo 2f
    mov r7, r12
    bis r8, r12
    bit #1, r12
    jnz 2f
    .irp offset, 0, 2, 4, 6, 8, 10, 12, 14
    mov @r7+, r12
    xor @r13+, r12
    mov r12, \offset(r8)
    .endr
    add #16, r8
    sub #16, r9
    jnz 1b
    jmp 4f

    /* By bytes: a block or what is left of one. r14 is where the key stream ends. */
2:  mov r1, r14
    add #16, r14
3:  mov.b @r7+, r12
    xor.b @r13+, r12
    mov.b r12, 0(r8)
    inc r8
    dec r9
    jz 4f
    cmp r14, r13
    jne 3b
    jmp 1b

4:  .irp offset, 0, 2, 4, 6, 8, 10, 12, 14
    clr \offset(r1)
    .endr
    add #FRAME, r1
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
    ret
    .size ws_aes_ctr, . - ws_aes_ctr
