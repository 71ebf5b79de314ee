/* The room of the stack, from the last variable to the stack's top. */
#ifndef WS_SHARED_STACK_H
#define WS_SHARED_STACK_H

#include <stdint.h>

/* Fills what is not in use, so that ws_stack_untouched (drivers/reset.h) knows what was touched since. Interrupts
 * meanwhile may use 32 bytes. */
void ws_stack_paint(void);

#endif
