/* CRC-32 of ISO 3309: reflected polynomial 0xedb88320, begun with and complemented by ones.
 *
 * Without a table: records are short and seldom checked. No static data. */
#ifndef WS_CRC32_H
#define WS_CRC32_H

#include <stdint.h>

#define WS_CRC32_BEGIN 0xffffffffu

/* Takes in len bytes.
 *
 * in: crc: WS_CRC32_BEGIN, or what the call for the bytes before these returned. Returns the remainder so far; its complement is
 * the check of all bytes. */
uint32_t ws_crc32(uint32_t crc, const uint8_t *in, uint8_t len);

#endif
