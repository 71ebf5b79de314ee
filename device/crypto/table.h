/* Where tables live, and how they are read.
 *
 * WS_TABLE(name)     a table that is indexed by secrets. The port keeps it where an access takes the same time at every
 *                    address: flash on AVR, MSP430F5xx, CH32V003, 8051 and 68HC08 (no cache, no accelerator), RAM on
 *                    MSP430FR5xx (FRAM has a cache) and Cortex-M (STM32 flash has a prefetch buffer or a cache; .data of
 *                    the STM32F7 port is in DTCM, which is never cached). Its name begins with ws_secret_table_, in a
 *                    kernel also without ws_: by that the constant-time check knows it.
 * WS_CONSTANT(name)  a table that is indexed by public values only: flash everywhere.
 *
 * Both define an array of const elements; read them with ws_table_u8, _u16 and _u32, because AVR's flash and
 * the 8051's code memory are not in the data address space. Each table is a section of its own, so that the linker
 * drops it with its last user; sdcc has no sections, and its linker drops whole files.
 *
 * WS_TABLE_STRIDE    the second dimension of a table of bytes that is indexed by secrets: how many bytes apart its
 *                    entries lie, the first of which is the entry. 1, unless the target's flags define it. It is 8 on
 *                    Cortex-M7: its DTCM is two memories, even and odd words (DDI 0489, D0TCM and D1TCM), and two
 *                    loads that it issues together take one cycle longer if both go to the same one. At 8 bytes all
 *                    entries lie in the same one, and time does not depend on the index. */
#ifndef WS_TABLE_H
#define WS_TABLE_H

#include "compiler.h"

#include <stdint.h>

#ifndef WS_TABLE_STRIDE
#define WS_TABLE_STRIDE 1
#endif

#if defined(__AVR__)

#define WS_TABLE(name) __attribute__((section(".progmem.data." name)))
#define WS_CONSTANT(name) __attribute__((section(".progmem.data." name)))

/* LPM reaches the first 64 kB of flash; the linker script puts .progmem right after the vectors. */
WS_INLINE uint8_t ws_table_u8(const uint8_t *entry)
{
    uint8_t value;

    __asm__("lpm %0, Z" : "=r"(value) : "z"(entry));
    return value;
}

WS_INLINE uint16_t ws_table_u16(const uint16_t *entry)
{
    uint16_t value;

    __asm__("lpm %A0, Z+\n\tlpm %B0, Z" : "=&r"(value), "+z"(entry));
    return value;
}

WS_INLINE uint32_t ws_table_u32(const uint32_t *entry)
{
    uint32_t value;

    __asm__("lpm %A0, Z+\n\tlpm %B0, Z+\n\tlpm %C0, Z+\n\tlpm %D0, Z" : "=&r"(value), "+z"(entry));
    return value;
}

#elif defined(__SDCC_mcs51)

#define WS_TABLE(name) __code
#define WS_CONSTANT(name) __code

/* With the address space in the pointer's type, a read is one MOVC and no call that looks for the space. */
WS_INLINE uint8_t ws_table_u8(const __code uint8_t *entry)
{
    return *entry;
}

WS_INLINE uint16_t ws_table_u16(const __code uint16_t *entry)
{
    return *entry;
}

WS_INLINE uint32_t ws_table_u32(const __code uint32_t *entry)
{
    return *entry;
}

#else

#if defined(__arm__) || defined(__MSP430__)
#define WS_TABLE(name) __attribute__((section(".ws_table." name)))
#else
#define WS_TABLE(name)
#endif
#define WS_CONSTANT(name)

WS_INLINE uint8_t ws_table_u8(const uint8_t *entry)
{
    return *entry;
}

WS_INLINE uint16_t ws_table_u16(const uint16_t *entry)
{
    return *entry;
}

WS_INLINE uint32_t ws_table_u32(const uint32_t *entry)
{
    return *entry;
}

#endif

#endif
