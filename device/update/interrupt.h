/* An interrupt of the timer that ws_boot_port_start has started, and sleep. Of the port, in assembly. */
#ifndef WS_UPDATE_INTERRUPT_H
#define WS_UPDATE_INTERRUPT_H

/* Returns once an interrupt of the timer has been served by the program's own handler. */
void ws_update_await_interrupt(void);

/* Sleeps until a reset: no interrupt is enabled. */
void ws_update_sleep(void);

#endif
