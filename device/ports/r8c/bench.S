/* Exposes one operation to be measured, as bench/main.c does where there is a compiler.
 *
 * The host stops at ws_bench_ready, writes the inputs into the ws_bench_* variables, and resumes: ws_bench_run executes
 * the operation once, and the program is back at ws_bench_ready. WS_BENCH_CALL comes from ops.toml and is one of the
 * macros here, behind which len is the message's length; without it this is the empty program that sizes are compared
 * with.
 *
 * Operations are called with JSR, register bank 0 selected and B = 0, arguments in the order of the C prototype:
 *   ws_aes_expand                    A1 round_keys, A0 key, R1 key_words
 *   ws_aes_encrypt, ws_aes_decrypt   R2 round_keys, R1 rounds, A0 in, A1 out
 *   ws_sha256, ws_ascon_hash256      A0 message, R1 len, A1 digest
 *   ws_ascon_aead128_seal, ws_ascon_aead128_open   on the stack, the first at the lowest address; R0 is what open returns
 * They may change all registers of both banks but SB, ISP, USP and INTB, and return with bank 0 selected. */

/* A quarter of the RAM, so that message and output leave half of it to the stack and the rest. */
#define WS_BENCH_CAPACITY (WS_RAM_SIZE / 4)

.macro call_expand key_words
    mov.w #ws_bench_output, a1
    mov.w #ws_bench_key, a0
    mov.w #\key_words, r1
    jsr.a ws_aes_expand
.endm

.macro call_cipher function, rounds
    mov.w #ws_bench_key, r2
    mov.w #\rounds, r1
    mov.w #ws_bench_message, a0
    mov.w #ws_bench_output, a1
    jsr.a \function
.endm

.macro call_encrypt rounds
    call_cipher ws_aes_encrypt, \rounds
.endm

.macro call_decrypt rounds
    call_cipher ws_aes_decrypt, \rounds
.endm

.macro call_hash function, length
    mov.w #ws_bench_message, a0
    mov.w \length, r1
    mov.w #ws_bench_output, a1
    jsr.a \function
.endm

.macro call_seal function, length
    push.w #ws_bench_tag
    push.w #ws_bench_output
    call_aead \function, \length
.endm

.macro call_open function, length
    push.w #ws_bench_output
    push.w #ws_bench_tag
    call_aead \function, \length
    mov.w r0, ws_bench_result
.endm

/* The arguments that both have; those behind them are on the stack. */
.macro call_aead function, length
    push.w \length
    push.w #ws_bench_message
    push.w ws_bench_aad_len
    push.w #ws_bench_aad
    push.w #ws_bench_nonce
    push.w #ws_bench_key
    jsr.a \function
    add.w #16, sp
.endm

.macro variable name, bytes
    .section .bss.\name, "aw", @nobits
    .globl \name
    .type \name, @object
\name:
    .skip \bytes
    .size \name, \bytes
.endm

    variable ws_bench_key, 240
    variable ws_bench_key_len, 2
    variable ws_bench_nonce, 16
    variable ws_bench_aad, 64
    variable ws_bench_aad_len, 2
    variable ws_bench_message, WS_BENCH_CAPACITY
    variable ws_bench_message_len, 2
    variable ws_bench_output, WS_BENCH_CAPACITY
    variable ws_bench_tag, 32
    variable ws_bench_result, 2

    .section .text.main, "ax"
    .globl main
    .type main, @function
main:
    jsr.a ws_bench_ready
    jsr.a ws_bench_run
    jmp.w main
    .size main, . - main

    .section .text.ws_bench_ready, "ax"
    .globl ws_bench_ready
    .type ws_bench_ready, @function
ws_bench_ready:
    rts
    .size ws_bench_ready, . - ws_bench_ready

    .section .text.ws_bench_run, "ax"
    .globl ws_bench_run
    .type ws_bench_run, @function
ws_bench_run:
    mov.w #0, ws_bench_result
#ifdef WS_BENCH_CALL
#define len ws_bench_message_len
    WS_BENCH_CALL
#endif
    rts
    .size ws_bench_run, . - ws_bench_run
