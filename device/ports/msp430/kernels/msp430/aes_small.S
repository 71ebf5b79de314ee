/*
 * AES for the MSP430, small: the two S-boxes and subroutines that both directions share.
 *
 * Defines ws_aes_expand, ws_aes_encrypt and ws_aes_decrypt (contracts: aes.h).
 * Base MSP430 instructions only, no hardware multiplier.
 *
 * Idea. ShiftRows and SubBytes carry the state from one buffer to another, as
 * byte i comes from byte 5i mod 16 (13i for the inverse); AddRoundKey carries
 * it back. One buffer is on the stack, the other one is out. MixColumns doubles
 * two bytes of a word at once, and InvMixColumns is MixColumns after adding
 * 4 (a0 + a2) and 4 (a1 + a3) to a column (Daemen and Rijmen, "The Design of
 * Rijndael", section 4.1.3).
 *
 * Constant time: yes on parts whose flash has neither cache nor wait states,
 * as the MSP430x5xx: a read takes the same time at every address. No branch
 * depends on a secret.
 *
 * Cycle counts are those of CPUX, call (CALL #address) and RET included.
 */

.macro function name
    .section .text.\name, "ax", @progbits
    .p2align 1
    .type \name, @function
\name:
.endm
.macro end name
    .size \name, . - \name
.endm

/* FIPS 197, tables 4 and 6. */
    .section .ws_table.aes_sbox, "a", @progbits
    .type secret_table_sbox, @object
secret_table_sbox:
    .byte 0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5, 0x30, 0x01, 0x67, 0x2b, 0xfe, 0xd7, 0xab, 0x76
    .byte 0xca, 0x82, 0xc9, 0x7d, 0xfa, 0x59, 0x47, 0xf0, 0xad, 0xd4, 0xa2, 0xaf, 0x9c, 0xa4, 0x72, 0xc0
    .byte 0xb7, 0xfd, 0x93, 0x26, 0x36, 0x3f, 0xf7, 0xcc, 0x34, 0xa5, 0xe5, 0xf1, 0x71, 0xd8, 0x31, 0x15
    .byte 0x04, 0xc7, 0x23, 0xc3, 0x18, 0x96, 0x05, 0x9a, 0x07, 0x12, 0x80, 0xe2, 0xeb, 0x27, 0xb2, 0x75
    .byte 0x09, 0x83, 0x2c, 0x1a, 0x1b, 0x6e, 0x5a, 0xa0, 0x52, 0x3b, 0xd6, 0xb3, 0x29, 0xe3, 0x2f, 0x84
    .byte 0x53, 0xd1, 0x00, 0xed, 0x20, 0xfc, 0xb1, 0x5b, 0x6a, 0xcb, 0xbe, 0x39, 0x4a, 0x4c, 0x58, 0xcf
    .byte 0xd0, 0xef, 0xaa, 0xfb, 0x43, 0x4d, 0x33, 0x85, 0x45, 0xf9, 0x02, 0x7f, 0x50, 0x3c, 0x9f, 0xa8
    .byte 0x51, 0xa3, 0x40, 0x8f, 0x92, 0x9d, 0x38, 0xf5, 0xbc, 0xb6, 0xda, 0x21, 0x10, 0xff, 0xf3, 0xd2
    .byte 0xcd, 0x0c, 0x13, 0xec, 0x5f, 0x97, 0x44, 0x17, 0xc4, 0xa7, 0x7e, 0x3d, 0x64, 0x5d, 0x19, 0x73
    .byte 0x60, 0x81, 0x4f, 0xdc, 0x22, 0x2a, 0x90, 0x88, 0x46, 0xee, 0xb8, 0x14, 0xde, 0x5e, 0x0b, 0xdb
    .byte 0xe0, 0x32, 0x3a, 0x0a, 0x49, 0x06, 0x24, 0x5c, 0xc2, 0xd3, 0xac, 0x62, 0x91, 0x95, 0xe4, 0x79
    .byte 0xe7, 0xc8, 0x37, 0x6d, 0x8d, 0xd5, 0x4e, 0xa9, 0x6c, 0x56, 0xf4, 0xea, 0x65, 0x7a, 0xae, 0x08
    .byte 0xba, 0x78, 0x25, 0x2e, 0x1c, 0xa6, 0xb4, 0xc6, 0xe8, 0xdd, 0x74, 0x1f, 0x4b, 0xbd, 0x8b, 0x8a
    .byte 0x70, 0x3e, 0xb5, 0x66, 0x48, 0x03, 0xf6, 0x0e, 0x61, 0x35, 0x57, 0xb9, 0x86, 0xc1, 0x1d, 0x9e
    .byte 0xe1, 0xf8, 0x98, 0x11, 0x69, 0xd9, 0x8e, 0x94, 0x9b, 0x1e, 0x87, 0xe9, 0xce, 0x55, 0x28, 0xdf
    .byte 0x8c, 0xa1, 0x89, 0x0d, 0xbf, 0xe6, 0x42, 0x68, 0x41, 0x99, 0x2d, 0x0f, 0xb0, 0x54, 0xbb, 0x16
    .size secret_table_sbox, 256

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

/*
 * AddRoundKey: 16 bytes at r15 = those at r14 ^ those at r12.
 * r12 and r14 move on by 16; r10 and r11 clobbered.
 */
function aes_add_round_key
    mov #16, r11
1:  mov.b @r14+, r10
    xor.b @r12+, r10
    mov.b r10, 0(r15)
    inc r15
    dec r11
    jnz 1b
    sub #16, r15
    ret
end aes_add_round_key

/*
 * ShiftRows and SubBytes: byte i at r14 = S(byte r8 i mod 16 at r15), S at r9; r8 is odd.
 * r10 and r11 clobbered.
 */
function aes_shift_and_substitute
    clr r11
1:  mov r15, r10
    add r11, r10
    mov.b @r10, r10
    add r9, r10
    mov.b @r10, r10
    mov.b r10, 0(r14)
    inc r14
    add r8, r11
    and #15, r11
    jnz 1b
    sub #16, r14
    ret
end aes_shift_and_substitute

/*
 * Both bytes of r10 doubled in GF(2^8). A top bit becomes 0x80 - 0x01, of
 * which the polynomial's 0x1b is kept. r5 and r6 clobbered.
 */
function aes_double
    mov r10, r6
    and #0x8080, r6
    xor r6, r10
    rla r10
    mov r6, r5
    rla r5
    adc r5
    swpb r5
    sub r5, r6
    and #0x1b1b, r6
    xor r6, r10
    ret
end aes_double

/*
 * The bytes (b0, b1, b2, b3) of the words low, high become (b1, b2) in high
 * and (b3, b0) in low: rotated by one byte, the words exchanged.
 */
.macro rotate_bytes low, high, t
    swpb \low
    swpb \high
    mov \low, \t
    xor \high, \t
    mov.b \t, \t
    xor \t, \low
    xor \t, \high
.endm

/* InvMixColumns and, from its second half, MixColumns of the 16 bytes at r14, which is even; r5-r11, r14 clobbered. */
function aes_inverse_mix_columns
    mov #4, r11
1:  mov @r14+, r10
    xor @r14, r10
    call #aes_double
    call #aes_double
    xor r10, -2(r14)
    xor r10, 0(r14)
    incd r14
    dec r11
    jnz 1b
    sub #16, r14
    br #aes_mix_columns
end aes_inverse_mix_columns

/*
 * With the words w = (a0, a1), x = (a2, a3) of a column, and s = (a1, a2),
 * u = (a3, a0): w = 2 (w + s) + s + (x + u), x = 2 (x + u) + u + (w + s).
 */
function aes_mix_columns
    mov #4, r11
1:  mov @r14+, r10
    mov @r14, r9
    mov r10, r8
    mov r9, r7
    rotate_bytes r8, r7, r6
    xor r7, r10
    xor r8, r9
    xor r9, r7
    xor r10, r8
    call #aes_double
    xor r10, r7
    mov r7, -2(r14)
    mov r9, r10
    call #aes_double
    xor r10, r8
    mov r8, 0(r14)
    incd r14
    dec r11
    jnz 1b
    ret
end aes_mix_columns

.macro save_registers
    push r10
    push r9
    push r8
    push r7
    push r6
    push r5
.endm
/* Zeros in place of the 16 bytes of state at the stack pointer. */
.macro overwrite_state
    add #16, r1
    .rept 8
    push #0
    .endr
.endm
.macro restore_registers
    pop r5
    pop r6
    pop r7
    pop r8
    pop r9
    pop r10
.endm

/*
 * void ws_aes_encrypt(const uint8_t *round_keys, unsigned rounds,
 *                     const uint8_t in[16], uint8_t out[16])
 * in:  r12 round_keys, r13 rounds, r14 in, r15 out
 * clobbers: r11-r15. Stack: 34 bytes, return addresses included; the state on it is overwritten before the return.
 * Cycles: 7,598, 9,126, 10,654 for 10, 12, 14 rounds.
 */
    .global ws_aes_encrypt
function ws_aes_encrypt
    save_registers
    sub #16, r1
    call #aes_add_round_key
1:  mov r1, r14
    mov #secret_table_sbox, r9
    mov #5, r8
    call #aes_shift_and_substitute
    dec r13
    jz 2f
    call #aes_mix_columns
    mov r1, r14
2:  call #aes_add_round_key
    tst r13
    jnz 1b
    overwrite_state
    add #16, r1
    restore_registers
    ret
end ws_aes_encrypt

/*
 * void ws_aes_decrypt(const uint8_t *round_keys, unsigned rounds,
 *                     const uint8_t in[16], uint8_t out[16])
 * in:  r12 round_keys, r13 rounds, r14 in, r15 out
 * clobbers: r11-r15. Stack: 36 bytes, return addresses included; the state on it is overwritten before the return.
 * Cycles: 9,779, 11,789, 13,799 for 10, 12, 14 rounds.
 */
    .global ws_aes_decrypt
function ws_aes_decrypt
    save_registers
    push r15
    sub #16, r1
    mov r1, r15
    mov r13, r11
    rla r11
    rla r11
    rla r11
    rla r11
    add r11, r12
    call #aes_add_round_key
1:  sub #32, r12
    mov 16(r1), r14
    mov #secret_table_inverse_sbox, r9
    mov #13, r8
    call #aes_shift_and_substitute
    dec r13
    jz 2f
    call #aes_add_round_key
    mov r1, r14
    call #aes_inverse_mix_columns
    jmp 1b
2:  mov r14, r15
    call #aes_add_round_key
    overwrite_state
    add #18, r1
    restore_registers
    ret
end ws_aes_decrypt

/* (r9, r10) = (S of the bytes of r10, S of those of r9); r11 clobbered. From its second half: S of the bytes of r10. */
function aes_substitute_word
    call #aes_substitute_half
    mov r10, r11
    mov r9, r10
    mov r11, r9
aes_substitute_half:
    mov.b r10, r11
    mov.b secret_table_sbox(r11), r11
    swpb r10
    mov.b r10, r10
    mov.b secret_table_sbox(r10), r10
    swpb r10
    bis r11, r10
    ret
end aes_substitute_word

/*
 * void ws_aes_expand(uint8_t *round_keys, const uint8_t *key, unsigned key_words)
 * in:  r12 round_keys, r13 key, r14 key_words
 * clobbers: r11-r15. Stack: 14 bytes, return addresses included.
 * Cycles: 1,890, 2,062, 2,521 for 4, 6, 8 key words.
 * r12 goes through w[i], r13 through w[i - key_words]; r15 counts the words to
 * come, r7 those since the last multiple of key_words, r8 the round constant
 * (FIPS 197, section 5.2), (r10, r9) is the word.
 */
    .global ws_aes_expand
function ws_aes_expand
    push r7
    push r8
    push r9
    push r10
    mov r14, r11
    rla r11
    rla r11
    mov r12, r15
    add r11, r15
1:  mov.b @r13+, r10
    mov.b r10, 0(r12)
    inc r12
    cmp r15, r12
    jne 1b
    mov r12, r13
    sub r11, r13
    /* 4 (key_words + 7) words less those of the key */
    mov r14, r15
    rla r15
    add r14, r15
    add #28, r15
    mov #1, r8
    clr r7
2:  mov -4(r12), r10
    mov -2(r12), r9
    tst r7
    jnz 3f
    /* SubWord(RotWord(w[i-1])) ^ round constant */
    rotate_bytes r10, r9, r11
    call #aes_substitute_word
    xor r8, r10
    rla.b r8
    jnc 4f
    xor #0x1b, r8
    jmp 4f
3:  cmp #4, r7
    jne 4f
    bit #8, r14
    jz 4f
    /* SubWord(w[i-1]) */
    call #aes_substitute_word
    mov r10, r11
    mov r9, r10
    mov r11, r9
4:  xor @r13+, r10
    xor @r13+, r9
    mov r10, 0(r12)
    mov r9, 2(r12)
    add #4, r12
    inc r7
    cmp r14, r7
    jne 5f
    clr r7
5:  dec r15
    jnz 2b
    pop r10
    pop r9
    pop r8
    pop r7
    ret
end ws_aes_expand
