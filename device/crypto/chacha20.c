#include "chacha20.h"

#include "chacha20_rounds.h"
#include "little_endian.h"
#include "secret.h"

void ws_chacha20(const uint8_t key[32], const uint8_t nonce[12], uint32_t counter, const uint8_t *in, uint8_t *out,
                 size_t len)
{
    /* "expand 32-byte k". */
    static const uint32_t constants[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    struct {
        uint32_t begun[16];
        uint32_t state[16];
    } work;
    uint8_t i;
    uint8_t n;

    for (i = 0; i < 4; i++) {
        work.begun[i] = constants[i];
    }
    for (i = 0; i < 8; i++) {
        work.begun[4 + i] = ws_load32_le(key + 4 * i);
    }
    work.begun[12] = counter;
    for (i = 0; i < 3; i++) {
        work.begun[13 + i] = ws_load32_le(nonce + 4 * i);
    }
    while (len != 0) {
        for (i = 0; i < 16; i++) {
            work.state[i] = work.begun[i];
        }
        ws_chacha20_rounds(work.state);
        n = len < 64 ? (uint8_t)len : 64;
        len -= n;
        for (i = 0; n >= 4; i++) {
            ws_store32_le(out, ws_load32_le(in) ^ (work.state[i] + work.begun[i]));
            in += 4;
            out += 4;
            n -= 4;
        }
        if (n != 0) {
            uint32_t word = work.state[i] + work.begun[i];

            for (; n != 0; n--) {
                *out++ = (uint8_t)(*in++ ^ (uint8_t)word);
                word >>= 8;
            }
        }
        work.begun[12]++;
    }
    ws_wipe(&work, sizeof work);
}
