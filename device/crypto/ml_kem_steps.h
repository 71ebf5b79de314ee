/* ML-KEM's algorithms for both parameter sets: what ml_kem_512.c and ml_kem_768.c give memory to.
 *
 * Contracts and constant time as in ml_kem.h. */
#ifndef WS_ML_KEM_STEPS_H
#define WS_ML_KEM_STEPS_H

#include "ml_kem_rows.h"

#include <stdint.h>

/* What one call works with, beside a vector of k polynomials. A parameter set is k, 2 or 3, alone: both have eta_2 = 2, d_u = 10 and
 * d_v = 4 (section 8). */
typedef struct {
    ws_ml_kem_row row;
    /* rho and sigma, or K and r, section 7: what G gives. */
    uint8_t seeds[64];
    uint8_t message[32];
    uint8_t k;
} ws_ml_kem_workspace;

/* rho and sigma of d, algorithm 13 step 1. in/out: w: k; then seeds. */
void ws_ml_kem_seed(ws_ml_kem_workspace *w, const uint8_t d[32]);

/* The rest of algorithms 13 and 16. in/out: w: k and seeds. out: vector: s. */
void ws_ml_kem_keygen(ws_ml_kem_workspace *w, int16_t (*vector)[256], const uint8_t z[32], uint8_t *public_key,
                      uint8_t *private_key);

/* Algorithm 17, after the check of section 7.2. in/out: w: k. out: vector: r. */
int ws_ml_kem_encapsulate(ws_ml_kem_workspace *w, int16_t (*vector)[256], const uint8_t *public_key, const uint8_t m[32],
                          uint8_t *ciphertext, uint8_t shared[32]);

/* Algorithm 18. in/out: w: k. out: vector: r. */
void ws_ml_kem_decapsulate(ws_ml_kem_workspace *w, int16_t (*vector)[256], const uint8_t *private_key,
                           const uint8_t *ciphertext, uint8_t shared[32]);

/* The check of section 7.3. in/out: w: k. */
int ws_ml_kem_check(ws_ml_kem_workspace *w, const uint8_t *private_key);

#endif
