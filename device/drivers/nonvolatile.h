/* A little memory that keeps its contents without power, in segments that are erased as a whole: flash, or an EEPROM that acts
 * as one. Implemented by a port. */
#ifndef WS_DRIVERS_NONVOLATILE_H
#define WS_DRIVERS_NONVOLATILE_H

#include <stdint.h>

#define WS_NONVOLATILE_SEGMENTS 2
#define WS_NONVOLATILE_SEGMENT 128

/* Copies len bytes from offset of a segment. in: offset + len is at most WS_NONVOLATILE_SEGMENT. */
void ws_nonvolatile_read(uint8_t segment, uint8_t offset, uint8_t *out, uint8_t len);

/* Makes all bits of a segment 1. */
void ws_nonvolatile_erase(uint8_t segment);

/* Makes those bits 0 that are 0 in the len bytes at data. in: offset and len are even, offset + len at most
 * WS_NONVOLATILE_SEGMENT. */
void ws_nonvolatile_program(uint8_t segment, uint8_t offset, const uint8_t *data, uint8_t len);

#endif
