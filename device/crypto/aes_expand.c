#include "aes.h"
#include "aes_steps.h"

void ws_aes_expand(uint8_t *round_keys, const uint8_t *key, unsigned key_words)
{
    uint8_t bytes = (uint8_t)(4 * key_words);
    uint8_t left = (uint8_t)(16 * (key_words + 7) - bytes);
    uint8_t position = 0;
    uint8_t rcon = 1;
    uint8_t *w = round_keys;
    /* The last word, w[i - 1]; kept, because sdcc for the 68HC08 reads w[-1] from w[1]. */
    uint8_t t0;
    uint8_t t1;
    uint8_t t2;
    uint8_t t3;
    uint8_t i;

    for (i = 0; i < bytes; i++) {
        *w++ = key[i];
    }
    key += (uint8_t)(bytes - 4);
    t0 = key[0];
    t1 = key[1];
    t2 = key[2];
    t3 = key[3];
    /* One word w[i] a turn, section 5.2; position is i mod key_words. */
    for (; left != 0; left -= 4) {
        if (position == 0) {
            uint8_t first = t0;

            t0 = sub(t1) ^ rcon;
            t1 = sub(t2);
            t2 = sub(t3);
            t3 = sub(first);
            rcon = xtime(rcon);
        } else if (key_words == 8 && position == 4) {
            t0 = sub(t0);
            t1 = sub(t1);
            t2 = sub(t2);
            t3 = sub(t3);
        }
        t0 ^= round_keys[0];
        t1 ^= round_keys[1];
        t2 ^= round_keys[2];
        t3 ^= round_keys[3];
        w[0] = t0;
        w[1] = t1;
        w[2] = t2;
        w[3] = t3;
        w += 4;
        round_keys += 4;
        position++;
        if (position == key_words) {
            position = 0;
        }
    }
}
