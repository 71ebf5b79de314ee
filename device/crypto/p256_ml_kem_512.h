/* Hybrid key agreement of P-256 and ML-KEM-512: a key that nobody has who has not broken both.
 *
 * One side, here the initiator, makes a key pair of each, and sends both public keys, the offer. The other, the responder, makes a key pair of
 * P-256 of its own and encapsulates to the offer; its public key and the ciphertext are the response. Both have two shared secrets then:
 * Z, by the ephemeral unified model with P-256 (SP 800-56A revision 3 section 6.1.2.2: x of the product, 32 bytes), and T, by ML-KEM-512
 * (FIPS 203, 32 bytes). They are combined as the hybrid shared secret Z' = Z || T (SP 800-56C revision 2 section 2), in this order, because
 * the first has to be of a scheme of SP 800-56A or B; and the key is derived in two steps (section 5.1) with HMAC-SHA-256 for both, as
 * RFC 5869 does it:
 *
 *   key-derivation key   HMAC-SHA-256(salt, Z || T)
 *   key, 32 bytes        HMAC-SHA-256(key-derivation key, FixedInfo || 01)
 *   FixedInfo, 48 bytes  "P-256 ML-KEM-512" || SHA-256(info || offer || response)
 *
 *   offer, 864 bytes     x || y of the initiator's key of P-256, big-endian, 64; the encapsulation key, 800
 *   response, 832 bytes  x || y of the responder's key of P-256, 64; the ciphertext, 768
 *
 * So the key is another one where a byte of what was sent is, or where info is. info names the parties and what the key is for; as all that
 * follows it has a fixed length, it may have any. salt may be secret, a key that both have already: then who does not have that has to
 * break no less than both and cannot take part unseen. It may also be public, or zeros. Nothing here says who the other side is: that has
 * to come of the salt, or of what offer and response are sent in.
 *
 * A response that is not for the offer gives a key that the other side does not have, and no error (implicit rejection).
 *
 * Keys are for one agreement. Constant time but for what is public: offer, response, the matrix of ML-KEM, and whether something was
 * refused; ws_p256_ml_kem_512_keygen's time depends on rho, which is in the offer. RAM: none. Stack: what ml_kem.h needs, and 200 bytes.
 * What is secret is wiped from the frames. */
#ifndef WS_P256_ML_KEM_512_H
#define WS_P256_ML_KEM_512_H

#include "drbg.h"
#include "ml_kem.h"

#include <stddef.h>
#include <stdint.h>

/* d of P-256, x || y, and ML-KEM's private key. */
#define WS_P256_ML_KEM_512_PRIVATE_KEY (32 + 64 + WS_ML_KEM_512_PRIVATE_KEY)
#define WS_P256_ML_KEM_512_OFFER (64 + WS_ML_KEM_512_PUBLIC_KEY)
#define WS_P256_ML_KEM_512_RESPONSE (64 + WS_ML_KEM_512_CIPHERTEXT)

/* The initiator: makes both key pairs: of P-256 as ws_p256_keygen, then of d and z of ML-KEM, 64 bytes of one ws_drbg_generate.
 *
 * in/out: random.
 * out:    private_key: to be wiped after the agreement.
 * Returns 0, or -1, private_key zeroed, when random refuses. */
int ws_p256_ml_kem_512_keygen(ws_drbg *random, uint8_t private_key[WS_P256_ML_KEM_512_PRIVATE_KEY]);

/* The offer of these keys. out: offer, outside private_key. */
void ws_p256_ml_kem_512_offer(const uint8_t private_key[WS_P256_ML_KEM_512_PRIVATE_KEY],
                              uint8_t offer[WS_P256_ML_KEM_512_OFFER]);

/* The responder: answers an offer. It draws a key pair of P-256 as ws_p256_keygen, then m of ML-KEM, 32 bytes.
 *
 * in:     salt: salt_len bytes; info: info_len bytes; anything when their length is 0. offer: any bytes.
 * in/out: random.
 * out:    response; key: 32 bytes. They overlap nothing.
 * Returns 0, or -1, response and key zeroed, when the offer's first part is no point of P-256, the second no encapsulation key
 * (FIPS 203 section 7.2), or random refuses. */
int ws_p256_ml_kem_512_respond(ws_drbg *random, const uint8_t *salt, size_t salt_len, const uint8_t *info, size_t info_len,
                               const uint8_t offer[WS_P256_ML_KEM_512_OFFER],
                               uint8_t response[WS_P256_ML_KEM_512_RESPONSE], uint8_t key[32]);

/* The initiator: takes the response to its offer.
 *
 * in:  private_key: as keygen made it; salt, info as above; response: any bytes.
 * out: key: 32 bytes; overlaps nothing.
 * Returns 0, or -1, key zeroed, when the response's first part is no point of P-256. */
int ws_p256_ml_kem_512_agree(const uint8_t private_key[WS_P256_ML_KEM_512_PRIVATE_KEY], const uint8_t *salt, size_t salt_len,
                             const uint8_t *info, size_t info_len, const uint8_t response[WS_P256_ML_KEM_512_RESPONSE],
                             uint8_t key[32]);

#endif
