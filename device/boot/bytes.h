/* Numbers of 32 bits in bytes, big-endian. */
#ifndef WS_BOOT_BYTES_H
#define WS_BOOT_BYTES_H

#include "compiler.h"

#include <stdint.h>

WS_INLINE uint32_t ws_read_32(const uint8_t *in)
{
    return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}

WS_INLINE void ws_write_32(uint8_t *out, uint32_t value)
{
    out[0] = (uint8_t)(value >> 24);
    out[1] = (uint8_t)(value >> 16);
    out[2] = (uint8_t)(value >> 8);
    out[3] = (uint8_t)value;
}

#endif
