/* What the files of this port tell each other. */
#ifndef WS_PORTS_POSIX_POSIX_H
#define WS_PORTS_POSIX_POSIX_H

#include <stdint.h>

/* Nanoseconds since the process began. */
uint64_t ws_posix_now_ns(void);

/* The message, what the system says of errno, and the end of the process. */
void ws_posix_give_up(const char *what);

/* Begins the process anew. In a signal handler, too. in: cause: WS_RESET_.... Does not return. */
void ws_posix_restart(uint8_t cause);

/* Ends the process where the watchdog was not fed for 8 seconds. In a signal handler. */
void ws_posix_watch(void);

/* Opens what the drivers work on. in: paths of files; address: numbers and port of the collector, a.b.c.d:port. */
void ws_posix_open_memories(const char *provision, const char *eeprom);
void ws_posix_open_radio(const char *address);

#endif
