#include "ascon_aead128.h"

#include "ascon_permutation.h"
#include "compiler.h"
#include "little_endian.h"
#include "secret.h"
#include "stack_wipe.h"

/* Bytes of a block, which is S0 and S1; and the rounds between blocks, and at both ends. */
#define RATE 16
#define ROUNDS_BETWEEN 8
#define ROUNDS_ENDS 12

/* Of the functions here and of a permutation in C, which keeps words of the state there. */
#define STEPS_STACK WS_STACK_OF(48, 144, 208, 96)

/* Where S2 and S3 lie in the state, of 32-bit words. */
#define S2 4
#define S3 6

/* Steps 1 and 2 of section 4.1.1, figure 1: initialisation and associated data. */
static void begin(uint32_t state[10], const uint8_t *key, const uint8_t *nonce, const uint8_t *aad, size_t aad_len)
{
    uint8_t i;

    /* Table 14: 0x00001000808c0001. */
    state[0] = 0x808c0001;
    state[1] = 0x00001000;
    for (i = 2; i < 10; i++) {
        state[i] = 0;
    }
    ws_ascon_xor(state + 2, key, 16);
    ws_ascon_xor(state + S3, nonce, 16);
    ws_ascon_permute(state, ROUNDS_ENDS);
    ws_ascon_xor(state + S3, key, 16);

    if (aad_len != 0) {
        for (; aad_len >= RATE; aad_len -= RATE) {
            ws_ascon_xor(state, aad, RATE);
            ws_ascon_permute(state, ROUNDS_BETWEEN);
            aad += RATE;
        }
        ws_ascon_xor(state, aad, (uint8_t)aad_len);
        ws_ascon_pad(state, (uint8_t)aad_len);
        ws_ascon_permute(state, ROUNDS_BETWEEN);
    }
    /* Domain separation: the last bit of the state. */
    state[9] ^= 0x80000000;
}

/* Puts len bytes of ciphertext in the place of as many of a block, and where out is not 0 their plaintext there; in may be out. */
static void exchange(uint32_t *state, const uint8_t *in, uint8_t *out, uint8_t len)
{
    uint32_t plain;
    uint8_t i;
    uint8_t n;

    for (; len != 0; len -= n) {
        n = len < 4 ? len : 4;
        plain = *state;
        if (n == 4) {
            plain ^= ws_load32_le(in);
        } else {
            for (i = 0; i < n; i++) {
                plain ^= (uint32_t)in[i] << (uint8_t)(8 * i);
            }
            plain &= ((uint32_t)1 << (uint8_t)(8 * n)) - 1;
        }
        *state++ ^= plain;
        in += n;
        if (out) {
            ws_ascon_extract(&plain, out, n);
            out += n;
        }
    }
}

/* Goes through the ciphertext, and writes its plaintext where out is not 0. */
static void decrypt(uint32_t state[10], const uint8_t *in, size_t len, uint8_t *out)
{
    for (; len >= RATE; len -= RATE) {
        exchange(state, in, out, RATE);
        if (out) {
            out += RATE;
            /* Nobody needs the state after the last byte of plaintext. */
            if (len == RATE) {
                return;
            }
        }
        ws_ascon_permute(state, ROUNDS_BETWEEN);
        in += RATE;
    }
    exchange(state, in, out, (uint8_t)len);
    ws_ascon_pad(state, (uint8_t)len);
}

/* Step 4, finalisation: leaves the tag in S3 and S4. */
static void finish(uint32_t state[10], const uint8_t *key)
{
    ws_ascon_xor(state + S2, key, 16);
    ws_ascon_permute(state, ROUNDS_ENDS);
    ws_ascon_xor(state + S3, key, 16);
}

void ws_ascon_aead128_seal(const uint8_t key[16], const uint8_t nonce[16], const uint8_t *aad, size_t aad_len,
                           const uint8_t *in, size_t len, uint8_t *out, uint8_t tag[16])
{
    uint32_t state[10];

    begin(state, key, nonce, aad, aad_len);
    for (; len >= RATE; len -= RATE) {
        ws_ascon_xor(state, in, RATE);
        ws_ascon_extract(state, out, RATE);
        ws_ascon_permute(state, ROUNDS_BETWEEN);
        in += RATE;
        out += RATE;
    }
    ws_ascon_xor(state, in, (uint8_t)len);
    ws_ascon_extract(state, out, (uint8_t)len);
    ws_ascon_pad(state, (uint8_t)len);
    finish(state, key);
    ws_ascon_extract(state + S3, tag, 16);
    ws_wipe(state, sizeof state);
#if WS_SPILLS
    ws_stack_wipe(STEPS_STACK);
#endif
}

int ws_ascon_aead128_open(const uint8_t key[16], const uint8_t nonce[16], const uint8_t *aad, size_t aad_len,
                          const uint8_t *in, size_t len, const uint8_t tag[16], uint8_t *out)
{
    struct {
        uint32_t state[10];
        uint32_t begun[10];
        uint8_t tag[16];
    } work;
    int refused = -1;
    uint8_t i;

    begin(work.state, key, nonce, aad, aad_len);
    for (i = 0; i < 10; i++) {
        work.begun[i] = work.state[i];
    }
    decrypt(work.state, in, len, 0);
    finish(work.state, key);
    ws_ascon_extract(work.state + S3, work.tag, 16);
    if (ws_equal(work.tag, tag, 16)) {
        refused = 0;
        decrypt(work.begun, in, len, out);
    }
    ws_wipe(&work, sizeof work);
#if WS_SPILLS
    ws_stack_wipe(STEPS_STACK);
#endif
    return refused;
}
