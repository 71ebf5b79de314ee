/* Memory that keeps its contents without power and is written byte by byte: an EEPROM, or an FRAM that acts as one.
 * Implemented by a port.
 *
 * A byte whose writing the power's loss cut short may read anything afterwards. No other byte changes. Bytes are written
 * one after the other, in the order of their addresses, and every byte is written, also one that reads as if it had its value:
 * what a power failure left may read so by chance, and otherwise later. Once written to its end, it is firm. */
#ifndef WS_DRIVERS_EEPROM_H
#define WS_DRIVERS_EEPROM_H

#include <stdint.h>

/* What a meter without suite 6 uses; with it there is a key behind that (meter/epoch_key.h), on parts whose memory has so much. */
#define WS_EEPROM_BYTES 1024
#define WS_EEPROM_BYTES_WITH_KEY 1180

/* Copies len bytes; waits for a byte under way. Writing in the background goes on afterwards. */
void ws_eeprom_read(uint16_t at, uint8_t *out, uint8_t len);

/* Writes len bytes, and returns when all are kept. Waits first for what is being written in the background. */
void ws_eeprom_write(uint16_t at, const uint8_t *in, uint8_t len);

/* Begins to write len bytes in the background: in must stay as it is until they are kept. Waits first for what is being
 * written. */
void ws_eeprom_begin(uint16_t at, const uint8_t *in, uint8_t len);

/* Whether bytes of the background are still to be kept. */
uint8_t ws_eeprom_busy(void);

/* Gives up the bytes of the background that were not begun, and waits for the one that was. */
void ws_eeprom_abandon(void);

#endif
