/* Marks for `wattseal ct`: from here on bytes are secret, or public.
 *
 * Each mark is a call of an empty function that `ct` knows by its name. On a part it costs that
 * call, with two arguments, and nothing where WS_CT_OFF is defined. Measured as one more line of
 * `f(key) { return key[3]; }`: 18 cycles of an ATmega328P, 20 of an ATmega2560, 16 of an
 * MSP430F5438A, 18 of an STM32F051, 19 of an STM32F103, 13 of an STM32F407, 3 of an STM32F767, 23
 * of a CH32V003, 52 of a 68HC08, and 38 machine cycles of an 8051. GCC and Clang define the
 * functions here. With another compiler, as sdcc, one file defines WS_CT_DEFINE before it includes
 * this one.
 */
#ifndef WS_CT_H
#define WS_CT_H

#include <stddef.h>

#ifdef WS_CT_OFF

#define ws_ct_secret(start, size) ((void)(start), (void)(size))
#define ws_ct_public(start, size) ((void)(start), (void)(size))

#else

#ifdef __GNUC__
#define WS_CT_DEFINE
#define WS_CT_FUNCTION __attribute__((weak, noinline, used))
/* The comment keeps the compiler from making one function of two. */
#define WS_CT_KEEP(what, start, size) \
    __asm__ volatile("/* " what " */" : : "r"(start), "r"(size) : "memory")
#else
#define WS_CT_FUNCTION
#define WS_CT_KEEP(what, start, size) ((void)(start), (void)(size))
#endif

/* Makes `size` bytes from `start` on secret.
 * in: start, size: bytes of memory that can be written; they are neither read nor changed.
 * Constant time: yes. */
WS_CT_FUNCTION void ws_ct_secret(const volatile void *start, size_t size);

/* Makes `size` bytes from `start` on public, until something secret is written to them.
 * in: start, size: as above. Constant time: yes. */
WS_CT_FUNCTION void ws_ct_public(const volatile void *start, size_t size);

#ifdef WS_CT_DEFINE
WS_CT_FUNCTION void ws_ct_secret(const volatile void *start, size_t size)
{
    WS_CT_KEEP("secret", start, size);
}

WS_CT_FUNCTION void ws_ct_public(const volatile void *start, size_t size)
{
    WS_CT_KEEP("public", start, size);
}
#endif

#endif

#endif
