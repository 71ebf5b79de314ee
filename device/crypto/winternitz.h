/* Winternitz one-time signatures: LM-OTS of RFC 8554 section 4 with LMOTS_SHA256_N32_W4. Secret values come from a seed as in
 * its appendix A.
 *
 * A KEY PAIR SIGNS ONE MESSAGE. Two signatures by one pair let anybody sign others. The pair's name is (I, q); for one seed
 * every name is another pair. Whoever signs keeps the next q in non-volatile memory, and there it is advanced, and read
 * back, before ws_winternitz_sign_begin: power loss then costs an unused pair and never gives one away twice.
 *
 * A signature is u32str(3) || C || y[0] || ... || y[66], 2,180 bytes: more than a small part has memory for. It is made and
 * verified in pieces y[i] of 32 bytes, one at a time, as they fit into packets; C is in the caller's hands.
 *
 * 1,106 blocks are hashed for a key pair; for a signature 67 and as many as the digits of the message sum up to, 566 on
 * average; for its verification 1,039 less that sum, 540 on average; and those of the message. The sum depends on C and the
 * message, which the signature shows. Otherwise constant time. Stack: one hash context, beside the frames. */
#ifndef WS_WINTERNITZ_H
#define WS_WINTERNITZ_H

#include "one_time.h"

/* Pieces of a signature, p of RFC 8554. */
#define WS_WINTERNITZ_PIECES 67
/* u32str(3) || name || K. */
#define WS_WINTERNITZ_PUBLIC_KEY 56

/* A signature that is being made. Its members are the implementation's. Holds the seed until the last piece is out. */
typedef struct {
    uint8_t name[WS_ONE_TIME_NAME];
    uint8_t seed[32];
    /* Q and its checksum, the digits of the message. */
    uint8_t digits[34];
    /* The next piece. */
    uint8_t piece;
} ws_winternitz_signing;

/* A signature that is being verified. */
typedef struct {
    uint8_t name[WS_ONE_TIME_NAME];
    uint8_t digits[34];
    uint8_t piece;
    /* The candidate for the public key. */
    ws_sha256_ctx key;
} ws_winternitz_verification;

/* Makes a public key.
 *
 * in:  seed: 32 random bytes, secret; name: I || u32str(q).
 * out: public_key: in the form of RFC 8554; overlaps neither. */
void ws_winternitz_keygen(const uint8_t seed[32], const uint8_t name[WS_ONE_TIME_NAME],
                          uint8_t public_key[WS_WINTERNITZ_PUBLIC_KEY]);

/* Begins a signature. The pair (seed, name) is used up.
 *
 * in:  seed; name; randomizer: C, 32 random bytes, new for each message; message: len bytes, anything when len is 0.
 * out: signing. */
void ws_winternitz_sign_begin(ws_winternitz_signing *signing, const uint8_t seed[32],
                              const uint8_t name[WS_ONE_TIME_NAME], const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER],
                              const uint8_t *message, size_t len);

/* Gives the next piece, y[0] first. After WS_WINTERNITZ_PIECES of them signing is wiped.
 *
 * in/out: signing. out: piece: outside signing.
 * Returns 0, or -1, piece zeroed, when there are no more. */
int ws_winternitz_sign_next(ws_winternitz_signing *signing, uint8_t piece[32]);

/* Begins a verification.
 *
 * in:  public_key; randomizer: C of the signature; message: len bytes, anything when len is 0.
 * out: verification.
 * Returns 0, or -1 when the public key is of another kind; ws_winternitz_verify_end refuses then. */
int ws_winternitz_verify_begin(ws_winternitz_verification *verification,
                               const uint8_t public_key[WS_WINTERNITZ_PUBLIC_KEY],
                               const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER], const uint8_t *message, size_t len);

/* Takes the next piece. in: piece: any alignment. in/out: verification. More than WS_WINTERNITZ_PIECES are too many: the end
 * refuses. */
void ws_winternitz_verify_next(ws_winternitz_verification *verification, const uint8_t piece[32]);

/* Ends: gives the key that the pieces lead to, Kc of RFC 8554 algorithm 4b.
 *
 * in/out: verification, wiped. out: candidate: outside verification.
 * Returns 0, or -1, candidate zeroed, when there were more or fewer pieces than WS_WINTERNITZ_PIECES. */
int ws_winternitz_candidate(ws_winternitz_verification *verification, uint8_t candidate[32]);

/* Ends: whether the signature is good.
 *
 * in:     public_key: the one given at the beginning.
 * in/out: verification, wiped.
 * Returns 0, or -1 when it is not. */
int ws_winternitz_verify_end(ws_winternitz_verification *verification,
                             const uint8_t public_key[WS_WINTERNITZ_PUBLIC_KEY]);

#endif
