/* What the stack's room is filled with at the start, to see later how far it was used. For C and assembly. */
#ifndef WS_AVR_PAINT_H
#define WS_AVR_PAINT_H

#define WS_STACK_PAINT 0xa5

#endif
