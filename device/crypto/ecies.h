/* ECIES over P-256: SEC 1 version 2 section 5.1, with ECDH without cofactor, the X9.63 KDF with SHA-256, AES-128 in counter
 * mode from a counter of zero, and HMAC-SHA-256 with a key of 32 bytes.
 *
 * A packet is: ephemeral key, x || y || ciphertext, as long as the plaintext || authentication code, 32 bytes. In the
 * compressed form the ephemeral key has 33 bytes instead of 64. The KDF gives 48 bytes, 16 to encrypt with and 32 to
 * authenticate with; its SharedInfo is the ephemeral key as sent. The code is over ciphertext || info (SharedInfo2).
 *
 * Everybody can seal for a recipient whose public key they know: a packet does not say who sent it (ecies_ecdsa.h does). Two
 * pairs of ciphertext and info with the same join have the same code: info should have a fixed length, or end in it.
 *
 * Constant time for given lengths, except that opening shows whether it accepted; the ephemeral key is public. What is secret
 * is wiped from the frames. Stack: 96 bytes, beside the frames, across the multiplication of a point. */
#ifndef WS_ECIES_H
#define WS_ECIES_H

#include "drbg.h"

/* What a packet is longer than the plaintext. */
#define WS_ECIES_OVERHEAD 96
#define WS_ECIES_COMPRESSED_OVERHEAD 65

/* Seals.
 *
 * in:     recipient: public key; info: info_len bytes; in: len bytes; anything when their length is 0.
 * in/out: random.
 * out:    packet: len + WS_ECIES_OVERHEAD bytes, any alignment. in may be where the ciphertext comes to lie, 64 bytes (33)
 *         behind its beginning; nothing overlaps it otherwise.
 * Returns 0, or -1, packet zeroed, when the recipient's key is not one or random refuses. */
int ws_ecies_seal(ws_drbg *random, const uint8_t recipient[64], const uint8_t *info, size_t info_len, const uint8_t *in,
                  size_t len, uint8_t *packet);
int ws_ecies_seal_compressed(ws_drbg *random, const uint8_t recipient[64], const uint8_t *info, size_t info_len,
                             const uint8_t *in, size_t len, uint8_t *packet);

/* Opens.
 *
 * in:  private_key; info: info_len bytes, those that were sealed with; packet: packet_len bytes.
 * out: out: packet_len - WS_ECIES_OVERHEAD bytes. It may be where the ciphertext is, and overlaps nothing otherwise.
 * Returns 0, or -1, out untouched, when the packet is too short, its ephemeral key is no point of the curve, or its code
 * does not fit. */
int ws_ecies_open(const uint8_t private_key[32], const uint8_t *info, size_t info_len, const uint8_t *packet,
                  size_t packet_len, uint8_t *out);
int ws_ecies_open_compressed(const uint8_t private_key[32], const uint8_t *info, size_t info_len,
                             const uint8_t *packet, size_t packet_len, uint8_t *out);

#endif
