/* One-time signatures whole, in one call: for the bench, which has no radio to send pieces by and on small parts no memory
 * to keep them in.
 *
 * Signing folds each piece into 32 bytes, so that one comparison says whether all of them were right and in their order: for
 * piece i, folded[j] = 3 folded[j] + (piece[j] xor m), modulo 256, where m is i for even j and i / 4 for odd ones, and
 * folded[j] = 0 at first. It takes about a hundredth of the time of a piece. Verification makes its pieces on the way, piece
 * i being mask[j] xor (i modulo 256): any pieces are a signature under the key that they lead to. */
#ifndef WS_ONE_TIME_BENCH_H
#define WS_ONE_TIME_BENCH_H

#include "lamport.h"
#include "winternitz.h"
#include "winternitz_w2.h"

/* ws_winternitz_sign_begin and all pieces. in: as there. out: folded: overlaps nothing. */
void ws_winternitz_sign_all(const uint8_t seed[32], const uint8_t name[WS_ONE_TIME_NAME],
                            const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER], const uint8_t *message, size_t len,
                            uint8_t folded[32]);

/* ws_winternitz_verify_begin, all pieces and ws_winternitz_verify_end. in: as there; mask: what the pieces are made of.
 * Returns 0, or -1 when public_key is not what they lead to. */
int ws_winternitz_verify_all(const uint8_t public_key[WS_WINTERNITZ_PUBLIC_KEY],
                             const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER], const uint8_t *message, size_t len,
                             const uint8_t mask[32]);

/* The same with digits of 2 bits. */
void ws_winternitz_w2_sign_all(const uint8_t seed[32], const uint8_t name[WS_ONE_TIME_NAME],
                               const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER], const uint8_t *message, size_t len,
                               uint8_t folded[32]);
int ws_winternitz_w2_verify_all(const uint8_t public_key[WS_WINTERNITZ_W2_PUBLIC_KEY],
                                const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER], const uint8_t *message, size_t len,
                                const uint8_t mask[32]);

/* The same for Lamport-Diffie. */
void ws_lamport_sign_all(const uint8_t seed[32], const uint8_t name[WS_ONE_TIME_NAME],
                         const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER], const uint8_t *message, size_t len,
                         uint8_t folded[32]);
int ws_lamport_verify_all(const uint8_t public_key[WS_LAMPORT_PUBLIC_KEY],
                          const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER], const uint8_t *message, size_t len,
                          const uint8_t mask[32]);

#endif
