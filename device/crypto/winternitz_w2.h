/* Winternitz one-time signatures with digits of 2 bits: LM-OTS of RFC 8554 with
 * LMOTS_SHA256_N32_W2. All else is as in winternitz.h: contracts, what a key pair may sign, what
 * is constant time.
 *
 * A signature is u32str(2) || C || y[0] || ... || y[132], 4,292 bytes: twice as many as with 4
 * bits, for fewer hashes. 599 blocks are hashed for a key pair; for a signature 133 and as many as
 * the digits of the message sum up to, 332 on average; for its verification 466 less that sum, 267
 * on average; and those of the message. */
#ifndef WS_WINTERNITZ_W2_H
#define WS_WINTERNITZ_W2_H

#include "winternitz.h"

/* Pieces of a signature, p of RFC 8554. */
#define WS_WINTERNITZ_W2_PIECES 133
/* u32str(2) || name || K. */
#define WS_WINTERNITZ_W2_PUBLIC_KEY WS_WINTERNITZ_PUBLIC_KEY

typedef ws_winternitz_signing ws_winternitz_w2_signing;
typedef ws_winternitz_verification ws_winternitz_w2_verification;

void ws_winternitz_w2_keygen(const uint8_t seed[32], const uint8_t name[WS_ONE_TIME_NAME],
                             uint8_t public_key[WS_WINTERNITZ_W2_PUBLIC_KEY]);

void ws_winternitz_w2_sign_begin(ws_winternitz_w2_signing *signing, const uint8_t seed[32],
                                 const uint8_t name[WS_ONE_TIME_NAME],
                                 const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER], const uint8_t *message, size_t len);

int ws_winternitz_w2_sign_next(ws_winternitz_w2_signing *signing, uint8_t piece[32]);

int ws_winternitz_w2_verify_begin(ws_winternitz_w2_verification *verification,
                                  const uint8_t public_key[WS_WINTERNITZ_W2_PUBLIC_KEY],
                                  const uint8_t randomizer[WS_ONE_TIME_RANDOMIZER], const uint8_t *message, size_t len);

void ws_winternitz_w2_verify_next(ws_winternitz_w2_verification *verification, const uint8_t piece[32]);

int ws_winternitz_w2_candidate(ws_winternitz_w2_verification *verification, uint8_t candidate[32]);

int ws_winternitz_w2_verify_end(ws_winternitz_w2_verification *verification,
                                const uint8_t public_key[WS_WINTERNITZ_W2_PUBLIC_KEY]);

#endif
