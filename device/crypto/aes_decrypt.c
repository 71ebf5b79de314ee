#include "aes.h"
#include "aes_steps.h"

WS_INLINE uint8_t inverse_sub(uint8_t x)
{
    return ws_table_u8(ws_secret_table_aes_inverse_sbox[x]);
}

/* InvSubBytes and InvShiftRows, sections 5.3.1 and 5.3.2. */
WS_INLINE void inverse_sub_shift(uint8_t s[16])
{
    uint8_t t;

    s[0] = inverse_sub(s[0]);
    s[4] = inverse_sub(s[4]);
    s[8] = inverse_sub(s[8]);
    s[12] = inverse_sub(s[12]);

    t = inverse_sub(s[13]);
    s[13] = inverse_sub(s[9]);
    s[9] = inverse_sub(s[5]);
    s[5] = inverse_sub(s[1]);
    s[1] = t;

    t = inverse_sub(s[2]);
    s[2] = inverse_sub(s[10]);
    s[10] = t;
    t = inverse_sub(s[6]);
    s[6] = inverse_sub(s[14]);
    s[14] = t;

    t = inverse_sub(s[3]);
    s[3] = inverse_sub(s[7]);
    s[7] = inverse_sub(s[11]);
    s[11] = inverse_sub(s[15]);
    s[15] = t;
}

/* InvMixColumns of one column, section 5.3.3: its matrix is that of MixColumns times circ(5, 0, 4, 0). */
WS_INLINE void inverse_mix_column(uint8_t s[4])
{
    uint8_t even = xtime(xtime(s[0] ^ s[2]));
    uint8_t odd = xtime(xtime(s[1] ^ s[3]));

    s[0] ^= even;
    s[1] ^= odd;
    s[2] ^= even;
    s[3] ^= odd;
    mix_column(s);
}

void ws_aes_decrypt(const uint8_t *round_keys, unsigned rounds, const uint8_t in[16], uint8_t out[16])
{
    uint8_t round;
    uint8_t i;

    round_keys += 16 * rounds;
    for (i = 0; i < 16; i++) {
        out[i] = in[i] ^ round_keys[i];
    }
    for (round = (uint8_t)(rounds - 1); round != 0; round--) {
        round_keys -= 16;
        inverse_sub_shift(out);
        add_round_key(out, round_keys);
        for (i = 0; i < 16; i += 4) {
            inverse_mix_column(out + i);
        }
    }
    inverse_sub_shift(out);
    add_round_key(out, round_keys - 16);
}
