#include "ed25519.h"

#include "compiler.h"
#include "decision.h"
#include "ed25519_points.h"
#include "ed25519_scalars.h"
#include "number.h"
#include "secret.h"
#include "table.h"
#include "x25519_powers.h"

#define LIMBS WS_LIMBS(32)
/* Bits of a number below L. */
#define BITS 253
/* Of the public key's point A, the odd multiples below 2^WINDOW are kept. */
#define WINDOW 3

typedef ws_x25519_element element;

/* d = -121665 / 121666 and a square root of -1, 2^((p - 1) / 4): RFC 8032 sections 5.1 and 5.1.3. */
#define D 0
#define ROOT 1
WS_CONSTANT("ws_ed25519_constants")
static const ws_word constants[2 * WS_WORDS(32)] = {
    WS_TABLE_WORD(0x135978a3), WS_TABLE_WORD(0x75eb4dca), WS_TABLE_WORD(0x4141d8ab), WS_TABLE_WORD(0x00700a4d),
    WS_TABLE_WORD(0x7779e898), WS_TABLE_WORD(0x8cc74079), WS_TABLE_WORD(0x2b6ffe73), WS_TABLE_WORD(0x52036cee),

    WS_TABLE_WORD(0x4a0ea0b0), WS_TABLE_WORD(0xc4ee1b27), WS_TABLE_WORD(0xad2fe478), WS_TABLE_WORD(0x2f431806),
    WS_TABLE_WORD(0x3dfbd7a7), WS_TABLE_WORD(0x2b4d0099), WS_TABLE_WORD(0x4fc1df0b), WS_TABLE_WORD(0x2b832480),
};

/* A sum, and the odd multiples of A as ws_ed25519_add takes them, A, 3 A, 5 A, 7 A. */
typedef struct {
    ws_ed25519_sum sum;
    element table[1 << (WINDOW - 1)][4];
} multiples;

static void load_constant(element *r, uint8_t which)
{
    ws_select_constant((ws_word *)r, constants, WS_WORDS(32), 2, which);
}

/* Whether a and b are the same; both are frozen. */
static int equal(element *a, element *b)
{
    ws_x25519_freeze(a);
    ws_x25519_freeze(b);
    return ws_equal(a, b, 32);
}

/* sum->r = the point of these bytes; returns 0, or -1 where they are of none. Section 5.1.3. */
static int decode(ws_ed25519_sum *sum, const uint8_t bytes[32])
{
    ws_ed25519_point *const r = &sum->r;
    element *const u = &r->x;
    element *const v = &sum->a;
    element *const b = &sum->b;
    const uint8_t sign = bytes[31] >> 7;
    uint8_t *const y = (uint8_t *)r->y.limbs;
    uint8_t i;

    for (i = 0; i < 32; i++) {
        y[i] = bytes[i];
    }
    y[31] &= 127;
    *b = r->y;
    ws_x25519_freeze(&r->y);
    if (!ws_equal(&r->y, b, 32)) {
        return -1;
    }
    /* u = y^2 - 1, v = d y^2 + 1. */
    ws_ed25519_set(&r->z, 1);
    ws_x25519_square(v, &r->y);
    ws_x25519_subtract(u, v, &r->z);
    load_constant(b, D);
    ws_x25519_multiply(v, v, b);
    ws_x25519_add(v, v, &r->z);
    /* t = u v^3 (u v^7)^((p - 5) / 8). */
    ws_x25519_square(&r->t, v);
    ws_x25519_multiply(&r->t, &r->t, v);
    ws_x25519_square(b, &r->t);
    ws_x25519_multiply(b, b, v);
    ws_x25519_multiply(b, b, u);
    ws_x25519_root_power(b, &sum->next[0], &sum->next[1], &sum->next[2], &r->z);
    ws_x25519_multiply(&r->t, &r->t, b);
    ws_x25519_multiply(&r->t, &r->t, u);
    /* v t^2 is u, or -u, where t lacks a factor; or there is no root. */
    ws_x25519_square(b, &r->t);
    ws_x25519_multiply(b, b, v);
    if (!equal(b, u)) {
        ws_x25519_add(b, b, u);
        ws_ed25519_set(v, 0);
        if (!equal(b, v)) {
            return -1;
        }
        load_constant(b, ROOT);
        ws_x25519_multiply(&r->t, &r->t, b);
    }
    ws_ed25519_set(&r->x, 0);
    if (equal(&r->t, &r->x)) {
        if (sign) {
            return -1;
        }
    } else if ((r->t.limbs[0] & 1) == sign) {
        r->x = r->t;
    } else {
        ws_x25519_subtract(&r->x, &r->x, &r->t);
    }
    ws_ed25519_set(&r->z, 1);
    ws_x25519_multiply(&r->t, &r->x, &r->y);
    return 0;
}

/* q = sum->r as it is added. sum->a is destroyed. */
static void keep(element q[4], ws_ed25519_sum *sum)
{
    const ws_ed25519_point *const r = &sum->r;

    load_constant(&sum->a, D);
    ws_x25519_multiply(&sum->a, &sum->a, &r->t);
    ws_x25519_add(&q[WS_ED25519_PRODUCT], &sum->a, &sum->a);
    ws_x25519_subtract(&q[WS_ED25519_DIFFERENCE], &r->y, &r->x);
    ws_x25519_add(&q[WS_ED25519_SUM], &r->y, &r->x);
    ws_x25519_add(&q[WS_ED25519_TWICE], &r->z, &r->z);
}

/* The table of A; returns 0, or -1 where public_key is no point. */
static int prepare(multiples *work, const uint8_t public_key[32])
{
    ws_ed25519_sum *const sum = &work->sum;
    uint8_t i;

    if (decode(sum, public_key) != 0) {
        return -1;
    }
    /* 2 A stands where 7 A comes last. */
    keep(work->table[0], sum);
    ws_ed25519_double(sum, 1);
    keep(work->table[3], sum);
    ws_ed25519_add(sum, work->table[0], &work->table[0][WS_ED25519_TWICE], 0);
    for (i = 1; i < 3; i++) {
        keep(work->table[i], sum);
        ws_ed25519_add(sum, work->table[3], &work->table[3][WS_ED25519_TWICE], 0);
    }
    keep(work->table[3], sum);
    return 0;
}

/* Bits i to i - WINDOW - 1 of a number below 2^255; it has none below 0. */
static uint8_t bits_from(const ws_limb *a, int16_t i)
{
    uint8_t value = 0;
    uint8_t j;

    for (j = 0; j < WINDOW + 2; j++) {
        value = (uint8_t)(value << 1);
        if (i >= 0) {
            value |= (uint8_t)(a[(uint16_t)i / WS_LIMB_BITS] >> ((uint16_t)i % WS_LIMB_BITS)) & 1;
        }
        i--;
    }
    return value;
}

/* work->sum.r = s B - k A, for a prepared table of A, s odd and k below L.
 *
 * The doublings serve both. k is taken in windows of WINDOW + 1 digits of its mutual opposite form 2 k - k, whose digits are
 * k_(i-1) - k_i (K. Okeya et al., "Signed binary representations revisited", CRYPTO 2004), and s by the comb when its columns
 * are reached. */
static void multiply_two(multiples *work, const ws_limb *s, const ws_limb *k)
{
    int16_t i;
    /* Where the next window may begin; where the digit of the present one is due. */
    int16_t next = BITS;
    int16_t due = -1;
    int8_t digit = 0;

    ws_ed25519_begin(&work->sum);
    for (i = BITS; i >= 0; i--) {
        if (i <= next) {
            const uint8_t bits = bits_from(k, i);

            /* The first digit of the form here, k_(i-1) - k_i. */
            if (((bits >> (WINDOW + 1)) ^ (bits >> WINDOW)) & 1) {
                digit = (int8_t)((int8_t)(bits & ((2 << WINDOW) - 1)) - (int8_t)(bits >> 1));
                due = (int16_t)(i - WINDOW);
                next = (int16_t)(i - (WINDOW + 1));
                while ((digit & 1) == 0) {
                    digit /= 2;
                    due++;
                }
            }
        }
        ws_ed25519_double(&work->sum, i == due || i < WS_ED25519_COMB_DOUBLINGS);
        if (i == due) {
            const element *const q = work->table[(uint8_t)(digit < 0 ? -digit : digit) / 2];

            ws_ed25519_add(&work->sum, q, &q[WS_ED25519_TWICE], digit > 0);
        }
        if (i < WS_ED25519_COMB_DOUBLINGS) {
            ws_ed25519_add_column(&work->sum, s, (uint8_t)i, 1);
        }
    }
}

/* Returns 1 where the signature begins with these 32 bytes, and S behind them is below L.
 * s: destroyed. */
WS_INLINE uint8_t is_good(const uint8_t *bytes, ws_limb *s, const uint8_t signature[64])
{
    uint8_t difference = 0;
    uint8_t i;

    for (i = 32; i-- != 0;) {
        difference |= (uint8_t)(bytes[i] ^ signature[i]);
        ((uint8_t *)s)[i] = signature[32 + i];
    }
    return difference == 0 && ws_number_below(s, ws_ed25519_order.modulus, LIMBS);
}

/* Compares R, which the signature begins with, with s B - k A. A frame of its own, so that its stack
 * and those of the hashes do not add up. s is destroyed. */
static WS_NOINLINE int check(const uint8_t public_key[32], ws_limb *s, const ws_limb *k, const uint8_t signature[64])
{
    multiples work;
    ws_decision decision;
    uint8_t bytes[32];

    ws_decision_begin(&decision);
    if (prepare(&work, public_key) != 0) {
        return ws_decision_result(&decision);
    }
    ws_ed25519_make_odd(s, &work.sum.a);
    multiply_two(&work, s, k);
    ws_ed25519_encode(&work.sum, bytes);
    /* Twice, in two ways: against faults. */
    if (ws_equal(bytes, signature, 32)) {
        decision.first = WS_DECISION_FIRST;
    }
    if (WS_DECISION_AGAIN(is_good(bytes, s, signature))) {
        decision.second = WS_DECISION_SECOND;
    }
    return ws_decision_result(&decision);
}

int ws_ed25519_verify(const uint8_t public_key[32], const uint8_t *message, size_t len, const uint8_t signature[64])
{
    ws_ed25519_wide k;
    WS_ALIGNED ws_limb s[LIMBS];
    uint8_t *const bytes = (uint8_t *)s;
    uint8_t i;

    for (i = 0; i < 32; i++) {
        bytes[i] = signature[32 + i];
    }
    if (!ws_number_below(s, ws_ed25519_order.modulus, LIMBS)) {
        return -1;
    }
    ws_ed25519_hash(&k, signature, public_key, message, len);
    return check(public_key, s, k.limbs, signature);
}
