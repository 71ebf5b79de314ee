/* Words of long numbers.
 *
 * A number of n bytes is n / sizeof(ws_limb) limbs, the lowest first, each in the processor's byte order: the same n bytes
 * in memory on every little-endian processor, whatever the limb, and on the big-endian 68HC08, whose limb is a byte. So
 * kernels may use wider or narrower words than C does.
 *
 * The limb is the widest word whose product with another is formed in a time that does not depend on the two: 8 bits where
 * the hardware multiplies bytes, 16 on the MSP430 and on Cortex-M0 and M3 (the M0 has no long multiplication, and the M3's
 * takes a time that depends on its operands: DDI 0337, table of instruction timings), 32 on Cortex-M4 and M7. */
#ifndef WS_LIMB_H
#define WS_LIMB_H

#include <stdint.h>

#if defined(__AVR__) || defined(__SDCC)
#define WS_LIMB_BITS 8
typedef uint8_t ws_limb;
typedef uint16_t ws_two_limbs;
#elif defined(__MSP430__) || (defined(__arm__) && !defined(__ARM_FEATURE_DSP))
#define WS_LIMB_BITS 16
typedef uint16_t ws_limb;
typedef uint32_t ws_two_limbs;
#else
#define WS_LIMB_BITS 32
typedef uint32_t ws_limb;
typedef uint64_t ws_two_limbs;
#endif

/* 32 bits, a literal without suffix, as the initialisers of limbs: WS_WORD(lowest), ..., WS_WORD(highest). */
#if WS_LIMB_BITS == 8
#define WS_WORD(word) word##ul & 0xff, word##ul >> 8 & 0xff, word##ul >> 16 & 0xff, word##ul >> 24 & 0xff
#elif WS_LIMB_BITS == 16
#define WS_WORD(word) word##ul & 0xffff, word##ul >> 16 & 0xffff
#else
#define WS_WORD(word) (word)
#endif

/* How many limbs hold a number of so many bytes, a multiple of 4. */
#define WS_LIMBS(bytes) ((bytes) / (WS_LIMB_BITS / 8))

/* On numbers of n limbs; r, a, b may be the same number. Time depends on n alone. */

/* r = a + b; returns the carry, 0 or 1. */
ws_limb ws_limbs_add(ws_limb *r, const ws_limb *a, const ws_limb *b, uint8_t n);

/* r = a - b; returns the borrow, 0 or 1. */
ws_limb ws_limbs_subtract(ws_limb *r, const ws_limb *a, const ws_limb *b, uint8_t n);

/* r = a if first is 1, b if it is 0. */
void ws_limbs_choose(ws_limb *r, const ws_limb *a, const ws_limb *b, ws_limb first, uint8_t n);

/* r = a modulo m, where a is below twice m and has a bit of weight 2^(bits of n limbs), carry, beside its n limbs. */
void ws_limbs_reduce_once(ws_limb *r, const ws_limb *a, ws_limb carry, const ws_limb *m, uint8_t n);

/* r, of 2 n limbs, = a b; r is neither a nor b. */
void ws_limbs_multiply(ws_limb *r, const ws_limb *a, const ws_limb *b, uint8_t n);

#endif
