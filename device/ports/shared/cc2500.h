/* The pin GDO0 of a CC2500, which is high while a packet comes or goes. Implemented by a port. */
#ifndef WS_SHARED_CC2500_H
#define WS_SHARED_CC2500_H

#include <stdint.h>

/* The interrupt of the pin's falling edge makes it 1, and wakes the processor. */
extern volatile uint8_t ws_radio_event;

/* From here on, the falling edge is an event; ws_radio_event is 0. */
void ws_cc2500_watch(void);
void ws_cc2500_unwatch(void);

/* The pin's level, 0 or not 0. */
uint8_t ws_cc2500_busy(void);

#endif
