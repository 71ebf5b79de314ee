/* Polynomials of ML-KEM: arithmetic modulo q = 3329, the number-theoretic transform and the encodings of FIPS 203.
 *
 * A polynomial is 4-byte aligned. A coefficient is a signed 16-bit number that stands for its residue; each function says how
 * large it may be. All is constant time for given lengths. */
#ifndef WS_ML_KEM_POLYNOMIAL_H
#define WS_ML_KEM_POLYNOMIAL_H

#include "compiler.h"

#include <stdint.h>

#define WS_ML_KEM_Q 3329

/* Products are of numbers without a sign, to which a multiple of q was added: for those of signed ones the AVR's compiler makes a skip of
 * each sign. */

/* a / 2^16 modulo q, by Montgomery's reduction, below a / 2^16 + q. in: a: below 2^32 - 2^16 q. */
WS_INLINE uint16_t ws_ml_kem_montgomery(uint32_t a)
{
    /* 3327 is -1/q modulo 2^16; the sum is divisible by 2^16. */
    const uint16_t t = (uint16_t)((uint16_t)a * 3327u);

    return (uint16_t)((a + (uint32_t)t * WS_ML_KEM_Q) >> 16);
}

/* factor a / 2^16 modulo q, between -q and q. in: a: between -9 q and 9 q; factor: below q. */
WS_INLINE int16_t ws_ml_kem_product(int16_t a, uint16_t factor)
{
    return (int16_t)(ws_ml_kem_montgomery((uint32_t)(uint16_t)(a + 9 * WS_ML_KEM_Q) * factor) - WS_ML_KEM_Q);
}

/* a modulo q, between -q/2 and q/2. in: a: any. */
WS_INLINE int16_t ws_ml_kem_barrett(int16_t a)
{
    /* 20159 is 2^26/q, rounded. With what is added to a the sum is 10 2^26 more than 20159 a and, for rounding, 2^25. */
    const uint32_t t = (uint32_t)(uint16_t)(a + 32768u) * 20159u + (((uint32_t)21 << 25) - ((uint32_t)20159 << 15));

    return (int16_t)((uint16_t)a - (uint16_t)((uint16_t)(t >> 26) - 10u) * WS_ML_KEM_Q);
}

/* NTT, algorithm 9, in place. in/out: r: coefficients between -q and q; then, in the order of the standard, between
 * -9/2 q and 9/2 q. */
void ws_ml_kem_ntt(int16_t r[256]);

/* NTT^-1, algorithm 10, in place, times 2^16. in/out: r: between -9/2 q and 9/2 q, as three
 * products are; then between -26640 and 26640, 16 times 1665. */
void ws_ml_kem_inverse_ntt(int16_t r[256]);

/* Adds the product of transformed polynomials, algorithm 11, divided by 2^16, four coefficients at a time.
 *
 * in:     a, b: 4 count coefficients, those from the place 4 first on; a between 0 and 4095, b between -9/2 q and 9/2 q; 4-byte
 *         aligned.
 * in/out: sum: as many; gets larger by less than 3/2 q. */
void ws_ml_kem_accumulate(int16_t *sum, const int16_t *a, const int16_t *b, uint8_t first, uint8_t count);

/* Coefficients to bytes of 12 bits each, ByteEncode_12 of algorithm 5; of sums of products, times 2^16, which accumulate divided by; and back,
 * algorithm 6. in: coefficients: 256 between -9 q and 9 q. out: out: may be where the coefficients are. Decoded ones are between 0 and
 * 4095. */
void ws_ml_kem_encode(uint8_t out[384], const int16_t coefficients[256]);
void ws_ml_kem_encode_product(uint8_t out[384], const int16_t coefficients[256]);
void ws_ml_kem_decode(int16_t coefficients[16], const uint8_t in[24]);

/* Compress_10 and Compress_4 of section 4.2.1 with their encodings, of 16 coefficients of any size. */
void ws_ml_kem_compress_10(uint8_t out[20], const int16_t coefficients[16]);
void ws_ml_kem_compress_4(uint8_t out[8], const int16_t coefficients[16]);

/* Their reverse, of all 256. in: in: may be the last bytes of where the coefficients go. out: coefficients between 0 and q. */
void ws_ml_kem_decompress_10(int16_t coefficients[256], const uint8_t in[320]);
void ws_ml_kem_decompress_4(int16_t coefficients[256], const uint8_t in[128]);

/* Compress_1 of 256 coefficients of any size: a message. */
void ws_ml_kem_compress_1(uint8_t out[32], const int16_t coefficients[256]);

/* Adds Decompress_1 of a message. in/out: coefficients: get larger by (q + 1) / 2 at most. */
void ws_ml_kem_add_message(int16_t coefficients[256], const uint8_t in[32]);

/* Adds samples of the centred binomial distribution, algorithm 8. in: in: 8 eta bytes; eta: 2 or 3.
 * in/out: coefficients: 32, get larger by eta at most. */
void ws_ml_kem_add_noise(int16_t coefficients[32], const uint8_t *in, uint8_t eta);

/* Gives those of 16 numbers of 12 bits that are below q, in their order: SampleNTT, algorithm 7 steps 4 to 15. Returns how many.
 * Not constant time: the numbers are public. out: coefficients: room for 16, of which what is not returned may be changed, too. */
uint8_t ws_ml_kem_sample(int16_t *coefficients, const uint8_t in[24]);

#endif
