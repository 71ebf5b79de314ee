/* The steps of AES that more than one of its files is made of, and its tables: private to crypto/aes_*.c. */
#ifndef WS_AES_STEPS_H
#define WS_AES_STEPS_H

#include "aes.h"
#include "secret.h"
#include "table.h"

/* The S-box, FIPS 197 figure 7, and its inverse, figure 14: files of their own, so that each is linked once, and only
 * where it is used. */
WS_TABLE("ws_secret_table_aes_sbox") extern const uint8_t ws_secret_table_aes_sbox[256][WS_TABLE_STRIDE];
WS_TABLE("ws_secret_table_aes_inverse_sbox") extern const uint8_t ws_secret_table_aes_inverse_sbox[256][WS_TABLE_STRIDE];

WS_INLINE uint8_t sub(uint8_t x)
{
    return ws_table_u8(ws_secret_table_aes_sbox[x]);
}

/* Multiplication by x in GF(2^8), FIPS 197 section 4.2.1. The bit that falls out is taken from a doubled 16-bit word,
 * because one shift by 7 is seven instructions on small processors. */
WS_INLINE uint8_t xtime(uint8_t x)
{
    uint16_t doubled = (uint16_t)(x + (uint16_t)x);
    uint8_t out = ws_secret_bit((uint8_t)(doubled >> 8));

    return (uint8_t)(doubled ^ (0x1b & (uint8_t)(0 - out)));
}

WS_INLINE void add_round_key(uint8_t s[16], const uint8_t *round_key)
{
    uint8_t i;

    for (i = 0; i < 16; i++) {
        s[i] ^= round_key[i];
    }
}

/* MixColumns of one column, section 5.1.3. With all = a0 + a1 + a2 + a3: 2 a0 + 3 a1 + a2 + a3 = a0 + all + 2 (a0 + a1). */
WS_INLINE void mix_column(uint8_t s[4])
{
    uint8_t a0 = s[0];
    uint8_t a1 = s[1];
    uint8_t a2 = s[2];
    uint8_t a3 = s[3];
    uint8_t all = a0 ^ a1 ^ a2 ^ a3;

    s[0] = (uint8_t)(a0 ^ all ^ xtime(a0 ^ a1));
    s[1] = (uint8_t)(a1 ^ all ^ xtime(a1 ^ a2));
    s[2] = (uint8_t)(a2 ^ all ^ xtime(a2 ^ a3));
    s[3] = (uint8_t)(a3 ^ all ^ xtime(a3 ^ a0));
}

#endif
