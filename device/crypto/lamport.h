/* Lamport-Diffie one-time signatures of 256-bit digests, over SHA-256.
 *
 * For each bit of the digest there are two secret values; a signature shows the one that the bit names. Values come from a
 * seed, and are hashed with their name and place, as in RFC 8554 (one_time.h); no standard covers the scheme.
 *
 *   x[i][b] = H(I || q || u16str(0x4000 + 2 i + b) || 0xff || seed)       i = 0..255, the digest's first bit is 0
 *   y[i][b] = H(I || q || u16str(0x4000 + 2 i + b) || 0x00 || x[i][b])
 *   K       = SHA-256(I || q || 0x8484 || y[0][0] || y[0][1] || y[1][0] || ... || y[255][1])
 *   digest  = SHA-256(I || q || 0x8585 || C || message)
 *
 * No place or kind is one of LM-OTS, so that both may share a seed and a name, each signing once.
 *
 * A KEY PAIR SIGNS ONE MESSAGE, as in winternitz.h, and whoever signs keeps the next q likewise.
 *
 * The public key is I || q || K, 52 bytes. A signature carries, for each bit b of the digest, x[i][b] and y[i][1 - b]: 16,384
 * bytes, and C. The other way would be a public key of all 512 values, 16,384 bytes, and signatures of 8,192: but every
 * message needs another key, which has to reach the receiver and be kept there. Together they are 24 kB a message instead of
 * 16, and a receiver with 2 kB of RAM could hold none. Here it needs 32 bytes of a key, and one piece at a time.
 *
 * 1,281 blocks are hashed for a key pair, 768 for a signature and 513 for its verification, and those of the message. Constant time
 * for a given length, the order of what verification hashes excepted; it follows the digest, which C and the message show.
 * Stack: one hash context, beside the frames. */
#ifndef WS_LAMPORT_H
#define WS_LAMPORT_H

#include "one_time.h"

/* Pieces of a signature: x[0][b], y[0][1 - b], x[1][b], ... */
#define WS_LAMPORT_PIECES 512
/* name || K. */
#define WS_LAMPORT_PUBLIC_KEY 52

/* A signature that is being made. Its members are the implementation's. Holds the seed until the last piece is out. */
typedef struct {
    uint8_t name[WS_ONE_TIME_NAME];
    uint8_t seed[32];
    uint8_t digest[32];
    /* The next piece. */
    uint16_t piece;
} ws_lamport_signing;

/* A signature that is being verified. */
typedef struct {
    uint8_t name[WS_ONE_TIME_NAME];
    uint8_t digest[32];
    uint16_t piece;
    /* y of the last even piece, which stands behind that of the odd one where the bit is 1. */
    uint8_t shown[32];
    /* The candidate for the public key. */
    ws_sha256_ctx key;
} ws_lamport_verification;

/* Makes a public key. in: seed: 32 random bytes, secret; name: I || q. out: public_key: overlaps neither. */
void ws_lamport_keygen(const uint8_t seed[32], const uint8_t name[WS_ONE_TIME_NAME],
                       uint8_t public_key[WS_LAMPORT_PUBLIC_KEY]);

/* Begins a signature. The pair (seed, name) is used up.
 *
 * in:  seed; name; randomizer: C, 32 random bytes, new for each message; message: len bytes, anything when len is 0.
 * out: signing. */
void ws_lamport_sign_begin(ws_lamport_signing *signing, const uint8_t seed[32], const uint8_t name[WS_ONE_TIME_NAME],
                           const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER], const uint8_t *message, size_t len);

/* Gives the next piece. After WS_LAMPORT_PIECES of them signing is wiped.
 *
 * in/out: signing. out: piece: outside signing.
 * Returns 0, or -1, piece zeroed, when there are no more. */
int ws_lamport_sign_next(ws_lamport_signing *signing, uint8_t piece[32]);

/* Begins a verification.
 *
 * in:  public_key; randomizer: C of the signature; message: len bytes, anything when len is 0.
 * out: verification. */
void ws_lamport_verify_begin(ws_lamport_verification *verification, const uint8_t public_key[WS_LAMPORT_PUBLIC_KEY],
                             const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER], const uint8_t *message, size_t len);

/* Takes the next piece. in: piece: any alignment. in/out: verification. More than WS_LAMPORT_PIECES are too many: the end
 * refuses. */
void ws_lamport_verify_next(ws_lamport_verification *verification, const uint8_t piece[32]);

/* Ends: gives the K that the pieces lead to.
 *
 * in/out: verification, wiped. out: candidate: outside verification.
 * Returns 0, or -1, candidate zeroed, when there were more or fewer pieces than WS_LAMPORT_PIECES. */
int ws_lamport_candidate(ws_lamport_verification *verification, uint8_t candidate[32]);

/* Ends: whether the signature is good.
 *
 * in:     public_key: the one given at the beginning.
 * in/out: verification, wiped.
 * Returns 0, or -1 when it is not. */
int ws_lamport_verify_end(ws_lamport_verification *verification, const uint8_t public_key[WS_LAMPORT_PUBLIC_KEY]);

#endif
