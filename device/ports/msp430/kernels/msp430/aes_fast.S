/*
 * AES for the MSP430, fast: tables of 16-bit halves, the state in registers.
 *
 * Defines ws_aes_expand, ws_aes_encrypt and ws_aes_decrypt (contracts: aes.h).
 * Base MSP430 instructions only, no hardware multiplier.
 *
 * Idea. A column of the state is two 16-bit words, so SubBytes and MixColumns
 * of one byte (Daemen and Rijmen, "The Design of Rijndael", section 4.2) are
 * two lookups in tables of 256 words. The four products that a byte
 * contributes need only four different words, shared by all four rows, which
 * makes 2 KiB a direction. Columns are computed in an order in which each word
 * of the old state is used up just before a register is needed for the new
 * one: state, new state, index and key pointer fit R4-R15 and nothing is
 * spilled. A round returns the state in permuted registers; the permutation is
 * an involution, so the loop holds two rounds, and as all AES key sizes have
 * an odd number of full rounds the loop is entered in its middle.
 *
 * Constant time: yes on parts whose flash has neither cache nor wait states,
 * as the MSP430x5xx: a read takes the same time at every address. No branch
 * depends on a secret.
 *
 * Cycle counts are those of CPUX, call (CALL #address) and RET included, for
 * word-aligned in and out. Byte-aligned buffers go through a copy on the stack.
 */

#define ROUND_KEYS r12

/* ---- Tables ---------------------------------------------------------- */

/* One word from each of the values that follow: word(value). */
.macro row word, values:vararg
    .irp value, \values
    \word \value
    .endr
.endm

/* word(S(x)) for x = 0..255: the S-box of FIPS 197, table 4. */
.macro each_sbox word
    row \word, 0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5, 0x30, 0x01, 0x67, 0x2b, 0xfe, 0xd7, 0xab, 0x76
    row \word, 0xca, 0x82, 0xc9, 0x7d, 0xfa, 0x59, 0x47, 0xf0, 0xad, 0xd4, 0xa2, 0xaf, 0x9c, 0xa4, 0x72, 0xc0
    row \word, 0xb7, 0xfd, 0x93, 0x26, 0x36, 0x3f, 0xf7, 0xcc, 0x34, 0xa5, 0xe5, 0xf1, 0x71, 0xd8, 0x31, 0x15
    row \word, 0x04, 0xc7, 0x23, 0xc3, 0x18, 0x96, 0x05, 0x9a, 0x07, 0x12, 0x80, 0xe2, 0xeb, 0x27, 0xb2, 0x75
    row \word, 0x09, 0x83, 0x2c, 0x1a, 0x1b, 0x6e, 0x5a, 0xa0, 0x52, 0x3b, 0xd6, 0xb3, 0x29, 0xe3, 0x2f, 0x84
    row \word, 0x53, 0xd1, 0x00, 0xed, 0x20, 0xfc, 0xb1, 0x5b, 0x6a, 0xcb, 0xbe, 0x39, 0x4a, 0x4c, 0x58, 0xcf
    row \word, 0xd0, 0xef, 0xaa, 0xfb, 0x43, 0x4d, 0x33, 0x85, 0x45, 0xf9, 0x02, 0x7f, 0x50, 0x3c, 0x9f, 0xa8
    row \word, 0x51, 0xa3, 0x40, 0x8f, 0x92, 0x9d, 0x38, 0xf5, 0xbc, 0xb6, 0xda, 0x21, 0x10, 0xff, 0xf3, 0xd2
    row \word, 0xcd, 0x0c, 0x13, 0xec, 0x5f, 0x97, 0x44, 0x17, 0xc4, 0xa7, 0x7e, 0x3d, 0x64, 0x5d, 0x19, 0x73
    row \word, 0x60, 0x81, 0x4f, 0xdc, 0x22, 0x2a, 0x90, 0x88, 0x46, 0xee, 0xb8, 0x14, 0xde, 0x5e, 0x0b, 0xdb
    row \word, 0xe0, 0x32, 0x3a, 0x0a, 0x49, 0x06, 0x24, 0x5c, 0xc2, 0xd3, 0xac, 0x62, 0x91, 0x95, 0xe4, 0x79
    row \word, 0xe7, 0xc8, 0x37, 0x6d, 0x8d, 0xd5, 0x4e, 0xa9, 0x6c, 0x56, 0xf4, 0xea, 0x65, 0x7a, 0xae, 0x08
    row \word, 0xba, 0x78, 0x25, 0x2e, 0x1c, 0xa6, 0xb4, 0xc6, 0xe8, 0xdd, 0x74, 0x1f, 0x4b, 0xbd, 0x8b, 0x8a
    row \word, 0x70, 0x3e, 0xb5, 0x66, 0x48, 0x03, 0xf6, 0x0e, 0x61, 0x35, 0x57, 0xb9, 0x86, 0xc1, 0x1d, 0x9e
    row \word, 0xe1, 0xf8, 0x98, 0x11, 0x69, 0xd9, 0x8e, 0x94, 0x9b, 0x1e, 0x87, 0xe9, 0xce, 0x55, 0x28, 0xdf
    row \word, 0x8c, 0xa1, 0x89, 0x0d, 0xbf, 0xe6, 0x42, 0x68, 0x41, 0x99, 0x2d, 0x0f, 0xb0, 0x54, 0xbb, 0x16
.endm

/* word(x) for x = 0..255. */
.macro each_byte word
    byte_value = 0
    .rept 256
    \word byte_value
    byte_value = byte_value + 1
    .endr
.endm

/* Multiples in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1. */
#define TIMES2(s) ((((s) << 1) ^ (((s) >> 7) * 0x11b)) & 0xff)
#define TIMES4(s) ((((s) << 2) ^ (((s) >> 7) * 0x236) ^ ((((s) >> 6) & 1) * 0x11b)) & 0xff)
#define TIMES8(s) ((((s) << 3) ^ (((s) >> 7) * 0x46c) ^ ((((s) >> 6) & 1) * 0x236) ^ ((((s) >> 5) & 1) * 0x11b)) & 0xff)

.macro word_2_1 s
    .short TIMES2(\s) | (\s << 8)
.endm
.macro word_3_2 s
    .short (TIMES2(\s) ^ \s) | (TIMES2(\s) << 8)
.endm
.macro word_1_3 s
    .short \s | ((TIMES2(\s) ^ \s) << 8)
.endm
.macro word_1_1 s
    .short \s | (\s << 8)
.endm
.macro word_14_9 x
    .short (TIMES8(\x) ^ TIMES4(\x) ^ TIMES2(\x)) | ((TIMES8(\x) ^ \x) << 8)
.endm
.macro word_11_14 x
    .short (TIMES8(\x) ^ TIMES2(\x) ^ \x) | ((TIMES8(\x) ^ TIMES4(\x) ^ TIMES2(\x)) << 8)
.endm
.macro word_13_11 x
    .short (TIMES8(\x) ^ TIMES4(\x) ^ \x) | ((TIMES8(\x) ^ TIMES2(\x) ^ \x) << 8)
.endm
.macro word_9_13 x
    .short (TIMES8(\x) ^ \x) | ((TIMES8(\x) ^ TIMES4(\x) ^ \x) << 8)
.endm

/* The low byte of an entry is the even row. secret_table_enc_1_1 also serves as S-box. */
.macro table name, each, word
    .section .ws_table.aes_\name, "a", @progbits
    .p2align 1
    .type \name, @object
\name:
    \each \word
    .size \name, 512
.endm

table secret_table_enc_2_1, each_sbox, word_2_1
table secret_table_enc_3_2, each_sbox, word_3_2
table secret_table_enc_1_3, each_sbox, word_1_3
table secret_table_enc_1_1, each_sbox, word_1_1

table secret_table_dec_14_9, each_byte, word_14_9
table secret_table_dec_11_14, each_byte, word_11_14
table secret_table_dec_13_11, each_byte, word_13_11
table secret_table_dec_9_13, each_byte, word_9_13

/* The inverse S-box: FIPS 197, table 6. */
    .section .ws_table.aes_inverse_sbox, "a", @progbits
    .type secret_table_inverse_sbox, @object
secret_table_inverse_sbox:
    .byte 0x52, 0x09, 0x6a, 0xd5, 0x30, 0x36, 0xa5, 0x38, 0xbf, 0x40, 0xa3, 0x9e, 0x81, 0xf3, 0xd7, 0xfb
    .byte 0x7c, 0xe3, 0x39, 0x82, 0x9b, 0x2f, 0xff, 0x87, 0x34, 0x8e, 0x43, 0x44, 0xc4, 0xde, 0xe9, 0xcb
    .byte 0x54, 0x7b, 0x94, 0x32, 0xa6, 0xc2, 0x23, 0x3d, 0xee, 0x4c, 0x95, 0x0b, 0x42, 0xfa, 0xc3, 0x4e
    .byte 0x08, 0x2e, 0xa1, 0x66, 0x28, 0xd9, 0x24, 0xb2, 0x76, 0x5b, 0xa2, 0x49, 0x6d, 0x8b, 0xd1, 0x25
    .byte 0x72, 0xf8, 0xf6, 0x64, 0x86, 0x68, 0x98, 0x16, 0xd4, 0xa4, 0x5c, 0xcc, 0x5d, 0x65, 0xb6, 0x92
    .byte 0x6c, 0x70, 0x48, 0x50, 0xfd, 0xed, 0xb9, 0xda, 0x5e, 0x15, 0x46, 0x57, 0xa7, 0x8d, 0x9d, 0x84
    .byte 0x90, 0xd8, 0xab, 0x00, 0x8c, 0xbc, 0xd3, 0x0a, 0xf7, 0xe4, 0x58, 0x05, 0xb8, 0xb3, 0x45, 0x06
    .byte 0xd0, 0x2c, 0x1e, 0x8f, 0xca, 0x3f, 0x0f, 0x02, 0xc1, 0xaf, 0xbd, 0x03, 0x01, 0x13, 0x8a, 0x6b
    .byte 0x3a, 0x91, 0x11, 0x41, 0x4f, 0x67, 0xdc, 0xea, 0x97, 0xf2, 0xcf, 0xce, 0xf0, 0xb4, 0xe6, 0x73
    .byte 0x96, 0xac, 0x74, 0x22, 0xe7, 0xad, 0x35, 0x85, 0xe2, 0xf9, 0x37, 0xe8, 0x1c, 0x75, 0xdf, 0x6e
    .byte 0x47, 0xf1, 0x1a, 0x71, 0x1d, 0x29, 0xc5, 0x89, 0x6f, 0xb7, 0x62, 0x0e, 0xaa, 0x18, 0xbe, 0x1b
    .byte 0xfc, 0x56, 0x3e, 0x4b, 0xc6, 0xd2, 0x79, 0x20, 0x9a, 0xdb, 0xc0, 0xfe, 0x78, 0xcd, 0x5a, 0xf4
    .byte 0x1f, 0xdd, 0xa8, 0x33, 0x88, 0x07, 0xc7, 0x31, 0xb1, 0x12, 0x10, 0x59, 0x27, 0x80, 0xec, 0x5f
    .byte 0x60, 0x51, 0x7f, 0xa9, 0x19, 0xb5, 0x4a, 0x0d, 0x2d, 0xe5, 0x7a, 0x9f, 0x93, 0xc9, 0x9c, 0xef
    .byte 0xa0, 0xe0, 0x3b, 0x4d, 0xae, 0x2a, 0xf5, 0xb0, 0xc8, 0xeb, 0xbb, 0x3c, 0x83, 0x53, 0x99, 0x61
    .byte 0x17, 0x2b, 0x04, 0x7e, 0xba, 0x77, 0xd6, 0x26, 0xe1, 0x69, 0x14, 0x63, 0x55, 0x21, 0x0c, 0x7d
    .size secret_table_inverse_sbox, 256

/* ---- Shared by both directions --------------------------------------- */

.macro save_registers
    push r4
    push r5
    push r6
    push r7
    push r8
    push r9
    push r10
.endm

.macro restore_registers
    pop r10
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
.endm

/* Goes to unaligned_block if r14 or r15 is odd; direction then says whom to call. */
.macro require_aligned direction
    mov r14, r11
    bis r15, r11
    bit #1, r11
    jz .Laligned\@
    mov #\direction, r11
    br #unaligned_block
.Laligned\@:
.endm

/* 2 * byte, ready to index a table of words. The high byte leaves from swapped. */
.macro low_byte from, to
    mov.b \from, \to
    rla \to
.endm
.macro high_byte from, to
    swpb \from
    mov.b \from, \to
    rla \to
.endm

/* Adds what one byte, index / 2, contributes to the column (even, odd). */
.macro add_byte index, even_table, even, odd_table, odd
    xor \even_table(\index), \even
    xor \odd_table(\index), \odd
.endm

/*
 * in:  r11 ws_aes_encrypt or ws_aes_decrypt, r12-r15 its arguments
 * Runs it on a copy of the block on the stack, which is aligned.
 * Stack: 24 bytes, return address included, and the callee's.
 */
    .section .text.aes_unaligned_block, "ax", @progbits
    .p2align 1
    .type unaligned_block, @function
unaligned_block:
    push r10
    push r9
    push r8
    mov r15, r10
    mov r1, r9
    sub #16, r1
    mov r1, r15
1:  mov.b @r14+, r8
    mov.b r8, 0(r15)
    inc r15
    cmp r9, r15
    jne 1b
    mov r1, r14
    mov r1, r15
    call r11
    mov r1, r14
2:  mov.b @r14+, r8
    mov.b r8, 0(r10)
    inc r10
    cmp r9, r14
    jne 2b
    mov r9, r1
    pop r8
    pop r9
    pop r10
    ret
    .size unaligned_block, . - unaligned_block

/* Labels <direction>.<module>.<number> tell the lab which instructions belong to which part. */

/* ---- Encryption ------------------------------------------------------ */

/*
 * SubBytes, ShiftRows, MixColumns, AddRoundKey in 155 cycles.
 * in:  column i of the state in w<2i> (even row in its low byte) and w<2i+1>;
 *      t, f, g free
 * out: the state in w0, w1, w2, w4, w3, t, f, g; w5, w6, w7 free
 */
.macro encrypt_round w0, w1, w2, w3, w4, w5, w6, w7, t, f, g
    /* Column 3: bytes 12, 1, 6, 11. */
    low_byte \w6, \t
    mov secret_table_enc_2_1(\t), \f
    mov secret_table_enc_1_3(\t), \g
    high_byte \w0, \t
    add_byte \t, secret_table_enc_3_2, \f, secret_table_enc_1_1, \g
    low_byte \w3, \t
    add_byte \t, secret_table_enc_1_3, \f, secret_table_enc_2_1, \g
    high_byte \w5, \t
    add_byte \t, secret_table_enc_1_1, \f, secret_table_enc_3_2, \g
    /* Column 2: bytes 7 and 13, the last of w3 and w6, then 8 and 2. */
    high_byte \w3, \w3
    mov secret_table_enc_3_2(\w3), \t
    mov secret_table_enc_1_1(\w3), \w3
    high_byte \w6, \w6
    add_byte \w6, secret_table_enc_3_2, \w3, secret_table_enc_1_1, \t
    low_byte \w4, \w6
    add_byte \w6, secret_table_enc_2_1, \w3, secret_table_enc_1_3, \t
    low_byte \w1, \w6
    add_byte \w6, secret_table_enc_1_3, \w3, secret_table_enc_2_1, \t
    /* Column 1: bytes 9 and 3, the last of w4 and w1, then 4 and 14. */
    high_byte \w4, \w4
    mov secret_table_enc_3_2(\w4), \w6
    mov secret_table_enc_1_1(\w4), \w4
    high_byte \w1, \w1
    add_byte \w1, secret_table_enc_1_1, \w6, secret_table_enc_3_2, \w4
    low_byte \w2, \w1
    add_byte \w1, secret_table_enc_2_1, \w6, secret_table_enc_1_3, \w4
    low_byte \w7, \w1
    add_byte \w1, secret_table_enc_1_3, \w6, secret_table_enc_2_1, \w4
    /* Column 0: bytes 0, 5, 10, 15; w0 and w5 were swapped for column 3. */
    high_byte \w0, \w0
    mov secret_table_enc_1_3(\w0), \w1
    mov secret_table_enc_2_1(\w0), \w0
    high_byte \w2, \w2
    add_byte \w2, secret_table_enc_3_2, \w0, secret_table_enc_1_1, \w1
    high_byte \w5, \w5
    add_byte \w5, secret_table_enc_1_3, \w0, secret_table_enc_2_1, \w1
    high_byte \w7, \w7
    add_byte \w7, secret_table_enc_1_1, \w0, secret_table_enc_3_2, \w1
    mov \w6, \w2
    xor @ROUND_KEYS+, \w0
    xor @ROUND_KEYS+, \w1
    xor @ROUND_KEYS+, \w2
    xor @ROUND_KEYS+, \w4
    xor @ROUND_KEYS+, \w3
    xor @ROUND_KEYS+, \t
    xor @ROUND_KEYS+, \f
    xor @ROUND_KEYS+, \g
.endm

/* One word of the last round: S(even), S(odd), round key, stored. */
.macro encrypt_last even, odd, offset, out, word, index
    high_byte \odd, \word
    mov.b secret_table_enc_1_1(\word), \word
    swpb \word
    low_byte \even, \index
    mov.b secret_table_enc_1_1(\index), \index
    bis \index, \word
    xor @ROUND_KEYS+, \word
    mov \word, \offset(\out)
.endm

/*
 * void ws_aes_encrypt(const uint8_t *round_keys, unsigned rounds,
 *                     const uint8_t in[16], uint8_t out[16])
 * in:  r12 round_keys, r13 rounds, r14 in, r15 out
 * clobbers: r11-r15. Stack: 20 bytes, return address included.
 * Cycles: 1,661, 1,975, 2,289 for 10, 12, 14 rounds; 330 more if in or out is odd (stack 44).
 */
    .section .text.ws_aes_encrypt, "ax", @progbits
    .p2align 1
    .global ws_aes_encrypt
    .type ws_aes_encrypt, @function
ws_aes_encrypt:
    require_aligned ws_aes_encrypt
    save_registers
    push r15
    /* The last round key's address ends the loop. */
    rla r13
    rla r13
    rla r13
    rla r13
    add ROUND_KEYS, r13
    push r13
    /* The registers as the first half of the loop leaves them. */
    mov @r14+, r4
    xor @ROUND_KEYS+, r4
    mov @r14+, r5
    xor @ROUND_KEYS+, r5
    mov @r14+, r6
    xor @ROUND_KEYS+, r6
    mov @r14+, r8
    xor @ROUND_KEYS+, r8
    mov @r14+, r7
    xor @ROUND_KEYS+, r7
    mov @r14+, r13
    xor @ROUND_KEYS+, r13
    mov @r14+, r15
    xor @ROUND_KEYS+, r15
    mov @r14, r14
    xor @ROUND_KEYS+, r14
    jmp encrypt.iteration.2
encrypt.iteration.1:
    encrypt_round r4, r5, r6, r7, r8, r9, r10, r11, r13, r15, r14
encrypt.iteration.2:
    encrypt_round r4, r5, r6, r8, r7, r13, r15, r14, r9, r10, r11
    cmp @r1, ROUND_KEYS
    jne encrypt.iteration.1
encrypt.last_iteration.1:
    incd r1
    pop r15
    encrypt_last r4, r6, 0, r15, r14, r13
    encrypt_last r9, r11, 2, r15, r14, r13
    swpb r6
    encrypt_last r6, r8, 4, r15, r14, r13
    swpb r11
    encrypt_last r11, r5, 6, r15, r14, r13
    swpb r8
    encrypt_last r8, r10, 8, r15, r14, r13
    swpb r5
    encrypt_last r5, r7, 10, r15, r14, r13
    swpb r10
    encrypt_last r10, r4, 12, r15, r14, r13
    swpb r7
    encrypt_last r7, r9, 14, r15, r14, r13
encrypt.other.1:
    restore_registers
    ret
    .size ws_aes_encrypt, . - ws_aes_encrypt

/* ---- Decryption ------------------------------------------------------ */

/* 2 * (inverse S(byte) ^ key). */
.macro inverse_low from, to, key
    mov.b \from, \to
    mov.b secret_table_inverse_sbox(\to), \to
    xor.b \key, \to
    rla \to
.endm
.macro inverse_high from, to, key
    swpb \from
    inverse_low \from, \to, \key
.endm

/*
 * InvShiftRows, InvSubBytes, AddRoundKey, InvMixColumns. The round key comes
 * between the two lookups, so this needs no transformed round keys.
 * in:  as encrypt_round; ROUND_KEYS the key of this round
 * out: the state in f, g, w5, t, w4, w2, w6, w7; w0, w1, w3 free;
 *      ROUND_KEYS the key of the next round
 */
.macro decrypt_round w0, w1, w2, w3, w4, w5, w6, w7, t, f, g
    /* Column 0: bytes 0, 13, 10, 7. */
    inverse_low \w0, \t, @ROUND_KEYS+
    mov secret_table_dec_14_9(\t), \f
    mov secret_table_dec_13_11(\t), \g
    inverse_high \w6, \t, @ROUND_KEYS+
    add_byte \t, secret_table_dec_11_14, \f, secret_table_dec_9_13, \g
    inverse_low \w5, \t, @ROUND_KEYS+
    add_byte \t, secret_table_dec_13_11, \f, secret_table_dec_14_9, \g
    inverse_high \w3, \t, @ROUND_KEYS+
    add_byte \t, secret_table_dec_9_13, \f, secret_table_dec_11_14, \g
    /* Column 1: bytes 11 and 1, the last of w5 and w0, then 4 and 14. */
    inverse_high \w5, \w5, 3(ROUND_KEYS)
    mov secret_table_dec_11_14(\w5), \t
    mov secret_table_dec_9_13(\w5), \w5
    inverse_high \w0, \w0, 1(ROUND_KEYS)
    add_byte \w0, secret_table_dec_11_14, \w5, secret_table_dec_9_13, \t
    inverse_low \w2, \w0, @ROUND_KEYS+
    add_byte \w0, secret_table_dec_14_9, \w5, secret_table_dec_13_11, \t
    inverse_low \w7, \w0, 1(ROUND_KEYS)
    add_byte \w0, secret_table_dec_13_11, \w5, secret_table_dec_14_9, \t
    /* Column 2: bytes 5 and 15, the last of w2 and w7, then 8 and 2. */
    inverse_high \w2, \w2, 4(ROUND_KEYS)
    mov secret_table_dec_11_14(\w2), \w0
    mov secret_table_dec_9_13(\w2), \w2
    inverse_high \w7, \w7, 6(ROUND_KEYS)
    add_byte \w7, secret_table_dec_9_13, \w0, secret_table_dec_11_14, \w2
    inverse_low \w4, \w7, 3(ROUND_KEYS)
    add_byte \w7, secret_table_dec_14_9, \w0, secret_table_dec_13_11, \w2
    inverse_low \w1, \w7, 5(ROUND_KEYS)
    add_byte \w7, secret_table_dec_13_11, \w0, secret_table_dec_14_9, \w2
    /* Column 3: bytes 12, 9, 6, 3; w6 and w3 were swapped for column 0. */
    add #7, ROUND_KEYS
    inverse_high \w6, \w6, @ROUND_KEYS+
    mov secret_table_dec_13_11(\w6), \w7
    mov secret_table_dec_14_9(\w6), \w6
    inverse_high \w4, \w4, @ROUND_KEYS+
    add_byte \w4, secret_table_dec_11_14, \w6, secret_table_dec_9_13, \w7
    inverse_high \w3, \w3, @ROUND_KEYS+
    add_byte \w3, secret_table_dec_13_11, \w6, secret_table_dec_14_9, \w7
    inverse_high \w1, \w1, @ROUND_KEYS+
    add_byte \w1, secret_table_dec_9_13, \w6, secret_table_dec_11_14, \w7
    mov \w0, \w4
    sub #32, ROUND_KEYS
.endm

/* One word of the last round: inverse S(even), inverse S(odd), round key, stored. */
.macro decrypt_last even, odd, offset, out, word, index
    swpb \odd
    mov.b \odd, \word
    mov.b secret_table_inverse_sbox(\word), \word
    swpb \word
    mov.b \even, \index
    mov.b secret_table_inverse_sbox(\index), \index
    bis \index, \word
    xor @ROUND_KEYS+, \word
    mov \word, \offset(\out)
.endm

/*
 * void ws_aes_decrypt(const uint8_t *round_keys, unsigned rounds,
 *                     const uint8_t in[16], uint8_t out[16])
 * in:  r12 round_keys, r13 rounds, r14 in, r15 out
 * clobbers: r11-r15. Stack: 20 bytes, return address included.
 * Cycles: 2,318, 2,782, 3,246 for 10, 12, 14 rounds; 330 more if in or out is odd (stack 44).
 */
    .section .text.ws_aes_decrypt, "ax", @progbits
    .p2align 1
    .global ws_aes_decrypt
    .type ws_aes_decrypt, @function
ws_aes_decrypt:
    require_aligned ws_aes_decrypt
    save_registers
    push r15
    /* The first round key's address ends the loop; the last one starts it. */
    push ROUND_KEYS
    rla r13
    rla r13
    rla r13
    rla r13
    add r13, ROUND_KEYS
    /* The registers as the first half of the loop leaves them. */
    mov @r14+, r13
    xor @ROUND_KEYS+, r13
    mov @r14+, r15
    xor @ROUND_KEYS+, r15
    mov @r14+, r9
    xor @ROUND_KEYS+, r9
    mov @r14+, r11
    xor @ROUND_KEYS+, r11
    mov @r14+, r8
    xor @ROUND_KEYS+, r8
    mov @r14+, r6
    xor @ROUND_KEYS+, r6
    mov @r14+, r10
    xor @ROUND_KEYS+, r10
    mov @r14, r14
    xor @ROUND_KEYS+, r14
    sub #32, ROUND_KEYS
    jmp decrypt.iteration.2
decrypt.iteration.1:
    decrypt_round r4, r5, r6, r7, r8, r9, r10, r14, r11, r13, r15
decrypt.iteration.2:
    decrypt_round r13, r15, r9, r11, r8, r6, r10, r14, r7, r4, r5
    cmp @r1, ROUND_KEYS
    jne decrypt.iteration.1
decrypt.last_iteration.1:
    incd r1
    pop r15
    decrypt_last r4, r10, 0, r15, r13, r11
    decrypt_last r9, r7, 2, r15, r13, r11
    decrypt_last r6, r4, 4, r15, r13, r11
    decrypt_last r14, r9, 6, r15, r13, r11
    decrypt_last r8, r6, 8, r15, r13, r11
    decrypt_last r5, r14, 10, r15, r13, r11
    swpb r10
    decrypt_last r10, r8, 12, r15, r13, r11
    swpb r7
    decrypt_last r7, r5, 14, r15, r13, r11
decrypt.other.1:
    restore_registers
    ret
    .size ws_aes_decrypt, . - ws_aes_decrypt

/* ---- Key schedule ---------------------------------------------------- */

/* w[i] = w[i - key_words] ^ w[i-1], w[i-1] being (r14, r15); 10 cycles. */
.macro expand_word offset
    xor @r12+, r14
    xor @r12+, r15
    mov r14, \offset(r13)
    mov r15, \offset+2(r13)
.endm
.macro expand_two_words
    expand_word 0
    expand_word 4
    add #8, r13
.endm
.macro expand_four_words
    expand_word 0
    expand_word 4
    expand_word 8
    expand_word 12
    add #16, r13
.endm

/* S of the byte whose double is the index, which becomes S in the low or the high byte. */
.macro sbox_low index
    mov.b secret_table_enc_1_1(\index), \index
.endm
.macro sbox_high index
    mov.b secret_table_enc_1_1(\index), \index
    swpb \index
.endm

.macro store_four_words
    mov r4, 0(r12)
    mov r5, 2(r12)
    mov r6, 4(r12)
    mov r7, 6(r12)
    mov r8, 8(r12)
    mov r9, 10(r12)
    mov r10, 12(r12)
    mov r11, 14(r12)
.endm

/*
 * void ws_aes_expand(uint8_t *round_keys, const uint8_t *key, unsigned key_words)
 * in:  r12 round_keys, r13 key, r14 key_words
 * clobbers: r11-r15. Stack: 16 bytes, return address included.
 * Cycles: 792, 917, 1,142 for 4, 6, 8 key words; 152, 46, 62 more if key is odd.
 * A key of four aligned words is expanded in registers.
 */
    .section .text.ws_aes_expand, "ax", @progbits
    .p2align 1
    .global ws_aes_expand
    .type ws_aes_expand, @function
ws_aes_expand:
    cmp #4, r14
    jne .Lexpand_any
    bit #1, r13
    jnz .Lexpand_any
    /* (r5:r4, r7:r6, r9:r8, r11:r10) the last four words, r14 the round constant (FIPS 197, section 5.2). */
    save_registers
    .irp word, r4, r5, r6, r7, r8, r9, r10, r11
    mov @r13+, \word
    .endr
    store_four_words
    mov #1, r14
.Lexpand_128:
    low_byte r10, r13
    sbox_high r13
    xor r13, r5
    low_byte r11, r13
    sbox_high r13
    xor r13, r4
    mov r10, r13
    high_byte r13, r13
    sbox_low r13
    xor r13, r4
    mov r11, r13
    high_byte r13, r13
    sbox_low r13
    xor r13, r5
    xor r14, r4
    xor r4, r6
    xor r5, r7
    xor r6, r8
    xor r7, r9
    xor r8, r10
    xor r9, r11
    add #16, r12
    store_four_words
    rla.b r14
    jnc 1f
    xor #0x1b, r14
    /* The constant after the tenth. */
1:  cmp #0x6c, r14
    jne .Lexpand_128
    restore_registers
    ret

    /* r12 goes through w[i - key_words], r13 through w[i]; r7 key_words, r8 end, r9 the round constant. */
.Lexpand_any:
    push r7
    push r8
    push r9
    push r10
    mov r14, r7
    mov r12, r9
    mov r7, r10
    bit #1, r13
    jnz .Lcopy_bytes
.Lcopy_words:
    mov @r13+, r14
    mov @r13+, r15
    mov r14, 0(r9)
    mov r15, 2(r9)
    add #4, r9
    dec r10
    jnz .Lcopy_words
    jmp .Lcopied
.Lcopy_bytes:
    mov.b @r13+, r14
    mov.b @r13+, r11
    swpb r11
    bis r11, r14
    mov.b @r13+, r15
    mov.b @r13+, r11
    swpb r11
    bis r11, r15
    mov r14, 0(r9)
    mov r15, 2(r9)
    add #4, r9
    dec r10
    jnz .Lcopy_bytes
.Lcopied:
    mov r9, r13
    /* 16 * (key_words + 7) bytes: key_words + 6 rounds. */
    mov r7, r8
    add #7, r8
    rla r8
    rla r8
    rla r8
    rla r8
    add r12, r8
    mov #1, r9
.Lexpand_loop:
    /* (r14, r15) = SubWord(RotWord(w[i-1])) ^ round constant */
    low_byte r14, r11
    sbox_high r11
    high_byte r14, r14
    sbox_low r14
    low_byte r15, r10
    sbox_high r10
    high_byte r15, r15
    sbox_low r15
    bis r10, r14
    bis r11, r15
    xor r9, r14
    rla.b r9
    jnc 1f
    xor #0x1b, r9
1:  expand_four_words
    cmp r8, r13
    jeq .Lexpanded
    bit #2, r7
    jnz .Lkey_192
    bit #8, r7
    jz .Lexpand_loop
    /* (r14, r15) = SubWord(w[i-1]) */
    low_byte r14, r10
    sbox_low r10
    high_byte r14, r14
    sbox_high r14
    bis r10, r14
    low_byte r15, r10
    sbox_low r10
    high_byte r15, r15
    sbox_high r15
    bis r10, r15
    expand_four_words
    jmp .Lexpand_loop
.Lkey_192:
    expand_two_words
    jmp .Lexpand_loop
.Lexpanded:
    pop r10
    pop r9
    pop r8
    pop r7
    ret
    .size ws_aes_expand, . - ws_aes_expand
