#include "x25519.h"

#include "secret.h"
#include "x25519_field.h"
#include "x25519_powers.h"

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
    ws_x25519_invert(&w.z2, &w.x3, &w.z3, &w.a, &w.b);
    ws_x25519_multiply(&w.x2, &w.x2, &w.z2);
    ws_x25519_freeze(&w.x2);
    bytes = (uint8_t *)w.x2.limbs;
    for (i = 0; i < 32; i++) {
        shared[i] = bytes[i];
        any |= bytes[i];
#if WS_SPILLS
        /* So that none waits in the frame for the others to be added up. */
        WS_BARRIER();
#endif
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
