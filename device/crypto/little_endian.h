/* Words of 32 bits as bytes, least significant first, at any alignment. gcc makes one load or store of them where the processor
 * has such. Constant time. */
#ifndef WS_LITTLE_ENDIAN_H
#define WS_LITTLE_ENDIAN_H

#include "compiler.h"

#include <stdint.h>

WS_INLINE uint32_t ws_load32_le(const uint8_t *in)
{
    return in[0] | ((uint32_t)in[1] << 8) | ((uint32_t)in[2] << 16) | ((uint32_t)in[3] << 24);
}

WS_INLINE void ws_store32_le(uint8_t *out, uint32_t word)
{
    out[0] = (uint8_t)word;
    out[1] = (uint8_t)(word >> 8);
    out[2] = (uint8_t)(word >> 16);
    out[3] = (uint8_t)(word >> 24);
}

#endif
