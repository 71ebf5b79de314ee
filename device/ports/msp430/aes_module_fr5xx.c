/* The AES256 accelerator of the MSP430FR5xx, user's guide SLAU367, chapter "AES256 Accelerator".
 *
 * Registers touched: AESACTL0 0x09c0, AESASTAT 0x09c4, AESAKEY 0x09c6, AESADIN 0x09c8,
 * AESADOUT 0x09ca. */
#include "aes_module.h"

#define REGISTER(address) (*(volatile uint16_t *)(address))

#define AESACTL0 REGISTER(0x09c0)
#define AESKL_128 (0u << 2)
#define AESKL_256 (2u << 2)
#define AESSWRST (1u << 7)
#define AESASTAT REGISTER(0x09c4)
#define AESBUSY (1u << 0)
#define AESAKEY REGISTER(0x09c6)
#define AESADIN REGISTER(0x09c8)
#define AESADOUT REGISTER(0x09ca)

static uint16_t word_at(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] | (uint16_t)(bytes[1] << 8));
}

static int encrypt(uint16_t key_length, const uint8_t *key, uint8_t key_bytes, const uint8_t *in, uint8_t *out)
{
    uint8_t i;

    AESACTL0 = AESSWRST;
    AESACTL0 = key_length;
    for (i = 0; i < key_bytes; i += 2) {
        AESAKEY = word_at(key + i);
    }
    /* The last word starts it. */
    for (i = 0; i < 16; i += 2) {
        AESADIN = word_at(in + i);
    }
    while ((AESASTAT & AESBUSY) != 0) {
    }
    for (i = 0; i < 16; i += 2) {
        const uint16_t word = AESADOUT;

        out[i] = (uint8_t)word;
        out[i + 1] = (uint8_t)(word >> 8);
    }
    AESACTL0 = AESSWRST;
    return 0;
}

int ws_aes128_module_encrypt(const uint8_t key[16], const uint8_t in[16], uint8_t out[16])
{
    return encrypt(AESKL_128, key, 16, in, out);
}

int ws_aes256_module_encrypt(const uint8_t key[32], const uint8_t in[16], uint8_t out[16])
{
    return encrypt(AESKL_256, key, 32, in, out);
}
