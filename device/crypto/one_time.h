/* The hash function of the one-time signatures: that of LM-OTS, RFC 8554 section 4, for both lamport.h and winternitz.h.
 *
 * Every value of 32 bytes is hashed with the key pair's name, the value's place and the step before it:
 * H(I || u32str(q) || u16str(place) || u8str(step) || value). These are 55 bytes, with SHA-256's padding one block: each
 * hash is one call of ws_sha256_blocks.
 *
 * Constant time; place and step are public. */
#ifndef WS_ONE_TIME_H
#define WS_ONE_TIME_H

#include "sha256.h"

/* The name of a key pair: I, 16 bytes, and q, 4 bytes big-endian. */
#define WS_ONE_TIME_NAME 20
/* What a message is signed with: C of RFC 8554, 32 bytes. */
#define WS_ONE_TIME_RANDOMIZER 32

/* The step that makes a secret value from the seed, RFC 8554 appendix A. */
#define WS_ONE_TIME_SECRET 0xff

/* D_PBLC and D_MESG of RFC 8554 section 3.1: the kinds of LM-OTS's hashes of a public key and of a message. */
#define WS_ONE_TIME_PUBLIC 0x8080
#define WS_ONE_TIME_MESSAGE 0x8181

/* Where the value is in hash->block, while the block is one of this kind. */
#define WS_ONE_TIME_VALUE 23

/* Lays the block out for a place, the value excepted. in: name. out: hash->block. */
void ws_one_time_place(ws_sha256_ctx *hash, const uint8_t name[WS_ONE_TIME_NAME], uint16_t place);

/* Replaces the value by its hash. in/out: hash->block, laid out. */
void ws_one_time_step(ws_sha256_ctx *hash, uint8_t step);

/* Places, and makes the secret value. in: name; seed: 32 bytes. out: hash->block. */
void ws_one_time_secret(ws_sha256_ctx *hash, const uint8_t name[WS_ONE_TIME_NAME], uint16_t place,
                        const uint8_t seed[32]);

/* Begins the hash of a message or of a public key, I || u32str(q) || u16str(kind) || ...; the rest through
 * ws_sha256_update and ws_sha256_final. out: hash. */
void ws_one_time_begin(ws_sha256_ctx *hash, const uint8_t name[WS_ONE_TIME_NAME], uint16_t kind);

#endif
