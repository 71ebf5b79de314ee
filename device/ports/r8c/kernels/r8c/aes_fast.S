/*
 * AES for R8C/Tiny, fast: SubBytes and MixColumns by tables, eight rounds unrolled.
 * Defines ws_aes_expand, ws_aes_encrypt and ws_aes_decrypt.
 *
 * void ws_aes_encrypt(const uint8_t *round_keys, unsigned rounds, const uint8_t in[16], uint8_t out[16])
 * In: A0 in, A1 out, R2 round_keys, R1 rounds (10, 12, 14); in and out may be the same.
 * Clobbers R0-R3, A0, A1, FB of register bank 0; bank 1 is not used; SB is preserved.
 * Stack: 2 bytes (SB). The states lie in out and in aes_state, which is wiped.
 *
 * Cycles from entry to return, RTS included: encryption 2,244 (128), 2,688 (192),
 * 3,124 (256). A round takes 217. Bytes: 2,306 of code, 1,280 of tables.
 *
 * Idea. For a column (a, b, c, d) of S-box outputs let
 *     R0 = (3c + 2d, 2a + 3d)    R1 = (3a + 2b, 2c + 3b).
 * Then R1 ^= R0, R0L ^= R1H, R0H ^= R1L, R1 ^= R0 leaves MixColumns of the column in
 * R1:R0: 8 cycles. b and d have their two multiples in one word each (a look-up of 16
 * bits takes 4 cycles, and ROLC, which doubles the index in one cycle as C is 0
 * throughout), a and c in two bytes (3 cycles each): 30 cycles a column, where the four
 * tables of Daemen and Rijmen (section 4.2) read by words would take 36 and 2 kB. No
 * sequence of XORs of bytes and words of R0, R1 and a third register, with look-ups at
 * any place between, takes fewer (all were tried).
 *
 * The words of the state that a following column needs first stay in registers: of the
 * last column of a round, x, bytes 0 and 1 go straight into the index registers, bytes 2
 * and 3 wait in R2, and of column x - 1 bytes 2 and 3 wait in R3. Each pair is used by two
 * columns that follow each other: the index of the second waits in A0 or A1.
 *
 * The loop of eight rounds is entered in its middle, at a round of even number, as 9, 11
 * and 13 leave 1, 3 and 5 by eight. It is left when it ends for the second time: the O
 * flag, which nothing in a round changes, remembers the first.
 *
 * Constant time: no branch depends on a secret, and no instruction's time depends on
 * data; a look-up takes the same time everywhere, as R8C has neither cache nor wait
 * states in ROM and RAM.
 */

#include "aes_sbox.inc"
#include "aes_expand.inc"
#include "aes_columns.inc"
#include "aes_decrypt.inc"

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
    .type aes_2, @object
aes_2:
    each_sbox entry_2
    .size aes_2, . - aes_2

    .section .rodata.aes_3, "a"
    .type aes_3, @object
aes_3:
    each_sbox entry_3
    .size aes_3, . - aes_3

    .section .rodata.aes_2_3, "a"
    .type aes_2_3, @object
aes_2_3:
    each_sbox entry_2_3
    .size aes_2_3, . - aes_2_3

/* ---- State ------------------------------------------------------------ */

/* The state of every other round; that of the rounds between lies in out, at [SB]. */
    .section .bss.aes_state, "aw", @nobits
    .type aes_state, @object
aes_state:
    .zero 16
    .size aes_state, . - aes_state

/* The byte of a row in the column that is \column places on. */
.macro index_from where, row, column, index
    .ifc \where, out
    mov.b (4 * ((\column) & 3) + \row)[sb], \index
    .else
    mov.b aes_state + 4 * ((\column) & 3) + \row, \index
    .endif
.endm

/* ---- Encryption ------------------------------------------------------- */

.macro store where, column
    .ifc \where, out
    mov.w r0, (4 * ((\column) & 3))[sb]
    mov.w r1, (4 * ((\column) & 3) + 2)[sb]
    .else
    mov.w r0, aes_state + 4 * ((\column) & 3)
    mov.w r1, aes_state + 4 * ((\column) & 3) + 2
    .endif
.endm

.macro store_low where, column
    .ifc \where, out
    mov.w r0, (4 * ((\column) & 3))[sb]
    .else
    mov.w r0, aes_state + 4 * ((\column) & 3)
    .endif
.endm

/* MixColumns of what was looked up, AddRoundKey; the column is then in R1:R0. */
.macro mix key, column
    xor.w r0, r1
    xor.b r1h, r0l
    xor.b r1l, r0h
    xor.w r0, r1
    xor.w (\key + 4 * ((\column) & 3))[fb], r0
    xor.w (\key + 4 * ((\column) & 3) + 2)[fb], r1
.endm

/* One round. */
.macro full_round from, to, x, key
    /* Column x - 1 */
    rolc.w a0
    mov.w aes_2_3[a0], r1
    index_from \from, 3, \x + 2, a0
    rolc.w a0
    mov.w aes_2_3[a0], r0
    index_from \from, 0, \x - 1, a0
    xor.b aes_2[a0], r0h
    xor.b aes_3[a0], r1l
    index_from \from, 2, \x + 1, a0
    xor.b aes_3[a0], r0l
    xor.b aes_2[a0], r1h
    mix \key, \x - 1
    store \to, \x - 1
    /* Column x */
    mov.w r3, r1
    mov.b r1h, a0
    rolc.w a0
    mov.w aes_2_3[a0], r0
    mov.b r1l, a0
    xor.b aes_2[a1], r0h
    mov.b aes_3[a1], r1l
    index_from \from, 2, \x + 2, a1
    xor.b aes_3[a1], r0l
    mov.b aes_2[a1], r1h
    index_from \from, 1, \x + 1, a1
    rolc.w a1
    xor.w aes_2_3[a1], r1
    mix \key, \x
    store \to, \x
    /* Column x + 1 */
    mov.w r2, r1
    mov.b r1h, a1
    rolc.w a1
    mov.w aes_2_3[a1], r0
    mov.b r1l, a1
    xor.b aes_3[a0], r0l
    mov.b aes_2[a0], r1h
    index_from \from, 0, \x + 1, a0
    xor.b aes_2[a0], r0h
    mov.b aes_3[a0], r1l
    index_from \from, 1, \x + 2, a0
    rolc.w a0
    xor.w aes_2_3[a0], r1
    mix \key, \x + 1
    store_low \to, \x + 1
    mov.w r1, r3
    /* Column x + 2 */
    index_from \from, 3, \x + 1, a0
    rolc.w a0
    mov.w aes_2_3[a0], r0
    xor.b aes_3[a1], r0l
    index_from \from, 1, \x + 3, a0
    rolc.w a0
    mov.w aes_2_3[a0], r1
    xor.b aes_2[a1], r1h
    index_from \from, 0, \x + 2, a0
    xor.b aes_2[a0], r0h
    xor.b aes_3[a0], r1l
    mix \key, \x + 2
    keep
.endm

/* The last column computed is the first needed. */
.macro keep
    mov.b r0h, a0
    mov.b r0l, a1
    mov.w r1, r2
.endm

/* Initial. */
.macro first_key column
    mov.w (4 * ((\column) & 3))[a0], r0
    xor.w (4 * ((\column) & 3))[a1], r0
    mov.w (4 * ((\column) & 3) + 2)[a0], r1
    xor.w (4 * ((\column) & 3) + 2)[a1], r1
.endm

/* Leaves out = state 0 with x = 0: columns 1, 2 in memory, low 3 in memory, high 3 (x - 1) in R3, column 0 kept. */
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

.macro add_last key, column
    xor.w (\key + 4 * ((\column) & 3))[fb], r0
    xor.w (\key + 4 * ((\column) & 3) + 2)[fb], r1
    store out, \column
.endm

.macro last_round x, key
    mov.b aes_sbox[a0], r0h
    index_from aes_state, 0, \x - 1, a0
    mov.b aes_sbox[a0], r0l
    index_from aes_state, 2, \x + 1, a0
    mov.b aes_sbox[a0], r1l
    index_from aes_state, 3, \x + 2, a0
    mov.b aes_sbox[a0], r1h
    add_last \key, \x - 1
    mov.w r3, r1
    mov.b r1h, a0
    mov.b aes_sbox[a0], r1h
    mov.b aes_sbox[a1], r0l
    mov.b r1l, a1
    index_from aes_state, 1, \x + 1, a0
    mov.b aes_sbox[a0], r0h
    index_from aes_state, 2, \x + 2, a0
    mov.b aes_sbox[a0], r1l
    add_last \key, \x
    mov.w r2, r1
    mov.b r1h, a0
    mov.b aes_sbox[a0], r1h
    mov.b r1l, a0
    mov.b aes_sbox[a1], r1l
    index_from aes_state, 0, \x + 1, a1
    mov.b aes_sbox[a1], r0l
    index_from aes_state, 1, \x + 2, a1
    mov.b aes_sbox[a1], r0h
    add_last \key, \x + 1
    mov.b aes_sbox[a0], r1l
    index_from aes_state, 0, \x + 2, a0
    mov.b aes_sbox[a0], r0l
    index_from aes_state, 1, \x + 3, a0
    mov.b aes_sbox[a0], r0h
    index_from aes_state, 3, \x + 1, a0
    mov.b aes_sbox[a0], r1h
    add_last \key, \x + 2
.endm

    .section .text.ws_aes_encrypt, "ax"
    .globl ws_aes_encrypt
    .type ws_aes_encrypt, @function
ws_aes_encrypt:
    pushc sb
    ldc a1, sb
    mov.w r2, a1
    add.w #16, r2
    add.w #-12, r1
    jpz .Llonger_key
    ldc r2, fb
    first_round_key
    jmp.w .Leighth_round
.Llonger_key:
    jne .Llongest_key
    add.w #32, r2
    ldc r2, fb
    first_round_key
    fclr c
    fclr o
    jmp.w .Lsixth_round
.Llongest_key:
    add.w #64, r2
    ldc r2, fb
    first_round_key
    fclr c
    fclr o
    jmp.w .Lfourth_round
.Lfirst_round:
    full_round aes_state, out, 2, -112
    full_round out, aes_state, 0, -96
    full_round aes_state, out, 2, -80
.Lfourth_round:
    full_round out, aes_state, 0, -64
    full_round aes_state, out, 2, -48
.Lsixth_round:
    full_round out, aes_state, 0, -32
    full_round aes_state, out, 2, -16
.Leighth_round:
    full_round out, aes_state, 0, 0
    jo .Llast_round
    stc fb, r0
    add.w #128, r0
    ldc r0, fb
    fset o
    jmp.w .Lfirst_round
.Llast_round:
    last_round 2, 16
    mov.w #0, aes_state
    mov.w #0, aes_state + 2
    mov.w #0, aes_state + 4
    mov.w #0, aes_state + 12
    mov.w #0, aes_state + 14
    popc sb
    rts
    .size ws_aes_encrypt, . - ws_aes_encrypt
