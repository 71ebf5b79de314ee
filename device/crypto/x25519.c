#include "x25519.h"

#include "secret.h"
#include "x25519_field.h"
#include "x25519_ladder.h"
#include "x25519_powers.h"

/* All that a multiple of a point is made of. */
typedef struct {
    uint8_t scalar[32];
    ws_x25519_ladder ladder;
} work;

int ws_x25519(const uint8_t scalar[32], const uint8_t point[32], uint8_t shared[32])
{
    work w;
    ws_x25519_ladder *const l = &w.ladder;
    uint8_t *bytes;
    uint8_t i;
    uint8_t any = 0;

    ws_wipe(&w, sizeof w);
    bytes = (uint8_t *)l->x1.limbs;
    for (i = 0; i < 32; i++) {
        bytes[i] = point[i];
        w.scalar[i] = scalar[i];
    }
    bytes[31] &= 127;
    w.scalar[0] &= 248;
    w.scalar[31] = (uint8_t)((w.scalar[31] & 127) | 64);

    l->x2.limbs[0] = 1;
    l->x3 = l->x1;
    l->z3.limbs[0] = 1;
    ws_x25519_ladder_climb(l, w.scalar);
    ws_x25519_invert(&l->z2, &l->x3, &l->z3, &l->a, &l->b);
    ws_x25519_multiply(&l->x2, &l->x2, &l->z2);
    ws_x25519_freeze(&l->x2);
    bytes = (uint8_t *)l->x2.limbs;
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
    ws_x25519_multiply(&l->x2, &l->x2, &l->x2);
    /* Only 0 - 1 borrows. */
    return -(int)ws_secret_bit((uint8_t)(((uint16_t)any - 1u) >> 8) & 1);
}

void ws_x25519_public_key(const uint8_t scalar[32], uint8_t public_key[32])
{
    static const uint8_t base[32] = {9};

    (void)ws_x25519(scalar, base, public_key);
}
