/* ECIES over P-256 with the sender's ECDSA signature in place of the authentication code.
 *
 * A packet is: ephemeral key, x || y || ciphertext, as long as the plaintext || signature, 64 bytes. In the compressed form
 * the ephemeral key has 33 bytes instead of 64. The KDF gives 16 bytes, to encrypt with; its SharedInfo is the ephemeral key as
 * sent || info; all else as in ecies.h. The signature is over SHA-256(ephemeral key as sent || ciphertext || info), with the
 * nonce of RFC 6979, and nothing added to it.
 *
 * The signature says who made the packet, not who made its ciphertext, nor for whom: anybody can take it off and put their own in
 * its place, and the recipient's key is not in it. So info is to name sender and recipient: as the key comes of it, too, a
 * ciphertext under another sender's signature then opens to nothing of what was sealed. info should have a fixed length. Nothing
 * hides the sender.
 *
 * Constant time for given lengths in what is secret, as p256.h and ecdsa_p256.h have it; the signature is verified in variable
 * time, it is public. What is secret is wiped from the frames. Stack: 96 bytes, beside the frames, across the multiplication
 * of a point, 32 across signing and verification. */
#ifndef WS_ECIES_ECDSA_H
#define WS_ECIES_ECDSA_H

#include "drbg.h"

/* What a packet is longer than the plaintext. */
#define WS_ECIES_ECDSA_OVERHEAD 128
#define WS_ECIES_ECDSA_COMPRESSED_OVERHEAD 97

/* Seals.
 *
 * in:     recipient: public key; sender_private: the sender's own key; info: info_len bytes; in: len bytes; anything when
 *         their length is 0.
 * in/out: random.
 * out:    packet: len + WS_ECIES_ECDSA_OVERHEAD bytes, any alignment. in may be where the ciphertext comes to lie, 64 bytes
 *         (33) behind its beginning; nothing overlaps it otherwise.
 * Returns 0, or -1, packet zeroed, when a key is not one or random refuses. */
int ws_ecies_ecdsa_seal(ws_drbg *random, const uint8_t recipient[64], const uint8_t sender_private[32],
                        const uint8_t *info, size_t info_len, const uint8_t *in, size_t len, uint8_t *packet);
int ws_ecies_ecdsa_seal_compressed(ws_drbg *random, const uint8_t recipient[64], const uint8_t sender_private[32],
                                   const uint8_t *info, size_t info_len, const uint8_t *in, size_t len,
                                   uint8_t *packet);

/* Opens.
 *
 * in:  private_key: the recipient's; sender_public: the sender's; info: info_len bytes, those that were sealed with; packet:
 *      packet_len bytes.
 * out: out: packet_len - WS_ECIES_ECDSA_OVERHEAD bytes. It may be where the ciphertext is, and overlaps nothing otherwise.
 * Returns 0, or -1, out untouched, when the packet is too short, a key is not one, or the signature is not the sender's. */
int ws_ecies_ecdsa_open(const uint8_t private_key[32], const uint8_t sender_public[64], const uint8_t *info,
                        size_t info_len, const uint8_t *packet, size_t packet_len, uint8_t *out);
int ws_ecies_ecdsa_open_compressed(const uint8_t private_key[32], const uint8_t sender_public[64],
                                   const uint8_t *info, size_t info_len, const uint8_t *packet, size_t packet_len,
                                   uint8_t *out);

#endif
