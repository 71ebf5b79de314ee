/* What the C standard has no word for, for the compilers that build this: gcc, clang, and sdcc.
 *
 * WS_ALIGNED     on a variable: at an address divisible by 4. sdcc's processors have no alignment. The MSP430 has one of 2,
 *                and its stack no other; clang takes it for 4 where that is asked for, and adds an offset of 2 by an OR.
 * WS_INLINE      on a function: `static inline`. sdcc puts the body of such a function into every file that sees it,
 *                called or not; one that is `inline` alone it only inlines (C99 section 6.7.4).
 * WS_NOINLINE    on a function: it stays a function of its own, with its own frame. sdcc does not inline but what is
 *                declared inline.
 * WS_BARRIER()   an instruction that does nothing and may have changed any variable, as far as the compiler knows.
 * WS_NEAR        on a variable: in the memory with the shortest instructions, internal RAM of the 8051 and page zero of
 *                the 68HC08.
 * WS_FAR         on what a pointer points to: in the 8051's external RAM, so that the pointer need not say which of its
 *                memories it means.
 * WS_JOIN(a, b)  one name of two, which are expanded first: what templates (*.inc) make names with.
 * WS_SMALL       1 where code and stack are to be as small as can be, at the cost of time; the Makefile says so, for AVR's variant
 *                small. ECIES takes the AES with tables that GCM has (aes.h); P-256 has a comb of one table, and fewer multiples
 *                of a point, made one by one (curve.inc); GCM has one frame for all keys.
 * WS_COMB_TABLES 4 where the combs of P-256 and Ed25519 have four tables, which is flash for time:
 *                in Cortex-M's variant fast. The Makefile says so.
 * WS_AES_PREPARED
 *                1 where decryption by AES has round keys of its own (aes.h): in Cortex-M's variant
 *                fast. The Makefile says so.
 * WS_SPILLS      1 where what has no kernel in assembly may leave words of secrets in the frames of C, which are then erased
 *                (stack_wipe.h): in the variants portable and O0, and on a processor without kernels; of sdcc's variants, O0
 *                alone. The Makefile says so.
 * WS_WIPE_BY_WORDS
 *                1 where ws_wipe is a kernel, faster than a loop of bytes. The Makefile says so.
 * WS_FIXED_FRAMES
 *                1 where the compiler keeps local variables at fixed addresses, each function its own. */
#ifndef WS_COMPILER_H
#define WS_COMPILER_H

#ifndef WS_SMALL
#define WS_SMALL 0
#endif

#ifndef WS_COMB_TABLES
#define WS_COMB_TABLES 1
#endif

#ifndef WS_AES_PREPARED
#define WS_AES_PREPARED 0
#endif

#ifndef WS_WIPE_BY_WORDS
#define WS_WIPE_BY_WORDS 0
#endif

#ifndef WS_SPILLS
#define WS_SPILLS 0
#endif

#define WS_JOIN_EXPANDED(a, b) a##b
#define WS_JOIN(a, b) WS_JOIN_EXPANDED(a, b)

#if defined(__SDCC)

#define WS_ALIGNED
#define WS_INLINE inline
#define WS_NOINLINE
#define WS_BARRIER() __asm__("")
#define WS_NEAR __data
#if defined(__SDCC_mcs51)
#define WS_FAR __xdata
#else
#define WS_FAR
#endif
#define WS_FIXED_FRAMES 1

#else

#if defined(__MSP430__)
#define WS_ALIGNED __attribute__((aligned(2)))
#else
#define WS_ALIGNED __attribute__((aligned(4)))
#endif
#define WS_INLINE static inline
#define WS_NOINLINE __attribute__((noinline))
#define WS_BARRIER() __asm__ volatile("" ::: "memory")
#define WS_NEAR
#define WS_FAR
#define WS_FIXED_FRAMES 0

#endif

#endif
