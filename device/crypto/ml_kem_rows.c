#include "ml_kem_rows.h"

#include "ml_kem_polynomial.h"

/* Begins PRF_eta, or what makes the matrix: SHAKE of a seed and one or two bytes. */
static void begin(ws_ml_kem_row *row, uint8_t rate, const uint8_t *seed, uint8_t first, uint8_t second, uint8_t count)
{
    row->bytes[0] = first;
    row->bytes[1] = second;
    ws_sha3_init(&row->sponge, rate);
    ws_sha3_absorb(&row->sponge, seed, 32);
    ws_sha3_absorb(&row->sponge, row->bytes, count);
    ws_sha3_finish(&row->sponge, WS_SHAKE_SUFFIX);
}

void ws_ml_kem_clear(int16_t polynomial[256])
{
    uint16_t i;

    for (i = 0; i < 256; i++) {
        polynomial[i] = 0;
    }
}

void ws_ml_kem_add_prf(ws_ml_kem_row *row, int16_t polynomial[256], const uint8_t seed[32], uint8_t n, uint8_t eta)
{
    uint8_t i;

    begin(row, WS_SHAKE256_RATE, seed, n, 0, 1);
    for (i = 0; i < 8; i++) {
        ws_sha3_squeeze(&row->sponge, row->bytes, 8 * eta);
        ws_ml_kem_add_noise(polynomial, row->bytes, eta);
        polynomial += 32;
    }
}

void ws_ml_kem_accumulate_sampled(ws_ml_kem_row *row, const int16_t polynomial[256], const uint8_t rho[32], uint8_t first, uint8_t second)
{
    uint8_t place = 0;
    uint8_t kept = 0;
    uint8_t i;

    begin(row, WS_SHAKE128_RATE, rho, first, second, 2);
    while (place < 64) {
        int16_t *const some = row->some;
        uint8_t fours;

        ws_sha3_squeeze(&row->sponge, row->bytes, 24);
        kept += ws_ml_kem_sample(some + kept, row->bytes);
        fours = kept >> 2;
        if (fours > 64 - place) {
            fours = 64 - place;
        }
        ws_ml_kem_accumulate(row->sum + 4 * place, some, polynomial + 4 * place, place, fours);
        place += fours;
        kept &= 3;
        for (i = 0; i < kept; i++) {
            some[i] = some[4 * fours + i];
        }
    }
}

void ws_ml_kem_begin_seeds(ws_ml_kem_row *row, const uint8_t first[32], const uint8_t *second, uint8_t count)
{
    ws_sha3_init(&row->sponge, WS_SHA3_512_RATE);
    ws_sha3_absorb(&row->sponge, first, 32);
    ws_sha3_absorb(&row->sponge, second, count);
    ws_sha3_finish(&row->sponge, WS_SHA3_SUFFIX);
}
