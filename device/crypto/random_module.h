/* Random bytes of the processor's own generator: ports/<port>/random_module_<family>.c.
 *
 * They are what the noise source gives after the maker's own conditioning. A generator that keeps
 * secrets (drbg.h) takes them as its entropy, after the tests of entropy.h. */
#ifndef WS_RANDOM_MODULE_H
#define WS_RANDOM_MODULE_H

#include <stdint.h>

/* Starts the generator, waits for len bytes, and stops it.
 *
 * out: any alignment. Returns 0, or -1, out zeroed, when the generator reports an error or repeats
 * a word. */
int ws_random_module_generate(uint8_t *out, uint16_t len);

#endif
