#include "aes_sliced.h"

#include "secret.h"

typedef struct {
    /* The block: bit 4 row + column of plane b is bit b of the byte in that row and column. */
    uint16_t state[8];
    uint16_t spare[8];
    uint8_t key[16];
    uint8_t counter[16];
    uint8_t bytes[16];
} workspace;

/* Bytes, in the standard's order, column by column, to planes. */
static void slice(uint16_t *planes, const uint8_t *bytes)
{
    uint8_t i;
    uint8_t b;

    for (i = 16; i-- != 0;) {
        uint8_t byte = bytes[4 * (i & 3) + (i >> 2)];

        for (b = 0; b < 8; b++) {
            planes[b] = (uint16_t)(planes[b] << 1 | ws_secret_bit(byte & 1));
            byte >>= 1;
        }
    }
}

static void join(uint8_t *bytes, uint16_t *planes)
{
    uint8_t i;
    uint8_t b;

    for (i = 0; i < 16; i++) {
        uint8_t byte = 0;

        for (b = 8; b-- != 0;) {
            byte = (uint8_t)(byte << 1 | ws_secret_bit((uint8_t)planes[b] & 1));
            planes[b] >>= 1;
        }
        bytes[4 * (i & 3) + (i >> 2)] = byte;
    }
}

/* SubBytes; names as in the paper, figures 5 to 7, whose U0 and S0 are the highest bits. */
static void substitute(uint16_t *s)
{
    const uint16_t u0 = s[7], u1 = s[6], u2 = s[5], u3 = s[4], u4 = s[3], u5 = s[2], u6 = s[1], u7 = s[0];
    const uint16_t y14 = u3 ^ u5, y13 = u0 ^ u6, y9 = u0 ^ u3, y8 = u0 ^ u5, t0 = u1 ^ u2;
    const uint16_t y1 = t0 ^ u7, y4 = y1 ^ u3, y12 = y13 ^ y14, y2 = y1 ^ u0, y5 = y1 ^ u6, y3 = y5 ^ y8;
    const uint16_t t1 = u4 ^ y12, y15 = t1 ^ u5, y20 = t1 ^ u1, y6 = y15 ^ u7, y10 = y15 ^ t0, y11 = y20 ^ y9;
    const uint16_t y7 = u7 ^ y11, y17 = y10 ^ y11, y19 = y10 ^ y8, y16 = t0 ^ y11, y21 = y13 ^ y16, y18 = u0 ^ y16;

    const uint16_t t2 = y12 & y15, t4 = (y3 & y6) ^ t2, t6 = (y4 & u7) ^ t2;
    const uint16_t t7 = y13 & y16, t9 = (y5 & y1) ^ t7, t11 = (y2 & y7) ^ t7;
    const uint16_t t12 = y9 & y11, t14 = (y14 & y17) ^ t12, t16 = (y8 & y10) ^ t12;
    const uint16_t t21 = t4 ^ t14 ^ y20, t22 = t6 ^ t16 ^ y19, t23 = t9 ^ t14 ^ y21, t24 = t11 ^ t16 ^ y18;

    const uint16_t t25 = t21 ^ t22, t26 = t21 & t23, t27 = t24 ^ t26, t29 = (t25 & t27) ^ t22;
    const uint16_t t33 = ((t22 ^ t26) & (t23 ^ t24)) ^ t24;
    const uint16_t t36 = t24 & (t27 ^ t33), t37 = t36 ^ t23 ^ t33, t40 = t25 ^ (t29 & (t27 ^ t36));
    const uint16_t t41 = t40 ^ t37, t42 = t29 ^ t33, t43 = t29 ^ t40, t44 = t33 ^ t37, t45 = t42 ^ t41;

    const uint16_t z0 = t44 & y15, z1 = t37 & y6, z2 = t33 & u7, z3 = t43 & y16, z4 = t40 & y1, z5 = t29 & y7;
    const uint16_t z6 = t42 & y11, z7 = t45 & y17, z8 = t41 & y10, z9 = t44 & y12, z10 = t37 & y3, z11 = t33 & y4;
    const uint16_t z12 = t43 & y13, z13 = t40 & y5, z14 = t29 & y2, z15 = t42 & y9, z16 = t45 & y14, z17 = t41 & y8;

    const uint16_t t46 = z15 ^ z16, t48 = z5 ^ z13, t53 = z0 ^ z3, t54 = z6 ^ z7, t57 = z2 ^ z12 ^ t53;
    const uint16_t t58 = z4 ^ t46, t59 = z3 ^ t54, t60 = t46 ^ t57, t62 = z7 ^ z8 ^ t58, t63 = z9 ^ z10 ^ t58;
    const uint16_t t64 = z4 ^ t59, t65 = z14 ^ t57 ^ t62, t66 = z1 ^ t63, s3 = t53 ^ t66;

    s[7] = t59 ^ t63;
    s[6] = (uint16_t)~(t64 ^ s3);
    s[5] = (uint16_t)~(z16 ^ z17 ^ t64 ^ t65);
    s[4] = s3;
    s[3] = z2 ^ z5 ^ t66;
    s[2] = z10 ^ z11 ^ t65;
    s[1] = (uint16_t)~(z12 ^ t48 ^ t62);
    s[0] = (uint16_t)~(t48 ^ t60);
}

/* ShiftRows: row r, four bits of each plane, turns by r columns. */
static void shift_rows(uint16_t *s)
{
    uint8_t b;

    for (b = 0; b < 8; b++) {
        const uint16_t p = s[b];

        s[b] = (uint16_t)((p & 0x000f) | (p >> 1 & 0x0070) | (p & 0x0010) << 3 | (p >> 2 & 0x0300) | (p & 0x0300) << 2 |
                          (p >> 3 & 0x1000) | (p & 0x7000) << 1);
    }
}

/* The rows n further down, in the place of each. */
static uint16_t below(uint16_t plane, uint8_t n)
{
    return n == 1 ? (uint16_t)(plane >> 4 | plane << 12) : (uint16_t)(plane >> 8 | plane << 8);
}

/* MixColumns: with a of a row and c of the row below it, 2 (a + c) + c + both of the two rows further down. */
static void mix_columns(uint16_t *s, uint16_t *sums)
{
    uint16_t carry;
    uint8_t b;

    for (b = 0; b < 8; b++) {
        sums[b] = s[b] ^ below(s[b], 1);
    }
    carry = sums[7];
    for (b = 0; b < 8; b++) {
        s[b] = (uint16_t)(below(s[b], 1) ^ below(sums[b], 2));
    }
    for (b = 7; b != 0; b--) {
        s[b] ^= sums[(uint8_t)(b - 1)];
    }
    /* Twice a polynomial, modulo x^8 + x^4 + x^3 + x + 1. */
    s[0] ^= carry;
    s[1] ^= carry;
    s[3] ^= carry;
    s[4] ^= carry;
}

/* The next round key from the present one, FIPS 197 section 5.2. */
static void next_key(workspace *work, uint8_t round_constant)
{
    uint8_t i;

    for (i = 0; i < 16; i++) {
        work->bytes[i] = work->key[12 | (i & 3)];
    }
    slice(work->spare, work->bytes);
    substitute(work->spare);
    join(work->bytes, work->spare);
    for (i = 0; i < 4; i++) {
        work->key[i] ^= work->bytes[(i + 1) & 3];
    }
    work->key[0] ^= round_constant;
    for (i = 4; i < 16; i++) {
        work->key[i] ^= work->key[(uint8_t)(i - 4)];
    }
}

static void add_key(workspace *work)
{
    uint8_t b;

    slice(work->spare, work->key);
    for (b = 0; b < 8; b++) {
        work->state[b] ^= work->spare[b];
    }
}

/* work->bytes = the counter block, encrypted. */
static void encrypt(workspace *work, const uint8_t *key)
{
    uint8_t round_constant = 1;
    uint8_t i;

    for (i = 0; i < 16; i++) {
        work->key[i] = key[i];
    }
    slice(work->state, work->counter);
    add_key(work);
    for (i = 10; i != 0; i--) {
        next_key(work, round_constant);
        round_constant = round_constant == 0x80 ? 0x1b : (uint8_t)(round_constant << 1);
        substitute(work->state);
        shift_rows(work->state);
        if (i != 1) {
            mix_columns(work->state, work->spare);
        }
        add_key(work);
    }
    join(work->bytes, work->state);
}

void ws_aes128_ctr_sliced(const uint8_t key[16], const uint8_t iv[16], const uint8_t *in, uint8_t *out, size_t len)
{
    workspace work;
    uint8_t i;

    for (i = 0; i < 16; i++) {
        work.counter[i] = iv[i];
    }
    while (len != 0) {
        const uint8_t n = len < 16 ? (uint8_t)len : 16;

        encrypt(&work, key);
        for (i = 0; i < n; i++) {
            *out++ = *in++ ^ work.bytes[i];
        }
        len -= n;
        for (i = 16; i-- != 0;) {
            if (++work.counter[i] != 0) {
                break;
            }
        }
    }
    ws_wipe(&work, sizeof work);
}
