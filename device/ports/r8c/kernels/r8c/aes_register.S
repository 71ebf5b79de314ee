/*
 * AES for R8C/Tiny with the state in registers: the second of the two designs of Elumalai
 * and Reddy (2011), its modules apart as there. Defines ws_aes_expand, ws_aes_encrypt and
 * ws_aes_decrypt (which, not being part of the comparison, works in memory).
 *
 * void ws_aes_encrypt(const uint8_t *round_keys, unsigned rounds, const uint8_t in[16], uint8_t out[16])
 * In: A0 in, A1 out, R2 round_keys, R1 rounds (10, 12, 14); in and out may be the same.
 * Clobbers R0-R3, A0, A1, FB of both register banks; SB is preserved; bank 0 is selected
 * on return. Stack: 7 bytes with the return address, no secrets. What crosses between the
 * banks and the count of rounds lie in out, at [FB]; nothing secret is left in memory but
 * the ciphertext. The registers of bank 1, where little else goes, keep the state of the
 * last round, which is as secret as the key.
 *
 * Cycles from call to return, JSR.A and RTS included: encryption 2,971 (128), 3,565 (192),
 * 4,159 (256); decryption 5,358, 6,476, 7,594; expansion 1,042, 1,022, 1,210.
 * Bytes: encryption 635 of code, 256 of S-box, 8 of carries: 899.
 *
 * Layout. A word holds two bytes of a row: bank 0 the columns 0 and 2, bank 1 the columns
 * 1 and 3, so MixColumns works on two columns at once with words and within a bank, and
 * ShiftRows of row 2 is an exchange of bytes, which the look-ups do. Rows 1 and 3 change
 * banks. No instruction reaches the registers of the other bank; so their look-ups go to
 * memory, at the price of a look-up to a register, and the other bank reads words there.
 * SB, the one address register that the banks share, points to the round key.
 *
 * Constant time: no branch depends on a secret, and no instruction's time depends on
 * data; a look-up takes the same time everywhere, as R8C has neither cache nor wait
 * states in ROM and RAM.
 *
 * Modules: cycles a round, published figures in brackets, and the least that the cycle
 * table permits (REJ09B0001, chapter 4, and one cycle more for each 16-bit item in memory,
 * chapter 6).
 *   byte_sub       88 (42). The least: a look-up reads memory, 3 at least, which alone makes
 *                  48 for sixteen bytes; its index must be brought to A0 or A1, from a register 2;
 *                  and only R0 and R1 have bytes with a name, so that in each bank the bytes
 *                  of two words of the four must first come there, 2 a word:
 *                  16 x (3 + 2) + 4 x 2 = 88.
 *   shift_row      20, in the last round 4 (15). The least once the state fills both banks:
 *                  each bank needs two words of the other, a word read from memory takes 4, and
 *                  FSET B and FCLR B take 2 each: 4 x 4 + 4 = 20.
 *   mix_column     128 (196): 64 a bank, of which three doublings 30, fifteen XORs, two moves.
 *   add_round_key  48, in the last round 56 (45). The least in this layout: 16 bytes, each from
 *                  memory to a register, 3, which is 48 > 45. With columns in the registers
 *                  eight words of the key would take 32 and FSET B, FCLR B 4, but MixColumns
 *                  would lose more, its bytes to be combined one by one.
 *   branch         13 (36): 4 to advance the key, 9 to count and to jump.
 */

#include "aes_sbox.inc"
#include "aes_expand.inc"
#include "aes_columns.inc"
#include "aes_decrypt.inc"

/* What the bits that leave the two bytes of a doubled word add to it; the index is
   2 * (bit of the low byte) + (bit of the high byte), in words. */
    .section .rodata.aes_word_carries, "a"
    .type secret_table_aes_word_carries, @object
secret_table_aes_word_carries:
    .short 0x0000, 0x1b00, 0x001b, 0x1b1b
    .size secret_table_aes_word_carries, . - secret_table_aes_word_carries

/* Two bytes of a row from in, at [SB], to a word; by way of R0. */
.macro load_row low, high, word
    mov.b \low[sb], r0l
    mov.b \high[sb], r0h
    .ifnc \word, r0
    mov.w r0, \word
    .endif
.endm

/* A bank's state as mix_columns leaves it: row 0 in R3, 1 in R1, 2 in A1, 3 in R0.
   column: that of the low bytes; the high ones have the column two places on. */
.macro load_bank column
    load_row 4 * \column, 4 * \column + 8, r3
    load_row 4 * \column + 2, 4 * \column + 10, a1
    mov.b (4 * \column + 1)[sb], r1l
    mov.b (4 * \column + 9)[sb], r1h
    load_row 4 * \column + 3, 4 * \column + 11, r0
.endm

.macro add_key_odd_rows column
aes_register.add_round_key.\@:
    xor.b (4 * \column + 1)[sb], r1l
    xor.b (4 * \column + 9)[sb], r1h
    xor.b (4 * \column + 3)[sb], r0l
    xor.b (4 * \column + 11)[sb], r0h
.endm

.macro add_key_even_rows column
aes_register.add_round_key.\@:
    xor.b (4 * \column)[sb], r0l
    xor.b (4 * \column + 8)[sb], r0h
    xor.b (4 * \column + 2)[sb], r1l
    xor.b (4 * \column + 10)[sb], r1h
.endm

/* SubBytes of one byte: 5 cycles. */
.macro substitute from, to
    mov.b \from, a0
    mov.b secret_table_aes_sbox[a0], \to
.endm

/* Rows 0 and 2 to where their bytes have names. */
.macro reach_even_rows
    mov.w r3, r0
    mov.w a1, r1
.endm

/* Row 2 goes to its other column, which the bank has, too. */
.macro substitute_even_rows
aes_register.byte_sub.\@:
    substitute r0l, r0l
    substitute r0h, r0h
    mov.b r1l, a0
    mov.b r1h, a1
    mov.b secret_table_aes_sbox[a0], r1h
    mov.b secret_table_aes_sbox[a1], r1l
.endm

/* AddRoundKey and SubBytes of a bank: row 0 to R0, row 2 to R1, rows 1 and 3 to the places
   at [FB] named, where the other bank takes them from. */
.macro add_key_and_substitute column, row_1_low, row_1_high, row_3_low, row_3_high
    add_key_odd_rows \column
aes_register.byte_sub.\@:
    substitute r1l, \row_1_low[fb]
    substitute r1h, \row_1_high[fb]
    substitute r0l, \row_3_low[fb]
    substitute r0h, \row_3_high[fb]
    reach_even_rows
    add_key_even_rows \column
    substitute_even_rows
.endm

/* Both bytes of \word times 2; C = 0 in and out. 10 cycles, 16 bytes. */
.macro double word
    mov.w #0, a0
    rolc.b \word\()l
    rolc.w a0
    rolc.b \word\()h
    rolc.w a0
    rolc.w a0
    xor.w secret_table_aes_word_carries[a0], \word
.endm

/*
 * MixColumns of a bank: 64 cycles, 82 bytes. With rows r0 .. r3, u = r0 + r1, v = r1 + r2,
 * p = r0 + r2, q = r1 + r3 (sums are XORs), and p + q the sum of all:
 *     row 0: 2u + q + r2    row 2: 2u + q + r0 + 2(p + q)
 *     row 1: 2v + p + r3    row 3: 2v + p + r1 + 2(p + q)
 * In: r0 in R0, r1 in R2, r2 in R1, r3 in R3. Out: as load_bank says.
 */
.macro mix_columns
    mov.w r0, a1
    xor.w r2, r0
    double r0
    xor.w r2, r0
    xor.w r3, r0
    xor.w r0, a1
    xor.w r1, r0
    xor.w r2, r1
    double r1
    xor.w a1, r1
    xor.w r0, r1
    xor.w r1, r2
    xor.w r3, r1
    mov.w r0, r3
    xor.w a1, r0
    xor.w r1, r0
    xor.w r2, r0
    double r0
    xor.w r0, a1
    xor.w r2, r0
.endm

.macro substitute_even_rows_last column
aes_register.byte_sub.\@:
    substitute r0l, (4 * \column)[fb]
    substitute r0h, (4 * \column + 8)[fb]
    substitute r1l, ((4 * \column + 10) & 15)[fb]
    substitute r1h, ((4 * \column + 2) & 15)[fb]
.endm

/* The last SubBytes of a bank, to the places of ShiftRows in out. */
.macro substitute_last column
    add_key_odd_rows \column
aes_register.byte_sub.\@:
    substitute r1l, ((4 * \column + 13) & 15)[fb]
    substitute r1h, ((4 * \column + 5) & 15)[fb]
    substitute r0l, ((4 * \column + 7) & 15)[fb]
    substitute r0h, ((4 * \column + 15) & 15)[fb]
    reach_even_rows
    add_key_even_rows \column
    substitute_even_rows_last \column
.endm

    .section .text.ws_aes_encrypt, "ax"
    .globl ws_aes_encrypt
    .type ws_aes_encrypt, @function
ws_aes_encrypt:
aes_register.other.1:
    pushc sb
    ldc a0, sb
    ldc a1, fb
    push.w a1
    mov.w r1, a0
    load_bank 0
    fset b
    load_bank 1
    pop.w a0
    ldc a0, fb
    fclr b
    mov.b a0, 15[fb]
    dec.b 15[fb]
    ldc r2, sb
    fclr c
.Lround:
    add_key_and_substitute 0, 1, 0, 2, 3
aes_register.shift_row.1:
    fset b
    add_key_and_substitute 1, 4, 5, 7, 6
aes_register.shift_row.2:
    mov.w 0[fb], r2
    mov.w 2[fb], r3
aes_register.mix_column.1:
    mix_columns
aes_register.shift_row.3:
    fclr b
    mov.w 4[fb], r2
    mov.w 6[fb], r3
aes_register.mix_column.2:
    mix_columns
aes_register.branch.1:
    stc sb, a0
    add.w #16, a0
    ldc a0, sb
    dec.b 15[fb]
    jeq .Llast_round
    jmp.w .Lround
.Llast_round:
    substitute_last 0
aes_register.shift_row.4:
    fset b
    substitute_last 1
aes_register.shift_row.5:
    fclr b
aes_register.add_round_key.0:
    .irp i, 0, 2, 4, 6, 8, 10, 12, 14
    xor.w (\i + 16)[sb], \i[fb]
    .endr
aes_register.other.2:
    popc sb
    rts
    .size ws_aes_encrypt, . - ws_aes_encrypt
