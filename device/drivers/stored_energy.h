/* The voltage of what stores the harvested energy. Implemented by a port. */
#ifndef WS_DRIVERS_STORED_ENERGY_H
#define WS_DRIVERS_STORED_ENERGY_H

#include <stdint.h>

/* Measures once; converter and reference are off before and after. Returns millivolts. */
uint16_t ws_stored_energy_mv(void);

#endif
