/* The board around the microcontroller. Implemented by a port. */
#ifndef WS_DRIVERS_BOARD_H
#define WS_DRIVERS_BOARD_H

/* Once, first of all: brings every pin to a level that draws no current, also those that nothing is connected to. */
void ws_board_start(void);

#endif
