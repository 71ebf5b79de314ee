/* What verify needs of a part: a counter of the core's cycles, and a UART. Implemented by a
 * port. */
#ifndef WS_VERIFY_PORT_H
#define WS_VERIFY_PORT_H

#include <stdint.h>

/* Of the UART: 8 bits, no parity, one stop bit. */
#define WS_VERIFY_BAUD 115200ul

/* Once, first of all: makes the counter and the UART ready. No interrupt is enabled. */
void ws_verify_start(void);

/* The counter begins at 0. */
void ws_verify_begin(void);

/* Cycles since then, with some of this function's own: below 2^17 on an AVR, 2^24 where SysTick
 * counts. */
uint32_t ws_verify_end(void);

/* Sends a byte; waits for room. */
void ws_verify_send(uint8_t byte);

/* Returns when the last byte is out. */
void ws_verify_flush(void);

#endif
