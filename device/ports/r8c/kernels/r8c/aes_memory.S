/*
 * AES for R8C/Tiny with the state in memory: the first of the two designs of Elumalai and
 * Reddy (2011), its modules apart as there. Defines ws_aes_expand, ws_aes_encrypt and
 * ws_aes_decrypt.
 *
 * void ws_aes_encrypt(const uint8_t *round_keys, unsigned rounds, const uint8_t in[16], uint8_t out[16])
 * In: A0 in, A1 out, R2 round_keys, R1 rounds (10, 12, 14); in and out may be the same.
 * Clobbers R0-R3, A0, A1, FB of register bank 0; bank 1 is not used. Stack: 3
 * bytes, the return address. The state lies in out, at [FB]; nothing secret is left in
 * memory but the ciphertext.
 *
 * Cycles from call to return, JSR.A and RTS included: encryption 3,911 (128), 4,709 (192),
 * 5,507 (256); decryption 5,358, 6,476, 7,594; expansion 1,042, 1,022, 1,210.
 * Bytes: encryption 471 of code, 256 of S-box, 32 of carries: 759.
 *
 * Constant time: no branch depends on a secret, and no instruction's time depends on
 * data; a look-up takes the same time everywhere, as R8C has neither cache nor wait
 * states in ROM and RAM.
 *
 * Modules: cycles a call and bytes of code, published figures in brackets, and the least
 * that the cycle table permits (REJ09B0001, chapter 4, and one cycle more for each 16-bit
 * item in memory, chapter 6).
 *   byte_sub       96, 112 (115, 32). The least for sixteen bytes in memory: an index must come
 *                  to A0 or A1, memory to register 3, and a byte must go from the table to the
 *                  state, memory to memory 3; the shortest such pair takes 7 bytes, less its
 *                  displacement 6. With 32 bytes of code at most four pairs fit beside a loop,
 *                  whose three further turns of ADJNZ take 7 each: 96 + 21 + 3 > 115. So 115 cycles and 32
 *                  bytes exclude each other.
 *   shift_row      44, 48 (51, 256). The least: twelve bytes change place, by memory to
 *                  memory 3 each; of each of the four cycles of the permutation one byte
 *                  waits in a register, 3 + 2 instead of 3.
 *   mix_column     192, 196 (201, 134); the tables of carries take 32 more.
 *   add_round_key  58, 36 (127, 48); 56 without the step to the next key. The least: by
 *                  words, memory to memory 4 + 3; by bytes it would be 16 x 4.
 *   branch         9 a round, 7 (19, 12).
 */

#include "aes_sbox.inc"
#include "aes_expand.inc"

#include "aes_columns.inc"
#include "aes_decrypt.inc"

.macro substitute i
    mov.b \i[fb], a0
    mov.b secret_table_aes_sbox[a0], \i[fb]
.endm

    .section .text.ws_aes_encrypt, "ax"
    .globl ws_aes_encrypt
    .type ws_aes_encrypt, @function
ws_aes_encrypt:
aes_memory.other.1:
    ldc a1, fb
    mov.w r1, r3
    neg.w r3
    mov.w [a0], 0[fb]
    .irp i, 2, 4, 6, 8, 10, 12, 14
    mov.w \i[a0], \i[fb]
    .endr
    mov.w r2, a1
aes_memory.add_round_key.1:
    add_round_key_words
    add.w #16, a1
aes_memory.byte_sub.1:
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    substitute \i
    .endr
aes_memory.shift_row.1:
    mov.b 1[fb], r0l
    mov.b 5[fb], 1[fb]
    mov.b 9[fb], 5[fb]
    mov.b 13[fb], 9[fb]
    mov.b r0l, 13[fb]
    mov.b 2[fb], r0l
    mov.b 10[fb], 2[fb]
    mov.b r0l, 10[fb]
    mov.b 6[fb], r0l
    mov.b 14[fb], 6[fb]
    mov.b r0l, 14[fb]
    mov.b 15[fb], r0l
    mov.b 11[fb], 15[fb]
    mov.b 7[fb], 11[fb]
    mov.b 3[fb], 7[fb]
    mov.b r0l, 3[fb]
aes_memory.branch.1:
    add.w #1, r3
    jne aes_memory.mix_column.1
aes_memory.add_round_key.2:
    add_round_key_words
aes_memory.other.2:
    rts
aes_memory.mix_column.1:
    mix_column 0, 2
    mix_column 4, 6
    mix_column 8, 10
    mix_column 12, 14
aes_memory.branch.2:
    jmp.w aes_memory.add_round_key.1
    .size ws_aes_encrypt, . - ws_aes_encrypt
