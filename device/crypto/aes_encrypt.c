#include "aes.h"
#include "aes_steps.h"

/* SubBytes and ShiftRows, sections 5.1.1 and 5.1.2; s[r + 4c] is row r of column c. */
WS_INLINE void sub_shift(uint8_t s[16])
{
    uint8_t t;

    s[0] = sub(s[0]);
    s[4] = sub(s[4]);
    s[8] = sub(s[8]);
    s[12] = sub(s[12]);

    t = sub(s[1]);
    s[1] = sub(s[5]);
    s[5] = sub(s[9]);
    s[9] = sub(s[13]);
    s[13] = t;

    t = sub(s[2]);
    s[2] = sub(s[10]);
    s[10] = t;
    t = sub(s[6]);
    s[6] = sub(s[14]);
    s[14] = t;

    t = sub(s[15]);
    s[15] = sub(s[11]);
    s[11] = sub(s[7]);
    s[7] = sub(s[3]);
    s[3] = t;
}

void ws_aes_encrypt(const uint8_t *round_keys, unsigned rounds, const uint8_t in[16], uint8_t out[16])
{
    uint8_t round;
    uint8_t i;

    for (i = 0; i < 16; i++) {
        out[i] = in[i] ^ round_keys[i];
    }
    for (round = (uint8_t)(rounds - 1); round != 0; round--) {
        round_keys += 16;
        sub_shift(out);
        for (i = 0; i < 16; i += 4) {
            mix_column(out + i);
        }
        add_round_key(out, round_keys);
    }
    sub_shift(out);
    add_round_key(out, round_keys + 16);
}
