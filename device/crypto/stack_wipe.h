/* Erasing what calls have left on the stack: what a compiler keeps there of a secret, beside variables, no ws_wipe (secret.h) reaches.
 *
 * RAM: none. Stack: the bytes that are asked for, and a frame. */
#ifndef WS_STACK_WIPE_H
#define WS_STACK_WIPE_H

#include "compiler.h"

#include <stdint.h>

/* Writes zeros to the stack below the caller's frame. The caller has to know how many bytes its calls used there at most: fewer leave
 * something, more take stack that nothing else needs. With fixed frames (compiler.h) there is nothing below, and it does nothing.
 *
 * in: bytes: a multiple of 16, not 0.
 * Constant time for a given number. */
#if WS_FIXED_FRAMES
#define ws_stack_wipe(bytes) ((void)(bytes))
#else
void ws_stack_wipe(uint16_t bytes);
#endif

#endif
