/* Hybrid key agreement of X25519 and ML-KEM-512 or ML-KEM-768: a key that nobody has who has not broken both.
 *
 * As p256_ml_kem_512.h, where all of it is explained, with these differences:
 *
 *   secrets              T || Z: of ML-KEM, then of X25519 (RFC 7748 section 6.1). The first has to be of an approved scheme (SP 800-56C revision 2
 *                        section 2), which X25519 is not and ML-KEM is; TLS has the same order in X25519MLKEM768
 *   FixedInfo, 49 bytes  "X25519 ML-KEM-512" or "X25519 ML-KEM-768" || SHA-256(info || offer || response)
 *
 *   offer                the initiator's public key of X25519, 32; the encapsulation key, 800 or 1,184
 *   response             the responder's public key of X25519, 32; the ciphertext, 768 or 1,088
 *
 * A public key of X25519 of a small order is refused: its secret would be 0 whatever the private key. */
#ifndef WS_X25519_ML_KEM_H
#define WS_X25519_ML_KEM_H

#include "drbg.h"
#include "ml_kem.h"

#include <stddef.h>
#include <stdint.h>

/* The private and the public key of X25519, and ML-KEM's private key. */
#define WS_X25519_ML_KEM_512_PRIVATE_KEY (64 + WS_ML_KEM_512_PRIVATE_KEY)
#define WS_X25519_ML_KEM_512_OFFER (32 + WS_ML_KEM_512_PUBLIC_KEY)
#define WS_X25519_ML_KEM_512_RESPONSE (32 + WS_ML_KEM_512_CIPHERTEXT)
#define WS_X25519_ML_KEM_768_PRIVATE_KEY (64 + WS_ML_KEM_768_PRIVATE_KEY)
#define WS_X25519_ML_KEM_768_OFFER (32 + WS_ML_KEM_768_PUBLIC_KEY)
#define WS_X25519_ML_KEM_768_RESPONSE (32 + WS_ML_KEM_768_CIPHERTEXT)

/* The initiator: makes both key pairs: of X25519 32 bytes of one ws_drbg_generate, then d and z of ML-KEM, 64 bytes of another.
 *
 * in/out: random.
 * out:    private_key: to be wiped after the agreement.
 * Returns 0, or -1, private_key zeroed, when random refuses. */
int ws_x25519_ml_kem_512_keygen(ws_drbg *random, uint8_t private_key[WS_X25519_ML_KEM_512_PRIVATE_KEY]);
int ws_x25519_ml_kem_768_keygen(ws_drbg *random, uint8_t private_key[WS_X25519_ML_KEM_768_PRIVATE_KEY]);

/* The offer of these keys. out: offer, outside private_key. */
void ws_x25519_ml_kem_512_offer(const uint8_t private_key[WS_X25519_ML_KEM_512_PRIVATE_KEY],
                                uint8_t offer[WS_X25519_ML_KEM_512_OFFER]);
void ws_x25519_ml_kem_768_offer(const uint8_t private_key[WS_X25519_ML_KEM_768_PRIVATE_KEY],
                                uint8_t offer[WS_X25519_ML_KEM_768_OFFER]);

/* The responder: answers an offer. It draws a private key of X25519, then m of ML-KEM, 32 bytes each.
 *
 * in:     salt: salt_len bytes; info: info_len bytes; anything when their length is 0. offer: any bytes.
 * in/out: random.
 * out:    response; key: 32 bytes. They overlap nothing.
 * Returns 0, or -1, response and key zeroed, when the offer's first part is of a small order, the second no encapsulation key
 * (FIPS 203 section 7.2), or random refuses. */
int ws_x25519_ml_kem_512_respond(ws_drbg *random, const uint8_t *salt, size_t salt_len, const uint8_t *info, size_t info_len,
                                 const uint8_t offer[WS_X25519_ML_KEM_512_OFFER],
                                 uint8_t response[WS_X25519_ML_KEM_512_RESPONSE], uint8_t key[32]);
int ws_x25519_ml_kem_768_respond(ws_drbg *random, const uint8_t *salt, size_t salt_len, const uint8_t *info, size_t info_len,
                                 const uint8_t offer[WS_X25519_ML_KEM_768_OFFER],
                                 uint8_t response[WS_X25519_ML_KEM_768_RESPONSE], uint8_t key[32]);

/* The initiator: takes the response to its offer.
 *
 * in:  private_key: as keygen made it; salt, info as above; response: any bytes.
 * out: key: 32 bytes; overlaps nothing.
 * Returns 0, or -1, key zeroed, when the response's first part is of a small order. */
int ws_x25519_ml_kem_512_agree(const uint8_t private_key[WS_X25519_ML_KEM_512_PRIVATE_KEY], const uint8_t *salt, size_t salt_len,
                               const uint8_t *info, size_t info_len, const uint8_t response[WS_X25519_ML_KEM_512_RESPONSE],
                               uint8_t key[32]);
int ws_x25519_ml_kem_768_agree(const uint8_t private_key[WS_X25519_ML_KEM_768_PRIVATE_KEY], const uint8_t *salt, size_t salt_len,
                               const uint8_t *info, size_t info_len, const uint8_t response[WS_X25519_ML_KEM_768_RESPONSE],
                               uint8_t key[32]);

#endif
