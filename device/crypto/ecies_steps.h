/* What ecies.h and ecies_ecdsa.h share: the ephemeral key, and what is done with the secret that comes of it.
 *
 * An ephemeral key is sent as x || y, 64 bytes, or compressed, 33. Constant time. While a point is multiplied nothing is held
 * but ws_ecies_work, or where a compressed one was received the whole one: keys are derived in frames that come afterwards. */
#ifndef WS_ECIES_STEPS_H
#define WS_ECIES_STEPS_H

#include "drbg.h"

/* Bytes of an ephemeral key. */
#define WS_ECIES_EPHEMERAL 64
#define WS_ECIES_EPHEMERAL_COMPRESSED 33

/* Where an ephemeral key is made, and the shared secret is left. To be wiped. */
typedef union {
    struct {
        uint8_t public_key[64];
        uint8_t private_key[32];
    } offered;
    uint8_t shared[32];
} ws_ecies_work;

/* Makes an ephemeral key and the secret shared with the recipient.
 *
 * in:     recipient: public key; ephemeral_bytes: one of the two above.
 * in/out: random.
 * out:    work; ephemeral: as sent. Nothing overlaps.
 * Returns 0, or -1 when the recipient's key is not one or random refuses. */
int ws_ecies_offer(ws_ecies_work *work, ws_drbg *random, const uint8_t recipient[64], uint8_t ephemeral_bytes,
                   uint8_t *ephemeral);

/* AES-128 in counter mode from a counter of zero. in: key; in: len bytes. out: out: as for ws_aes_ctr. */
void ws_ecies_crypt(const uint8_t key[16], const uint8_t *in, uint8_t *out, size_t len);

#endif
