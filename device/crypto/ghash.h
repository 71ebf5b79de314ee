/* GHASH, NIST SP 800-38D section 6.4: multiplication in GF(2^128) as GCM writes it.
 *
 * Without branches or tables that depend on a secret; both the hash key and the running value are secrets. */
#ifndef WS_GHASH_H
#define WS_GHASH_H

#include <stddef.h>
#include <stdint.h>

/* Absorbs whole blocks: for each block X, y becomes (y xor X) h.
 *
 * in:     h: the hash key; data: 16 blocks bytes. Any alignment.
 * in/out: y: the running value, 0 at the beginning; must not overlap h or data.
 * Constant time for a given number of blocks. */
void ws_ghash_blocks(uint8_t y[16], const uint8_t h[16], const uint8_t *data, size_t blocks);

#endif
