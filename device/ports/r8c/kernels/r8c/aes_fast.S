/*
 * AES for R8C/Tiny, fast: SubBytes and MixColumns by tables, nine rounds unrolled.
 * Defines ws_aes_expand, ws_aes_encrypt and ws_aes_decrypt.
 *
 * void ws_aes_encrypt(const uint8_t *round_keys, unsigned rounds, const uint8_t in[16], uint8_t out[16])
 * In: A0 in, A1 out, R2 round_keys, R1 rounds (10, 12, 14); in and out may be the same.
 * Clobbers R0-R3, A0, A1, FB of register bank 0; bank 1 is not used; SB is preserved.
 * Stack: 5 bytes, the return address and SB. The states lie in out and in aes_state, which is wiped.
 *
 * Cycles from call to return, JSR.A and RTS included: encryption 2,241 (128), 2,706 (192),
 * 3,135 (256), 217 a round; decryption 3,056, 3,671, 4,286; expansion 1,042, 1,022, 1,210.
 * Bytes: encryption 2,455 of code and 1,280 of tables: 3,735; decryption 949 and 2,304: 3,253.
 *
 * Idea. For a column (a, b, c, d) of S-box outputs let
 *     R0 = (3c + 2d, 2a + 3d)    R1 = (3a + 2b, 2c + 3b).
 * Then R1 ^= R0, R0L ^= R1H, R0H ^= R1L, R1 ^= R0 leaves MixColumns of the column in
 * R1:R0: 8 cycles. b and d have their two multiples in one word each (a look-up of 16
 * bits takes 4 cycles, and ROLC, which doubles the index in one cycle as C is 0
 * throughout), a and c in two bytes (3 cycles each): 30 cycles a column, where the four
 * tables of Daemen and Rijmen ("The Design of Rijndael", section 4.2) read by words would
 * take 36 and 2 kB. 30 is the least for look-ups into R0, R1 and a third word and XORs or moves
 * among them: all sequences of up to four, with look-ups anywhere between, were tried, and
 * with five the XORs take 10 and the look-ups, 5 a byte at least, 20.
 *
 * The words of the state that a following column needs first stay in registers: of the
 * last column of a round, x, bytes 0 and 1 go straight into the index registers, bytes 2
 * and 3 wait in R2, and of column x - 1 bytes 2 and 3 wait in R3. Each pair is used by two
 * columns that follow each other: the index of the second waits in A0 or A1.
 *
 * Nine rounds are unrolled. Of longer keys the first two or four take the places of the
 * third and fourth or of the first four; then the O flag, which nothing in a round changes,
 * says that all nine are to follow.
 *
 * Constant time: no branch depends on a secret, and no instruction's time depends on
 * data; a look-up takes the same time everywhere, as R8C has neither cache nor wait
 * states in ROM and RAM.
 */

#include "aes_sbox.inc"
#include "aes_expand.inc"

/* ---- Tables ---------------------------------------------------------- */

/* Multiples in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1. */
#define TIMES2(s) ((((s) << 1) ^ (((s) >> 7) * 0x11b)) & 0xff)
#define TIMES3(s) (TIMES2(s) ^ (s))

.macro entry_2 s
    .byte TIMES2(\s)
.endm
.macro entry_3 s
    .byte TIMES3(\s)
.endm
.macro entry_2_3 s
    .byte TIMES2(\s), TIMES3(\s)
.endm

    .section .rodata.aes_2, "a"
    .type secret_table_aes_2, @object
secret_table_aes_2:
    each_sbox entry_2
    .size secret_table_aes_2, . - secret_table_aes_2

    .section .rodata.aes_3, "a"
    .type secret_table_aes_3, @object
secret_table_aes_3:
    each_sbox entry_3
    .size secret_table_aes_3, . - secret_table_aes_3

    .section .rodata.aes_2_3, "a"
    .type secret_table_aes_2_3, @object
secret_table_aes_2_3:
    each_sbox entry_2_3
    .size secret_table_aes_2_3, . - secret_table_aes_2_3

/* InvMixColumns works on bytes that have left the inverse S-box: multiples of 0..255. Each
   product is a sum of s, 2s, 4s, 8s, the last three kept in symbols, as an expression
   with all doublings written out would be long. */
.macro each_multiple name, low, high
    .section .rodata.\name, "a"
    .type \name, @object
\name:
    times_1 = 0
    .rept 256
    times_2 = TIMES2(times_1)
    times_4 = TIMES2(times_2)
    times_8 = TIMES2(times_4)
    times_9 = times_8 ^ times_1
    times_11 = times_8 ^ times_2 ^ times_1
    times_13 = times_8 ^ times_4 ^ times_1
    times_14 = times_8 ^ times_4 ^ times_2
    .byte times_\low, times_\high
    times_1 = times_1 + 1
    .endr
    .size \name, . - \name
.endm

    each_multiple secret_table_aes_14_9, 14, 9
    each_multiple secret_table_aes_13_11, 13, 11
    each_multiple secret_table_aes_11_14, 11, 14
    each_multiple secret_table_aes_9_13, 9, 13

/* ---- State ------------------------------------------------------------ */

/* The state of every other round; that of the rounds between lies in out, at [SB]. */
    .section .bss.aes_state, "aw", @nobits
    .type aes_state, @object
aes_state:
    .zero 16
    .size aes_state, . - aes_state

/* The byte of a row of the column that is \column places on, to an index register. */
.macro index_from where, row, column, index
    .ifc \where, out
    mov.b (4 * ((\column) & 3) + \row)[sb], \index
    .else
    mov.b aes_state + 4 * ((\column) & 3) + \row, \index
    .endif
.endm

/* The word at \offset. */
.macro store_word word, where, offset
    .ifc \where, out
    mov.w \word, (\offset)[sb]
    .else
    mov.w \word, aes_state + \offset
    .endif
.endm

/* R1:R0, and R0 alone, to the column that is \column places on. */
.macro store where, column
    store_word r0, \where, 4 * ((\column) & 3)
    store_word r1, \where, 4 * ((\column) & 3) + 2
.endm
.macro store_low where, column
    store_word r0, \where, 4 * ((\column) & 3)
.endm

/* ---- Encryption ------------------------------------------------------- */

/* MixColumns of what was looked up, AddRoundKey: 16 cycles. The column is then in R1:R0. */
.macro mix key, column
    xor.w r0, r1
    xor.b r1h, r0l
    xor.b r1l, r0h
    xor.w r0, r1
    xor.w (\key + 4 * ((\column) & 3))[fb], r0
    xor.w (\key + 4 * ((\column) & 3) + 2)[fb], r1
.endm

/*
 * SubBytes, ShiftRows, MixColumns, AddRoundKey: 217 cycles. The columns come in the order
 * x - 1, x, x + 1, x + 2 (modulo 4), and the last is the x of the next round. On entry and,
 * with the next x, on return, byte 1 of column x is in A0 and byte 0 in A1, bytes 2 and 3
 * are in R2, bytes 2 and 3 of column x - 1 in R3, and all other words in memory.
 * \key: offset of the round key at [FB]. C = 0 in and out; O is left alone.
 */
.macro full_round from, to, x, key
    /* Column x - 1 */
    rolc.w a0
    mov.w secret_table_aes_2_3[a0], r1
    index_from \from, 3, \x + 2, a0
    rolc.w a0
    mov.w secret_table_aes_2_3[a0], r0
    index_from \from, 0, \x - 1, a0
    xor.b secret_table_aes_2[a0], r0h
    xor.b secret_table_aes_3[a0], r1l
    index_from \from, 2, \x + 1, a0
    xor.b secret_table_aes_3[a0], r0l
    xor.b secret_table_aes_2[a0], r1h
    mix \key, \x - 1
    store \to, \x - 1
    /* Column x */
    mov.w r3, r1
    mov.b r1h, a0
    rolc.w a0
    mov.w secret_table_aes_2_3[a0], r0
    mov.b r1l, a0
    xor.b secret_table_aes_2[a1], r0h
    mov.b secret_table_aes_3[a1], r1l
    index_from \from, 2, \x + 2, a1
    xor.b secret_table_aes_3[a1], r0l
    mov.b secret_table_aes_2[a1], r1h
    index_from \from, 1, \x + 1, a1
    rolc.w a1
    xor.w secret_table_aes_2_3[a1], r1
    mix \key, \x
    store \to, \x
    /* Column x + 1 */
    mov.w r2, r1
    mov.b r1h, a1
    rolc.w a1
    mov.w secret_table_aes_2_3[a1], r0
    mov.b r1l, a1
    xor.b secret_table_aes_3[a0], r0l
    mov.b secret_table_aes_2[a0], r1h
    index_from \from, 0, \x + 1, a0
    xor.b secret_table_aes_2[a0], r0h
    mov.b secret_table_aes_3[a0], r1l
    index_from \from, 1, \x + 2, a0
    rolc.w a0
    xor.w secret_table_aes_2_3[a0], r1
    mix \key, \x + 1
    store_low \to, \x + 1
    mov.w r1, r3
    /* Column x + 2 */
    index_from \from, 3, \x + 1, a0
    rolc.w a0
    mov.w secret_table_aes_2_3[a0], r0
    xor.b secret_table_aes_3[a1], r0l
    index_from \from, 1, \x + 3, a0
    rolc.w a0
    mov.w secret_table_aes_2_3[a0], r1
    xor.b secret_table_aes_2[a1], r1h
    index_from \from, 0, \x + 2, a0
    xor.b secret_table_aes_2[a0], r0h
    xor.b secret_table_aes_3[a0], r1l
    mix \key, \x + 2
    keep
.endm

/* Column x, in R1:R0, to where full_round expects it. */
.macro keep
    mov.b r0h, a0
    mov.b r0l, a1
    mov.w r1, r2
.endm

/* AddRoundKey of a column of in, at [A0], with the key at [A1]. */
.macro first_key column
    mov.w (4 * ((\column) & 3))[a0], r0
    xor.w (4 * ((\column) & 3))[a1], r0
    mov.w (4 * ((\column) & 3) + 2)[a0], r1
    xor.w (4 * ((\column) & 3) + 2)[a1], r1
.endm

/* The first AddRoundKey, for a round with x = 0 from out. */
.macro first_round_key
    first_key 1
    store out, 1
    first_key 2
    store out, 2
    first_key 3
    store_low out, 3
    mov.w r1, r3
    first_key 0
    keep
.endm

/* The last AddRoundKey of a column. */
.macro add_last key, column
    xor.w (\key + 4 * ((\column) & 3))[fb], r0
    xor.w (\key + 4 * ((\column) & 3) + 2)[fb], r1
    store out, \column
.endm

/* SubBytes, ShiftRows, AddRoundKey, registers as full_round has them. */
.macro last_round x, key
    mov.b secret_table_aes_sbox[a0], r0h
    index_from aes_state, 0, \x - 1, a0
    mov.b secret_table_aes_sbox[a0], r0l
    index_from aes_state, 2, \x + 1, a0
    mov.b secret_table_aes_sbox[a0], r1l
    index_from aes_state, 3, \x + 2, a0
    mov.b secret_table_aes_sbox[a0], r1h
    add_last \key, \x - 1
    mov.w r3, r1
    mov.b r1h, a0
    mov.b secret_table_aes_sbox[a0], r1h
    mov.b secret_table_aes_sbox[a1], r0l
    mov.b r1l, a1
    index_from aes_state, 1, \x + 1, a0
    mov.b secret_table_aes_sbox[a0], r0h
    index_from aes_state, 2, \x + 2, a0
    mov.b secret_table_aes_sbox[a0], r1l
    add_last \key, \x
    mov.w r2, r1
    mov.b r1h, a0
    mov.b secret_table_aes_sbox[a0], r1h
    mov.b r1l, a0
    mov.b secret_table_aes_sbox[a1], r1l
    index_from aes_state, 0, \x + 1, a1
    mov.b secret_table_aes_sbox[a1], r0l
    index_from aes_state, 1, \x + 2, a1
    mov.b secret_table_aes_sbox[a1], r0h
    add_last \key, \x + 1
    mov.b secret_table_aes_sbox[a0], r1l
    index_from aes_state, 0, \x + 2, a0
    mov.b secret_table_aes_sbox[a0], r0l
    index_from aes_state, 1, \x + 3, a0
    mov.b secret_table_aes_sbox[a0], r0h
    index_from aes_state, 3, \x + 1, a0
    mov.b secret_table_aes_sbox[a0], r1h
    add_last \key, \x + 2
.endm

    .section .text.ws_aes_encrypt, "ax"
    .globl ws_aes_encrypt
    .type ws_aes_encrypt, @function
ws_aes_encrypt:
    pushc sb
    ldc a1, sb
    mov.w r2, a1
    add.w #144, r2
    add.w #-12, r1
    jn .Lten_rounds
    jne .Lfourteen_rounds
    add.w #-32, r2
    fset c
    jmp.s .Lmore_rounds
.Lfourteen_rounds:
    fclr c
.Lmore_rounds:
    ldc r2, fb
    first_round_key
    fset o
    jnc .Lfirst_round_again
    fclr c
    jmp.w .Lthird_round
.Lfirst_round_again:
    jmp.w .Lfirst_round
.Lten_rounds:
    ldc r2, fb
    first_round_key
.Lfirst_round:
    full_round out, aes_state, 0, -128
    full_round aes_state, out, 2, -112
.Lthird_round:
    full_round out, aes_state, 0, -96
    full_round aes_state, out, 2, -80
    jno .Lfifth_round
    stc fb, r0
    add.w #64, r0
    ldc r0, fb
    fclr o
    jmp.w .Lfirst_round
.Lfifth_round:
    full_round out, aes_state, 0, -64
    full_round aes_state, out, 2, -48
    full_round out, aes_state, 0, -32
    full_round aes_state, out, 2, -16
    full_round out, aes_state, 0, 0
    last_round 2, 16
    mov.w #0, aes_state
    mov.w #0, aes_state + 2
    mov.w #0, aes_state + 4
    mov.w #0, aes_state + 12
    mov.w #0, aes_state + 14
    popc sb
    rts
    .size ws_aes_encrypt, . - ws_aes_encrypt

/* ---- Decryption ------------------------------------------------------- */

/* InvSubBytes and AddRoundKey of the byte whose value is in \index; then twice that, an
   index of words. */
.macro invert row, column, key, index
    mov.b secret_table_aes_inverse_sbox[\index], \index
    xor.b (\key + 4 * \column + \row)[fb], \index
    rolc.w \index
.endm

/* Contribution of the byte of each row to the column in \low and \high. */
.macro unmix_0 operation, low, high, index=a0
    \operation secret_table_aes_14_9[\index], \low
    \operation secret_table_aes_13_11[\index], \high
.endm
.macro unmix_1 operation, low, high, index=a0
    \operation secret_table_aes_11_14[\index], \low
    \operation secret_table_aes_9_13[\index], \high
.endm
.macro unmix_2 operation, low, high, index=a0
    \operation secret_table_aes_13_11[\index], \low
    \operation secret_table_aes_14_9[\index], \high
.endm
.macro unmix_3 operation, low, high, index=a0
    \operation secret_table_aes_9_13[\index], \low
    \operation secret_table_aes_11_14[\index], \high
.endm

/* The byte of row \row to column \column, out of memory. */
.macro unmix_from where, row, column, key, operation, low, high
    index_from \where, \row, \column + 4 - \row, a0
    invert \row, \column, \key, a0
    unmix_\row \operation, \low, \high
.endm

/* The same, from a register. */
.macro unmix_register register, row, column, key, operation, low, high
    mov.b \register, a0
    invert \row, \column, \key, a0
    unmix_\row \operation, \low, \high
.endm

/*
 * InvShiftRows, InvSubBytes, AddRoundKey, InvMixColumns: 299 cycles. In and out: column 0
 * in R1:R0; bytes 2 and 3 of column 2 in \kept, on return in \next (R2, R3 or the other way
 * round); the other words in memory.
 */
.macro inverse_round from, to, key, kept, next
    unmix_register r1h, 3, 3, \key, mov.w, \next, a1
    unmix_from \from, 0, 3, \key, xor.w, \next, a1
    unmix_from \from, 1, 3, \key, xor.w, \next, a1
    unmix_from \from, 2, 3, \key, xor.w, \next, a1
    store_word \next, \to, 12
    store_word a1, \to, 14

    unmix_register r1l, 2, 2, \key, mov.w, a1, \next
    unmix_from \from, 0, 2, \key, xor.w, a1, \next
    unmix_from \from, 1, 2, \key, xor.w, a1, \next
    unmix_from \from, 3, 2, \key, xor.w, a1, \next
    store_word a1, \to, 8

    mov.w \kept, r1
    unmix_register r0h, 1, 1, \key, mov.w, \kept, a1
    unmix_register r1h, 3, 1, \key, xor.w, \kept, a1
    unmix_from \from, 0, 1, \key, xor.w, \kept, a1
    unmix_from \from, 2, 1, \key, xor.w, \kept, a1
    store_word \kept, \to, 4
    store_word a1, \to, 6

    mov.b r1l, a1
    unmix_register r0l, 0, 0, \key, mov.w, r0, r1
    invert 2, 0, \key, a1
    unmix_2 xor.w, r0, r1, a1
    unmix_from \from, 1, 0, \key, xor.w, r0, r1
    unmix_from \from, 3, 0, \key, xor.w, r0, r1
.endm

/* The last InvShiftRows and InvSubBytes of a byte: \place is that in the old state. */
.macro substitute_inverse_from place
    mov.b aes_state + \place, a0
    mov.b secret_table_aes_inverse_sbox[a0], ((\place + 4 * (\place & 3)) & 15)[sb]
.endm
.macro substitute_inverse_register register, place
    mov.b \register, a0
    mov.b secret_table_aes_inverse_sbox[a0], ((\place + 4 * (\place & 3)) & 15)[sb]
.endm

    .section .bss.aes_rounds_left, "aw", @nobits
    .type aes_rounds_left, @object
aes_rounds_left:
    .zero 1
    .size aes_rounds_left, . - aes_rounds_left

/*
 * void ws_aes_decrypt(const uint8_t *round_keys, unsigned rounds, const uint8_t in[16], uint8_t out[16])
 * Registers, stack and memory as ws_aes_encrypt; aes_rounds_left is no secret.
 *
 * The round keys are those of encryption, so a byte goes through the inverse S-box, has its
 * key added and is then looked up in the multiples of InvMixColumns, all in an index
 * register: 3 + 3, 1 for ROLC, 2 x 4 by words. Here the sums of a column are words that no
 * byte instruction touches, so R2, R3 and A1 hold them, and R0, R1 keep a column.
 */
    .section .text.ws_aes_decrypt, "ax"
    .globl ws_aes_decrypt
    .type ws_aes_decrypt, @function
ws_aes_decrypt:
    pushc sb
    ldc a1, sb
    shl.w #-1, r1
    mov.b r1l, aes_rounds_left
    shl.w #5, r1
    add.w r1, r2
    mov.w r2, a1
    add.w #-16, r2
    ldc r2, fb
    first_key 1
    store out, 1
    first_key 3
    store out, 3
    first_key 2
    store_low out, 2
    mov.w r1, r2
    first_key 0
    fclr c
.Linverse_round:
    inverse_round out, aes_state, 0, r2, r3
    dec.b aes_rounds_left
    jne .Lnext_inverse_round
    jmp.w .Llast_inverse_round
.Lnext_inverse_round:
    inverse_round aes_state, out, -16, r3, r2
    stc fb, a0
    add.w #-32, a0
    fclr c
    ldc a0, fb
    jmp.w .Linverse_round
.Llast_inverse_round:
    substitute_inverse_register r0l, 0
    substitute_inverse_register r0h, 1
    substitute_inverse_register r1l, 2
    substitute_inverse_register r1h, 3
    mov.w r3, r0
    substitute_inverse_register r0l, 10
    substitute_inverse_register r0h, 11
    .irp place, 4, 5, 6, 7, 8, 9, 12, 13, 14, 15
    substitute_inverse_from \place
    .endr
    xor.w -16[fb], 0[sb]
    .irp i, 2, 4, 6, 8, 10, 12, 14
    xor.w (\i - 16)[fb], \i[sb]
    .endr
    mov.w #0, aes_state + 4
    mov.w #0, aes_state + 6
    mov.w #0, aes_state + 8
    mov.w #0, aes_state + 12
    mov.w #0, aes_state + 14
    popc sb
    rts
    .size ws_aes_decrypt, . - ws_aes_decrypt
