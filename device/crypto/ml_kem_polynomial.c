#include "ml_kem_polynomial.h"

#include "little_endian.h"
#include "secret.h"

/* factor a / 2^16 modulo q, as it is encoded: between 0 and q - 1. in: as of ws_ml_kem_product. */
WS_INLINE uint16_t residue(int16_t a, uint16_t factor)
{
    const uint16_t r = (uint16_t)ws_ml_kem_product(a, factor);

    return (uint16_t)(r + (WS_ML_KEM_Q & (uint16_t)(0 - ws_secret_bit((uint8_t)(r >> 15)))));
}

static void encode(uint8_t out[384], const int16_t coefficients[256], uint16_t factor)
{
    uint8_t i;

    for (i = 0; i < 128; i++) {
        const uint16_t a = residue(*coefficients++, factor);
        const uint16_t b = residue(*coefficients++, factor);

        *out++ = (uint8_t)a;
        *out++ = (uint8_t)((a >> 8) | (b << 4));
        *out++ = (uint8_t)(b >> 4);
    }
}

void ws_ml_kem_encode(uint8_t out[384], const int16_t coefficients[256])
{
    /* 2^16 modulo q. */
    encode(out, coefficients, 2285);
}

void ws_ml_kem_encode_product(uint8_t out[384], const int16_t coefficients[256])
{
    /* 2^32 modulo q. */
    encode(out, coefficients, 1353);
}

void ws_ml_kem_decode(int16_t coefficients[16], const uint8_t in[24])
{
    uint8_t i;

    for (i = 0; i < 8; i++) {
        *coefficients++ = (int16_t)(in[0] | ((uint16_t)(in[1] & 15) << 8));
        *coefficients++ = (int16_t)((in[1] >> 4) | ((uint16_t)in[2] << 4));
        in += 3;
    }
}

/* 2^32 x / q modulo 2^32, but for what 2^32 / q is rounded by: without a division, whose time depends on x on some processors. The upper
 * bits are those of Compress, rounded by the caller: 1 and 4 bits for each x, 10 for each between -q/2 and q/2; a test tries them all. */
WS_INLINE uint32_t fraction(int16_t x)
{
    return (uint16_t)(x + 32768u) * (uint32_t)1290167 - ((uint32_t)1290167 << 15);
}

/* Half of the lowest of the upper d bits. */
#define ROUNDING(d) ((uint32_t)1 << (31 - (d)))

void ws_ml_kem_compress_10(uint8_t out[20], const int16_t coefficients[16])
{
    uint16_t four[4];
    uint8_t group;
    uint8_t i;

    for (group = 0; group < 4; group++) {
        for (i = 0; i < 4; i++) {
            four[i] = (uint16_t)((fraction(ws_ml_kem_barrett(*coefficients++)) + ROUNDING(10)) >> 22);
        }
        *out++ = (uint8_t)four[0];
        *out++ = (uint8_t)((four[0] >> 8) | (four[1] << 2));
        *out++ = (uint8_t)((four[1] >> 6) | (four[2] << 4));
        *out++ = (uint8_t)((four[2] >> 4) | (four[3] << 6));
        *out++ = (uint8_t)(four[3] >> 2);
    }
}

void ws_ml_kem_compress_4(uint8_t out[8], const int16_t coefficients[16])
{
    uint8_t i;

    for (i = 0; i < 8; i++) {
        const uint8_t low = (uint8_t)((fraction(*coefficients++) + ROUNDING(4)) >> 28);
        const uint8_t high = (uint8_t)((fraction(*coefficients++) + ROUNDING(4)) >> 28);

        *out++ = (uint8_t)(low | (high << 4));
    }
}

void ws_ml_kem_decompress_10(int16_t coefficients[256], const uint8_t in[320])
{
    uint16_t four[4];
    uint8_t group;
    uint8_t i;

    for (group = 0; group < 64; group++) {
        four[0] = in[0] | ((uint16_t)(in[1] & 3) << 8);
        four[1] = (in[1] >> 2) | ((uint16_t)(in[2] & 15) << 6);
        four[2] = (in[2] >> 4) | ((uint16_t)(in[3] & 63) << 4);
        four[3] = (in[3] >> 6) | ((uint16_t)in[4] << 2);
        for (i = 0; i < 4; i++) {
            *coefficients++ = (int16_t)(((uint32_t)four[i] * WS_ML_KEM_Q + 512) >> 10);
        }
        in += 5;
    }
}

void ws_ml_kem_decompress_4(int16_t coefficients[256], const uint8_t in[128])
{
    uint8_t i;

    for (i = 0; i < 128; i++) {
        *coefficients++ = (int16_t)(((uint32_t)(*in & 15) * WS_ML_KEM_Q + 8) >> 4);
        *coefficients++ = (int16_t)(((uint32_t)(*in >> 4) * WS_ML_KEM_Q + 8) >> 4);
        in++;
    }
}

void ws_ml_kem_compress_1(uint8_t out[32], const int16_t coefficients[256])
{
    uint8_t byte;
    uint8_t i;
    uint8_t bits;

    for (i = 0; i < 32; i++) {
        bits = 0;
        for (byte = 0; byte < 8; byte++) {
            bits = (uint8_t)((bits >> 1) | (((fraction(*coefficients++) + ROUNDING(1)) >> 24) & 0x80));
        }
        *out++ = bits;
    }
}

void ws_ml_kem_add_message(int16_t coefficients[256], const uint8_t in[32])
{
    uint8_t i;
    uint8_t n;
    uint8_t bits;

    for (i = 0; i < 32; i++) {
        bits = in[i];
        for (n = 0; n < 8; n++) {
            *coefficients++ += (int16_t)(0 - ws_secret_bit(bits & 1)) & ((WS_ML_KEM_Q + 1) / 2);
            bits >>= 1;
        }
    }
}

void ws_ml_kem_add_noise(int16_t coefficients[32], const uint8_t *in, uint8_t eta)
{
    uint32_t bits;
    uint8_t word;
    uint8_t i;

    if (eta == 2) {
        for (word = 0; word < 4; word++) {
            /* Sums of two bits each, in two bits: eight pairs of them. */
            bits = ws_load32_le(in);
            bits = (bits & 0x55555555) + ((bits >> 1) & 0x55555555);
            for (i = 0; i < 8; i++) {
                *coefficients++ += (int16_t)(bits & 3) - (int16_t)((bits >> 2) & 3);
                bits >>= 4;
            }
            in += 4;
        }
    } else {
        for (word = 0; word < 8; word++) {
            /* Sums of three bits each, in three bits: four pairs of them. */
            bits = in[0] | ((uint32_t)in[1] << 8) | ((uint32_t)in[2] << 16);
            bits = (bits & 0x249249) + ((bits >> 1) & 0x249249) + ((bits >> 2) & 0x249249);
            for (i = 0; i < 4; i++) {
                *coefficients++ += (int16_t)(bits & 7) - (int16_t)((bits >> 3) & 7);
                bits >>= 6;
            }
            in += 3;
        }
    }
}
