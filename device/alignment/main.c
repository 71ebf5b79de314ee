/* Calls the primitives with every buffer at every address modulo 4, and compares what they give with what they give for
 * aligned buffers. The host reads the counts; that aligned buffers give the right thing is tested elsewhere. */
#include "aes.h"
#include "aes_ccm.h"
#include "aes_cmac.h"
#include "aes_ctr.h"
#include "ascon_aead128.h"
#include "chacha20_poly1305.h"
#include "gcm.h"
#include "ghash.h"
#include "hmac.h"
#include "keccak_permutation.h"
#include "secret.h"
#include "sha1.h"
#include "sha256.h"

#define AREAS 3
#define AREA_BYTES 76
#define GUARD 0xa5
#define RESULT_BYTES 64

static union {
    uint8_t bytes[AREA_BYTES];
    uint32_t align;
} areas[AREAS];

static union {
    uint8_t bytes[WS_AES256_ROUND_KEYS];
    uint32_t align;
} round_keys;

/* What is inside, and where; all around is guard. */
static uint8_t offsets[AREAS];
static uint8_t lengths[AREAS];

static uint8_t result[RESULT_BYTES];
static uint8_t expected[RESULT_BYTES];

/* Returns len bytes in an area, at its offset of the moment, filled with what depends on the area alone. */
static uint8_t *place(uint8_t area, uint8_t len)
{
    uint8_t *p = areas[area].bytes + offsets[area];
    uint8_t i;

    for (i = 0; i < AREA_BYTES; i++) {
        areas[area].bytes[i] = GUARD;
    }
    for (i = 0; i < len; i++) {
        p[i] = (uint8_t)(37 * i + 101 * area + 11);
    }
    lengths[area] = len;
    return p;
}

/* Adds len bytes to the result. Returns how many it has then. */
static uint8_t keep(uint8_t have, const void *from, uint8_t len)
{
    const uint8_t *bytes = from;

    while (len != 0) {
        len--;
        result[have++] = *bytes++;
    }
    return have;
}

static void aes_expand(void)
{
    ws_aes_expand(round_keys.bytes, place(0, 16), 4);
    keep(keep(0, round_keys.bytes + 16, 16), round_keys.bytes + 160, 16);
    ws_aes_expand(round_keys.bytes, place(0, 24), 6);
    keep(32, round_keys.bytes + 192, 16);
    ws_aes_expand(round_keys.bytes, place(0, 32), 8);
    keep(48, round_keys.bytes + 224, 16);
}

static void aes_encrypt(void)
{
    const uint8_t *in = place(0, 16);
    uint8_t *out = place(1, 16);

    ws_aes_encrypt(round_keys.bytes, 14, in, out);
    keep(0, out, 16);
    ws_aes_encrypt(round_keys.bytes, 10, in, out);
    keep(16, out, 16);
}

static void aes_decrypt(void)
{
    const uint8_t *in = place(0, 16);
    uint8_t *out = place(1, 16);

    ws_aes_decrypt(round_keys.bytes, 14, in, out);
    keep(0, out, 16);
    /* Any round keys serve. */
    ws_aes_decrypt_prepared(round_keys.bytes, 14, in, out);
    keep(16, out, 16);
    ws_aes_decrypt_prepared(round_keys.bytes, 10, in, out);
    keep(32, out, 16);
}

static void aes_in_place(void)
{
    uint8_t *block = place(0, 16);

    ws_aes_encrypt(round_keys.bytes, 10, block, block);
    keep(0, block, 16);
    ws_aes_decrypt(round_keys.bytes, 12, block, block);
    keep(16, block, 16);
    ws_aes_decrypt_prepared(round_keys.bytes, 12, block, block);
    keep(32, block, 16);
}

static void aes_ctr(void)
{
    const uint8_t *in = place(0, 37);
    uint8_t *out = place(1, 37);
    uint8_t *counter = place(2, 16);

    counter[15] = 0xff;
    counter[14] = 0xff;
    ws_aes_ctr(round_keys.bytes, 10, counter, in, out, 37);
    keep(keep(0, out, 37), counter, 16);
}

static void ghash(void)
{
    uint8_t *y = place(0, 16);
    const uint8_t *h = place(1, 16);

    ws_ghash_blocks(y, h, place(2, 32), 2);
    keep(0, y, 16);
}

static void gcm(void)
{
    const uint8_t *in = place(0, 21);
    uint8_t *out = place(1, 21);
    uint8_t *rest = place(2, 16 + 12 + 5 + 16);

    ws_aes_gcm_seal(rest, 4, rest + 16, rest + 28, 5, in, 21, out, rest + 33);
    keep(keep(0, out, 21), rest + 33, 16);
    areas[0].bytes[offsets[0]] ^= (uint8_t)ws_aes_gcm_open(rest, 4, rest + 16, rest + 28, 5, out, 21, rest + 33, out);
    keep(37, out, 21);
}

static void sha1_blocks(void)
{
    uint32_t state[5] = { 1, 2, 3, 4, 5 };

    ws_sha1_blocks(state, place(0, 64), 1);
    keep(0, state, sizeof state);
}

static void sha256_blocks(void)
{
    uint32_t state[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

    ws_sha256_blocks(state, place(0, 64), 1);
    keep(0, state, sizeof state);
}

static void hmac(void)
{
    const uint8_t *key = place(0, 23);
    const uint8_t *in = place(1, 71);
    uint8_t *mac = place(2, 32);

    ws_hmac_sha256(key, 23, in, 71, mac);
    keep(0, mac, 32);
}

static void secrets(void)
{
    uint8_t *a = place(0, 45);
    uint8_t *b = place(1, 45);
    uint8_t *c = place(2, 45);
    uint8_t i;
    uint8_t equal[3];

    for (i = 0; i < 45; i++) {
        b[i] = a[i];
        c[i] = a[i];
    }
    c[44] ^= 0x80;
    equal[0] = (uint8_t)ws_equal(a, b, 45);
    equal[1] = (uint8_t)ws_equal(a, c, 45);
    equal[2] = (uint8_t)ws_equal(a, c, 44);
    ws_wipe(a, 45);
    ws_wipe(b, 44);
    keep(keep(keep(0, equal, 3), a, 45), b + 38, 7);
}

static void keccak_bytes(void)
{
    uint32_t state[50];
    const uint8_t *in = place(0, 45);
    uint8_t *out = place(1, 45);
    uint8_t i;

    for (i = 0; i < 50; i++) {
        state[i] = 0;
    }
    /* From the beginning of a lane on, and from within one to within another. */
    ws_keccak_xor(state, 72, in, 45);
    ws_keccak_xor(state, 3, in, 19);
    ws_keccak_extract(state, 72, out, 45);
    keep(0, out, 45);
    ws_keccak_extract(state, 3, out, 19);
    keep(45, out, 19);
}

static void chacha20_poly1305(void)
{
    const uint8_t *in = place(0, 37);
    uint8_t *out = place(1, 37);
    uint8_t *rest = place(2, 32 + 12 + 5 + 16);

    ws_chacha20_poly1305_seal(rest, rest + 32, rest + 44, 5, in, 37, out, rest + 49);
    keep(keep(0, out, 37), rest + 49, 16);
}

static void ascon_aead128(void)
{
    const uint8_t *in = place(0, 37);
    uint8_t *out = place(1, 37);
    uint8_t *rest = place(2, 16 + 16 + 9 + 16);

    ws_ascon_aead128_seal(rest, rest + 16, rest + 32, 9, in, 37, out, rest + 41);
    keep(keep(0, out, 21), rest + 41, 16);
    areas[0].bytes[offsets[0]] ^=
        (uint8_t)ws_ascon_aead128_open(rest, rest + 16, rest + 32, 9, out, 37, rest + 41, out);
    keep(37, out + 10, 27);
}

static void aes_ccm(void)
{
    const uint8_t *in = place(0, 37);
    uint8_t *out = place(1, 37);
    uint8_t *rest = place(2, 16 + 13 + 9 + 16);

    ws_aes_ccm_seal(rest, 4, rest + 16, 13, rest + 29, 9, in, 37, out, rest + 38, 16);
    keep(keep(0, out, 21), rest + 38, 16);
    areas[0].bytes[offsets[0]] ^=
        (uint8_t)ws_aes_ccm_open(rest, 4, rest + 16, 13, rest + 29, 9, out, 37, rest + 38, 16, out);
    keep(37, out + 10, 27);
}

static void aes_cmac(void)
{
    const uint8_t *key = place(0, 16);
    const uint8_t *in = place(1, 45);
    uint8_t *mac = place(2, 16);

    ws_aes_cmac(key, 4, in, 45, mac);
    keep(0, mac, 16);
}

/* In the order in which the host names them. */
static void (*const checks[])(void) = {
    aes_expand, aes_encrypt, aes_decrypt,   aes_in_place, aes_ctr,      ghash,
    gcm,        sha1_blocks, sha256_blocks, hmac,         keccak_bytes, secrets,
    chacha20_poly1305, ascon_aead128, aes_ccm, aes_cmac,
};

#define CHECKS (sizeof checks / sizeof checks[0])

/* For each check: how many placings were tried, and how many of them gave another result or touched the guards. */
uint8_t ws_alignment_tried[CHECKS];
uint8_t ws_alignment_failed[CHECKS];

static uint8_t guards_touched(void)
{
    uint8_t touched = 0;
    uint8_t area;
    uint8_t i;

    for (area = 0; area < AREAS; area++) {
        for (i = 0; i < AREA_BYTES; i++) {
            if (i < offsets[area] || i >= offsets[area] + lengths[area]) {
                touched |= areas[area].bytes[i] ^ GUARD;
            }
        }
    }
    return touched != 0;
}

void ws_alignment_done(void);

__attribute__((noinline)) void ws_alignment_done(void)
{
    __asm__ volatile("");
}

int main(void)
{
    uint8_t check;

    for (check = 0; check < CHECKS; check++) {
        uint8_t placing;

        for (placing = 0; placing < 64; placing++) {
            uint8_t different = 0;
            uint8_t i;

            offsets[0] = placing & 3;
            offsets[1] = (placing >> 2) & 3;
            offsets[2] = placing >> 4;
            for (i = 0; i < AREAS; i++) {
                place(i, 0);
            }
            for (i = 0; i < RESULT_BYTES; i++) {
                result[i] = 0;
            }
            checks[check]();
            for (i = 0; i < RESULT_BYTES; i++) {
                if (placing == 0) {
                    expected[i] = result[i];
                }
                different |= result[i] ^ expected[i];
            }
            ws_alignment_tried[check]++;
            ws_alignment_failed[check] += (different | guards_touched()) != 0;
        }
    }
    for (;;) {
        ws_alignment_done();
    }
}
