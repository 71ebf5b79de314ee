#include "aes_keyed.h"

#include "aes_steps.h"

/* The fixed names of the block and of the last words of the key schedule let small processors address them directly. */
WS_NEAR uint8_t ws_aes_block[16];
WS_NEAR uint8_t ws_aes_key[32];

/* Makes the next word of the key schedule, FIPS 197 section 5.2: w[i] takes the place of w[i - key_words], at this
 * position of ws_aes_key in bytes. */
static void next_word(uint8_t position, uint8_t key_bytes, uint8_t rcon)
{
    const uint8_t last = (uint8_t)((position == 0 ? key_bytes : position) - 4);
    uint8_t t0 = ws_aes_key[last];
    uint8_t t1 = ws_aes_key[last + 1];
    uint8_t t2 = ws_aes_key[last + 2];
    uint8_t t3 = ws_aes_key[last + 3];

    if (position == 0) {
        uint8_t first = t0;

        t0 = sub(t1) ^ rcon;
        t1 = sub(t2);
        t2 = sub(t3);
        t3 = sub(first);
    } else if (position == 16 && key_bytes == 32) {
        t0 = sub(t0);
        t1 = sub(t1);
        t2 = sub(t2);
        t3 = sub(t3);
    }
    ws_aes_key[position] ^= t0;
    ws_aes_key[position + 1] ^= t1;
    ws_aes_key[position + 2] ^= t2;
    ws_aes_key[position + 3] ^= t3;
}

/* SubBytes and ShiftRows, sections 5.1.1 and 5.1.2. */
static void sub_shift(void)
{
    uint8_t t;

    ws_aes_block[0] = sub(ws_aes_block[0]);
    ws_aes_block[4] = sub(ws_aes_block[4]);
    ws_aes_block[8] = sub(ws_aes_block[8]);
    ws_aes_block[12] = sub(ws_aes_block[12]);

    t = sub(ws_aes_block[1]);
    ws_aes_block[1] = sub(ws_aes_block[5]);
    ws_aes_block[5] = sub(ws_aes_block[9]);
    ws_aes_block[9] = sub(ws_aes_block[13]);
    ws_aes_block[13] = t;

    t = sub(ws_aes_block[2]);
    ws_aes_block[2] = sub(ws_aes_block[10]);
    ws_aes_block[10] = t;
    t = sub(ws_aes_block[6]);
    ws_aes_block[6] = sub(ws_aes_block[14]);
    ws_aes_block[14] = t;

    t = sub(ws_aes_block[15]);
    ws_aes_block[15] = sub(ws_aes_block[11]);
    ws_aes_block[11] = sub(ws_aes_block[7]);
    ws_aes_block[7] = sub(ws_aes_block[3]);
    ws_aes_block[3] = t;
}

static void encrypt(uint8_t key_bytes)
{
    uint8_t left = (uint8_t)(key_bytes / 4u + 7u);
    /* Bytes of the key itself that no round has had yet. */
    uint8_t fresh = key_bytes;
    uint8_t position = 0;
    uint8_t rcon = 1;
    uint8_t i;

    for (;;) {
        for (i = 0; i < 16; i += 4) {
            if (fresh != 0) {
                fresh -= 4;
            } else {
                next_word(position, key_bytes, rcon);
                if (position == 0) {
                    rcon = xtime(rcon);
                }
            }
            ws_aes_block[i] ^= ws_aes_key[position];
            ws_aes_block[i + 1] ^= ws_aes_key[position + 1];
            ws_aes_block[i + 2] ^= ws_aes_key[position + 2];
            ws_aes_block[i + 3] ^= ws_aes_key[position + 3];
            position += 4;
            if (position == key_bytes) {
                position = 0;
            }
        }
        left--;
        if (left == 0) {
            return;
        }
        sub_shift();
        if (left != 1) {
            for (i = 0; i < 16; i += 4) {
                mix_column(ws_aes_block + i);
            }
        }
    }
}

void ws_aes128_encrypt_block(void)
{
    encrypt(16);
}

void ws_aes192_encrypt_block(void)
{
    encrypt(24);
}

void ws_aes256_encrypt_block(void)
{
    encrypt(32);
}
