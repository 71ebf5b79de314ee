#include "x25519.h"

#include "secret.h"
#include "x25519_field.h"

typedef ws_x25519_element element;

/* All that a multiple of a point is made of. */
typedef struct {
    uint8_t scalar[32];
    element x1;
    element x2;
    element z2;
    element x3;
    element z3;
    element a;
    element b;
} work;

static void set(element *r, uint8_t value)
{
    uint8_t *bytes = (uint8_t *)r->limbs;
    uint8_t i;

    for (i = 0; i < 32; i++) {
        bytes[i] = 0;
    }
    bytes[0] = value;
}

/* A step of section 5: (x2, z2) is doubled, and (x3, z3) becomes the sum of both. */
static void step(work *w)
{
    ws_x25519_add(&w->a, &w->x2, &w->z2);
    ws_x25519_subtract(&w->x2, &w->x2, &w->z2);
    ws_x25519_add(&w->b, &w->x3, &w->z3);
    ws_x25519_subtract(&w->x3, &w->x3, &w->z3);
    /* Now A, B, C, D are in a, x2, b, x3. */
    ws_x25519_multiply(&w->x3, &w->x3, &w->a);
    ws_x25519_multiply(&w->b, &w->b, &w->x2);
    ws_x25519_add(&w->z3, &w->x3, &w->b);
    ws_x25519_subtract(&w->b, &w->x3, &w->b);
    ws_x25519_square(&w->x3, &w->z3);
    ws_x25519_square(&w->b, &w->b);
    ws_x25519_multiply(&w->z3, &w->b, &w->x1);
    /* AA and BB; E is their difference. */
    ws_x25519_square(&w->a, &w->a);
    ws_x25519_square(&w->b, &w->x2);
    ws_x25519_multiply(&w->x2, &w->a, &w->b);
    ws_x25519_subtract(&w->b, &w->a, &w->b);
    ws_x25519_multiply_121665(&w->z2, &w->b);
    ws_x25519_add(&w->z2, &w->z2, &w->a);
    ws_x25519_multiply(&w->z2, &w->z2, &w->b);
}

/* r = a^(2^times). */
static void square(element *r, const element *a, uint8_t times)
{
    ws_x25519_square(r, a);
    while (--times != 0) {
        ws_x25519_square(r, r);
    }
}

/* z2 = 1 / z2, as its power p - 2 = 2^255 - 21; 0 of 0. Overwrites x1, x3, z3, a and b. */
static void invert(work *w)
{
    element *const z = &w->z2;

    /* a = z^11, b = z^(2^5 - 1). */
    square(&w->a, z, 1);
    square(&w->b, &w->a, 2);
    ws_x25519_multiply(&w->b, &w->b, z);
    ws_x25519_multiply(&w->a, &w->a, &w->b);
    square(&w->x1, &w->a, 1);
    ws_x25519_multiply(&w->b, &w->x1, &w->b);
    /* b, x1, x3 = z^(2^10 - 1), z^(2^20 - 1), z^(2^40 - 1). */
    square(&w->x1, &w->b, 5);
    ws_x25519_multiply(&w->b, &w->x1, &w->b);
    square(&w->x1, &w->b, 10);
    ws_x25519_multiply(&w->x1, &w->x1, &w->b);
    square(&w->x3, &w->x1, 20);
    ws_x25519_multiply(&w->x3, &w->x3, &w->x1);
    /* b = z^(2^50 - 1), x3 = z^(2^100 - 1), z3 = z^(2^200 - 1). */
    square(&w->x3, &w->x3, 10);
    ws_x25519_multiply(&w->b, &w->x3, &w->b);
    square(&w->x3, &w->b, 50);
    ws_x25519_multiply(&w->x3, &w->x3, &w->b);
    square(&w->z3, &w->x3, 100);
    ws_x25519_multiply(&w->z3, &w->z3, &w->x3);
    /* z^(2^250 - 1), and z^(2^255 - 32 + 11). */
    square(&w->z3, &w->z3, 50);
    ws_x25519_multiply(&w->z3, &w->z3, &w->b);
    square(&w->z3, &w->z3, 5);
    ws_x25519_multiply(z, &w->z3, &w->a);
}

int ws_x25519(const uint8_t scalar[32], const uint8_t point[32], uint8_t shared[32])
{
    work w;
    uint8_t *bytes;
    uint8_t i;
    uint8_t bit;
    uint8_t swap = 0;
    uint8_t any = 0;

    set(&w.x1, 0);
    bytes = (uint8_t *)w.x1.limbs;
    for (i = 0; i < 32; i++) {
        bytes[i] = point[i];
        w.scalar[i] = scalar[i];
    }
    bytes[31] &= 127;
    w.scalar[0] &= 248;
    w.scalar[31] = (uint8_t)((w.scalar[31] & 127) | 64);

    set(&w.x2, 1);
    set(&w.z2, 0);
    w.x3 = w.x1;
    set(&w.z3, 1);
    for (i = 32; i-- != 0;) {
        for (bit = 8; bit-- != 0;) {
            uint8_t next = (uint8_t)(w.scalar[i] >> bit) & 1;

            /* Bit 255 is 0, and a step before the first one of the scalar leaves the neutral point what it is. */
            ws_x25519_exchange(&w.x2, &w.x3, swap ^ next);
            ws_x25519_exchange(&w.z2, &w.z3, swap ^ next);
            swap = next;
            step(&w);
        }
    }
    ws_x25519_exchange(&w.x2, &w.x3, swap);
    ws_x25519_exchange(&w.z2, &w.z3, swap);
    invert(&w);
    ws_x25519_multiply(&w.x2, &w.x2, &w.z2);
    ws_x25519_freeze(&w.x2);
    bytes = (uint8_t *)w.x2.limbs;
    for (i = 0; i < 32; i++) {
        shared[i] = bytes[i];
        any |= bytes[i];
    }
    ws_wipe(&w, sizeof w);
    /* Products are made on the stack and not wiped there: this one of zeros takes the place of the last, of which comes
     * the shared secret. */
    ws_x25519_multiply(&w.x2, &w.x2, &w.x2);
    /* Only 0 - 1 borrows. */
    return -(int)ws_secret_bit((uint8_t)(((uint16_t)any - 1u) >> 8) & 1);
}

void ws_x25519_public_key(const uint8_t scalar[32], uint8_t public_key[32])
{
    static const uint8_t base[32] = {9};

    (void)ws_x25519(scalar, base, public_key);
}
