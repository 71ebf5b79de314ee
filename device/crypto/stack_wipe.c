#include "stack_wipe.h"

/* A translation unit has to have something where there is nothing to do. */
typedef uint32_t word;

#if !WS_FIXED_FRAMES

void ws_stack_wipe(uint16_t bytes)
{
    /* The next frame down is where the ones before were. */
    word area[bytes / sizeof(word)];
    volatile word *at = area;

    for (; bytes != 0; bytes = (uint16_t)(bytes - 4 * sizeof(word))) {
        at[0] = 0;
        at[1] = 0;
        at[2] = 0;
        at[3] = 0;
        at += 4;
    }
}

#endif
