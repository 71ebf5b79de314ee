/* Numbers modulo L, the order of Ed25519's base point (RFC 8032 section 5.1), and the hashes that become such: what ed25519.h is
 * made of. */
#ifndef WS_ED25519_SCALARS_H
#define WS_ED25519_SCALARS_H

#include "modular.h"

#include <stddef.h>
#include <stdint.h>

/* L. */
extern const ws_modulus ws_ed25519_order;

/* A hash, or a number of up to 64 bytes: the same in memory, as both have the lowest byte first. */
typedef union {
    uint8_t bytes[64];
    ws_limb limbs[WS_LIMBS(64)];
    uint32_t alignment;
} ws_ed25519_wide;

/* The lower half of number = number modulo L; the upper half is destroyed. Constant time. */
void ws_ed25519_reduce(ws_ed25519_wide *number);

/* The lower half of number = the SHA-512 of first, second (32 bytes each; second may be 0, for none) and message, modulo L.
 *
 * in: any alignment, outside number. Constant time for a given len. */
void ws_ed25519_hash(ws_ed25519_wide *number, const uint8_t *first, const uint8_t *second, const uint8_t *message, size_t len);

#endif
